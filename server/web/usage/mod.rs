//! `/usage`: files of schedulers and meters that were imported, and which machine each of their nodes is.

pub mod import;
pub mod prometheus;

use std::collections::BTreeMap;

use askama::Template;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::csv;
use super::error::{Error, Result};
use super::extract::{Db, Form, Reading, Writing};
use super::format::Format;
use super::layout::Layout;
use super::question::Asked;
use super::{Access, default_month, filters, paths, respond};
use crate::accounts::Person;
use crate::ledger;
use crate::money::Money;
use crate::period::Period;
use crate::report::{Answers, JobsAsked};
use crate::telemetry::divide::{self, Problem};
use crate::telemetry::prometheus::{Server, servers};
use crate::telemetry::read::{self, HeldOfNode, ImportLine, Node, Source};
use crate::telemetry::{self, ClockSet, Format as UsageFormat, Matched, match_node};

/// Imports on the page, and in a file.
const MOST: i64 = 200;
const LARGEST_FILE: i64 = 100_000;

#[derive(Serialize)]
struct Usage {
    sources: Vec<Source>,
    nodes: Vec<Node>,
    imports: Vec<ImportLine>,
    /// Servers that are asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prometheus: Vec<Server>,
    /// Bills whose machines are not divided by what is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_divided: Vec<Problem>,
}

#[derive(Template)]
#[template(path = "usage/index.html")]
struct Page {
    layout: Layout,
    it: Usage,
    /// What changed is not in the division by use yet.
    is_dividing: bool,
    now: DateTime<Utc>,
    /// Machines that no node is, for a node whose name is none.
    machines: Vec<String>,
    /// What was held lately of nodes that are no machine.
    held: BTreeMap<i64, HeldOfNode>,
    /// Of the latest month, what GPUs cost of which nobody says who held them.
    at_stake: Option<(Period, Money)>,
}

pub async fn index(_: paths::Usage, format: Format, reading: Reading) -> Result {
    let Reading { layout, now, person, app, mut db, .. } = reading;
    let sequence = ledger::sequence(&mut db).await?;
    let most = if format == Format::Html { MOST } else { LARGEST_FILE };
    let it = Usage {
        sources: read::sources(&mut db).await?,
        nodes: read::nodes(&mut db, sequence).await?,
        imports: read::imports(&mut db, None, most).await?,
        prometheus: servers(&mut db).await?,
        not_divided: divide::problems(&mut db).await?,
    };
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => csv::answer("usage-imports", &it.imports),
        Format::Html => {
            let is_dividing = divide::is_pending(&mut db, now).await?;
            let held = read::held_without_machine(&mut db, &it.nodes, now.date_naive()).await?;
            // Where every node is a machine, nobody needs to choose one.
            let (mut machines, mut at_stake) = (Vec::new(), None);
            if !held.is_empty() {
                machines = free_machines(&mut db, &it.nodes).await?;
                at_stake = Box::pin(find_at_stake(&mut db, &app.answers, &person)).await?;
            }
            respond::html(Page { layout, it, is_dividing, now, machines, held, at_stake })
        }
    }
}

/// What GPUs cost in the latest month of which nobody says who held them.
async fn find_at_stake(db: &mut Db, answers: &Answers, person: &Person) -> Result<Option<(Period, Money)>> {
    let viewer = person.viewer();
    let latest = default_month::latest(&mut *db, answers, Asked::default(), &viewer).await?;
    let Some((month, asked)) = latest else { return Ok(None) };
    let none = JobsAsked { most: Some(0), ..JobsAsked::default() };
    let question = asked.question(month.into(), viewer);
    let it = Box::pin(answers.some_gpu_jobs(&mut *db, &question, none)).await?;
    let amount = it.cost.without_usage;
    Ok(it
        .data_status
        .currency
        .filter(|_| !amount.is_zero())
        .map(|currency| (it.period, Money { amount, currency })))
}

async fn free_machines(db: &mut Db, nodes: &[Node]) -> Result<Vec<String>> {
    let taken: Vec<String> = nodes.iter().filter_map(|it| it.resource.clone()).collect();
    Ok(read::machines_but(&mut *db, &taken, MOST).await?)
}

#[derive(Deserialize)]
pub struct MatchForm {
    machine: String,
}

/// Says which machine a node is.
pub async fn match_to(path: paths::UsageNode, writing: Writing, Form(form): Form<MatchForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let machine = form.machine.trim();
    let said = match match_node(&mut db, path.node, machine, by.at(now)).await? {
        Matched::NoSuchNode => return Err(Error::NotFound),
        Matched::AsBefore => "Nothing changed.".to_owned(),
        Matched::Done { .. } if machine.is_empty() => "The node is matched by its name again.".to_owned(),
        Matched::Done { beside, .. } if !beside.is_empty() => format!(
            "The node is machine {machine}. So is {}: what they held adds up. If they are two machines, match one of them again.",
            beside.join(", ")
        ),
        Matched::Done { elsewhere, .. } if !elsewhere.is_empty() => format!(
            "The node is machine {machine}. So is {}: of an hour that both describe, one counts.",
            elsewhere.join(", ")
        ),
        Matched::Done { .. } => format!("The node is machine {machine}."),
        Matched::NoSuchMachine => {
            format!(
                "Nothing changed: no charge for GPUs has the resource {machine}. Enter the ResourceId of a bill, or the name of a unit of a cluster."
            )
        }
    };
    Ok(respond::flash(paths::Usage, &said))
}

#[derive(Deserialize)]
pub struct ClockForm {
    zone: String,
}

/// Says where the clocks of a source stand.
pub async fn set_clock(path: paths::UsageClock, writing: Writing, Form(form): Form<ClockForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let zone = form.zone.trim();
    let said = match zone.parse::<Tz>() {
        Err(_) => {
            format!("Nothing changed: “{zone}” is no time zone. Enter one such as Europe/Berlin or UTC.")
        }
        Ok(zone) => match telemetry::set_clock(&mut db, path.source, zone, by.at(now)).await? {
            ClockSet::NoSuchSource => return Err(Error::NotFound),
            ClockSet::AsBefore => "Nothing changed.".to_owned(),
            ClockSet::Done => format!(
                "Files that are imported from now on are read by the clock of {zone}. To correct earlier ones, undo them and import them again."
            ),
        },
    };
    Ok(respond::flash(paths::Usage, &said))
}

/// Has the machines of a bill divided that are not.
pub async fn divide_again(path: paths::UsageDivide, writing: Writing) -> Result {
    let Writing { now, by, mut db, app, .. } = writing;
    let said = if divide::divide_again(&mut db, path.scope, by.at(now)).await? {
        app.notifier.notify();
        "The machines of this bill are being divided by use."
    } else {
        "Nothing changed: the machines of this bill are divided by use."
    };
    Ok(respond::flash(paths::Usage, said))
}

/// What an import became, and the look of it.
pub fn state(line: &ImportLine) -> (&'static str, &'static str) {
    match line.status.as_str() {
        "active" => ("active", "good"),
        "undone" => ("undone", ""),
        _ => ("refused", "bad"),
    }
}

/// What people call a format.
pub fn format_label(name: &str) -> String {
    name.parse::<UsageFormat>().map_or_else(|_| name.to_owned(), |it| it.label().to_owned())
}

impl Page {
    /// Whether there are more imports than the page shows.
    fn is_cut(&self) -> bool {
        self.it.imports.len() as i64 >= MOST
    }

    /// Those of which most was held lately first.
    fn unmatched(&self) -> Vec<(&Node, HeldOfNode)> {
        let nodes = self.it.nodes.iter().filter(|it| it.resource.is_none());
        // One of which every import was undone is none.
        let held = nodes.filter_map(|node| Some((node, self.held.get(&node.node_id)?.clone())));
        let mut unmatched: Vec<_> = held.collect();
        unmatched.sort_by_key(|(_, held)| std::cmp::Reverse(held.accelerator_hours));
        unmatched
    }

    fn matched(&self) -> Vec<&Node> {
        self.it.nodes.iter().filter(|it| it.resource.is_some()).collect()
    }
}

csv::record! {
    |it: ImportLine|
    "import" => it.import_id,
    "file" => &it.file_name,
    "format" => &it.format,
    "status" => &it.status,
    "rows" => it.rows_read,
    "jobs" => it.jobs,
    "samples" => it.samples,
    "rejected" => it.rejected,
    "skipped" => it.skipped,
    "accelerator_hours" => it.accelerator_hours,
    "imported_at" => it.imported_at.to_rfc3339(),
    "imported_by" => &it.imported_by,
}
