//! The AWS Cost and Usage Report, legacy and 2.0, hourly, with resource ids.
//!
//! Savings plans appear as AWS writes them: covered usage at its on-demand price, a negation of the same
//! amount, and the hour's recurring fee. Reservations: usage at 0, a monthly recurring fee (RIFee), the
//! upfront fee once (Fee with a reservation's ARN).

use std::io;

use super::amount::{Amount, write_hex, write_number};
use super::cur_cells::{machine_cell, plan_cell, reservation_cell, tag_cell};
use super::cur_columns::{self, Cell, Content, Edition};
use super::line::{Kind, Line, Writer};
use super::output::Output;
use super::random::Random;
use super::table::{Cells, Object, write_json_escaped};
use super::{Columns, Totals};

pub(crate) struct AwsCur<'a> {
    output: Output<'a>,
    edition: Edition,
    columns: Vec<Content>,
    ids: Random,
    /// A value of a map.
    value: Vec<u8>,
}

/// Which of an event's rows is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Main,
    Negation,
}

impl<'a> AwsCur<'a> {
    pub(crate) fn new(mut output: Output<'a>, columns: Columns, edition: Edition) -> io::Result<Self> {
        let (table, columns) = cur_columns::of(columns, edition, output.container);
        output.begin(table)?;
        let ids = Random::new(output.seed ^ 0x11_6e17);
        Ok(Self { output, edition, columns, ids, value: Vec::new() })
    }

    fn row(&mut self, line: &Line, row: Row) -> io::Result<()> {
        let billed = match (line.kind, row) {
            (Kind::Planned, Row::Main) => line.list,
            (Kind::Planned, Row::Negation) => line.list.negative(),
            _ => line.billed,
        };
        let mut cells = std::mem::take(&mut self.output.cells);
        for at in 0..self.columns.len() {
            match &self.columns[at] {
                Content::Cell(Cell::Empty) => cells.empty(1),
                Content::Cell(cell) => {
                    let cell = *cell;
                    cells.with(|out| self.cell(out, cell, line, row, billed));
                }
                Content::Map(_) => self.map(&mut cells, at, line, row, billed),
            }
        }
        self.output.cells = cells;
        let effective = if row == Row::Negation { Amount::ZERO } else { line.effective };
        let list = if line.kind.is_usage() && row == Row::Main { line.list } else { Amount::ZERO };
        self.output.tally(line, row == Row::Main, billed, effective, list);
        self.output.end_row()
    }

    /// A map of CUR 2.0: what has a value.
    fn map(&mut self, cells: &mut Cells, at: usize, line: &Line, row: Row, billed: Amount) {
        let entries = match &mut self.columns[at] {
            Content::Map(entries) => std::mem::take(entries),
            Content::Cell(_) => return,
        };
        let mut value = std::mem::take(&mut self.value);
        cells.with(|out| {
            let mut object = Object::begin(out);
            for (key, cell) in &entries {
                value.clear();
                self.cell(&mut value, *cell, line, row, billed);
                if !value.is_empty() {
                    object.with(key, |out| {
                        out.push(b'"');
                        write_json_escaped(out, &value);
                        out.push(b'"');
                    });
                }
            }
            object.end();
        });
        self.value = value;
        self.columns[at] = Content::Map(entries);
    }

    fn cell(&mut self, out: &mut Vec<u8>, cell: Cell, line: &Line, row: Row, billed: Amount) {
        if cell == Cell::LineItemId {
            return self.line_item_id(out);
        }
        let output = &self.output;
        let is_main = row == Row::Main;
        let machine = line.machine.filter(|_| line.kind.runs());
        let last = output.stamps.len() - 1;
        let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
        match cell {
            Cell::Empty | Cell::LineItemId => {}
            Cell::TimeInterval => {
                out.extend_from_slice(&output.stamps[line.from]);
                out.push(b'/');
                out.extend_from_slice(&output.stamps[line.to]);
            }
            Cell::Start => self.stamp(out, line.from),
            Cell::End => self.stamp(out, line.to),
            Cell::MonthStart => self.stamp(out, 0),
            Cell::MonthEnd => self.stamp(out, last),
            Cell::InvoiceId => text(&output.invoice_id),
            Cell::Entity => text("Amazon Web Services, Inc."),
            Cell::BillingEntity => text("AWS"),
            Cell::BillType => text(match line.kind {
                Kind::ReservationUpfront { .. } => "Purchase",
                Kind::Refund => "Refund",
                _ => "Anniversary",
            }),
            Cell::Account if is_main => text(&output.accounts[line.account]),
            // Negations are the payer's.
            Cell::Payer | Cell::Account => text(&output.billing_account),
            Cell::AccountName if is_main => text(&output.account_names[line.account]),
            Cell::PayerName | Cell::AccountName => text(&output.billing_account_name),
            Cell::LineItemType => text(line_item_type(line.kind, row)),
            Cell::ProductCode | Cell::ServiceCode => text(product_code(line)),
            Cell::UsageType => usage_type(out, line),
            Cell::Operation => text(match line.kind {
                Kind::Goods => line.goods.operation,
                Kind::Tax | Kind::Credit | Kind::Refund | Kind::Discount | Kind::Support => "",
                Kind::PlanFee { .. } => "None",
                _ => "RunInstances",
            }),
            Cell::Zone if machine.is_some() && is_main => {
                text(line.region.id);
                out.push(b'a' + line.zone);
            }
            Cell::ResourceId if is_main => resource_id(out, line, &output.plan_arn),
            Cell::UsageAmount => line.quantity.write(out),
            Cell::Currency => text(&output.currency),
            Cell::UnblendedRate => match line.kind {
                Kind::OnDemand | Kind::Planned | Kind::Goods => line.list_rate.write(out),
                Kind::Spot => line.billed.write(out),
                Kind::Reserved { .. } => text("0"),
                _ => {}
            },
            Cell::UnblendedCost => billed.write(out),
            Cell::BlendedCost if line.kind != Kind::Discount => billed.write(out),
            Cell::Description => description(out, line, row),
            Cell::TaxType if line.kind == Kind::Tax => text("US Sales Tax"),
            Cell::ProductName => text(match line.kind {
                Kind::Goods => line.goods.service,
                Kind::PlanFee { .. } => "Savings Plans for AWS Compute usage",
                Kind::Support => "AWS Support (Enterprise)",
                _ => "Amazon Elastic Compute Cloud",
            }),
            Cell::Location if line.machine.is_some() => text(line.region.name),
            Cell::Region if line.machine.is_some() || line.kind == Kind::Goods => text(line.region.id),
            Cell::ProductFamily => text(match line.kind {
                Kind::Goods => line.goods.family,
                Kind::PlanFee { .. } => "ComputeSavingsPlans",
                _ if line.machine.is_some() => "Compute Instance",
                _ => "",
            }),
            Cell::Sku if line.machine.is_some() || line.kind == Kind::Goods => sku(out, line),
            Cell::RateId if line.kind.is_usage() && is_main => {
                write_number(out, 10_000_000_000 + line.sku_number() % 90_000_000_000);
            }
            Cell::ListCost if line.kind.is_usage() && is_main => line.list.write(out),
            Cell::ListRate if line.kind.is_usage() && is_main => line.list_rate.write(out),
            Cell::Term => text(match line.kind {
                Kind::OnDemand | Kind::Planned | Kind::Goods => "OnDemand",
                kind if kind.is_of_reservation() => "Reserved",
                _ => "",
            }),
            Cell::Unit => text(match line.kind {
                Kind::Goods => line.goods.unit,
                Kind::ReservationUpfront { .. } => "Quantity",
                Kind::PlanFee { .. } => "Hrs",
                _ if line.machine.is_some() => "Hrs",
                _ => "",
            }),
            Cell::Commitment
            | Cell::UsedCommitment
            | Cell::PlanArn
            | Cell::PlanRate
            | Cell::PlanEffective
            | Cell::NoUpfront
            | Cell::PlanOffering
            | Cell::PlanPayment
            | Cell::PlanTerm => plan_cell(out, cell, line, &output.plan_arn, is_main),
            Cell::CreatedBy
            | Cell::CapitalTeam
            | Cell::AnyTeam
            | Cell::Environment
            | Cell::Experiment
            | Cell::Project
            | Cell::Team
            | Cell::Workload
            | Cell::CostCenterTag
                if is_main =>
            {
                tag_cell(out, cell, line);
            }
            Cell::CostCenter if is_main => {
                text("cc-10");
                write_number(out, line.account as u64);
            }
            _ => {
                if let Some(machine) = machine {
                    machine_cell(out, cell, machine, line);
                }
                reservation_cell(out, cell, line, output.stamps.len(), &output.reservation_arn);
            }
        }
    }

    /// 52 characters of a to z and 2 to 7, as AWS's. Unlike the rows' other draws these come from their own
    /// stream, so that they are not what makes two plans differ.
    fn line_item_id(&mut self, out: &mut Vec<u8>) {
        for _ in 0..4 {
            let mut bits = self.ids.next();
            for _ in 0..13 {
                out.push(b"abcdefghijklmnopqrstuvwxyz234567"[(bits & 31) as usize]);
                bits >>= 5;
            }
        }
    }

    /// CUR 2.0 writes thousandths of seconds.
    fn stamp(&self, out: &mut Vec<u8>, hour: usize) {
        let stamp = &self.output.stamps[hour];
        match self.edition {
            Edition::Legacy => out.extend_from_slice(stamp),
            Edition::Second => {
                out.extend_from_slice(&stamp[..19]);
                out.extend_from_slice(b".000Z");
            }
        }
    }
}

impl Writer for AwsCur<'_> {
    fn rows(&self, kind: Kind) -> u64 {
        if kind == Kind::Planned { 2 } else { 1 }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.row(line, Row::Main)?;
        if line.kind == Kind::Planned {
            self.row(line, Row::Negation)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<Totals> {
        self.output.finish()
    }
}

fn line_item_type(kind: Kind, row: Row) -> &'static str {
    match kind {
        Kind::OnDemand | Kind::Spot | Kind::Goods => "Usage",
        Kind::Reserved { .. } => "DiscountedUsage",
        Kind::Planned if row == Row::Negation => "SavingsPlanNegation",
        Kind::Planned => "SavingsPlanCoveredUsage",
        Kind::PlanFee { .. } => "SavingsPlanRecurringFee",
        Kind::ReservationFee { .. } => "RIFee",
        Kind::ReservationUpfront { .. } | Kind::Support => "Fee",
        Kind::Credit => "Credit",
        Kind::Refund => "Refund",
        Kind::Discount => "EdpDiscount",
        Kind::Tax => "Tax",
    }
}

fn product_code(line: &Line) -> &'static str {
    match line.kind {
        Kind::Goods => line.goods.code,
        Kind::PlanFee { .. } => "ComputeSavingsPlans",
        Kind::Support => "AWSSupportEnterprise",
        _ => "AmazonEC2",
    }
}

fn usage_type(out: &mut Vec<u8>, line: &Line) {
    let (name, rest) = match line.kind {
        Kind::Goods => (line.goods.usage_type, ""),
        Kind::OnDemand | Kind::Planned | Kind::Reserved { .. } => ("BoxUsage:", line.machine_name()),
        Kind::Spot => ("SpotUsage:", line.machine_name()),
        Kind::ReservationFee { .. } | Kind::ReservationUpfront { .. } => ("HeavyUsage:", line.machine_name()),
        Kind::PlanFee { .. } => ("ComputeSP:3yrNoUpfront", ""),
        _ => return,
    };
    if !matches!(line.kind, Kind::PlanFee { .. }) {
        out.extend_from_slice(line.region.prefix.as_bytes());
    }
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(rest.as_bytes());
}

fn resource_id(out: &mut Vec<u8>, line: &Line, plan_arn: &str) {
    match line.kind {
        Kind::PlanFee { .. } => out.extend_from_slice(plan_arn.as_bytes()),
        kind if kind.runs() => {
            out.extend_from_slice(b"i-0");
            write_hex(out, line.resource);
        }
        Kind::Goods if !line.goods.resource.is_empty() && line.resource != 0 => {
            out.extend_from_slice(line.goods.resource.as_bytes());
            write_hex(out, line.resource);
        }
        _ => {}
    }
}

fn description(out: &mut Vec<u8>, line: &Line, row: Row) {
    let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
    match line.kind {
        Kind::Planned if row == Row::Negation => {
            text("SavingsPlanNegation used by AccountId : and UsageSku : ");
            sku(out, line);
        }
        Kind::OnDemand | Kind::Planned => {
            text("$");
            line.list_rate.write(out);
            out.extend_from_slice(b" per On Demand Linux ");
            out.extend_from_slice(line.machine_name().as_bytes());
            out.extend_from_slice(b" Instance Hour");
        }
        Kind::Spot => {
            text(line.machine_name());
            text(" Linux/UNIX Spot Instance-hour in ");
            text(line.region.id);
        }
        Kind::Reserved { .. } => {
            text("Linux/UNIX (Amazon VPC), ");
            text(line.machine_name());
            text(" reserved instance applied");
        }
        Kind::Goods => {
            text("$");
            line.list_rate.write(out);
            out.extend_from_slice(b" per ");
            out.extend_from_slice(line.goods.unit.as_bytes());
            out.extend_from_slice(b" - ");
            out.extend_from_slice(line.region.id.as_bytes());
        }
        Kind::PlanFee { .. } => text("3 year No Upfront Compute Savings Plan"),
        Kind::ReservationFee { .. } => {
            text("USD hourly fee per Linux/UNIX (Amazon VPC), ");
            text(line.machine_name());
            text(" instance");
        }
        Kind::ReservationUpfront { .. } => text("Sign up charge for subscription: reservation"),
        Kind::Support => text("AWS Support (Enterprise)"),
        Kind::Credit => text("AWS credit: EDP migration program"),
        Kind::Refund => text("Refund for service disruption"),
        Kind::Discount => text("Enterprise Program Discount"),
        Kind::Tax => text("Tax for product code AmazonEC2"),
    }
}

/// 16 characters of A to Z and 2 to 7.
fn sku(out: &mut Vec<u8>, line: &Line) {
    let mut bits = u128::from(line.sku_number()).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    for _ in 0..16 {
        out.push(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(bits >> 120 & 31) as usize]);
        bits <<= 5;
    }
}
