//! Figures that are printed and passed on, and what is right.
//!
//! They come from lessons, articles and calculators that people of this field learn from. Each is computed here by the
//! functions that the product computes everything with, from the inputs that are printed beside it, so that nobody has to
//! believe either side.

mod market;
mod memory;
mod network;
mod owning;

use serde::Serialize;

use super::figure::Unit;
use crate::money::Decimal;

pub use market::{calculator, first_example_of_spot};
pub use network::{price_of_all_units, subtracted_bounds};
pub use owning::{
    complete_example, corrected_example, hardware_and_power, only_a_gpu, ratio, takes, without_staff,
    worked_example,
};

/// What is printed somewhere, and what is right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// A handle that stays.
    pub id: &'static str,
    /// What is claimed, in a sentence.
    pub says: &'static str,
    /// The figure, as it was printed.
    pub printed: &'static str,
    /// How one gets to it: not necessarily what its author did.
    pub reproduced: Option<Value>,
    pub right: Vec<Value>,
    /// Why the two differ.
    pub why: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    pub value: Decimal,
    pub unit: Unit,
    /// What it is, and of what.
    pub of: &'static str,
}

/// All of them: about owning, renting, moving data, and what models take. The most often repeated of each first.
pub fn published_figures() -> Vec<PublishedFigure> {
    let subjects = [owning::FIGURES, market::FIGURES, network::FIGURES, memory::FIGURES];
    subjects.into_iter().flatten().filter_map(|claim| claim()).collect()
}

fn value(value: Decimal, unit: Unit, of: &'static str) -> Value {
    Value { value, unit, of }
}

#[cfg(test)]
mod tests;
