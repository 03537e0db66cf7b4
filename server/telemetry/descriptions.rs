//! What is known of jobs, as of a version of the ledger.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::job::JobState;
use super::slice::{WHOLE, share_of_slice};
use crate::accelerator::find_model;
use crate::money::Decimal;

/// What is known of a job.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobDescription {
    pub job_no: i64,
    pub source: String,
    pub import_id: i64,
    pub job_id: String,
    pub name: String,
    #[serde(rename = "user")]
    pub user_name: String,
    pub account: String,
    /// Slurm's wckey.
    pub wckey: String,
    pub queue: String,
    pub qos: String,
    pub comment: String,
    pub namespace: String,
    pub state: String,
    pub model: String,
    /// MIG profile of the slice that it held; empty: whole accelerators.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub profile: String,
    pub submitted_at: Option<DateTime<Utc>>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub held_seconds: i64,
    /// Thousandths of an accelerator.
    #[serde(skip)]
    pub thousandths: i64,
}

impl JobDescription {
    /// With its source and namespace, as the tag of its charges names it: schedulers number their jobs alike, and namespaces have pods of
    /// one name.
    pub fn label(&self) -> String {
        let parts = [&self.source, &self.namespace, &self.job_id].map(String::as_str);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    pub fn accelerators(&self) -> Decimal {
        Decimal::new(self.thousandths.into(), 3).normalize()
    }

    /// What it held: `8 × h100`, `2 × 3g.40gb of h100`, `3 × h100 in whole+3g.40gb`; the number alone where the scheduler names no model.
    pub fn gpus(&self) -> String {
        let accelerators = self.accelerators();
        let of_model = |join: &str| match self.model.as_str() {
            "" => String::new(),
            model => format!(" {join} {model}"),
        };
        match self.slices() {
            Some(slices) => format!("{slices} × {}{}", self.profile, of_model("of")),
            None if self.profile.is_empty() => format!("{accelerators}{}", of_model("×")),
            None => format!("{accelerators}{} in {}", of_model("×"), self.profile),
        }
    }

    /// How many slices it held, where they are of one profile.
    fn slices(&self) -> Option<i64> {
        let are_alike = self.profile.matches("gb").count() == 1 && !self.profile.contains(WHOLE);
        let (part, whole) = share_of_slice(&self.model, &self.profile);
        let (held, of_one) = (self.thousandths * i64::from(whole), 1000 * i64::from(part));
        // Thousandths are rounded down.
        are_alike.then(|| (held + of_one / 2).checked_div(of_one)).flatten()
    }

    /// Of one accelerator of its model, where that is known.
    pub fn memory_gb(&self) -> Option<u32> {
        find_model(&self.model)?.memory_gb
    }

    pub fn state(&self) -> JobState {
        JobState::ALL.into_iter().find(|it| it.as_str() == self.state).unwrap_or_default()
    }
}

/// Those of these jobs that some import says held slices of accelerators.
pub async fn in_slices(db: &mut PgConnection, jobs: &[i64]) -> sqlx::Result<Vec<i64>> {
    let found = sqlx::query_scalar!(
        "select distinct job_no from job_descriptions where job_no = any($1) and profile <> ''",
        jobs,
    );
    found.fetch_all(db).await
}

/// What is known of these jobs: of each what the import says that knows most. A pod began when the first import saw it: each says when
/// it was seen, and none when it began.
pub async fn of_jobs(
    db: &mut PgConnection,
    sequence: i64,
    jobs: &[i64],
) -> sqlx::Result<BTreeMap<i64, JobDescription>> {
    let rows = sqlx::query_as!(
        JobDescription,
        r#"select distinct on (d.job_no) d.job_no, s.name as source, d.import_id, d.job_id, d.name, d.user_name, d.account,
               d.project as wckey, d.queue, d.qos, d.comment, d.namespace, d.state, d.model, d.profile, d.submitted_at,
               case when d.is_metered then min(d.started_at) over of_job else d.started_at end as started_at, d.ended_at,
               d.held_seconds,
               case when d.is_metered then max(d.accelerators) over of_job else d.accelerators end as "thousandths!"
           from job_descriptions d
           join usage_imports i using (import_id)
           join jobs_seen j using (job_no)
           join usage_sources s on s.source_id = j.source_id
           where d.job_no = any($1) and i.from_sequence <= $2 and (i.until_sequence is null or i.until_sequence > $2)
           window of_job as (partition by d.job_no)
           order by d.job_no, d.is_over desc, d.held_until desc nulls last, d.import_id desc"#,
        jobs,
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.job_no, row)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_held_is_said_in_slices_where_they_are_alike() {
        for (thousandths, model, profile, expected) in [
            (8000, "h100", "", "8 × h100"),
            (500, "", "", "0.5"),
            (1000, "h100", "3g.40gb", "2 × 3g.40gb of h100"),
            (284, "NVIDIA H100 80GB HBM3", "1g.10gb", "2 × 1g.10gb of NVIDIA H100 80GB HBM3"),
            (142, "", "1g.10gb", "1 × 1g.10gb"),
            (3000, "h100", "whole+3g.40gb", "3 × h100 in whole+3g.40gb"),
            (642, "h100", "1g.10gb+3g.40gb", "0.642 × h100 in 1g.10gb+3g.40gb"),
        ] {
            let job = JobDescription {
                thousandths,
                model: model.to_owned(),
                profile: profile.to_owned(),
                ..JobDescription::default()
            };
            assert_eq!(job.gpus(), expected);
        }
    }
}
