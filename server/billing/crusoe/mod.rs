//! Crusoe Cloud's billing export, the daily cost of each resource: as CSV from the Billing page, or as the answer of its API
//! (`/organizations/{id}/billing/export`), whose rows are in `data`.
//!
//! | what | rule |
//! |---|---|
//! | account | none is stated: a login has one ([`UNNAMED_ACCOUNT`]) |
//! | sub account | the project, `project_id` |
//! | period | the day, `date`, in UTC |
//! | billing month | that of the day |
//! | currency | none is stated: USD |
//! | billed cost | `total_price`; a row without it is rejected, for a price that is not known is not 0 |
//! | effective, list, contracted cost | billed: the export states no other |
//! | category | Usage, at the Standard price: spot is not told from on-demand |
//! | quantity | `quantity` in `billable_metric` |
//! | machine | `resource_type` where the metric is time: an `instance-hour` of `h200-141gb-sxm-ib.8x` is eight accelerator-hours, a `gpu-hour` of it is one |
//! | SKU, meter | `resource_type`, `billable_metric` |
//! | resource | `resource_id`, else `resource_name` |
//! | service | by the metric, under a name of ours |
//! | accumulation | the whole month |
//!
//! Columns are those of `BillingResourceDatum` in Crusoe's API, where everything is text and both prices may be missing. That
//! `quantity` times `unit_price` is the price follows from their names alone. Which metrics there are beside
//! `instance-hours`, `gpu-hours` and the GiB-hours of disks is not documented. The Billing page says of the export that it
//! holds on-demand and spot cost, and neither reservations nor taxes. `/billing/costs` states the same cost without resources,
//! as binary floats, and is refused.

mod columns;
mod service;

use chrono::{NaiveTime, TimeDelta};

use super::account_id::{UNNAMED_ACCOUNT, canonical_sub_account};
use super::billing_period::month_of;
use super::charge::{Charge, PricingCategory, is_negation};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Format, Guide, Mandatory};
use crate::period::ChargePeriod;

pub(super) struct CrusoeBilling;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "Crusoe";
const CURRENCY: &str = "USD";

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "date", keys: &["date"] },
    Mandatory { name: "project_id", keys: &["projectid"] },
    Mandatory { name: "resource_id", keys: &["resourceid"] },
    Mandatory { name: "resource_type", keys: &["resourcetype"] },
    Mandatory { name: "quantity", keys: &["quantity"] },
    Mandatory { name: "billable_metric", keys: &["billablemetric"] },
];

const A_DAY: &str = "a day such as 2026-09-03";

impl Format for CrusoeBilling {
    fn name(&self) -> &'static str {
        "crusoe-billing"
    }

    fn label(&self) -> &'static str {
        "Crusoe billing export"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Crusoe",
            export: "Billing export",
            steps: "In the console, under Billing, choose a whole month without other filters and select Export Data (CSV). Upload the \
                    file: it replaces what was imported of that month.",
            forms: "CSV or JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("billablemetric")
    }

    fn list(&self) -> Option<&'static str> {
        Some("data")
    }

    fn names(&self) -> Vec<&'static str> {
        columns::KNOWN.names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["totalprice"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::KNOWN.columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::KNOWN.feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

struct Reader {
    at: At,
    time: TimeColumn,
    last_needed: usize,
    key_columns: Vec<usize>,
    text: String,
}

/// Where the columns are.
struct At {
    date: Column,
    project: Column,
    resource: [Column; 2],
    resource_type: Column,
    region: Column,
    quantity: Column,
    metric: Column,
    total_price: Column,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let at = At {
            date: header.find("date"),
            project: header.find("projectid"),
            resource: [header.find("resourceid"), header.find("resourcename")],
            resource_type: header.find("resourcetype"),
            region: header.find("region"),
            quantity: header.find("quantity"),
            metric: header.find("billablemetric"),
            total_price: header.find("totalprice"),
        };
        let key_columns = [at.project, at.resource_type, at.region, at.metric];
        Self {
            time: TimeColumn::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns: key_columns.into_iter().flatten().collect(),
            at,
            text: String::new(),
        }
    }

    fn day(&mut self, row: &Row<'_>) -> Result<ChargePeriod, Problem> {
        let start = row.time(self.at.date, &mut self.time)?;
        if start.time() != NaiveTime::MIN {
            return Err(row.problem(self.at.date, A_DAY));
        }
        Ok(ChargePeriod { start, end: start + TimeDelta::days(1) })
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: self.at.date.into_iter().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn read(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        charge.period = self.day(&row)?;
        let at = &self.at;
        charge.billing_month = month_of(&row, at.date, charge.period.start)?;
        let quantity = row.quantity(at.quantity)?;
        let cost = row.needed_amount_in(CURRENCY, at.total_price)?;
        for column in at.resource {
            if charge.resource_id.is_empty() {
                row.text(column, &mut charge.resource_id)?;
            }
        }
        charge.billed_cost = cost;
        charge.effective_cost = cost;
        charge.list_cost = cost;
        charge.contracted_cost = cost;
        charge.consumed_quantity = quantity;
        charge.is_metered = quantity.is_some_and(|quantity| !is_negation(cost, quantity));
        Ok(Outcome::Charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        key.currency.push_str(CURRENCY);
        text.clear();
        row.text(at.project, text)?;
        canonical_sub_account(PROVIDER, text, &mut key.sub_account)
            .map_err(|expected| row.problem(at.project, expected))?;
        row.text(at.region, &mut key.region)?;
        row.text(at.resource_type, &mut key.sku)?;
        row.text(at.metric, &mut key.unit)?;
        key.meter.push_str(&key.unit);
        let (service, category) = service::service(&key.unit);
        key.service.push_str(service);
        key.service_category.push_str(category);
        if service::is_machines(&key.unit) {
            key.instance_type.push_str(&key.sku);
        }
        key.pricing = PricingCategory::Standard;
        Ok(())
    }
}
