//! Dividing the machines of a bill by what the ledger has of it, into a file that is imported beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;

use super::bill::{Divided, Part};
use super::due::Due;
use super::tags::{why, with_usage};
use crate::billing::{BilledDay, ComputedBill, ComputedCharge, ComputedFile};
use crate::ledger::{self, BillDays};
use crate::telemetry::by_machine::{MachineUsage, by_machine};
use crate::telemetry::descriptions::{self, JobDescription};
use crate::telemetry::read::{self, Node};

/// Machines that are divided at a time: what is known of their usage is in memory.
const MACHINES: usize = 50;
const WHY: &str = "Divided among those who used the machine";

/// Writes the parts of the machines of a bill into a file. Answers its rows; it is to be imported where there are some.
///
/// # Errors
/// Of the database, or of the disk.
pub async fn compute(db: &mut PgConnection, due: &Due, path: &Path) -> sqlx::Result<u64> {
    let bill = &due.bill;
    let sequence = ledger::sequence(&mut *db).await?;
    let coverage = read::coverage(&mut *db, sequence).await?;
    let mut nodes: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for node in &due.nodes {
        if let Some(resource) = &node.resource {
            nodes.entry(resource).or_default().push(node);
        }
    }
    let machines: Vec<String> = nodes.keys().map(|it| (*it).to_owned()).collect();
    let mut out = BufWriter::new(File::create(path)?);
    let mut file =
        Writing { file: ComputedFile::new(ComputedBill::Usage, bill.month, bill.is_final), rows: 0 };
    for machines in machines.chunks(MACHINES) {
        let rows = rows_of(&mut *db, due, machines).await?;
        let of_these = || machines.iter().filter_map(|it| nodes.get(it.as_str())).flatten().copied();
        let ids: Vec<i64> = of_these().map(|it| it.node_id).collect();
        let days = read::held(&mut *db, sequence, &bill.month.days(), &due.nodes, Some(&ids)).await?;
        let usage = by_machine(&days, of_these(), &coverage, bill.month.first_day(), false);
        let jobs: BTreeSet<i64> = days.iter().map(|it| it.job_no).collect();
        let jobs: Vec<i64> = jobs.into_iter().collect();
        let jobs = descriptions::of_jobs(&mut *db, sequence, &jobs).await?;
        for (machine, rows) in &rows {
            let (Some(usage), Some(nodes)) = (usage.get(machine), nodes.get(machine.as_str())) else {
                continue;
            };
            file.divide(due, rows, usage, (&nodes[0].name, &jobs));
        }
        out.write_all(&file.file.take())?;
    }
    out.into_inner().map_err(io::Error::from)?.sync_all()?;
    Ok(file.rows)
}

/// What machines are charged by key and day.
async fn rows_of(
    db: &mut PgConnection,
    due: &Due,
    machines: &[String],
) -> sqlx::Result<BTreeMap<String, Vec<BilledDay>>> {
    let bill = &due.bill;
    let asked = BillDays {
        month: bill.month,
        scopes: &bill.scopes,
        deliveries: &bill.active,
        machines: Some(machines),
    };
    let mut rows: BTreeMap<String, Vec<BilledDay>> = BTreeMap::new();
    let mut days = ledger::bill_days(db, asked);
    while let Some(day) = days.try_next().await? {
        rows.entry(day.resource_id.clone()).or_default().push(day);
    }
    Ok(rows)
}

struct Writing {
    file: ComputedFile,
    rows: u64,
}

impl Writing {
    fn divide(
        &mut self,
        due: &Due,
        rows: &[BilledDay],
        usage: &MachineUsage,
        (node, jobs): (&str, &BTreeMap<i64, JobDescription>),
    ) {
        let parts = Divided::new(due.bill.month, rows, usage).parts();
        for (row, parts) in rows.iter().zip(&parts) {
            // What they have is taken from the machine.
            let mut whole: Option<Part> = None;
            for part in parts {
                let job = part.job_no.and_then(|job| jobs.get(&job));
                let tags = with_usage(&row.tags, node, part.gpu_use, job);
                self.write(row, part, &tags, &why(part.gpu_use, job));
                match &mut whole {
                    Some(whole) => whole.add(part.clone()),
                    None => whole = Some(part.clone()),
                }
            }
            if let Some(whole) = whole {
                self.write(row, &whole.negative(), &row.tags, WHY);
            }
        }
    }

    fn write(&mut self, row: &BilledDay, part: &Part, tags: &str, why: &str) {
        self.file.write(&ComputedCharge {
            key: &row.key,
            category: row.key.category,
            resource_id: &row.resource_id,
            tags,
            period: part.period,
            costs: part.costs,
            quantity: Some(part.quantity).filter(|it| !it.is_zero()),
            hours: &part.hours,
            why,
        });
        self.rows += 1;
    }
}
