//! Machines of one's own under a demand: how many cost least, and what is paid for them when.
//!
//! Lock-in is [`crate::economics::price_path`]'s, of the first generation: what doing its work costs more than with the best
//! there is each quarter, until it is replaced. How fast that gets better follows from what replaces it, where that is
//! another: orders of magnitude a year = log₁₀(ratio of performances ÷ ratio of prices) ÷ life

use std::ops::Range;

use super::PLACES;
use super::entered::{Gpus, Owned};
use super::place::Asked;
use super::refresh::{Lived, generations, is_once, life};
use crate::cancellation;
use crate::economics::cash::Payments;
use crate::economics::check::Refused;
use crate::economics::figure::Figure;
use crate::economics::owning::Owning;
use crate::economics::price_path::{LockIn, Progress, Refresh};
use crate::economics::profile::{in_gpus, parts};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, ceiling, count, logarithm, one, product, quotient, whole};

/// Numbers of nodes that are tried at most. So many are only where hundreds of them cost the same.
const TRIED: usize = 1024;

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

/// What comes after the machines: thousandths of GPU-hours that nothing serves, and what the others are worth at the start.
type Rest = (u128, Decimal);

/// A number of nodes that was tried.
struct Tried {
    nodes: u32,
    base: OwnedBase,
    /// What is paid for them, as it is worth at the start.
    machines: Decimal,
    rest: Rest,
}

impl Tried {
    fn of(asked: &Asked<'_>, owned: &Owned, nodes: u32) -> Result<Self, Refused> {
        cancellation::check();
        let gpus = nodes.saturating_mul(owned.machines.gpus_per_node.max(1));
        let base = OwnedBase::with(asked, (&owned.machines, owned.refresh), gpus)?;
        let is_alone = asked.place.committed.is_empty();
        let rest = if is_alone { (0, asked.rest(base.level)) } else { asked.above(base.level) };
        Ok(Self { nodes, machines: base.worth(asked), rest, base })
    }

    fn all(&self) -> Rest {
        with(self.machines, self.rest)
    }
}

/// Numbers of nodes after the first and before the last, of which nothing was tried yet.
struct Between {
    nodes: Range<u32>,
    /// Of the first.
    machines: Decimal,
    /// Of the last.
    rest: Rest,
}

impl Between {
    /// Nothing between them is worth less.
    fn bound(&self) -> Rest {
        with(self.machines, self.rest)
    }
}

fn with(machines: Decimal, (missing, rest): Rest) -> Rest {
    (missing, machines + rest)
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
        Self::best(asked, owned, (least, most))
    }

    /// The fewest of those that leave least unserved and are worth least at the start, by their number of nodes.
    ///
    /// The cost of people has steps, so that no slope leads to the best. But more nodes never cost less, and never leave more
    /// for what comes after them: between two numbers that were tried nothing is worth less than the machines of the lower
    /// and the rest of the higher one. Where that is no better than the best so far, nothing is tried between them.
    fn best(asked: &Asked<'_>, owned: &Owned, (fewest, most): (u32, u32)) -> Result<Self, Refused> {
        let mut best = Tried::of(asked, owned, fewest)?;
        if most <= fewest {
            return Ok(best.base);
        }
        let last = Tried::of(asked, owned, most)?;
        let mut open = vec![Between { nodes: fewest..most, machines: best.machines, rest: last.rest }];
        if last.all() < best.all() {
            best = last;
        }
        for _ in 2..TRIED {
            let Some(at) = (0..open.len()).min_by_key(|at| open[*at].bound()) else { break };
            let next = open.swap_remove(at);
            if next.bound() > best.all() {
                break;
            }
            let Between { nodes, machines, rest } = next;
            let middle = Tried::of(asked, owned, nodes.start.midpoint(nodes.end))?;
            let below = Between { nodes: nodes.start..middle.nodes, machines, rest: middle.rest };
            let above = Between { nodes: middle.nodes..nodes.end, machines: middle.machines, rest };
            open.extend([below, above].into_iter().filter(|it| it.nodes.len() > 1));
            if (middle.all(), middle.nodes) < (best.all(), best.nodes) {
                best = middle;
            }
        }
        Ok(best.base)
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

    /// What is paid for it, as it is worth at the start.
    fn worth(&self, asked: &Asked<'_>) -> Decimal {
        asked.worth_of(&self.payments(asked))
    }

    /// With the rest, where nothing is committed to above it.
    pub(super) fn with_the_rest(&self, asked: &Asked<'_>) -> Decimal {
        self.worth(asked) + asked.rest(self.level)
    }

    /// Of all generations, over all months.
    pub(super) fn cost(&self) -> Decimal {
        self.generations.iter().map(Lived::total).sum()
    }

    /// On-prem GPU-hours, in those of the first generation.
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

    /// What staying with the first generation until its end costs more than the best there is each quarter. None without
    /// machines.
    pub(super) fn lock_in(&self, asked: &Asked<'_>) -> Option<Figure> {
        let first = self.generations.first().filter(|it| it.machines.gpus > 0)?;
        let lock_in = LockIn {
            monthly: quotient(first.cost()?.total, 12.into())?,
            months: life(&first.machines).min(asked.months()),
            progress: progress(self.refresh, first.machines.life_years)?,
            cost_of_capital: asked.scenario.cost_of_capital,
        };
        // None where the sums are larger than anyone's.
        lock_in.cost().ok()
    }
}

/// How fast hardware gets better by what one expects to buy next; what replaces machines for no less is no progress.
fn progress(refresh: Refresh, life_years: Decimal) -> Option<Progress> {
    if refresh.is_the_same() {
        return Some(Progress::default());
    }
    let better = logarithm(quotient(refresh.performance_ratio, refresh.price_ratio)?)?;
    let orders = quotient(better, product(&[logarithm(10.into())?, life_years]))?;
    Some(Progress { orders_per_year: orders.round(PLACES).max(Decimal::ZERO) })
}

/// GPUs that serve a level in spite of downtime.
fn gpus_for(level: u64, machines: &Owning) -> u32 {
    let available = quotient(in_gpus(level.into()), one() - machines.unavailability);
    whole(ceiling(available.unwrap_or_default()))
}
