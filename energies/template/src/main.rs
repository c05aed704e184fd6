//! The tool `gusset` with one more energy: `gusset-spring run scene.toml` knows `kind = "spring"`.

use gusset_builtin as _;
use gusset_template as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    gusset_cli::run()
}
