//! Prices to come, and hardware to come.

use super::Findings;
use crate::economics::price_path::{LockIn, Path, Refresh};
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one};

/// Months at most: a century.
const LONGEST: u32 = 1200;

/// What is odd about how a price is to move.
pub fn path(it: &Path, price: Decimal) -> Findings {
    let mut found = Findings::default();
    found.money("price", price);
    match it {
        Path::Flat => {}
        Path::Decline { yearly } => {
            let message = "expected a yearly price decrease from -1 to 0.99; negative for an increase";
            found.between("yearly", *yearly, -one(), decimal(99, 2), message);
        }
        Path::Steps { steps } => {
            found.each("steps", steps, |step, found| {
                let message = "expected a factor on today's price, from 0.001 to 1,000";
                found.between("factor", step.factor, decimal(1, 3), 1000.into(), message);
            });
            for (at, pair) in steps.windows(2).enumerate() {
                if pair[1].month <= pair[0].month {
                    let message = "expected a later month than in the step before";
                    found.refuse(&format!("steps.{}.month", at + 1), pair[1].month, message);
                }
            }
        }
        Path::Entered { prices } => {
            if prices.is_empty() {
                found.refuse("prices", 0, "expected the price of at least one month");
            }
            found.each("prices", prices, |price, found| {
                found.money("", *price);
            });
        }
    }
    found.sorted()
}

/// What is odd about a refresh.
pub fn refresh(it: Refresh) -> Findings {
    let mut found = Findings::default();
    for (field, ratio) in [("price_ratio", it.price_ratio), ("performance_ratio", it.performance_ratio)] {
        let message = "expected a factor on the present generation, from 0.01 to 1,000";
        found.between(field, ratio, decimal(1, 2), 1000.into(), message);
    }
    found
}

/// What is odd about staying with what is owned.
pub fn lock_in(it: LockIn) -> Findings {
    let mut found = Findings::default();
    found.money("monthly", it.monthly);
    found.whole("months", it.months, ..=LONGEST, "expected at most 1,200 months");
    let orders = it.progress.orders_per_year;
    let message = "expected orders of magnitude a year, from 0 to 2; 0.14 is a factor of 1.38";
    found.between("progress.orders_per_year", orders, Decimal::ZERO, 2.into(), message);
    found.cost_of_capital(it.cost_of_capital);
    found.sorted()
}
