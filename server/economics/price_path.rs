//! How prices move, and how fast what one owns grows old.
//!
//! - a price after m months: the same; p × (1 − d)^(m ÷ 12), by a share d a year; of the last step that has come; or as
//!   entered, the last for good. Lists move by steps: an H100 of AWS stayed 23 months and then fell by 44 %; specialty
//!   clouds raised theirs in 2026
//! - as text: `-20 %` a year, `12: 0.8, 24: 0.6` for steps from their months on, `prices: 3.99, 3.50` for those of months
//! - hardware does 10^(g × t) as much for the money after t years. g = 0.14 orders of magnitude a year (Epoch AI), a
//!   factor of 1.380; what is owned loses value at the rate g × ln 10, 0.322 a year
//! - refresh: a unit of work costs the ratio of purchase prices ÷ the ratio of performances, of what it cost
//! - lock-in = Σ over months of cost × (1 − 10^(−g × t)) ÷ (1 + r)^(m ÷ 12), where t is the beginning of the month's
//!   quarter: what staying with the generation one owns costs more than the best there is each quarter
//!
//! Powers of ten are numbers without a unit, and binary floats of 16 digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::check::{self, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, exponential, growth, logarithm, one, product, quotient};

/// How a price moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Path {
    #[default]
    Flat,
    /// d, by which share it is less after a year; negative where it rises.
    Decline { yearly: Decimal },
    /// Each from its month on.
    Steps { steps: Vec<Step> },
    /// Of each month, from the first.
    Entered { prices: Vec<Decimal> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Months from now.
    pub month: u32,
    /// Times the price of now.
    pub factor: Decimal,
}

impl Path {
    /// What costs so much now, after so many months: of what was checked. To 20 decimals, so that many can be added.
    pub(super) fn moved(&self, price: Decimal, months: u32) -> Decimal {
        let moved = match self {
            Self::Flat => price,
            Self::Decline { yearly } => {
                let years = quotient(count(months), 12.into()).unwrap_or_default();
                product(&[price, growth(-*yearly, years)])
            }
            Self::Steps { steps } => {
                let come = steps.iter().rfind(|step| step.month <= months);
                come.map_or(price, |step| product(&[price, step.factor]))
            }
            Self::Entered { prices } => {
                prices.get(months as usize).or(prices.last()).copied().unwrap_or(price)
            }
        };
        moved.round(20).normalize()
    }
}

/// What a text has to be to say how a price moves.
const EXPECTED: &str = "enter a yearly change such as -20%, steps such as 12: 0.8, 24: 0.6, or monthly prices such as prices: 3.99, 3.50";

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("0 %"),
            Self::Decline { yearly } => write!(f, "{} %", (-yearly.times(100)).normalize()),
            Self::Steps { steps } => {
                let steps = steps.iter().map(|it| format!("{}: {}", it.month, it.factor.normalize()));
                f.write_str(&steps.collect::<Vec<_>>().join(", "))
            }
            Self::Entered { prices } => {
                let prices: Vec<String> = prices.iter().map(|it| it.normalize().to_string()).collect();
                write!(f, "prices: {}", prices.join(", "))
            }
        }
    }
}

impl FromStr for Path {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim().replace('−', "-");
        let number = |text: &str| text.trim().parse::<Decimal>().map_err(|_| EXPECTED);
        let listed = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        if let Some(prices) = text.strip_prefix("prices:") {
            let prices = listed(prices).iter().map(|it| number(it)).collect::<Result<_, _>>()?;
            return Ok(Self::Entered { prices });
        }
        if text.contains(':') {
            let step = |text: &String| -> Result<Step, &'static str> {
                let (month, factor) = text.split_once(':').ok_or(EXPECTED)?;
                Ok(Step { month: month.trim().parse().map_err(|_| EXPECTED)?, factor: number(factor)? })
            };
            return Ok(Self::Steps { steps: listed(&text).iter().map(step).collect::<Result<_, _>>()? });
        }
        let yearly = text.trim_end_matches('%').trim();
        let yearly = if yearly.is_empty() { Decimal::ZERO } else { number(yearly)? };
        let yearly = -yearly.divide(100.into(), yearly.scale() + 2).ok_or(EXPECTED)?.normalize();
        Ok(if yearly.is_zero() { Self::Flat } else { Self::Decline { yearly } })
    }
}

/// How fast hardware gets better for the money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Progress {
    /// g, in orders of magnitude a year. 0.14 (Epoch AI, trends in machine learning hardware).
    pub orders_per_year: Decimal,
}

impl Default for Progress {
    fn default() -> Self {
        Self { orders_per_year: decimal(14, 2) }
    }
}

impl Progress {
    /// g × ln 10: the rate at which what is owned loses value, a year.
    pub fn hazard(self) -> Decimal {
        product(&[self.orders_per_year, logarithm(10.into()).unwrap_or_default()])
    }

    /// Of what was bought, what is left after so many years: 10^(−g × t).
    pub fn left(self, years: Decimal) -> Option<Decimal> {
        exponential(-product(&[self.hazard(), years]))
    }
}

/// What is bought when what one owns is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Refresh {
    /// What the next generation costs, times the present one.
    pub price_ratio: Decimal,
    /// What it does, times the present one, in the same work.
    pub performance_ratio: Decimal,
}

impl Default for Refresh {
    fn default() -> Self {
        Self { price_ratio: one(), performance_ratio: one() }
    }
}

impl Refresh {
    /// Whether another generation is as the present one.
    pub fn is_the_same(self) -> bool {
        self == Self::default()
    }

    /// What a unit of work costs in capital afterwards, times what it cost.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn unit(self) -> Result<Figure, Refused> {
        check::refresh(self).warnings_or_refused()?;
        Ok(figure(
            "A unit of work after the refresh",
            quotient(self.price_ratio, self.performance_ratio),
            Unit::Number,
            "ratio of prices ÷ ratio of performances",
            vec![
                term("ratio of prices", self.price_ratio, Unit::Number),
                term("ratio of performances", self.performance_ratio, Unit::Number),
            ],
        ))
    }
}

/// Staying with what one owns, while better is sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockIn {
    /// Money for the work of a month, as it is done now.
    pub monthly: Decimal,
    /// For so many months the owned generation does it.
    pub months: u32,
    #[serde(default)]
    pub progress: Progress,
    /// What money costs in a year. 0.
    #[serde(default)]
    pub cost_of_capital: Decimal,
}

impl LockIn {
    /// What that costs more than the best there is in each quarter, as worth today.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(self) -> Result<Figure, Refused> {
        check::lock_in(self).warnings_or_refused()?;
        let lost: Decimal = (0..self.months).filter_map(|month| self.lost(month)).sum();
        Ok(figure(
            "Lock-in",
            Some(lost),
            Unit::Money,
            "Σ monthly cost × (1 − 10^(−orders of magnitude a year × years until the quarter)), as worth today",
            vec![
                term("monthly cost", self.monthly, Unit::MoneyPerMonth),
                term("months", count(self.months), Unit::Months),
                term("orders of magnitude a year", self.progress.orders_per_year, Unit::Number),
                term("cost of capital", self.cost_of_capital, Unit::SharePerYear),
            ],
        ))
    }

    fn lost(self, month: u32) -> Option<Decimal> {
        let quarter = quotient(count(month / 3), 4.into())?;
        let worth = growth(self.cost_of_capital, quotient(count(month), 12.into())?);
        quotient(product(&[self.monthly, one() - self.progress.left(quarter)?]), worth)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    #[test]
    fn prices_stay_decline_step_or_are_entered() {
        let steps = Path::Steps {
            steps: vec![
                Step { month: 23, factor: number("0.56") },
                Step { month: 30, factor: number("0.6") },
            ],
        };
        let entered = Path::Entered { prices: vec![3.into(), 4.into()] };
        let table = [
            (Path::Flat, 36, "10"),
            (Path::Decline { yearly: number("0.2") }, 0, "10"),
            (Path::Decline { yearly: number("0.2") }, 24, "6.4"),
            (Path::Decline { yearly: number("-0.1") }, 12, "11"),
            (steps.clone(), 22, "10"),
            (steps.clone(), 23, "5.6"),
            (steps, 90, "6"),
            (entered.clone(), 0, "3"),
            (entered, 60, "4"),
        ];
        for (path, months, price) in table {
            assert_eq!(path.moved(10.into(), months), number(price), "{path:?} after {months}");
        }
    }

    #[test]
    fn the_most_that_is_accepted_can_be_computed_with() {
        let price = number("999999999999.99999999999999999999");
        for path in [
            Path::Decline { yearly: -one() },
            Path::Decline { yearly: number("0.99") },
            Path::Steps { steps: vec![Step { month: 0, factor: 1000.into() }] },
        ] {
            assert!(check::path(&path, price).is_empty());
            assert!((0..1200).map(|month| path.moved(price, month)).sum::<Decimal>() > Decimal::ZERO);
        }
    }

    #[test]
    fn a_path_is_read_from_the_text_it_is_written_as() {
        for (text, written) in [
            ("", "0 %"),
            ("0", "0 %"),
            ("−20", "-20 %"),
            ("-12.5 %", "-12.5 %"),
            ("+10%", "10 %"),
            ("12:0.80,24 : 0.6", "12: 0.8, 24: 0.6"),
            ("prices: 3.99, 3.50", "prices: 3.99, 3.5"),
        ] {
            let path: Path = text.parse().unwrap();
            assert_eq!(path.to_string(), written);
            assert_eq!(written.parse(), Ok(path));
        }
        assert_eq!("-20".parse(), Ok(Path::Decline { yearly: number("0.2") }));
        for text in ["cheaper", "12: ", "12: 0.8, 24", "prices:", "-1.5: 2", "prices: 3; 4"] {
            assert_eq!(text.parse::<Path>(), Err(EXPECTED), "{text}");
        }
    }

    #[test]
    fn hardware_gets_better_by_more_than_a_third_a_year() {
        let progress = Progress::default();
        assert_eq!(progress.left(-one()).unwrap().round(3), number("1.380"));
        assert_eq!(progress.hazard().round(3), number("0.322"));
        let lost = |years: &str| (one() - progress.left(number(years)).unwrap()).round(4);
        assert_eq!((lost("0"), lost("1"), lost("5")), (number("0"), number("0.2756"), number("0.8005")));
    }

    #[test]
    fn a_refresh_pays_in_capital_where_it_does_more_for_the_money() {
        let refresh = Refresh { price_ratio: number("1.5"), performance_ratio: number("2.2") };
        assert_eq!(refresh.unit().unwrap().value.unwrap().round(4), number("0.6818"));
        let nothing = Refresh { performance_ratio: Decimal::ZERO, ..refresh };
        assert_eq!(nothing.unit().unwrap_err().0[0].field, "performance_ratio");
    }

    #[test]
    fn staying_costs_more_the_longer() {
        let stay = |months, capital: &str| {
            let it = LockIn {
                monthly: 1000.into(),
                months,
                progress: Progress::default(),
                cost_of_capital: number(capital),
            };
            it.cost().unwrap().value.unwrap()
        };
        // In the first quarter there is nothing better.
        assert_eq!(stay(3, "0"), Decimal::ZERO);
        assert_eq!(stay(6, "0").round(2), number("232.29"));
        assert!(stay(36, "0.1") < stay(36, "0"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let steps = |months: [u32; 2]| Path::Steps {
            steps: months.map(|month| Step { month, factor: one() }).to_vec(),
        };
        for (field, path) in [
            ("yearly", Path::Decline { yearly: one() }),
            ("steps.1.month", steps([3, 3])),
            ("prices", Path::Entered { prices: Vec::new() }),
            ("prices.0", Path::Entered { prices: vec![(-1).into()] }),
        ] {
            let refused = check::path(&path, one()).warnings_or_refused().unwrap_err();
            assert_eq!(refused.0[0].field, field);
        }
        let refused = check::path(&Path::Flat, -one()).warnings_or_refused().unwrap_err();
        assert_eq!(refused.0[0].field, "price");
        let late = LockIn {
            monthly: one(),
            months: 1201,
            progress: Progress::default(),
            cost_of_capital: Decimal::ZERO,
        };
        assert_eq!(late.cost().unwrap_err().0[0].field, "months");
        let odd = LockIn { months: 1, progress: Progress { orders_per_year: 5.into() }, ..late };
        assert_eq!(odd.cost().unwrap_err().0[0].field, "progress.orders_per_year");
        let path: Path = serde_json::from_str(r#"{"by":"decline","yearly":"0.1"}"#).unwrap();
        assert_eq!(path, Path::Decline { yearly: number("0.1") });
    }

    proptest! {
        #[test]
        fn a_decline_of_nothing_is_flat_and_more_of_it_is_less(price in 1i64..1000, months in 1u32..120, decline in 1i64..98) {
            let at = |hundredths| Path::Decline { yearly: decimal(hundredths, 2) }.moved(price.into(), months);
            prop_assert_eq!(at(0), Path::Flat.moved(price.into(), months));
            prop_assert!(at(decline + 1) < at(decline) && at(decline) < at(0));
        }

        #[test]
        fn what_was_bought_never_loses_more_than_it_cost(months in 0i64..600, orders in 0i64..100) {
            let progress = Progress { orders_per_year: decimal(orders, 2) };
            let left = |months: i64| progress.left(quotient(months.into(), 12.into()).unwrap()).unwrap();
            prop_assert!(left(months) >= Decimal::ZERO && left(months) <= one());
            prop_assert!(left(months + 1) <= left(months));
        }

        #[test]
        fn without_progress_nothing_is_locked_in(monthly in 1i64..1_000_000, months in 0u32..120) {
            let it = LockIn { monthly: monthly.into(), months, progress: Progress { orders_per_year: Decimal::ZERO }, cost_of_capital: Decimal::ZERO };
            prop_assert_eq!(it.cost().unwrap().value, Some(Decimal::ZERO));
        }
    }
}
