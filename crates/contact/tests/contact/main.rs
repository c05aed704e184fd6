//! Tests of the contact module from outside, in one binary.

mod peer;
mod stack;
