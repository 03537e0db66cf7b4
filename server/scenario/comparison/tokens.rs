//! Work that is paid by what it makes: an interface with a price for a million tokens.
//!
//! An hour of the work's accelerator makes so many tokens, as measured; so an hour of work costs tokens ÷ 10^6 × price.

use super::entered::{Place, Scenario, Work};
use crate::money::Decimal;
use crate::scenario::arithmetic::{product, quotient};
use crate::scenario::profile::Shape;

impl Work {
    /// Tokens that an hour of its accelerator makes: as measured, or as follows from its users.
    pub(in crate::scenario) fn tokens_of_an_hour(&self) -> Option<Decimal> {
        self.tokens_per_hour.or_else(|| match &self.demand {
            Shape::Serving(service) => service.tokens_per_hour(&self.accelerator),
            _ => None,
        })
    }
}

impl Scenario {
    /// Millions of tokens that an hour of a place's work makes: of a place that is paid by them, and where it is known.
    pub(super) fn millions_per_hour(&self, place: &Place) -> Option<Decimal> {
        place.per_million_tokens.as_ref()?;
        let tokens = self.served_by(place).find_map(Work::tokens_of_an_hour)?;
        quotient(tokens, 1_000_000.into())
    }

    /// What an hour of work costs there at a price of a million.
    pub(super) fn hour_by_tokens(&self, place: &Place, price: Decimal) -> Option<Decimal> {
        Some(product(&[self.millions_per_hour(place)?, price]))
    }
}
