//! Modal's billing report: what `modal billing report --csv` or `--json` writes. A row is what an object, such as an app, cost in
//! an interval; with `--show-resources`, what one resource of it did.
//!
//! | what | rule |
//! |---|---|
//! | account | [`UNNAMED_ACCOUNT`]: the report names no workspace |
//! | sub account | the environment |
//! | service | Modal: the report names none |
//! | charge period | from `Interval Start`, a day or an hour: hours as soon as one row of the import begins at no midnight |
//! | billing month | the month in which the interval begins, in UTC: the report has no billing period |
//! | billed cost | `Cost`, which is before credits |
//! | effective, list, contracted cost | billed: the report states no other |
//! | currency | US dollars, in which all of Modal's prices are |
//! | quantity | none, so nothing is metered |
//! | meter | `Resource`: CPU, Memory, the model of a GPU; names are “subject to change” |
//! | resource | `Object ID` |
//! | category | Usage, at the Standard price: the report has no purchases, taxes or credits |
//! | tags | `Description` as `app` where the object is one, else as `name`; and `Tags`, which win |
//! | accumulation | whole periods |
//!
//! From Modal's client, 1.6.4 (`modal/cli/billing.py`, `modal/_workspace.py`): names of columns; times without a zone, which are in
//! UTC, or with one (`--tz`, hours only); tags as the text of a JSON object; and that the `metered_cost` of a summary is “before any
//! adjustments” and its `billed_cost` “the cost actually invoiced”. Rows of a `modal.Workspace` that somebody wrote down by
//! themselves are read, too: they name the environment `environment_name`. Not known are the names of resources, and which objects
//! beside apps there are: ids of apps begin with `ap-`.

mod columns;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};

use super::account_id::UNNAMED_ACCOUNT;
use super::billing_period::month_of;
use super::charge::{Charge, PricingCategory};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Format, Guide, Mandatory, json};
use crate::period::ChargePeriod;

pub(super) struct ModalBilling;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "Modal";
const CURRENCY: &str = "USD";

const ENVIRONMENT: &[&str] = &["environment", "environmentname"];
const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "Object ID", keys: &["objectid"] },
    Mandatory { name: "Environment", keys: ENVIRONMENT },
    Mandatory { name: "Interval Start", keys: &["intervalstart"] },
    Mandatory { name: "Cost", keys: &["cost"] },
];

impl Format for ModalBilling {
    fn name(&self) -> &'static str {
        "modal-billing"
    }

    fn label(&self) -> &'static str {
        "Modal billing report"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Modal",
            export: "Billing report",
            steps: "For a whole month, run modal billing report --for \"last month\" --show-resources --csv > modal.csv; add \
                    --tag-names with the names of your tags. Upload the file.",
            forms: "CSV or JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("objectid") && header.has("intervalstart")
    }

    fn maps(&self) -> &'static [&'static str] {
        &["tags"]
    }

    fn names(&self) -> Vec<&'static str> {
        columns::KNOWN.names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["cost"]]
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
    start: TimeColumn,
    /// Whether a row begins at no midnight.
    has_hours: bool,
    last_needed: usize,
    key_columns: Vec<usize>,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    object: Column,
    description: Column,
    environment: Column,
    start: Column,
    resource: Column,
    cost: Column,
    tags: Column,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let at = At {
            object: header.find("objectid"),
            description: header.find("description"),
            environment: header.find_any(ENVIRONMENT),
            start: header.find("intervalstart"),
            resource: header.find("resource"),
            cost: header.find("cost"),
            tags: header.find("tags"),
        };
        // The object says whether its description is the name of an app.
        let key_columns = [at.object, at.description, at.environment, at.resource, at.tags];
        Self {
            start: TimeColumn::default(),
            has_hours: false,
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns: key_columns.into_iter().flatten().collect(),
            at,
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
        DateColumns {
            columns: self.at.start.into_iter().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// A row at midnight is of a day or of its first hour.
    fn looks(&self, _row: &Row<'_>) -> usize {
        1
    }

    fn learn(&mut self, row: Row<'_>, _look: usize) {
        if let Ok(start) = row.time(self.at.start, &mut self.start) {
            self.has_hours |= !is_midnight(start);
        }
    }

    fn read(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let at = &self.at;
        let start = row.time(at.start, &mut self.start)?;
        charge.billing_month = month_of(&row, at.start, start)?;
        let is_hour = self.has_hours || !is_midnight(start);
        let length = if is_hour { TimeDelta::hours(1) } else { TimeDelta::days(1) };
        charge.period = ChargePeriod { start, end: start.checked_add_signed(length).unwrap_or(start) };
        row.text(at.object, &mut charge.resource_id)?;
        let cost = row.needed_amount_in(CURRENCY, at.cost)?;
        charge.billed_cost = cost;
        charge.effective_cost = cost;
        charge.list_cost = cost;
        charge.contracted_cost = cost;
        Ok(Outcome::Charge)
    }

    fn key(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, scratch, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        row.text(at.environment, &mut key.sub_account)?;
        key.service.push_str(PROVIDER);
        key.service_category.push_str("Compute");
        row.text(at.resource, &mut key.meter)?;
        key.pricing = PricingCategory::Standard;
        key.currency.push_str(CURRENCY);
        text.clear();
        row.verbatim(at.description, text)?;
        let is_app = row.word(at.object).trim_ascii().starts_with(b"ap-");
        charge.tags.set(if is_app { "app" } else { "name" }, text);
        if !json::each(row.cell(at.tags, scratch), |name, value| charge.tags.set(name, value)) {
            row.remark("tags that are no object of names and values are left out");
        }
        Ok(())
    }
}

fn is_midnight(time: DateTime<Utc>) -> bool {
    time.time() == NaiveTime::MIN
}
