//! How sure an answer is: one input after the other ([`tornado`]), and all at once ([`simulate`]).
//!
//! What is uncertain are prices, rates and factors, never the hours of a profile: what a quarter asked for is known, and
//! what a coming one will is a scenario of its own. Every input has a low and a high, by default those of [`input`].

pub mod input;
pub mod lead;
mod model;
pub mod simulate;
pub mod tornado;

pub use input::{Input, inputs};
pub use lead::{Lead, Turn, lead};
pub use simulate::{Outcome, Simulation};
pub use tornado::{Swing, tornado};
