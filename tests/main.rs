//! The tests that need more than pure functions, in one binary.

mod store;
