//! FOCUS 1.2 cost and usage, for any provider.
//!
//! A commitment's purchase is billed and has no effective cost; what it covers is the reverse; what of
//! it goes unused is a row of its own (CommitmentDiscountStatus Unused).

use std::io;

use super::Totals;
use super::amount::{Amount, write_hex, write_number};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::table::{Cells, Column, EmptyInJson, Object, Shape, Table, Ticks, write_json_text};
use super::world::Offer;

/// FOCUS 1.2's columns, in the order of the specification's own sample.
const COLUMNS: &str = "ProviderName,PublisherName,InvoiceIssuerName,InvoiceId,BillingAccountId,BillingAccountName,BillingAccountType,SubAccountId,SubAccountName,SubAccountType,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,BilledCost,EffectiveCost,ListCost,ContractedCost,ListUnitPrice,ContractedUnitPrice,PricingCategory,PricingQuantity,PricingUnit,PricingCurrency,PricingCurrencyContractedUnitPrice,PricingCurrencyEffectiveCost,PricingCurrencyListUnitPrice,BillingCurrency,ConsumedQuantity,ConsumedUnit,ServiceName,ServiceCategory,ServiceSubcategory,SkuId,SkuMeter,SkuPriceId,SkuPriceDetails,ResourceId,ResourceName,ResourceType,RegionId,RegionName,AvailabilityZone,CommitmentDiscountId,CommitmentDiscountName,CommitmentDiscountCategory,CommitmentDiscountType,CommitmentDiscountStatus,CommitmentDiscountQuantity,CommitmentDiscountUnit,CapacityReservationId,CapacityReservationStatus,Tags";

pub(crate) struct Focus<'a> {
    output: Output<'a>,
    offer: &'static Offer,
}

/// Which of an event's rows is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Main,
    Unused,
}

/// A commitment as a row refers to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commitment {
    None,
    Plan,
    Reservation,
}

impl<'a> Focus<'a> {
    pub(crate) fn new(mut output: Output<'a>, offer: &'static Offer) -> io::Result<Self> {
        output.begin(Table {
            columns: COLUMNS.split(',').map(|name| Column::new(name, shape(name))).collect(),
            has_mark: false,
            empty_in_json: EmptyInJson::Null,
        })?;
        Ok(Self { output, offer })
    }

    fn row(&mut self, line: &Line, row: Row) -> io::Result<()> {
        let (billed, effective) = match (line.kind, row) {
            (_, Row::Unused) => (Amount::ZERO, line.effective),
            (
                Kind::PlanFee { .. } | Kind::ReservationFee { .. } | Kind::ReservationUpfront { .. },
                Row::Main,
            ) => (line.billed, Amount::ZERO),
            _ => (line.billed, line.effective),
        };
        let list = match (line.kind, row) {
            (_, Row::Unused) => Amount::ZERO,
            (Kind::Support | Kind::Credit | Kind::Refund | Kind::Discount | Kind::Tax, _) => line.billed,
            _ => line.list,
        };
        self.identity(line);
        self.kind(line, row);
        self.costs(line, row, [billed, effective, list]);
        self.product(line, row);
        self.commitment(line, row);
        self.output.cells.with(|out| tags(out, line));
        self.output.tally(line, row == Row::Main, billed, effective, list);
        self.output.end_row()
    }

    /// ProviderName to ChargePeriodEnd.
    fn identity(&mut self, line: &Line) {
        let output = &mut self.output;
        let cells = &mut output.cells;
        for name in [&output.provider; 3] {
            cells.text(name);
        }
        cells.text(&output.invoice_id);
        cells.text(&output.billing_account);
        cells.text(&output.billing_account_name);
        cells.text("Billing Account");
        cells.text(&output.accounts[line.account]);
        cells.text(&output.account_names[line.account]);
        cells.text("Account");
        let last = output.stamps.len() - 1;
        for at in [0, last, line.from, line.to] {
            cells.with(|out| out.extend_from_slice(&output.stamps[at]));
        }
    }

    /// ChargeCategory to ChargeFrequency.
    fn kind(&mut self, line: &Line, row: Row) {
        let cells = &mut self.output.cells;
        let (category, what, frequency) = match (line.kind, row) {
            (_, Row::Unused) => ("Usage", "unused commitment", "Usage-Based"),
            (Kind::OnDemand, _) => ("Usage", "on demand", "Usage-Based"),
            (Kind::Spot, _) => ("Usage", "spot", "Usage-Based"),
            (Kind::Reserved { .. }, _) => ("Usage", "reservation applied", "Usage-Based"),
            (Kind::Planned, _) => ("Usage", "savings plan applied", "Usage-Based"),
            (Kind::Goods, _) => ("Usage", line.goods.operation, "Usage-Based"),
            (Kind::PlanFee { .. }, _) => ("Purchase", "Savings plan recurring fee", "Recurring"),
            (Kind::ReservationFee { .. }, _) => ("Purchase", "Reservation recurring fee", "Recurring"),
            (Kind::ReservationUpfront { .. }, _) => ("Purchase", "Reservation upfront fee", "One-Time"),
            (Kind::Support, _) => ("Purchase", "Support", "Recurring"),
            (Kind::Credit, _) => ("Credit", "Migration credit", "One-Time"),
            (Kind::Refund, _) => ("Credit", "Refund for a disruption", "One-Time"),
            (Kind::Discount, _) => ("Adjustment", "Enterprise discount", "One-Time"),
            (Kind::Tax, _) => ("Tax", "Sales tax", "Recurring"),
        };
        cells.text(category);
        cells.empty(1);
        cells.with(|out| {
            if let Some(machine) = line.machine {
                out.extend_from_slice(machine.name.as_bytes());
                out.push(b' ');
            }
            out.extend_from_slice(what.as_bytes());
        });
        cells.text(frequency);
    }

    /// BilledCost to ConsumedUnit.
    fn costs(&mut self, line: &Line, row: Row, [billed, effective, list]: [Amount; 3]) {
        let output = &mut self.output;
        let cells = &mut output.cells;
        for amount in [billed, effective, list] {
            cells.amount(amount);
        }
        // No negotiated prices: contracted is list, but for what spot and commitments really cost.
        cells.amount(if matches!(line.kind, Kind::Spot) { billed } else { list });
        let is_usage = line.kind.is_usage() && row == Row::Main;
        let is_priced = is_usage || is_purchase(line.kind) && row == Row::Main;
        let price = |cells: &mut Cells| {
            if is_usage {
                cells.amount(line.list_rate);
            } else {
                cells.empty(1);
            }
        };
        price(cells);
        price(cells);
        cells.text(match line.kind {
            Kind::OnDemand | Kind::Goods => "Standard",
            Kind::Spot => "Dynamic",
            Kind::Reserved { .. } | Kind::Planned => "Committed",
            Kind::PlanFee { .. } | Kind::ReservationFee { .. } if row == Row::Unused => "Committed",
            _ if is_purchase(line.kind) => "Standard",
            _ => "",
        });
        let unit = match line.kind {
            Kind::Goods => line.goods.unit,
            Kind::ReservationUpfront { .. } | Kind::Support => "Units",
            _ => "Hours",
        };
        let quantity = |cells: &mut Cells, is_stated: bool| {
            if is_stated {
                cells.amount(line.quantity);
                cells.text(unit);
            } else {
                cells.empty(2);
            }
        };
        quantity(cells, is_priced);
        cells.text(&output.currency);
        price(cells);
        cells.amount(effective);
        price(cells);
        cells.text(&output.currency);
        quantity(cells, is_usage);
    }

    /// ServiceName to AvailabilityZone.
    fn product(&mut self, line: &Line, row: Row) {
        let cells = &mut self.output.cells;
        let (service, category, subcategory) = match line.kind {
            Kind::Goods => (line.goods.service, line.goods.category, ""),
            Kind::Support => ("Support", "Other", ""),
            _ => (self.offer.service, "Compute", "Virtual Machines"),
        };
        for text in [service, category, subcategory] {
            cells.text(text);
        }
        let has_sku = line.machine.is_some() || line.kind == Kind::Goods;
        if has_sku {
            let sku = line.machine.map_or(line.goods.usage_type, |machine| machine.name);
            cells.text(&format!("SKU-{sku}"));
            cells.text(if line.kind == Kind::Goods { line.goods.usage_type } else { "Compute" });
            cells.text(&format!("PRICE-{sku}-{}", line.region.id));
        } else {
            cells.empty(3);
        }
        cells.with(|out| price_details(out, line));
        let has_resource = row == Row::Main && line.resource != 0 && line.kind.is_usage();
        let machine_id = self.offer.machine_id;
        for _ in 0..2 {
            cells.with(|out| {
                if has_resource {
                    let prefix = if line.machine.is_some() { machine_id } else { line.goods.resource };
                    out.extend_from_slice(prefix.as_bytes());
                    write_hex(out, line.resource);
                }
            });
        }
        cells.text(match (has_resource, line.machine) {
            (false, _) => "",
            (true, Some(_)) => "Instance",
            (true, None) => "Storage",
        });
        if !has_sku {
            return cells.empty(3);
        }
        cells.text(line.region.id);
        cells.text(line.region.name);
        cells.with(|out| {
            if has_resource && line.machine.is_some() {
                out.extend_from_slice(line.region.id.as_bytes());
                out.push(b'a' + line.zone);
            }
        });
    }

    /// CommitmentDiscountId to CapacityReservationStatus.
    fn commitment(&mut self, line: &Line, row: Row) {
        let output = &mut self.output;
        let cells = &mut output.cells;
        let commitment = match line.kind {
            Kind::Planned | Kind::PlanFee { .. } => Commitment::Plan,
            kind if kind.is_of_reservation() => Commitment::Reservation,
            _ => Commitment::None,
        };
        let status = match (line.kind, row) {
            (_, Row::Unused) => "Unused",
            (Kind::Planned | Kind::Reserved { .. }, _) => "Used",
            _ => "",
        };
        match commitment {
            Commitment::None => cells.empty(7),
            Commitment::Plan => {
                for text in [&output.plan_arn, "compute-plan-3yr", "Spend", "Savings Plan", status] {
                    cells.text(text);
                }
                cells.amount(match (line.kind, row) {
                    (Kind::PlanFee { commitment, .. }, Row::Main) => commitment,
                    _ => line.effective,
                });
                cells.text(&output.currency);
            }
            Commitment::Reservation => {
                cells.text(&format!("{}{}", output.reservation_arn, line.machine_name()));
                for text in ["reservation-1yr", "Usage", "Reserved Instance", status] {
                    cells.text(text);
                }
                cells.amount(match (line.kind, row) {
                    (Kind::ReservationFee { unused_hours, .. }, Row::Unused) => Amount::whole(unused_hours),
                    _ => line.quantity,
                });
                cells.text("Hours");
            }
        }
        cells.empty(2);
    }
}

impl Writer for Focus<'_> {
    fn rows(&self, kind: Kind) -> u64 {
        if matches!(kind, Kind::PlanFee { .. } | Kind::ReservationFee { .. }) { 2 } else { 1 }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.row(line, Row::Main)?;
        if self.rows(line.kind) == 2 {
            self.row(line, Row::Unused)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<Totals> {
        self.output.finish()
    }
}

/// The specification's data types, as AWS's export has them in Parquet: doubles, timestamps in milliseconds, maps.
fn shape(name: &str) -> Shape {
    match name {
        "Tags" => Shape::Map,
        "SkuPriceDetails" => Shape::Json,
        _ if name.ends_with("PeriodStart") || name.ends_with("PeriodEnd") => Shape::Time(Ticks::Milliseconds),
        _ if ["Cost", "UnitPrice", "Quantity"].iter().any(|end| name.ends_with(end)) => Shape::Number,
        _ => Shape::Text,
    }
}

fn is_purchase(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::PlanFee { .. } | Kind::ReservationFee { .. } | Kind::ReservationUpfront { .. } | Kind::Support
    )
}

/// SkuPriceDetails: a JSON object.
fn price_details(out: &mut Vec<u8>, line: &Line) {
    let Some(machine) = line.machine.filter(|_| line.kind.is_usage()) else { return };
    let mut details = Object::begin(out);
    details.text("InstanceType", machine.name);
    details.with("CoreCount", |out| write_number(out, u64::from(machine.vcpu)));
    details.with("MemorySize", |out| write_number(out, u64::from(machine.memory_gib)));
    // The specification's GpuCount is a whole number; fractions stay unstated.
    if !machine.accelerators.is_empty() && !machine.accelerators.contains('/') {
        details.with("GpuCount", |out| out.extend_from_slice(machine.accelerators.as_bytes()));
    }
    details.text("OperatingSystem", "Linux");
    details.end();
}

/// Tags: a JSON object.
fn tags(out: &mut Vec<u8>, line: &Line) {
    let mut tags = Object::begin(out);
    if let Some(owner) = line.owner {
        owner.each_tag(|key, value| tags.with(key, |out| write_json_text(out, value)));
    }
    tags.end();
}
