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
                    format!("{} % is promised (away {})", percent(promised), downtime_in_words(promised))
                }
                None => "nothing is promised".to_owned(),
            };
            let (needs, away) = (percent(needed), downtime_in_words(needed));
            found.push(format!(
                "{} has to be there {needs} % of the time (away {away} at most), and {promised}",
                work.name
            ));
        }
        found
    }

    /// What a place promises beside what its works need, where both are said and it is enough.
    pub(super) fn promise(&self, place: &Place) -> Option<String> {
        let promised = place.availability?;
        let described =
            |share| format!("{} % of the time, away {}", percent(share), downtime_in_words(share));
        let needs = self.served_by(place).filter_map(|work| {
            let needed = work.availability.filter(|needed| *needed <= promised)?;
            Some(format!("; {} needs {}", work.name, described(needed)))
        });
        Some(format!("Promised: there {} at most{}.", described(promised), needs.collect::<String>()))
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
    let is_sold = place.on_demand.is_some() || place.per_million_tokens.is_some();
    Some(if is_sold {
        format!(
            "{hours} GPU-hours are expected not to be there when asked for at {whose}, and the work does not say what such \
             an hour costs"
        )
    } else {
        format!(
            "{hours} GPU-hours are not served by {whose}: there is too little of it for the highest hours"
        )
    })
}

fn percent(share: Decimal) -> Decimal {
    share.times(100).normalize()
}
