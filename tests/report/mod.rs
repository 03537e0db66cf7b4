//! The questions pages ask.

mod answers;
mod changes;
mod charges;
mod commitments;
mod currencies;
mod prepare;
mod resources;
mod variance;
