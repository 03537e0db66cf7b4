//! How a row of an AWS Cost and Usage Report becomes a charge; one way for the legacy report, its snake
//! case form and CUR 2.0, over columns that were resolved once.
//!
//! BilledCost is `UnblendedCost` of every row, so that the cost column of the file and of the ledger
//! agree. The other costs follow from the line item type:
//!
//! | LineItemType | charge category | pricing category | effective cost | list cost | contracted cost | metered |
//! |---|---|---|---|---|---|---|
//! | `Usage` | Usage | Dynamic where the usage type says `SpotUsage`, else Standard | billed | `publicOnDemandCost`, else billed | billed | yes |
//! | `DiscountedUsage` (reservation) | Usage | Committed | `reservation/EffectiveCost`, else billed | `publicOnDemandCost`, else billed | as list | yes |
//! | `SavingsPlanCoveredUsage` | Usage | Committed | `savingsPlan/SavingsPlanEffectiveCost`, else billed | `publicOnDemandCost`, else billed | billed | yes |
//! | `SavingsPlanNegation` | Usage | Committed | 0 | 0 | 0 | no |
//! | `RIFee` | Purchase | Standard | `UnusedAmortizedUpfrontFeeForBillingPeriod` + `UnusedRecurringFee` | billed | billed | no |
//! | `SavingsPlanRecurringFee` | Purchase | Standard | `TotalCommitmentToDate` − `UsedCommitment` | billed | billed | no |
//! | `SavingsPlanUpfrontFee` | Purchase | Standard | 0 | billed | billed | no |
//! | `Fee` of a reservation | Purchase | Standard | 0 | billed | billed | no |
//! | `Fee` (support, marketplace, domains) | Purchase | Standard | billed | billed | billed | no |
//! | `Tax` | Tax | none | billed | billed | billed | no |
//! | `Credit` | Credit | none | billed | billed | billed | no |
//! | `Refund` | Adjustment, correction | none | billed | billed | billed | no |
//! | `EdpDiscount`, `PrivateRateDiscount`, `Discount`, `BundledDiscount`, `RiVolumeDiscount`, `SppDiscount` | Adjustment | none | billed | 0 | billed | no |
//! | any other | Adjustment, and said | none | billed | billed | billed | no |
//!
//! Sources. *Effective cost*: the amortized cost of AWS's own query library (awslabs,
//! `aws-well-architected-labs`, `300_CUR_Queries/Code/Global/amortized_cost_by_charge_type.sql`), which
//! matches Cost Explorer, and the CUR user guide's meaning of the columns (awsdocs,
//! `aws-cur-user-guide`). *Categories*: FOCUS 1.0 to 1.4, ChargeCategory, ChargeClass and PricingCategory,
//! with the mappings in the specification's `supporting_content`. *List and contracted cost*: FOCUS, which
//! prices usage at list however it is covered, lets credits, taxes and purchases match the billed cost,
//! and folds negotiated discounts into prices; so a discount's own row lowers every cost but the list cost.
//!
//! Rules where an input is empty or absent:
//! - Without the column `reservation/EffectiveCost` (or `savingsPlan/SavingsPlanEffectiveCost`) the file
//!   amortises nothing: effective cost is billed cost for that whole family of rows, so that its sum still
//!   holds every cent once. The import says so.
//!   Its fees are then what covered usage costs, and not what nothing used: their pricing category is Committed.
//! - With the column, an empty cell on covered usage means billed cost; empty inputs of a fee mean that no
//!   part of it is stated as unused: 0, as in AWS's query, because covered usage carries the fee.
//! - `Net…` columns are not read: private discounts arrive as rows of their own, and both would count twice.
//! - `BlendedCost` is never read.
//!
//! Metered hours are cloud GPU-hours. Not metered though they are usage: `Reservation:` and `DedicatedRes:`
//! (capacity that is billed under the instance or as `UnusedBox:`), and what is sold per instance hour
//! beside the instance: `SoftwareUsage:`, `EBSOptimized:`, `CPUCredits:`. Rows of split cost allocation
//! (`EKSPod-EC2`, `ECSTask-EC2` …) take the place of as much of their instance's effective cost and time, or are skipped; see
//! [`split`].

mod columns;
mod effective;
mod service;
mod split;
mod tags;

use std::any::Any;

use super::account_id::{canonical_account, canonical_sub_account};
use super::billing_period::BillingPeriod;
use super::charge::{Charge, PricingCategory};
use super::currency::CurrencyColumn;
use super::date_order::DateColumns;
use super::header::Header;
use super::machine_cell::Machine;
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Mandatory, instance_type};
use crate::money::Decimal;
use effective::{Amortization, LineItem};
use split::{Part, SplitColumns, SplitCosts};
use tags::TagColumns;

pub(super) use columns::{columns, feeds};
pub(super) use service::{category as service_category, code as service_code};
pub(super) use tags::COST_CATEGORY;

pub(super) const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "lineItem/LineItemType", keys: &["lineitemlineitemtype"] },
    Mandatory { name: "lineItem/UnblendedCost", keys: &["lineitemunblendedcost"] },
    Mandatory { name: "lineItem/CurrencyCode", keys: &["lineitemcurrencycode"] },
    Mandatory { name: "lineItem/UsageStartDate", keys: &["lineitemusagestartdate"] },
    Mandatory { name: "lineItem/UsageEndDate", keys: &["lineitemusageenddate"] },
    Mandatory { name: "bill/PayerAccountId", keys: &["billpayeraccountid"] },
    Mandatory { name: "bill/BillingPeriodStartDate", keys: &["billbillingperiodstartdate"] },
];

pub(super) const PROVIDER: &str = "AWS";

/// Turns rows into charges.
pub(super) struct Reader {
    at: At,
    times: [TimeColumn; 2],
    billing_period: BillingPeriod,
    currency: CurrencyColumn,
    last_needed: usize,
    identity: Vec<usize>,
    key_columns: Vec<usize>,
    product: Machine,
    split_costs: SplitCosts,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    line_item_type: Column,
    billed: Column,
    currency: Column,
    start: Column,
    end: Column,
    payer: Column,
    usage_account: Column,
    product_code: Column,
    product_name: Column,
    billing_entity: Column,
    usage_type: Column,
    operation: Column,
    availability_zone: Column,
    resource: Column,
    amount: Column,
    unit: Column,
    on_demand: Column,
    region: [Column; 2],
    sku: Column,
    instance_type: Column,
    gpu: Column,
    invoice: Column,
    reservation: Vec<usize>,
    savings_plan: Vec<usize>,
    split: SplitColumns,
    amortization: Amortization,
    tags: TagColumns,
    product_map: Column,
}

impl Reader {
    pub fn new(header: &Header) -> Self {
        let find = |key: &str| header.find(key);
        let mut key_columns = Vec::new();
        let mut key = |key: &str| {
            let column = header.find(key);
            key_columns.extend(column);
            column
        };
        let at = At {
            line_item_type: key("lineitemlineitemtype"),
            billed: find("lineitemunblendedcost"),
            currency: key("lineitemcurrencycode"),
            start: find("lineitemusagestartdate"),
            end: find("lineitemusageenddate"),
            payer: key("billpayeraccountid"),
            usage_account: key("lineitemusageaccountid"),
            product_code: key("lineitemproductcode"),
            product_name: key("productproductname"),
            billing_entity: key("billbillingentity"),
            usage_type: key("lineitemusagetype"),
            operation: find("lineitemoperation"),
            availability_zone: key("lineitemavailabilityzone"),
            resource: find("lineitemresourceid"),
            amount: find("lineitemusageamount"),
            unit: key("pricingunit"),
            on_demand: find("pricingpublicondemandcost"),
            region: [key("productregioncode"), key("productregion")],
            sku: key("productsku"),
            instance_type: key("productinstancetype"),
            gpu: key("productgpu"),
            invoice: find("billinvoiceid"),
            reservation: header.find_every("reservationreservationarn"),
            savings_plan: header.find_every("savingsplansavingsplanarn"),
            split: SplitColumns::new(header),
            amortization: Amortization::new(header),
            tags: TagColumns::new(header),
            product_map: key("product"),
        };
        key_columns.extend(at.reservation.iter().chain(&at.savings_plan));
        key_columns.extend(at.tags.columns());
        // The id alone returns for every hour, and pods share that of their machine.
        let named = find("identitylineitemid").map(|id| {
            let others = [find("identitytimeinterval"), at.start, at.end, at.line_item_type, at.resource];
            std::iter::once(id).chain(others.into_iter().flatten()).collect()
        });
        Self {
            times: Default::default(),
            billing_period: BillingPeriod::new(
                find("billbillingperiodstartdate"),
                find("billbillingperiodenddate"),
            ),
            currency: CurrencyColumn::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            identity: named.unwrap_or_default(),
            key_columns,
            at,
            product: Machine::default(),
            split_costs: SplitCosts::default(),
            scratch: Vec::new(),
            text: String::new(),
        }
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        self.billing_period.dates([self.at.start, self.at.end])
    }

    /// `identity/LineItemId` is "unique in a given partition" of one report, says AWS's data dictionary.
    fn identity(&self) -> &[usize] {
        &self.identity
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// For parts, then for machines that have some.
    fn looks(&self, row: &Row<'_>) -> usize {
        let is_asked =
            self.at.split.are_stated() && (is_split_cost(&self.at, row) || is_machine(&self.at, row));
        if is_asked { 2 } else { 0 }
    }

    fn looks_on(&self) -> bool {
        self.split_costs.has_any()
    }

    fn learn(&mut self, mut row: Row<'_>, look: usize) {
        let mut charge = Charge::default();
        if look == 0 {
            // What would be rejected takes nothing from its machine.
            if is_split_cost(&self.at, &row)
                && let Ok(Some(cost)) = self.part_cost(&mut row.again(), &mut charge)
                && self.at.tags.read(&mut row.again(), &mut self.scratch, &mut self.text, &mut charge).is_ok()
                && charge.settle().is_ok()
            {
                let at = &self.at;
                let (machine, start) = (row.word(at.split.parent), row.word(at.start));
                self.split_costs.learn_part(machine, start, is_of_accelerator(at, &row), cost);
            }
            return;
        }
        let at = &self.at;
        let (machine, start) = (row.word(at.resource), row.word(at.start));
        if !is_machine(at, &row) || !self.split_costs.has_parts(machine, start) {
            return;
        }
        let is_read = self.read_own(&mut row.again(), &mut charge).is_ok()
            && self.read_key(&mut row, &mut charge).is_ok()
            && charge.settle().is_ok();
        if is_read {
            self.split_costs.learn_own(machine, start, &charge);
        }
    }

    fn hand_over(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.split_costs)))
    }

    fn take_over(&mut self, learned: Box<dyn Any + Send>) {
        if let Ok(split_costs) = learned.downcast() {
            self.split_costs = *split_costs;
        }
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        self.split_costs.begin();
        if is_split_cost(&self.at, &row) {
            return self.read_part(&mut row, charge);
        }
        self.read_own(&mut row, charge)?;
        let at = &self.at;
        if is_machine(at, &row) && self.split_costs.own(row.word(at.resource), row.word(at.start), charge) {
            row.remark("split cost allocation: the instance keeps what its pods and tasks did not take");
        }
        Ok(Outcome::Charge)
    }

    fn key(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        if let Some(key) = self.split_costs.key() {
            charge.key.clone_from(key);
            return self.at.tags.read(&mut row, &mut self.scratch, &mut self.text, charge);
        }
        self.read_key(&mut row, charge)
    }
}

impl Reader {
    /// A part of a machine's cost.
    fn read_part(&mut self, row: &mut Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Some(cost) = self.part_cost(row, charge)? else {
            return Ok(Outcome::Skipped(split::ALONE));
        };
        let Self { at, split_costs, .. } = self;
        let (machine, start) = (row.word(at.split.parent), row.word(at.start));
        match split_costs.part(machine, start, (is_of_accelerator(at, row), cost), charge) {
            Part::Skipped(reason) => Ok(Outcome::Skipped(reason)),
            Part::Taken => {
                row.remark("split cost allocation: a pod's or task's part of its instance's cost");
                Ok(Outcome::Charge)
            }
        }
    }

    /// What can be wrong with a part, and its cost.
    fn part_cost(&mut self, row: &mut Row<'_>, charge: &mut Charge) -> Result<Option<Decimal>, Problem> {
        let Self { at, times, billing_period, .. } = self;
        row.counted_in(at.currency);
        charge.period = row.period([at.start, at.end], times)?;
        charge.billing_month = billing_period.month(row)?;
        charge.billed_cost = row.amount(at.billed)?.unwrap_or_default();
        row.text(at.split.parent, &mut charge.resource_id)?;
        row.text(at.invoice, &mut charge.invoice_id)?;
        at.split.cost(row)
    }

    /// A charge that is no part of another.
    fn read_own(&mut self, row: &mut Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, times, billing_period, .. } = self;
        row.counted_in(at.currency);
        let kind = line_item(at, row)?;
        charge.billed_cost = row.needed_amount(at.billed)?;
        charge.period = row.period([at.start, at.end], times)?;
        charge.billing_month = billing_period.month(row)?;
        row.text(at.resource, &mut charge.resource_id)?;
        row.text(at.invoice, &mut charge.invoice_id)?;
        if kind.is_usage() {
            charge.consumed_quantity = row.quantity(at.amount)?;
            charge.is_metered =
                charge.consumed_quantity.is_some() && !is_beside_the_instance(row.word(at.usage_type));
        }
        // A price for comparison only: what is none counts as not stated.
        let list = row.amount(at.on_demand).unwrap_or_else(|_| {
            row.remark("the on-demand cost is no number and taken as not stated");
            None
        });
        at.amortization.fill(kind, list, row, charge)?;
        if kind == LineItem::Other {
            row.remark("an unknown line item type is booked as an adjustment");
        }
        Ok(())
    }

    fn read_key(&mut self, row: &mut Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, currency, product, scratch, text, .. } = self;
        let kind = line_item(at, row)?;
        let key = &mut charge.key;
        currency
            .read(row.word(at.currency), &mut key.currency)
            .map_err(|expected| row.problem(at.currency, expected))?;
        if key.currency.len() != 3 {
            return Err(row.problem(at.currency, "a currency code of three letters"));
        }
        key.provider.push_str(PROVIDER);
        let id = |column: Column| std::str::from_utf8(row.word(column)).unwrap_or_default();
        canonical_account(PROVIDER, id(at.payer), "", &mut key.billing_account)
            .map_err(|expected| row.problem(at.payer, expected))?;
        if row.is_null(at.usage_account) {
            key.sub_account.push_str(&key.billing_account);
        } else {
            canonical_sub_account(PROVIDER, id(at.usage_account), &mut key.sub_account)
                .map_err(|expected| row.problem(at.usage_account, expected))?;
        }
        service(row, at, &mut key.service)?;
        key.service_category.push_str(service_category(&key.service));
        row.text(at.usage_type, &mut key.meter)?;
        row.text(at.sku, &mut key.sku)?;
        row.text(at.unit, &mut key.unit)?;
        row.text(at.instance_type, &mut key.instance_type)?;
        row.text(at.gpu, &mut key.stated_accelerators)?;
        if at.product_map.is_some() {
            let product = product.read(row, at.product_map, scratch);
            for (text, stated) in [
                (&mut key.instance_type, &product.instance_type),
                (&mut key.stated_accelerators, &product.accelerators),
                (&mut key.sku, &product.sku),
                (&mut key.region, &product.region),
            ] {
                if text.is_empty() {
                    text.push_str(stated);
                }
            }
        }
        if key.instance_type.is_empty()
            && let Some((_, suffix)) = key.meter.rsplit_once(':')
            && instance_type::is_aws(suffix)
        {
            key.instance_type.push_str(suffix);
        }
        region(row, at, &mut key.region)?;
        key.category = kind.category();
        key.pricing = if at.amortization.is_in_the_fee(kind, row) {
            PricingCategory::Committed
        } else {
            kind.pricing(key.meter.contains("SpotUsage"))
        };
        key.is_correction = kind == LineItem::Refund;
        for column in at.reservation.iter().chain(&at.savings_plan) {
            if key.commitment_discount_id.is_empty() {
                row.text(Some(*column), &mut key.commitment_discount_id)?;
            }
        }
        at.tags.read(row, scratch, text, charge)
    }
}

fn line_item(at: &At, row: &Row<'_>) -> Result<LineItem, Problem> {
    let kind = LineItem::parse(row.word(at.line_item_type));
    kind.ok_or_else(|| row.problem(at.line_item_type, "a line item type such as Usage"))
}

/// Rows of split cost allocation carry no cost of their own; where one does, it is kept.
fn is_split_cost(at: &At, row: &Row<'_>) -> bool {
    let is_split = matches!(
        row.word(at.operation),
        b"EKSPod-EC2" | b"ECSTask-EC2" | b"EKSPod" | b"ECSTask" | b"FargatePod" | b"FargateTask"
    ) || !row.is_null(at.split.parent);
    is_split && row.word(at.billed).iter().all(|byte| matches!(byte, b'0' | b'.' | b'-'))
}

/// Rows of the machine itself: `USW2-BoxUsage:p5.48xlarge` and its kin, on demand, spot or covered.
fn is_machine(at: &At, row: &Row<'_>) -> bool {
    let usage_type = row.word(at.usage_type);
    let Some(colon) = memchr::memchr(b':', usage_type) else { return false };
    let is_box = ["BoxUsage", "SpotUsage", "DedicatedUsage"]
        .iter()
        .any(|kind| usage_type[..colon].ends_with(kind.as_bytes()));
    let is_usage = LineItem::parse(row.word(at.line_item_type)).is_some_and(LineItem::is_usage);
    is_box && is_usage && !row.is_null(at.resource)
}

/// Parts of a machine's processors and memory are metered as such (`USE1-EKS-EC2-vCPU-Hours`, `…-GB-Hours`); what else is
/// divided are its accelerators.
fn is_of_accelerator(at: &At, row: &Row<'_>) -> bool {
    let usage_type = row.word(at.usage_type);
    !["vCPU-Hours", "GB-Hours"].iter().any(|kind| usage_type.ends_with(kind.as_bytes()))
        && !usage_type.is_empty()
}

/// The product code (`AmazonEC2`), which FOCUS exports of AWS give as `x_ServiceCode`; marketplace
/// products go by their name, for their code means nothing to anyone.
fn service(row: &Row<'_>, at: &At, out: &mut String) -> Result<(), Problem> {
    if row.word(at.billing_entity) == b"AWS Marketplace" {
        row.text(at.product_name, out)?;
    }
    if out.is_empty() {
        row.text(at.product_code, out)?;
    }
    if out.is_empty() && !row.is_null(at.product_name) {
        row.text(at.product_name, out)?;
        if let Some(code) = service_code(out) {
            code.clone_into(out);
        }
    }
    Ok(())
}

fn region(row: &Row<'_>, at: &At, out: &mut String) -> Result<(), Problem> {
    for column in at.region {
        if out.is_empty() {
            row.text(column, out)?;
        }
    }
    if out.is_empty() {
        row.text(at.availability_zone, out)?;
        // us-east-1a lies in us-east-1.
        if out.ends_with(|c: char| c.is_ascii_lowercase())
            && out.as_bytes().iter().rev().nth(1).is_some_and(u8::is_ascii_digit)
        {
            out.pop();
        }
    }
    Ok(())
}

/// `USW2-Reservation:p5.48xlarge` and the like: hours that are not, or not again, hours of a machine.
fn is_beside_the_instance(usage_type: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', usage_type) else { return false };
    ["Reservation", "DedicatedRes", "SoftwareUsage", "EBSOptimized", "CPUCredits"]
        .iter()
        .any(|beside| usage_type[..colon].ends_with(beside.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_beside_the_instance_are_not_its_hours() {
        for (usage_type, beside) in [
            ("USW2-Reservation:p5.48xlarge", true),
            ("EBSOptimized:p3.16xlarge", true),
            ("SoftwareUsage:m5.xlarge", true),
            ("USW2-UnusedBox:p5.48xlarge", false),
            ("BoxUsage:p5.48xlarge", false),
            ("BoxUsage", false),
        ] {
            assert_eq!(is_beside_the_instance(usage_type.as_bytes()), beside, "{usage_type}");
        }
    }
}
