//! Serving.

use super::Findings;
use crate::economics::serving::{Interface, Lifetime, Serving};
use crate::money::arithmetic::{decimal, one};

/// What is odd about what serves a model.
pub fn serving(it: &Serving) -> Findings {
    let mut found = Findings::default();
    if found.money("price", it.price) && it.price.is_zero() {
        found.warn("price", it.price, "expected the price of a GPU-hour, above 0");
    }
    found.whole("gpus", it.gpus, 1..=1_000_000, "expected 1 to a million");
    let rates = [("output_rate", Some(it.output_rate)), ("input_rate", it.input_rate)];
    for (field, rate) in rates.into_iter().filter_map(|(field, rate)| Some((field, rate?))) {
        let message = "expected tokens per second of all GPUs, from 0.001 to 10^12";
        found.between(field, rate, decimal(1, 3), 1_000_000_000_000.into(), message);
    }
    let message = "expected the busy share of hours, from 0.01% to 100%";
    found.between("duty", it.duty, decimal(1, 4), one(), message);
    found.sorted()
}

/// What is odd about an interface that is paid by the token.
pub fn interface(it: &Interface) -> Findings {
    let mut found = Findings::default();
    for (field, amount) in [("price", it.price), ("fixed", it.fixed), ("variable", it.variable)] {
        found.money(field, amount);
    }
    found
}

/// What is odd about a training and its serving.
pub fn lifetime(it: &Lifetime) -> Findings {
    let mut found = Findings::default();
    found.money("training", it.training);
    found.money("serving", it.serving);
    found.whole("months", it.months, ..=1200, "expected at most 1,200 months");
    found
}
