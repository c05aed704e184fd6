//! Tests of the contact module from outside, in one binary.

mod brute_force;
mod candidates;
mod ccd;
mod checker;
mod peer;
mod queries;
mod rows;
mod stack;
mod subdivided;
