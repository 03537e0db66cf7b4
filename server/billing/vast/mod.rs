//! Charges of Vast.ai: an answer of `/api/v0/charges/`, which `vastai show invoices-v1 --charges --raw` prints as it is. A row is
//! a contract and each of its items a charge: the GPUs, the disk, the traffic.
//!
//! | what | rule |
//! |---|---|
//! | account | [`UNNAMED_ACCOUNT`]: none is named |
//! | service | what the contract is: `type` |
//! | resource | `source`, such as `instance-12345678` |
//! | charge period | that of the item, else of the row. Where `start` and `end` are both midnights, `end` is the last day |
//! | billing month | the month in which a charge begins, in UTC: there is no billing period |
//! | billed cost | `amount` of the items; what they do not sum to is a charge of its own, so that a row is its `amount` |
//! | effective, list, contracted cost | billed: no other is stated |
//! | currency | US dollars, in which all of Vast.ai's prices are |
//! | quantity | hours out of the description of an item, in the one form `96.000 hours at $0.389/hour` |
//! | meter | what the item is |
//! | category | Usage, at the Standard price; an `sla` below zero, which is a service credit, is a Credit |
//! | metered | with hours, unless billed below zero |
//! | tags | `label`, and the ids of template, endpoint and worker group |
//! | accumulation | whole periods; an answer is one page of several |
//!
//! From the vendor: the description of the interface (`show_charges.yaml`), which has the types of contracts and items, and that
//! what a row has in `items` may be contracts once more (`format=tree`); and `vastai`, which has the types of payments. Neither says
//! of which model the GPUs are, nor how many: hours of `gpu` are those of the contract, and belong to a machine that is not known.
//! Nor does either say whether an instance is on demand, interruptible or reserved.
//! That `end` is the last day follows from the vendor's example, of 96 hours and “4 days” in what is three days from start to end,
//! and from `vastai`, which prints one date where both are the same.

mod columns;
mod items;

use chrono::{DateTime, Datelike as _, NaiveTime, TimeDelta, Utc};

use super::account_id::UNNAMED_ACCOUNT;
use super::charge::{Charge, ChargeCategory, MAX_ID, PricingCategory, is_negation};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::rows::Members;
use super::{Format, Guide, Mandatory};
use crate::period::{BillingMonth, ChargePeriod};
use items::{Contract, Parts};

pub(super) struct VastCharges;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "Vast.ai";
const CURRENCY: &str = "USD";

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "start", keys: &["start"] },
    Mandatory { name: "end", keys: &["end"] },
    Mandatory { name: "type", keys: &["type"] },
    Mandatory { name: "source", keys: &["source"] },
    Mandatory { name: "amount", keys: &["amount"] },
    Mandatory { name: "items", keys: &["items"] },
];

/// Contracts by their type, and what each is as a service and a category of FOCUS.
const SERVICES: &[(&str, &str, &str)] = &[
    ("instance", "Instances", "Compute"),
    ("volume", "Volumes", "Storage"),
    ("serverless", "Serverless", "Compute"),
];
/// What rows of `/api/v1/invoices/` are, in the same columns.
const PAYMENTS: &[&str] = &["credit", "payout", "refund", "reserved", "transfer"];

pub(super) const PAYMENT: &str = "a payment, no charge";
const A_TIME: &str = "seconds since 1970, such as 1730419200, in the years 2000 to 2100";
const NO_END: &str = "no end: the charge is of the day on which it begins";
const NOT_ITEMIZED: &str =
    "items do not sum to amount: the difference is a charge of its own, and amount is what is billed";
const WITHOUT_ITEMS: &str = "no items: amount is one charge, without hours";
const WITHOUT_HOURS: &str = "a gpu item whose description states no hours: its cost is without hours";
const CROSSES: &str = "crosses the end of a month: all of it is in the month in which it begins";

impl Format for VastCharges {
    fn name(&self) -> &'static str {
        "vast-charges"
    }

    fn label(&self) -> &'static str {
        "Vast.ai charges"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Vast.ai",
            export: "Charges",
            steps: "For a month, run vastai show invoices-v1 --charges --start-date 2026-09-01 --end-date 2026-09-30 --limit 100 --raw, \
                    and again with --next-token for each further page. Upload the answers of all pages together.",
            forms: "JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    /// Its names are those of many things, so that they count together only.
    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("items") && header.has("source")
    }

    fn list(&self) -> Option<&'static str> {
        Some("results")
    }

    fn names(&self) -> Vec<&'static str> {
        columns::KNOWN.names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["amount"]]
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
    last_needed: usize,
    key_columns: Vec<usize>,
    /// What the row that is being read consists of, and which of it is the charge that is being read.
    parts: Parts,
    part: usize,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    start: Column,
    end: Column,
    kind: Column,
    source: Column,
    amount: Column,
    items: Column,
    /// Each with the name of its tag.
    tags: Vec<(usize, &'static str)>,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let tags: Vec<_> =
            columns::TAGS.iter().filter_map(|(key, tag)| Some((header.find(key)?, *tag))).collect();
        let at = At {
            start: header.find("start"),
            end: header.find("end"),
            kind: header.find("type"),
            source: header.find("source"),
            amount: header.find("amount"),
            items: header.find("items"),
            tags,
        };
        Self {
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns: at.kind.into_iter().chain(at.tags.iter().map(|(column, _)| *column)).collect(),
            at,
            parts: Parts::default(),
            part: 0,
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    /// Fills the charge with a part of the row; false behind the last.
    fn fill(&self, charge: &mut Charge) -> bool {
        let Some(part) = self.parts.get(self.part) else { return false };
        charge.period = part.period;
        charge.billing_month = BillingMonth::of(part.period.day());
        charge.resource_id.push_str(&part.source);
        charge.billed_cost = part.amount;
        charge.effective_cost = part.amount;
        charge.list_cost = part.amount;
        charge.contracted_cost = part.amount;
        charge.consumed_quantity = part.hours;
        charge.is_metered = part.hours.is_some_and(|hours| !is_negation(part.amount, hours));
        charge.key_cells.extend([u8::from(part.is_credit()), u8::from(part.hours.is_some())]);
        charge.key_cells.extend_from_slice(part.meter.as_bytes());
        charge.key_cells.push(b'\n');
        true
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    /// Times are numbers.
    fn dates(&self) -> DateColumns {
        DateColumns { columns: Vec::new(), billing_period: None, usual: DateOrder::Undecided }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn members(&self, members: &Members, rows: u64) -> Option<String> {
        let total = members.get("total").and_then(|total| total.get().parse::<u64>().ok());
        let has_next = members.get("next_token").is_some_and(|next| !matches!(next.get(), "null" | "\"\""));
        let ask = "download the other pages, too, and import all of them together";
        match total {
            Some(total) if total > rows => Some(format!("{rows} of {total} charges: {ask}")),
            _ if has_next => Some(format!("one page of several: {ask}")),
            _ => None,
        }
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, parts, scratch, text, .. } = self;
        let kind = row.word(at.kind).trim_ascii();
        if PAYMENTS.iter().any(|payment| kind.eq_ignore_ascii_case(payment.as_bytes())) {
            return Ok(Outcome::Skipped(PAYMENT));
        }
        if service(kind).is_none() {
            return Err(row.problem(at.kind, "instance, volume or serverless"));
        }
        let amount = row.needed_amount_in(CURRENCY, at.amount)?;
        let period = period_of_row(&mut row, at)?;
        text.clear();
        row.text(at.source, text)?;
        if text.len() > MAX_ID {
            return Err(row.problem(at.source, format!("at most {MAX_ID} bytes")));
        }
        parts
            .read(row.cell(at.items, scratch), amount, &Contract { source: text, period })
            .map_err(|expected| row.problem(at.items, expected))?;
        for remark in parts.remarks() {
            row.remark(remark);
        }
        self.part = 0;
        self.fill(charge);
        Ok(Outcome::Charge)
    }

    fn further(&mut self, _row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        self.part += 1;
        Ok(self.fill(charge))
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, parts, part, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        key.currency.push_str(CURRENCY);
        if let Some((service, category)) = service(row.word(at.kind).trim_ascii()) {
            key.service.push_str(service);
            key.service_category.push_str(category);
        }
        if let Some(part) = parts.get(*part) {
            key.meter.push_str(&part.meter);
            if part.hours.is_some() {
                key.unit.push_str("hours");
            }
            (key.category, key.pricing) = if part.is_credit() {
                (ChargeCategory::Credit, PricingCategory::None)
            } else {
                (ChargeCategory::Usage, PricingCategory::Standard)
            };
        }
        for (column, tag) in &at.tags {
            text.clear();
            row.verbatim(Some(*column), text)?;
            charge.tags.set(tag, text);
        }
        Ok(())
    }
}

/// The service and the category of a type of contract.
fn service(kind: &[u8]) -> Option<(&'static str, &'static str)> {
    let mut services = SERVICES.iter();
    let (_, service, category) = services.find(|(name, ..)| kind.eq_ignore_ascii_case(name.as_bytes()))?;
    Some((service, category))
}

fn period_of_row(row: &mut Row<'_>, at: &At) -> Result<ChargePeriod, Problem> {
    let time =
        |row: &Row<'_>, column| unix_seconds(row.word(column)).ok_or_else(|| row.problem(column, A_TIME));
    let start = time(row, at.start)?;
    let end = if row.is_null(at.end) {
        row.remark(NO_END);
        start
    } else {
        time(row, at.end)?
    };
    period(start, end).ok_or_else(|| row.problem(at.end, "an end that is not before the start"))
}

/// What a charge is for. Days go to the end of the last one; `None` where the end is before the start.
fn period(start: DateTime<Utc>, end: DateTime<Utc>) -> Option<ChargePeriod> {
    let are_days = [start, end].into_iter().all(|time| time.time() == NaiveTime::MIN);
    let end = if are_days { end.checked_add_signed(TimeDelta::days(1))? } else { end };
    (start <= end).then_some(ChargePeriod { start, end })
}

/// Whole seconds since 1970; what is behind a point is left out, as of any time.
fn unix_seconds(text: &[u8]) -> Option<DateTime<Utc>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = DateTime::from_timestamp(seconds.parse().ok()?, 0)?;
    (2000..=2100).contains(&time.year()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_and_nothing_else() {
        for (text, expected) in [
            ("1730419200", Some("2024-11-01T00:00:00Z")),
            (" 1730419201 ", Some("2024-11-01T00:00:01Z")),
            ("1730419200.0", Some("2024-11-01T00:00:00Z")),
            ("1730419200.987", Some("2024-11-01T00:00:00Z")),
            ("4133980799", Some("2100-12-31T23:59:59Z")),
            ("4133980800", None),
            ("946684799", None),
            ("1730419200000", None),
            ("1.7304192e9", None),
            ("1730419200.x", None),
            ("-1730419200", None),
            ("2024-11-01", None),
            ("99999999999999999999", None),
            ("", None),
        ] {
            let expected = expected.map(|time| time.parse().unwrap());
            assert_eq!(unix_seconds(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn days_go_to_the_end_of_the_last_one() {
        for (start, end, expected) in [
            (1_730_419_200, 1_730_678_400, Some(4 * 86_400)),
            (1_730_419_200, 1_730_419_200, Some(86_400)),
            (1_730_419_200, 1_730_419_201, Some(1)),
            (1_730_419_201, 1_730_678_400, Some(3 * 86_400 - 1)),
            (1_730_419_205, 1_730_419_205, Some(0)),
            (1_730_419_205, 1_730_419_204, None),
        ] {
            let time = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
            let found = period(time(start), time(end)).map(|it| (it.end - it.start).num_seconds());
            assert_eq!(found, expected, "{start} {end}");
        }
    }
}
