//! From the GPU-hours that were paid for to those that were of use, by whatever spend is grouped by, each with what one costs.
//!
//! Owned or paid for → available → held → productive → useful. What a job held and whether it worked is measured, as far as
//! usage says so; downtime, the productive share of clusters that nobody measures, and repeated work are what was entered for
//! a cluster. The two are never added: no hour counts as productive because nobody measured it.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use super::job_costs::JobCosts;
use super::{Answers, CostMetric, DataStatus, Error, Filter, Group, Grouping, HourLines, Question, Spend};
use crate::billing::usage_tags;
use crate::changes::Document as _;
use crate::money::Decimal;
use crate::onprem::AssetRegister;
use crate::period::Period;
use crate::telemetry::GpuUse;

/// Decimals of a price.
const PLACES: u8 = 6;

/// Groups are in the order of spend: what costs most first.
#[derive(Clone, Debug, Serialize)]
pub struct HourChains {
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    pub by: Grouping,
    pub total: HourChain,
    pub groups: Vec<HourChainGroup>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HourChainGroup {
    /// Null: the charges have no value in this dimension.
    pub key: Option<String>,
    pub label: String,
    #[serde(flatten)]
    pub chain: HourChain,
}

/// productive ≤ held ≤ available ≤ on-prem and cloud GPU-hours.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HourChain {
    /// Cloud GPU-hours.
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    /// Less the downtime that was entered for clusters, and never less than what was held. A cloud bills no hour that is not
    /// available.
    pub available_hours: Decimal,
    /// What is known of who held them, and whether they were at work.
    #[serde(rename = "measured")]
    pub lines: HourLines,
    /// Of the hours without usage data on clusters, what is productive by the share that was entered. In none of the above.
    pub entered_productive_hours: Decimal,
    /// Of the productive hours, measured and entered, those whose work was not done again; null where nobody entered, for
    /// some of them, how much was.
    pub useful_hours: Option<Decimal>,
    /// Of cloud and on-prem hours. Null without hours, and for billed cost, as every price of an hour.
    pub cost_per_hour: Option<Decimal>,
    pub cost_per_available_hour: Option<Decimal>,
    /// What the hours with usage data cost, by those of them that were held …
    pub cost_per_held_hour: Option<Decimal>,
    /// … and by those that were at work; where some were held and not measured, it is at most that.
    pub cost_per_productive_hour: Option<Decimal>,
    /// What the other hours of clusters cost, by those of them that are productive as entered.
    pub cost_per_entered_productive_hour: Option<Decimal>,
    pub cost_per_useful_hour: Option<Decimal>,
}

/// What was entered for the clusters of a group, in hours.
#[derive(Clone, Copy, Debug, Default)]
struct Entered {
    down: Decimal,
    /// Hours of clusters without usage data, and those of them that are productive as entered.
    without_usage: Decimal,
    productive: Decimal,
    useful: Decimal,
    /// Productive hours, measured and entered, of which it was entered how many are useful.
    of_useful: Decimal,
}

/// What the hours of a group cost, as far as it is known who held them.
struct Costs {
    all: Decimal,
    with_usage: Decimal,
    per_owned: Decimal,
}

impl Answers {
    /// From paid to useful hours, by what a question groups by.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn hour_chains(&self, db: &mut PgConnection, question: &Question) -> Result<HourChains, Error> {
        let question = Question { then: Some(of_use()), find: None, limit: None, ..question.clone() };
        let spend = self.priced_spend(&mut *db, &question).await?;
        let mut entered = BTreeMap::new();
        if !spend.owned_hours.is_zero() {
            let asked = question.of_everything().beside(&spend);
            entered = Box::pin(self.entered_hours(&mut *db, &asked)).await?;
        }
        let is_priced = question.cost != CostMetric::Billed;
        let mut all = Entered::default();
        let mut groups = Vec::with_capacity(spend.groups.len());
        for group in &spend.groups {
            let entered = entered.remove(&group.key).unwrap_or_default();
            all += entered;
            let owned = (group.owned_hours, group.cost_per_owned_hour);
            let costs = is_priced.then(|| Costs::of(&group.groups, owned)).flatten();
            groups.push(HourChainGroup {
                key: group.key.clone(),
                label: group.label.clone(),
                chain: HourChain::new(&group.groups, entered, costs),
            });
        }
        groups.retain(|group| !group.chain.hours().is_zero());
        Ok(HourChains {
            period: spend.period,
            data_status: DataStatus::from(&spend),
            total: HourChain::of_all(&spend, all, is_priced),
            by: spend.by,
            groups,
        })
    }

    /// The same of all of them together, without what was entered: no hour is down, productive as entered or known to be useful.
    pub(super) async fn measured_chain(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<HourChain, Error> {
        let question = Question { then: Some(of_use()), ..question.by(Grouping::Provider) };
        let spend = self.priced_spend(db, &question).await?;
        let is_priced = question.cost != CostMetric::Billed;
        Ok(HourChain::of_all(&spend, Entered::default(), is_priced))
    }

    /// The same of all of them together, where some of it is of jobs.
    pub(super) async fn hours_if_divided(
        &self,
        db: &mut PgConnection,
        question: &Question,
        jobs: &JobCosts,
    ) -> Result<Option<HourChain>, Error> {
        if jobs.jobs.is_empty() {
            return Ok(None);
        }
        let chains = Box::pin(self.hour_chains(db, &question.by(Grouping::Provider))).await?;
        Ok(Some(chains.total))
    }

    /// What was entered for the clusters of a question, each month as it was then.
    async fn entered_hours(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<BTreeMap<Option<String>, Entered>, Error> {
        let (_, asset_register) = AssetRegister::current(&mut *db).await?;
        let owned = question.filtered(Filter::owned());
        let accounts =
            self.added_up(&mut *db, &Question { then: None, ..owned.by(Grouping::Account) }).await?;
        let accounts = accounts.groups.iter().filter(|group| !group.owned_hours.is_zero());
        let clusters: Vec<_> =
            accounts.filter_map(|group| asset_register.cluster(group.key.as_deref()?)).collect();
        let mut entered: BTreeMap<Option<String>, Entered> = BTreeMap::new();
        for month in question.period.months() {
            for cluster in &clusters {
                let shares = asset_register.shares(cluster, month);
                let of_cluster = owned.only(Grouping::Account, vec![cluster.handle.clone()]);
                let of_month = Question { period: month.into(), ..of_cluster };
                let down = self.downtime_of_unheld(&mut *db, &of_month, shares.downtime).await?;
                for group in self.added_up(&mut *db, &of_month).await?.groups {
                    let lines = HourLines::of(&group.groups);
                    let productive = lines.without_usage.multiply(shares.productive());
                    let it = entered.entry(group.key).or_default();
                    it.down += (group.owned_hours - lines.held).multiply(down);
                    it.without_usage += lines.without_usage;
                    it.productive += productive;
                    if let Some(useful) = shares.useful() {
                        it.of_useful += lines.used + productive;
                        it.useful += (lines.used + productive).multiply(useful);
                    }
                }
            }
        }
        Ok(entered)
    }
}

impl Answers {
    /// The part of the hours of a cluster that no job held in which it was down: what is held is available. Of all of the cluster, so
    /// that hours available add up by whatever they are grouped.
    async fn downtime_of_unheld(
        &self,
        db: &mut PgConnection,
        question: &Question,
        downtime: Decimal,
    ) -> Result<Decimal, Error> {
        if downtime.is_zero() {
            return Ok(Decimal::ZERO);
        }
        let filters = question
            .filters
            .iter()
            .filter(|it| [Grouping::Account, Grouping::Provider].contains(&it.dimension) && !it.leaves_out);
        let whole = Question {
            filters: filters.cloned().collect(),
            then: Some(of_use()),
            ..question.of_organization().by(Grouping::Account)
        };
        let whole = self.added_up(db, &whole).await?;
        let owned = whole.groups.iter().map(|group| group.owned_hours).sum::<Decimal>();
        let held = whole.groups.iter().map(|group| HourLines::of(&group.groups).held).sum::<Decimal>();
        let part = owned.multiply(downtime).divide(owned - held, 2 * PLACES);
        Ok(part.unwrap_or_default().min(Decimal::from(1)))
    }
}

fn of_use() -> Grouping {
    Grouping::Tag(usage_tags::USE.to_owned())
}

impl HourLines {
    /// From groups by use. What of shared costs nobody is shown has none of ours.
    pub(super) fn of(groups: &[Group]) -> Self {
        let of = |gpu_use: GpuUse| -> Decimal {
            let of_use = groups.iter().filter(|group| group.key.as_deref() == Some(gpu_use.as_str()));
            of_use.map(|it| it.accelerator_hours + it.owned_hours).sum()
        };
        let [used, idle, unmeasured, unheld, stranded] = GpuUse::ALL.map(of);
        let all: Decimal = groups.iter().map(|it| it.accelerator_hours + it.owned_hours).sum();
        let paid = used + idle + unmeasured + unheld + stranded;
        Self {
            paid,
            held: used + idle + unmeasured,
            used,
            idle,
            unmeasured,
            unheld,
            stranded,
            beyond: Decimal::ZERO,
            without_usage: all - paid,
        }
    }
}

impl Costs {
    /// `None` where an hour of clusters has no price.
    fn of(uses: &[Group], (owned, per_owned): (Decimal, Option<Decimal>)) -> Option<Self> {
        let per_owned = if owned.is_zero() { Decimal::ZERO } else { per_owned? };
        let is_known =
            |group: &&Group| GpuUse::ALL.iter().any(|it| group.key.as_deref() == Some(it.as_str()));
        let cost = |it: &Group| it.accelerator_cost + it.owned_hours.multiply(per_owned);
        Some(Self {
            all: uses.iter().map(cost).sum(),
            with_usage: uses.iter().filter(is_known).map(cost).sum(),
            per_owned,
        })
    }
}

impl HourChain {
    /// Of spend that is broken down by use.
    fn of_all(spend: &Spend, entered: Entered, is_priced: bool) -> Self {
        let uses: Vec<Group> = spend.groups.iter().flat_map(|group| group.groups.iter().cloned()).collect();
        let owned = (spend.owned_hours, spend.cost_per_owned_hour);
        let costs = is_priced.then(|| Costs::of(&uses, owned)).flatten();
        Self::new(&uses, entered, costs)
    }

    fn new(uses: &[Group], entered: Entered, costs: Option<Costs>) -> Self {
        let lines = HourLines::of(uses);
        let mut chain = Self {
            accelerator_hours: uses.iter().map(|it| it.accelerator_hours).sum(),
            owned_hours: uses.iter().map(|it| it.owned_hours).sum(),
            entered_productive_hours: entered.productive.normalize(),
            ..Self::default()
        };
        let all = chain.hours();
        chain.available_hours = (all - entered.down).max(lines.held).normalize();
        let productive = lines.used + entered.productive;
        // Hours of groups are rounded.
        let is_all = (productive - entered.of_useful).abs() < Decimal::new(1, 2);
        let is_useful_known = !productive.is_zero() && is_all;
        chain.useful_hours = is_useful_known.then(|| entered.useful.normalize());
        if let Some(costs) = costs {
            let price = |cost: Decimal, hours: Decimal| cost.divide(hours, PLACES);
            let of_entered = entered.without_usage.multiply(costs.per_owned);
            chain.cost_per_hour = price(costs.all, all);
            chain.cost_per_available_hour = price(costs.all, chain.available_hours);
            chain.cost_per_held_hour = price(costs.with_usage, lines.held);
            chain.cost_per_productive_hour = price(costs.with_usage, lines.used);
            chain.cost_per_entered_productive_hour = price(of_entered, entered.productive);
            chain.cost_per_useful_hour =
                chain.useful_hours.and_then(|useful| price(costs.with_usage + of_entered, useful));
        }
        chain.lines = lines;
        chain
    }

    /// Cloud and on-prem.
    pub fn hours(&self) -> Decimal {
        self.accelerator_hours + self.owned_hours
    }

    /// Of the hours with usage data, the part that was held …
    pub fn held_share(&self) -> Option<Decimal> {
        self.lines.held.divide(self.lines.paid, PLACES)
    }

    /// … and the part that was at work.
    pub fn productive_share(&self) -> Option<Decimal> {
        self.lines.used.divide(self.lines.paid, PLACES)
    }

    pub fn available_share(&self) -> Option<Decimal> {
        self.available_hours.divide(self.hours(), PLACES)
    }
}

impl std::ops::AddAssign for Entered {
    fn add_assign(&mut self, other: Self) {
        self.down += other.down;
        self.without_usage += other.without_usage;
        self.productive += other.productive;
        self.useful += other.useful;
        self.of_useful += other.of_useful;
    }
}
