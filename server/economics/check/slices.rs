//! Divided GPUs.

use super::Findings;
use crate::economics::slices::{Layout, Turns, is_possible, profile, profiles_of};
use crate::money::Decimal;

/// Slices of a GPU at most.
const MOST_SLICES: usize = 8;

/// What is odd about how a GPU is cut.
pub fn layout(it: &Layout) -> Findings {
    let mut found = Findings::default();
    found.money("price", it.price);
    let known = profiles_of(&it.accelerator);
    if known.is_empty() {
        let message = "MIG is not supported or unknown for this GPU; jobs can only share it by time-slicing";
        found.refuse("accelerator", &it.accelerator, message);
        return found;
    }
    let names: Vec<&str> = known.iter().map(|profile| profile.name.as_str()).collect();
    let mut slices = Vec::new();
    for (at, name) in it.slices.iter().enumerate() {
        if let Some(profile) = profile(&it.accelerator, name) {
            slices.push(profile);
        } else {
            let message = format!("not a profile of this GPU; enter one of {}", names.join(", "));
            found.refuse(&format!("slices.{at}"), name, &message);
        }
    }
    if it.slices.len() > MOST_SLICES || !is_possible(&slices) {
        let message = "these slices do not fit on one GPU";
        found.refuse("slices", it.slices.join(" + "), message);
    }
    found
}

/// What is odd about taking turns.
pub fn turns(it: &Turns) -> Findings {
    let mut found = Findings::default();
    found.money("price", it.price);
    found.whole("replicas", it.replicas, 1..=1000, "expected 1 to 1,000 jobs");
    found.between("hours", it.hours, Decimal::ZERO, 1_000_000_000.into(), "expected 0 to a billion hours");
    found
}
