//! `/jobs/job/4711`: a job, day by day.

use askama::Template;

use super::super::csv::{self, RowInCurrency};
use super::super::error::{Error, Result};
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::{filters, paths, respond};
use crate::period::BillingMonth;
use crate::report::{GpuJobDay, GpuJobReport};

/// What its address takes.
pub const TAKES: &str = "cost currency in sequence";

#[derive(Template)]
#[template(path = "jobs/job.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    path: paths::Job,
    it: GpuJobReport,
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
        Format::Html => respond::html(Page { layout, asked, path, it }),
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
            at.map(|at| at.format("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default()
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
            ("Submitted", moment(job.submitted_at)),
            ("Started", moment(job.started_at)),
            ("Ended", moment(job.ended_at)),
        ];
        facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
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
