//! What jobs cost and whose they are, by the rules: the parts of machines that they held.
//!
//! Only what divides machines names jobs, and only its charges are read.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};

use super::as_of::{Error, as_of};
use super::cache::Ask;
use super::denominate::denominate;
use super::gpu_jobs::{CostLines, HourLines};
use super::snapshot::{AsOf, Snapshot};
use super::sql::{Column, Measure, Rows, Source};
use super::{Answers, Grouping, Question};
use crate::accounts::Viewer;
use crate::billing::usage_tags;
use crate::cache::SizeInCache;
use crate::ledger::ActiveImports;
use crate::money::Decimal;
use crate::telemetry::GpuUse;

/// A part of a job's cost, and whose it is. Empty text means nobody's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobCost {
    /// With its source, as the tag of its charges names it: `east/4711`.
    pub job: String,
    pub team: String,
    pub project: String,
    pub experiment: String,
    pub cost: Decimal,
}

impl JobCost {
    /// What distinguishes it from other parts: its job, and whose it is.
    pub fn whose(&self) -> [&str; 4] {
        [&self.job, &self.team, &self.project, &self.experiment]
    }
}

impl SizeInCache for JobCost {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.whose().iter().map(|it| it.len()).sum::<usize>()
    }
}

/// What the jobs of a question cost, the largest parts first.
#[derive(Clone, Debug, Default)]
pub struct JobCosts {
    pub jobs: Vec<JobCost>,
}

impl SizeInCache for JobCosts {
    fn size_in_cache(&self) -> usize {
        self.jobs.size_in_cache()
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct FindJobCosts;

impl Ask for FindJobCosts {
    type Answer = JobCosts;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<JobCosts> {
        let AsOf { question, snapshot, .. } = asked;
        let of_usage = of_usage(&mut *db, snapshot).await?;
        let imports = ActiveImports::of_deliveries(&mut *db, of_usage).await?;
        if imports.deliveries().is_empty() {
            return Ok(JobCosts::default());
        }
        let Some(denomination) = denominate(&mut *db, asked).await?.denomination else {
            return Ok(JobCosts::default());
        };
        let snapshot = Snapshot { visible: Arc::new(imports), ..snapshot.clone() };
        let rows = Rows::of_period(question, &snapshot, Source::Charges, Some(&denomination));
        let of = [
            ("job", Grouping::Tag(usage_tags::JOB.to_owned())),
            ("team", Grouping::Team),
            ("project", Grouping::Project),
            ("experiment", Grouping::Experiment),
        ];
        let mut query = QueryBuilder::<Postgres>::new("select ");
        for (name, dimension) in &of {
            query.push(format!("coalesce({}, '') as {name}, ", rows.value(name, dimension)));
        }
        query.push(format!("sum({}) as cost", rows.amount("cost")));
        let columns = of.each_ref().map(|(name, dimension)| Column::Value(name, dimension));
        rows.push(&mut query, &[Measure::Cost], &columns);
        query.push(" group by 1, 2, 3, 4 order by cost desc, 1, 2, 3, 4");
        let mut jobs = Vec::new();
        for row in query.build().fetch_all(db).await? {
            let it = JobCost {
                job: row.try_get("job")?,
                team: row.try_get("team")?,
                project: row.try_get("project")?,
                experiment: row.try_get("experiment")?,
                cost: row.try_get("cost")?,
            };
            // Held by nobody, or what was taken out of a machine.
            jobs.extend((!it.job.is_empty()).then_some(it));
        }
        Ok(JobCosts { jobs })
    }
}

/// The imports that divide machines, of those that are active.
pub(super) async fn of_usage(db: &mut PgConnection, snapshot: &Snapshot) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select distinct ds.delivery_id
         from delivery_scopes ds
         join scopes s using (scope_id)
         where s.is_usage and ds.delivery_id = any($1)",
        snapshot.visible.deliveries(),
    )
    .fetch_all(db)
    .await
}

impl Answers {
    /// What the jobs of a question's period cost, of those that its viewer sees something of. Of several months only these jobs, named by
    /// their labels, where that is said.
    pub(super) async fn job_costs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        among: Option<&HashSet<String>>,
    ) -> Result<Arc<JobCosts>, Error> {
        let sequence = as_of(&mut *db, question.sequence).await?;
        // By something that the rules decide, so that they are asked.
        let question = question.by(Grouping::Project);
        if question.period.is_one_month() {
            return Ok(self.ask(db, &question, sequence, FindJobCosts).await?);
        }
        Ok(Box::pin(self.job_costs_of_months(db, &question, sequence, among)).await?.into())
    }

    /// The same of several months. All are in the currency of the whole.
    async fn job_costs_of_months(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        among: Option<&HashSet<String>>,
    ) -> Result<JobCosts, Error> {
        let spend = self.spend(&mut *db, &question.by(Grouping::Month)).await?;
        let question = question.beside(&spend);
        let mut sums: BTreeMap<[String; 4], Decimal> = BTreeMap::new();
        // All jobs of all months of a year would take the place of everything else that is remembered; those of a team do not.
        let is_of_all = question.viewer == Viewer::Everything && question.of_team.is_none();
        let is_much = question.is_long() && is_of_all && question.filters.is_empty();
        for month in question.period.months() {
            let of_month = Question { period: month.into(), ..question.clone() };
            let of_month = if is_much {
                Arc::new(self.ask_once(&mut *db, &of_month, sequence, FindJobCosts).await?)
            } else {
                self.ask(&mut *db, &of_month, sequence, FindJobCosts).await?
            };
            for it in of_month.jobs.iter().filter(|it| among.is_none_or(|among| among.contains(&it.job))) {
                *sums.entry(it.whose().map(str::to_owned)).or_default() += it.cost;
            }
        }
        let mut jobs: Vec<JobCost> = sums
            .into_iter()
            .map(|([job, team, project, experiment], cost)| JobCost { job, team, project, experiment, cost })
            .collect();
        jobs.sort_by_key(|it| std::cmp::Reverse(it.cost));
        Ok(JobCosts { jobs })
    }

    /// What became of the accelerator-hours of a question, and their cost.
    pub(super) async fn lines_by_use(
        &self,
        db: &mut PgConnection,
        question: &Question,
    ) -> Result<(HourLines, CostLines), Error> {
        let spend = self.spend(db, &question.by(Grouping::Tag(usage_tags::USE.to_owned()))).await?;
        let cost_of = |gpu_use: GpuUse| {
            let group = spend.groups.iter().find(|group| group.key.as_deref() == Some(gpu_use.as_str()));
            group.map_or(Decimal::ZERO, |it| it.cost.amount)
        };
        let total = spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let [used, idle, unmeasured, unheld, stranded] = GpuUse::ALL.map(cost_of);
        // What of shared costs a lead is not shown has no use, either.
        let without_usage = total - (used + idle + unmeasured + unheld + stranded);
        let cost = CostLines { total, used, idle, unmeasured, unheld, stranded, without_usage };
        Ok((HourLines::of(&spend.groups), cost))
    }
}

impl JobCosts {
    /// What else a cost can be broken down by, where some of it is of jobs: by use, and by user.
    pub fn breakdowns(&self) -> Vec<Grouping> {
        let of_usage = [usage_tags::USE, usage_tags::USER].map(|tag| Grouping::Tag(tag.to_owned()));
        if self.jobs.is_empty() { Vec::new() } else { of_usage.to_vec() }
    }

    /// By job the part that costs most: whose the job is.
    pub fn owners(&self) -> BTreeMap<&str, &JobCost> {
        let mut owners = BTreeMap::new();
        for it in &self.jobs {
            owners.entry(it.job.as_str()).or_insert(it);
        }
        owners
    }

    /// What each job costs in all, those that cost most first, as many as these.
    pub fn largest(&self, most: usize) -> Vec<(String, Decimal)> {
        let mut sums: BTreeMap<&str, Decimal> = BTreeMap::new();
        for it in &self.jobs {
            *sums.entry(&it.job).or_default() += it.cost;
        }
        let mut sums: Vec<_> = sums.into_iter().map(|(job, cost)| (job.to_owned(), cost)).collect();
        sums.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        sums.truncate(most);
        sums
    }
}
