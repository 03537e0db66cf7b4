//! How a price becomes an expense over the years: the book view. Pure.
//!
//! What an accountant writes down. What capital costs (interest included) is the economic view, in
//! [`crate::economics::owning`]; the two answer different questions and are never added to each other.
//!
//! A year of life runs from the day of going into service to its anniversary; the last may be shorter. With P price,
//! S residual value, L life, n months of a year of life, and B the book value at its start:
//!
//! - *straight line*: (P − S) × n ÷ months of life, in money a year;
//! - *declining balance* with a factor f (2: double): B × f ÷ L × n ÷ 12, or (B − S) × n ÷ months that are left once
//!   that is more, and never more than B − S. Of a machine of 53,125 over three years with f = 2: 35,416.67,
//!   11,805.56, 5,902.78.
//!
//! Both are those of IAS 16, paragraph 62, with the switch to the straight line that tax tables make (IRS Publication
//! 946). Within a year of life every day bears the same.

use std::fmt;
use std::ops::Range;

use chrono::{Months, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::money::Decimal;

/// Decimals of a year's amount before anything is rounded.
const PLACES: u8 = 20;
/// Of what is charged.
const CENTS: u8 = 2;
/// A century. What lives longer was mistyped.
const LONGEST: u32 = 1200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Method {
    StraightLine,
    /// The factor is what a year takes of the book value, as a multiple of 1 ÷ life: 2 is double declining.
    DecliningBalance {
        factor: Decimal,
    },
}

/// `straight line`, `declining balance × 2`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StraightLine => f.write_str("straight line"),
            Self::DecliningBalance { factor } => write!(f, "declining balance × {}", factor.normalize()),
        }
    }
}

/// Why there is no schedule, for whoever entered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the price is {0}; expected 0 or more")]
    NegativePrice(Decimal),
    #[error("the residual value is {0}; expected 0 or more")]
    NegativeResidual(Decimal),
    #[error("the residual value is {residual}, which is more than the price of {price}")]
    ResidualAbovePrice { residual: Decimal, price: Decimal },
    #[error("the life is {0} months; expected 1 to {LONGEST}")]
    Life(u32),
    #[error("the factor of the declining balance is {0}; expected more than 0, mostly 1.5 or 2")]
    Factor(Decimal),
    #[error("{in_service} and {life_months} months of life end after the last day of the calendar")]
    OutOfCalendar { in_service: NaiveDate, life_months: u32 },
}

/// What was bought loses its value by this.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    price: Decimal,
    residual: Decimal,
    in_service: NaiveDate,
    years: Vec<YearOfLife>,
}

/// A year of life, half-open.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct YearOfLife {
    pub from: NaiveDate,
    pub until: NaiveDate,
    /// Not rounded to cents.
    pub depreciation: Decimal,
    pub book_value_after: Decimal,
}

impl Schedule {
    pub fn new(
        price: Decimal,
        residual: Decimal,
        in_service: NaiveDate,
        life_months: u32,
        method: Method,
    ) -> Result<Self, Refused> {
        if price.is_negative() {
            return Err(Refused::NegativePrice(price));
        }
        if residual.is_negative() {
            return Err(Refused::NegativeResidual(residual));
        }
        if residual > price {
            return Err(Refused::ResidualAbovePrice { residual, price });
        }
        if !(1..=LONGEST).contains(&life_months) {
            return Err(Refused::Life(life_months));
        }
        if let Method::DecliningBalance { factor } = method
            && factor <= Decimal::ZERO
        {
            return Err(Refused::Factor(factor));
        }
        let outside = Refused::OutOfCalendar { in_service, life_months };
        let after = |months: u32| in_service.checked_add_months(Months::new(months)).ok_or(outside);
        let mut years = Vec::new();
        let mut book = price;
        for begun in (0..life_months).step_by(12) {
            let left = life_months - begun;
            let months = left.min(12);
            let depreciation = match method {
                _ if left == months => book - residual,
                Method::StraightLine => part(price - residual, months, life_months),
                Method::DecliningBalance { factor } => {
                    let declining =
                        part(book.significant(40).multiply(rate(factor, life_months)), months, 12);
                    declining.max(part(book - residual, months, left)).min(book - residual)
                }
            };
            book -= depreciation;
            let (from, until) = (after(begun)?, after(begun + months)?);
            years.push(YearOfLife { from, until, depreciation, book_value_after: book });
        }
        Ok(Self { price, residual, in_service, years })
    }

    /// What was charged before `day`, in whole cents. Rounded as a sum, half to even, so that the parts of any two days
    /// sum exactly; what is finer than a cent is charged on the last day.
    pub fn until(&self, day: NaiveDate) -> Decimal {
        let whole = self.price - self.residual;
        if day >= self.ends() {
            return whole;
        }
        let mut before = Decimal::ZERO;
        for year in &self.years {
            if day < year.until {
                let days = |until: NaiveDate| Decimal::from((until - year.from).num_days().max(0));
                let of_year = year.depreciation.multiply(days(day));
                // A year has days, so this divides.
                let of_year = of_year.divide(days(year.until), PLACES).unwrap_or_default();
                return (before + of_year).round(CENTS).min(cut(whole));
            }
            before += year.depreciation;
        }
        whole
    }

    /// What is charged on these days.
    pub fn between(&self, days: Range<NaiveDate>) -> Decimal {
        self.until(days.end) - self.until(days.start)
    }

    /// What the books say it is worth at the start of a day.
    pub fn book_value(&self, day: NaiveDate) -> Decimal {
        self.price - self.until(day)
    }

    /// The first day on which nothing is charged any more.
    pub fn ends(&self) -> NaiveDate {
        self.years.last().map_or(self.in_service, |year| year.until)
    }

    pub fn years(&self) -> Vec<YearOfLife> {
        self.years.clone()
    }
}

/// `amount × months ÷ of`.
fn part(amount: Decimal, months: u32, of: u32) -> Decimal {
    amount.times(i64::from(months)).divide(Decimal::from(i64::from(of)), PLACES).unwrap_or_default()
}

/// What a year takes of the book value: factor ÷ life in years, at most all of it.
fn rate(factor: Decimal, life_months: u32) -> Decimal {
    let rate = factor.significant(30).times(12).divide(Decimal::from(i64::from(life_months)), PLACES);
    rate.unwrap_or_default().min(Decimal::from(1))
}

/// Without what is finer than a cent.
fn cut(amount: Decimal) -> Decimal {
    let rounded = amount.round(CENTS);
    if rounded > amount { rounded - Decimal::new(1, CENTS) } else { rounded }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn declining(factor: &str) -> Method {
        Method::DecliningBalance { factor: number(factor) }
    }

    fn amounts(schedule: &Schedule) -> Vec<String> {
        schedule.years().iter().map(|year| year.depreciation.round(4).to_string()).collect()
    }

    #[test]
    fn years_take_what_the_method_says() {
        let of = |residual: &str, months, method| {
            Schedule::new(number("53125"), number(residual), day("2026-03-15"), months, method).unwrap()
        };
        let table = [
            (of("0", 36, Method::StraightLine), vec!["17708.3333", "17708.3333", "17708.3333"]),
            (of("10625", 36, Method::StraightLine), vec!["14166.6667", "14166.6667", "14166.6667"]),
            (of("0", 36, declining("2")), vec!["35416.6667", "11805.5556", "5902.7778"]),
            // The residual value stops what the rate would take.
            (of("10625", 36, declining("2")), vec!["35416.6667", "7083.3333", "0.0000"]),
            // The straight line is more from the fourth year on.
            (
                of("0", 60, declining("2")),
                vec!["21250.0000", "12750.0000", "7650.0000", "5737.5000", "5737.5000"],
            ),
            // A last year of six months.
            (of("0", 30, Method::StraightLine), vec!["21250.0000", "21250.0000", "10625.0000"]),
            (of("0", 18, declining("1")), vec!["35416.6667", "17708.3333"]),
            (of("0", 7, declining("2")), vec!["53125.0000"]),
            (of("0", 36, declining("9")), vec!["53125.0000", "0.0000", "0.0000"]),
        ];
        for (schedule, expected) in table {
            assert_eq!(amounts(&schedule), expected);
        }
    }

    #[test]
    fn a_year_of_life_begins_on_its_anniversary_even_after_a_leap_day() {
        let schedule =
            Schedule::new(number("100"), Decimal::ZERO, day("2024-02-29"), 30, Method::StraightLine).unwrap();
        let starts: Vec<NaiveDate> = schedule.years().iter().map(|year| year.from).collect();
        assert_eq!(starts, [day("2024-02-29"), day("2025-02-28"), day("2026-02-28")]);
        assert_eq!(schedule.ends(), day("2026-08-29"));
        assert_eq!(schedule.until(day("2025-02-28")), number("40.00"));
    }

    #[test]
    fn what_is_finer_than_a_cent_is_charged_on_the_last_day() {
        let schedule =
            Schedule::new(number("0.006"), Decimal::ZERO, day("2026-01-01"), 12, Method::StraightLine)
                .unwrap();
        assert_eq!(schedule.until(day("2026-12-31")), Decimal::ZERO);
        assert_eq!(schedule.between(day("2026-12-31")..day("2027-01-01")), number("0.006"));
        assert_eq!(schedule.book_value(day("2027-01-01")), Decimal::ZERO);
    }

    #[test]
    fn a_price_of_as_many_digits_as_there_can_be_is_written_off() {
        let price = number("999999999999999999999999.9999999999999999999999999999999999999999");
        for method in [Method::StraightLine, declining("1.7")] {
            let schedule = Schedule::new(price, Decimal::new(1, 40), day("2026-01-01"), 40, method).unwrap();
            let sum: Decimal = schedule.years().iter().map(|year| year.depreciation).sum();
            assert_eq!(sum, price - Decimal::new(1, 40));
            assert_eq!(schedule.until(schedule.ends()), sum);
            assert!(schedule.until(day("2028-02-03")) < sum);
        }
    }

    #[test]
    fn a_refusal_says_what_was_found() {
        let of = |price: &str, residual: &str, start: &str, months, method| {
            Schedule::new(number(price), number(residual), day(start), months, method)
                .unwrap_err()
                .to_string()
        };
        let line = Method::StraightLine;
        assert_eq!(of("-1", "0", "2026-01-01", 36, line), "the price is -1; expected 0 or more");
        assert_eq!(of("1", "-0.5", "2026-01-01", 36, line), "the residual value is -0.5; expected 0 or more");
        let above = "the residual value is 2, which is more than the price of 1";
        assert_eq!(of("1", "2", "2026-01-01", 36, line), above);
        assert_eq!(of("1", "0", "2026-01-01", 0, line), "the life is 0 months; expected 1 to 1200");
        assert!(of("1", "0", "2026-01-01", 36, declining("0")).contains("expected more than 0"));
        assert!(of("1", "0", "+262142-01-01", 36, line).contains("calendar"));
    }

    #[test]
    fn a_method_is_written_by_name() {
        let text = serde_json::to_string(&declining("1.5")).unwrap();
        assert_eq!(text, r#"{"method":"declining-balance","factor":"1.5"}"#);
        assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), declining("1.5"));
        let line: Method = serde_json::from_str(r#"{"method":"straight-line"}"#).unwrap();
        assert_eq!(line, Method::StraightLine);
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        let method = prop_oneof![
            Just(Method::StraightLine),
            (1i128..500).prop_map(|factor| Method::DecliningBalance { factor: Decimal::new(factor, 2) }),
        ];
        let price = (0i128..10_000_000_000_000, 0u8..6);
        (price, 0u32..=100, 0i64..20_000, 1u32..=120, method).prop_map(
            |((mantissa, scale), percent, start, months, method)| {
                let price = Decimal::new(mantissa, scale);
                let residual = price.multiply(Decimal::new(i128::from(percent), 2));
                let start = day("1990-01-01") + chrono::Duration::days(start);
                Schedule::new(price, residual, start, months, method).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn any_days_that_cover_the_life_sum_to_what_is_written_off(
            schedule in schedules(),
            mut cuts in proptest::collection::vec(-50i64..4000, 0..20),
        ) {
            cuts.extend([-50, 4000]);
            cuts.sort_unstable();
            let days: Vec<NaiveDate> =
                cuts.iter().map(|days| schedule.in_service + chrono::Duration::days(*days)).collect();
            let sum: Decimal = days.windows(2).map(|pair| schedule.between(pair[0]..pair[1])).sum();
            prop_assert_eq!(sum, schedule.price - schedule.residual);
            let years: Decimal = schedule.years().iter().map(|year| year.depreciation).sum();
            prop_assert_eq!(years, schedule.price - schedule.residual);
        }

        #[test]
        fn no_day_gives_anything_back_and_none_outside_the_life_costs(schedule in schedules()) {
            let mut day = schedule.in_service - chrono::Duration::days(3);
            while day < schedule.ends() + chrono::Duration::days(3) {
                let charged = schedule.between(day..day.succ_opt().unwrap());
                prop_assert!(!charged.is_negative());
                if day < schedule.in_service || day >= schedule.ends() {
                    prop_assert!(charged.is_zero());
                } else if day < schedule.ends().pred_opt().unwrap() {
                    prop_assert_eq!(charged, charged.round(CENTS));
                }
                day = day.succ_opt().unwrap();
            }
            prop_assert!(schedule.years().iter().all(|year| !year.depreciation.is_negative()));
            prop_assert!(schedule.years().iter().all(|year| year.book_value_after >= schedule.residual));
        }

        #[test]
        fn on_a_straight_line_years_are_equal_and_days_within_a_cent(schedule in schedules(), days in 0i64..365) {
            let whole = schedule.price - schedule.residual;
            let straight = Schedule::new(schedule.price, schedule.residual, schedule.in_service, 36, Method::StraightLine);
            let straight = straight.unwrap();
            for year in straight.years() {
                let until = year.from + chrono::Duration::days(days);
                let charged = straight.between(year.from..until);
                let length = Decimal::from((year.until - year.from).num_days() * 3);
                let even = whole.times(days).divide(length, 10).unwrap();
                prop_assert!((charged - even).abs() <= Decimal::new(1, 2), "{charged} of {even}");
            }
        }
    }
}
