//! Google Cloud's billing export to BigQuery, standard and detailed: as JSON lines or Parquet out of BigQuery, or as a CSV that
//! somebody flattened (`project.id` or `project_id`; lists in JSON or as Python prints them).
//!
//! | what | rule |
//! |---|---|
//! | billing month | `invoice.month`, whatever month the usage was in |
//! | billed cost | `cost`, which is before credits; each credit is a charge of its own, so that what is paid is their sum |
//! | effective cost | `cost` with the credits that make its price less (commitments, sustained use, negotiated discounts, free tier), as Google's FOCUS view has it; these credits have none of their own. Promotions pay like money and have theirs |
//! | contracted cost | what it is without a commitment: `cost_at_effective_price_default`, else `cost`; of a commitment's fee and its credits 0 |
//! | list cost | `cost_at_list`, else `cost`; of a commitment's fee and of every discount 0 |
//! | charge category | by `cost_type`: tax, or else an adjustment unless it is regular; a Purchase where the SKU is a commitment; else Usage |
//! | charge class | Correction where `adjustment_info.id` is there |
//! | pricing category | Dynamic where the SKU says spot or preemptible; Committed where `consumption_model` is one of a commitment, or a commitment's credit covers the usage; Other for the Dynamic Workload Scheduler; else Standard |
//! | quantity | of usage alone: `usage.amount_in_pricing_units` where that unit is of time, else `usage.amount` |
//! | machine | of the row itself: `compute.googleapis.com/machine_spec` of `system_labels`; its GPUs are meters of their own, and those count them |
//! | meter | `sku.description`; of a credit its name |
//! | tags | labels of the project, then of the resource, then its tags: the last of a name wins |
//! | accumulation | the whole invoice month of a billing account |
//!
//! Both models of spend-based commitments are read (Google, *Committed use discounts: verify the new data model*). In the one
//! before 2025 a covered row has its price and a credit. In the one since, a covered row has the discounted price, and the fee
//! of the commitment has a credit for what was used of it. Cost and all credits together are what is paid in either. A fee's
//! unit is `hour` and its amount dollars, so nothing of it is metered.

mod columns;
mod credits;
mod python;

use chrono::Datelike as _;

use super::account_id::{canonical_account, canonical_sub_account};
use super::charge::{Charge, ChargeCategory, PricingCategory, is_negation};
use super::currency::CurrencyColumn;
use super::date_order::{DateColumns, DateOrder};
use super::guide::Guide;
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Format, Mandatory, json};
use crate::accelerator::seconds_per_unit;
use crate::period::BillingMonth;
use credits::Credits;

pub(super) struct GoogleBilling;

const PROVIDER: &str = "Google Cloud";

static MANDATORY: &[Mandatory] = &[
    Mandatory { name: "billing_account_id", keys: &["billingaccountid"] },
    Mandatory { name: "sku.description", keys: &["skudescription"] },
    Mandatory { name: "usage_start_time", keys: &["usagestarttime"] },
    Mandatory { name: "usage_end_time", keys: &["usageendtime"] },
    Mandatory { name: "cost", keys: &["cost"] },
    Mandatory { name: "currency", keys: &["currency"] },
    Mandatory { name: "credits", keys: &["credits"] },
    Mandatory { name: "invoice.month", keys: &["invoicemonth"] },
];

impl Format for GoogleBilling {
    fn name(&self) -> &'static str {
        "gcp-billing"
    }

    fn label(&self) -> &'static str {
        "Google Cloud billing export"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Google Cloud",
            export: "Detailed or standard usage cost (BigQuery)",
            steps: "Under Billing export, enable the detailed usage cost export to BigQuery. Export all rows of an invoice month \
                    as newline-delimited JSON or as Parquet, and upload the file.",
            forms: "JSON or Parquet; CSV where it was flattened",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn maps(&self) -> &'static [&'static str] {
        &["credits", "labels", "projectlabels", "systemlabels", "tags"]
    }

    fn names(&self) -> Vec<&'static str> {
        columns::names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["cost"], vec!["credits"]]
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
    times: [TimeColumn; 2],
    currency: CurrencyColumn,
    last_needed: usize,
    key_columns: Vec<usize>,
    /// Those of the row that is being read.
    credits: Credits,
    /// Which of them is the charge that is being read; `None` for the row itself.
    credit: Option<usize>,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    account: Column,
    project: Column,
    service: Column,
    sku: Column,
    sku_description: Column,
    start: Column,
    end: Column,
    region: Column,
    location: Column,
    cost: Column,
    cost_at_list: Column,
    cost_without_commitment: Column,
    currency: Column,
    amount: Column,
    unit: Column,
    priced_amount: Column,
    priced_unit: Column,
    credits: Column,
    month: Column,
    cost_type: Column,
    adjustment: Column,
    resource: [Column; 2],
    consumption_model: Column,
    subscription: Column,
    system_labels: Column,
    tags: [Column; 3],
}

impl Reader {
    fn new(header: &Header) -> Self {
        let find = |key: &str| header.find(key);
        let mut key_columns = Vec::new();
        let mut key = |key: &str| {
            let column = header.find(key);
            key_columns.extend(column);
            column
        };
        let at = At {
            account: key("billingaccountid"),
            project: key("projectid"),
            service: key("servicedescription"),
            sku: key("skuid"),
            sku_description: key("skudescription"),
            start: find("usagestarttime"),
            end: find("usageendtime"),
            region: key("locationregion"),
            location: key("locationlocation"),
            cost: find("cost"),
            cost_at_list: find("costatlist"),
            cost_without_commitment: find("costateffectivepricedefault"),
            currency: key("currency"),
            amount: find("usageamount"),
            unit: key("usageunit"),
            priced_amount: find("usageamountinpricingunits"),
            priced_unit: key("usagepricingunit"),
            credits: find("credits"),
            month: find("invoicemonth"),
            cost_type: key("costtype"),
            adjustment: key("adjustmentinfoid"),
            resource: [find("resourceglobalname"), find("resourcename")],
            consumption_model: key("consumptionmodeldescription"),
            subscription: key("subscriptioninstanceid"),
            system_labels: key("systemlabels"),
            tags: [key("projectlabels"), key("labels"), key("tags")],
        };
        Self {
            times: Default::default(),
            currency: CurrencyColumn::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns,
            at,
            credits: Credits::default(),
            credit: None,
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    /// What a row and its credits have in common beside their key.
    fn read_common(&mut self, row: &Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        charge.period = row.period([self.at.start, self.at.end], &mut self.times)?;
        charge.billing_month = month(row, self.at.month)?;
        for column in self.at.resource {
            if charge.resource_id.is_empty() {
                row.text(column, &mut charge.resource_id)?;
            }
        }
        // Whether a commitment covers a usage follows from its credits, which are no columns of the key.
        charge.key_cells.push(u8::from(self.credits.are_of_commitment()));
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

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let at = &self.at;
        row.counted_in(at.currency);
        self.credit = None;
        self.credits
            .read(row.cell(at.credits, &mut self.scratch))
            .map_err(|expected| row.problem(at.credits, expected))?;
        let cost = row.needed_amount(at.cost)?;
        charge.billed_cost = cost;
        charge.effective_cost = self
            .credits
            .discounts()
            .and_then(|discounts| cost.checked_add(discounts))
            .map_err(|error| row.problem(at.credits, error.to_string()))?;
        let category = category(at, &row)?;
        // What a fee pays for is in the list cost of the usage that it covers.
        if category != ChargeCategory::Purchase {
            charge.contracted_cost = row.amount(at.cost_without_commitment)?.unwrap_or(cost);
            charge.list_cost = row.amount(at.cost_at_list)?.unwrap_or(cost);
        }
        if category == ChargeCategory::Usage {
            let amount = if is_time(&row, at.priced_unit) { at.priced_amount } else { at.amount };
            charge.consumed_quantity = row.quantity(amount)?;
            charge.is_metered = charge.consumed_quantity.is_some_and(|quantity| !is_negation(cost, quantity));
        }
        self.read_common(&row, charge)?;
        Ok(Outcome::Charge)
    }

    fn further(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        let next = self.credit.map_or(0, |credit| credit + 1);
        let Some(credit) = self.credits.get(next) else { return Ok(false) };
        self.credit = Some(next);
        charge.key_cells.extend_from_slice(credit.name.as_bytes());
        (charge.billed_cost, charge.effective_cost) = (credit.amount, credit.promotion);
        // What is taken off a fee is no more in them than the fee itself.
        if category(&self.at, &row)? != ChargeCategory::Purchase {
            (charge.contracted_cost, charge.list_cost) = (credit.contracted_cost, credit.promotion);
        }
        self.read_common(&row, charge)?;
        Ok(true)
    }

    fn key(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, currency, credits, credit, scratch, text, .. } = self;
        let credit = credit.and_then(|credit| credits.get(credit));
        let key = &mut charge.key;
        currency
            .read(row.word(at.currency), &mut key.currency)
            .map_err(|expected| row.problem(at.currency, expected))?;
        key.provider.push_str(PROVIDER);
        let id = |column: Column| std::str::from_utf8(row.word(column)).unwrap_or_default();
        if row.is_null(at.account) {
            return Err(row.problem(at.account, "the billing account, such as 01A2B3-C4D5E6-F7A8B9"));
        }
        canonical_account(PROVIDER, id(at.account), "", &mut key.billing_account)
            .map_err(|expected| row.problem(at.account, expected))?;
        // Taxes and what else is of the account are of no project.
        if !row.is_null(at.project) {
            canonical_sub_account(PROVIDER, id(at.project), &mut key.sub_account)
                .map_err(|expected| row.problem(at.project, expected))?;
        }
        row.text(at.service, &mut key.service)?;
        key.service_category.push_str(columns::service_category(&key.service));
        row.text(at.sku, &mut key.sku)?;
        region(&row, at, &mut key.region)?;
        row.text(at.subscription, &mut key.commitment_discount_id)?;
        let category = category(at, &row)?;
        text.clear();
        row.text(at.sku_description, text)?;
        let is_committed = credits.are_of_commitment() || is_of_commitment(&row, at.consumption_model);
        key.pricing = pricing(category, text, is_committed);
        key.is_correction = !row.is_null(at.adjustment);
        if let Some(credit) = credit {
            key.category = ChargeCategory::Credit;
            key.meter.push_str(&credit.name);
        } else {
            key.category = category;
            key.meter.push_str(text);
            if category == ChargeCategory::Usage {
                let unit = if is_time(&row, at.priced_unit) { at.priced_unit } else { at.unit };
                row.text(unit, &mut key.unit)?;
            }
        }
        let system_labels = python::as_json(row.cell(at.system_labels, scratch));
        let mut is_readable = json::each(&system_labels, |name, value| {
            if credit.is_none() && name == "compute.googleapis.com/machine_spec" {
                value.clone_into(&mut key.instance_type);
            }
        });
        for column in at.tags {
            let tags = python::as_json(row.cell(column, scratch));
            is_readable &= json::each(&tags, |name, value| charge.tags.set(name, value));
        }
        if !is_readable {
            row.remark("labels that are no list of keys and values are left out");
        }
        Ok(())
    }
}

/// `202611`.
fn month(row: &Row<'_>, column: Column) -> Result<BillingMonth, Problem> {
    let text = row.word(column).trim_ascii();
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u32>().ok();
    let is_plain = text.len() == 6 && text.iter().all(u8::is_ascii_digit);
    is_plain
        .then(|| BillingMonth::new(i32::try_from(number(&text[..4])?).ok()?, number(&text[4..])?))
        .flatten()
        .filter(|month| (2000..=2100).contains(&month.first_day().year()))
        .ok_or_else(|| row.problem(column, "the month of an invoice such as 202611"))
}

/// What the row itself is.
fn category(at: &At, row: &Row<'_>) -> Result<ChargeCategory, Problem> {
    let kind = row.word(at.cost_type).trim_ascii();
    Ok(if row.is_null(at.cost_type) || kind.eq_ignore_ascii_case(b"regular") {
        let sku = row.word(at.sku_description).trim_ascii_start();
        // “Commitment v1: Nvidia H100 80GB GPU in Iowa for 1 Year”, “Commitment - dollar based v1: …”.
        let is_commitment = sku.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"commitment"));
        if is_commitment { ChargeCategory::Purchase } else { ChargeCategory::Usage }
    } else if kind.eq_ignore_ascii_case(b"tax") {
        ChargeCategory::Tax
    } else if [&b"adjustment"[..], b"rounding_error"].iter().any(|it| kind.eq_ignore_ascii_case(it)) {
        ChargeCategory::Adjustment
    } else {
        return Err(row.problem(at.cost_type, "regular, tax, adjustment or rounding_error"));
    })
}

fn pricing(category: ChargeCategory, sku: &str, is_committed: bool) -> PricingCategory {
    let names = |word: &str| {
        sku.split(|c: char| !c.is_alphanumeric()).any(|of_sku| of_sku.eq_ignore_ascii_case(word))
    };
    match category {
        ChargeCategory::Purchase => PricingCategory::Committed,
        ChargeCategory::Usage if is_committed => PricingCategory::Committed,
        ChargeCategory::Usage if names("preemptible") || names("spot") => PricingCategory::Dynamic,
        ChargeCategory::Usage if names("dws") => PricingCategory::Other,
        ChargeCategory::Usage => PricingCategory::Standard,
        ChargeCategory::Tax | ChargeCategory::Adjustment | ChargeCategory::Credit => PricingCategory::None,
    }
}

/// “Default” is what has no commitment.
fn is_of_commitment(row: &Row<'_>, consumption_model: Column) -> bool {
    let model = row.word(consumption_model).trim_ascii();
    !row.is_null(consumption_model) && !model.eq_ignore_ascii_case(b"default")
}

fn is_time(row: &Row<'_>, unit: Column) -> bool {
    std::str::from_utf8(row.word(unit)).is_ok_and(|unit| seconds_per_unit(unit).is_some())
}

/// `us-central1`, out of `us-central1-a`, too; where nothing has a region, `us` or `global`.
fn region(row: &Row<'_>, at: &At, out: &mut String) -> Result<(), Problem> {
    row.text(at.region, out)?;
    if out.is_empty() {
        row.text(at.location, out)?;
    }
    if let [.., b'0'..=b'9', b'-', b'a'..=b'z'] = out.as_bytes() {
        out.truncate(out.len() - 2);
    }
    Ok(())
}
