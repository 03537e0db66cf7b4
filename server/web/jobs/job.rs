//! `/jobs/job/4711`: a job, day by day.

use std::collections::BTreeMap;

use askama::Template;
use chrono::Datelike as _;

use super::super::csv::{self, RowInCurrency};
use super::super::error::{Error, Result};
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::{filters, paths, respond};
use crate::chart::{Bucket, Series, Stack};
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::{GpuJobDay, GpuJobReport, GpuJobStretch, JobCost};

/// What its address takes.
pub const TAKES: &str = "cost currency in sequence";

#[derive(Template)]
#[template(path = "jobs/job.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    path: paths::Job,
    it: GpuJobReport,
    chart: Stack,
}

pub async fn show(path: paths::Job, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { now, layout, person, query: pairs, app, mut db, .. } = reading;
    let asked = Asked::read_only(pairs, TAKES)?;
    let month = BillingMonth::of(now.date_naive());
    let question = asked.question(month.into(), person.viewer());
    let it = Box::pin(app.answers.gpu_job(&mut db, &question, path.job)).await?.ok_or(Error::NotFound)?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let name = format!("job-{}", it.job.job_id);
            csv::answer(&name, &RowInCurrency::all(&it.days, it.currency.as_ref()))
        }
        Format::Html => {
            let chart = chart(&it);
            respond::html(Page { layout, asked, path, it, chart })
        }
    }
}

/// What it held over time, and what became of that.
fn chart(it: &GpuJobReport) -> Stack {
    let (step, label, name) =
        if it.is_long() { ("day", "%-d", "%b %-d, %Y") } else { ("hour", "%H", "%b %-d, %Y, %H:00 UTC") };
    let spans_days = !it.is_long() && it.days.iter().any(|line| line.day != it.days[0].day);
    let bucket = |stretch: &GpuJobStretch| Bucket {
        label: if spans_days {
            stretch.from.format("%b %-d, %H:00").to_string()
        } else if it.is_long() && stretch.from.day() == 1 {
            stretch.from.format("%b %-d").to_string()
        } else {
            stretch.from.format(label).to_string()
        },
        name: stretch.from.format(name).to_string(),
        is_apart: false,
        names_year: false,
    };
    let series = |label: &str, of: fn(&GpuJobStretch) -> Decimal| Series {
        label: label.to_owned(),
        values: it.over_time.iter().map(of).collect(),
        is_other: false,
    };
    let unmeasured =
        Series { is_other: true, ..series("Not measured", |it| it.accelerator_hours - it.measured_hours) };
    let all = [
        series("Used", |it| it.used_hours),
        series("Held but idle", |it| it.measured_hours - it.used_hours),
        unmeasured,
    ];
    Stack {
        title: format!("GPU-hours by {step}"),
        description: format!("Stacked columns by {step}: used, held but idle, not measured."),
        unit: "GPU-hours".to_owned(),
        buckets: it.over_time.iter().map(bucket).collect(),
        series: all.into_iter().filter(|it| it.values.iter().any(|value| !value.is_zero())).collect(),
        format: |hours: Decimal| filters::figure(hours, 2),
    }
}

impl Page {
    fn title(&self) -> String {
        format!("Job {}", self.it.job.job_id)
    }

    fn file(&self, file: File) -> String {
        file.of(self.asked.link(self.path))
    }

    /// The month in which it began, where that is known.
    fn month(&self) -> Option<(String, String)> {
        let month = BillingMonth::of(self.it.days.first()?.day);
        Some((month.name(), self.asked.link(paths::Jobs { period: month.into() })))
    }

    /// What is known of it: label and text. What is not stated is left out.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let job = &self.it.job;
        let moment = |at: Option<chrono::DateTime<chrono::Utc>>| {
            at.map(filters::exact_moment_text).unwrap_or_default()
        };
        let facts = [
            ("Name", job.name.clone()),
            ("User", job.user_name.clone()),
            ("Account", job.account.clone()),
            ("Wckey", job.wckey.clone()),
            ("Namespace", job.namespace.clone()),
            ("Queue", job.queue.clone()),
            ("QOS", job.qos.clone()),
            ("Comment", job.comment.clone()),
            ("Cluster", job.source.clone()),
            ("State", job.state().label().to_owned()),
            ("GPU model", job.model.clone()),
            ("MIG slice", job.profile.clone()),
            ("Submitted", moment(job.submitted_at)),
            ("Started", moment(job.started_at)),
            ("Waited", self.waited().unwrap_or_default()),
            ("Ended", moment(job.ended_at)),
        ];
        facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }

    /// How long it was in the queue.
    fn waited(&self) -> Option<String> {
        let waited = self.it.job.started_at? - self.it.job.submitted_at?;
        let minutes = waited.num_minutes();
        match (minutes / 60, minutes % 60) {
            (..0, _) | (_, ..0) => None,
            (0, minutes) => Some(format!("{minutes} min")),
            (hours, minutes) => Some(format!("{hours} h {minutes} min")),
        }
    }

    /// Its months, where it ran in several: what of it each has.
    fn months(&self) -> Vec<(String, String, Decimal, Decimal)> {
        let mut months: BTreeMap<BillingMonth, (Decimal, Decimal)> = BTreeMap::new();
        for line in &self.it.days {
            let of_month = months.entry(BillingMonth::of(line.day)).or_default();
            of_month.0 += line.accelerator_hours;
            of_month.1 += line.cost.unwrap_or_default();
        }
        if months.len() < 2 {
            return Vec::new();
        }
        let line = |(month, (hours, cost)): (BillingMonth, (Decimal, Decimal))| {
            (month.name(), self.asked.link(paths::Jobs { period: month.into() }), hours, cost)
        };
        months.into_iter().map(line).collect()
    }

    /// What meters saw beside how busy it was: label and text.
    fn metered(&self) -> Vec<(&'static str, String)> {
        let of = &self.it.meters;
        let memory = |used: Decimal| match self.it.job.memory_gb() {
            Some(whole) => format!("{used} of {whole} GiB per GPU"),
            None => format!("{used} GiB per GPU"),
        };
        let metered = [
            ("Memory in use", of.memory_gib.map(memory)),
            (
                "Tensor cores at work",
                of.tensor_activity.map(|part| format!("{} % of the time", (part.times(100)).round(1))),
            ),
            ("Power", of.power_watts.map(|watts| format!("{watts} W per GPU"))),
            ("Energy", of.energy_kwh.map(|energy| format!("{energy} kWh"))),
        ];
        metered.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
    }

    /// A part of it with the addresses of its team and its experiment, in the month in which it began.
    fn team(&self, owner: &JobCost) -> Option<String> {
        let month = BillingMonth::of(self.it.days.first()?.day);
        let path = paths::Team { team: owner.team.clone(), period: month.into() };
        (!owner.team.is_empty()).then(|| self.asked.link(path))
    }

    fn experiment(&self, owner: &JobCost) -> Option<String> {
        let path = paths::Experiment { experiment: paths::Named(owner.experiment.clone()) };
        (!owner.experiment.is_empty()).then(|| self.asked.link(path))
    }

    fn import(&self) -> paths::UsageImport {
        paths::UsageImport { import: self.it.job.import_id }
    }
}

csv::record! {
    |it: RowInCurrency<'_, GpuJobDay>|
    "day" => it.row.day.to_string(),
    "node" => &it.row.node,
    "machine" => it.row.resource.as_deref().unwrap_or_default(),
    "accelerator_hours" => it.row.accelerator_hours,
    "measured_hours" => it.row.measured_hours,
    "used_hours" => it.row.used_hours,
    "currency" => it.currency,
    "cost" => it.row.cost,
}
