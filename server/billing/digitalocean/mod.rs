//! DigitalOcean's invoices, with what it bills for Paperspace: the CSV of an invoice, and the answer of the API that lists its
//! lines (`invoice_items`).
//!
//! | what | rule |
//! |---|---|
//! | account | none is stated: a login has one ([`UNNAMED_ACCOUNT`]), so that both forms of an invoice are one scope |
//! | sub account | the project, `project_name` |
//! | billing month | the month in which a line begins, in UTC |
//! | currency | the name of the column that holds the amounts; of JSON, which states none, USD |
//! | billed, effective, list, contracted cost | the amount: an invoice states no other |
//! | period | half-open: an end at 23:59:59 is the midnight behind it |
//! | category | Tax of the product `Taxes`; an Adjustment where the amount is below zero and no hours are stated; else Usage |
//! | quantity | `hours`, of JSON `duration` in `duration_unit` |
//! | machine | the size in parentheses at the end of a Droplet's or a Kubernetes node's description |
//! | resource | `resource_uuid`, else `resource_id`, else the description without the size |
//! | meter | the size; of taxes and adjustments the description; else the product, since descriptions hold names of resources |
//! | accumulation | the whole month: an invoice in the other form replaces it |
//!
//! Columns, amounts as text and pages are from DigitalOcean's OpenAPI, "Retrieve an Invoice by UUID" and "Retrieve an Invoice
//! CSV by UUID". Its page "Invoices" says that it bills in USD alone.
//!
//! Not documented, and decided here: that a description names its machine's size in parentheses, which only examples of others show;
//! which products bill GPU Droplets and Paperspace, so that a GPU's size beside another product is said and not counted; and
//! what lines credits have, so that none of them is a Credit.

mod columns;
mod page;
mod product;

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};

use super::account_id::UNNAMED_ACCOUNT;
use super::billing_period::month_of;
use super::charge::{Charge, ChargeCategory, PricingCategory, is_negation};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::rows::Members;
use super::value::{self, TimeColumn};
use super::{Format, Guide, Mandatory};
use crate::money::Decimal;
use columns::{Amount, END, HOURS, MANDATORY, START};

pub(super) struct DigitalOceanInvoice;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "DigitalOcean";

/// Of the column `hours`.
const HOURS_UNIT: &str = "Hours";

const BESIDE_MACHINES: &str =
    "a GPU's size beside a product that is neither Droplets nor Kubernetes: its hours are not counted";
const ONE_AMOUNT: &str = "one column of amounts, which is named after its currency: USD";

impl Format for DigitalOceanInvoice {
    fn name(&self) -> &'static str {
        "digitalocean-invoice"
    }

    fn label(&self) -> &'static str {
        "DigitalOcean invoice"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "DigitalOcean and Paperspace",
            export: "Invoice",
            steps: "On the Billing page, download the invoice of a month as CSV. Or save the invoice's lines from the API, all of them \
                    on one page.",
            forms: "CSV or JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY.as_slice()
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("product") && header.has_any(HOURS)
    }

    fn list(&self) -> Option<&'static str> {
        Some("invoice_items")
    }

    fn names(&self) -> Vec<&'static str> {
        columns::NAMES.to_vec()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![columns::amount_keys().to_vec()]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

struct Reader {
    at: At,
    amount: Option<Amount>,
    times: [TimeColumn; 2],
    last_needed: usize,
    key_columns: Vec<usize>,
    line: Line,
    product: String,
    description: String,
}

/// Where the columns are.
struct At {
    product: Column,
    description: Column,
    start: Column,
    end: Column,
    hours: Column,
    unit: Column,
    project: Column,
    resource: [Column; 2],
}

/// What the key of a line has beside its product and its project. Descriptions hold names of resources, so that the column
/// itself would make as many keys.
#[derive(Default)]
struct Line {
    category: ChargeCategory,
    instance_type: String,
    meter: String,
    unit: String,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let at = At {
            product: header.find("product"),
            description: header.find("description"),
            start: header.find_any(START),
            end: header.find_any(END),
            hours: header.find_any(HOURS),
            unit: header.find("durationunit"),
            project: header.find("projectname"),
            resource: [header.find("resourceuuid"), header.find("resourceid")],
        };
        Self {
            amount: columns::amount(header),
            times: Default::default(),
            last_needed: Mandatory::last(MANDATORY.as_slice(), header),
            key_columns: [at.product, at.project].into_iter().flatten().collect(),
            at,
            line: Line::default(),
            product: String::new(),
            description: String::new(),
        }
    }

    fn read_amount(&self, row: &Row<'_>) -> Result<Decimal, Problem> {
        let Some(Amount { column, currency }) = &self.amount else {
            return Err(row.problem(None, ONE_AMOUNT));
        };
        let column = Some(*column);
        if row.is_null(column) {
            return Err(row.problem(column, value::AN_AMOUNT));
        }
        value::amount(row.word(column), currency.as_bytes()).map_err(|expected| row.problem(column, expected))
    }

    fn read_line(&mut self, row: &mut Row<'_>, cost: Decimal, hours: Option<Decimal>) -> Result<(), Problem> {
        let Self { at, line, product, description, .. } = self;
        for text in [&mut *product, description, &mut line.instance_type, &mut line.meter, &mut line.unit] {
            text.clear();
        }
        row.text(at.product, product)?;
        row.text(at.description, description)?;
        line.category = match hours {
            _ if product::is_tax(product) => ChargeCategory::Tax,
            None if cost.is_negative() => ChargeCategory::Adjustment,
            _ => ChargeCategory::Usage,
        };
        if line.category != ChargeCategory::Usage {
            line.meter.push_str(description);
            return Ok(());
        }
        if hours.is_some() {
            row.text(at.unit, &mut line.unit)?;
            if at.unit.is_none() {
                line.unit.push_str(HOURS_UNIT);
            }
        }
        let size = product::sized(description).map(|(_, size)| size);
        let machine = size.filter(|_| product::is_machines(product));
        if machine.is_none() && hours.is_some() && size.is_some_and(|size| size.starts_with("gpu-")) {
            row.remark(BESIDE_MACHINES);
        }
        line.instance_type.push_str(machine.unwrap_or_default());
        line.meter.push_str(machine.unwrap_or(product));
        Ok(())
    }

    fn read_resource(&self, row: &Row<'_>, out: &mut String) -> Result<(), Problem> {
        for column in self.at.resource {
            if out.is_empty() {
                row.text(column, out)?;
            }
        }
        if out.is_empty() && self.line.category == ChargeCategory::Usage {
            let description = self.description.as_str();
            out.push_str(product::sized(description).map_or(description, |(name, _)| name));
        }
        Ok(())
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: [self.at.start, self.at.end].into_iter().flatten().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn members(&self, members: &Members, rows: u64) -> Option<String> {
        page::note(members, rows)
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        charge.period = row.period([self.at.start, self.at.end], &mut self.times)?;
        charge.period.end = behind(charge.period.end);
        charge.billing_month = month_of(&row, self.at.start, charge.period.start)?;
        let cost = self.read_amount(&row)?;
        let hours = row.quantity(self.at.hours)?;
        self.read_line(&mut row, cost, hours)?;
        self.read_resource(&row, &mut charge.resource_id)?;
        charge.billed_cost = cost;
        charge.effective_cost = cost;
        charge.list_cost = cost;
        charge.contracted_cost = cost;
        charge.consumed_quantity = hours;
        let Line { category, instance_type, meter, unit } = &self.line;
        charge.is_metered =
            *category == ChargeCategory::Usage && hours.is_some_and(|quantity| !is_negation(cost, quantity));
        for text in [category.as_str(), instance_type, meter, unit] {
            charge.key_cells.extend_from_slice(text.as_bytes());
            charge.key_cells.push(b'\n');
        }
        Ok(Outcome::Charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, amount, line, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        key.currency.push_str(amount.as_ref().map_or("", |amount| amount.currency.as_str()));
        // A name, and no id that a spreadsheet could have shortened.
        row.text(at.project, &mut key.sub_account)?;
        row.text(at.product, &mut key.service)?;
        key.service_category.push_str(product::category(&key.service));
        key.category = line.category;
        key.instance_type.push_str(&line.instance_type);
        key.meter.push_str(&line.meter);
        key.unit.push_str(&line.unit);
        if line.category == ChargeCategory::Usage {
            key.pricing = PricingCategory::Standard;
        }
        Ok(())
    }
}

/// The end of a period that is written with its last second.
fn behind(end: DateTime<Utc>) -> DateTime<Utc> {
    let is_last_second = (end.hour(), end.minute(), end.second()) == (23, 59, 59);
    if is_last_second { end + TimeDelta::seconds(1) } else { end }
}
