//! What shared costs are divided by: in words, and where a weight is of several currencies, what it is the sum of.

use serde::Serialize;
use sqlx::PgConnection;

use crate::allocation::{Division, Hours, HoursOf, Split};
use crate::exchange::Used;
use crate::money::{Currency, Decimal, Money};
use crate::report::as_of::Error;
use crate::report::{Answers, CostMetric, Grouping, Question};

/// What a team was charged directly in one currency, and what of its weight that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weighed {
    /// Effective cost, whichever cost the statement is about.
    pub cost: Money,
    pub rate: Decimal,
    /// Where the rate comes from, in words.
    pub source: String,
    pub weight: Money,
}

/// Who reads what a weight is: scripts, whose words stay as they are, or people, who read those of pages.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    Script,
    Person,
}

/// What the weights of a month are counted in.
pub(super) struct Scales {
    pub currency: Option<Currency>,
    /// The rates of the other currencies that the month was billed in.
    rates: Vec<Used>,
    without_rate: Vec<Currency>,
}

impl Scales {
    pub async fn find(
        db: &mut PgConnection,
        answers: &Answers,
        of_month: &Question,
        division: Option<&Division>,
    ) -> Result<Self, Error> {
        let currency = division.and_then(|division| division.currency.clone());
        let without_rate = division.map(|division| division.without_rate.clone()).unwrap_or_default();
        let mut rates = Vec::new();
        if currency.is_some() {
            let whole = Question {
                cost: CostMetric::Effective,
                currency: None,
                convert_into: currency.clone(),
                ..of_month.of_organization().by(Grouping::Team)
            };
            rates = answers.spend(db, &whole).await?.rates;
            rates.retain(|used| used.month == of_month.period.first());
        }
        Ok(Self { currency, rates, without_rate })
    }

    /// What a weight is, in words.
    pub fn in_words(&self, split: &Split, reader: Reader) -> String {
        let Some(currency) = &self.currency else { return plain(split, reader) };
        let is_one = self.rates.is_empty() && self.without_rate.is_empty();
        let codes: Vec<&str> = self.without_rate.iter().map(Currency::as_str).collect();
        let without = match codes.join(", ") {
            none if none.is_empty() => none,
            codes => {
                let without = reader.word("without", "without amounts in");
                let no_rate =
                    reader.word("for which the month has no rate", "no exchange rate for the month");
                format!("; {without} {codes}, {no_rate}")
            }
        };
        let cost = |of: &str| {
            if is_one {
                format!("{of} in {currency}")
            } else {
                format!("{of} in all currencies, converted into {currency}{without}")
            }
        };
        match split {
            Split::DirectCost => cost("effective direct cost"),
            Split::WhoUsedIt => cost(used(reader)),
            Split::AcceleratorHours(it) if !is_one => {
                format!("{}, of charges in all currencies", hours(it, reader))
            }
            _ => plain(split, reader),
        }
    }

    /// What a team's own cost is the sum of; empty where it is of one currency.
    pub async fn own_cost(
        &self,
        db: &mut PgConnection,
        answers: &Answers,
        of_team: &Question,
    ) -> Result<Vec<Weighed>, Error> {
        let mut weighed = Vec::new();
        let Some(into) = self.currency.as_ref().filter(|_| !self.rates.is_empty()) else {
            return Ok(weighed);
        };
        let itself = (into, None);
        let others = self.rates.iter().map(|used| (&used.currency, Some(used)));
        for (currency, used) in std::iter::once(itself).chain(others) {
            let asked = Question {
                cost: CostMetric::Effective,
                currency: Some(currency.clone()),
                convert_into: None,
                ..of_team.direct().by(Grouping::Team)
            };
            // Where nothing was billed in it, the answer is in no currency.
            let cost = answers.spend(db, &asked).await?.total.filter(|cost| !cost.amount.is_zero());
            if let Some(cost) = cost {
                let amount = used.map_or(cost.amount, |used| used.convert(cost.amount));
                weighed.push(Weighed {
                    cost,
                    rate: used.map_or(Decimal::from(1), |used| used.rate),
                    source: used.map_or("the same currency", |used| &used.source).to_owned(),
                    weight: Money { amount, currency: into.clone() },
                });
            }
        }
        Ok(weighed)
    }
}

impl Reader {
    fn word(self, of_script: &'static str, of_person: &'static str) -> &'static str {
        match self {
            Self::Script => of_script,
            Self::Person => of_person,
        }
    }
}

fn plain(split: &Split, reader: Reader) -> String {
    match split {
        Split::Evenly => reader.word("one for each that takes part", "the same for every team").to_owned(),
        Split::Fixed { .. } => {
            reader.word("the share that was written down", "the entered shares").to_owned()
        }
        Split::DirectCost => "effective direct cost".to_owned(),
        Split::WhoUsedIt => used(reader).to_owned(),
        Split::AcceleratorHours(it) => hours(it, reader),
        Split::Quantity { unit } => format!("{unit}, as entered"),
    }
}

fn used(reader: Reader) -> &'static str {
    reader.word("effective cost of what used it", "effective cost of the usage")
}

/// What of accelerators weighs.
fn hours(hours: &Hours, reader: Reader) -> String {
    let which = match hours.of {
        HoursOf::All => {
            reader.word("accelerator-hours, paid for and owned alike", "cloud and on-prem GPU-hours")
        }
        HoursOf::Owned => reader.word("hours of the organization’s own accelerators", "on-prem GPU-hours"),
        HoursOf::PaidFor => {
            reader.word("accelerator-hours that were paid for, without those owned", "cloud GPU-hours")
        }
    };
    match (&hours.account, reader) {
        (None, _) => which.to_owned(),
        (Some(account), Reader::Script) => format!("{which}, of the account {account} alone"),
        (Some(account), Reader::Person) => format!("{which} of account {account}"),
    }
}
