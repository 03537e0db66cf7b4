//! Machines of one's own under a demand: how many cost least, and what is paid for them when.

use super::entered::{Gpus, Owned};
use super::place::Asked;
use crate::money::Decimal;
use crate::scenario::arithmetic::{HOURS_PER_MONTH, ceiling, count, growth, one, product, quotient, whole};
use crate::scenario::cash::Payments;
use crate::scenario::check::Refused;
use crate::scenario::owning::capital::{annualized, capital_recovery_factor};
use crate::scenario::owning::{Owning, OwningCost, Part};
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
    pub(super) machines: Owning,
    pub(super) cost: OwningCost,
}

impl OwnedBase {
    /// As many as are entered, or as cost least together with what serves the rest.
    pub(super) fn of(asked: &Asked<'_>, owned: &Owned) -> Result<Self, Refused> {
        let per_node = owned.machines.gpus_per_node.max(1);
        if let Gpus::Number(gpus) = owned.gpus {
            return Self::with(asked, &owned.machines, gpus);
        }
        let nodes_for = |level: u64| gpus_for(level, &owned.machines).div_ceil(per_node);
        let (least, most) = (nodes_for(asked.least_level()), nodes_for(asked.rest.peak()));
        // The cost of people has steps, and nodes come in whole numbers, so that no search finds the best but trying.
        let step = ((most - least) / ALL).max(1);
        let nodes = |it: &Self| it.gpus / per_node;
        let best = Self::cheapest(asked, &owned.machines, (least..=most).step_by(step as usize))?;
        let around = nodes(&best).saturating_sub(step).max(least)..=(nodes(&best) + step).min(most);
        if step == 1 { Ok(best) } else { Self::cheapest(asked, &owned.machines, around) }
    }

    /// The first of those that cost least, by their number of nodes.
    fn cheapest(
        asked: &Asked<'_>,
        machines: &Owning,
        nodes: impl Iterator<Item = u32>,
    ) -> Result<Self, Refused> {
        let mut best: Option<(Decimal, Self)> = None;
        for nodes in nodes {
            let it = Self::with(asked, machines, nodes.saturating_mul(machines.gpus_per_node.max(1)))?;
            let total = it.total(asked);
            if best.as_ref().is_none_or(|(least, _)| total < *least) {
                best = Some((total, it));
            }
        }
        best.map_or_else(|| Self::with(asked, machines, 0), |(_, best)| Ok(best))
    }

    pub(super) fn with(asked: &Asked<'_>, machines: &Owning, gpus: u32) -> Result<Self, Refused> {
        let share = one() - machines.unavailability;
        let level = parts(product(&[count(gpus), share]));
        let served = |month| asked.ladder.serve(month, level).base;
        let used = in_gpus((0..asked.months()).map(served).sum());
        let available = product(&[in_gpus(level.into()), HOURS_PER_MONTH.into(), count(asked.months())]);
        let machines = Owning {
            gpus,
            utilization: quotient(used, available).unwrap_or_default(),
            cost_of_capital: asked.scenario.cost_of_capital,
            allocated_share: None,
            // Of the place, and in its demand already.
            rework: one(),
            ..machines.clone()
        };
        let cost = machines.cost()?;
        Ok(Self { gpus, level, used, machines, cost })
    }

    /// As many as serve a level.
    pub(super) fn serving(&self, asked: &Asked<'_>, level: u64) -> Result<Self, Refused> {
        let per_node = self.machines.gpus_per_node.max(1);
        let gpus = gpus_for(level, &self.machines).div_ceil(per_node).saturating_mul(per_node);
        Self::with(asked, &self.machines, gpus)
    }

    /// With what the rest costs.
    pub(super) fn total(&self, asked: &Asked<'_>) -> Decimal {
        self.over(self.cost.total, asked.months()) + asked.rest(self.level)
    }

    /// What comes to so much a year, for so many months.
    pub(super) fn over(&self, per_year: Decimal, months: u32) -> Decimal {
        if self.gpus == 0 {
            return Decimal::ZERO;
        }
        quotient(product(&[per_year, count(months)]), 12.into()).unwrap_or_default()
    }

    /// GPU-hours owned in so many months.
    pub(super) fn hours(&self, months: u32) -> Decimal {
        count(self.gpus).times(HOURS_PER_MONTH).times(months.into())
    }

    /// The purchase at the start and whenever a life is over; what is left then, sold; people before it runs; and the
    /// rest by the month. At the end what is left of a life that goes on is worth what it would still have cost.
    pub(super) fn payments(&self, asked: &Asked<'_>) -> Payments {
        let months = asked.months();
        let mut payments = Payments::over(months);
        if self.gpus == 0 {
            return payments;
        }
        let purchase = self.machines.purchase();
        let life = whole(product(&[self.machines.life_years, 12.into()])).max(1);
        let once: Decimal = self.machines.one_offs.iter().map(|it| it.amount).sum();
        for start in (0..months).step_by(life as usize) {
            payments.at_start_of(start, purchase.total + once);
            if start + life <= months {
                payments.at_end_of(start + life - 1, -purchase.residual);
            } else {
                let left = count(start + life - months);
                payments.at_end_of(months - 1, -self.left(quotient(left, 12.into()).unwrap_or_default()));
            }
        }
        payments.at_start_of(0, self.machines.staff_before());
        let paid_once = [Part::Capital, Part::StaffBefore, Part::OneOff];
        let running = self.cost.components.iter().filter(|it| !paid_once.contains(&it.part));
        let running: Decimal = running.map(|it| it.per_year).sum();
        let monthly = quotient(running, 12.into()).unwrap_or_default();
        (0..months).for_each(|month| payments.during(month, monthly));
        payments
    }

    /// What machines are worth that have so many years to go: what their capital would still cost, and what they are
    /// sold for, today. With all of a life to go that is the purchase, with nothing the residual value.
    fn left(&self, years: Decimal) -> Decimal {
        let (purchase, rate) = (self.machines.purchase(), self.machines.cost_of_capital);
        let yearly = annualized(purchase.total, purchase.residual, rate, self.machines.life_years);
        let rest = capital_recovery_factor(rate, years).and_then(|factor| quotient(yearly?, factor));
        let sold = quotient(purchase.residual, growth(rate, years));
        rest.unwrap_or_default() + sold.unwrap_or_default()
    }
}

/// GPUs that serve a level in spite of downtime.
fn gpus_for(level: u64, machines: &Owning) -> u32 {
    let available = quotient(in_gpus(level.into()), one() - machines.unavailability);
    whole(ceiling(available.unwrap_or_default()))
}
