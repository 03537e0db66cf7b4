//! What it means to commit to capacity: a price for every hour of a term, used or not.
//!
//! - effective rate r = upfront ÷ (8,760 × term) + hourly price, in money for an hour of one GPU. With interest the
//!   upfront payment is an annuity: upfront × capital recovery factor ÷ 8,760
//! - break-even utilization r ÷ p, against p on demand: of all hours of the term, how many must be used
//! - months of full use 12 × term × r ÷ p after which the term is paid for
//! - regret: the list price falls to p′ after signing, and the break-even becomes r ÷ p′. Above 1, the commitment costs
//!   more than on demand even if every hour is used

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Term, Unit, figure, term};
use super::owning::capital::capital_recovery_factor;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, decimal, product, quotient};

/// What is committed to, for one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Commitment {
    /// U, money at the start. 0.
    pub upfront: Decimal,
    /// h, money for each hour of the term. 5.395: an H100 of AWS over three years (43.16 for eight; The Next Platform,
    /// July 2023).
    pub hourly: Decimal,
    /// T. 3.
    pub years: Decimal,
    /// p, money for an hour on demand. 12.29: an H100 of AWS at that time.
    pub on_demand: Decimal,
    /// p′, what that falls or rises to after signing. None: it stays.
    pub later_on_demand: Option<Decimal>,
    /// What money costs in a year. 0: what is paid early costs no more for that.
    pub cost_of_capital: Decimal,
}

impl Default for Commitment {
    fn default() -> Self {
        Self {
            upfront: Decimal::ZERO,
            hourly: decimal(5395, 3),
            years: 3.into(),
            on_demand: decimal(1229, 2),
            later_on_demand: None,
            cost_of_capital: Decimal::ZERO,
        }
    }
}

/// What a commitment asks of whoever signs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Terms {
    pub rate: Figure,
    /// By how much an hour is cheaper than on demand, if it is used.
    pub discount: Figure,
    pub break_even: Figure,
    pub months_of_full_use: Figure,
    /// The break-even after the list price moved; none where it stays.
    pub later_break_even: Option<Figure>,
    /// Money that each hour costs more than on demand even if it is used; none where it stays. 0 where it does not.
    pub regret: Option<Figure>,
    pub warnings: Vec<Finding>,
}

/// What is paid at the start of a term, by each of its hours: upfront × capital recovery factor ÷ 8,760. None for a term
/// of no time.
pub fn upfront_by_hour(upfront: Decimal, years: Decimal, cost_of_capital: Decimal) -> Option<Decimal> {
    let yearly = product(&[upfront, capital_recovery_factor(cost_of_capital, years)?]);
    quotient(yearly, HOURS_PER_YEAR.into())
}

impl Commitment {
    /// r, money for an hour of the term. None for a term of no time.
    pub fn rate(&self) -> Option<Decimal> {
        Some(upfront_by_hour(self.upfront, self.years, self.cost_of_capital)? + self.hourly)
    }

    /// What it asks.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn terms(&self) -> Result<Terms, Refused> {
        let warnings = check::commitment(self).warnings_or_refused()?;
        let rate = self.rate();
        let money = |name, value| term(name, value, Unit::MoneyPerHour);
        let with = |price: Decimal, name: &'static str| -> Vec<Term> {
            rate.map(|rate| money("rate", rate)).into_iter().chain([money(name, price)]).collect()
        };
        let share = |price| rate.and_then(|rate| quotient(rate, price));
        let on_demand = with(self.on_demand, "price on demand");
        let break_even = share(self.on_demand);
        let months = break_even.map(|share| product(&[12.into(), self.years, share]));
        let mut months_terms = on_demand.clone();
        months_terms.push(term("term", self.years, Unit::Years));
        Ok(Terms {
            rate: figure(
                "An hour of the term",
                rate,
                Unit::MoneyPerHour,
                "upfront × capital recovery factor ÷ 8,760 + hourly price",
                [
                    Some(term("upfront", self.upfront, Unit::Money)),
                    capital_recovery_factor(self.cost_of_capital, self.years)
                        .map(|factor| term("capital recovery factor", factor, Unit::SharePerYear)),
                    Some(money("hourly price", self.hourly)),
                ]
                .into_iter()
                .flatten()
                .collect(),
            ),
            discount: figure(
                "Discount",
                break_even.map(|share| Decimal::from(1) - share),
                Unit::Share,
                "1 − rate ÷ price on demand",
                on_demand.clone(),
            ),
            break_even: figure(
                "Break-even utilization",
                break_even,
                Unit::Share,
                "rate ÷ price on demand",
                on_demand,
            ),
            months_of_full_use: figure(
                "Months of full use until it is paid for",
                months,
                Unit::Months,
                "12 × term × rate ÷ price on demand",
                months_terms,
            ),
            later_break_even: self.later_on_demand.map(|later| {
                let terms = with(later, "later price on demand");
                let formula = "rate ÷ later price on demand";
                figure("Break-even utilization afterwards", share(later), Unit::Share, formula, terms)
            }),
            regret: self.later_on_demand.map(|later| {
                figure(
                    "What a used hour costs too much",
                    rate.map(|rate| (rate - later).max(Decimal::ZERO)),
                    Unit::MoneyPerHour,
                    "rate − later price on demand, or 0",
                    with(later, "later price on demand"),
                )
            }),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    fn commitment(hourly: &str, years: i64) -> Commitment {
        Commitment { hourly: number(hourly), years: years.into(), ..Commitment::default() }
    }

    fn of(figure: &Figure) -> String {
        figure.value.unwrap().round(4).to_string()
    }

    #[test]
    fn it_pays_from_a_utilization_on() {
        let table = [("8.05", 1, "0.6550", "7.8600", "0.3450"), ("5.25", 3, "0.4272", "15.3784", "0.5728")];
        for (hourly, years, share, months, discount) in table {
            let terms = commitment(hourly, years).terms().unwrap();
            assert_eq!((of(&terms.break_even), of(&terms.discount)), (share.to_owned(), discount.to_owned()));
            assert_eq!(of(&terms.months_of_full_use), months);
            assert_eq!((terms.later_break_even, terms.regret), (None, None));
        }
    }

    #[test]
    fn a_list_price_that_falls_makes_it_costlier_than_none() {
        let fallen = Commitment { later_on_demand: Some(number("6.88")), ..commitment("8.05", 1) };
        let terms = fallen.terms().unwrap();
        assert_eq!(of(&terms.later_break_even.unwrap()), "1.1701");
        assert_eq!(of(&terms.regret.unwrap()), "1.1700");
        let still = Commitment { later_on_demand: Some(number("6.88")), ..commitment("5.25", 3) };
        let terms = still.terms().unwrap();
        assert_eq!(
            (of(&terms.later_break_even.unwrap()), of(&terms.regret.unwrap())),
            ("0.7631".into(), "0.0000".into())
        );
    }

    #[test]
    fn what_is_paid_upfront_is_spread_over_the_term_and_costs_interest() {
        let upfront = Commitment { upfront: 26_280.into(), ..commitment("0", 3) };
        assert_eq!(upfront.rate().unwrap().round(15), 1.into());
        let dear = Commitment { cost_of_capital: number("0.1"), ..upfront };
        assert_eq!(dear.rate().unwrap().round(4), number("1.2063"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (field, it) in [
            ("years", Commitment { years: Decimal::ZERO, ..Commitment::default() }),
            ("on_demand", Commitment { on_demand: Decimal::ZERO, ..Commitment::default() }),
            ("later_on_demand", Commitment { later_on_demand: Some(Decimal::ZERO), ..Commitment::default() }),
            ("hourly", Commitment { hourly: Decimal::ZERO, ..Commitment::default() }),
        ] {
            assert_eq!(it.terms().unwrap_err().0[0].field, field);
        }
        let worse = commitment("13", 1).terms().unwrap();
        assert_eq!(worse.warnings[0].field, "hourly");
    }

    proptest! {
        #[test]
        fn at_its_break_even_a_term_costs_what_its_used_hours_cost(cents in 1i64..2000, years in 1i64..6, upfront in 0i64..100_000) {
            let it = Commitment { upfront: upfront.into(), hourly: decimal(cents, 2), years: years.into(), ..Commitment::default() };
            let all = it.hourly.times(8760 * years) + it.upfront;
            let share = it.terms().unwrap().break_even.value.unwrap();
            let used = product(&[share, it.on_demand]).times(8760 * years);
            prop_assert!((all - used).abs() < Decimal::new(1, 9));
        }
    }
}
