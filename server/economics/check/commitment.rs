//! Commitments.

use super::Findings;
use crate::economics::commitment::Commitment;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one};

/// What is odd about a commitment.
pub fn commitment(it: &Commitment) -> Findings {
    let mut found = Findings::default();
    found.money("upfront", it.upfront);
    if found.money("hourly", it.hourly) && it.hourly.is_zero() && it.upfront.is_zero() {
        found.refuse("hourly", it.hourly, "expected a price: nothing is paid upfront or per hour");
    }
    found.between(
        "years",
        it.years,
        decimal(1, 2),
        50.into(),
        "expected a term of 0.01 to 50 years, mostly 1 or 3",
    );
    let prices = [("on_demand", Some(it.on_demand)), ("later_on_demand", it.later_on_demand)];
    for (field, price) in prices.into_iter().filter_map(|(field, price)| Some((field, price?))) {
        if found.money(field, price) && price.is_zero() {
            found.refuse(field, price, "expected the price of a GPU-hour, above 0");
        }
    }
    found.between(
        "cost_of_capital",
        it.cost_of_capital,
        Decimal::ZERO,
        one(),
        "expected 0 to 1 (0.1 for 10%)",
    );
    if it.hourly > it.on_demand {
        found.warn("hourly", it.hourly, "more than on demand, which is paid only for used hours");
    }
    found.sorted()
}
