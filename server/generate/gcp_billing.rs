//! Google Cloud's detailed usage cost export, as it leaves BigQuery: nested records in JSON and Parquet, paths and JSON cells
//! in CSV (Cloud Billing documentation, "Structure of Detailed data export").
//!
//! A machine is three rows an hour: GPUs, cores and memory, or cores, memory and disk. What a resource costs is all three;
//! GPU-hours are in the first alone. Credits are in lists on the rows they lower, so that a row's cost is `cost` and its credits.
//!
//! Commitments for resources: usage at its price with a credit of the same amount, and a fee. Commitments to spend have two
//! models, of which the month decides (Google's page on the CUD data model). Until January 2026 they are written like those
//! for resources; since then usage has its discounted cost and names its `consumption_model`, and the fee has a credit for
//! what of it was used.
//!
//! Invoices follow the calendar of California: the month's first hours in UTC are on the invoice before it, and its last ones
//! lie in the month behind it. A third of the rows arrive after their day.

use std::io;

use chrono::{Datelike, TimeDelta};

use super::Totals;
use super::amount::{Amount, write_hex, write_number};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::random::Random;
use super::table::{Cells, Column, EmptyInJson, Member, Object, Shape, Table, Ticks, write_json_text};
use super::world::Machine;
use crate::period::BillingMonth;

/// Paths, those of a record side by side.
const COLUMNS: &str = "billing_account_id,invoice.month,cost_type,service.id,service.description,sku.id,sku.description,usage_start_time,usage_end_time,project.id,project.number,project.name,project.labels,project.ancestry_numbers,labels,system_labels,location.location,location.country,location.region,location.zone,resource.name,resource.global_name,subscription.instance_id,consumption_model.id,consumption_model.description,export_time,cost,cost_at_list,cost_at_effective_price_default,cost_at_list_consumption_model,currency,currency_conversion_rate,usage.amount,usage.unit,usage.amount_in_pricing_units,usage.pricing_unit,credits,adjustment_info.id,adjustment_info.description,adjustment_info.mode,adjustment_info.type,transaction_type,seller_name";

const LABELS: Shape = Shape::List(&[("key", Member::Text), ("value", Member::Text)]);
const CREDITS: Shape = Shape::List(&[
    ("name", Member::Text),
    ("amount", Member::Number),
    ("full_name", Member::Text),
    ("id", Member::Text),
    ("type", Member::Text),
]);

/// Hours before the month that refunds may be of, and behind it, in which late rows arrive.
const BEFORE: usize = 31 * 24;
const BEHIND: usize = 5 * 24;
/// The first month whose commitments to spend are in the new model.
const NEW_MODEL: (i32, u32) = (2026, 2);
/// Thousandths of a machine's cost: its cores' and its memory's beside GPUs.
const CORES: u64 = 160;
const MEMORY: u64 = 90;
/// The same of its memory and disk without GPUs.
const PLAIN_MEMORY: u64 = 260;
const DISK: u64 = 40;
/// Thousandths that machines without GPUs cost less because they run all month.
const SUSTAINED: u64 = 100;

pub(crate) struct GcpBilling<'a> {
    output: Output<'a>,
    is_new_model: bool,
    /// `202609`.
    invoice_month: String,
    /// `2026-09-01 00:00:00 UTC` and so on, from [`BEFORE`] the month's first hour in California on.
    times: Vec<String>,
    late: Random,
}

/// One of the rows of an event.
struct Row<'r> {
    cost_type: &'static str,
    service: &'static str,
    sku: String,
    /// Of the sku.
    number: u64,
    cost: Amount,
    /// `None` where no price is behind it.
    list: Option<Amount>,
    /// Unit, quantity in it, pricing unit, quantity in that.
    usage: Option<(&'static str, Amount, &'static str, Amount)>,
    credits: Vec<Credit<'r>>,
    /// Whether GPU-hours are counted of it.
    has_hours: bool,
}

struct Credit<'c> {
    name: &'c str,
    amount: Amount,
    kind: &'static str,
}

/// What a machine is billed by.
enum Part {
    Gpu,
    Cores,
    Memory,
    Disk,
}

impl<'a> GcpBilling<'a> {
    pub(crate) fn new(mut output: Output<'a>, month: BillingMonth) -> io::Result<Self> {
        output.begin(Table {
            columns: COLUMNS.split(',').map(column).collect(),
            has_mark: false,
            empty_in_json: EmptyInJson::Omitted,
        })?;
        output.make_accounts(|at| format!("ml-project-{at:02}"));
        let first = month.first_day();
        // Summer time, without the days on which it changes.
        let behind_utc = if (4..=10).contains(&first.month()) { 7 } else { 8 };
        let begin = first.and_time(chrono::NaiveTime::MIN) + TimeDelta::hours(behind_utc)
            - TimeDelta::hours(BEFORE as i64);
        let hours = BEFORE + output.stamps.len() + BEHIND;
        let times = (0..hours as i64)
            .map(|hour| (begin + TimeDelta::hours(hour)).format("%Y-%m-%d %H:%M:%S UTC").to_string())
            .collect();
        let late = Random::new(output.seed ^ 0x6c61_7465);
        Ok(Self {
            output,
            is_new_model: (first.year(), first.month()) >= NEW_MODEL,
            invoice_month: first.format("%Y%m").to_string(),
            times,
            late,
        })
    }

    /// A machine's rows for an hour: each with its share of the cost.
    fn machine(&mut self, line: &Line, machine: &'static Machine) -> io::Result<()> {
        let has_gpus = !machine.accelerators.is_empty();
        let parts = if has_gpus {
            [(Part::Cores, CORES), (Part::Memory, MEMORY), (Part::Gpu, 0)]
        } else {
            [(Part::Memory, PLAIN_MEMORY), (Part::Disk, DISK), (Part::Cores, 0)]
        };
        let mut left = *line;
        let final_part = parts.len() - 1;
        for (at, (part, share)) in parts.into_iter().enumerate() {
            let take = |whole: Amount, rest: &mut Amount| {
                let amount = if at == final_part { *rest } else { whole.per_mille(share) };
                *rest = rest.minus(amount);
                amount
            };
            let list = take(line.list, &mut left.list);
            let billed = take(line.billed, &mut left.billed);
            let effective = take(line.effective, &mut left.effective);
            let row = self.part(line, machine, &part, [list, billed, effective]);
            self.row(line, &row)?;
        }
        Ok(())
    }

    fn part(
        &self,
        line: &Line,
        machine: &'static Machine,
        part: &Part,
        [list, billed, effective]: [Amount; 3],
    ) -> Row<'static> {
        let place = line.region.name;
        let family = machine.name.split('-').next().unwrap_or_default().to_ascii_uppercase();
        let spot = if line.kind == Kind::Spot { "Spot Preemptible " } else { "" };
        let (sku, units) = match part {
            Part::Gpu => {
                let gpus: u64 = machine.accelerators.parse().unwrap_or(1);
                (format!("{spot}Nvidia {} GPU running in {place}", gpu_name(machine)), gpus)
            }
            Part::Cores => {
                (format!("{spot}{family} Instance Core running in {place}"), u64::from(machine.vcpu))
            }
            Part::Memory => {
                (format!("{spot}{family} Instance Ram running in {place}"), u64::from(machine.memory_gib))
            }
            Part::Disk => (format!("Balanced PD Capacity in {place}"), 100),
        };
        let hours = line.quantity.times(units);
        let usage = match part {
            Part::Gpu | Part::Cores => ("seconds", hours.times(3600), "hour", hours),
            Part::Memory => ("byte-seconds", hours.times(3600 << 30), "gibibyte hour", hours),
            Part::Disk => ("byte-seconds", hours.times(3600 << 30), "gibibyte month", hours.over(MONTH)),
        };
        let covered = |name, kind| vec![Credit { name, amount: list.negative(), kind }];
        let (cost, credits) = match line.kind {
            Kind::Reserved { .. } => {
                (list, covered("Committed Usage Discount: 1 Year", "COMMITTED_USAGE_DISCOUNT"))
            }
            Kind::Planned if self.is_new_model => (effective, Vec::new()),
            Kind::Planned => {
                let name = "Committed Usage Discount - dollar based: 3 Years";
                (list, covered(name, "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"))
            }
            Kind::OnDemand if machine.accelerators.is_empty() => {
                let amount = list.per_mille(SUSTAINED).negative();
                let name = "Sustained Usage Discount";
                (billed, vec![Credit { name, amount, kind: "SUSTAINED_USAGE_DISCOUNT" }])
            }
            _ => (billed, Vec::new()),
        };
        Row {
            cost_type: "regular",
            service: "Compute Engine",
            number: hash(&sku),
            sku,
            cost,
            list: Some(if line.kind == Kind::Spot { billed } else { list }),
            usage: Some(usage),
            credits,
            has_hours: matches!(part, Part::Gpu),
        }
    }

    /// A row of an event that is not a machine's.
    fn other(&self, line: &Line) -> Row<'static> {
        let place = line.region.name;
        let zero = Amount::ZERO;
        let plain = |service, sku: String, cost| Row {
            cost_type: "regular",
            service,
            number: hash(&sku),
            sku,
            cost,
            list: Some(cost),
            usage: None,
            credits: Vec::new(),
            has_hours: false,
        };
        let credit = |name, kind| Row {
            list: None,
            credits: vec![Credit { name, amount: line.billed, kind }],
            ..plain("Compute Engine", "Network Internet Data Transfer Out".to_owned(), zero)
        };
        match line.kind {
            Kind::PlanFee { commitment, used } => {
                let name = "Fee utilization offset";
                let offset = Credit { name, amount: used.negative(), kind: "FEE_UTILIZATION_OFFSET" };
                let sku = "Commitment - dollar based v1: Compute Flexible for 3 Years".to_owned();
                Row {
                    list: None,
                    // What is called an hour is a dollar.
                    usage: Some(("seconds", commitment.times(3600), "hour", commitment)),
                    credits: if self.is_new_model { vec![offset] } else { Vec::new() },
                    ..plain("Compute Engine", sku, commitment)
                }
            }
            Kind::ReservationFee { .. } => {
                let of = line.machine.map_or("", gpu_name);
                let sku = format!("Commitment v1: Nvidia {of} GPU running in {place} for 1 Year");
                let usage = ("seconds", line.quantity.times(3600), "hour", line.quantity);
                Row { list: None, usage: Some(usage), ..plain("Compute Engine", sku, line.billed) }
            }
            // Google takes nothing at once: a month's fee for the cores of the machines.
            Kind::ReservationUpfront { .. } => {
                let sku = format!("Commitment v1: Cpu in {place} for 1 Year");
                let month = line.billed.over(Amount::whole(12)).to_cents();
                Row { list: None, ..plain("Compute Engine", sku, month) }
            }
            Kind::Credit => credit("Migration program", "PROMOTION"),
            Kind::Discount => credit("Spending based discount", "DISCOUNT"),
            Kind::Support => plain("Support", "Premium Support".to_owned(), line.billed),
            Kind::Refund => Row {
                cost_type: "adjustment",
                list: None,
                ..plain("Compute Engine", "Correction of a disruption".to_owned(), line.billed)
            },
            Kind::Tax => {
                Row { cost_type: "tax", list: None, ..plain("Invoice", "Tax".to_owned(), line.billed) }
            }
            _ => {
                let usage = (line.goods.unit, line.quantity, line.goods.unit, line.quantity);
                let sku = format!("{} in {place}", line.goods.usage_type);
                Row { usage: Some(usage), ..plain(line.goods.service, sku, line.billed) }
            }
        }
    }

    fn row(&mut self, line: &Line, row: &Row<'_>) -> io::Result<()> {
        let is_of_project = line.kind.is_usage();
        let machine = line.machine.filter(|_| line.kind.runs());
        let exported = self.exported(line, row.cost_type);
        let Self { output, is_new_model, invoice_month, times, .. } = self;
        let Output { cells, accounts, .. } = output;
        let project = if is_of_project { accounts[line.account].as_str() } else { "" };
        cells.text(&output.billing_account);
        cells.text(invoice_month);
        cells.text(row.cost_type);
        cells.with(|out| write_id(out, hash(row.service)));
        cells.text(row.service);
        cells.with(|out| write_id(out, row.number));
        cells.text(&row.sku);
        // A refund is of the month before the one whose invoice it lowers.
        let back = if line.kind == Kind::Refund { BEFORE } else { 0 };
        for hour in [line.from, line.to] {
            cells.text(&times[BEFORE + hour - back]);
        }
        cells.text(project);
        cells.with(|out| {
            if is_of_project {
                write_number(out, 100_000_000_000 + hash(project) % 900_000_000_000);
            }
        });
        cells.text(project);
        if is_of_project {
            cells.with(|out| pairs(out, &[("organization", "demonstration")]));
            cells.text("/602001/711002/");
        } else {
            cells.empty(2);
        }
        cells.with(|out| labels(out, line));
        cells.with(|out| {
            if let Some(machine) = machine {
                pairs(
                    out,
                    &[
                        ("compute.googleapis.com/cores", &machine.vcpu.to_string()),
                        ("compute.googleapis.com/machine_spec", machine.name),
                        ("compute.googleapis.com/memory", &(machine.memory_gib * 1024).to_string()),
                    ],
                );
            }
        });
        location(cells, line, is_of_project);
        resource(cells, line, project);
        cells.text(match line.kind {
            Kind::Planned | Kind::PlanFee { .. } if *is_new_model => "sub-6a0c3f52-91d4",
            _ => "",
        });
        match line.kind {
            _ if !*is_new_model || !is_of_project => cells.empty(2),
            Kind::Planned => {
                cells.text("D97B-0795-975B");
                cells.text("Compute Flexible CUDs 3 Years");
            }
            _ => {
                cells.text("7754-699E-0EBF");
                cells.text("Default");
            }
        }
        cells.text(&exported);
        cells.amount(row.cost);
        match row.list {
            Some(list) => {
                cells.amount(list);
                cells.amount(list);
                cells.amount(if *is_new_model { row.cost } else { list });
            }
            None => cells.empty(3),
        }
        cells.text(&output.currency);
        cells.text("1");
        match row.usage {
            Some((unit, amount, pricing_unit, priced)) => {
                cells.amount(amount);
                cells.text(unit);
                cells.amount(priced);
                cells.text(pricing_unit);
            }
            None => cells.empty(4),
        }
        cells.with(|out| credits(out, &row.credits));
        if row.cost_type == "adjustment" {
            for text in ["adj-0001", "Refund for a disruption", "PARTIAL_CORRECTION", "GENERAL_ADJUSTMENT"] {
                cells.text(text);
            }
        } else {
            cells.empty(4);
        }
        cells.text("GOOGLE");
        cells.text("Google");
        let mut net = row.cost;
        for credit in &row.credits {
            net.add(credit.amount);
        }
        output.tally(line, row.has_hours, net, net, row.list.unwrap_or(Amount::ZERO));
        output.end_row()
    }

    /// When the row was exported: soon behind its hour, a third of them days later, what comes with the invoice behind the month.
    fn exported(&mut self, line: &Line, cost_type: &str) -> String {
        let is_late = self.late.chance(330);
        let behind = if is_late { self.late.between(26, 60) } else { self.late.between(1, 5) };
        let hour = if cost_type == "regular" && line.kind.is_usage() {
            line.to + behind as usize
        } else {
            self.output.stamps.len() + behind as usize
        };
        let seconds = self.late.below(3600);
        let hour = self.times[BEFORE + hour].get(..13).unwrap_or_default();
        format!("{hour}:{:02}:{:02} UTC", seconds / 60, seconds % 60)
    }
}

/// Hours of a month in which a gibibyte is priced.
const MONTH: Amount = Amount::new(730, 0);

impl Writer for GcpBilling<'_> {
    fn rows(&self, kind: Kind) -> u64 {
        match kind {
            _ if kind.runs() => 3,
            // What rounding left over stands beside the fee for support.
            Kind::Support => 2,
            _ => 1,
        }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        if let Some(machine) = line.machine.filter(|_| line.kind.runs()) {
            return self.machine(line, machine);
        }
        let row = self.other(line);
        self.row(line, &row)?;
        if line.kind == Kind::Support {
            let rest = Row {
                cost_type: "rounding_error",
                service: "Invoice",
                sku: "Rounding error".to_owned(),
                cost: Amount::new(-37, 4),
                list: None,
                ..self.other(line)
            };
            self.row(line, &rest)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<Totals> {
        self.output.finish()
    }
}

fn column(path: &'static str) -> Column {
    let (group, name) = path.split_once('.').unwrap_or(("", path));
    let shape = match path {
        "project.labels" | "labels" | "system_labels" => LABELS,
        "credits" => CREDITS,
        "usage_start_time" | "usage_end_time" | "export_time" => Shape::Time(Ticks::Microseconds),
        "usage.amount" | "usage.amount_in_pricing_units" | "currency_conversion_rate" => Shape::Number,
        _ if path.starts_with("cost") && path != "cost_type" => Shape::Number,
        _ => Shape::Text,
    };
    Column { group, ..Column::new(name, shape) }
}

/// What Google's SKUs call the machine's GPU.
fn gpu_name(machine: &'static Machine) -> &'static str {
    match machine.name.get(..2) {
        Some("a3") => "H100 80GB",
        Some("a2") => "Tesla A100",
        _ => "L4",
    }
}

/// A number that is the same for the same text.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

/// `6F81-5844-456A`.
fn write_id(out: &mut Vec<u8>, number: u64) {
    let digits = format!("{:012X}", number & 0xffff_ffff_ffff);
    for at in [0, 4, 8] {
        if at > 0 {
            out.push(b'-');
        }
        out.extend_from_slice(digits.as_bytes().get(at..at + 4).unwrap_or_default());
    }
}

/// A list of keys and values.
fn pairs(out: &mut Vec<u8>, pairs: &[(&str, &str)]) {
    let mut list = List::begin(out);
    for (key, value) in pairs {
        list.pair(key, value);
    }
    list.end();
}

/// A resource's labels, in the letters that Google allows; Kubernetes adds its own.
fn labels(out: &mut Vec<u8>, line: &Line) {
    let Some(owner) = line.owner.filter(|_| line.kind.is_usage()) else { return };
    let mut list = List::begin(out);
    owner.each_tag(|key, value| list.pair(&label(key), &label(value)));
    if owner.workload == "serving" && line.kind.runs() {
        list.pair("goog-k8s-cluster-name", "serving-1");
        list.pair("k8s-namespace", &label(owner.project));
    }
    list.end();
}

/// Small letters, digits, `-` and `_`.
fn label(text: &str) -> String {
    let letter = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9' | '_') => letter,
        _ => '-',
    };
    text.trim().chars().map(letter).collect()
}

/// Empty where there are none, as BigQuery writes lists: a file whose first rows have no such column would be refused.
fn credits(out: &mut Vec<u8>, credits: &[Credit<'_>]) {
    let mut list = List::begin(out);
    for credit in credits {
        list.element(|element| {
            element.text("name", credit.name);
            element.with("amount", |out| credit.amount.write(out));
            element.text("full_name", credit.name);
            element.text("id", credit.name);
            element.text("type", credit.kind);
        });
    }
    list.end();
}

/// `location.location` to `location.zone`.
fn location(cells: &mut Cells, line: &Line, is_somewhere: bool) {
    if !is_somewhere {
        return cells.empty(4);
    }
    cells.text(line.region.id);
    cells.text(if line.region.id.starts_with("us-") { "US" } else { "NL" });
    cells.text(line.region.id);
    cells.with(|out| {
        if line.kind.runs() {
            zone(out, line);
        }
    });
}

fn zone(out: &mut Vec<u8>, line: &Line) {
    out.extend_from_slice(line.region.id.as_bytes());
    out.extend_from_slice(&[b'-', b'a' + line.zone]);
}

/// `resource.name` and `resource.global_name`.
fn resource(cells: &mut Cells, line: &Line, project: &str) {
    let prefix = line.machine.map_or(line.goods.resource, |_| "gce-");
    if !line.kind.is_usage() || line.resource == 0 || prefix.is_empty() {
        return cells.empty(2);
    }
    let kind = if line.kind.runs() { "instances" } else { "disks" };
    cells.with(|out| {
        out.extend_from_slice(format!("projects/{project}/{kind}/{prefix}").as_bytes());
        write_hex(out, line.resource);
    });
    cells.with(|out| {
        out.extend_from_slice(format!("//compute.googleapis.com/projects/{project}/zones/").as_bytes());
        zone(out, line);
        out.extend_from_slice(format!("/{kind}/").as_bytes());
        write_number(out, line.resource);
    });
}

/// A list of objects in JSON, as it is written.
struct List<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> List<'a> {
    fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, is_first: true }
    }

    fn element(&mut self, write: impl FnOnce(&mut Object<'_>)) {
        if !self.is_first {
            self.out.extend_from_slice(b", ");
        }
        self.is_first = false;
        let mut object = Object::begin(self.out);
        write(&mut object);
        object.end();
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.element(|element| {
            element.with("key", |out| write_json_text(out, key));
            element.with("value", |out| write_json_text(out, value));
        });
    }

    fn end(self) {
        self.out.push(b']');
    }
}
