//! The device against the CPU. Without a device that can be used these tests say so and check nothing;
//! `GUSSET_REQUIRE_VULKAN=1` makes that a failure.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]
#![allow(
    clippy::print_stderr,
    reason = "what is skipped is said loudly; accuracies are worth seeing"
)]

mod compile;
mod contact;
mod device;
mod elements;
mod kinds;
mod linear;
mod maths;
mod spirv;
mod terms;

/// Tells what a test could not do, where nobody can miss it: not by `eprintln!`, which the test harness keeps to itself.
pub(crate) fn skip(why: &str) {
    use std::io::Write as _;
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {test}: {why}");
}
