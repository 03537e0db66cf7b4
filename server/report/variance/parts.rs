//! Why an amount changed: the parts of a change, which sum to it exactly. Pure.
//!
//! The usual split of a cost variance in two: *usage* is the change of quantity at the price before, *price* what
//! is left of it at the quantity now. Quotients are rounded to [`PLACES`] decimals, and the last part of each item
//! takes what that leaves, so no cent is lost or made.

use serde::Serialize;

use crate::money::Decimal;

/// Decimals of quotients. What is cut stays in the item, in the part that is a remainder.
const PLACES: u8 = 12;

/// An item in both periods: its cost as billed, its cost in the currency of the answer, its metered quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub local: Decimal,
    pub cost: Decimal,
    pub quantity: Decimal,
}

/// The parts of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// Of items that were not there before.
    pub new: Decimal,
    /// Of items that are not there any more.
    pub gone: Decimal,
    /// More or less of the same, at the price before.
    pub usage: Decimal,
    /// Another price for the same, a shift between on demand, spot and committed included.
    pub price: Decimal,
    /// The same in the currency it was billed in, at another exchange rate.
    pub exchange_rate: Decimal,
    /// Of what has no quantity: fees, tax, credits, commitments that nobody used.
    pub other: Decimal,
}

impl Parts {
    /// What changed between two periods. `is_converted`: the local currency is another than the answer's.
    pub(super) fn of(before: Before, after: Before, is_converted: bool) -> Self {
        let nothing = |it: &Before| it.cost.is_zero() && it.quantity.is_zero();
        let change = after.cost - before.cost;
        if nothing(&before) {
            return Self { new: change, ..Self::default() };
        }
        if nothing(&after) {
            return Self { gone: change, ..Self::default() };
        }
        // What it would be at the exchange rate before.
        let at_rate = match scaled(before.cost, after.local, before.local) {
            Some(at_rate) if is_converted => at_rate,
            _ => after.cost,
        };
        let exchange_rate = after.cost - at_rate;
        let at_rate_change = at_rate - before.cost;
        let is_metered = |it: &Before| !it.quantity.is_zero() && !it.quantity.is_negative();
        if !is_metered(&before) || !is_metered(&after) {
            return Self { exchange_rate, other: at_rate_change, ..Self::default() };
        }
        let more = after.quantity - before.quantity;
        let usage = scaled(before.cost, more, before.quantity).unwrap_or_default();
        Self { exchange_rate, usage, price: at_rate_change - usage, ..Self::default() }
    }

    pub fn total(&self) -> Decimal {
        self.named().iter().map(|(_, part)| *part).sum()
    }

    /// Each with its name, in the order in which they are shown.
    pub fn named(&self) -> [(&'static str, Decimal); 6] {
        [
            ("New", self.new),
            ("Gone", self.gone),
            ("Usage", self.usage),
            ("Price", self.price),
            ("Exchange rate", self.exchange_rate),
            ("Other", self.other),
        ]
    }
}

/// `amount × part / whole`, multiplied first: a price that stays the same must leave no crumb. `None` for a whole of
/// zero. Digits beyond [`PLACES`] belong to the part that is a remainder.
pub fn scaled(amount: Decimal, part: Decimal, whole: Decimal) -> Option<Decimal> {
    amount.round(PLACES).multiply(part.round(PLACES)).divide(whole.round(PLACES), PLACES)
}

impl std::ops::AddAssign for Parts {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.gone += other.gone;
        self.usage += other.usage;
        self.price += other.price;
        self.exchange_rate += other.exchange_rate;
        self.other += other.other;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(local: &str, cost: &str, quantity: &str) -> Before {
        let decimal = |text: &str| text.parse().unwrap();
        Before { local: decimal(local), cost: decimal(cost), quantity: decimal(quantity) }
    }

    fn parts(before: Before, after: Before) -> String {
        let is_converted = before.local != before.cost || after.local != after.cost;
        let parts = Parts::of(before, after, is_converted);
        assert_eq!(parts.total(), after.cost - before.cost);
        let named = parts.named();
        let shown = named.iter().filter(|(_, part)| !part.is_zero());
        shown.map(|(name, part)| format!("{name} {}", part.normalize())).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_change_is_told_by_what_changed() {
        let nothing = Before::default();
        for (before, after, described) in [
            (nothing, item("10", "10", "2"), "New 10"),
            (item("10", "10", "2"), nothing, "Gone -10"),
            (item("10", "10", "2"), item("15", "15", "3"), "Usage 5"),
            (item("10", "10", "2"), item("8", "8", "2"), "Price -2"),
            // Half as much again at a price of four instead of five.
            (item("10", "10", "2"), item("12", "12", "3"), "Usage 5, Price -3"),
            // A price of 55.04 that stays the same, of a number of hours that divides nothing.
            (item("55.04", "55.04", "1"), item("165.12", "165.12", "3"), "Usage 110.08"),
            (item("165.12", "165.12", "3"), item("55.04", "55.04", "1"), "Usage -110.08"),
            (item("10", "10", "0"), item("12", "12", "0"), "Other 2"),
            (item("-3", "-3", "0"), item("-5", "-5", "0"), "Other -2"),
            (item("10", "11", "2"), item("10", "12", "2"), "Exchange rate 1"),
            (item("10", "11", "2"), item("20", "24", "4"), "Usage 11, Exchange rate 2"),
            (item("10", "10", "2"), item("10", "10", "2"), ""),
            // It was free before, and a little of it has no quantity now.
            (item("0", "0", "2"), item("4", "4", "2"), "Price 4"),
            (item("10", "10", "2"), item("4", "4", "0"), "Other -6"),
        ] {
            assert_eq!(parts(before, after), described);
        }
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_change_to_the_last_digit(
            before in (any::<i64>(), any::<i64>(), 0i64..1_000_000),
            after in (any::<i64>(), any::<i64>(), 0i64..1_000_000),
            scale in 0u8..28,
            is_converted: bool,
        ) {
            let item = |(local, cost, quantity): (i64, i64, i64)| Before {
                local: Decimal::new(local.into(), scale),
                cost: Decimal::new(cost.into(), scale),
                quantity: Decimal::new(quantity.into(), 3),
            };
            let (before, after) = (item(before), item(after));
            prop_assert_eq!(Parts::of(before, after, is_converted).total(), after.cost - before.cost);
        }
    }
}
