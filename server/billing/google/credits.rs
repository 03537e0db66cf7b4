//! What Google takes off a row: `credits`, a list of `{name, amount, full_name, id, type}`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::python;
use crate::billing::charge::MAX_ID;
use crate::billing::value::is_null;
use crate::money::{Decimal, TooManyDigits};

/// The credits of a row, those of one name as one: what distinguishes two charges of a row is their name.
#[derive(Default)]
pub(super) struct Credits {
    credits: Vec<Credit>,
    are_of_commitment: bool,
}

pub(super) struct Credit {
    /// Its full name, else its name, else its type.
    pub name: String,
    pub amount: Decimal,
    /// What of it is off the contracted cost: nothing of what a commitment takes off.
    pub contracted_cost: Decimal,
    /// What of it pays like money, so that it is effective by itself and off the list cost, too: all of a promotion, nothing of
    /// what makes the row's own price less.
    pub promotion: Decimal,
}

/// As Google writes one.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    full_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    /// Never read as a binary fraction.
    #[serde(borrow)]
    amount: Option<&'a RawValue>,
}

/// Credits of one row. Google writes a handful.
const MOST: usize = 100;
const EXPECTED: &str =
    "a list of credits, each with a name and an amount: [{\"name\": \"…\", \"amount\": -1.25}]";

impl Credits {
    /// Reads those of the next row. One that is alone may stand without the list's brackets. One of 0 takes nothing off and is
    /// none.
    ///
    /// # Errors
    /// What was expected.
    pub fn read(&mut self, cell: &[u8]) -> Result<(), Cow<'static, str>> {
        self.credits.clear();
        self.are_of_commitment = false;
        let cell = cell.trim_ascii();
        if is_null(cell) || cell == b"[]" {
            return Ok(());
        }
        let json = python::as_json(cell);
        let written: Vec<Written<'_>> = if json.starts_with(b"[") {
            serde_json::from_slice(&json).map_err(|_| EXPECTED)?
        } else {
            vec![serde_json::from_slice(&json).map_err(|_| EXPECTED)?]
        };
        if written.len() > MOST {
            return Err(format!("at most {MOST} credits of a row").into());
        }
        for credit in &written {
            self.add(credit)?;
        }
        Ok(())
    }

    fn add(&mut self, written: &Written<'_>) -> Result<(), Cow<'static, str>> {
        let text = written.amount.map_or("", RawValue::get).trim_matches('"');
        if text == "null" || text.is_empty() {
            return Err(EXPECTED.into());
        }
        let amount = Decimal::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        if amount.is_zero() {
            return Ok(());
        }
        let given =
            |text: &Option<Cow<'_, str>>| text.as_deref().map(str::trim).unwrap_or_default().to_owned();
        let kind = given(&written.r#type);
        let unless = |applies: bool| if applies { Decimal::ZERO } else { amount };
        let is_discount = kind.starts_with(COMMITTED) || DISCOUNTS.contains(&kind.as_str());
        let promotion = unless(is_discount);
        let contracted_cost = unless(kind.starts_with(COMMITTED) || kind == FEE_OFFSET);
        self.are_of_commitment |= kind.starts_with(COMMITTED);
        let names = [given(&written.full_name), given(&written.name), kind];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "Credit".to_owned());
        if name.len() > MAX_ID || name.contains('\0') {
            return Err(format!("names of credits of at most {MAX_ID} bytes").into());
        }
        match self.credits.iter_mut().find(|known| known.name == name) {
            None => self.credits.push(Credit { name, amount, contracted_cost, promotion }),
            Some(known) => {
                let add = |sum: Decimal, amount| sum.checked_add(amount).map_err(|error| error.to_string());
                known.amount = add(known.amount, amount)?;
                known.contracted_cost = add(known.contracted_cost, contracted_cost)?;
                known.promotion = add(known.promotion, promotion)?;
            }
        }
        Ok(())
    }

    pub fn get(&self, at: usize) -> Option<&Credit> {
        self.credits.get(at)
    }

    /// What they take off the price of the row itself.
    ///
    /// # Errors
    /// Where the sum has too many digits.
    pub fn discounts(&self) -> Result<Decimal, TooManyDigits> {
        let mut parts = self.credits.iter().map(|it| it.amount.checked_sub(it.promotion));
        parts.try_fold(Decimal::ZERO, |sum, part| sum.checked_add(part?))
    }

    /// Whether a commitment covers the usage, in the data model before 2025.
    pub fn are_of_commitment(&self) -> bool {
        self.are_of_commitment
    }
}

/// Types of what a commitment takes off the usage that it covers. Google, *Structure of data export: credits.type*.
const COMMITTED: &str = "COMMITTED_USAGE_DISCOUNT";
/// The type of what was used of a commitment's fee, whose usage has the discounted price already.
const FEE_OFFSET: &str = "FEE_UTILIZATION_OFFSET";
/// The others that make a price less than the list's.
const DISCOUNTS: [&str; 5] =
    ["SUSTAINED_USAGE_DISCOUNT", "DISCOUNT", "FREE_TIER", "SUBSCRIPTION_BENEFIT", FEE_OFFSET];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cell: &str) -> Result<String, Cow<'static, str>> {
        let mut credits = Credits::default();
        credits.read(cell.as_bytes())?;
        let shown = credits.credits.iter().map(|it| format!("{} {} {}", it.name, it.amount, it.promotion));
        let mark = if credits.are_of_commitment { " committed" } else { "" };
        Ok(shown.collect::<Vec<_>>().join("; ") + mark)
    }

    #[test]
    fn credits_are_read_from_every_form_of_list() {
        for (cell, expected) in [
            ("", ""),
            ("NULL", ""),
            ("[]", ""),
            (r#"{"name": "", "amount": 0, "full_name": "", "id": "", "type": ""}"#, ""),
            (r#"{"name":"Trial","amount":-1.25,"type":"PROMOTION"}"#, "Trial -1.25 -1.25"),
            (
                r#"[{"name":"CUD","amount":"-0.300000000000000017","full_name":"Committed","type":"COMMITTED_USAGE_DISCOUNT"}]"#,
                "Committed -0.300000000000000017 0 committed",
            ),
            (
                "[{'name': 'FreeTrial:Credit-000000', 'amount': -5e-06, 'full_name': None, 'id': 'x', 'type': 'PROMOTION'}]",
                "FreeTrial:Credit-000000 -0.000005 -0.000005",
            ),
            (
                r#"[{"name":"A","amount":-1,"type":"DISCOUNT"},{"name":"B","amount":-2},{"name":"A","amount":-3,"type":"DISCOUNT"}]"#,
                "A -4 0; B -2 -2",
            ),
            (r#"[{"amount":-1}]"#, "Credit -1 -1"),
        ] {
            assert_eq!(read(cell).as_deref(), Ok(expected), "{cell}");
        }
    }

    #[test]
    fn what_is_no_list_of_credits_is_said() {
        for cell in
            ["x", "{", "[1]", r#"[{"name":"A"}]"#, r#"[{"amount":null}]"#, r#"[{"amount":"1,5"}]"#, "[{'a'"]
        {
            assert!(read(cell).is_err(), "{cell}");
        }
        let many = format!("[{}]", vec![r#"{"amount":1}"#; MOST + 1].join(","));
        assert_eq!(read(&many).unwrap_err(), "at most 100 credits of a row");
        let long = format!(r#"[{{"name":"{}","amount":1}}]"#, "x".repeat(MAX_ID + 1));
        assert!(read(&long).is_err());
    }
}
