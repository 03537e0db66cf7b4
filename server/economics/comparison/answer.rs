//! What a comparison answers.

use std::borrow::Cow;

use serde::Serialize;

use super::entered::Every;
use super::refresh::Generation;
use crate::economics::break_even::{BreakEven, YearlyCost};
use crate::economics::cash::{Payback, Payments};
use crate::economics::check::Finding;
use crate::economics::egress::TransferCost;
use crate::economics::figure::{Figure, Term};
use crate::economics::owning::Owning;
use crate::economics::silicon::Ported;
use crate::money::{Currency, Decimal};

/// Every option on the same work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub currency: Currency,
    pub months: u32,
    /// What money costs in a year, by which present values are.
    pub cost_of_capital: Decimal,
    pub work: Vec<WorkAnswer>,
    /// In the order in which they were entered.
    pub options: Vec<OptionAnswer>,
    /// Which of them costs least of those that do all of the work as it is needed: has the least present value.
    pub cheapest: Option<usize>,
    /// Each option that owns against each price of the others.
    pub break_evens: Vec<Against>,
    /// Each option that something is ported for against each that saves less.
    pub moves: Vec<Moving>,
    /// What is odd about what was entered, though it could be computed with.
    pub warnings: Vec<Finding>,
}

/// What is asked for over all months.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkAnswer {
    pub name: String,
    pub gpu_hours: Decimal,
    /// GPUs of the highest and the lowest hour, and of all on average.
    pub peak: Decimal,
    pub lowest: Decimal,
    pub mean: Decimal,
    /// How many GPUs its users take in the busiest hour, step by step; empty where GPUs were entered.
    pub sizing: Vec<Figure>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionAnswer {
    pub name: String,
    /// They sum exactly to the total.
    pub lines: Vec<Line>,
    /// What it costs over all months, with interest on what is owned: what is paid by the month, added up; expected, where it
    /// is uncertain to work.
    pub total: Decimal,
    /// GPU-hours that are paid for or owned here.
    pub paid_hours: Decimal,
    /// GPU-hours of the work that it serves, and those in which work is done.
    pub served_hours: Decimal,
    pub productive_hours: Decimal,
    /// None where there are no such hours.
    pub per_paid_hour: Option<Decimal>,
    pub per_productive_hour: Option<Decimal>,
    pub places: Vec<PlaceAnswer>,
    /// What is paid when, what is left at the end counted as sold.
    pub payments: Payments,
    /// What is paid less what is left, without interest; and what it is worth today, which options are ranked by.
    pub paid: Decimal,
    pub present_value: Decimal,
    /// From when on it has cost no more than each of the others that own nothing, by their place in the list.
    pub paybacks: Vec<(usize, Payback)>,
    /// Why it does not do the work as it is needed; empty: it does.
    pub fails: Vec<String>,
    /// That what has to be ported for it runs at all. 1: nothing has to be.
    pub chance: Decimal,
    /// Where that is uncertain, what it costs in both cases: its total is what is expected. None: it is certain, or there is
    /// no other option to fall back on.
    pub fallback: Option<Fallback>,
    /// What is paid for porting and for running both, which is lost where it fails.
    #[serde(skip)]
    pub(super) payments_in_vain: Payments,
}

/// One of the costs that sum to an option's total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub place: usize,
    pub name: String,
    /// Over all months.
    pub cost: Decimal,
    /// How it comes about, over the names of its terms.
    pub formula: Cow<'static, str>,
    pub terms: Vec<Term>,
}

/// How the work of a place is served.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceAnswer {
    pub supplier: String,
    /// The works that it serves, by name; empty: all of them.
    pub serves: Vec<String>,
    /// From the base up.
    pub layers: Vec<Layer>,
    /// How what is committed to is used; empty where nothing is.
    pub coverage: Vec<Figure>,
    /// GPU-hours that nothing is expected to serve; what one of them costs, which is none where nobody said and nothing is
    /// to be missing; and all of them.
    pub unserved_hours: Decimal,
    pub per_unserved_hour: Option<Decimal>,
    pub unserved_cost: Decimal,
    /// What is promised of it, beside what the work needs; none where nothing is.
    pub promise: Option<String>,
    /// The same place with other bases, the one that was taken among them: what the best one saves.
    pub policies: Vec<Policy>,
    /// GPU-hours that are asked of it, in GPUs of its own.
    pub gpu_hours: Decimal,
    /// GPU-hours that moved to cheaper hours of the day.
    pub shifted_hours: Decimal,
    /// What a year of its machines costs by utilization, and the machines; of places that own some.
    pub owning: Option<YearlyCost>,
    pub machines: Option<Owning>,
    /// What they and those that replace them cost over all months. One, unless what replaces them is another.
    pub generations: Vec<Generation>,
    /// What staying with the first of them costs more than the best there is each quarter.
    pub lock_in: Option<Figure>,
    /// Data that moves here, as it was entered.
    pub moved: Vec<MovedAnswer>,
    /// What porting the work amounts to, where that is needed.
    pub ported: Option<PortedAnswer>,
    /// When what belongs to no layer is paid.
    #[serde(skip)]
    pub paid_besides: PaidBesides,
}

/// When a layer is paid: its hours, what is paid at the start of terms, and support on both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaidWhen {
    pub hours: Payments,
    pub upfront: Payments,
    pub support: Payments,
    pub support_upfront: Payments,
}

impl PaidWhen {
    /// Nothing yet.
    pub(super) fn over(months: u32) -> Self {
        let nothing = Payments::over(months);
        Self {
            hours: nothing.clone(),
            upfront: nothing.clone(),
            support: nothing.clone(),
            support_upfront: nothing,
        }
    }

    /// An amount during a month, and support, which is a share of it.
    pub(super) fn during(&mut self, month: u32, amount: Decimal, support: Decimal) {
        self.hours.during(month, amount);
        self.support.during(month, amount.multiply(support));
    }
}

/// When what belongs to no layer is paid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaidBesides {
    pub unserved: Payments,
    /// In the order in which other costs were entered.
    pub others: Vec<Payments>,
    /// Where the work ran, while it ran in both.
    pub both: Payments,
}

/// What serves a part of the demand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layer {
    pub name: String,
    pub kind: LayerKind,
    /// On average over all months; none where there is no limit.
    pub gpus: Option<Decimal>,
    pub paid_hours: Decimal,
    pub used_hours: Decimal,
    /// Used of those that are paid for; none without any.
    pub utilization: Option<Decimal>,
    pub cost: Decimal,
    /// Of an hour that is used.
    pub per_used_hour: Option<Decimal>,
    /// Of what is committed to and of blocks, which of those that were entered it is.
    #[serde(skip)]
    pub entered: Option<usize>,
    /// Of the cost, what is paid at the start of terms, whatever an hour costs.
    #[serde(skip)]
    pub upfront: Decimal,
    #[serde(skip)]
    pub paid: PaidWhen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// Paid for in advance for some hours.
    Block,
    Owned,
    Committed,
    Spot,
    /// Hours on demand that a spend commitment pays for.
    Spend,
    OnDemand,
    /// Paid by the token. Its hours are those of the work's accelerator that they stand for.
    Tokens,
}

impl LayerKind {
    /// Whether its hours are paid for whether they are used or not.
    pub fn is_paid_unused(self) -> bool {
        matches!(self, Self::Block | Self::Owned | Self::Committed)
    }
}

/// What it would cost with another base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    pub name: &'static str,
    /// GPUs of the base.
    pub gpus: Decimal,
    /// Base and overflow, with support, as they are worth at the start.
    pub cost: Decimal,
    /// Than the base that was taken.
    pub more: Decimal,
}

/// Owning against a price that is not owned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// By their places in the list.
    pub owning: usize,
    pub renting: usize,
    pub price: Decimal,
    pub kind: LayerKind,
    pub break_even: BreakEven,
}

/// What an option whose success is uncertain costs in both cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fallback {
    /// The option that the work falls back on, by its place in the list.
    pub option: usize,
    /// The total if what is ported runs.
    pub if_it_works: Decimal,
    /// The total if it does not: what was paid in vain, and the other option.
    pub if_it_fails: Decimal,
    /// Porting, and running both.
    pub in_vain: Decimal,
    /// The same two as worth today.
    pub present_value_if_it_works: Decimal,
    pub present_value_if_it_fails: Decimal,
    #[serde(skip)]
    pub(super) payments_in_vain: Payments,
}

/// What porting amounts to over all months.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortedAnswer {
    pub once: Decimal,
    pub anew: Decimal,
    pub both: Decimal,
    /// What running both is worth today.
    pub both_today: Decimal,
}

/// Porting to one option against staying with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moving {
    /// By their places in the list.
    pub porting: usize,
    pub staying: usize,
    /// Of what staying costs a month, the share that porting saves.
    pub saving: Decimal,
    pub ported: Ported,
}

/// What moving amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovedAnswer {
    pub name: String,
    pub every: Every,
    /// Of one time: its tiers, and how long it is on the line.
    pub each: TransferCost,
    /// Over all months.
    pub cost: Decimal,
}
