//! The device against the CPU. Without a device that can be used these tests say so and check nothing;
//! `GUSSET_REQUIRE_VULKAN=1` makes that a failure.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]
#![allow(
    clippy::print_stderr,
    reason = "what is skipped is said loudly; accuracies are worth seeing"
)]

mod contact;
mod device;
mod elements;
mod kinds;
mod linear;
mod maths;
mod spirv;
