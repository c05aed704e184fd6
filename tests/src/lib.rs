//! Tests of the whole: they are in `it/`, one module for each subject.
