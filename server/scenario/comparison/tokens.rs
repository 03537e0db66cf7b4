//! Work that is paid by what it makes: an interface with a price for a million tokens.
//!
//! An hour of the work's accelerator makes so many tokens, as measured; so an hour of work costs tokens ÷ 10^6 × price.

use super::entered::{Place, Scenario};
use crate::money::Decimal;
use crate::scenario::arithmetic::{product, quotient};

impl Scenario {
    /// Millions of tokens that an hour of a place's work makes: of a place that is paid by them, and where it is known.
    pub(super) fn millions_per_hour(&self, place: &Place) -> Option<Decimal> {
        place.per_million_tokens.as_ref()?;
        let tokens = self.served_by(place).find_map(|work| work.tokens_per_hour)?;
        quotient(tokens, 1_000_000.into())
    }

    /// What an hour of work costs there at a price of a million.
    pub(super) fn hour_by_tokens(&self, place: &Place, price: Decimal) -> Option<Decimal> {
        Some(product(&[self.millions_per_hour(place)?, price]))
    }
}
