//! What is paid when: cumulative cost, payback, and what it is worth today.
//!
//! - cumulative cost K(m): everything that is paid until the end of month m, less what is sold
//! - payback: the first month in which K of one comes down to K of the other and stays so until the next purchase,
//!   interpolated within the month. It ignores what money costs.
//! - present value = Σ paid at the start of month m ÷ (1 + r)^((m − 1) ÷ 12) + Σ paid during it ÷ (1 + r)^(m ÷ 12):
//!   what is paid during a month is counted at its end.
//!
//! A purchase is counted once, when it is paid. Depreciation is no payment and has no place here: a calculator that
//! takes it into the divisor of its payback counts the purchase twice.

use serde::Serialize;

use crate::money::Decimal;
use crate::money::arithmetic::{count, floor, growth, one, product, quotient, whole};

/// What is paid month by month. What is received is negative.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Payments(Vec<Month>);

/// A month's payments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Month {
    /// At its start: purchases, upfront fees.
    pub first: Decimal,
    pub during: Decimal,
    /// At its end: what is sold.
    pub last: Decimal,
}

/// When owning has come down to what renting costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Payback {
    /// It never cost more.
    AtOnce,
    /// After so many months and parts of one.
    After { months: Decimal },
    /// Only with what is sold at the end of so many months: until then it cost more.
    WithSale { months: Decimal },
    /// Not within the months that were looked at.
    Never,
}

impl Payments {
    pub fn over(months: u32) -> Self {
        Self(vec![Month::default(); months as usize])
    }

    /// So much at the start, and then the same each month.
    pub fn level(first: Decimal, each: Decimal, months: u32) -> Self {
        let mut payments = Self(vec![Month { during: each, ..Month::default() }; months as usize]);
        payments.at_start_of(0, first);
        payments
    }

    #[cfg(test)]
    pub(super) fn months(&self) -> &[Month] {
        &self.0
    }

    /// Months are counted from 0. What is paid after the last is not looked at.
    pub fn at_start_of(&mut self, month: u32, amount: Decimal) {
        if let Some(month) = self.0.get_mut(month as usize) {
            month.first += amount;
        }
    }

    pub fn during(&mut self, month: u32, amount: Decimal) {
        if let Some(month) = self.0.get_mut(month as usize) {
            month.during += amount;
        }
    }

    pub fn at_end_of(&mut self, month: u32, amount: Decimal) {
        if let Some(month) = self.0.get_mut(month as usize) {
            month.last += amount;
        }
    }

    pub fn add(&mut self, others: &Self) {
        for (month, other) in self.0.iter_mut().zip(&others.0) {
            month.first += other.first;
            month.during += other.during;
            month.last += other.last;
        }
    }

    /// So many times of everything.
    #[must_use]
    pub fn times(&self, share: Decimal) -> Self {
        let scaled = |amount: Decimal| product(&[amount, share]);
        let month =
            |it: &Month| Month { first: scaled(it.first), during: scaled(it.during), last: scaled(it.last) };
        Self(self.0.iter().map(month).collect())
    }

    pub fn total(&self) -> Decimal {
        self.0.iter().map(|it| it.first + it.during + it.last).sum()
    }

    /// K after 0, 1, 2, … months: one figure more than there are months. What is paid first counts before its month.
    pub fn cumulative(&self) -> Vec<Decimal> {
        let mut paid = Decimal::ZERO;
        let mut sums = Vec::with_capacity(self.0.len() + 1);
        for month in &self.0 {
            paid += month.first;
            sums.push(paid);
            paid += month.during + month.last;
        }
        sums.push(paid);
        sums
    }

    /// What is paid after so many months and a part of one, during which it is paid evenly.
    pub fn paid_after(&self, months: Decimal) -> Decimal {
        let complete = floor(months);
        let at = whole(complete) as usize;
        let paid = self.cumulative().get(at).copied();
        let part = self.0.get(at).map(|month| product(&[month.during, months - complete]));
        paid.unwrap_or_else(|| self.total()) + part.unwrap_or_default()
    }

    /// What all of it is worth at the start, where money costs so much a year.
    pub fn present_value(&self, yearly_rate: Decimal) -> Decimal {
        let mut worth = Decimal::ZERO;
        for (month, at) in self.0.iter().zip(0u32..) {
            worth += today(month.first, yearly_rate, at);
            worth += today(month.during + month.last, yearly_rate, at + 1);
        }
        worth
    }

    /// The same of each month, with what one unit is worth ([`worth_of_one`]).
    pub fn worth(&self, of_one: &[Decimal]) -> Vec<Decimal> {
        let at = |month: usize| of_one.get(month).copied().unwrap_or_default();
        let of = |(month, paid): (usize, &Month)| {
            weighed(paid.first, at(month)) + weighed(paid.during + paid.last, at(month + 1))
        };
        self.0.iter().enumerate().map(of).collect()
    }

    /// What is paid after 0, 1, 2, … months, one figure more than there are months: what is paid during a month counts at
    /// its end.
    pub fn by_the_month(&self) -> Vec<Decimal> {
        let mut paid = vec![Decimal::ZERO; self.0.len() + 1];
        for (at, month) in self.0.iter().enumerate() {
            paid[at] += month.first;
            paid[at + 1] += month.during + month.last;
        }
        paid
    }

    /// From when on this has cost no more than another.
    pub fn payback(&self, other: &Self) -> Payback {
        let mut more = Decimal::ZERO;
        let mut back = None;
        let mut complete = Decimal::ZERO;
        for (own, other) in self.0.iter().zip(&other.0) {
            let is_purchase = own.first > Decimal::ZERO;
            let start = more + own.first - other.first;
            let end = start + own.during - other.during;
            more = end + own.last - other.last;
            if is_purchase && back.is_some() {
                // It stayed so until this purchase.
                break;
            }
            if more > Decimal::ZERO {
                back = None;
            } else if back.is_none() {
                let is_sold = end > Decimal::ZERO;
                let part = if is_sold { Some(one()) } else { quotient(start, start - end) };
                let part =
                    if is_sold || start > Decimal::ZERO { part.unwrap_or_default() } else { Decimal::ZERO };
                back = Some((complete + part, is_sold));
            }
            complete += one();
        }
        match back {
            Some((months, true)) => Payback::WithSale { months },
            Some((months, false)) if months.is_zero() => Payback::AtOnce,
            Some((months, false)) => Payback::After { months },
            None => Payback::Never,
        }
    }
}

/// What one unit of money is worth at the start that is paid after 0, 1, 2, … months, one figure more than there are months.
pub fn worth_of_one(yearly_rate: Decimal, months: u32) -> Vec<Decimal> {
    (0..=months).map(|month| today(one(), yearly_rate, month)).collect()
}

/// An amount at what one unit is worth; exact where that is one.
pub fn weighed(amount: Decimal, of_one: Decimal) -> Decimal {
    if of_one == one() { amount } else { product(&[amount, of_one]) }
}

/// Prices of what is paid during each month, at what they are worth at the start.
pub fn at_its_end(prices: &[Decimal], of_one: &[Decimal]) -> Vec<Decimal> {
    prices.iter().zip(&of_one[1..]).map(|(price, worth)| weighed(*price, *worth)).collect()
}

/// What a payment after so many months is worth now.
fn today(amount: Decimal, yearly_rate: Decimal, months: u32) -> Decimal {
    if amount.is_zero() || months == 0 {
        return amount;
    }
    discounted(amount, yearly_rate, months)
}

fn discounted(amount: Decimal, yearly_rate: Decimal, months: u32) -> Decimal {
    // A rate that is checked is not −1, so what is divided by is not nothing.
    let years = quotient(count(months), 12.into()).unwrap_or_default();
    quotient(amount, growth(yearly_rate, years)).unwrap_or(amount)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::arithmetic::decimal;
    use crate::money::number;

    #[test]
    fn a_payback_is_interpolated_within_its_month() {
        let own = Payments::level(100.into(), 10.into(), 36);
        for (rent, expected) in [
            ("50", Payback::After { months: number("2.5") }),
            ("10", Payback::Never),
            ("12", Payback::Never),
            ("5", Payback::Never),
            ("110", Payback::After { months: one() }),
        ] {
            let rent = Payments::level(Decimal::ZERO, number(rent), 36);
            assert_eq!(own.payback(&rent), expected, "{rent:?}");
        }
        let free = Payments::level(Decimal::ZERO, 5.into(), 36);
        assert_eq!(free.payback(&Payments::level(Decimal::ZERO, 6.into(), 36)), Payback::AtOnce);
    }

    #[test]
    fn at_its_payback_both_have_paid_the_same() {
        let own = Payments::level(100.into(), 10.into(), 36);
        let rent = Payments::level(Decimal::ZERO, 50.into(), 36);
        let Payback::After { months } = own.payback(&rent) else { panic!() };
        assert_eq!(own.paid_after(months), 125.into());
        assert_eq!(rent.paid_after(months), 125.into());
        assert_eq!(own.paid_after(36.into()), own.total());
    }

    #[test]
    fn a_payback_that_a_refresh_undoes_counts_until_then() {
        let mut own = Payments::level(100.into(), Decimal::ZERO, 8);
        own.at_start_of(4, 100.into());
        let rent = Payments::level(Decimal::ZERO, 30.into(), 8);
        // 100 is reached after 3⅓ months, and kept until the refresh.
        let Payback::After { months } = own.payback(&rent) else { panic!() };
        assert_eq!(months.round(4), number("3.3333"));
        own.at_end_of(7, (-50).into());
        assert_eq!(own.cumulative().last(), Some(&Decimal::from(150)));
        // What is sold at the end counts at the end.
        let dearer = Payments::level(300.into(), Decimal::ZERO, 8);
        assert_eq!(dearer.payback(&rent), Payback::Never);
        let mut sold = dearer;
        sold.at_end_of(7, (-100).into());
        assert_eq!(sold.payback(&rent), Payback::WithSale { months: 8.into() });
        // So does what is sold when other machines follow.
        let mut followed = Payments::level(200.into(), Decimal::ZERO, 8);
        followed.at_end_of(3, (-100).into());
        followed.at_start_of(4, 200.into());
        assert_eq!(followed.payback(&rent), Payback::WithSale { months: 4.into() });
    }

    #[test]
    fn a_payment_later_is_worth_less() {
        let mut payments = Payments::over(24);
        payments.at_start_of(12, 110.into());
        assert_eq!(payments.present_value(number("0.10")).round(10), 100.into());
        payments.at_end_of(23, 121.into());
        assert_eq!(payments.present_value(number("0.10")).round(10), 200.into());
        assert_eq!(payments.present_value(Decimal::ZERO), 231.into());
    }

    proptest! {
        #[test]
        fn a_dearer_purchase_is_paid_back_later(price in 1i64..5000, more in 1i64..500, opex in 0i64..90) {
            let rent = Payments::level(Decimal::ZERO, 100.into(), 60);
            let back = |price: i64| Payments::level(price.into(), opex.into(), 60).payback(&rent);
            match (back(price), back(price + more)) {
                (Payback::After { months: a }, Payback::After { months: b }) => {
                    prop_assert!(a < b);
                    let exact = quotient(price.into(), (100 - opex).into()).unwrap();
                    prop_assert!((a - exact).abs() < decimal(1, 9), "{a} is not {exact}");
                }
                (Payback::After { .. } | Payback::Never, Payback::Never) => {}
                found => prop_assert!(false, "{found:?}"),
            }
        }

        #[test]
        fn what_costs_no_less_to_run_is_never_paid_back(price in 1i64..5000, opex in 0i64..200, less in 0i64..200) {
            let own = Payments::level(price.into(), opex.into(), 60);
            let rent = Payments::level(Decimal::ZERO, (opex - less).max(0).into(), 60);
            prop_assert_eq!(own.payback(&rent), Payback::Never);
        }

        #[test]
        fn without_interest_the_present_value_is_the_sum(amounts in prop::collection::vec(-1000i64..1000, 1..40)) {
            let mut payments = Payments::over(40);
            for (month, amount) in (0u32..).zip(&amounts) {
                payments.during(month, (*amount).into());
            }
            prop_assert_eq!(payments.present_value(Decimal::ZERO), payments.total());
            prop_assert_eq!(payments.total(), amounts.iter().sum::<i64>().into());
            prop_assert_eq!(payments.cumulative().last().copied(), Some(payments.total()));
        }
    }
}
