//! What a delivery states per scope and currency, summed while its rows are read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::money::Currency;

use super::rollup::Sums;

/// The id of a scope, and a currency.
pub type Of = (i64, Currency);

/// Sums that most rows find by a number.
#[derive(Default)]
pub struct Totals {
    sums: Vec<(Of, Sums)>,
    numbers: FxHashMap<Of, u32>,
}

impl Totals {
    /// By what [`Self::add`] knows it.
    pub fn number(&mut self, of: Of) -> u32 {
        *self.numbers.entry(of).or_insert_with_key(|of| {
            self.sums.push((of.clone(), Sums::default()));
            self.sums.len() as u32 - 1
        })
    }

    pub fn add(&mut self, number: u32, more: &Sums) {
        if let Some((_, sums)) = self.sums.get_mut(number as usize) {
            sums.merge(more);
        }
    }

    pub fn into_map(self) -> BTreeMap<Of, Sums> {
        self.sums.into_iter().collect()
    }
}
