//! The questions pages ask.

mod answers;
mod currencies;
