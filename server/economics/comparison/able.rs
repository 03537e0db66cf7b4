//! Whether an option does the work as it is needed.
//!
//! It does not where a work runs nowhere, where less is promised than a work needs, and where hours are not served, unless
//! it is said what such an hour costs: then that is among the costs.

use super::answer::PlaceAnswer;
use super::entered::{Alternative, Place, Scenario};
use crate::economics::rent::downtime_in_words;
use crate::money::Decimal;

impl Scenario {
    /// Why an option does not do the work as it is needed.
    pub(super) fn fails(&self, option: &Alternative, places: &[PlaceAnswer]) -> Vec<String> {
        let mut fails = Vec::new();
        for work in &self.work {
            if !option.places.iter().any(|place| self.served_by(place).any(|it| it.name == work.name)) {
                fails.push(format!("{} runs nowhere", work.name));
            }
        }
        for (place, answer) in option.places.iter().zip(places) {
            fails.extend(missing(place, answer));
            fails.extend(self.promises_too_little(place));
        }
        fails
    }

    fn promises_too_little(&self, place: &Place) -> Vec<String> {
        let mut found = Vec::new();
        for work in self.served_by(place) {
            let Some(needed) = work.availability else { continue };
            let promised = match place.availability {
                Some(promised) if promised >= needed => continue,
                Some(promised) => {
                    format!(
                        "{}% is guaranteed (unavailable {})",
                        percent(promised),
                        downtime_in_words(promised)
                    )
                }
                None => "nothing is guaranteed".to_owned(),
            };
            let (needs, away) = (percent(needed), downtime_in_words(needed));
            found.push(format!(
                "{} requires {needs}% availability (unavailable {away} at most), and {promised}",
                work.name
            ));
        }
        found
    }

    /// What a place promises beside what its works need, where both are said and it is enough.
    pub(super) fn promise(&self, place: &Place) -> Option<String> {
        let promised = place.availability?;
        let described = |share| format!("{}%, unavailable {}", percent(share), downtime_in_words(share));
        let needs = self.served_by(place).filter_map(|work| {
            let needed = work.availability.filter(|needed| *needed <= promised)?;
            Some(format!("; {} requires {}", work.name, described(needed)))
        });
        Some(format!(
            "Guaranteed availability: {} at most{}.",
            described(promised),
            needs.collect::<String>()
        ))
    }
}

/// That hours are not served, where nobody said what such an hour costs.
fn missing(place: &Place, answer: &PlaceAnswer) -> Option<String> {
    if answer.unserved_hours.is_zero() || answer.per_unserved_hour.is_some() {
        return None;
    }
    // Where there are few, parts of one count.
    let few = answer.unserved_hours < 100.into();
    let hours =
        if few { answer.unserved_hours.significant(2).normalize() } else { answer.unserved_hours.round(0) };
    let whose = if place.supplier.is_empty() { "it" } else { &place.supplier };
    Some(if place.is_by_use() {
        format!(
            "{hours} GPU-hours are expected to be unavailable at {whose}, and the cost of an unserved hour is empty"
        )
    } else {
        format!("{hours} GPU-hours are not served by {whose}: it has too little capacity for peak hours")
    })
}

fn percent(share: Decimal) -> Decimal {
    share.times(100).normalize()
}
