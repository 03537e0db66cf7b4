//! What answers of a model cost: by the million tokens, at home or from an interface, and when they overtake training.
//!
//! - money for a million tokens = price of a GPU-hour × GPUs ÷ (3,600 × tokens a second × duty) × 10^6, where duty is the
//!   share of the hours in which they are busy. Reading a prompt and writing an answer have rates of their own, and so
//!   prices
//! - scaled to zero, only the hours that it runs are paid: hours × GPUs × price ÷ tokens
//! - volume from which on serving oneself costs less than an interface = fixed cost of a month ÷ (its price of a million
//!   − what a million costs besides); none where the interface is no dearer
//! - serving overtakes training after T₀ ÷ I months, and is I × n ÷ (T₀ + I × n) of the cost of n months

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{count, one, product, quotient};

/// Tokens in the unit that they are priced by.
const MILLION: i64 = 1_000_000;

/// What serves a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    /// Money for a GPU-hour.
    pub price: Decimal,
    /// 1.
    #[serde(default = "gpu")]
    pub gpus: u32,
    /// Tokens of answers a second, of all GPUs together.
    pub output_rate: Decimal,
    /// Tokens of prompts a second, of all GPUs together. None: prompts are not counted.
    pub input_rate: Option<Decimal>,
    /// Share of the paid hours in which they are busy. 1.
    #[serde(default = "one")]
    pub duty: Decimal,
}

fn gpu() -> u32 {
    1
}

/// What serving costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServingCost {
    pub output: Figure,
    /// None where prompts are not counted.
    pub input: Option<Figure>,
    pub warnings: Vec<Finding>,
}

/// An interface that is paid by the token, against serving at a fixed cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Money for a million tokens of the interface.
    pub price: Decimal,
    /// Money for a month of serving oneself, whatever is asked.
    pub fixed: Decimal,
    /// Money for a million tokens besides: power, traffic. 0.
    #[serde(default)]
    pub variable: Decimal,
}

/// A training, and the serving that follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifetime {
    /// T₀, money.
    pub training: Decimal,
    /// I, money a month.
    pub serving: Decimal,
    /// n.
    pub months: u32,
}

/// When serving costs more than training did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overtaking {
    /// None where serving costs nothing.
    pub months: Figure,
    /// Money for the serving of all months.
    pub served: Figure,
    /// Of everything that was spent, serving's share. None where nothing was.
    pub share: Figure,
}

impl Serving {
    fn per_million(&self, name: &'static str, rate: Decimal) -> Figure {
        let tokens = product(&[3600.into(), rate, self.duty]);
        let hourly = product(&[self.price, count(self.gpus), MILLION.into()]);
        figure(
            name,
            quotient(hourly, tokens),
            Unit::MoneyPerMillionTokens,
            "price × GPUs ÷ (3,600 × tokens a second × duty) × 10⁶",
            vec![
                term("price", self.price, Unit::MoneyPerHour),
                term("GPUs", count(self.gpus), Unit::Number),
                term("tokens a second", rate, Unit::TokensPerSecond),
                term("duty", self.duty, Unit::Share),
            ],
        )
    }

    /// What a million tokens cost.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<ServingCost, Refused> {
        let warnings = check::serving(self).warnings_or_refused()?;
        let output = self.per_million("A million tokens of answers", self.output_rate);
        let input = self.input_rate.map(|rate| self.per_million("A million tokens of prompts", rate));
        Ok(ServingCost { output, input, warnings })
    }

    /// A million tokens where they run only for so many hours, and are off else. None without tokens.
    pub fn scaled_to_zero(&self, hours: Decimal, tokens: Decimal) -> Figure {
        let paid = product(&[hours, count(self.gpus), self.price]);
        figure(
            "A million tokens, off while nothing is asked",
            quotient(paid.times(MILLION), tokens),
            Unit::MoneyPerMillionTokens,
            "hours × GPUs × price ÷ tokens × 10⁶",
            vec![
                term("hours", hours, Unit::Hours),
                term("GPUs", count(self.gpus), Unit::Number),
                term("price", self.price, Unit::MoneyPerHour),
                term("tokens", tokens, Unit::Tokens),
            ],
        )
    }
}

impl Interface {
    /// Tokens a month from which on serving oneself costs less; undefined where it never does.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn break_even(&self) -> Result<Figure, Refused> {
        check::interface(self).warnings_or_refused()?;
        let saved = self.price - self.variable;
        let millions = if saved > Decimal::ZERO { quotient(self.fixed, saved) } else { None };
        Ok(figure(
            "Tokens a month from which on serving costs less",
            millions.map(|millions| millions.times(MILLION)),
            Unit::Tokens,
            "fixed cost ÷ (price − variable cost) × 10⁶",
            vec![
                term("fixed cost", self.fixed, Unit::MoneyPerMonth),
                term("price", self.price, Unit::MoneyPerMillionTokens),
                term("variable cost", self.variable, Unit::MoneyPerMillionTokens),
            ],
        ))
    }
}

impl Lifetime {
    /// When serving has cost as much as training.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn overtaking(&self) -> Result<Overtaking, Refused> {
        check::lifetime(self).warnings_or_refused()?;
        let served = product(&[self.serving, count(self.months)]);
        let training = term("training", self.training, Unit::Money);
        let serving = term("serving", self.serving, Unit::MoneyPerMonth);
        let months = term("months", count(self.months), Unit::Months);
        Ok(Overtaking {
            months: figure(
                "Serving has cost as much as training after",
                quotient(self.training, self.serving),
                Unit::Months,
                "training ÷ serving",
                vec![training.clone(), serving.clone()],
            ),
            served: figure(
                "Serving",
                Some(served),
                Unit::Money,
                "serving × months",
                vec![serving.clone(), months.clone()],
            ),
            share: figure(
                "Serving’s share",
                quotient(served, self.training + served),
                Unit::Share,
                "serving × months ÷ (training + serving × months)",
                vec![training, serving, months],
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::arithmetic::decimal;
    use crate::money::number;

    fn serving(rate: &str, duty: &str) -> Serving {
        Serving { price: 2.into(), gpus: 1, output_rate: number(rate), input_rate: None, duty: number(duty) }
    }

    fn output(serving: &Serving) -> Decimal {
        serving.cost().unwrap().output.value.unwrap()
    }

    #[test]
    fn a_million_tokens_cost_more_the_less_is_asked() {
        for (rate, duty, cost) in
            [("85", "1", "6.5359"), ("85", "0.45", "14.5243"), ("120", "1", "4.6296"), ("400", "1", "1.3889")]
        {
            assert_eq!(output(&serving(rate, duty)).round(4), number(cost));
        }
        let many = Serving { gpus: 8, ..serving("680", "1") };
        assert_eq!(output(&many), output(&serving("85", "1")));
    }

    #[test]
    fn prompts_have_a_price_of_their_own() {
        let both = Serving { input_rate: Some(number("850")), ..serving("85", "1") };
        let cost = both.cost().unwrap();
        assert_eq!(cost.input.unwrap().value.unwrap().round(5), number("0.65359"));
    }

    #[test]
    fn off_while_nothing_is_asked_only_the_hours_that_it_runs_are_paid() {
        let it = serving("85", "1");
        assert_eq!(it.scaled_to_zero(10.into(), 4_000_000.into()).value, Some(5.into()));
        assert_eq!(it.scaled_to_zero(10.into(), Decimal::ZERO).value, None);
    }

    #[test]
    fn an_interface_is_dearer_from_a_volume_on_or_never() {
        let it = Interface { price: number("2.5"), fixed: 10_000.into(), variable: number("0.5") };
        assert_eq!(it.break_even().unwrap().value, Some(5_000_000_000.into()));
        let cheap = Interface { price: number("0.5"), ..it.clone() };
        assert_eq!(cheap.break_even().unwrap().value, None);
        assert!(Interface { fixed: (-1).into(), ..it }.break_even().is_err());
    }

    #[test]
    fn serving_overtakes_training() {
        let it = Lifetime { training: 50_000.into(), serving: 20_000.into(), months: 12 };
        let found = it.overtaking().unwrap();
        assert_eq!(found.months.value, Some(number("2.5")));
        assert_eq!(found.share.value.unwrap().round(4), number("0.8276"));
        let none = Lifetime { training: Decimal::ZERO, serving: Decimal::ZERO, ..it };
        let found = none.overtaking().unwrap();
        assert_eq!((found.months.value, found.share.value), (None, None));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (field, it) in [
            ("output_rate", serving("0", "1")),
            ("duty", serving("85", "0")),
            ("duty", serving("85", "45")),
            ("gpus", Serving { gpus: 0, ..serving("85", "1") }),
            ("price", Serving { price: (-1).into(), ..serving("85", "1") }),
        ] {
            assert_eq!(it.cost().unwrap_err().0[0].field, field);
        }
        let read: Serving = serde_json::from_str(r#"{"price":"2","output_rate":"85"}"#).unwrap();
        assert_eq!(read, serving("85", "1"));
    }

    proptest! {
        #[test]
        fn a_million_costs_what_the_hours_do_in_which_it_is_made(cents in 1i64..2000, gpus in 1u32..100, rate in 1i64..100_000, duty in 1i64..=100, tokens in 1i64..1_000_000_000) {
            let it = Serving { price: decimal(cents, 2), gpus, output_rate: rate.into(), input_rate: None, duty: decimal(duty, 2) };
            let tokens = Decimal::from(tokens);
            let hours = quotient(tokens, product(&[3600.into(), it.output_rate, it.duty])).unwrap();
            let spent = it.scaled_to_zero(hours, tokens).value.unwrap();
            prop_assert!((output(&it) - spent).abs() <= product(&[spent + one(), Decimal::new(1, 9)]));
        }

        #[test]
        fn faster_and_busier_is_cheaper(rate in 1i64..100_000, duty in 1i64..100) {
            let it = serving(&rate.to_string(), &decimal(duty, 2).to_string());
            let faster = Serving { output_rate: it.output_rate + one(), ..it.clone() };
            let busier = Serving { duty: it.duty + decimal(1, 2), ..it.clone() };
            prop_assert!(output(&faster) < output(&it));
            prop_assert!(output(&busier) < output(&it));
        }
    }
}
