//! What meters say by device and holder, held together until there is much of it.

use std::collections::BTreeMap;

use super::metered::{Device, Holder, Metered};

/// Days of devices that are held in memory; each is less than a kilobyte.
const MOST_DAYS: usize = 60_000;

#[derive(Default)]
pub struct Meters {
    of: BTreeMap<(Device, Option<Holder>), Metered>,
    days: usize,
}

impl Meters {
    /// Whether they are many by now, and to be taken.
    pub fn add(&mut self, metered: Metered) -> bool {
        let of = self.of.entry((metered.device.clone(), metered.holder.clone())).or_insert_with(|| Metered {
            device: metered.device.clone(),
            holder: metered.holder.clone(),
            ..Metered::default()
        });
        let before = of.days.len();
        of.merge(metered);
        self.days += of.days.len() - before;
        self.days >= MOST_DAYS
    }

    pub fn take(&mut self) -> Vec<Metered> {
        self.days = 0;
        std::mem::take(&mut self.of).into_values().collect()
    }
}
