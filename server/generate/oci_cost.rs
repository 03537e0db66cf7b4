//! Oracle's legacy cost report (Oracle Cloud Infrastructure documentation, "Cost and Usage Reports"): a row an hour of what was
//! metered, with GPUs by the GPU-hour. The report of a month is many files, which add up.
//!
//! Reservations and savings plans have no rows of their own: what they cover has its contract's price. A correction is a row
//! that names another and takes a tenth of it back. Amounts below 1 are written with a power of ten, and what was free has no
//! amount.

use std::io;

use super::Totals;
use super::amount::{Amount, write_hex};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::random::Random;
use super::table::{Column, Shape, Table};

const COLUMNS: &str = "lineItem/referenceNo,lineItem/tenantId,lineItem/intervalUsageStart,lineItem/intervalUsageEnd,product/service,product/compartmentId,product/compartmentName,product/region,product/availabilityDomain,product/resourceId,usage/billedQuantity,usage/billedQuantityOverage,cost/subscriptionId,cost/productSku,product/Description,cost/unitPrice,cost/unitPriceOverage,cost/myCost,cost/myCostOverage,cost/currencyCode,cost/billingUnitReadable,cost/skuUnitDescription,cost/overageFlag,lineItem/isCorrection,lineItem/backreferenceNo,tags/Oracle-Tags.CreatedBy,tags/orcl-cloud.free-tier-retained,tags/ml.Team,tags/ml.cost-center,tags/ml.environment,tags/ml.experiment,tags/ml.project,tags/ml.team,tags/ml.workload";

/// The tags at the end of [`COLUMNS`].
const TAGS: [&str; 7] = ["Team", "cost-center", "environment", "experiment", "project", "team", "workload"];
/// Of so many rows of usage one is kept for a correction: no fewer than there are corrections, which are a quarter of all rows at
/// most.
const APART: u64 = 3;
/// The most that are kept; a month has seven corrections.
const KEPT: usize = 8;
/// Gigabytes in an hour that cost nothing.
const FREE: Amount = Amount::new(10, 0);
/// Thousandths that a correction takes back.
const CORRECTED: u64 = 100;

pub(crate) struct OciCost<'a> {
    output: Output<'a>,
    references: Random,
    usage_rows: u64,
    /// Rows that corrections may name, with their references.
    kept: Vec<(String, Line)>,
}

/// What a row is billed by.
struct Product {
    service: &'static str,
    sku: &'static str,
    description: String,
    quantity: Amount,
    unit: &'static str,
    unit_of_sku: String,
}

impl<'a> OciCost<'a> {
    pub(crate) fn new(mut output: Output<'a>) -> io::Result<Self> {
        let columns = COLUMNS.split(',').map(|name| Column::new(name, shape(name))).collect();
        output.begin(Table { columns, ..Table::default() })?;
        output.accounts =
            (1..=output.accounts.len()).map(|at| format!("ocid1.compartment.oc1..aaaaaaaa{at:02}")).collect();
        let references = Random::new(output.seed ^ 0x6f63_6931);
        Ok(Self { output, references, usage_rows: 0, kept: Vec::new() })
    }

    /// `corrected` is the reference of the row that this one corrects.
    fn row(&mut self, line: &Line, cost: Amount, corrected: &str) -> io::Result<()> {
        let reference = self.reference();
        let Product { service, sku, description, quantity, unit, unit_of_sku } = product(line);
        let Output { cells, accounts, account_names, billing_account, currency, stamps, .. } =
            &mut self.output;
        cells.text(&reference);
        cells.text(billing_account);
        // Without seconds, and with them.
        cells.with(|out| {
            out.extend_from_slice(&stamps[line.from][..16]);
            out.push(b'Z');
        });
        cells.with(|out| out.extend_from_slice(&stamps[line.to]));
        cells.text(service);
        cells.text(&accounts[line.account]);
        cells.text(&account_names[line.account]);
        cells.text(line.region.id);
        cells.with(|out| {
            if line.machine.is_some() {
                let domain = format!("ghUo:{}-AD-{}", line.region.id.to_ascii_uppercase(), line.zone + 1);
                out.extend_from_slice(domain.as_bytes());
            }
        });
        cells.with(|out| resource(out, line));
        cells.amount(quantity);
        cells.empty(1);
        cells.text("23465677");
        cells.text(sku);
        cells.text(&description);
        if cost == Amount::ZERO {
            cells.empty(4);
        } else {
            cells.with(|out| cost.over(quantity).write_scientific(out));
            cells.empty(1);
            cells.with(|out| cost.write_scientific(out));
            cells.empty(1);
        }
        cells.text(currency);
        cells.text(unit);
        cells.text(&unit_of_sku);
        cells.text("false");
        cells.text(if corrected.is_empty() { "false" } else { "true" });
        cells.text(corrected);
        cells.with(|out| {
            if line.resource != 0 && line.resource.is_multiple_of(4) {
                out.extend_from_slice(b"default/");
                out.extend_from_slice(line.owner.map_or("nobody", |owner| owner.workload).as_bytes());
                out.extend_from_slice(b"@example.org");
            }
        });
        cells.text(if cost == Amount::ZERO { "true" } else { "" });
        let mut values: [String; TAGS.len()] = Default::default();
        if let Some(owner) = line.owner {
            owner.each_tag(|key, value| {
                if let Some(at) = TAGS.iter().position(|tag| *tag == key) {
                    value.clone_into(&mut values[at]);
                }
            });
        }
        for value in &values {
            cells.text(value);
        }
        self.output.tally(line, true, cost, cost, Amount::ZERO);
        if corrected.is_empty() {
            self.usage_rows += 1;
            if self.kept.len() < KEPT && self.usage_rows % APART == 1 {
                self.kept.push((reference, *line));
            }
        }
        self.output.end_row()
    }

    fn correction(&mut self) -> io::Result<()> {
        let Some((corrected, line)) = self.kept.pop() else { return Ok(()) };
        let part = |of: Amount| of.per_mille(CORRECTED).negative();
        let back = Line { quantity: part(line.quantity), ..line };
        self.row(&back, part(cost(&line)), &corrected)
    }

    fn reference(&mut self) -> String {
        let mut letters = String::from("V2.");
        for _ in 0..2 {
            let mut bits = self.references.next();
            for _ in 0..12 {
                letters.push(char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(bits & 31) as usize]));
                bits >>= 5;
            }
        }
        letters + "=="
    }
}

impl Writer for OciCost<'_> {
    fn rows(&self, kind: Kind) -> u64 {
        u64::from(kind.is_usage() || matches!(kind, Kind::Credit | Kind::Refund))
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        match line.kind {
            kind if kind.is_usage() => self.row(line, cost(line), ""),
            Kind::Credit | Kind::Refund => self.correction(),
            _ => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> io::Result<Totals> {
        self.output.finish()
    }
}

/// Numbers are numbers in whatever holds them; times stay as they are written.
fn shape(name: &str) -> Shape {
    match name {
        "usage/billedQuantity" | "cost/unitPrice" | "cost/myCost" => Shape::Number,
        _ => Shape::Text,
    }
}

/// Commitments are in the price; a little transfer is free.
fn cost(line: &Line) -> Amount {
    let is_transfer = line.machine.is_none() && line.goods.resource.is_empty();
    if is_transfer && line.quantity < FREE { Amount::ZERO } else { line.effective }
}

fn product(line: &Line) -> Product {
    let Some(machine) = line.machine else {
        return Product {
            service: "BLOCK_STORAGE",
            sku: "B91961",
            description: line.goods.usage_type.to_owned(),
            quantity: line.quantity,
            unit: "ONE HOURS GB_MONTHS",
            unit_of_sku: line.goods.unit.to_owned(),
        };
    };
    if machine.accelerators.is_empty() {
        return Product {
            service: "COMPUTE",
            sku: "B97384",
            description: "Compute - Standard - E5 - OCPU".to_owned(),
            // Two threads are a processor.
            quantity: line.quantity.times(u64::from(machine.vcpu / 2)),
            unit: "ONE HOURS OCPUS",
            unit_of_sku: "OCPU Per Hour".to_owned(),
        };
    }
    let (sku, gpu) = match machine.name {
        name if name.contains("H100") => ("B98415", "H100"),
        name if name.contains("A10.") => ("B95909", "A10"),
        _ => ("B92740", "A100"),
    };
    Product {
        service: "COMPUTE",
        sku,
        description: format!("Compute - GPU - {gpu}"),
        quantity: line.quantity.times(machine.accelerators.parse().unwrap_or(1)),
        unit: "ONE HOURS GPUS",
        unit_of_sku: "GPU Per Hour".to_owned(),
    }
}

fn resource(out: &mut Vec<u8>, line: &Line) {
    let kind = if line.machine.is_some() { "instance" } else { "volume" };
    if line.resource == 0 || line.machine.is_none() && line.goods.resource.is_empty() {
        return;
    }
    out.extend_from_slice(format!("ocid1.{kind}.oc1.{}.", line.region.id).as_bytes());
    write_hex(out, line.resource);
}
