//! How large the base of a place is, and what the place amounts to with it.

use super::answer::Policy;
use super::bill::{Bill, Evaluated};
use super::owned::OwnedBase;
use super::place::Asked;
use super::spend::Covered;
use crate::economics::check::Refused;
use crate::economics::profile::{PARTS, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, one};

/// The base of a place: what is owned, how far up each commitment reaches, and all of it by the month.
pub(super) struct Decided<'a> {
    pub(super) asked: &'a Asked<'a>,
    owned: Option<OwnedBase>,
    /// In the order of [`Asked::committed`].
    levels: Vec<Vec<u64>>,
    pub(super) base: Vec<u64>,
}

impl<'a> Decided<'a> {
    pub(super) fn of(asked: &'a Asked<'a>) -> Result<Self, Refused> {
        let owned = asked.place.owned.as_ref().map(|it| OwnedBase::of(asked, it)).transpose()?;
        let level = owned.as_ref().map_or(0, |it| it.level);
        let levels = asked.levels_above(level);
        let base = levels.last().cloned().unwrap_or_else(|| vec![level; asked.months() as usize]);
        Ok(Self { asked, owned, levels, base })
    }

    pub(super) fn evaluate(&self, covered: Option<&Covered>) -> Result<Evaluated, Refused> {
        let asked = self.asked;
        let mut found = Bill::new(asked);
        let mut below = vec![0; asked.months() as usize];
        for (block, used) in asked.place.blocks.iter().zip(&asked.in_blocks) {
            found.block(block, *used);
        }
        if let Some(owned) = &self.owned {
            found.own(owned);
            below.fill(owned.level);
        }
        for (entered, level) in asked.committed.iter().zip(&self.levels) {
            found.commit(entered, &below, level);
            below.clone_from(level);
        }
        found.overflow(&self.base, covered);
        found.besides();
        found.porting();
        let moved = found.moved()?;
        Ok(found.evaluated(self.policies()?, self.owned.as_ref(), moved))
    }

    /// What a place with one base and something for the rest is worth with other bases.
    fn policies(&self) -> Result<Vec<Policy>, Refused> {
        let asked = self.asked;
        // With nothing by use there is nothing to tell; what is missing for nothing is no saving; and a spend commitment
        // depends on the other places of its option.
        let is_known = asked.obtainable == one() || asked.per_unserved_hour.is_some();
        if asked.by_use.is_empty() || !is_known || asked.place.spend_rate.is_some() {
            return Ok(Vec::new());
        }
        let levels = [
            ("Nothing, all on demand", 0),
            ("What is always asked for", asked.rest.lowest()),
            ("The highest hour", asked.rest.peak()),
        ];
        let policy = |name, parts: u64, [cost, taken]: [Decimal; 2]| Policy {
            name,
            gpus: in_gpus(parts.into()),
            cost,
            more: cost - taken,
        };
        match (&self.owned, &asked.commitments[..]) {
            (Some(owned), []) => {
                let taken = owned.with_the_rest(asked);
                levels
                    .into_iter()
                    .map(|(name, level)| {
                        let other = owned.serving(asked, level)?;
                        Ok(policy(name, u64::from(other.gpus) * PARTS, [other.with_the_rest(asked), taken]))
                    })
                    .collect()
            }
            (None, [only]) => {
                let of = |levels: &[u64]| {
                    let months = (0..).zip(levels).zip(&only.prices).map(|((month, level), price)| {
                        let base = in_gpus((*level).into()).multiply(*price).times(HOURS_PER_MONTH);
                        base + asked.rest_of(month..month + 1, *level)
                    });
                    months.sum::<Decimal>()
                };
                let taken = of(&self.base);
                Ok(levels
                    .into_iter()
                    .map(|(name, level)| (name, up(level, asked.step())))
                    .map(|(name, level)| policy(name, level, [of(&vec![level; self.base.len()]), taken]))
                    .collect())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// The next multiple of a step.
fn up(parts: u64, step: u64) -> u64 {
    parts.div_ceil(step).saturating_mul(step)
}
