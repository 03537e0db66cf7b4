//! Looking up by meaning.

use super::Findings;
use crate::economics::vector_search::{Rule, Vectors};

/// Vectors at most: 10^13.
const MOST: u64 = 10_000_000_000_000;

/// What is odd about what is held in memory.
pub fn vectors(it: &Vectors) -> Findings {
    let mut found = Findings::default();
    found.whole("vectors", it.vectors, ..=MOST, "expected at most 10^13");
    let message = "expected 1 to a million, mostly 384 to 3,072";
    found.whole("dimensions", it.dimensions, 1..=1_000_000, message);
    if let Rule::Graph { neighbors } = it.rule {
        found.whole("rule.neighbors", neighbors, 1..=1000, "expected 1 to 1,000, mostly 16");
    }
    found.money("price", it.price);
    if let Some(managed) = it.managed {
        found.money("managed", managed);
    }
    found.sorted()
}
