//! What a delivery states per scope and currency, summed while its rows are read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::money::Currency;

use super::rollup::Sums;

/// What is summed apart: a scope by its id, and a currency.
pub type Place = (i64, Currency);

/// Sums that most rows find by a number.
#[derive(Default)]
pub struct Totals {
    sums: Vec<(Place, Sums)>,
    numbers: FxHashMap<Place, u32>,
}

impl Totals {
    /// The number of a sum, by which [`Self::add`] finds it.
    pub fn number(&mut self, place: Place) -> u32 {
        *self.numbers.entry(place).or_insert_with_key(|place| {
            self.sums.push((place.clone(), Sums::default()));
            self.sums.len() as u32 - 1
        })
    }

    /// Adds to the sum of this number.
    pub fn add(&mut self, number: u32, more: &Sums) {
        if let Some((_, sums)) = self.sums.get_mut(number as usize) {
            sums.merge(more);
        }
    }

    /// What the sum of this number is of.
    pub fn place(&self, number: u32) -> Option<&Place> {
        self.sums.get(number as usize).map(|(place, _)| place)
    }

    /// All sums by their places.
    pub fn into_map(self) -> BTreeMap<Place, Sums> {
        self.sums.into_iter().collect()
    }
}
