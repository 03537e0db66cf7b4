//! A job, day by day.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::usage::{Sums, Usage};
use crate::accounts::Viewer;
use crate::money::{Currency, Decimal};
use crate::period::{BillingMonth, Period};
use crate::report::job_costs::JobCost;
use crate::report::{Answers, Error, Filter, Grouping, Question, as_of};
use crate::telemetry::descriptions::{self, JobDescription};
use crate::telemetry::meters_of_job::{JobMeters, meters_of};
use crate::telemetry::read::{self, HeldDay};
use crate::telemetry::{GpuUse, hours_of, share};

/// A job on a node on a day.
#[derive(Clone, Debug, Serialize)]
pub struct GpuJobDay {
    pub day: NaiveDate,
    pub node: String,
    pub resource: Option<String>,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
    /// Null where the charges of the node are not known.
    pub cost: Option<Decimal>,
    /// Of it, what was held and measured not to work.
    pub idle_cost: Option<Decimal>,
}

/// What a job held from a time on, for an hour, or for a day where it ran for long.
#[derive(Clone, Debug, Serialize)]
pub struct GpuJobStretch {
    pub from: DateTime<Utc>,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
}

/// A job with its days.
#[derive(Debug, Serialize)]
pub struct GpuJobReport {
    #[serde(flatten)]
    pub job: JobDescription,
    pub currency: Option<Currency>,
    pub sequence: i64,
    pub accelerators: Decimal,
    pub accelerator_hours: Decimal,
    pub measured_hours: Decimal,
    pub used_hours: Decimal,
    pub cost: Decimal,
    pub idle_cost: Decimal,
    pub hours_without_cost: Decimal,
    pub days: Vec<GpuJobDay>,
    /// From when it first held something to when it last did.
    pub over_time: Vec<GpuJobStretch>,
    #[serde(skip_serializing_if = "JobMeters::is_empty")]
    pub meters: JobMeters,
    /// Whose its parts are, by the rules, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<JobCost>,
}

impl Answers {
    /// A job with its days. `None` where no import describes it.
    ///
    /// # Errors
    /// A version that is still to come.
    pub async fn gpu_job(
        &self,
        db: &mut PgConnection,
        question: &Question,
        job_no: i64,
    ) -> Result<Option<GpuJobReport>, Error> {
        let sequence = as_of::as_of(&mut *db, question.sequence).await?;
        let Some(job) = descriptions::of_jobs(&mut *db, sequence, &[job_no]).await?.remove(&job_no) else {
            return Ok(None);
        };
        let own = read::days_of(&mut *db, sequence, job_no).await?;
        let owners = self.owners_of(&mut *db, question, sequence, &job, &own).await?;
        if question.viewer != Viewer::Everything && owners.is_empty() {
            return Ok(None);
        }
        let question = &question.of_organization();
        let mut report = GpuJobReport {
            accelerators: job.accelerators(),
            job,
            currency: None,
            sequence,
            accelerator_hours: Decimal::ZERO,
            measured_hours: Decimal::ZERO,
            used_hours: Decimal::ZERO,
            cost: Decimal::ZERO,
            idle_cost: Decimal::ZERO,
            hours_without_cost: Decimal::ZERO,
            days: Vec::new(),
            over_time: Vec::new(),
            meters: meters_of(&mut *db, sequence, job_no).await?,
            owners,
        };
        let months: BTreeSet<BillingMonth> = own.iter().map(|(day, _)| BillingMonth::of(*day)).collect();
        let nodes = read::nodes(&mut *db, sequence).await?;
        // All months in the currency of the whole.
        let (first, last) = (months.first().copied(), months.last().copied());
        let question = match first.zip(last).and_then(|(first, last)| Period::new(first, last)) {
            Some(period) => {
                let whole = Question { period, sequence: Some(sequence), ..question.clone() };
                let whole = whole.filtered(Filter::no_value(Grouping::Accelerator).left_out());
                let spend = self.spend(&mut *db, &whole.by(Grouping::Accelerator)).await?;
                report.currency.clone_from(&spend.currency);
                question.beside(&spend)
            }
            None => question.clone(),
        };
        let mut whole = Sums::default();
        let mut hours: BTreeMap<DateTime<Utc>, Sums> = BTreeMap::new();
        for month in months {
            let question = Question { period: month.into(), ..question.clone() };
            let question = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
            let spend = self.spend(&mut *db, &question.by(Grouping::Accelerator)).await?;
            let asked = question.beside(&spend).by(Grouping::Month);
            // Whoever held the same machines, too: they share what was paid. And whatever meters saw of them.
            let mine: BTreeSet<i64> =
                own.iter().filter(|(day, _)| month.contains(*day)).map(|(_, node)| *node).collect();
            let machines = read::of_same_machines(&nodes, &mine);
            let days = read::held(&mut *db, sequence, &month.days(), &nodes, Some(&machines)).await?;
            for day in days.iter().filter(|it| it.job_no == job_no) {
                whole.add(day);
                add_hours(&mut hours, day);
            }
            let of_machines = nodes.iter().filter(|node| machines.contains(&node.node_id)).cloned().collect();
            let usage = self.usage(&mut *db, &asked, sequence, of_machines, days).await?;
            report.days.extend(usage.days_of(month.into(), job_no));
        }
        report.accelerator_hours = hours_of(whole.held);
        report.measured_hours = hours_of(whole.measured);
        report.used_hours = hours_of(whole.busy);
        report.over_time = stretches(&hours);
        report.cost = report.days.iter().filter_map(|it| it.cost).sum();
        report.idle_cost = report.days.iter().filter_map(|it| it.idle_cost).sum();
        report.hours_without_cost =
            report.days.iter().filter(|it| it.cost.is_none()).map(|it| it.accelerator_hours).sum();
        Ok(Some(report))
    }
}

impl Answers {
    /// Whose the parts of a job are, of those that the viewer sees.
    async fn owners_of(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        job: &JobDescription,
        days: &[(NaiveDate, i64)],
    ) -> Result<Vec<JobCost>, Error> {
        let label = job.label();
        let months: BTreeSet<BillingMonth> = days.iter().map(|(day, _)| BillingMonth::of(*day)).collect();
        let mut owners: Vec<JobCost> = Vec::new();
        for month in months {
            let asked = Question { period: month.into(), sequence: Some(sequence), ..question.clone() };
            for it in self.job_costs(&mut *db, &asked, None).await?.jobs.iter().filter(|it| it.job == label) {
                match owners.iter_mut().find(|known| known.whose() == it.whose()) {
                    Some(known) => known.cost += it.cost,
                    None => owners.push(it.clone()),
                }
            }
        }
        owners.sort_by_key(|it| std::cmp::Reverse(it.cost));
        Ok(owners)
    }
}

/// Hours that are shown apart; of a job that ran for longer, days.
const MOST_HOURS: i64 = 96;

fn add_hours(hours: &mut BTreeMap<DateTime<Utc>, Sums>, day: &HeldDay) {
    let midnight = day.day.and_time(NaiveTime::MIN).and_utc();
    let of_hours = day.held.iter().zip(&day.measured).zip(&day.busy).zip(0..);
    for (((held, measured), busy), hour) in of_hours.filter(|(((held, _), _), _)| **held > 0) {
        hours.entry(midnight + TimeDelta::hours(hour)).or_default().plus(Sums {
            held: (*held).into(),
            measured: (*measured).into(),
            busy: (*busy).into(),
        });
    }
}

/// Hours without a gap, or days.
fn stretches(hours: &BTreeMap<DateTime<Utc>, Sums>) -> Vec<GpuJobStretch> {
    let (Some((first, _)), Some((last, _))) = (hours.first_key_value(), hours.last_key_value()) else {
        return Vec::new();
    };
    let is_by_hour = (*last - *first).num_hours() < MOST_HOURS;
    let step = if is_by_hour { TimeDelta::hours(1) } else { TimeDelta::days(1) };
    let mut from = if is_by_hour { *first } else { first.date_naive().and_time(NaiveTime::MIN).and_utc() };
    let mut stretches = Vec::new();
    while from <= *last {
        let mut sums = Sums::default();
        hours.range(from..from + step).for_each(|(_, it)| sums.plus(*it));
        stretches.push(GpuJobStretch {
            from,
            accelerator_hours: hours_of(sums.held),
            measured_hours: hours_of(sums.measured),
            used_hours: hours_of(sums.busy),
        });
        from += step;
    }
    stretches
}

impl Usage {
    /// The days of a job, each with its part of what the node was charged for that day.
    fn days_of(&self, period: Period, job_no: i64) -> Vec<GpuJobDay> {
        let mut costs: BTreeMap<(NaiveDate, &str), (Decimal, Decimal)> = BTreeMap::new();
        let machines = self.by_machine(period);
        for (resource, machine) in &machines {
            let Some(rows) = self.rows.get(resource) else { continue };
            let shared = share::share(rows, &machine.held_of(rows), |hour| machine.is_known(hour));
            for (holder, cost) in machine.holders.iter().zip(shared.jobs) {
                if let Some(day) = holder.day.filter(|_| holder.job_no == job_no) {
                    let of_day = costs.entry((day, resource)).or_default();
                    of_day.0 += cost;
                    if holder.gpu_use == GpuUse::Idle {
                        of_day.1 += cost;
                    }
                }
            }
        }
        let mut lines: Vec<GpuJobDay> = Vec::new();
        for day in self.days.iter().filter(|it| it.job_no == job_no) {
            let Some(node) = self.nodes.get(&day.node_id) else { continue };
            let mut sums = Sums::default();
            sums.add(day);
            let resource = node.resource.as_deref().filter(|it| self.rows.contains_key(*it));
            // Two nodes that are one machine: all of it is said once.
            let cost = resource.map(|it| costs.remove(&(day.day, it)).unwrap_or_default());
            lines.push(GpuJobDay {
                day: day.day,
                node: node.name.clone(),
                resource: node.resource.clone(),
                accelerator_hours: hours_of(sums.held),
                measured_hours: hours_of(sums.measured),
                used_hours: hours_of(sums.busy),
                cost: cost.map(|it| it.0),
                idle_cost: cost.map(|it| it.1),
            });
        }
        lines.sort_by(|a, b| a.day.cmp(&b.day).then_with(|| a.node.cmp(&b.node)));
        lines
    }
}

impl GpuJobReport {
    pub fn utilization(&self) -> Option<Decimal> {
        self.used_hours.divide(self.measured_hours, 4)
    }

    /// Whether it ran for so long that it is shown day by day.
    pub fn is_long(&self) -> bool {
        self.over_time.windows(2).next().is_some_and(|pair| (pair[1].from - pair[0].from).num_hours() > 1)
    }

    pub fn price(&self) -> Option<Decimal> {
        self.cost.divide(self.accelerator_hours - self.hours_without_cost, 6)
    }
}

impl GpuJobDay {
    pub fn utilization(&self) -> Option<Decimal> {
        self.used_hours.divide(self.measured_hours, 4)
    }
}
