//! Tests of the whole, one binary.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod bad_input;
mod cli;
mod restart;
mod tool;

use gusset_builtin as _;
use gusset_template as _;
