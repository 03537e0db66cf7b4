//! Machines of one's own under a demand: how many cost least, and what is paid for them when.

use super::entered::{Gpus, Owned};
use super::place::Asked;
use super::refresh::{Lived, generations, is_once, life};
use crate::money::Decimal;
use crate::scenario::arithmetic::{HOURS_PER_MONTH, ceiling, count, one, product, quotient, whole};
use crate::scenario::cash::Payments;
use crate::scenario::check::Refused;
use crate::scenario::owning::Owning;
use crate::scenario::path::Refresh;
use crate::scenario::profile::{in_gpus, parts};

/// Numbers of nodes of which every one is tried. Where there are more, some are, and then all around the best.
const ALL: u32 = 256;

/// So many machines, as they are used.
pub(super) struct OwnedBase {
    pub(super) gpus: u32,
    /// What they serve at most, without downtime, in thousandths of a GPU.
    pub(super) level: u64,
    /// GPU-hours of the demand that they serve.
    pub(super) used: Decimal,
    /// As they were entered.
    machines: Owning,
    pub(super) refresh: Refresh,
    /// One, unless what replaces them is another.
    pub(super) generations: Vec<Lived>,
}

impl OwnedBase {
    /// As many as are entered, or as cost least together with what serves the rest.
    pub(super) fn of(asked: &Asked<'_>, owned: &Owned) -> Result<Self, Refused> {
        let per_node = owned.machines.gpus_per_node.max(1);
        if let Gpus::Number(gpus) = owned.gpus {
            return Self::with(asked, (&owned.machines, owned.refresh), gpus);
        }
        let nodes_for = |level: u64| gpus_for(level, &owned.machines).div_ceil(per_node);
        // What is committed to may serve the rest.
        let least = if asked.place.committed.is_empty() { nodes_for(asked.least_level()) } else { 0 };
        let most = nodes_for(asked.rest.peak());
        // The cost of people has steps, and nodes come in whole numbers, so that no search finds the best but trying.
        let step = ((most - least) / ALL).max(1);
        let nodes = |it: &Self| it.gpus / per_node;
        let best = Self::cheapest(asked, owned, (least..=most).step_by(step as usize))?;
        let around = nodes(&best).saturating_sub(step).max(least)..=(nodes(&best) + step).min(most);
        if step == 1 { Ok(best) } else { Self::cheapest(asked, owned, around) }
    }

    /// The first of those that leave least unserved and cost least, by their number of nodes.
    fn cheapest(asked: &Asked<'_>, owned: &Owned, nodes: impl Iterator<Item = u32>) -> Result<Self, Refused> {
        let machines = (&owned.machines, owned.refresh);
        let per_node = owned.machines.gpus_per_node.max(1);
        let mut best: Option<((u128, Decimal), Self)> = None;
        for nodes in nodes {
            let it = Self::with(asked, machines, nodes.saturating_mul(per_node))?;
            let total = if asked.place.committed.is_empty() {
                (0, it.total(asked))
            } else {
                let (missing, above) = asked.above(&it);
                (missing, it.cost() + above)
            };
            if best.as_ref().is_none_or(|(least, _)| total < *least) {
                best = Some((total, it));
            }
        }
        best.map_or_else(|| Self::with(asked, machines, 0), |(_, best)| Ok(best))
    }

    pub(super) fn with(
        asked: &Asked<'_>,
        (machines, refresh): (&Owning, Refresh),
        gpus: u32,
    ) -> Result<Self, Refused> {
        let share = one() - machines.unavailability;
        let level = parts(product(&[count(gpus), share]));
        let served = |month| asked.ladder.serve(month, level).base;
        let used = in_gpus((0..asked.months()).map(served).sum());
        let generations = generations(asked, (machines, refresh), gpus, level)?;
        Ok(Self { gpus, level, used, machines: machines.clone(), refresh, generations })
    }

    /// As many as serve a level.
    pub(super) fn serving(&self, asked: &Asked<'_>, level: u64) -> Result<Self, Refused> {
        let per_node = self.machines.gpus_per_node.max(1);
        let gpus = gpus_for(level, &self.machines).div_ceil(per_node).saturating_mul(per_node);
        Self::with(asked, (&self.machines, self.refresh), gpus)
    }

    /// With what the rest costs, where nothing is committed to above it.
    pub(super) fn total(&self, asked: &Asked<'_>) -> Decimal {
        self.cost() + asked.rest(self.level)
    }

    /// Of all generations, over all months.
    pub(super) fn cost(&self) -> Decimal {
        self.generations.iter().map(Lived::total).sum()
    }

    /// GPU-hours owned, in those of the first generation.
    pub(super) fn hours(&self) -> Decimal {
        let hours = |it: &Lived| {
            let worth = product(&[count(it.machines.gpus), it.worth]);
            worth.times(HOURS_PER_MONTH).times(it.months.into())
        };
        self.generations.iter().map(hours).sum()
    }

    /// The purchase at the start and whenever a life is over; what is left then, sold; people before it runs; and the
    /// rest by the month. At the end machines whose life goes on are worth what the table of resale says at their age.
    pub(super) fn payments(&self, asked: &Asked<'_>) -> Payments {
        let months = asked.months();
        let mut payments = Payments::over(months);
        if self.gpus == 0 {
            return payments;
        }
        let life = life(&self.machines);
        let once: Decimal = self.machines.one_offs.iter().map(|it| it.amount).sum();
        for (n, start) in (0..months).step_by(life as usize).enumerate() {
            let Some(machines) = self.generations.get(n).or(self.generations.last()).map(|it| &it.machines)
            else {
                break;
            };
            let purchase = machines.purchase();
            // People are hired before it runs, and then they are there.
            let before = if n == 0 { machines.staff_before() } else { Decimal::ZERO };
            let once = once + before;
            payments.at_start_of(start, purchase.total + once);
            if start + life <= months {
                payments.at_end_of(start + life - 1, -purchase.residual);
            } else {
                let age = quotient(count(months - start), 12.into()).unwrap_or_default();
                let share = machines.residual.at_age(age, machines.life_years);
                payments.at_end_of(months - 1, -product(&[purchase.equipment(), share]));
            }
        }
        for it in &self.generations {
            let parts = it.parts();
            let running = parts.iter().filter(|it| !is_once(it.component.part));
            let running: Decimal = running.map(|it| it.component.per_year).sum();
            let monthly = quotient(running, 12.into()).unwrap_or_default();
            (it.from..it.from + it.months).for_each(|month| payments.during(month, monthly));
        }
        payments
    }
}

/// GPUs that serve a level in spite of downtime.
fn gpus_for(level: u64, machines: &Owning) -> u32 {
    let available = quotient(in_gpus(level.into()), one() - machines.unavailability);
    whole(ceiling(available.unwrap_or_default()))
}
