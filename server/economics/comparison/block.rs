//! Capacity that is paid for in advance, whole: so many GPUs for so many hours from a start (AWS Capacity Blocks, SFCompute).
//!
//! A block serves what is asked for in its hours before anything else does, and first what cannot be interrupted; the rest
//! goes to the other layers. It is paid at the start of the month in which it begins, whether it is used or not. What is paid
//! for hours after the last month is no cost of these, and counts as sold then, as with commitments.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::entered::Rate;
use crate::economics::profile::{Hour, MONTH, PARTS, Profile};
use crate::money::Decimal;
use crate::money::arithmetic::count;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Of an hour of a GPU; that of the month in which it is bought.
    pub rate: Rate,
    pub gpus: u32,
    /// How long it lasts.
    pub hours: u32,
    /// It is bought again after so many months. 0: never.
    #[serde(default)]
    pub every_months: u32,
    /// Months from now until the first. 0: none.
    #[serde(default)]
    pub first_month: u32,
    /// Hours of its month before it begins, of 730. 0: it begins with the month.
    #[serde(default)]
    pub starts_at_hour: u32,
}

impl Block {
    /// In which of so many months it is bought.
    pub(super) fn bought(&self, months: u32) -> impl Iterator<Item = u32> {
        let every = if self.every_months == 0 { months } else { self.every_months };
        (self.first_month..months).step_by(every.max(1) as usize)
    }

    /// GPU-hours that are paid for each time.
    pub(super) fn gpu_hours(&self) -> Decimal {
        count(self.gpus).times(self.hours.into())
    }

    /// Whether one lasts longer than what is looked at.
    pub(in crate::economics) fn goes_on_after(&self, months: u32) -> bool {
        self.bought(months)
            .last()
            .is_some_and(|month| self.gpu_hours_within(month, months) < self.gpu_hours())
    }

    /// GPU-hours of these when it is bought in a month, so far as they are looked at.
    pub(super) fn gpu_hours_within(&self, month: u32, months: u32) -> Decimal {
        let lasts = self.lasts(month, months as usize * MONTH);
        count(self.gpus).times(i64::try_from(lasts.len()).unwrap_or(i64::MAX))
    }

    /// Its hours when it is bought in a month, of all there are.
    fn lasts(&self, month: u32, all: usize) -> Range<usize> {
        let from = (month as usize * MONTH + self.starts_at_hour as usize).min(all);
        from..(from + self.hours as usize).min(all)
    }
}

/// What blocks leave of a demand. Of each hour that one serves it is noted which block, which hour, and how many
/// thousandths of a GPU.
pub(super) fn served(blocks: &[Block], demand: &Profile, mut tell: impl FnMut(usize, usize, u64)) -> Profile {
    let mut hours = demand.hours().to_vec();
    let all = hours.len();
    let months = u32::try_from(all.div_ceil(MONTH)).unwrap_or(u32::MAX);
    for (at, block) in blocks.iter().enumerate() {
        for month in block.bought(months) {
            let lasts = block.lasts(month, all);
            for (n, hour) in hours.iter_mut().enumerate().take(lasts.end).skip(lasts.start) {
                tell(at, n, take(hour, u64::from(block.gpus) * PARTS));
            }
        }
    }
    Profile::from(hours)
}

/// Takes up to so much of what an hour asks for, and tells how much.
fn take(hour: &mut Hour, parts: u64) -> u64 {
    let firm = hour.firm.min(parts);
    let interruptible = hour.interruptible.min(parts - firm);
    hour.firm -= firm;
    hour.interruptible -= interruptible;
    firm + interruptible
}
