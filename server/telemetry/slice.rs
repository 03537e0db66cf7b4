//! What a MIG slice is of its accelerator. Pure.

use crate::accelerator::find_model;
use crate::economics::slices::dominant_share;

/// Its dominant share, as a part and the whole; what is no slice is all of it. `model`: as whoever saw it calls it.
pub fn share_of_slice(model: &str, profile: &str) -> (u32, u32) {
    let model = find_model(model).map(|it| it.id);
    dominant_share(model, profile).filter(|(_, whole)| *whole > 0).unwrap_or((1, 1))
}

/// What stands beside profiles for accelerators that are not cut.
pub const WHOLE: &str = "whole";

/// Profiles of what one job held, joined by `+`; empty where it held whole accelerators alone, which have none.
pub fn joined_profiles<'p>(profiles: impl IntoIterator<Item = &'p str>) -> String {
    let profiles: Vec<&str> = profiles.into_iter().map(|it| if it.is_empty() { WHOLE } else { it }).collect();
    if profiles.iter().all(|it| *it == WHOLE) { String::new() } else { profiles.join("+") }
}
