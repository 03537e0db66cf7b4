//! The questions pages ask.

mod answers;
