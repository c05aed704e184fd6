//! `gusset` with the energy of `energies/template` beside the built-in ones: a tool of one's own, to copy.

use gusset_builtin as _;
use gusset_template as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    gusset_cli::run()
}
