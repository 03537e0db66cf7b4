//! Demand of which only the least and the most are known, anything between as likely: U\[low, high\], in closed form.
//!
//! - P(D > k) = (high − k) ÷ (high − low)
//! - E\[(D − k)⁺\] = (high − k)² ÷ (2 × (high − low)) for k within; mean − k below; 0 above
//!
//! With a reserved price r and a price p of what is missing, an hour at level k costs r × k + p × E\[(D − k)⁺\], least
//! where P(D > k) = r ÷ p: at k = high − (high − low) × r ÷ p. It is the newsvendor's critical ratio.

use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one, product, quotient};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    pub low: Decimal,
    pub high: Decimal,
}

impl Spread {
    fn width(self) -> Decimal {
        self.high - self.low
    }

    pub fn mean(self) -> Decimal {
        product(&[self.low + self.high, decimal(5, 1)])
    }

    /// P(D > k).
    pub fn exceeds(self, level: Decimal) -> Decimal {
        let share = quotient(self.high - level, self.width());
        let certain = if level < self.high { one() } else { Decimal::ZERO };
        share.map_or(certain, |share| share.max(Decimal::ZERO).min(one()))
    }

    /// E\[(D − k)⁺\].
    pub fn missing(self, level: Decimal) -> Decimal {
        if level <= self.low {
            return self.mean() - level;
        }
        if level >= self.high {
            return Decimal::ZERO;
        }
        let above = self.high - level;
        quotient(product(&[above, above]), self.width().times(2)).unwrap_or_default()
    }

    /// The level that costs least, where what is missing costs `missing` and what is there `reserved`.
    pub fn cheapest(self, reserved: Decimal, missing: Decimal) -> Decimal {
        match quotient(reserved, missing) {
            Some(ratio) if ratio < one() => self.high - product(&[self.width(), ratio]),
            _ => Decimal::ZERO,
        }
    }

    /// What an hour at a level costs.
    pub fn cost(self, level: Decimal, reserved: Decimal, missing: Decimal) -> Decimal {
        product(&[reserved, level]) + product(&[missing, self.missing(level)])
    }
}
