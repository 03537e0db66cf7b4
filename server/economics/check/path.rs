//! Prices to come, and hardware to come.

use super::Findings;
use crate::economics::price_path::{LockIn, Path, Progress, Refresh};
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, one};

/// Months at most: a century.
const LONGEST: u32 = 1200;

/// What is odd about how a price is to move, and for how long.
pub fn path(it: &Path, price: Decimal, months: u32) -> Findings {
    let mut found = Findings::default();
    found.money("price", price);
    if months > LONGEST {
        found.refuse("months", months, "expected at most 1,200 months");
    }
    match it {
        Path::Flat => {}
        Path::Decline { yearly } => {
            let message = "expected a yearly price decrease from -1 to 0.99; negative for an increase";
            found.between("yearly", *yearly, -one(), decimal(99, 2), message);
        }
        Path::Steps { steps } => {
            for (at, step) in steps.iter().enumerate() {
                let message = "expected a factor on today's price, from 0.001 to 1,000";
                found.between(
                    &format!("steps.{at}.factor"),
                    step.factor,
                    decimal(1, 3),
                    1000.into(),
                    message,
                );
            }
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
            for (at, price) in prices.iter().enumerate() {
                found.money(&format!("prices.{at}"), *price);
            }
        }
    }
    found.sorted()
}

/// What is odd about progress, and what it is to be applied to.
pub fn progress(it: Progress, purchase: Decimal, years: Decimal) -> Findings {
    let mut found = Findings::default();
    orders(it, "orders_per_year", &mut found);
    found.money("purchase", purchase);
    found.between("years", years, Decimal::ZERO, 100.into(), "expected 0 to 100 years");
    found.sorted()
}

fn orders(it: Progress, field: &str, found: &mut Findings) {
    let message = "expected orders of magnitude a year, from 0 to 2; 0.14 is a factor of 1.38";
    found.between(field, it.orders_per_year, Decimal::ZERO, 2.into(), message);
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
    if it.months > LONGEST {
        found.refuse("months", it.months, "expected at most 1,200 months");
    }
    orders(it.progress, "progress.orders_per_year", &mut found);
    found.between(
        "cost_of_capital",
        it.cost_of_capital,
        Decimal::ZERO,
        one(),
        "expected 0 to 1 (0.1 for 10%)",
    );
    found.sorted()
}
