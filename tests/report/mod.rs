//! The questions pages ask.

mod answers;
mod changes;
mod charges;
mod currencies;
mod variance;
