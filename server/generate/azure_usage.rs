//! Azure's cost and usage details (Microsoft Cost Management documentation): a row a day for each resource and meter, in one of
//! two datasets with the same columns.
//!
//! | | actual | amortized |
//! |---|---|---|
//! | covered by a reservation or savings plan | cost 0 | its share of the purchase |
//! | the purchase | a row of its cost | no row |
//! | what of it nothing used | no row | `UnusedReservation`, `UnusedSavingsPlan` |
//!
//! Both of a plan have the same usage. Tax and credits are in neither. Dates are month, day, year. Under an Enterprise Agreement
//! tags are a JSON object without its braces. Resource groups are written in capitals by some services and not by others.

use std::io;

use chrono::{Datelike, NaiveDate, TimeDelta};

use super::amount::{Amount, write_hex, write_number};
use super::azure_columns::{self, Cell};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::table::{Column, EmptyInJson, Object, Shape, Table, Ticks};
use super::{Agreement, Dataset, Totals};
use crate::period::BillingMonth;

const ORDER: &str = "5d0e1f7a-3c41-4b0e-9a55-7d1f0c2b9e10";
const PLAN_ORDER: &str = "802a9e8b-e860-4d5f-b63b-c5bdf7ee2446";
const PLAN: &str = "09ff8291-64ac-45fb-afed-b9b39dbd88d7";

pub(crate) struct AzureUsage<'a> {
    output: Output<'a>,
    dataset: Dataset,
    agreement: Agreement,
    columns: &'static [(&'static str, Cell)],
    /// `09/01/2026` and so on; then the last day of the month once more.
    days: Vec<String>,
    billing_account: String,
    billing_profile: String,
}

/// What a row says of its event.
struct Row {
    charge_type: &'static str,
    frequency: &'static str,
    pricing_model: &'static str,
    quantity: Amount,
    cost: Amount,
}

impl<'a> AzureUsage<'a> {
    pub(crate) fn new(
        mut output: Output<'a>,
        month: BillingMonth,
        dataset: Dataset,
        agreement: Agreement,
    ) -> io::Result<Self> {
        let columns = azure_columns::of(agreement);
        output.begin(Table {
            columns: columns.iter().map(|(name, cell)| Column::new(name, shape(*cell))).collect(),
            has_mark: agreement == Agreement::Enterprise,
            empty_in_json: EmptyInJson::Text,
        })?;
        let days = month.days();
        let us = |day: NaiveDate| format!("{:02}/{:02}/{}", day.month(), day.day(), day.year());
        let mut days: Vec<String> =
            days.start.iter_days().take_while(|day| *day < days.end).map(us).collect();
        days.push(us(month.days().end - TimeDelta::days(1)));
        let id = output.billing_account.clone();
        let (billing_account, billing_profile) = match agreement {
            Agreement::Enterprise => (id.clone(), id),
            Agreement::Customer => (
                format!("{id}-0f1e-4d2c-8b3a-495867768594:6a7b8c9d-0e1f-4a2b-8c3d-4e5f60718293_2019-05-31"),
                "GPUL-DEMO-BG7-PGB".to_owned(),
            ),
        };
        output.make_accounts(|at| format!("9ec51cfd-5ca7-4d76-8101-{:012x}", 0xdd0a_4abc_5674_u64 + at));
        Ok(Self { output, dataset, agreement, columns, days, billing_account, billing_profile })
    }

    /// The row of an event in this dataset; `None` where it has none.
    fn row_of(&self, line: &Line) -> Option<Row> {
        let is_actual = self.dataset == Dataset::Actual;
        let usage = |pricing_model, cost| Row {
            charge_type: "Usage",
            frequency: "UsageBased",
            pricing_model,
            quantity: line.quantity,
            cost,
        };
        let purchase = |frequency, pricing_model, quantity| Row {
            charge_type: "Purchase",
            frequency,
            pricing_model,
            quantity,
            cost: line.billed,
        };
        let unused = |charge_type, pricing_model, quantity, cost| Row {
            charge_type,
            frequency: "UsageBased",
            pricing_model,
            quantity,
            cost,
        };
        let covered = if is_actual { Amount::ZERO } else { line.effective };
        Some(match line.kind {
            Kind::OnDemand | Kind::Goods => usage("OnDemand", line.billed),
            Kind::Spot => usage("Spot", line.billed),
            Kind::Reserved { .. } => usage("Reservation", covered),
            Kind::Planned => usage("SavingsPlan", covered),
            Kind::PlanFee { .. } if is_actual => purchase("Recurring", "SavingsPlan", Amount::ONE),
            Kind::PlanFee { .. } => unused("UnusedSavingsPlan", "SavingsPlan", Amount::ONE, line.effective),
            Kind::ReservationFee { units, .. } if is_actual => {
                purchase("Recurring", "Reservation", Amount::whole(units))
            }
            Kind::ReservationFee { unused_hours, .. } => {
                unused("UnusedReservation", "Reservation", Amount::whole(unused_hours), line.effective)
            }
            Kind::ReservationUpfront { units } if is_actual => {
                purchase("OneTime", "Reservation", Amount::whole(units))
            }
            // Spread over the usage; what of it nothing used is in the row of the fee.
            Kind::ReservationUpfront { .. } => {
                unused("UnusedReservation", "Reservation", Amount::ZERO, Amount::ZERO)
            }
            Kind::Support => purchase("Recurring", "OnDemand", Amount::ONE),
            Kind::Refund => Row {
                charge_type: "Refund",
                frequency: "OneTime",
                ..purchase("OneTime", "OnDemand", Amount::ONE)
            },
            Kind::Discount if self.agreement == Agreement::Customer => Row {
                charge_type: "RoundingAdjustment",
                cost: Amount::new(-43, 4),
                ..purchase("OneTime", "OnDemand", Amount::ONE)
            },
            Kind::Credit | Kind::Discount | Kind::Tax => return None,
        })
    }

    #[expect(clippy::match_same_arms, reason = "a line for each column, in the order of their names")]
    fn cell(&self, out: &mut Vec<u8>, cell: Cell, line: &Line, row: &Row) {
        let Self { output, .. } = self;
        let machine = line.machine;
        let is_usage = line.kind.is_usage();
        let commitment = match row.pricing_model {
            "Reservation" => Some(false),
            "SavingsPlan" => Some(true),
            _ => None,
        };
        let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
        match cell {
            Cell::Empty => {}
            Cell::AccountName => text("ML Platform"),
            Cell::AccountOwner => text("billing@example.org"),
            Cell::AdditionalInfo => additional_info(out, line),
            Cell::BenefitId => match commitment {
                Some(false) => {
                    text(&format!("/providers/Microsoft.Capacity/reservationOrders/{ORDER}/reservations/"));
                    reservation_id(out, line);
                }
                Some(true) => text(&format!(
                    "/providers/Microsoft.BillingBenefits/savingsPlanOrders/{PLAN_ORDER}/savingsPlans/{PLAN}"
                )),
                None => {}
            },
            Cell::BenefitName => text(benefit_name(commitment)),
            Cell::BillingAccount => text(&self.billing_account),
            Cell::BillingAccountName => text(&output.billing_account_name),
            Cell::BillingProfile => text(&self.billing_profile),
            Cell::ChargeType => text(row.charge_type),
            Cell::ConsumedService => text(consumed_service(line)),
            Cell::Cost => row.cost.write(out),
            Cell::CostInUsd if output.currency == "USD" => row.cost.write(out),
            Cell::CostInUsd => {}
            Cell::CostCenter => text(line.owner.map_or("CC-6000", |owner| owner.cost_center)),
            Cell::CreditEligible => text("True"),
            Cell::Currency => text(&output.currency),
            Cell::Day => text(&self.days[(line.from / 24).min(self.days.len() - 1)]),
            Cell::EffectivePrice => row.cost.over(row.quantity).write(out),
            Cell::ExchangeRate => text("1"),
            Cell::FirstDay => text(&self.days[0]),
            Cell::LastDay => text(&self.days[self.days.len() - 1]),
            Cell::Frequency => text(row.frequency),
            Cell::InvoiceId => text(&output.invoice_id),
            Cell::Location => text(line.region.id),
            Cell::MeterCategory => text(meter_category(line)),
            Cell::MeterId => meter_id(out, line),
            Cell::MeterName => meter_name(out, line),
            Cell::MeterRegion => text(line.region.name),
            Cell::MeterSubCategory => {
                if let Some(machine) = machine {
                    text(&series(machine.name));
                    text(" Series");
                }
            }
            Cell::OfferId => text("MS-AZR-0017P"),
            Cell::OrderId => text(match commitment {
                Some(false) => ORDER,
                Some(true) => PLAN_ORDER,
                None => "",
            }),
            Cell::OrderName => match (commitment, machine) {
                (Some(false), Some(machine)) => {
                    text(&format!("Reserved VM Instance, {}, {}, 1 Year", machine.name, line.region.name));
                }
                (Some(true), _) => text("Compute savings plan, 3 Years"),
                _ => {}
            },
            Cell::PartNumber => text(&format!("AAA-{:05}", line.sku_number() % 100_000)),
            Cell::PayGCost if is_usage => line.list.write(out),
            Cell::PayGPrice if is_usage => line.list_rate.write(out),
            Cell::PayGPrice | Cell::PayGCost => text("0"),
            Cell::PricingModel => text(row.pricing_model),
            Cell::Product => {
                text(meter_category(line));
                text(" - ");
                meter_name(out, line);
                out.extend_from_slice(b" - ");
                out.extend_from_slice(line.region.name.as_bytes());
            }
            Cell::Provider => text("Microsoft.Consumption"),
            Cell::PublisherName => text("Microsoft"),
            Cell::PublisherType => text("Azure"),
            Cell::Quantity => row.quantity.write(out),
            Cell::ReservationId if commitment == Some(false) => reservation_id(out, line),
            Cell::ReservationName if commitment == Some(false) => text(benefit_name(commitment)),
            Cell::ReservationId | Cell::ReservationName => {}
            Cell::ResourceGroup if is_usage => resource_group(out, line),
            Cell::ResourceGroup => {}
            Cell::ResourceId => self.resource_id(out, line, row),
            Cell::ResourceName if is_usage => resource_name(out, line),
            Cell::ResourceName => {}
            Cell::Section => text("Machine Learning"),
            Cell::ServiceFamily => text(match line.machine {
                Some(_) => "Compute",
                None if is_usage => line.goods.category,
                None => "",
            }),
            Cell::SubscriptionId => text(&output.accounts[line.account]),
            Cell::SubscriptionName => text(&output.account_names[line.account]),
            Cell::Tags => self.tags(out, line),
            Cell::Term => text(match commitment {
                Some(false) => "12",
                Some(true) => "36",
                None => "",
            }),
            Cell::Unit => text(match line.goods.unit {
                _ if machine.is_some() => "1 Hour",
                _ if !is_usage => "1",
                "GB-Month" => "1 GB/Month",
                _ => "1 GB",
            }),
            Cell::UnitPrice if is_usage => line.list_rate.write(out),
            Cell::UnitPrice => row.cost.over(row.quantity).write(out),
        }
    }

    fn resource_id(&self, out: &mut Vec<u8>, line: &Line, row: &Row) {
        let subscription = &self.output.accounts[line.account];
        if line.kind.is_usage() {
            out.extend_from_slice(format!("/subscriptions/{subscription}/resourceGroups/").as_bytes());
            resource_group(out, line);
            let kind = match (line.machine, line.goods.category) {
                (Some(_), _) => "Microsoft.Compute/virtualMachines",
                (_, "Storage") => "Microsoft.Storage/storageAccounts",
                _ => "Microsoft.Network/networkInterfaces",
            };
            out.extend_from_slice(format!("/providers/{kind}/").as_bytes());
            return resource_name(out, line);
        }
        let order = match row.pricing_model {
            "Reservation" => format!("/providers/Microsoft.Capacity/reservationOrders/{ORDER}/reservations/"),
            "SavingsPlan" => format!("/providers/Microsoft.BillingBenefits/savingsPlanOrders/{PLAN_ORDER}"),
            _ => String::new(),
        };
        out.extend_from_slice(order.as_bytes());
    }

    /// With braces under a Customer Agreement alone.
    fn tags(&self, out: &mut Vec<u8>, line: &Line) {
        let Some(owner) = line.owner.filter(|_| line.kind.is_usage()) else { return };
        let mut whole = Vec::new();
        let mut tags = Object::begin(&mut whole);
        owner.each_tag(|key, value| tags.text(key, value));
        tags.end();
        out.extend_from_slice(match self.agreement {
            Agreement::Customer => &whole,
            Agreement::Enterprise => &whole[1..whole.len() - 1],
        });
    }
}

impl Writer for AzureUsage<'_> {
    /// The same in both datasets, so that both of a plan have the same usage.
    fn rows(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Credit | Kind::Tax => 0,
            Kind::Discount => u64::from(self.agreement == Agreement::Customer),
            _ => 1,
        }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let Some(row) = self.row_of(line) else { return Ok(()) };
        let mut cells = std::mem::take(&mut self.output.cells);
        for (_, cell) in self.columns {
            cells.with(|out| self.cell(out, *cell, line, &row));
        }
        self.output.cells = cells;
        let (billed, effective) = match self.dataset {
            Dataset::Actual => (row.cost, Amount::ZERO),
            Dataset::Amortized => (Amount::ZERO, row.cost),
        };
        self.output.tally(line, true, billed, effective, Amount::ZERO);
        self.output.end_row()
    }

    fn finish(self: Box<Self>) -> io::Result<Totals> {
        self.output.finish()
    }
}

fn shape(cell: Cell) -> Shape {
    match cell {
        Cell::Day | Cell::FirstDay | Cell::LastDay => Shape::Time(Ticks::Milliseconds),
        Cell::Cost
        | Cell::CostInUsd
        | Cell::EffectivePrice
        | Cell::ExchangeRate
        | Cell::PayGCost
        | Cell::PayGPrice
        | Cell::Quantity
        | Cell::UnitPrice => Shape::Number,
        _ => Shape::Text,
    }
}

fn benefit_name(is_plan: Option<bool>) -> &'static str {
    match is_plan {
        Some(false) => "VM_RI_09-01-2025_10-00",
        Some(true) => "Compute_SavingsPlan_11-07-2024_09-55",
        None => "",
    }
}

fn consumed_service(line: &Line) -> &'static str {
    match line.kind {
        Kind::Goods if line.goods.category == "Storage" => "Microsoft.Storage",
        Kind::Goods => "Microsoft.Network",
        kind if kind.runs() => "Microsoft.Compute",
        Kind::PlanFee { .. } => "Microsoft.BillingBenefits",
        kind if kind.is_of_reservation() => "Microsoft.Capacity",
        _ => "",
    }
}

fn meter_category(line: &Line) -> &'static str {
    match line.kind {
        Kind::Goods => line.goods.service,
        Kind::Support => "Azure Support",
        _ => "Virtual Machines",
    }
}

/// `ND96isr H100 v5`, with what Azure adds for spot.
fn meter_name(out: &mut Vec<u8>, line: &Line) {
    let Some(machine) = line.machine else {
        let name = if line.kind == Kind::Goods { line.goods.usage_type } else { meter_category(line) };
        return out.extend_from_slice(name.as_bytes());
    };
    out.extend_from_slice(plain_name(machine.name).as_bytes());
    if line.kind == Kind::Spot {
        out.extend_from_slice(b" Spot");
    }
}

/// `Standard_ND96isr_H100_v5` without the word before it, and with spaces.
fn plain_name(machine: &str) -> String {
    machine.trim_start_matches("Standard_").replace('_', " ")
}

/// The same without its number of processors: `NDisr H100 v5`.
fn series(machine: &str) -> String {
    let name = plain_name(machine);
    let (first, rest) = name.split_once(' ').unwrap_or((&name, ""));
    let first: String = first.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    format!("{first} {rest}")
}

fn meter_id(out: &mut Vec<u8>, line: &Line) {
    let number = line.sku_number();
    let id = format!("{:08x}-{:04x}-4919-8b6e-{:012x}", number >> 32, number & 0xffff, number >> 16);
    out.extend_from_slice(id.as_bytes());
}

/// One of each machine.
fn reservation_id(out: &mut Vec<u8>, line: &Line) {
    let add = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    let number = line.machine_name().bytes().fold(7, add);
    out.extend_from_slice(format!("f39d1c73-af74-4308-9083-{:012x}", number & 0xffff_ffff_ffff).as_bytes());
}

/// In capitals for some resources, as Azure's services write it.
fn resource_group(out: &mut Vec<u8>, line: &Line) {
    let group = format!("ml-{}", line.owner.map_or("shared", |owner| owner.workload));
    if line.resource.is_multiple_of(3) {
        out.extend_from_slice(group.to_ascii_uppercase().as_bytes());
    } else {
        out.extend_from_slice(group.as_bytes());
    }
}

fn resource_name(out: &mut Vec<u8>, line: &Line) {
    let prefix = match line.machine {
        Some(_) => "vm-gpu-",
        None if line.goods.resource.is_empty() => "nic-",
        None => line.goods.resource,
    };
    out.extend_from_slice(prefix.as_bytes());
    write_hex(out, line.resource);
}

/// Which machine ran, in JSON.
fn additional_info(out: &mut Vec<u8>, line: &Line) {
    let Some(machine) = line.machine.filter(|_| line.kind.is_usage()) else { return };
    let mut info = Object::begin(out);
    info.text("UsageType", if line.kind == Kind::Spot { "ComputeHR_Spot" } else { "ComputeHR" });
    info.text("ImageType", "Canonical");
    info.text("ServiceType", machine.name);
    info.with("VMName", |out| {
        out.push(b'"');
        resource_name(out, line);
        out.push(b'"');
    });
    info.with("VCPUs", |out| write_number(out, u64::from(machine.vcpu)));
    info.end();
}
