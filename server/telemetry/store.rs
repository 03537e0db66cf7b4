//! Sources, nodes and jobs in the database, by their names.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sqlx::PgConnection;

use super::format::Format;
use super::import::without_nul;
use super::job::Job;
use super::store_meters::Parts;
use crate::audit::Act;

/// What a source is called whose exports do not name it.
pub const UNNAMED: &str = "default";

/// Where the clocks of the sources of a kind stand, by name.
pub async fn zones(db: &mut PgConnection, kind: &str) -> sqlx::Result<BTreeMap<String, Tz>> {
    let rows =
        sqlx::query!("select name, time_zone from usage_sources where kind = $1", kind).fetch_all(db).await?;
    // One that is not known any more is as if nobody had said any.
    Ok(rows.into_iter().filter_map(|row| Some((row.name, row.time_zone.parse().ok()?))).collect())
}

/// Where the clock of the source stands that files of a format are of which name none.
pub async fn unnamed_zone(db: &mut PgConnection, format: Format) -> sqlx::Result<Tz> {
    Ok(zones(db, format.kind()).await?.get(UNNAMED).copied().unwrap_or(Tz::UTC))
}

/// The numbers of what an import has named so far.
pub struct Names {
    pub(super) kind: &'static str,
    /// The source of jobs that name none.
    other: String,
    zone: Tz,
    pub(super) parts: Parts,
    sources: HashMap<String, i64>,
    pub(super) nodes: HashMap<(i64, String), i64>,
}

impl Names {
    pub fn new(kind: &'static str, source: Option<&str>, zone: Tz) -> Self {
        let other = source.unwrap_or(UNNAMED).to_owned();
        let is_of_rows = [Format::PlainCsv, Format::OpenCost].iter().any(|format| format.kind() == kind);
        let parts = if is_of_rows { Parts::Rows } else { Parts::SameHours };
        Self { kind, other, zone, parts, sources: HashMap::new(), nodes: HashMap::new() }
    }

    /// What the sources are called that were named.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// The same of an import that grows by hours.
    pub fn of_further_hours(kind: &'static str, source: &str, zone: Tz) -> Self {
        Self { parts: Parts::FurtherHours, ..Self::new(kind, Some(source), zone) }
    }

    /// Writes down what an import says of these jobs. Of a job that it describes twice, the last counts.
    pub async fn write(
        &mut self,
        db: &mut PgConnection,
        import_id: i64,
        jobs: &[Job],
        act: Act<'_>,
    ) -> sqlx::Result<()> {
        let mut sources = Vec::with_capacity(jobs.len());
        for job in jobs {
            sources.push(self.source(&mut *db, &job.cluster, act).await?);
        }
        self.add_nodes(&mut *db, jobs, &sources).await?;
        let numbers = number_jobs(&mut *db, jobs, &sources).await?;
        let mut rows: BTreeMap<i64, usize> = BTreeMap::new();
        for (place, (job, source)) in jobs.iter().zip(&sources).enumerate() {
            if let Some(number) = numbers.get(&(*source, without_nul(&job.key))) {
                rows.insert(*number, place);
            }
        }
        let texts = |of: fn(&Job) -> &str| -> Vec<String> {
            rows.values().map(|place| without_nul(of(&jobs[*place]))).collect()
        };
        let times = |of: fn(&Job) -> Option<DateTime<Utc>>| -> Vec<Option<DateTime<Utc>>> {
            rows.values().map(|place| of(&jobs[*place])).collect()
        };
        let of_nodes = |of: &dyn Fn(i64, &super::job::Holding) -> i64| -> Vec<String> {
            let rows = rows.values().map(|place| {
                let (job, source) = (&jobs[*place], sources[*place]);
                array(job.holdings.iter().map(|it| of(source, it)))
            });
            rows.collect()
        };
        let node = |source: i64, it: &super::job::Holding| {
            self.nodes.get(&(source, without_nul(&it.node))).copied().unwrap_or_default()
        };
        sqlx::query!(
            "insert into job_descriptions (
                 job_no, import_id, job_id, name, user_name, account, project, queue, qos, comment, namespace, state,
                 model, is_over, submitted_at, started_at, ended_at, held_until, held_seconds, accelerators, nodes,
                 node_accelerators, node_utilization, node_measured, profile
             )
             select job_no, $1, job_id, name, user_name, account, project, queue, qos, comment, namespace, state, model,
                 is_over, submitted_at, started_at, ended_at, held_until, held_seconds, accelerators, nodes::bigint[],
                 node_accelerators::bigint[], node_utilization::integer[], node_measured::integer[], profile
             from unnest(
                 $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                 $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::timestamptz[],
                 $16::timestamptz[], $17::timestamptz[], $18::timestamptz[], $19::bigint[], $20::bigint[], $21::text[],
                 $22::text[], $23::text[], $24::text[], $25::text[]
             ) as new (
                 job_no, job_id, name, user_name, account, project, queue, qos, comment, namespace, state, model, is_over,
                 submitted_at, started_at, ended_at, held_until, held_seconds, accelerators, nodes, node_accelerators,
                 node_utilization, node_measured, profile
             )
             on conflict (job_no, import_id) do update
             set job_id = excluded.job_id, state = excluded.state, is_over = excluded.is_over,
                 started_at = excluded.started_at, ended_at = excluded.ended_at, held_until = excluded.held_until,
                 held_seconds = excluded.held_seconds, accelerators = excluded.accelerators, nodes = excluded.nodes,
                 node_accelerators = excluded.node_accelerators, node_utilization = excluded.node_utilization,
                 node_measured = excluded.node_measured",
            import_id,
            &rows.keys().copied().collect::<Vec<_>>(),
            &texts(|it| &it.id),
            &texts(|it| &it.name),
            &texts(|it| &it.user),
            &texts(|it| &it.account),
            &texts(|it| &it.project),
            &texts(|it| &it.queue),
            &texts(|it| &it.qos),
            &texts(|it| &it.comment),
            &texts(|it| &it.namespace),
            &texts(|it| it.state.as_str()),
            &texts(|it| &it.model),
            &rows.values().map(|place| jobs[*place].state.is_over()).collect::<Vec<_>>(),
            &times(|it| it.submitted_at) as &[Option<DateTime<Utc>>],
            &times(|it| it.started_at) as &[Option<DateTime<Utc>>],
            &times(|it| it.ended_at) as &[Option<DateTime<Utc>>],
            &times(|it| it.held().map(|held| held.1)) as &[Option<DateTime<Utc>>],
            &rows.values().map(|place| number(jobs[*place].held_seconds)).collect::<Vec<_>>(),
            &rows.values().map(|place| number(jobs[*place].accelerators())).collect::<Vec<_>>(),
            &of_nodes(&node),
            &of_nodes(&|_, it| number(it.accelerators)),
            &of_nodes(&|_, it| it.utilization.map_or(-1, i64::from)),
            &of_nodes(&|_, it| i64::from(it.measured)),
            &texts(|it| &it.profile),
        )
        .execute(db)
        .await?;
        Ok(())
    }

    pub(super) async fn source(
        &mut self,
        db: &mut PgConnection,
        cluster: &str,
        act: Act<'_>,
    ) -> sqlx::Result<i64> {
        let name = if cluster.is_empty() { &self.other } else { cluster };
        if let Some(id) = self.sources.get(name) {
            return Ok(*id);
        }
        let name = name.to_owned();
        let id = sqlx::query_scalar!(
            "insert into usage_sources (kind, name, time_zone, created_at, created_by)
             values ($1, $2, $3, $4, $5)
             on conflict (kind, name) do update set name = excluded.name
             returning source_id",
            self.kind,
            without_nul(&name),
            self.zone.name(),
            act.at,
            act.by.name,
        )
        .fetch_one(db)
        .await?;
        self.sources.insert(name, id);
        Ok(id)
    }

    async fn add_nodes(&mut self, db: &mut PgConnection, jobs: &[Job], sources: &[i64]) -> sqlx::Result<()> {
        let mut new: Vec<(i64, String)> = Vec::new();
        for (job, source) in jobs.iter().zip(sources) {
            for holding in &job.holdings {
                let node = (*source, without_nul(&holding.node));
                if !self.nodes.contains_key(&node) {
                    new.push(node);
                }
            }
        }
        self.add_new_nodes(db, new).await
    }

    pub(super) async fn add_new_nodes(
        &mut self,
        db: &mut PgConnection,
        mut new: Vec<(i64, String)>,
    ) -> sqlx::Result<()> {
        new.retain(|node| !self.nodes.contains_key(node));
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(());
        }
        let (sources, names): (Vec<i64>, Vec<String>) = new.into_iter().unzip();
        sqlx::query!(
            "insert into usage_nodes (source_id, name) select * from unnest($1::bigint[], $2::text[])
             on conflict do nothing",
            &sources,
            &names,
        )
        .execute(&mut *db)
        .await?;
        let rows = sqlx::query!(
            "select node_id, source_id, name
             from usage_nodes
             join unnest($1::bigint[], $2::text[]) as new (source_id, name) using (source_id, name)",
            &sources,
            &names,
        )
        .fetch_all(db)
        .await?;
        self.nodes.extend(rows.into_iter().map(|row| ((row.source_id, row.name), row.node_id)));
        Ok(())
    }
}

/// The numbers of jobs, by their source and key; those that are new get one.
async fn number_jobs(
    db: &mut PgConnection,
    jobs: &[Job],
    sources: &[i64],
) -> sqlx::Result<HashMap<(i64, String), i64>> {
    let keys: Vec<String> = jobs.iter().map(|job| without_nul(&job.key)).collect();
    number_keys(db, sources, &keys).await
}

pub(super) async fn number_keys(
    db: &mut PgConnection,
    sources: &[i64],
    keys: &[String],
) -> sqlx::Result<HashMap<(i64, String), i64>> {
    sqlx::query!(
        "insert into jobs_seen (source_id, key) select * from unnest($1::bigint[], $2::text[]) on conflict do nothing",
        sources,
        keys,
    )
    .execute(&mut *db)
    .await?;
    let rows = sqlx::query!(
        "select job_no, source_id, key
         from jobs_seen
         join (select distinct * from unnest($1::bigint[], $2::text[]) as new (source_id, key)) new
             using (source_id, key)",
        sources,
        keys,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| ((row.source_id, row.key), row.job_no)).collect())
}

/// Writes down of which sources an import says something, and until when, as far as it is read.
pub(super) async fn note_sources(db: &mut PgConnection, import_id: i64) -> sqlx::Result<()> {
    // What is read again may name fewer.
    sqlx::query!("delete from usage_import_sources where import_id = $1", import_id)
        .execute(&mut *db)
        .await?;
    sqlx::query!(
        "insert into usage_import_sources (import_id, source_id, last_at)
         select $1, j.source_id, max(d.held_until)
         from job_descriptions d
         join jobs_seen j using (job_no)
         where d.import_id = $1 and d.held_until is not null
         group by 2",
        import_id,
    )
    .execute(db)
    .await?;
    Ok(())
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An array as PostgreSQL reads it from a text: several of different lengths cannot be unnested otherwise.
pub(super) fn array(values: impl Iterator<Item = i64>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("{{{}}}", values.join(","))
}
