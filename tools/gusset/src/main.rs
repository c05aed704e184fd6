//! The `gusset` command with the built-in energies.

use gusset_builtin as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    gusset_cli::run()
}
