//! Capacity that is paid for in advance, whole (AWS Capacity Blocks, SFCompute).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Rate;
use crate::economics::profile::MONTH;
use crate::money::Decimal;
use crate::money::arithmetic::count;

/// So many GPUs for so many hours from a start.
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
    pub(in crate::economics) fn bought(&self, months: u32) -> impl Iterator<Item = u32> {
        let every = if self.every_months == 0 { months } else { self.every_months };
        (self.first_month..months).step_by(every.max(1) as usize)
    }

    /// GPU-hours that are paid for each time.
    pub(in crate::economics) fn gpu_hours(&self) -> Decimal {
        count(self.gpus).times(self.hours.into())
    }

    /// Whether one lasts longer than what is looked at.
    pub(in crate::economics) fn goes_on_after(&self, months: u32) -> bool {
        self.bought(months)
            .last()
            .is_some_and(|month| self.gpu_hours_within(month, months) < self.gpu_hours())
    }

    /// GPU-hours of these when it is bought in a month, so far as they are looked at.
    pub(in crate::economics) fn gpu_hours_within(&self, month: u32, months: u32) -> Decimal {
        let lasts = self.lasts(month, months as usize * MONTH);
        count(self.gpus).times(i64::try_from(lasts.len()).unwrap_or(i64::MAX))
    }

    /// Its hours when it is bought in a month, of all there are.
    pub(in crate::economics) fn lasts(&self, month: u32, all: usize) -> Range<usize> {
        let from = (month as usize * MONTH + self.starts_at_hour as usize).min(all);
        from..(from + self.hours as usize).min(all)
    }
}
