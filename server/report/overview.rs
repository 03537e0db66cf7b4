//! The overview: the latest month beside the one before it, and what needs attention. Every figure is one of
//! [`Spend`], so that the page and those it leads to never disagree.

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::attention::{Attention, attention};
use super::compared::Compared;
use super::completeness::Completeness;
use super::over_time::{Bucket, Series, Step};
use super::{Answers, CostMetric, Error, Grouping, Question, Spend};
use crate::accounts::Viewer;
use crate::exchange;
use crate::money::{Currency, Money};
use crate::onprem::Months;
use crate::period::{BillingMonth, Period};

/// Months of the chart: one sees the same month of the year before.
const MONTHS: u32 = 13;

/// Two months compared, the months before them, and what to look at.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    pub month: BillingMonth,
    pub previous: BillingMonth,
    /// The last usage day that is stated, where the month is not whole.
    pub through: Option<NaiveDate>,
    /// Null where the month is whole: then months are compared.
    pub up_to_same_day: Option<UpToSameDay>,
    /// Who bills the latest month, and how final it is.
    pub states: Vec<State>,
    /// The same of the month before.
    pub previous_states: Vec<State>,
    pub by_provider: Spend,
    /// All of the month before.
    pub previous_by_provider: Spend,
    pub by_accelerator: Spend,
    pub previous_by_accelerator: Spend,
    pub months: Vec<MonthOfProvider>,
    /// The period of `months`, as one answer: its rates, and what it could not convert.
    #[serde(skip)]
    pub year: Spend,
    #[serde(skip)]
    pub series: Series,
    /// Whether its currency was chosen: then other pages show everything in it, too.
    #[serde(skip)]
    pub is_chosen: bool,
    pub attention: Vec<Attention>,
}

/// The month so far and what of the month before it is compared with: see [`Compared`].
#[derive(Clone, Debug, Serialize)]
pub struct UpToSameDay {
    pub current: Money,
    pub previous: Money,
    pub providers: Vec<ProviderDays>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ProviderDays {
    pub provider: String,
    pub through: NaiveDate,
    pub current: Money,
    pub previous: Money,
}

/// How final a month of a provider is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    pub provider: String,
    pub accounts: usize,
    /// Accounts of which an invoice is not out.
    pub provisional: usize,
    /// The last usage day of the month that any of them states.
    pub through: Option<NaiveDate>,
}

/// A cell of the chart.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfProvider {
    pub month: BillingMonth,
    pub provider: String,
    pub cost: Money,
}

/// The overview as of now; `None` while the viewer has no month. The chart names `top` providers and adds up the
/// others. Months of our own clusters are those up to `today`.
pub async fn overview(
    db: &mut PgConnection,
    answers: &Answers,
    viewer: &Viewer,
    cost: CostMetric,
    top: usize,
    (clusters, today): (&Months, NaiveDate),
) -> Result<Option<Overview>, Error> {
    let (Some(month), Some(currency)) =
        (answers.latest_month(db, viewer).await?, exchange::reporting_currency(db).await?)
    else {
        return Ok(None);
    };
    let is_chosen = exchange::chosen_reporting_currency(db).await?.is_some();
    let previous = month.previous();
    let (both, year) = (Period::up_to(month, 2), Period::up_to(month, MONTHS));
    // A currency is worth one of itself, so an only one stays as it is.
    let mut question = Question {
        by: Grouping::Provider,
        cost,
        convert_into: Some(currency.clone()),
        ..Question::of(month.into(), viewer.clone())
    };
    let by_provider = answers.spend(db, &question).await?;
    let sequence = by_provider.sequence;
    question.sequence = Some(sequence);
    let whole = Question { period: previous.into(), ..question.clone() };
    let previous_by_provider = answers.spend(db, &whole).await?;

    let of_year = Question { period: year, ..question.clone() };
    let spend_of_year = answers.spend(db, &of_year).await?;
    let series = answers.over_time(db, &of_year, Step::Month, &spend_of_year, top).await?;

    let by_accelerator = Question { by: Grouping::Accelerator, ..question.clone() };
    let of_previous = Question { period: previous.into(), ..by_accelerator.clone() };
    let by_accelerator = answers.spend(db, &by_accelerator).await?;
    let previous_by_accelerator = answers.spend(db, &of_previous).await?;

    // Who sees everything is shown what is missing anywhere in the year.
    let sees_everything = *viewer == Viewer::Everything;
    let known = if sees_everything { year } else { both };
    let completeness = answers.completeness(db, known, viewer, sequence).await?;
    let states = states_of(month, &completeness);
    let (through, up_to_same_day) = match &by_provider.compared {
        Compared::SameDays { through, .. } => (Some(*through), same_days(&by_provider, &states)),
        _ => (None, None),
    };
    let attention = if sees_everything {
        attention(db, answers, year, &completeness, &currency, (clusters, today)).await?
    } else {
        Vec::new()
    };
    Ok(Some(Overview {
        month,
        previous,
        through,
        up_to_same_day,
        states,
        previous_states: states_of(previous, &completeness),
        by_provider,
        previous_by_provider,
        by_accelerator,
        previous_by_accelerator,
        months: cells(&series, &currency),
        year: spend_of_year,
        is_chosen,
        series,
        attention,
    }))
}

/// The providers of a month; `data_status` comes by provider.
fn states_of(month: BillingMonth, completeness: &[Completeness]) -> Vec<State> {
    let of_month: Vec<&Completeness> = completeness.iter().filter(|scope| scope.month == month).collect();
    let of_provider = |scopes: &[&Completeness]| State {
        provider: scopes[0].provider.clone(),
        accounts: scopes.len(),
        provisional: scopes.iter().filter(|scope| scope.is_provisional).count(),
        // Usage of another month may be billed in this one.
        through: scopes
            .iter()
            .filter_map(|scope| Some(scope.last_day?.min(last_day(month))))
            .filter(|day| month.contains(*day))
            .max(),
    };
    of_month.chunk_by(|a, b| a.provider == b.provider).map(of_provider).collect()
}

fn last_day(month: BillingMonth) -> NaiveDate {
    let end = month.next().first_day();
    end.pred_opt().unwrap_or(end)
}

/// The month so far beside what it is compared with, and how far each provider has come.
fn same_days(by_provider: &Spend, states: &[State]) -> Option<UpToSameDay> {
    let of_state = |state: &State| {
        let mut groups = by_provider.groups.iter();
        let group = groups.find(|group| group.key.as_deref().unwrap_or_default() == state.provider)?;
        Some(ProviderDays {
            provider: state.provider.clone(),
            through: state.through?,
            current: group.cost.clone(),
            previous: group.previous.clone()?,
        })
    };
    Some(UpToSameDay {
        current: by_provider.total.clone()?,
        previous: by_provider.previous.clone()?,
        providers: states.iter().filter_map(of_state).collect(),
    })
}

fn cells(series: &Series, currency: &Currency) -> Vec<MonthOfProvider> {
    let months = series.buckets.iter().enumerate().filter_map(|(column, bucket)| match bucket {
        Bucket::Month(month) => Some((column, *month)),
        _ => None,
    });
    months
        .flat_map(|(column, month)| {
            series.groups.iter().map(move |(provider, costs)| MonthOfProvider {
                month,
                provider: provider.clone(),
                cost: Money { amount: costs[column], currency: currency.clone() },
            })
        })
        .collect()
}
