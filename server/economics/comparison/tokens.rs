//! Work that is paid by what it makes: an interface with a price for a million tokens.
//!
//! An hour of the work's accelerator makes so many tokens while it works, as measured, and works for a share of the hours
//! that it is held; so an hour that is held makes tokens × share, and costs that ÷ 10^6 × price. Whoever serves himself pays
//! for the hours that are held: both are compared at one duty.

use super::entered::{Place, Scenario, Work};
use crate::economics::profile::Shape;
use crate::money::Decimal;
use crate::money::arithmetic::{product, quotient};

impl Work {
    /// Tokens that an hour makes in which it holds its accelerator: as measured while it works, for the share of the hours
    /// in which it does, or as follows from its users.
    pub(in crate::economics) fn tokens_of_an_hour(&self) -> Option<Decimal> {
        let measured = self.tokens_per_hour.map(|tokens| product(&[tokens, self.productive]));
        measured.or_else(|| match &self.demand {
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
