//! Spend of a period in groups, with the period before it: the page, its `.json` and `.csv`, and
//! `gpuledger report spend`.

use std::cmp::Ordering;

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::{Error, as_of};
use super::cache::Remembered;
use super::compared::Compared;
use super::completeness::rejected_rows;
use super::denomination::Unconverted;
use super::snapshot::{AsOf, Names, Snapshot};
use super::sums::{Figures, Sum, Sums, SumsOf, sums_of};
use super::unpriced::{Unpriced, unpriced};
use super::{Answers, CostMetric, FIRST, Grouping, Question, Sort, SortBy};
use crate::accelerator::accelerator_hours;
use crate::accounts::Viewer;
use crate::cache::SizeInCache;
use crate::compute;
use crate::exchange::Used;
use crate::ledger::Payer;
use crate::money::{Currency, Decimal, Money};
use crate::period::Period;

/// Decimals of accelerator-hours, shares and prices where they do not end by themselves.
const PLACES: u8 = 6;
/// Groups that are summed over time, each by itself.
const CHARTED: usize = 10_000;
/// The key of the group that the rest is folded into.
const OTHER: &str = "other";

/// The answer. Groups are largest first (time in its order) and sum to the total exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Spend {
    pub period: Period,
    pub sequence: i64,
    pub currency: Option<Currency>,
    pub cost: CostMetric,
    pub by: Grouping,
    pub then: Option<Grouping>,
    pub total: Option<Money>,
    /// Of what it is compared with; null for days and months, which are not.
    pub previous: Option<Money>,
    /// What that is: all of the period before, or the same days of it.
    pub compared: Compared,
    /// Cloud GPU-hours.
    pub accelerator_hours: Decimal,
    /// Hours of accelerators that are owned, in none of the above.
    pub owned_hours: Decimal,
    /// What the use of accelerators cost, per accelerator-hour paid for; null without any, and for billed cost.
    pub cost_per_accelerator_hour: Option<Decimal>,
    /// What everything that is owned cost those whom it is about, per hour owned, each with what its cluster cost: filters
    /// choose among hours, and leave what they cost as it is. Null without any, and for billed cost.
    pub cost_per_owned_hour: Option<Decimal>,
    /// Of the total, what commitments cost that nothing used: it is in no price of an hour. Null but for effective cost,
    /// since it is not stated of what is billed.
    pub unused_commitment: Option<Money>,
    pub groups: Vec<Group>,
    /// How many groups there are, those among them that are folded into others or were not looked for.
    #[serde(skip)]
    pub all_groups: usize,
    /// Of these, those that come after `groups` and were not asked for.
    #[serde(skip)]
    pub beyond: usize,
    /// Currencies of the period that are not in the total: others than the one that was asked for, or than the most used
    /// one where nothing says what to convert into.
    pub other_currencies: Vec<Currency>,
    /// The only currency whose charges these are, where there are others.
    #[serde(skip)]
    pub only: Option<Currency>,
    /// Amounts of other currencies than the answer's are converted, not left out.
    #[serde(skip)]
    pub is_converted: bool,
    /// What amounts of other currencies were converted with.
    pub rates: Vec<Used>,
    /// What is in no converted figure, because its month has no rate.
    pub unconverted: Vec<Unconverted>,
    /// The same of the period before: `previous` is too small by it.
    pub previous_unconverted: Vec<Unconverted>,
    /// Rows that could not be read: the period's figures are too small by what they would have held.
    pub rejected_rows: i64,
    /// Usage of the period's imports that has no cost yet, and is in no figure.
    pub unpriced: Unpriced,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Null: the charges have no value in this dimension.
    pub key: Option<String>,
    pub label: String,
    pub cost: Money,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    /// Of the cost, what everything that is owned cost.
    #[serde(skip)]
    pub owned_cost: Decimal,
    /// Of the cost, what was paid for the use of accelerators.
    #[serde(skip)]
    pub accelerator_cost: Decimal,
    /// As of the whole answer.
    pub cost_per_accelerator_hour: Option<Decimal>,
    /// As of the whole answer: what they cost stands in other groups, too, depreciation as a purchase without accelerator, and
    /// power by itself. Null for days, within groups, and where it was not asked.
    pub cost_per_owned_hour: Option<Decimal>,
    /// As of the whole answer.
    pub unused_commitment: Option<Money>,
    /// Of the total; null where the total is zero.
    pub share: Option<Decimal>,
    /// Stands for several groups that a limit left out.
    #[serde(skip)]
    pub is_folded: bool,
    /// Who pays was taken out of its value, which says nothing to filter by any more.
    #[serde(skip)]
    pub is_hidden: bool,
    /// The same group in the period before; null for days and months, which have none.
    pub previous: Option<Money>,
    /// What it is made of, where that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// What is in no figure of a period. By sequence, since a delivery of any month may correct rows of this one.
#[derive(PartialEq, Eq, Hash)]
struct MissingOf(Period, Viewer, i64);

#[derive(Clone)]
struct Missing {
    rejected_rows: i64,
    unpriced: Unpriced,
}

impl Remembered for MissingOf {
    type Answer = Missing;
}

impl SizeInCache for Missing {
    fn size_in_cache(&self) -> usize {
        size_of_val(self)
    }
}

impl Answers {
    /// What charges add up to: the price of an hour owned follows from what is owned in the answer alone.
    pub(super) async fn added_up(&self, db: &mut PgConnection, question: &Question) -> Result<Spend, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let snapshot = self.snapshot(db, question, sequence).await?;
        let everything = question.timeless();
        let key =
            |is_of_first| SumsOf { question: everything.clone(), snapshot: snapshot.clone(), is_of_first };
        // Apart from the answer, which may wait for it in two places.
        let asked =
            Box::pin(sums_of(&mut *db, AsOf { question: &everything, snapshot: &snapshot, sequence }));
        let sums = if question.is_of_first && !self.remembers(&key(false)) {
            let first = async {
                let sums = asked.await?;
                Ok::<_, sqlx::Error>(compute::over(sums.groups.len(), move || sums.first(FIRST)).await?)
            };
            self.remember(key(true), first).await?
        } else {
            self.remember(key(false), asked).await?
        };
        let scopes = self.scopes(db, question.period, &question.viewer, sequence).await?;
        let key = MissingOf(question.period, question.viewer.clone(), sequence);
        let scopes = scopes.as_ref().map(|scopes| scopes.as_slice());
        let seen_by = snapshot.allocation.seen_by(&question.viewer);
        let missing = async {
            let rejected_rows = rejected_rows(&mut *db, question.period, scopes, sequence).await?;
            let unpriced = unpriced(db, question.period, &seen_by, sequence).await?;
            Ok::<_, sqlx::Error>(Missing { rejected_rows, unpriced })
        };
        let missing = self.remember(key, missing).await?;
        // Deliveries of other months move the sequence on and leave the sums as they are.
        let (question, missing) = (question.clone(), Missing::clone(&missing));
        let answer =
            compute::over(sums.groups.len(), move || answer(&question, &sums, &snapshot, sequence, missing));
        Ok(answer.await.map_err(sqlx::Error::from)?)
    }
}

/// The sums as they were asked for: folded, ordered, with shares and prices.
fn answer(question: &Question, sums: &Sums, snapshot: &Snapshot, sequence: i64, missing: Missing) -> Spend {
    let mut answer = Spend {
        period: question.period,
        sequence,
        currency: None,
        cost: question.cost,
        by: question.by.clone(),
        then: question.then.clone(),
        total: None,
        previous: None,
        compared: Compared::of(question, snapshot.same_days.as_deref()),
        accelerator_hours: Decimal::ZERO,
        owned_hours: Decimal::ZERO,
        cost_per_accelerator_hour: None,
        cost_per_owned_hour: None,
        unused_commitment: None,
        groups: Vec::new(),
        all_groups: sums.groups.len() + sums.beyond.0,
        beyond: sums.beyond.0,
        other_currencies: sums.other_currencies.clone(),
        only: None,
        is_converted: snapshot.into.is_some(),
        rates: Vec::new(),
        unconverted: sums.left_out.of_period.clone(),
        previous_unconverted: Vec::new(),
        rejected_rows: missing.rejected_rows,
        unpriced: missing.unpriced,
    };
    let Some(denomination) = &sums.denomination else {
        return answer;
    };
    let currency = denomination.currency();
    if !sums.other_currencies.is_empty() {
        answer.only = Some(question.currency.as_ref().unwrap_or(currency).clone());
    }
    let total: Figures = sums.groups.iter().map(|sum| sum.figures).chain([sums.beyond.1]).sum();
    let money = |amount| Money { amount, currency: currency.clone() };
    answer.currency = Some(currency.clone());
    answer.rates = denomination.used();
    answer.total = Some(money(total.cost));
    if !question.by.is_time() {
        answer.previous = Some(money(total.previous));
        answer.previous_unconverted.clone_from(&sums.left_out.of_previous);
    }
    answer.accelerator_hours = hours(total.part_seconds);
    answer.owned_hours = hours(total.owned_seconds);
    answer.cost_per_accelerator_hour = price(&total, question.cost);
    answer.cost_per_owned_hour = owned_price(&total, question.cost);
    answer.unused_commitment = unused(&total, question.cost).map(money);
    let (cost, find) = (question.cost, question.find.as_deref());
    let names = &snapshot.allocation.names;
    let outer = Level {
        by: &question.by,
        names,
        cost,
        limit: question.limit,
        find,
        hides_payers: question.hides_payers_in(&question.by),
    };
    let inner = question.then.as_ref().map(|by| Level {
        by,
        names,
        cost,
        limit: question.limit_inside.or(question.limit),
        find: None,
        hides_payers: question.hides_payers_in(by),
    });
    answer.groups = outer
        .chosen(&sums.groups, question.sort)
        .iter()
        .map(|sum| {
            let mut group = outer.group(sum, currency, total.cost);
            if let Some(inner) = &inner {
                let chosen = inner.chosen(&sum.inside, question.sort);
                group.groups =
                    chosen.iter().map(|inside| inner.group(inside, currency, total.cost)).collect();
            }
            group
        })
        .collect();
    answer
}

fn hours(part_seconds: Decimal) -> Decimal {
    accelerator_hours(part_seconds, PLACES).normalize()
}

/// Cost of the use of accelerators per accelerator-hour. Billed cost has none: what a commitment covers is billed at
/// zero, and the commitment elsewhere.
fn price(figures: &Figures, cost: CostMetric) -> Option<Decimal> {
    if cost == CostMetric::Billed {
        return None;
    }
    figures.accelerator_cost.divide(accelerator_hours(figures.part_seconds, PLACES), PLACES)
}

/// Cost of everything owned per hour owned. Billed cost has none either: a machine is billed when it is bought.
fn owned_price(figures: &Figures, cost: CostMetric) -> Option<Decimal> {
    if cost == CostMetric::Billed || figures.owned_cost.is_zero() {
        return None;
    }
    figures.owned_cost.divide(accelerator_hours(figures.owned_seconds, PLACES), PLACES)
}

/// What commitments cost that nothing used.
fn unused(figures: &Figures, cost: CostMetric) -> Option<Decimal> {
    (cost == CostMetric::Effective).then_some(figures.unused_cost)
}

impl Spend {
    /// How many groups it has, and groups within them.
    pub fn lines(&self) -> usize {
        self.groups.iter().map(|group| 1 + group.groups.len()).sum()
    }

    /// Whether a chart over time tells its groups apart. Of hundreds of thousands of machines the largest few are next to nothing,
    /// and to sum each by day takes longer than all the rest of the page.
    pub fn is_charted_by_group(&self) -> bool {
        self.all_groups <= CHARTED
    }

    /// Whether anything of it is time of accelerators that are owned.
    pub fn has_owned_hours(&self) -> bool {
        let has_some = |groups: &[Group]| groups.iter().any(|group| !group.owned_hours.is_zero());
        !self.owned_hours.is_zero()
            || has_some(&self.groups)
            || self.groups.iter().any(|group| has_some(&group.groups))
    }
}

impl Group {
    /// What it cost in the period before; zero where nothing is compared.
    pub(super) fn previous_cost(&self) -> Decimal {
        self.previous.as_ref().map(|previous| previous.amount).unwrap_or_default()
    }

    /// Whether charges can be asked for by its value.
    pub fn is_value(&self) -> bool {
        !self.is_folded && !self.is_hidden
    }
}

impl Sum {
    fn folded(sums: &[&Self]) -> Self {
        Self {
            key: Some(OTHER.to_owned()),
            stands_for: Some(sums.len()),
            figures: sums.iter().map(|sum| sum.figures).sum(),
            inside: Vec::new(),
        }
    }
}

/// How the groups of one level are chosen and named.
struct Level<'a> {
    by: &'a Grouping,
    names: &'a Names,
    cost: CostMetric,
    limit: Option<usize>,
    find: Option<&'a str>,
    hides_payers: bool,
}

impl Level<'_> {
    /// Keeps what was looked for, else the largest, and always the group without a value, for what nobody
    /// claims is never hidden; adds the others up. Then puts them in order, what was added up last.
    fn chosen(&self, sums: &[Sum], sort: Option<Sort>) -> Vec<Sum> {
        let needle = self.find.map(str::to_lowercase);
        let limit = self.limit.unwrap_or(usize::MAX);
        let (mut kept, mut rest): (Vec<&Sum>, Vec<&Sum>) = match needle {
            Some(needle) => sums.iter().partition(|sum| self.label(sum).to_lowercase().contains(&needle)),
            None => (sums.iter().collect(), Vec::new()),
        };
        if kept.len() > limit {
            let places = kept.into_iter().enumerate();
            let (first, last): (Vec<_>, Vec<_>) =
                places.partition(|(place, sum)| *place < limit || sum.key.is_none());
            kept = first.into_iter().map(|(_, sum)| sum).collect();
            rest.extend(last.into_iter().map(|(_, sum)| sum));
        }
        let mut chosen: Vec<Sum> = kept.into_iter().cloned().collect();
        if let Some(sort) = sort {
            chosen.sort_by(|a, b| self.compare(a, b, sort));
        }
        match rest[..] {
            [] => {}
            // Its own name takes no more room. But what was not looked for is not named.
            [only] if self.find.is_none() => chosen.push(only.clone()),
            _ => chosen.push(Sum::folded(&rest)),
        }
        chosen
    }

    fn compare(&self, a: &Sum, b: &Sum, sort: Sort) -> Ordering {
        let (x, y) = (&a.figures, &b.figures);
        let order = match sort.by {
            SortBy::Name => self.label(a).to_lowercase().cmp(&self.label(b).to_lowercase()),
            SortBy::Cost => y.cost.cmp(&x.cost),
            SortBy::Previous => y.previous.cmp(&x.previous),
            SortBy::Change => (y.cost - y.previous).cmp(&(x.cost - x.previous)),
            SortBy::Hours => y.part_seconds.cmp(&x.part_seconds),
            // What has no price comes after what has one, whichever way round.
            SortBy::Price => match (price(x, self.cost), price(y, self.cost)) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => return Ordering::Greater,
                (Some(_), None) => return Ordering::Less,
                (Some(x), Some(y)) => y.cmp(&x),
            },
        };
        if sort.is_reversed { order.reverse() } else { order }
    }

    fn label(&self, sum: &Sum) -> String {
        match sum.stands_for {
            None => self.names.label(self.by, sum.key.as_deref()),
            Some(1) => "1 other".to_owned(),
            Some(n) => format!("{n} others"),
        }
    }

    fn group(&self, sum: &Sum, currency: &Currency, total: Decimal) -> Group {
        let money = |amount| Money { amount, currency: currency.clone() };
        Group {
            label: self.label(sum),
            accelerator_hours: hours(sum.figures.part_seconds),
            owned_hours: hours(sum.figures.owned_seconds),
            owned_cost: sum.figures.owned_cost,
            accelerator_cost: sum.figures.accelerator_cost,
            cost_per_accelerator_hour: price(&sum.figures, self.cost),
            cost_per_owned_hour: None,
            unused_commitment: unused(&sum.figures, self.cost).map(money),
            is_folded: sum.stands_for.is_some(),
            is_hidden: self.hides_payers && sum.key.as_deref().is_some_and(Payer::is_hidden_in),
            share: sum.figures.cost.divide(total, PLACES),
            previous: (!self.by.is_time()).then(|| money(sum.figures.previous)),
            cost: money(sum.figures.cost),
            key: sum.key.clone(),
            groups: Vec::new(),
        }
    }
}
