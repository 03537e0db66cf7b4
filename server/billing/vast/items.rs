//! What a charge of Vast.ai consists of: `items`, a list of `{start, end, type, source, description, amount, items}`.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CROSSES, NOT_ITEMIZED, SERVICES, WITHOUT_HOURS, WITHOUT_ITEMS, period, unix_seconds};
use crate::billing::charge::MAX_ID;
use crate::billing::value::is_null;
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// The charges of a row, at least one.
#[derive(Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    remarks: Vec<&'static str>,
}

pub(super) struct Part {
    pub meter: String,
    pub amount: Decimal,
    pub hours: Option<Decimal>,
    pub period: ChargePeriod,
    pub source: String,
}

impl Part {
    /// An SLA's “net credit”, which is below zero.
    pub fn is_credit(&self) -> bool {
        self.meter == SLA && self.amount.is_negative()
    }
}

/// What an item has from the contract that it belongs to, where it says nothing else.
pub(super) struct Contract<'a> {
    pub source: &'a str,
    pub period: ChargePeriod,
}

/// As Vast.ai writes one.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    start: Option<&'a RawValue>,
    #[serde(borrow)]
    end: Option<&'a RawValue>,
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    /// Never read as a binary fraction.
    #[serde(borrow)]
    amount: Option<&'a RawValue>,
    #[serde(borrow)]
    items: Option<Vec<Written<'a>>>,
}

/// Items by their type, and what people read.
const METERS: &[(&str, &str)] =
    &[(GPU, "GPU"), ("disk", "Disk"), ("bwd", "Download"), ("bwu", "Upload"), ("sla", SLA)];
const GPU: &str = "gpu";
const SLA: &str = "SLA";
/// What no item says.
const REST: &str = "Not itemized";

/// Items of a row. Vast.ai writes a handful for each contract, and an endpoint has some hundreds of these.
const MOST: usize = 10_000;
/// A million years of one contract.
const MOST_HOURS: i64 = 10_000_000_000;
const EXPECTED: &str =
    "a list of items, each with a type and an amount: [{\"type\": \"gpu\", \"amount\": 1.25}]";

impl Parts {
    /// Reads those of the next row, which is billed `amount`.
    ///
    /// # Errors
    /// What was expected.
    pub fn read(
        &mut self,
        cell: &[u8],
        amount: Decimal,
        row: &Contract<'_>,
    ) -> Result<(), Cow<'static, str>> {
        self.parts.clear();
        self.remarks.clear();
        let cell = cell.trim_ascii();
        if !is_null(cell) {
            let items: Vec<Written<'_>> = serde_json::from_slice(cell).map_err(|_| EXPECTED)?;
            self.add(&items, row)?;
        }
        let is_itemized = !self.parts.is_empty();
        let mut amounts = self.parts.iter().map(|part| part.amount);
        let rest =
            amounts.try_fold(amount, Decimal::checked_sub).map_err(|error| Cow::from(error.to_string()))?;
        if !is_itemized || !rest.is_zero() {
            if !rest.is_zero() {
                self.remark(if is_itemized { NOT_ITEMIZED } else { WITHOUT_ITEMS });
            }
            let Contract { source, period } = row;
            self.parts.push(Part {
                meter: REST.to_owned(),
                amount: rest,
                hours: None,
                period: *period,
                source: (*source).to_owned(),
            });
        }
        if self.parts.iter().any(|part| crosses_a_month(part.period)) {
            self.remark(CROSSES);
        }
        Ok(())
    }

    pub fn get(&self, at: usize) -> Option<&Part> {
        self.parts.get(at)
    }

    /// What is odd about the row, each once.
    pub fn remarks(&self) -> &[&'static str] {
        &self.remarks
    }

    fn remark(&mut self, text: &'static str) {
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// Adds items, in place of those that have items of their own these: contracts of an endpoint. They are as deep as JSON is
    /// read.
    fn add(&mut self, items: &[Written<'_>], of: &Contract<'_>) -> Result<(), Cow<'static, str>> {
        for item in items {
            let source = item.source.as_deref().map(str::trim).filter(|source| !source.is_empty());
            let contract = Contract {
                source: short(source.unwrap_or(of.source))?,
                period: stated_period(item)?.unwrap_or(of.period),
            };
            if let Some(items) = item.items.as_deref().filter(|items| !items.is_empty()) {
                self.add(items, &contract)?;
                continue;
            }
            if self.parts.len() == MOST {
                return Err(format!("at most {MOST} items").into());
            }
            let part = self.part(item, &contract)?;
            self.parts.push(part);
        }
        Ok(())
    }

    fn part(&mut self, item: &Written<'_>, of: &Contract<'_>) -> Result<Part, Cow<'static, str>> {
        let text = item.amount.map_or("", |amount| amount.get().trim_matches('"'));
        if is_null(text.as_bytes()) {
            return Err(EXPECTED.into());
        }
        let amount = Decimal::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        let kind = short(item.r#type.as_deref().map(str::trim).unwrap_or_default())?;
        let hours = item.description.as_deref().and_then(hours);
        if kind == GPU && hours.is_none() {
            self.remark(WITHOUT_HOURS);
        }
        let known = METERS.iter().find(|(name, _)| *name == kind).map(|(_, meter)| *meter);
        let is_contract = kind.is_empty() || SERVICES.iter().any(|(name, ..)| *name == kind);
        let meter = known.unwrap_or(if is_contract { REST } else { kind });
        Ok(Part { meter: meter.to_owned(), amount, hours, period: of.period, source: of.source.to_owned() })
    }
}

/// A text that can be kept.
fn short(text: &str) -> Result<&str, Cow<'static, str>> {
    if text.len() > MAX_ID || text.contains('\0') {
        return Err(format!("types and sources of items of at most {MAX_ID} bytes").into());
    }
    Ok(text)
}

/// The time of an item, where it has one of its own: 0 is none.
fn stated_period(item: &Written<'_>) -> Result<Option<ChargePeriod>, Cow<'static, str>> {
    let time = |value: Option<&RawValue>| -> Result<Option<DateTime<Utc>>, Cow<'static, str>> {
        let text = value.map_or("", |value| value.get().trim_matches('"'));
        if is_null(text.as_bytes()) || text == "0" {
            return Ok(None);
        }
        unix_seconds(text.as_bytes()).map(Some).ok_or_else(|| super::A_TIME.into())
    };
    let Some(start) = time(item.start)? else { return Ok(None) };
    let end = time(item.end)?.unwrap_or(start);
    period(start, end).map(Some).ok_or_else(|| "items that do not end before they start".into())
}

/// Whether a part of it lies behind the month in which it begins.
fn crosses_a_month(period: ChargePeriod) -> bool {
    let behind = BillingMonth::of(period.day()).next().first_day();
    behind.and_hms_opt(0, 0, 0).is_some_and(|behind| period.end > behind.and_utc())
}

/// `96.000 hours at $0.389/hour`.
fn hours(description: &str) -> Option<Decimal> {
    let (hours, rate) = description.trim().split_once(" hours at $")?;
    let number = |text: &str| Decimal::parse(text.as_bytes()).ok().filter(|number| !number.is_negative());
    number(rate.strip_suffix("/hour")?)?;
    number(hours).filter(|hours| *hours <= Decimal::from(MOST_HOURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cell: &str, amount: &str) -> Result<String, Cow<'static, str>> {
        let period = period(unix_seconds(b"1730419200").unwrap(), unix_seconds(b"1730678400").unwrap());
        let row = Contract { source: "instance-1", period: period.unwrap() };
        let mut parts = Parts::default();
        parts.read(cell.as_bytes(), amount.parse().unwrap(), &row)?;
        let shown = parts.parts.iter().map(|part| {
            let hours = part.hours.map(|hours| format!(" {hours} h")).unwrap_or_default();
            format!("{} {} {}{hours}", part.source, part.meter, part.amount)
        });
        Ok(shown.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn parts_of_a_row_sum_to_its_amount() {
        for (cell, amount, expected) in [
            (
                r#"[{"type":"gpu","description":"0.202 hours at $0.533/hour","amount":0.107,"items":[]},
                    {"type":"disk","description":"0.218 hours at $0.056/hour","amount":0.012},
                    {"type":"bwd","description":"79.1 GB Downloaded at $0.003/GB","amount":0.206},
                    {"type":"bwu","description":"1.9 GB Uploaded at $0.004/GB","amount":"0.008"}]"#,
                "0.333",
                "instance-1 GPU 0.107 0.202 h; instance-1 Disk 0.012 0.218 h; instance-1 Download 0.206; instance-1 Upload 0.008",
            ),
            (
                r#"[{"type":"gpu","description":null,"amount":2}]"#,
                "1.5",
                "instance-1 GPU 2; instance-1 Not itemized -0.5",
            ),
            (
                r#"[{"type":"sla","amount":-0.25},{"type":"new","amount":1}]"#,
                "0.75",
                "instance-1 SLA -0.25; instance-1 new 1",
            ),
            ("[]", "3", "instance-1 Not itemized 3"),
            ("", "0", "instance-1 Not itemized 0"),
            (
                r#"[{"type":"serverless","source":"workergroup-7","amount":9,"items":[
                     {"type":"instance","source":"instance-2","amount":3,"items":[{"type":"gpu","amount":1},{"type":"disk","amount":2}]},
                     {"type":"instance","source":"instance-3","amount":5,"items":[]}]}]"#,
                "9",
                "instance-2 GPU 1; instance-2 Disk 2; instance-3 Not itemized 5; instance-1 Not itemized 1",
            ),
        ] {
            assert_eq!(read(cell, amount).as_deref(), Ok(expected), "{cell}");
        }
    }

    #[test]
    fn what_is_no_list_of_items_is_said() {
        let long = format!(r#"[{{"type":"{}","amount":1}}]"#, "x".repeat(MAX_ID + 1));
        for cell in [
            "x",
            "{}",
            "[1]",
            r#"[{"type":"gpu"}]"#,
            r#"[{"type":"gpu","amount":null}]"#,
            r#"[{"type":"gpu","amount":"1,5"}]"#,
            r#"[{"type":"g\u0000","amount":1}]"#,
            r#"[{"type":"gpu","amount":1,"start":"yesterday"}]"#,
            r#"[{"type":"gpu","amount":1,"start":1730678400,"end":1730419200}]"#,
            long.as_str(),
        ] {
            assert!(read(cell, "1").is_err(), "{cell}");
        }
        let many = format!("[{}]", vec![r#"{"amount":1}"#; MOST + 1].join(","));
        assert_eq!(read(&many, "1").unwrap_err(), "at most 10000 items");
    }

    #[test]
    fn hours_are_read_in_one_form_only() {
        for (text, expected) in [
            ("96.000 hours at $0.389/hour", Some("96.000")),
            (" 0.202 hours at $0.533/hour ", Some("0.202")),
            ("0 hours at $0/hour", Some("0")),
            ("96.000 hours", None),
            ("96.000 hours at 0.389/hour", None),
            ("96.000 hours at $0.389/day", None),
            ("96.000 hours at $/hour", None),
            ("about 96 hours at $0.389/hour", None),
            ("1,096.000 hours at $0.389/hour", None),
            ("-1.0 hours at $0.389/hour", None),
            ("99999999999 hours at $0.389/hour", None),
            ("79.1 GB Downloaded at $0.003/GB", None),
            ("", None),
        ] {
            assert_eq!(hours(text).map(|hours| hours.to_string()).as_deref(), expected, "{text}");
        }
    }
}
