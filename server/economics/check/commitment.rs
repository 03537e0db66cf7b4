//! Commitments.

use super::Findings;
use crate::economics::commitment::Commitment;
use crate::money::arithmetic::decimal;

/// What is odd about a commitment.
pub fn commitment(it: &Commitment) -> Findings {
    let mut found = Findings::default();
    found.money("upfront", it.upfront);
    if found.money("hourly", it.hourly) && it.hourly.is_zero() && it.upfront.is_zero() {
        found.refuse("hourly", it.hourly, "expected a price: nothing is paid upfront or per hour");
    }
    let message = "expected a term of 0.01 to 50 years, mostly 1 or 3";
    found.between("years", it.years, decimal(1, 2), 50.into(), message);
    found.price("on_demand", it.on_demand);
    if let Some(later) = it.later_on_demand {
        found.price("later_on_demand", later);
    }
    found.cost_of_capital(it.cost_of_capital);
    if it.hourly > it.on_demand {
        found.warn("hourly", it.hourly, "more than on demand, which is paid only for used hours");
    }
    found.sorted()
}
