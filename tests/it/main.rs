//! Tests of the whole, one binary.

mod bad_input;
mod cli;
mod restart;
mod tool;

use gusset_builtin as _;
