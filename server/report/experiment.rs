//! An experiment over all its months: `/experiments/exp-7`, its `.json` and `.csv`.

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::data_status::DataStatus;
use super::machines::FindMachines;
use super::over_time::{Days, FindDays, Series, Step};
use super::{Answers, Breakdown, Filter, Group, Grouping, HourChain, Machine, Question, Spend};
use crate::accounts::Viewer;
use crate::money::{Decimal, Money};
use crate::period::{BillingMonth, Period};

/// Months that are looked through for an experiment, up to the latest.
const MONTHS: u32 = 24;
/// Decimals of shares and of costs per unit.
const PLACES: u8 = 6;
/// Jobs and users that are named; the others are added up.
const JOBS: usize = 20;
/// Experiments beside it.
const SIBLINGS: usize = 12;
/// Pricing categories with a color of their own in the chart.
const COLORED: usize = 7;

/// The answer. Each breakdown sums to the total exactly, and so do the months.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentReport {
    pub experiment: String,
    pub name: String,
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    pub total: Option<Money>,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    /// What was paid for the use of accelerators, per accelerator-hour.
    pub cost_per_accelerator_hour: Option<Decimal>,
    /// What everything owned cost, per hour owned.
    pub cost_per_owned_hour: Option<Decimal>,
    /// Of the cloud GPU-hours; of the cost where there are none, nor on-prem GPU-hours.
    pub spot_share: Option<Decimal>,
    pub days: Option<Days>,
    pub months: Vec<Group>,
    /// By team, project, accelerator, who used machines, and pricing.
    pub breakdowns: Vec<Breakdown>,
    /// What became of its GPU-hours, where machines are divided by use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<HourChain>,
    /// Jobs that cost most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<(String, Decimal)>,
    pub machines: Vec<Machine>,
    /// Where quantities were entered for it.
    pub units: Vec<PerUnit>,
    #[serde(skip)]
    pub by_pricing: Spend,
    #[serde(skip)]
    pub series: Series,
}

/// How much was made of something, and what one of it cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerUnit {
    pub unit: String,
    pub quantity: Decimal,
    /// Null where others pay a part of the experiment that the viewer does not see.
    pub cost_per_unit: Option<Decimal>,
}

/// The experiments beside one.
#[derive(Clone, Debug, Serialize)]
pub struct Siblings {
    /// Project, else team.
    pub of: Grouping,
    pub name: String,
    pub experiments: Vec<Group>,
}

/// The months in which the viewer sees something of an experiment, of the last 24 that there are. `None`: none.
pub async fn months_of_experiment(
    db: &mut PgConnection,
    answers: &Answers,
    experiment: &str,
    question: &Question,
) -> Result<Option<Period>, Error> {
    let Some(last) = answers.latest_month(db, &question.viewer).await? else { return Ok(None) };
    let period = Period::up_to(last, MONTHS);
    let asked =
        Question { period, ..question.clone() }.only(Grouping::Experiment, vec![experiment.to_owned()]);
    let groups = answers.spend(db, &asked.by(Grouping::Month)).await?.groups;
    let months = groups.iter().filter_map(|group| group.key.as_deref()?.parse::<BillingMonth>().ok());
    let (first, last) = (months.clone().min(), months.max());
    Ok(first.zip(last).and_then(|(first, last)| Period::new(first, last)))
}

/// Asks for everything that is shown of an experiment in a period.
pub async fn experiment_report(
    db: &mut PgConnection,
    answers: &Answers,
    experiment: &str,
    question: &Question,
) -> Result<ExperimentReport, Error> {
    let question = question.only(Grouping::Experiment, vec![experiment.to_owned()]);
    let by_pricing = answers.spend(db, &question.by(Grouping::Pricing)).await?;
    let question = question.beside(&by_pricing);
    let sequence = by_pricing.sequence;
    let name = answers.spend(db, &question.by(Grouping::Experiment)).await?.groups;
    let months = answers.spend(db, &question.by(Grouping::Month)).await?.groups;
    let mut breakdowns = Vec::new();
    let job_costs = answers.job_costs(db, &question, None).await?;
    let hours = answers.hours_if_divided(&mut *db, &question, &job_costs).await?;
    for by in [Grouping::Team, Grouping::Project, Grouping::Accelerator] {
        breakdowns.push(Breakdown::of(by.clone(), answers.spend(db, &question.by(by)).await?.groups));
    }
    for by in job_costs.breakdowns() {
        let asked = Question { limit: Some(JOBS), ..question.by(by.clone()) };
        breakdowns.push(Breakdown::of(by, answers.spend(db, &asked).await?.groups));
    }
    breakdowns.push(Breakdown::of(Grouping::Pricing, by_pricing.groups.clone()));
    let step = if question.period.is_one_month() { Step::Day } else { Step::Month };
    let series = answers.over_time(db, &question.by(Grouping::Pricing), step, &by_pricing, COLORED).await?;
    let days = answers.ask(db, &question.by(Grouping::Experiment), sequence, FindDays).await?;
    let machines = answers.ask(db, &question.by(Grouping::Experiment), sequence, FindMachines).await?;
    let units = units(db, answers, experiment, &question, &by_pricing).await?;
    Ok(ExperimentReport {
        experiment: experiment.to_owned(),
        name: name.first().map_or_else(|| experiment.to_owned(), |group| group.label.clone()),
        period: question.period,
        data_status: DataStatus::from(&by_pricing),
        accelerator_hours: by_pricing.accelerator_hours,
        owned_hours: by_pricing.owned_hours,
        cost_per_accelerator_hour: by_pricing.cost_per_accelerator_hour,
        cost_per_owned_hour: by_pricing.cost_per_owned_hour,
        spot_share: spot_share(&by_pricing),
        days: days.get(&Some(experiment.to_owned())).copied(),
        months,
        breakdowns,
        hours,
        jobs: job_costs.largest(JOBS),
        machines: Vec::clone(&machines),
        units,
        total: by_pricing.total.clone(),
        by_pricing,
        series,
    })
}

/// Other experiments of its project in the same period; where it has none, of its team.
pub async fn siblings(
    db: &mut PgConnection,
    answers: &Answers,
    it: &ExperimentReport,
    question: &Question,
) -> Result<Option<Siblings>, Error> {
    let largest = |by: &Grouping| {
        let breakdown = it.breakdowns.iter().find(|breakdown| breakdown.by == *by)?;
        breakdown.groups.iter().find(|group| group.key.is_some())
    };
    let found = [Grouping::Project, Grouping::Team].into_iter().find_map(|by| Some((largest(&by)?, by)));
    let Some((group, of)) = found else { return Ok(None) };
    let asked =
        question.beside(&it.by_pricing).only(of.clone(), group.key.iter().cloned().collect()).direct();
    // One more than is shown: it is among them itself.
    let asked = Question {
        limit: Some(SIBLINGS + 1),
        period: it.period,
        sequence: Some(it.data_status.sequence),
        ..asked.by(Grouping::Experiment)
    };
    let mut experiments = answers.spend(db, &asked).await?.groups;
    experiments.retain(|group| {
        !group.is_folded && group.key.is_some() && group.key.as_ref() != Some(&it.experiment)
    });
    experiments.truncate(SIBLINGS);
    Ok(Some(Siblings { of, name: group.label.clone(), experiments }))
}

impl Breakdown {
    /// Without what was there in the period before only.
    fn of(by: Grouping, mut groups: Vec<Group>) -> Self {
        groups.retain(|group| {
            let hours = [group.accelerator_hours, group.owned_hours];
            !group.cost.amount.is_zero() || hours.iter().any(|hours| !hours.is_zero())
        });
        let costs: Vec<Decimal> = groups.iter().map(|group| group.cost.amount).collect();
        Self { by, stated: Decimal::round_parts(&costs, 2), groups }
    }
}

fn spot_share(by_pricing: &Spend) -> Option<Decimal> {
    let spot = by_pricing.groups.iter().find(|group| group.key.as_deref() == Some("Dynamic"));
    let share = match by_pricing.accelerator_hours {
        // What ran on machines of its own alone could be no spot.
        hours if hours.is_zero() && !by_pricing.owned_hours.is_zero() => return None,
        hours if hours.is_zero() => {
            let cost = spot.map(|group| group.cost.amount).unwrap_or_default();
            cost.divide(by_pricing.total.as_ref()?.amount, PLACES)
        }
        hours => spot.map(|group| group.accelerator_hours).unwrap_or_default().divide(hours, PLACES),
    };
    share.map(Decimal::normalize)
}

/// Quantities that were entered for an experiment, as of the step of an answer, and what a unit cost.
async fn units(
    db: &mut PgConnection,
    answers: &Answers,
    experiment: &str,
    question: &Question,
    spend: &Spend,
) -> Result<Vec<PerUnit>, Error> {
    let days = question.period.days();
    let rows = sqlx::query!(
        r#"select unit, sum(quantity) as "quantity!: Decimal"
           from quantities
           where owner_kind = 'experiment' and owner = $1 and day >= $2 and day < $3
             and from_sequence <= $4 and (until_sequence is null or until_sequence > $4)
           group by 1
           order by 1"#,
        experiment,
        days.start,
        days.end,
        spend.sequence,
    )
    .fetch_all(&mut *db)
    .await?;
    let amount = |spend: &Spend| spend.total.as_ref().map(|total| total.amount);
    let mut cost = amount(spend);
    if !rows.is_empty() && (question.viewer != Viewer::Everything || question.filters.len() > 1) {
        // A part of the cost by all that was made would be a price that nobody paid.
        let filters = vec![Filter::keep(Grouping::Experiment, vec![experiment.to_owned()])];
        let whole = Question { viewer: Viewer::Everything, filters, ..question.by(Grouping::Pricing) };
        let whole = answers.spend(db, &whole).await?;
        cost = cost.filter(|cost| amount(&whole) == Some(*cost));
    }
    let unit_cost = |row_unit: String, quantity: Decimal| PerUnit {
        unit: row_unit,
        quantity,
        cost_per_unit: cost.and_then(|cost| cost.divide(quantity, PLACES)),
    };
    Ok(rows.into_iter().map(|row| unit_cost(row.unit, row.quantity)).collect())
}
