//! Looking up by meaning.

use super::Findings;
use crate::economics::vector_search::{Rule, Vectors};

/// Vectors at most: 10^13.
const MOST: u64 = 10_000_000_000_000;

/// What is odd about what is held in memory.
pub fn vectors(it: &Vectors) -> Findings {
    let mut found = Findings::default();
    if it.vectors > MOST {
        found.refuse("vectors", it.vectors, "expected at most 10^13");
    }
    if !(1..=1_000_000).contains(&it.dimensions) {
        found.refuse("dimensions", it.dimensions, "expected 1 to a million, mostly 384 to 3,072");
    }
    if let Rule::Graph { neighbors } = it.rule
        && !(1..=1000).contains(&neighbors)
    {
        found.refuse("rule.neighbors", neighbors, "expected 1 to 1,000, mostly 16");
    }
    found.money("price", it.price);
    if let Some(managed) = it.managed {
        found.money("managed", managed);
    }
    found.sorted()
}
