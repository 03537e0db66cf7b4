//! What a calculator asks for, and what was entered.

use std::fmt::Write as _;
use std::sync::LazyLock;

use csv::StringRecord;

use super::super::super::error::{Error, Result};
use super::super::super::form;
use super::super::super::words::stated;
use super::super::field;
use super::super::prices::Exchange;
use super::takes::Takes;
use crate::accelerator;
use crate::economics::check::{Finding, Findings};
use crate::economics::comparison::SHIPPED;
use crate::economics::figure::{Figure, Unit};
use crate::exchange::Used;
use crate::money::{Currency, Decimal};

/// The currency of every amount, which each calculator asks for.
const CURRENCY: &str = "currency";

/// The currency that the amounts of a form are in: where another one is asked for, they are converted.
const WAS: &str = "was";

/// A line a field; the currency of what is entered is the last of each calculator that asks for amounts.
static LINES: LazyLock<Vec<StringRecord>> = LazyLock::new(|| {
    let mut lines = csv::Reader::from_reader(include_bytes!("inputs.csv").as_slice());
    // The file is a part of the program; a test reads all of it.
    lines.records().filter_map(Result::ok).collect()
});

/// Digits of an amount that was converted.
const DIGITS: u32 = 6;

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

impl Input {
    /// What a calculator asks for, as `inputs.csv` says it, in that order.
    pub(super) fn of(calculator: &str) -> Vec<Self> {
        LINES.iter().filter(|line| &line[0] == calculator).filter_map(Self::read).collect()
    }

    fn read(line: &'static StringRecord) -> Option<Self> {
        let &[_, name, label, takes, unit, begins, hint] = line.iter().collect::<Vec<_>>().as_slice() else {
            return None;
        };
        Some(Self { name, label, takes: Takes::called(takes)?, unit, begins, hint })
    }

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

    /// An amount of the currency.
    fn is_money(&self) -> bool {
        self.is_number() && self.unit.contains("MONEY")
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
            Takes::Currency => one_of_standard(text).is_some(),
        };
        if is_right {
            return Ok(());
        }
        Err(match self.takes {
            Takes::NumberOrNone => "enter a number, or leave it empty",
            Takes::Price if self.number(text).is_some() => "enter a price above 0",
            Takes::Number | Takes::Price | Takes::Percent => {
                "enter a number with a decimal point, such as 2.89"
            }
            Takes::Whole => form::not_a_count(text, "enter a whole number"),
            Takes::OneOf(_) | Takes::Accelerator(_) | Takes::Text => "choose one of the options",
            Takes::Currency => "enter a currency such as USD",
        })
    }

    fn number(&self, text: &str) -> Option<Decimal> {
        match self.takes {
            Takes::Percent => field::Takes::Percent.to_document(text).parse().ok(),
            _ => form::amount(text),
        }
    }
}

/// What is said of an amount that no rate converts.
const ASKED: &str = "enter the amount in this currency: there is no exchange rate to convert it";

fn one_of_standard(text: &str) -> Option<Currency> {
    Currency::parse(text).filter(Currency::is_standard)
}

fn whole(text: &str) -> Option<u64> {
    form::amount(text)?.to_string().parse().ok()
}

/// What was entered of each input.
pub(super) struct Values<'a> {
    inputs: &'a [Input],
    texts: Vec<String>,
    /// The currency of the amounts.
    amounts_in: Currency,
    /// How amounts were converted that were in another one.
    converted: Vec<Used>,
    /// What is asked for: it was in a currency without a rate.
    unconverted: Vec<&'static str>,
    /// What a US dollar is worth in the currency of the amounts. None: no rate is known.
    dollar: Option<Decimal>,
}

impl<'a> Values<'a> {
    /// # Errors
    /// What the calculator does not ask for.
    pub(super) fn read(
        inputs: &'a [Input],
        pairs: Vec<(String, String)>,
        exchange: &Exchange,
    ) -> Result<Self> {
        let mut texts: Vec<String> = inputs.iter().map(|it| it.begins.to_owned()).collect();
        let (mut is_entered, mut was) = (vec![false; inputs.len()], None);
        for (name, text) in pairs {
            if name == WAS {
                was = Some(one_of_standard(&text).ok_or_else(|| {
                    Error::BadRequest(format!("{WAS}: found “{text}”. Enter a currency such as USD."))
                })?);
                continue;
            }
            let Some(at) = inputs.iter().position(|it| it.name == name) else {
                let names: Vec<&str> = inputs.iter().map(|it| it.name).collect();
                let expected = names.join(", ");
                return Err(Error::BadRequest(format!("found “{name}” in the address. Use {expected}.")));
            };
            text.trim().clone_into(&mut texts[at]);
            is_entered[at] = true;
        }
        let shipped = Currency::exactly(SHIPPED);
        let asked = inputs.iter().position(|it| it.name == CURRENCY).map(|at| texts[at].as_str());
        let asked = asked.and_then(one_of_standard);
        let amounts_in = asked.or(was.clone()).unwrap_or_else(|| shipped.clone());
        let entered_in = was.unwrap_or_else(|| amounts_in.clone());
        let (mut converted, mut unconverted) = (Vec::<Used>::new(), Vec::new());
        for ((input, text), is_entered) in inputs.iter().zip(&mut texts).zip(is_entered) {
            let from = if is_entered { &entered_in } else { &shipped };
            if !input.is_money() || *from == amounts_in {
                continue;
            }
            let Some(amount) = input.number(text).filter(|it| !it.is_zero()) else { continue };
            let Some(used) = exchange.newest(from, &amounts_in) else {
                text.clear();
                unconverted.push(input.name);
                continue;
            };
            *text = used.convert(amount).significant(DIGITS).normalize().to_string();
            if !converted.contains(&used) {
                converted.push(used);
            }
        }
        let dollar = if amounts_in == shipped {
            Some(1.into())
        } else {
            exchange.newest(&shipped, &amounts_in).map(|used| used.rate)
        };
        Ok(Self { inputs, texts, amounts_in, converted, unconverted, dollar })
    }

    /// What amounts were converted at.
    pub(super) fn converted(&self) -> impl Iterator<Item = String> + '_ {
        self.converted.iter().map(|used| {
            let Used { month, currency, into, rate, source } = used;
            format!("Converted from {currency} at {} {into} ({}, {source}).", rate.normalize(), month.name())
        })
    }

    pub(super) fn inputs(&self) -> &[Input] {
        self.inputs
    }

    /// What means nothing, and what would.
    pub(super) fn misread(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let both = self.inputs.iter().zip(&self.texts);
        both.filter_map(move |(input, text)| {
            let asked = self.unconverted.contains(&input.name).then_some(ASKED);
            let wrong = asked.or_else(|| input.check(text).err());
            let wrong = wrong.or_else(|| self.in_dollars(input.name, text));
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
            ("rates.of", _) => {
                Some("this price list is in USD: choose one price per GB and enter it in your currency")
            }
            ("nat" | "zones", "yes") => Some("this price is in USD: enter yours under Between regions"),
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
        self.amounts_in.clone()
    }

    /// What is odd about prices, by what a dollar is worth.
    pub(super) fn usual_prices(&self, check: impl FnOnce(Decimal) -> Findings) -> Vec<Finding> {
        self.dollar.map(|dollar| check(dollar).iter().cloned().collect()).unwrap_or_default()
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
            let is_of_shipped = self.amounts_in.as_str() == SHIPPED || !input.is_money();
            if text != input.begins || !is_of_shipped {
                let sign = if query.is_empty() { '?' } else { '&' };
                // Writing to a text cannot fail.
                let _ = write!(query, "{sign}{}={}", input.name, super::super::address::encode(text));
            }
        }
        query
    }
}
