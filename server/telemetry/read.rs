//! What is known of usage, as of a version of the ledger.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use chrono::{DateTime, DurationRound as _, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::measure::measured;
use super::one_source::of_one_source;
use super::resolve::{NOBODY, SEEN, STRANDED};
use super::store_meters::NAMED_JOB;
use crate::money::Decimal;

/// A node that held jobs, and which machine of the ledger it is.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    pub node_id: i64,
    pub source_id: i64,
    pub source: String,
    /// Of which kind the source is: `slurm`.
    pub kind: String,
    pub name: String,
    /// ResourceId of the charges, as bills write it. None where no machine is known by the node's name, and nobody said which it is.
    pub resource: Option<String>,
    /// Somebody said so.
    pub is_entered: bool,
    /// Its source says who holds accelerators: where it names nobody, nobody does. Not so of a machine of a scheduler, which says who held it.
    #[serde(skip)]
    pub names_holders: bool,
    /// It is no machine of the ledger, and another source of its kind has a node of this name.
    #[serde(skip)]
    pub is_ambiguous: bool,
}

impl Node {
    /// What tells its machine from others: the machine of the ledger, else the first part of its name.
    pub fn machine(&self) -> String {
        match &self.resource {
            Some(resource) => resource.to_lowercase(),
            None if self.is_ambiguous => format!("{} of {}", self.short_name(), self.source_id),
            None => self.short_name(),
        }
    }

    fn short_name(&self) -> String {
        self.name.split('.').next().unwrap_or_default().to_lowercase()
    }

    /// Its source says who held it, and mostly not how busy it was.
    pub fn is_of_scheduler(&self) -> bool {
        self.kind == "slurm"
    }
}

/// Those that are one machine with one of these nodes, these included.
pub fn of_same_machines(nodes: &[Node], these: &BTreeSet<i64>) -> Vec<i64> {
    let machines: BTreeSet<String> =
        nodes.iter().filter(|node| these.contains(&node.node_id)).map(Node::machine).collect();
    nodes.iter().filter(|node| machines.contains(&node.machine())).map(|node| node.node_id).collect()
}

/// What a job held on a node on a day.
#[derive(Clone, Debug)]
pub struct HeldDay {
    pub day: NaiveDate,
    pub node_id: i64,
    pub job_no: i64,
    /// Accelerator-milliseconds by hour.
    pub held: Vec<i32>,
    pub measured: Vec<i32>,
    pub busy: Vec<i32>,
}

/// The last version of the ledger up to this one that changed usage; 0: none.
pub async fn version(db: &mut PgConnection, sequence: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select coalesce(max(sequence), 0) as "version!" from ledger_log where action = 'usage' and sequence <= $1"#,
        sequence,
    )
    .fetch_one(db)
    .await
}

/// Every node, by source and name. One that nobody matched is the machine whose ResourceId is its name, without regard to case,
/// or the first part of its name; else the only one whose ResourceId is a path that ends in it, as those of Azure and Google Cloud are.
pub async fn nodes(db: &mut PgConnection, sequence: i64) -> sqlx::Result<Vec<Node>> {
    let mut nodes = sqlx::query_as!(
        Node,
        r#"with naming as (
               select s.source_id, s.kind <> 'slurm' and exists (
                   select
                   from jobs_seen j
                   join job_descriptions d on d.job_no = j.job_no and d.is_metered
                   join usage_imports i using (import_id)
                   where j.source_id = s.source_id
                     and i.from_sequence <= $1 and (i.until_sequence is null or i.until_sequence > $1)
               ) as names_holders
               from usage_sources s
           ),
           named as (
               select n.node_id, n.source_id, s.name as source, s.kind, n.name, m.resource_id,
                   lower(coalesce(m.resource_id, n.name)) as full_name,
                   lower(coalesce(m.resource_id, split_part(n.name, '.', 1))) as short_name
               from usage_nodes n
               join usage_sources s using (source_id)
               left join node_matches m on m.node_id = n.node_id
                   and m.from_sequence <= $1 and (m.until_sequence is null or m.until_sequence > $1)
           ),
           names as (select full_name as name from named union select short_name from named),
           machines as (
               select lower(resource_id) as resource, min(resource_id) as resource_id, 1 as place
               from charge_keys
               where accelerator is not null and lower(resource_id) = any(array(select name from names))
               group by 1
               union all
               select lower(regexp_replace(resource_id, '^.*/', '')), min(resource_id), 2
               from charge_keys
               where accelerator is not null and resource_id like '%/%'
                 and lower(regexp_replace(resource_id, '^.*/', '')) = any(array(select name from names))
               group by 1
               having count(distinct lower(resource_id)) = 1
           )
           select node_id as "node_id!", source_id as "source_id!", source as "source!", kind as "kind!", name as "name!",
               coalesce(
                   (select resource_id from machines where resource = full_name and full_name <> '' order by place limit 1),
                   (select resource_id from machines where resource = short_name and short_name <> '' order by place limit 1)
               ) as "resource?",
               named.resource_id is not null as "is_entered!", names_holders as "names_holders!", false as "is_ambiguous!"
           from named
           join naming using (source_id)
           order by 2, 3"#,
        sequence,
    )
    .fetch_all(db)
    .await?;
    distinguish(&mut nodes);
    Ok(nodes)
}

/// What of nodes follows from the others.
fn distinguish(nodes: &mut [Node]) {
    let mut sources: HashMap<(&str, String), BTreeSet<i64>> = HashMap::new();
    for node in nodes.iter().filter(|node| node.resource.is_none()) {
        sources.entry((&node.kind, node.short_name())).or_default().insert(node.source_id);
    }
    let is_ambiguous = |node: &Node| {
        let alike = sources.get(&(node.kind.as_str(), node.short_name()));
        node.resource.is_none() && alike.is_some_and(|sources| sources.len() > 1)
    };
    let ambiguous: Vec<bool> = nodes.iter().map(is_ambiguous).collect();
    for (node, is_ambiguous) in nodes.iter_mut().zip(ambiguous) {
        node.is_ambiguous = is_ambiguous;
    }
    let of_scheduler: BTreeSet<String> =
        nodes.iter().filter(|node| node.is_of_scheduler()).map(Node::machine).collect();
    for node in nodes {
        node.names_holders &= !of_scheduler.contains(&node.machine());
    }
}

/// What was held on some days, and how busy that was: on all nodes, or on these, of which there are all of a machine.
pub async fn held(
    db: &mut PgConnection,
    sequence: i64,
    days: &Range<NaiveDate>,
    nodes: &[Node],
    only: Option<&[i64]>,
) -> sqlx::Result<Vec<HeldDay>> {
    let mut days = stored(&mut *db, sequence, days, only).await?;
    let naming: HashMap<i64, bool> = nodes.iter().map(|it| (it.node_id, it.names_holders)).collect();
    for day in days.iter_mut().filter(|day| [NOBODY, SEEN].contains(&day.job_no)) {
        let is_naming = naming.get(&day.node_id).copied().unwrap_or(false);
        day.job_no = if is_naming { NOBODY } else { SEEN };
    }
    let jobs: BTreeSet<i64> = days.iter().map(|it| it.job_no).collect();
    let named = named_jobs(db, &jobs.into_iter().collect::<Vec<_>>()).await?;
    let mut days = measured(days, nodes, &named);
    of_one_source(&mut days, nodes);
    Ok(days)
}

/// Of jobs that a meter names by their number those of a scheduler that they can be.
async fn named_jobs(db: &mut PgConnection, jobs: &[i64]) -> sqlx::Result<BTreeMap<i64, Vec<i64>>> {
    let rows = sqlx::query!(
        r#"select named.job_no, array_agg(j.job_no) filter (where j.job_no is not null) as "candidates?"
           from jobs_seen named
           left join (jobs_seen j join usage_sources s on s.source_id = j.source_id and s.kind = 'slurm')
               on split_part(j.key, '@', 1) = substr(named.key, length($2) + 1)
           where named.job_no = any($1) and starts_with(named.key, $2)
           group by 1"#,
        jobs,
        NAMED_JOB,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.job_no, row.candidates.unwrap_or_default())).collect())
}

async fn stored(
    db: &mut PgConnection,
    sequence: i64,
    days: &Range<NaiveDate>,
    nodes: Option<&[i64]>,
) -> sqlx::Result<Vec<HeldDay>> {
    sqlx::query_as!(
        HeldDay,
        "select day, node_id, job_no, held, measured, busy
         from usage_days
         where day >= $1 and day < $2 and from_sequence <= $3 and (until_sequence is null or until_sequence > $3)
           and ($4::bigint[] is null or node_id = any($4))
         order by job_no, node_id, day",
        days.start,
        days.end,
        sequence,
        nodes,
    )
    .fetch_all(db)
    .await
}

/// Whether accelerators of these nodes were cut into slices on some days.
pub async fn has_slices(db: &mut PgConnection, nodes: &[i64], days: &Range<NaiveDate>) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select
               from usage_days
               where job_no = $4 and node_id = any($1) and day >= $2 and day < $3 and until_sequence is null
           ) or exists (
               select
               from job_descriptions d
               join usage_days u on u.job_no = d.job_no
               where d.profile <> '' and u.node_id = any($1) and u.day >= $2 and u.day < $3 and u.until_sequence is null
           ) as "has_slices!""#,
        nodes,
        days.start,
        days.end,
        STRANDED,
    )
    .fetch_one(db)
    .await
}

/// The times of which a source says everything, by its number.
pub async fn coverage(
    db: &mut PgConnection,
    sequence: i64,
) -> sqlx::Result<BTreeMap<i64, Vec<Range<DateTime<Utc>>>>> {
    let rows = sqlx::query!(
        "select c.source_id, c.begins_at, c.ends_at
         from usage_coverage c
         join usage_imports i using (import_id)
         where i.from_sequence <= $1 and (i.until_sequence is null or i.until_sequence > $1)
         order by 1, 2",
        sequence,
    )
    .fetch_all(db)
    .await?;
    let mut coverage: BTreeMap<i64, Vec<Range<DateTime<Utc>>>> = BTreeMap::new();
    for row in rows {
        coverage.entry(row.source_id).or_default().push(row.begins_at..row.ends_at);
    }
    Ok(coverage)
}

/// How many accelerator-milliseconds jobs held of the machines of these nodes in each hour of which it is known who held any of them. `only`: all
/// nodes of these machines.
pub async fn held_by_hour(
    db: &mut PgConnection,
    sequence: i64,
    days: &Range<NaiveDate>,
    nodes: &[Node],
    only: &[i64],
) -> sqlx::Result<BTreeMap<DateTime<Utc>, i64>> {
    let begins = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    let mut by_hour: BTreeMap<DateTime<Utc>, i64> = BTreeMap::new();
    let wanted: BTreeSet<i64> = only.iter().copied().collect();
    let sources: BTreeSet<i64> =
        nodes.iter().filter(|it| wanted.contains(&it.node_id)).map(|it| it.source_id).collect();
    let coverage = coverage(&mut *db, sequence).await?;
    for known in sources.iter().filter_map(|source| coverage.get(source)).flatten() {
        let mut hour =
            known.start.max(begins(days.start)).duration_round_up(TimeDelta::hours(1)).unwrap_or(known.end);
        while hour + TimeDelta::hours(1) <= known.end.min(begins(days.end)) {
            by_hour.entry(hour).or_default();
            hour += TimeDelta::hours(1);
        }
    }
    let mut from = days.start;
    while from < days.end {
        // A few weeks at once: a year of a large cluster is much.
        let until = (from + TimeDelta::weeks(4)).min(days.end);
        for day in held(&mut *db, sequence, &(from..until), nodes, Some(only)).await? {
            let of_jobs = i64::from(day.job_no > NOBODY);
            for (hour, held) in (0..).zip(&day.held).filter(|(_, held)| **held > 0) {
                *by_hour.entry(begins(day.day) + TimeDelta::hours(hour)).or_default() +=
                    of_jobs * i64::from(*held);
            }
        }
        from = until;
    }
    Ok(by_hour)
}

/// The imports that may say something of some days, and since which version each says what it says: what is read from a server grows.
pub async fn imports_of(
    db: &mut PgConnection,
    days: &Range<NaiveDate>,
    sequence: i64,
) -> sqlx::Result<Vec<(i64, i64)>> {
    let imports = sqlx::query!(
        r#"select import_id, least(coalesce(grown_sequence, from_sequence), $3) as "since!"
           from usage_imports
           where from_sequence <= $3 and (until_sequence is null or until_sequence > $3)
             and first_at < $2::date::timestamp at time zone 'UTC' and last_at >= $1::date::timestamp at time zone 'UTC'
           order by 1"#,
        days.start,
        days.end,
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(imports.into_iter().map(|it| (it.import_id, it.since)).collect())
}

/// On which days a job held which nodes.
pub async fn days_of(
    db: &mut PgConnection,
    sequence: i64,
    job_no: i64,
) -> sqlx::Result<Vec<(NaiveDate, i64)>> {
    let rows = sqlx::query!(
        "select day, node_id
         from usage_days
         where job_no = $1 and from_sequence <= $2 and (until_sequence is null or until_sequence > $2)
         order by day, node_id",
        job_no,
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.day, row.node_id)).collect())
}

/// What was held of a node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeldOfNode {
    pub accelerator_hours: Decimal,
    pub jobs: i64,
}

/// Days of which it is said what was held of a node that is no machine.
const LATELY: i64 = 90;

/// What was held lately of those of these nodes that are no machine, and of which some import says something.
pub async fn held_without_machine(
    db: &mut PgConnection,
    nodes: &[Node],
    today: NaiveDate,
) -> sqlx::Result<BTreeMap<i64, HeldOfNode>> {
    let nodes: Vec<i64> = nodes.iter().filter(|it| it.resource.is_none()).map(|it| it.node_id).collect();
    if nodes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = sqlx::query!(
        r#"select node_id, count(distinct job_no) filter (where is_lately) as "jobs!",
               coalesce(round(sum(held) filter (where is_lately) / 3600000.0, 6), 0) as "hours!: Decimal"
           from (
               select node_id, job_no, day >= $2 and job_no > 0 as is_lately,
                   case when day >= $2 then (select sum(of_hour) from unnest(held) of_hour) end as held
               from usage_days
               where node_id = any($1) and until_sequence is null
           ) of_day
           group by 1"#,
        &nodes,
        today - TimeDelta::days(LATELY),
    )
    .fetch_all(db)
    .await?;
    let held = |jobs, hours: Decimal| HeldOfNode { accelerator_hours: hours.normalize(), jobs };
    Ok(rows.into_iter().map(|row| (row.node_id, held(row.jobs, row.hours))).collect())
}

/// A source, and where its clocks stand.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    pub source_id: i64,
    pub kind: String,
    pub name: String,
    pub time_zone: String,
    pub nodes: i64,
    pub last_at: Option<DateTime<Utc>>,
}

impl Source {
    /// Whether its files may have times without an offset.
    pub fn has_local_times(&self) -> bool {
        has_local_times(&self.kind)
    }
}

/// Whether files of a kind of source may have times without an offset.
pub fn has_local_times(kind: &str) -> bool {
    ["slurm", "nvidia-smi", "csv"].contains(&kind)
}

pub async fn sources(db: &mut PgConnection) -> sqlx::Result<Vec<Source>> {
    sqlx::query_as!(
        Source,
        r#"select s.source_id, s.kind, s.name, s.time_zone,
               (select count(*) from usage_nodes n where n.source_id = s.source_id) as "nodes!",
               (
                   select max(said.last_at)
                   from usage_import_sources said
                   join usage_imports i using (import_id)
                   where said.source_id = s.source_id and i.status = 'active'
               ) as last_at
           from usage_sources s
           order by s.kind, s.name"#
    )
    .fetch_all(db)
    .await
}

/// A file of usage in the history.
#[derive(Clone, Debug, Serialize)]
pub struct ImportLine {
    pub import_id: i64,
    pub format: String,
    pub file_name: String,
    pub status: String,
    pub rows_read: i64,
    pub jobs: i64,
    pub samples: i64,
    pub rejected: i64,
    pub skipped: i64,
    pub accelerator_hours: Decimal,
    pub first_at: Option<DateTime<Utc>>,
    pub last_at: Option<DateTime<Utc>>,
    pub message: Option<String>,
    pub imported_at: DateTime<Utc>,
    pub imported_by: String,
    pub undone_at: Option<DateTime<Utc>>,
    pub undone_by: Option<String>,
}

/// Files of usage that were imported, the newest first; or the imports with these numbers, whatever they are of.
pub async fn imports(
    db: &mut PgConnection,
    only: Option<&[i64]>,
    most: i64,
) -> sqlx::Result<Vec<ImportLine>> {
    sqlx::query_as!(
        ImportLine,
        r#"select import_id, format, file_name, status, rows_read, jobs, samples, rejected, skipped,
               accelerator_hours as "accelerator_hours: _", first_at, last_at, message, imported_at, imported_by, undone_at,
               undone_by
           from usage_imports
           where case when $1::bigint[] is null then server_id is null else import_id = any($1) end and status <> 'loading'
           order by import_id desc
           limit $2"#,
        only as Option<&[i64]>,
        most,
    )
    .fetch_all(db)
    .await
}

/// A row that was rejected.
#[derive(Clone, Debug, Serialize)]
pub struct RejectedRow {
    pub row: i64,
    pub column: String,
    pub found: String,
    pub expected: String,
}

pub async fn rejections(db: &mut PgConnection, import_id: i64, most: i64) -> sqlx::Result<Vec<RejectedRow>> {
    sqlx::query_as!(
        RejectedRow,
        r#"select row_no as row, column_name as column, found, expected
           from usage_rejections where import_id = $1 order by row_no limit $2"#,
        import_id,
        most,
    )
    .fetch_all(db)
    .await
}

/// Rows that say nothing of accelerators: how many for which reason.
pub async fn skips(db: &mut PgConnection, import_id: i64) -> sqlx::Result<Vec<(String, i64)>> {
    let rows = sqlx::query!(
        "select reason, row_count from usage_skips where import_id = $1 order by row_count desc, reason",
        import_id,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.reason, row.row_count)).collect())
}

/// Machines with accelerators that are none of these: their ResourceIds as bills write them.
pub async fn machines_but(db: &mut PgConnection, these: &[String], most: i64) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        r#"select distinct resource_id as "resource_id!"
           from charge_keys
           where accelerator is not null and resource_id <> '' and resource_id <> all($1)
           order by 1
           limit $2"#,
        these,
        most,
    )
    .fetch_all(db)
    .await
}
