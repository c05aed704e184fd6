//! Tests of the whole, one binary.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod article;
mod bad_input;
mod bag;
mod cli;
mod compare;
mod descent;
mod field_cases;
mod golden;
mod guarantee;
mod kinds;
mod laws;
mod layering;
mod play;
mod report;
mod restart;
mod scenes;
mod tool;
mod vulkan;

use gusset_builtin as _;
use gusset_template as _;
