//! FOCUS 1.2 cost and usage, for any provider.
//!
//! A commitment's purchase is billed and has no effective cost; what it covers is the reverse; what of
//! it goes unused is a row of its own (CommitmentDiscountStatus Unused).

use std::io::{self, Write};

use super::amount::{Amount, write_cell, write_hex, write_number};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::world::Offer;

/// FOCUS 1.2's columns, in the order of the specification's own sample.
const COLUMNS: &str = "ProviderName,PublisherName,InvoiceIssuerName,InvoiceId,BillingAccountId,BillingAccountName,BillingAccountType,SubAccountId,SubAccountName,SubAccountType,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,BilledCost,EffectiveCost,ListCost,ContractedCost,ListUnitPrice,ContractedUnitPrice,PricingCategory,PricingQuantity,PricingUnit,PricingCurrency,PricingCurrencyContractedUnitPrice,PricingCurrencyEffectiveCost,PricingCurrencyListUnitPrice,BillingCurrency,ConsumedQuantity,ConsumedUnit,ServiceName,ServiceCategory,ServiceSubcategory,SkuId,SkuMeter,SkuPriceId,SkuPriceDetails,ResourceId,ResourceName,ResourceType,RegionId,RegionName,AvailabilityZone,CommitmentDiscountId,CommitmentDiscountName,CommitmentDiscountCategory,CommitmentDiscountType,CommitmentDiscountStatus,CommitmentDiscountQuantity,CommitmentDiscountUnit,CapacityReservationId,CapacityReservationStatus,Tags\n";

pub(crate) struct Focus<'a, W: Write> {
    output: Output<'a, W>,
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

impl<'a, W: Write> Focus<'a, W> {
    pub(crate) fn new(mut output: Output<'a, W>, offer: &'static Offer) -> io::Result<Self> {
        output.row.extend_from_slice(COLUMNS.as_bytes());
        output.end_header()?;
        Ok(Self { output, offer })
    }

    pub(crate) fn into_output(self) -> Output<'a, W> {
        self.output
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
        self.tags(line);
        self.output.row.push(b'\n');
        self.output.tally(line, row == Row::Main, billed, effective, list);
        self.output.end_row()
    }

    /// ProviderName to ChargePeriodEnd.
    fn identity(&mut self, line: &Line) {
        let output = &mut self.output;
        let out = &mut output.row;
        for name in [&output.provider; 3] {
            write_cell(out, name);
            out.push(b',');
        }
        push(out, &output.invoice_id);
        push(out, &output.billing_account);
        push(out, &output.billing_account_name);
        push(out, "Billing Account");
        push(out, &output.accounts[line.account]);
        push(out, &output.account_names[line.account]);
        push(out, "Account");
        let last = output.stamps.len() - 1;
        for at in [0, last, line.from, line.to] {
            out.extend_from_slice(&output.stamps[at]);
            out.push(b',');
        }
    }

    /// ChargeCategory to ChargeFrequency.
    fn kind(&mut self, line: &Line, row: Row) {
        let out = &mut self.output.row;
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
        out.extend_from_slice(category.as_bytes());
        out.extend_from_slice(b",,");
        if let Some(machine) = line.machine {
            out.extend_from_slice(machine.name.as_bytes());
            out.push(b' ');
        }
        push(out, what);
        push(out, frequency);
    }

    /// BilledCost to ConsumedUnit.
    fn costs(&mut self, line: &Line, row: Row, [billed, effective, list]: [Amount; 3]) {
        let output = &mut self.output;
        let out = &mut output.row;
        for amount in [billed, effective, list] {
            amount.write(out);
            out.push(b',');
        }
        // No negotiated prices: contracted is list, but for what spot and commitments really cost.
        let contracted = if matches!(line.kind, Kind::Spot) { billed } else { list };
        contracted.write(out);
        out.push(b',');
        let is_usage = line.kind.is_usage() && row == Row::Main;
        let is_priced = is_usage || is_purchase(line.kind) && row == Row::Main;
        let price = |out: &mut Vec<u8>| {
            if is_usage {
                line.list_rate.write(out);
            }
            out.push(b',');
        };
        price(out);
        price(out);
        let category = match line.kind {
            Kind::OnDemand | Kind::Goods => "Standard",
            Kind::Spot => "Dynamic",
            Kind::Reserved { .. } | Kind::Planned => "Committed",
            Kind::PlanFee { .. } | Kind::ReservationFee { .. } if row == Row::Unused => "Committed",
            _ if is_purchase(line.kind) => "Standard",
            _ => "",
        };
        push(out, category);
        let unit = match line.kind {
            Kind::Goods => line.goods.unit,
            Kind::ReservationUpfront { .. } | Kind::Support => "Units",
            _ => "Hours",
        };
        if is_priced {
            line.quantity.write(out);
            out.push(b',');
            out.extend_from_slice(unit.as_bytes());
        } else {
            out.push(b',');
        }
        out.push(b',');
        push(out, &output.currency);
        price(out);
        effective.write(out);
        out.push(b',');
        price(out);
        push(out, &output.currency);
        if is_usage {
            line.quantity.write(out);
            out.push(b',');
            out.extend_from_slice(unit.as_bytes());
        } else {
            out.push(b',');
        }
        out.push(b',');
    }

    /// ServiceName to AvailabilityZone.
    fn product(&mut self, line: &Line, row: Row) {
        let out = &mut self.output.row;
        let (service, category, subcategory) = match line.kind {
            Kind::Goods => (line.goods.service, line.goods.category, ""),
            Kind::Support => ("Support", "Other", ""),
            _ => (self.offer.service, "Compute", "Virtual Machines"),
        };
        for text in [service, category, subcategory] {
            push(out, text);
        }
        let has_sku = line.machine.is_some() || line.kind == Kind::Goods;
        if has_sku {
            out.extend_from_slice(b"SKU-");
            write_cell(out, sku_name(line));
            out.push(b',');
            push(out, if line.kind == Kind::Goods { line.goods.usage_type } else { "Compute" });
            out.extend_from_slice(b"PRICE-");
            write_cell(out, sku_name(line));
            out.push(b'-');
            push(out, line.region.id);
        } else {
            out.extend_from_slice(b",,,");
        }
        price_details(out, line);
        out.push(b',');
        let has_resource = row == Row::Main && line.resource != 0 && line.kind.is_usage();
        for _ in 0..2 {
            if has_resource {
                let prefix = if line.machine.is_some() { self.offer.machine_id } else { line.goods.resource };
                out.extend_from_slice(prefix.as_bytes());
                write_hex(out, line.resource);
            }
            out.push(b',');
        }
        if has_resource {
            out.extend_from_slice(if line.machine.is_some() { "Instance" } else { "Storage" }.as_bytes());
        }
        out.push(b',');
        if !has_sku {
            out.extend_from_slice(b",,,");
            return;
        }
        push(out, line.region.id);
        write_cell(out, line.region.name);
        out.push(b',');
        if has_resource && line.machine.is_some() {
            out.extend_from_slice(line.region.id.as_bytes());
            out.push(b'a' + line.zone);
        }
        out.push(b',');
    }

    /// CommitmentDiscountId to CapacityReservationStatus.
    fn commitment(&mut self, line: &Line, row: Row) {
        let output = &mut self.output;
        let out = &mut output.row;
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
            Commitment::None => out.extend_from_slice(b",,,,,,,"),
            Commitment::Plan => {
                out.extend_from_slice(output.plan_arn.as_bytes());
                out.extend_from_slice(b",compute-plan-3yr,Spend,Savings Plan,");
                push(out, status);
                match (line.kind, row) {
                    (Kind::PlanFee { commitment, .. }, Row::Main) => commitment.write(out),
                    _ => line.effective.write(out),
                }
                out.push(b',');
                push(out, &output.currency);
            }
            Commitment::Reservation => {
                out.extend_from_slice(output.reservation_arn.as_bytes());
                write_cell(out, line.machine_name());
                out.extend_from_slice(b",reservation-1yr,Usage,Reserved Instance,");
                push(out, status);
                match (line.kind, row) {
                    (Kind::ReservationFee { unused_hours, .. }, Row::Unused) => {
                        write_number(out, unused_hours);
                    }
                    _ => line.quantity.write(out),
                }
                out.extend_from_slice(b",Hours,");
            }
        }
        out.extend_from_slice(b",,");
    }

    /// Tags: a JSON object, in a quoted cell.
    fn tags(&mut self, line: &Line) {
        let out = &mut self.output.row;
        let Some(owner) = line.owner else {
            out.extend_from_slice(b"{}");
            return;
        };
        let mut is_first = true;
        let mut tag = |out: &mut Vec<u8>, key: &str, value: &dyn Fn(&mut Vec<u8>)| {
            out.extend_from_slice(if is_first { b"\"{" } else { b", " });
            is_first = false;
            json_text(out, |out| out.extend_from_slice(key.as_bytes()));
            out.extend_from_slice(b": ");
            json_text(out, value);
        };
        tag(out, "environment", &|out| json_escaped(out, owner.environment));
        tag(out, "project", &|out| json_escaped(out, owner.project));
        tag(out, "workload", &|out| json_escaped(out, owner.workload));
        tag(out, "cost-center", &|out| json_escaped(out, owner.cost_center));
        if owner.experiment > 0 {
            tag(out, "experiment", &|out| owner.write_experiment(out));
        }
        if !owner.team.is_empty() {
            tag(out, if owner.is_capital { "Team" } else { "team" }, &|out| json_escaped(out, owner.team));
        }
        out.extend_from_slice(b"}\"");
    }
}

impl<W: Write> Writer for Focus<'_, W> {
    fn rows(kind: Kind) -> u64 {
        if matches!(kind, Kind::PlanFee { .. } | Kind::ReservationFee { .. }) { 2 } else { 1 }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.row(line, Row::Main)?;
        if Self::rows(line.kind) == 2 {
            self.row(line, Row::Unused)?;
        }
        Ok(())
    }
}

/// A cell, which needs no quotes or has them, and the comma behind it.
fn push(out: &mut Vec<u8>, cell: &str) {
    out.extend_from_slice(cell.as_bytes());
    out.push(b',');
}

fn is_purchase(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::PlanFee { .. } | Kind::ReservationFee { .. } | Kind::ReservationUpfront { .. } | Kind::Support
    )
}

fn sku_name(line: &Line) -> &'static str {
    line.machine.map_or(line.goods.usage_type, |machine| machine.name)
}

/// SkuPriceDetails: a JSON object, in a quoted cell.
fn price_details(out: &mut Vec<u8>, line: &Line) {
    let Some(machine) = line.machine.filter(|_| line.kind.is_usage()) else { return };
    out.extend_from_slice(b"\"{\"\"InstanceType\"\": \"\"");
    out.extend_from_slice(machine.name.as_bytes());
    out.extend_from_slice(b"\"\", \"\"CoreCount\"\": ");
    write_number(out, u64::from(machine.vcpu));
    out.extend_from_slice(b", \"\"MemorySize\"\": ");
    write_number(out, u64::from(machine.memory_gib));
    // The specification's GpuCount is a whole number; fractions stay unstated.
    if !machine.accelerators.is_empty() && !machine.accelerators.contains('/') {
        out.extend_from_slice(b", \"\"GpuCount\"\": ");
        out.extend_from_slice(machine.accelerators.as_bytes());
    }
    out.extend_from_slice(b", \"\"OperatingSystem\"\": \"\"Linux\"\"}\"");
}

/// A JSON string inside a quoted CSV cell: its own quotes are doubled.
fn json_text(out: &mut Vec<u8>, value: impl Fn(&mut Vec<u8>)) {
    out.extend_from_slice(b"\"\"");
    value(out);
    out.extend_from_slice(b"\"\"");
}

fn json_escaped(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        if byte == b'"' {
            out.extend_from_slice(b"\\\"\"");
        } else {
            out.push(byte);
        }
    }
}
