//! What an import says that bills, or other sources, say otherwise: said when it is imported, since nothing of it is an error.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};
use sqlx::PgConnection;

use super::format::Format;
use super::read::{self, Node};
use crate::accelerator::PARTS;
use crate::billing::usage_tags;
use crate::ledger;
use crate::money::Decimal;

/// Of each kind of contradiction, those that are named.
const NAMED: usize = 3;

/// Sentences without their ends.
pub async fn contradictions(
    db: &mut PgConnection,
    import_id: i64,
    times: (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
) -> sqlx::Result<Vec<String>> {
    let (Some(first), Some(last)) = times else { return Ok(Vec::new()) };
    let (first, last) = (first.date_naive(), last.date_naive());
    let sequence = ledger::sequence(&mut *db).await?;
    let nodes = read::nodes(&mut *db, sequence).await?;
    let own = nodes_of(&mut *db, import_id).await?;
    let own: Vec<&Node> = nodes.iter().filter(|node| own.contains(&node.node_id)).collect();
    let mut found = Vec::new();
    found.extend(more_than_there_is(&mut *db, import_id, &own, (first, last)).await?);
    found.extend(also_elsewhere(&mut *db, &nodes, &own, (first, last)).await?);
    found.extend(also_in_other_files(&mut *db, import_id).await?);
    Ok(found)
}

async fn nodes_of(db: &mut PgConnection, import_id: i64) -> sqlx::Result<BTreeSet<i64>> {
    let nodes = sqlx::query_scalar!(
        r#"select distinct unnest(nodes) as "node_id!" from job_descriptions where import_id = $1
           union
           select distinct node_id from meter_days where import_id = $1"#,
        import_id,
    );
    Ok(nodes.fetch_all(db).await?.into_iter().collect())
}

/// Jobs that held more accelerators of a machine than its charges of these days, and of two months before, are for. A machine that ran
/// for a part of an hour has all of its accelerators. Charges divided by use are left out.
async fn more_than_there_is(
    db: &mut PgConnection,
    import_id: i64,
    nodes: &[&Node],
    (first, last): (NaiveDate, NaiveDate),
) -> sqlx::Result<Option<String>> {
    let machines: Vec<String> =
        nodes.iter().filter_map(|node| node.resource.as_ref()).map(|it| it.to_lowercase()).collect();
    // A month that runs has no bill yet: the two before it say how many a machine has.
    let month = first.with_day(1).unwrap_or(first);
    let since = month.checked_sub_months(Months::new(2)).unwrap_or(month);
    let paid = sqlx::query!(
        r#"select lower(k.resource_id) as "machine!",
               max(greatest(of_hour * k.unit_seconds, 3600) * k.accelerator_parts / (3600 * $4::bigint)) as "accelerators!: Decimal"
           from charge_keys k
           join daily_costs c using (charge_key_id)
           cross join unnest(coalesce(c.hourly_quantity, array[c.metered_quantity / 24])) of_hour
           where lower(k.resource_id) = any($1) and k.accelerator is not null and k.category = 'Usage'
             and c.billing_month >= $2 and c.billing_month <= $3 and c.day >= $2 and c.day <= $3
             and not k.tags ? $5 and not c.is_whole_period and k.accelerator_parts is not null and k.unit_seconds is not null
           group by 1"#,
        &machines,
        since,
        last,
        PARTS,
        usage_tags::USE,
    )
    .fetch_all(&mut *db)
    .await?;
    let paid: BTreeMap<String, Decimal> = paid.into_iter().map(|it| (it.machine, it.accelerators)).collect();
    let of_node = |node: &Node| paid.get(&node.resource.as_ref()?.to_lowercase()).copied();
    let known: Vec<(i64, Decimal)> =
        nodes.iter().filter_map(|node| Some((node.node_id, of_node(node)?))).collect();
    let (numbers, accelerators): (Vec<i64>, Vec<Decimal>) = known.into_iter().unzip();
    let beyond = sqlx::query!(
        r#"select job_id as "job_id!", node_id as "node_id!", held as "held!: Decimal", paid as "paid!: Decimal"
           from (
               select d.job_id, of_node.node_id, of_node.accelerators / 1000.0 as held
               from job_descriptions d
               cross join unnest(d.nodes, d.node_accelerators) as of_node (node_id, accelerators)
               where d.import_id = $1 and not d.is_metered
               union all
               select coalesce(d.job_id, ''), m.node_id, of_hour / 3600000.0
               from meter_days m
               left join job_descriptions d on d.job_no = m.job_no and d.import_id = m.import_id
               cross join unnest(m.present) of_hour
               where m.import_id = $1 and m.device = ''
           ) said
           join unnest($2::bigint[], $3::numeric[]) as known (node_id, paid) using (node_id)
           where held > paid * 1.01
           order by held desc, 1"#,
        import_id,
        &numbers,
        &accelerators as &[Decimal],
    )
    .fetch_all(db)
    .await?;
    let mut named: Vec<String> = Vec::new();
    let mut jobs = BTreeSet::new();
    for it in &beyond {
        let Some(node) = nodes.iter().find(|node| node.node_id == it.node_id) else { continue };
        if jobs.insert((&it.job_id, it.node_id)) && named.len() < NAMED {
            let (held, paid) = (it.held.round(1).normalize(), it.paid.round(1).normalize());
            named.push(format!(
                "job {} held {held} GPUs of {}, which is charged as {paid}",
                it.job_id, node.name
            ));
        }
    }
    let more = match jobs.len() - named.len() {
        0 => String::new(),
        more => format!(", and {more} more held too many"),
    };
    Ok((!named.is_empty())
        .then(|| format!("{}{more}: jobs share what their machine costs", named.join(", "))))
}

/// Machines that another source describes on the same days.
async fn also_elsewhere(
    db: &mut PgConnection,
    nodes: &[Node],
    own: &[&Node],
    (first, last): (NaiveDate, NaiveDate),
) -> sqlx::Result<Option<String>> {
    let machines: BTreeMap<String, &Node> = own.iter().map(|node| (node.machine(), *node)).collect();
    let is_other = |node: &&Node| {
        machines
            .get(&node.machine())
            .is_some_and(|own| own.source_id != node.source_id && own.competes_with(node))
    };
    let others: Vec<&Node> = nodes.iter().filter(is_other).collect();
    let numbers: Vec<i64> = others.iter().map(|node| node.node_id).collect();
    let held = sqlx::query_scalar!(
        "select distinct node_id from usage_days
         where node_id = any($1) and day >= $2 and day <= $3 and until_sequence is null and job_no > 0",
        &numbers,
        first,
        last,
    )
    .fetch_all(db)
    .await?;
    let others: Vec<&Node> = others.into_iter().filter(|node| held.contains(&node.node_id)).collect();
    let sources: BTreeSet<String> = others.iter().map(|it| format!("{} {}", it.kind, it.source)).collect();
    let described: BTreeSet<String> = others.iter().map(|it| it.machine()).collect();
    let named: Vec<&str> =
        described.iter().filter_map(|it| machines.get(it)).take(NAMED).map(|it| it.name.as_str()).collect();
    let more = if described.len() > named.len() { " and others" } else { "" };
    let sources = sources.into_iter().collect::<Vec<_>>().join(" and ");
    Ok((!described.is_empty()).then(|| {
        format!(
            "machine {}{more}: {sources} has jobs there on the same days, too; of an hour that both describe, one source counts",
            named.join(", "),
        )
    }))
}

/// Machines of which another CSV names other jobs in the same hours: of each hour one file counts.
async fn also_in_other_files(db: &mut PgConnection, import_id: i64) -> sqlx::Result<Option<String>> {
    let found = sqlx::query!(
        r#"select distinct n.name, other.import_id
           from usage_imports own
           join meter_days mine on mine.import_id = own.import_id
           join meter_days other on other.node_id = mine.node_id and other.day = mine.day
               and other.import_id <> mine.import_id and other.device = mine.device and other.job_no > 0
           join usage_imports i on i.import_id = other.import_id and i.status = 'active' and i.format = own.format
           join usage_nodes n on n.node_id = mine.node_id
           where own.import_id = $1 and own.format = $2 and mine.job_no > 0
             and not exists (
                 select
                 from meter_days same
                 where same.import_id = own.import_id and same.day = other.day and same.node_id = other.node_id
                   and same.job_no = other.job_no
             )
             and exists (
                 select from unnest(mine.present, other.present) as of_hour (mine, other)
                 where of_hour.mine > 0 and of_hour.other > 0
             )
           order by 1, 2"#,
        import_id,
        Format::PlainCsv.as_str(),
    )
    .fetch_all(db)
    .await?;
    let machines: BTreeSet<&str> = found.iter().map(|it| it.name.as_str()).collect();
    let imports: BTreeSet<i64> = found.iter().map(|it| it.import_id).collect();
    let named: Vec<&str> = machines.iter().take(NAMED).copied().collect();
    let more = if machines.len() > named.len() { " and others" } else { "" };
    let of = imports.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Ok((!machines.is_empty()).then(|| {
        format!(
            "machine {}{more}: usage import {of} names other jobs there in the same hours; of each hour the file counts that says most. \
             Where both ran, put them into one file and undo the other import",
            named.join(", "),
        )
    }))
}

impl Node {
    /// Both say who held it. What a meter sees of a machine of a scheduler says how busy its jobs were.
    fn competes_with(&self, other: &Self) -> bool {
        let is_meter = |node: &Self| ["prometheus", "nvidia-smi"].contains(&node.kind.as_str());
        !(self.is_of_scheduler() && is_meter(other) || other.is_of_scheduler() && is_meter(self))
    }
}
