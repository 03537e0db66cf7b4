//! Budgets beside what was spent: the period that goes on, what it will amount to, and the periods before.
//!
//! Spend is effective cost, of a team with the teams inside it and its part of shared costs, each month as the
//! organization was then. It is converted into the budget's currency with the month's rates.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::{Error, as_of};
use super::owned_by::parts;
use super::snapshot::teams;
use super::{Answers, Grouping, Question, Unconverted, stated_until};
use crate::accounts::Viewer;
use crate::allocation::{
    Budget, BudgetOf, BudgetPeriod, Configuration, Entry, Forecast, Known, USUAL_DAYS, USUAL_MONTHS,
};
use crate::money::{Currency, Decimal, Money};
use crate::period::{BillingMonth, Period};

const PLACES: u8 = 6;
/// Periods of a budget's history.
const HISTORY: usize = 12;
/// The longest span of months that is asked at once.
const LONGEST: u32 = 60;

/// Every budget that the viewer may see, with its last period that has begun; those that have ended last.
#[derive(Clone, Debug, Serialize)]
pub struct Budgets {
    pub sequence: i64,
    /// The latest billed month; null while there is none.
    pub month: Option<BillingMonth>,
    pub budgets: Vec<BudgetLine>,
}

/// A budget and how it stands.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetLine {
    pub id: i64,
    pub of: BudgetOf,
    /// Of whom, as people call them.
    pub name: String,
    pub every: BudgetPeriod,
    pub first: Option<BillingMonth>,
    pub last: Option<BillingMonth>,
    pub amount: Money,
    pub thresholds: Vec<u32>,
    /// Null before its first period.
    pub current: Option<BudgetState>,
}

/// A period of a budget.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetState {
    pub period: Period,
    pub spent: Decimal,
    /// Of the amount.
    pub reached: Decimal,
    /// The last stated day of a period that goes on; null: it is over.
    pub stated_until: Option<NaiveDate>,
    /// Null for one that is over.
    pub forecast: Option<Forecast>,
    /// The highest threshold that was reached.
    pub threshold: Option<u32>,
    pub is_over_budget: bool,
    pub is_forecast_over_budget: bool,
    /// The budget's last period is over.
    pub has_ended: bool,
    /// What is in no figure, because its month has no rate into the budget's currency.
    pub unconverted: Vec<Unconverted>,
}

/// A budget with its days and the periods before.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetPage {
    pub sequence: i64,
    #[serde(flatten)]
    pub line: BudgetLine,
    pub days: Vec<BudgetDay>,
    /// The latest first, of every budget that the same owner had.
    pub history: Vec<PastPeriod>,
}

/// A day of a period: what was spent by its end, or will be.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetDay {
    pub day: NaiveDate,
    /// With what belongs to no day of a month on that month's first; null for a day to come.
    pub spent: Option<Decimal>,
    /// Since the period began.
    pub so_far: Option<Decimal>,
    pub forecast: Option<Forecast>,
}

/// What was spent of a budget in a period.
#[derive(Clone, Debug, Serialize)]
pub struct PastPeriod {
    pub period: Period,
    pub amount: Money,
    pub spent: Decimal,
    pub reached: Decimal,
    pub goes_on: bool,
}

/// What somebody spent: by day, and by month what belongs to none of its days.
#[derive(Clone, Debug, Default)]
struct Spent {
    days: BTreeMap<NaiveDate, Decimal>,
    months: BTreeMap<BillingMonth, Decimal>,
    /// Of the days, what is owned: it has days, and is published by the month, when that is over.
    owned: BTreeMap<NaiveDate, Decimal>,
    unconverted: Vec<Unconverted>,
}

/// What all of an answer is found by.
struct Asking<'a> {
    configuration: Arc<Configuration>,
    viewer: &'a Viewer,
    sequence: i64,
    /// The latest billed month; none while nothing is billed.
    latest: Option<BillingMonth>,
    /// Of the latest month, the last stated day where it goes on.
    stated: Option<NaiveDate>,
}

impl Answers {
    pub async fn budgets(&self, db: &mut PgConnection, viewer: &Viewer) -> Result<Budgets, Error> {
        let asking = self.asking(db, viewer).await?;
        let mut budgets = Vec::new();
        for (id, budget) in asking.configuration.budgets().filter(|(_, budget)| asking.sees_budget(budget)) {
            let mut line = BudgetLine::of(&asking.configuration, id, budget);
            if let Some(period) = asking.current(budget) {
                line.current = Some(self.state(db, &asking, budget, period).await?.0);
            }
            budgets.push(line);
        }
        let ended = |line: &BudgetLine| line.current.as_ref().is_some_and(|it| it.has_ended);
        budgets.sort_by_key(|line| (ended(line), line.of.clone(), line.first));
        Ok(Budgets { sequence: asking.sequence, month: asking.latest, budgets })
    }

    /// The budgets of somebody whose period has this month in it, as they stand now.
    pub async fn budgets_of(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
        of: &BudgetOf,
        month: BillingMonth,
    ) -> Result<Vec<BudgetLine>, Error> {
        let asking = self.asking(db, viewer).await?;
        let mut found = Vec::new();
        if asking.latest.is_none() {
            return Ok(found);
        }
        for (id, budget) in asking.configuration.budgets().filter(|(_, budget)| budget.of == *of) {
            let period = budget.periods_until(month).next();
            let Some(period) = period.filter(|period| period.months().any(|it| it == month)) else {
                continue;
            };
            let mut line = BudgetLine::of(&asking.configuration, id, budget);
            if asking.sees(&budget.of, period) {
                line.current = Some(self.state(db, &asking, budget, period).await?.0);
            }
            found.push(line);
        }
        Ok(found)
    }

    /// `None` where the viewer sees no budget of this number.
    pub async fn budget(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
        id: i64,
    ) -> Result<Option<BudgetPage>, Error> {
        let asking = self.asking(db, viewer).await?;
        let Some(Entry::Budget(budget)) = asking.configuration.entries.get(&id) else { return Ok(None) };
        if !asking.sees_budget(budget) {
            return Ok(None);
        }
        let mut line = BudgetLine::of(&asking.configuration, id, budget);
        let mut of_days = Vec::new();
        if let Some(period) = asking.current(budget) {
            let (state, spent, known) = self.state(db, &asking, budget, period).await?;
            of_days = days(&state, &spent, &known);
            line.current = Some(state);
        }
        let history = self.history(db, &asking, &budget.of).await?;
        Ok(Some(BudgetPage { sequence: asking.sequence, line, days: of_days, history }))
    }

    /// The amounts that no rate converts into a currency, in the months that a budget would look at: since its first
    /// month, for two years at most, or in the latest month where it is still to begin.
    pub async fn without_rate(
        &self,
        db: &mut PgConnection,
        of: &BudgetOf,
        first: BillingMonth,
        into: &Currency,
    ) -> Result<Vec<Unconverted>, Error> {
        let asking = self.asking(db, &Viewer::Everything).await?;
        let Some(latest) = asking.latest else { return Ok(Vec::new()) };
        let first = first.max(latest.minus(23)).min(latest);
        let period = Period::new(first, latest).unwrap_or_else(|| latest.into());
        let spent = self.spent(db, &asking, of, period, into).await?;
        // Tokens and credits are money only where somebody said so.
        Ok(spent.unconverted.into_iter().filter(|left_out| left_out.cost.currency.is_money()).collect())
    }

    async fn asking<'a>(&self, db: &mut PgConnection, viewer: &'a Viewer) -> Result<Asking<'a>, Error> {
        let sequence = as_of(db, None).await?;
        let configuration = self.configuration(db, sequence).await?;
        let latest = self.latest_month(db, &Viewer::Everything).await?;
        let mut stated = None;
        if let Some(latest) = latest {
            // Up to which day bills are stated is nobody's secret, and the same for everyone.
            let completeness = self.completeness(db, latest.into(), &Viewer::Everything, sequence).await?;
            stated = stated_until(&completeness, latest.into());
        }
        Ok(Asking { configuration, viewer, sequence, latest, stated })
    }

    /// How a period of a budget stands, with what was spent in it, and what its forecast is made from.
    async fn state(
        &self,
        db: &mut PgConnection,
        asking: &Asking<'_>,
        budget: &Budget,
        period: Period,
    ) -> Result<(BudgetState, Spent, Known), Error> {
        let mut spent = self.spent(db, asking, &budget.of, period, &budget.currency).await?;
        let total = spent.total();
        let stated_until = asking.goes_on_until(period);
        let (mut known, mut expected) = (Known { spent: total, ..Known::default() }, None);
        if let Some(until) = stated_until {
            known = self.known(db, asking, budget, period, (&spent, until)).await?;
            expected = Some(known.forecast(days_between(until, period), months_between(until, period)));
        }
        let reached = total.divide(budget.amount, PLACES).unwrap_or_default();
        let is_reached = |percent: &&u32| total.times(100) >= budget.amount.times(i64::from(**percent));
        let next = budget.period.around(period.last().next());
        let state = BudgetState {
            period,
            spent: total.normalize(),
            reached,
            stated_until,
            forecast: expected,
            threshold: budget.thresholds.iter().filter(is_reached).max().copied(),
            is_over_budget: total > budget.amount,
            is_forecast_over_budget: expected.is_some_and(|it| it.expected > budget.amount),
            has_ended: stated_until.is_none() && !budget.months.contain(next.first()),
            unconverted: std::mem::take(&mut spent.unconverted),
        };
        Ok((state, spent, known))
    }

    /// What a period that is stated up to a day is forecast from: its days, those before where they are few, and what the
    /// months before had by the month.
    async fn known(
        &self,
        db: &mut PgConnection,
        asking: &Asking<'_>,
        budget: &Budget,
        period: Period,
        (spent, until): (&Spent, NaiveDate),
    ) -> Result<Known, Error> {
        let mut daily = spent.until(period.days().start, until);
        let running = BillingMonth::of(until);
        let mut monthly = Vec::new();
        let usual_months = (1..=USUAL_MONTHS).filter_map(|n| u32::try_from(n).ok());
        for month in usual_months.map(|months| running.minus(months)) {
            let before = if month < period.first() {
                self.spent(db, asking, &budget.of, month.into(), &budget.currency).await?
            } else {
                spent.of_month(month)
            };
            if month == period.first().previous() && daily.len() < USUAL_DAYS {
                let mut earlier = before.until_the_end_of(month);
                earlier.append(&mut daily);
                daily = earlier;
            }
            // Before something was billed at all, nothing tells what is usual.
            if !before.is_empty() {
                monthly.insert(0, before.by_the_month(month));
            }
        }
        let monthly_so_far = asking.stated.is_some().then(|| spent.by_the_month(running));
        Ok(Known { spent: spent.total(), daily, monthly, monthly_so_far })
    }

    async fn history(
        &self,
        db: &mut PgConnection,
        asking: &Asking<'_>,
        of: &BudgetOf,
    ) -> Result<Vec<PastPeriod>, Error> {
        let mut found = Vec::new();
        let Some(latest_month) = asking.latest else { return Ok(found) };
        for (_, budget) in asking.configuration.budgets().filter(|(_, budget)| budget.of == *of) {
            let periods = budget.periods_until(latest_month).take(HISTORY);
            let periods: Vec<Period> = periods.filter(|period| asking.sees(of, *period)).collect();
            let (Some(latest), Some(oldest)) = (periods.first(), periods.last()) else { continue };
            let first = oldest.first().max(latest.last().minus(LONGEST - 1));
            let Some(span) = Period::new(first, latest.last()) else { continue };
            let spent = self.spent(db, asking, of, span, &budget.currency).await?;
            for period in periods.into_iter().filter(|period| period.first() >= first) {
                let spent = spent.within(period);
                found.push(PastPeriod {
                    period,
                    amount: budget.amount(),
                    spent: spent.normalize(),
                    reached: spent.divide(budget.amount, PLACES).unwrap_or_default(),
                    goes_on: asking.goes_on_until(period).is_some(),
                });
            }
        }
        found.sort_by_key(|past| std::cmp::Reverse(past.period.first()));
        found.truncate(HISTORY);
        Ok(found)
    }

    /// What an owner spent in a period, in a currency.
    async fn spent(
        &self,
        db: &mut PgConnection,
        asking: &Asking<'_>,
        of: &BudgetOf,
        period: Period,
        into: &Currency,
    ) -> Result<Spent, Error> {
        let mut found = Spent::default();
        let (dimension, handle) = owner_of(of);
        for (part, filter) in parts(&asking.configuration, &dimension, handle, period) {
            let question = Question {
                by: Grouping::Month,
                then: Some(Grouping::Day),
                convert_into: Some(into.clone()),
                filters: vec![filter],
                sequence: Some(asking.sequence),
                ..Question::of(part, asking.viewer.clone())
            };
            let spend = self.spend(db, &question).await?;
            for group in &spend.groups {
                let Some(month) = group.key.as_deref().and_then(|key| key.parse().ok()) else { continue };
                for day in &group.groups {
                    let key = day.key.as_deref().and_then(|key| key.parse::<NaiveDate>().ok());
                    match key {
                        Some(day_of_month) => {
                            *found.days.entry(day_of_month).or_default() += day.cost.amount;
                            *found.owned.entry(day_of_month).or_default() += day.owned_cost;
                        }
                        None => *found.months.entry(month).or_default() += day.cost.amount,
                    }
                }
            }
            found.unconverted.extend(spend.unconverted);
        }
        Ok(found)
    }
}

impl Asking<'_> {
    /// The last stated day of a period that goes on; `None` where it is over.
    fn goes_on_until(&self, period: Period) -> Option<NaiveDate> {
        let latest = self.latest.filter(|latest| *latest <= period.last())?;
        // A month that is stated whole is not the end of a longer period.
        let last_day = latest.days().end.pred_opt();
        self.stated.or(last_day.filter(|_| latest < period.last()))
    }

    /// The last period of a budget that has begun, where the viewer may see what was spent in it.
    fn current(&self, budget: &Budget) -> Option<Period> {
        budget.periods_until(self.latest?).next().filter(|period| self.sees(&budget.of, *period))
    }

    /// Whether the viewer may see a budget: as things are in the latest month, or in its last one.
    fn sees_budget(&self, budget: &Budget) -> bool {
        let month = budget.months.last.into_iter().chain(self.latest).min().or(budget.months.first);
        let month = month.max(budget.months.first);
        *self.viewer == Viewer::Everything || month.is_some_and(|month| self.sees_in(&budget.of, month))
    }

    /// Whether the viewer may see what somebody spent in all of a period.
    fn sees(&self, of: &BudgetOf, period: Period) -> bool {
        period.months().all(|month| self.sees_in(of, month))
    }

    /// What a project or cost centre spends may be of several teams, so it is for those who see everything.
    fn sees_in(&self, of: &BudgetOf, month: BillingMonth) -> bool {
        match (self.viewer, of) {
            (Viewer::Everything, _) => true,
            (Viewer::Teams(_), BudgetOf::Team(handle)) => {
                teams(&self.configuration, self.viewer, month, month).iter().any(|(_, team)| team == handle)
            }
            (Viewer::Teams(_), _) => false,
        }
    }
}

impl Spent {
    fn total(&self) -> Decimal {
        self.days.values().chain(self.months.values()).copied().sum()
    }

    fn within(&self, period: Period) -> Decimal {
        let days = self.days.range(period.days()).map(|(_, amount)| *amount);
        let months = self.months.range(period.first()..=period.last()).map(|(_, amount)| *amount);
        days.chain(months).sum()
    }

    /// What a month has by the month: what belongs to none of its days, and what is owned.
    fn by_the_month(&self, month: BillingMonth) -> Decimal {
        let owned = self.owned.range(month.days()).map(|(_, amount)| *amount);
        self.months.get(&month).copied().unwrap_or_default() + owned.sum::<Decimal>()
    }

    /// One month of it.
    fn of_month(&self, month: BillingMonth) -> Self {
        let days = self.days.range(month.days()).map(|(day, amount)| (*day, *amount)).collect();
        let months = self.months.get_key_value(&month).map(|(month, amount)| (*month, *amount));
        let owned = self.owned.range(month.days()).map(|(day, amount)| (*day, *amount)).collect();
        Self { days, months: months.into_iter().collect(), owned, unconverted: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.days.is_empty() && self.months.is_empty()
    }

    /// What is charged by day on each from one to another, both included; a day without charges cost nothing.
    fn until(&self, first: NaiveDate, last: NaiveDate) -> Vec<Decimal> {
        let of = |amounts: &BTreeMap<NaiveDate, Decimal>, day| amounts.get(&day).copied().unwrap_or_default();
        let days = first.iter_days().take_while(|day| *day <= last);
        days.map(|day| of(&self.days, day) - of(&self.owned, day)).collect()
    }

    /// The days of a month, from the first that has a charge on: before it nothing may have been loaded.
    fn until_the_end_of(&self, month: BillingMonth) -> Vec<Decimal> {
        match (self.days.keys().next(), month.days().end.pred_opt()) {
            (Some(first), Some(last)) => self.until(*first, last),
            _ => Vec::new(),
        }
    }
}

impl BudgetLine {
    fn of(configuration: &Configuration, id: i64, budget: &Budget) -> Self {
        Self {
            id,
            of: budget.of.clone(),
            name: configuration.owner_name(&budget.of),
            every: budget.period,
            first: budget.months.first,
            last: budget.months.last,
            amount: budget.amount(),
            thresholds: budget.thresholds.clone(),
            current: None,
        }
    }
}

/// Every day of a period, with what was spent by its end, or will be.
fn days(state: &BudgetState, spent: &Spent, known: &Known) -> Vec<BudgetDay> {
    let all = state.period.days();
    let mut so_far = Decimal::ZERO;
    let mut to_come = 0;
    let day = |day: NaiveDate| {
        if let Some(until) = state.stated_until.filter(|until| day > *until) {
            to_come += 1;
            // As with what is spent, a month's bills stand with the first day that can have them.
            let forecast = known.forecast(to_come, months_to(until, day));
            return BudgetDay { day, spent: None, so_far: None, forecast: Some(forecast) };
        }
        let mut of_day = spent.days.get(&day).copied().unwrap_or_default();
        let month = BillingMonth::of(day);
        if month.first_day() == day {
            of_day += spent.months.get(&month).copied().unwrap_or_default();
        }
        so_far += of_day;
        BudgetDay { day, spent: Some(of_day.normalize()), so_far: Some(so_far.normalize()), forecast: None }
    };
    all.start.iter_days().take_while(|day| *day < all.end).map(day).collect()
}

/// Days of a period after one of them.
fn days_between(until: NaiveDate, period: Period) -> u32 {
    let days = (period.days().end - until).num_days() - 1;
    u32::try_from(days).unwrap_or_default()
}

/// Months that begin in a period after one of its days.
fn months_between(until: NaiveDate, period: Period) -> u32 {
    months_to(until, period.last().first_day())
}

/// Months that begin after a day, up to a later one.
fn months_to(until: NaiveDate, day: NaiveDate) -> u32 {
    BillingMonth::of(day).months_after(BillingMonth::of(until)).unwrap_or_default()
}

/// What of a question an owner is a value of.
fn owner_of(of: &BudgetOf) -> (Grouping, &str) {
    match of {
        BudgetOf::Team(handle) => (Grouping::Team, handle),
        BudgetOf::Project(handle) => (Grouping::Project, handle),
        BudgetOf::CostCentre(handle) => (Grouping::CostCentre, handle),
    }
}
