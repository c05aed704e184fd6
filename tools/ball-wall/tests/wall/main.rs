//! The tool against the article's numbers, and its page against the tool.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod command;
mod page;
mod rows;
mod throws;
