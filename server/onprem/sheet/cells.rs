//! Texts of a form or a row, read one by one; everything that is wrong is shown at once.

use std::str::FromStr;

use chrono::NaiveDate;

use super::super::power::{KILOWATT_PLACES, Pue};
use crate::billing::formula_guard::begins_formula;
use crate::money::{Currency, Decimal, grouped, two_readings};
use crate::period::BillingMonth;

/// What a field holds, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{column}: found {found:?}, expected {expected}")]
pub struct RefusedCell {
    pub column: &'static str,
    pub found: String,
    pub expected: String,
}

/// Where the text of a field comes from: by its name, empty where there is none.
pub trait Texts {
    fn text(&self, name: &str) -> &str;
}

impl Texts for std::collections::BTreeMap<String, String> {
    fn text(&self, name: &str) -> &str {
        self.get(name).map_or("", String::as_str)
    }
}

/// Reads fields and remembers what is wrong. What it answers for a field that is wrong is not used.
pub struct Cells<'a, T> {
    texts: &'a T,
    refused: Vec<RefusedCell>,
}

impl<'a, T: Texts> Cells<'a, T> {
    pub(in super::super) fn new(texts: &'a T) -> Self {
        Self { texts, refused: Vec::new() }
    }

    /// The value, unless anything was wrong.
    pub(in super::super) fn finish<V>(self, value: V) -> Result<V, Vec<RefusedCell>> {
        if self.refused.is_empty() { Ok(value) } else { Err(self.refused) }
    }

    pub(in super::super) fn optional(&self, column: &'static str) -> &'a str {
        self.texts.text(column).trim()
    }

    fn is_refused(&self, column: &str) -> bool {
        self.refused.iter().any(|it| it.column == column)
    }

    /// Of several reasons the first is shown.
    pub(in super::super) fn refuse(&mut self, column: &'static str, expected: impl Into<String>) {
        if self.is_refused(column) {
            return;
        }
        let found = self.optional(column).to_owned();
        self.refused.push(RefusedCell { column, found, expected: expected.into() });
    }

    pub(in super::super) fn text(&mut self, column: &'static str) -> String {
        let text = self.optional(column);
        if text.is_empty() {
            self.refuse(column, "a value");
        }
        self.optional_text(column)
    }

    /// The same, where there may be nothing.
    pub(in super::super) fn optional_text(&mut self, column: &'static str) -> String {
        let text = self.optional(column);
        if text.chars().count() > LONGEST_TEXT || text.chars().any(char::is_control) {
            self.refuse(column, "up to 200 characters on one line");
        } else if begins_formula(text.as_bytes()) {
            // A month is a file that is loaded again, so its texts must stand in it as they are; and a spreadsheet that
            // opens it would run these.
            self.refuse(column, "text that does not begin with =, +, - or @: spreadsheets compute that");
        }
        text.to_owned()
    }

    pub(in super::super) fn parsed<V: FromStr>(&mut self, column: &'static str, expected: &str) -> Option<V> {
        let value = self.optional(column).parse().ok();
        if value.is_none() {
            self.refuse(column, expected);
        }
        value
    }

    /// A number between two others, both included; empty as `empty`, where there is that.
    fn between(
        &mut self,
        column: &'static str,
        (least, most): (i64, i64),
        unit: &str,
        empty: Option<i64>,
    ) -> Decimal {
        let mut text = self.optional(column);
        if let (true, Some(empty)) = (text.is_empty(), empty) {
            return empty.into();
        }
        if unit == PERCENT {
            text = text.strip_suffix('%').unwrap_or(text).trim_end();
        }
        let number = match text.strip_prefix('-') {
            Some(text) => grouped(text, false).map(|number| -number),
            None => grouped(text, false),
        };
        let number = number.filter(|it| Decimal::from(least) <= *it && *it <= Decimal::from(most));
        match number {
            Some(number) if number.normalize().scale() > MOST_PLACES => {
                self.refuse(column, format!("at most {MOST_PLACES} decimals"));
                Decimal::ZERO
            }
            Some(number) => number,
            None => {
                self.refuse(
                    column,
                    format!("a number from {} to {}{unit}", thousands(least), thousands(most)),
                );
                Decimal::ZERO
            }
        }
    }

    /// An amount that is not below zero.
    pub(in super::super) fn amount(&mut self, column: &'static str) -> Decimal {
        self.between(column, (0, MOST), "", None)
    }

    /// The same, and nothing where it is empty.
    pub(in super::super) fn amount_or_none(&mut self, column: &'static str) -> Decimal {
        self.between(column, (0, MOST), "", Some(0))
    }

    /// Money that is not below zero. What of it can be read in two ways is refused: `300.000` is a node or a screw. Prices
    /// of a kWh, kilowatts and hours are amounts: three decimals are nothing odd there.
    pub(in super::super) fn money(&mut self, column: &'static str) -> Decimal {
        self.has_one_reading(column);
        self.amount(column)
    }

    /// The same, and nothing where it is empty.
    pub(in super::super) fn money_or_none(&mut self, column: &'static str) -> Decimal {
        self.has_one_reading(column);
        self.amount_or_none(column)
    }

    /// Money that may be below zero.
    pub(in super::super) fn signed_money(&mut self, column: &'static str) -> Decimal {
        self.has_one_reading(column);
        self.signed_amount(column)
    }

    fn has_one_reading(&mut self, column: &'static str) {
        let text = self.optional(column);
        let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
        if let Some((thousands, decimals)) = two_readings(text) {
            let expected =
                format!("{sign}{thousands} or {sign}{decimals}: a point before three digits is ambiguous");
            self.refuse(column, expected);
        }
    }

    /// Money above zero.
    pub(in super::super) fn more_than_nothing(&mut self, column: &'static str) -> Decimal {
        let amount = self.money(column);
        if amount.is_zero() {
            self.refuse(column, "more than 0");
        }
        amount
    }

    /// A site draws no less than its machines.
    pub(in super::super) fn pue(&mut self, column: &'static str) -> Decimal {
        let value = grouped(self.optional(column), false).unwrap_or_default();
        match Pue::new(value) {
            Ok(pue) => pue.get(),
            Err(problem) => {
                self.refuse(column, problem.expected);
                Decimal::from(1)
            }
        }
    }

    /// Kilowatts of one unit; nothing where it is empty.
    pub(in super::super) fn kilowatts(&mut self, column: &'static str) -> Decimal {
        let kw = self.between(column, (0, MOST_KILOWATTS), " kW", Some(0));
        if kw.normalize().scale() > KILOWATT_PLACES {
            self.refuse(column, format!("at most {KILOWATT_PLACES} decimals"));
        }
        kw
    }

    /// An amount that may be below zero.
    pub(in super::super) fn signed_amount(&mut self, column: &'static str) -> Decimal {
        self.between(column, (-MOST, MOST), "", None)
    }

    /// Percent as a share: 5 is 0.05.
    pub(in super::super) fn percent(&mut self, column: &'static str, (least, most): (i64, i64)) -> Decimal {
        self.between(column, (least, most), PERCENT, None).multiply(Decimal::new(1, 2)).normalize()
    }

    /// Where nothing is written, nothing is known.
    pub(in super::super) fn percent_or_none(
        &mut self,
        column: &'static str,
        bounds: (i64, i64),
    ) -> Option<Decimal> {
        (!self.optional(column).is_empty()).then(|| self.percent(column, bounds))
    }

    pub(in super::super) fn whole(&mut self, column: &'static str, least: u32, most: u32) -> u32 {
        let number = self.optional(column).parse().ok().filter(|it| (least..=most).contains(it));
        number.unwrap_or_else(|| {
            self.refuse(column, format!("a whole number from {least} to {}", thousands(most.into())));
            0
        })
    }

    pub(in super::super) fn day(&mut self, column: &'static str) -> NaiveDate {
        let day = self.optional(column).parse().ok();
        // What dates of a ledger can hold, with room for a life after it.
        let is_usual = |day: &NaiveDate| (1990..=2100).contains(&chrono::Datelike::year(day));
        day.filter(is_usual).unwrap_or_else(|| {
            self.refuse(column, "a date such as 2026-09-01");
            NaiveDate::default()
        })
    }

    pub(in super::super) fn month(&mut self, column: &'static str) -> BillingMonth {
        self.parsed(column, "a month such as 2026-09").unwrap_or(BillingMonth::of(NaiveDate::default()))
    }

    pub(in super::super) fn month_or_none(&mut self, column: &'static str) -> Option<BillingMonth> {
        if self.optional(column).is_empty() { None } else { Some(self.month(column)) }
    }

    pub(in super::super) fn currency(&mut self, column: &'static str) -> Currency {
        let found = Currency::parse(self.optional(column)).filter(Currency::is_standard);
        found.unwrap_or_else(|| {
            self.refuse(column, "a currency such as USD");
            Currency::exactly("USD")
        })
    }

    /// One of some words.
    pub(in super::super) fn word<V: serde::de::DeserializeOwned>(
        &mut self,
        column: &'static str,
        words: &str,
        otherwise: V,
    ) -> V {
        let word = serde_json::Value::from(self.optional(column));
        serde_json::from_value(word).unwrap_or_else(|_| {
            self.refuse(column, words);
            otherwise
        })
    }
}

const LONGEST_TEXT: usize = 200;
const PERCENT: &str = "%";
/// Finer than any price; numbers are multiplied with each other, and their products are exact.
pub(super) const MOST_PLACES: u8 = 12;
/// A rack of the densest kind draws a hundredth of it.
const MOST_KILOWATTS: i64 = 100_000;

/// More than any organization spends on one thing.
pub(super) const MOST: i64 = 1_000_000_000_000;

fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
