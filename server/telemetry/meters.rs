//! What meters say by device and holder, held together until there is much of it.

use std::collections::BTreeMap;

use super::metered::{Device, Holder, Metered};

/// Days of devices that are held in memory, by metric; each is less than a kilobyte.
const MOST_DAYS: usize = 60_000;

type Place = (Device, Option<Holder>, &'static str);

#[derive(Default)]
pub struct Meters {
    of: BTreeMap<Place, Metered>,
    days: usize,
}

impl Meters {
    /// Whether they are many by now, and to be taken.
    pub fn add(&mut self, metered: Metered) -> bool {
        let place = (metered.device.clone(), metered.holder.clone(), metered.metric);
        let Some(known) = self.of.get_mut(&place) else {
            self.days += metered.days.len();
            self.of.insert(place, metered);
            return self.days >= MOST_DAYS;
        };
        let before = known.days.len();
        if known.metric.is_empty() {
            known.merge(metered);
        } else {
            known.join(metered);
        }
        self.days += known.days.len() - before;
        self.days >= MOST_DAYS
    }

    /// All of them, each device and holder once.
    pub fn take(&mut self) -> Vec<Metered> {
        self.days = 0;
        let mut taken: Vec<Metered> = Vec::new();
        // Metrics of one device and holder stand together.
        for metered in std::mem::take(&mut self.of).into_values() {
            match taken.last_mut() {
                Some(last) if last.device == metered.device && last.holder == metered.holder => {
                    last.merge(metered);
                }
                _ => taken.push(metered),
            }
        }
        taken
    }
}
