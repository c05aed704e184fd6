//! The tool against the article's numbers, and its page against the tool.

mod browser;
mod command;
mod page;
mod rows;
mod throws;
