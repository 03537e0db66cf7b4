//! What a calculator asks for, and what was entered.

use std::fmt::Write as _;

use super::super::super::error::{Error, Result};
use super::super::super::form;
use super::super::super::words::stated;
use super::super::field;
use crate::accelerator;
use crate::money::{Currency, Decimal};
use crate::scenario::comparison::SHIPPED;
use crate::scenario::figure::{Figure, Unit};

/// The currency of every amount, which each calculator asks for.
const CURRENCY: &str = "currency";

/// A field of a calculator.
pub(super) struct Input {
    /// As a finding names it: `interruptions.pause_minutes`.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) takes: Takes,
    /// `MONEY` stands for the currency.
    pub(super) unit: &'static str,
    /// What it begins with, as a form writes it. Empty: nothing is entered.
    pub(super) begins: &'static str,
    pub(super) hint: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum Takes {
    Number,
    /// Of what is rented: more than 0.
    Price,
    NumberOrNone,
    /// A share of 1.
    Percent,
    Whole,
    Text,
    OneOf(&'static [(&'static str, &'static str)]),
    /// A model of the catalog of accelerators, of those that this holds of.
    Accelerator(fn(&str) -> bool),
    Currency,
}

pub(super) fn input(
    name: &'static str,
    label: &'static str,
    takes: Takes,
    unit: &'static str,
    begins: &'static str,
    hint: &'static str,
) -> Input {
    Input { name, label, takes, unit, begins, hint }
}

/// The currency of what is entered: the last field of each calculator.
pub(super) fn currency() -> Input {
    input(CURRENCY, "Currency", Takes::Currency, "", "USD", "Of every amount; nothing is converted.")
}

impl Input {
    /// An id that no selector takes for something else.
    pub(super) fn id(&self) -> String {
        self.name.replace('.', "-")
    }

    /// What can be chosen, and what it is called.
    pub(super) fn choices(&self) -> Vec<(String, String)> {
        match self.takes {
            Takes::OneOf(words) => {
                words.iter().map(|(word, label)| ((*word).to_owned(), (*label).to_owned())).collect()
            }
            Takes::Accelerator(is_one) => {
                let models = accelerator::models().iter().filter(|it| is_one(it.id));
                models.map(|it| (it.id.to_owned(), format!("{} {}", it.name, it.variant))).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(
            self.takes,
            Takes::Number | Takes::Price | Takes::NumberOrNone | Takes::Percent | Takes::Whole
        )
    }

    /// Every unit speaks of it.
    pub(super) fn is_currency(&self) -> bool {
        matches!(self.takes, Takes::Currency)
    }

    /// What would have been right, where a text means nothing.
    fn check(&self, text: &str) -> Result<(), &'static str> {
        let is_none = text.is_empty();
        let is_right = match self.takes {
            Takes::NumberOrNone => is_none || self.number(text).is_some(),
            Takes::Number | Takes::Percent => self.number(text).is_some(),
            Takes::Price => self.number(text).is_some_and(|it| it > Decimal::ZERO),
            Takes::Whole => whole(text).is_some(),
            Takes::Text => true,
            Takes::OneOf(_) | Takes::Accelerator(_) => self.choices().iter().any(|(word, _)| word == text),
            Takes::Currency => Currency::parse(text).is_some_and(|it| it.is_standard()),
        };
        if is_right {
            return Ok(());
        }
        Err(match self.takes {
            Takes::NumberOrNone => "expected a number, or nothing",
            Takes::Price if self.number(text).is_some() => {
                "expected more than 0: nothing is rented for nothing"
            }
            Takes::Number | Takes::Price | Takes::Percent => {
                "expected a number, with a point before decimals"
            }
            Takes::Whole => "expected a whole number",
            Takes::OneOf(_) | Takes::Accelerator(_) | Takes::Text => "expected one of those to choose from",
            Takes::Currency => "expected a currency such as USD",
        })
    }

    fn number(&self, text: &str) -> Option<Decimal> {
        match self.takes {
            Takes::Percent => field::Takes::Percent.to_document(text).parse().ok(),
            _ => form::amount(text),
        }
    }
}

fn whole(text: &str) -> Option<u64> {
    form::amount(text)?.to_string().parse().ok()
}

/// What was entered of each input.
pub(super) struct Values<'a> {
    inputs: &'a [Input],
    texts: Vec<String>,
}

impl<'a> Values<'a> {
    /// # Errors
    /// What the calculator does not ask for.
    pub(super) fn read(inputs: &'a [Input], pairs: Vec<(String, String)>) -> Result<Self> {
        let mut texts: Vec<String> = inputs.iter().map(|it| it.begins.to_owned()).collect();
        for (name, text) in pairs {
            let Some(at) = inputs.iter().position(|it| it.name == name) else {
                let names: Vec<&str> = inputs.iter().map(|it| it.name).collect();
                let expected = names.join(", ");
                return Err(Error::BadRequest(format!("found “{name}”, expected {expected}.")));
            };
            text.trim().clone_into(&mut texts[at]);
        }
        Ok(Self { inputs, texts })
    }

    pub(super) fn inputs(&self) -> &[Input] {
        self.inputs
    }

    /// What means nothing, and what would.
    pub(super) fn misread(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let both = self.inputs.iter().zip(&self.texts);
        both.filter_map(move |(input, text)| {
            let wrong = input.check(text).err().or_else(|| self.in_dollars(input.name, text));
            wrong.map(|expected| (input.name, expected))
        })
    }

    /// Why a list of prices does not hold in the currency that was entered.
    fn in_dollars(&self, name: &str, text: &str) -> Option<&'static str> {
        if self.currency().as_str() == SHIPPED {
            return None;
        }
        match (name, text) {
            ("rates.of", "flat" | "free") => None,
            ("rates.of", _) => Some("this list is in USD: choose one price, and enter it in your currency"),
            ("nat" | "zones", "yes") => Some("its price is in USD: enter yours across regions"),
            _ => None,
        }
    }

    /// As it was entered.
    pub(super) fn text(&self, name: &str) -> &str {
        let at = self.inputs.iter().position(|it| it.name == name);
        at.map_or("", |at| self.texts[at].as_str())
    }

    /// None where nothing was entered.
    pub(super) fn optional(&self, name: &str) -> Option<Decimal> {
        self.inputs.iter().find(|it| it.name == name)?.number(self.text(name))
    }

    pub(super) fn number(&self, name: &str) -> Decimal {
        self.optional(name).unwrap_or_default()
    }

    /// More than fits is the most there is, which is refused.
    pub(super) fn whole(&self, name: &str) -> u32 {
        u32::try_from(self.long(name)).unwrap_or(u32::MAX)
    }

    pub(super) fn long(&self, name: &str) -> u64 {
        whole(self.text(name)).unwrap_or_default()
    }

    pub(super) fn is(&self, name: &str, word: &str) -> bool {
        self.text(name) == word
    }

    pub(super) fn currency(&self) -> Currency {
        Currency::parse(self.text(CURRENCY)).unwrap_or_else(|| Currency::exactly("USD"))
    }

    /// A value in words, in the currency of what was entered.
    pub(super) fn stated(&self, value: Decimal, unit: Unit) -> String {
        stated(value, unit, self.currency().as_str())
    }

    /// A figure in words: undefined where it has no value.
    pub(super) fn said(&self, figure: &Figure) -> String {
        figure.value.map_or_else(|| "undefined".to_owned(), |value| self.stated(value, figure.unit))
    }

    /// The same without what its unit says after the currency.
    pub(super) fn amount(&self, figure: &Figure) -> String {
        figure.value.map_or_else(|| "undefined".to_owned(), |value| self.stated(value, Unit::Money))
    }

    /// A unit with the currency in it.
    pub(super) fn unit(&self, input: &Input) -> String {
        input.unit.replace("MONEY", self.currency().as_str())
    }

    /// What differs from what it begins with, as a query.
    pub(super) fn query(&self) -> String {
        let mut query = String::new();
        for (input, text) in self.inputs.iter().zip(&self.texts) {
            if text != input.begins {
                let sign = if query.is_empty() { '?' } else { '&' };
                // Writing to a text cannot fail.
                let _ = write!(query, "{sign}{}={}", input.name, super::super::keep::encode(text));
            }
        }
        query
    }
}
