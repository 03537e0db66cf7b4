//! Another currency for a scenario, and what a US dollar is worth in it.
//!
//! Every amount is converted: at what somebody entered for a dollar, else at the newest exchange rate of the organization,
//! which then stands in the address. Where there is neither it is asked for, and nothing is answered until then. What is
//! entered for a dollar holds from the first edit on, wherever in the address it stands.

use super::super::field::Takes;
use super::{Edit, Edited, Misread};
use crate::economics::comparison::{Dollar, SHIPPED};
use crate::money::arithmetic::{one, quotient};
use crate::money::{Currency, Decimal};

pub(super) const POINTER: &str = "/currency";
const WORTH: &str = "/dollar/worth";
const DATE: &str = "/dollar/date";
const SOURCE: &str = "/dollar/source";
/// Digits of one over a rate.
const PLACES: u8 = 12;

pub(super) fn is_of_dollar(pointer: &str) -> bool {
    [WORTH, DATE, SOURCE].contains(&pointer)
}

impl Edited {
    /// What edits say a dollar is worth.
    pub(super) fn take_dollar(&mut self, edits: &[Edit]) {
        for edit in edits {
            let Edit::Set(pointer, text) = edit else { continue };
            let takes = match pointer.as_str() {
                WORTH => Takes::NumberOrNone,
                DATE => Takes::DayOrNone,
                SOURCE => Takes::Text,
                _ => continue,
            };
            self.misread.retain(|it| it.pointer != *pointer);
            let (pointer, text) = (pointer.clone(), text.clone());
            let value = match takes.value(&text) {
                Ok(value) => value,
                Err(expected) => {
                    self.misread.push(Misread { pointer, text, expected });
                    continue;
                }
            };
            let dollar = &mut self.scenario.dollar;
            match pointer.as_str() {
                WORTH => dollar.worth = serde_json::from_value(value).unwrap_or_default(),
                DATE => dollar.date = serde_json::from_value(value).unwrap_or_default(),
                _ => value.as_str().unwrap_or_default().clone_into(&mut dollar.source),
            }
        }
    }

    /// What a dollar is worth in the scenario, and what says so where it had to be found out. None where nobody knows.
    pub(super) fn dollar(&mut self) -> Option<(Decimal, Vec<Edit>)> {
        if let Some(worth) = self.scenario.of_a_dollar() {
            return Some((worth, Vec::new()));
        }
        let (dollar, found) = self.found(&self.scenario.currency.clone())?;
        let worth = dollar.worth?;
        self.scenario.dollar = dollar;
        Some((worth, found))
    }

    /// Nothing is answered before somebody says what a dollar is worth.
    pub(super) fn ask_for_dollar(&mut self) {
        self.misread.retain(|it| it.pointer != WORTH);
        self.misread.push(Misread {
            pointer: WORTH.to_owned(),
            text: String::new(),
            expected: "enter what a US dollar is worth in this currency: built-in prices are in USD, and there is no exchange rate",
        });
    }

    /// The scenario in another currency.
    pub(super) fn convert(&mut self, code: &str) -> Vec<Edit> {
        let into = Currency::exactly(&code.trim().to_uppercase());
        self.misread.retain(|it| it.pointer != POINTER && it.pointer != WORTH);
        if !into.is_standard() {
            let expected = "enter an ISO 4217 currency, such as USD";
            self.misread.push(Misread { pointer: POINTER.to_owned(), text: code.to_owned(), expected });
            return Vec::new();
        }
        let from = self.scenario.currency.clone();
        if into == from {
            return Vec::new();
        }
        let is_from_dollars = from.as_str() == SHIPPED;
        let entered = Some(self.scenario.dollar.clone()).filter(|it| it.worth.is_some());
        let (dollar, found) = match &entered {
            Some(entered) if is_from_dollars => (entered.clone(), Vec::new()),
            _ if into.as_str() == SHIPPED => (Dollar::default(), Vec::new()),
            _ => self.found(&into).unwrap_or_default(),
        };
        let of_entered = match entered.and_then(|it| it.worth) {
            Some(worth) if is_from_dollars => Some(worth),
            Some(worth) if into.as_str() == SHIPPED => quotient(one(), worth).map(|it| it.round(PLACES)),
            _ => None,
        };
        let Some(rate) = of_entered.or_else(|| self.prices.exchange.newest(&from, &into).map(|it| it.rate))
        else {
            self.misread.push(Misread {
                pointer: POINTER.to_owned(),
                text: code.to_owned(),
                expected: "there is no exchange rate, so nothing is converted; enter one on the rates page",
            });
            if is_from_dollars {
                self.ask_for_dollar();
            }
            return Vec::new();
        };
        let day = dollar.date.map_or_else(String::new, |day| format!(" of {day}"));
        let how = format!("converted from {from} at {}{day}", rate.normalize());
        self.scenario = self.scenario.in_currency(&into, rate, &how);
        self.scenario.dollar = dollar;
        found
    }

    /// What a dollar was worth last by the exchange rates of the organization, and what an address says of that.
    fn found(&self, into: &Currency) -> Option<(Dollar, Vec<Edit>)> {
        let used = self.prices.exchange.newest(&Currency::exactly(SHIPPED), into)?;
        let source = format!("exchange rate of {}: {}", used.month.name(), used.source);
        let day = used.month.first_day();
        let set = |pointer: &str, text: String| Edit::Set(pointer.to_owned(), text);
        let edits =
            vec![set(WORTH, used.rate.to_string()), set(DATE, day.to_string()), set(SOURCE, source.clone())];
        Some((Dollar { worth: Some(used.rate), date: Some(day), source }, edits))
    }
}
