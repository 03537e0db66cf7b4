//! Installments: equal payments of interest and of what is left. Pure.
//!
//! `payment = P · i / (1 − (1 + i)^−n)` with the monthly rate `i`, a twelfth of the yearly one, over `n` months; in
//! cents, the last one takes what is left, so that what is paid back sums to `P`.

use crate::money::Decimal;

/// Digits kept of what is multiplied, so that a product of two has room.
const DIGITS: u32 = 30;
const PLACES: u8 = 2;

/// Money that is paid back in equal monthly installments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loan {
    principal: Decimal,
    monthly_rate: Decimal,
    months: u32,
    payment: Decimal,
}

/// What is due in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Installment {
    pub interest: Decimal,
    pub principal: Decimal,
    /// What is left to pay back after it.
    pub left: Decimal,
}

impl Loan {
    /// `None` for no months at all.
    pub fn new(principal: Decimal, yearly_rate: Decimal, months: u32) -> Option<Self> {
        let monthly_rate = yearly_rate.divide(Decimal::from(12), 30)?;
        let payment = if monthly_rate.is_zero() {
            principal.divide(Decimal::from(i64::from(months)), PLACES)?
        } else {
            let growth = (Decimal::from(1) + monthly_rate).significant(DIGITS);
            let grown =
                (0..months).fold(Decimal::from(1), |grown, _| grown.multiply(growth).significant(DIGITS));
            // P · i · g / (g − 1), which is the same and needs no power below zero.
            let numerator =
                principal.significant(DIGITS).multiply(monthly_rate.significant(DIGITS)).significant(DIGITS);
            let numerator = numerator.multiply(grown).significant(DIGITS);
            numerator.divide(grown - Decimal::from(1), PLACES)?
        };
        (months > 0).then_some(Self { principal, monthly_rate, months, payment })
    }

    /// The installment of this number, from 1; `None` for one that there is not.
    pub fn installment(&self, number: u32) -> Option<Installment> {
        (1..=self.months).contains(&number).then(|| self.installments().nth(number as usize - 1)).flatten()
    }

    pub fn installments(&self) -> impl Iterator<Item = Installment> {
        let mut left = self.principal;
        (1..=self.months).map(move |number| {
            let interest =
                left.significant(DIGITS).multiply(self.monthly_rate.significant(DIGITS)).round(PLACES);
            let principal = if number == self.months { left } else { (self.payment - interest).min(left) };
            left -= principal;
            Installment { interest, principal, left }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    #[test]
    fn installments_are_those_of_the_textbook() {
        // 100,000 at 6 % over a year: 8,606.64 a month.
        let loan = Loan::new(number("100000"), number("0.06"), 12).unwrap();
        let first = loan.installment(1).unwrap();
        assert_eq!(first.interest, number("500.00"));
        assert_eq!(first.principal, number("8106.64"));
        let last = loan.installment(12).unwrap();
        assert_eq!(last.left, Decimal::ZERO);
        assert_eq!(last.principal + last.interest, number("8606.69"));
        assert_eq!(loan.installment(13), None);
        assert_eq!(loan.installment(0), None);
        assert_eq!(Loan::new(number("100000"), number("0.06"), 0), None);
    }

    #[test]
    fn without_interest_each_month_pays_its_part() {
        let loan = Loan::new(number("100"), Decimal::ZERO, 3).unwrap();
        let parts: Vec<String> = loan.installments().map(|it| it.principal.to_string()).collect();
        assert_eq!(parts, ["33.33", "33.33", "33.34"]);
    }

    proptest! {
        #[test]
        fn what_is_paid_back_is_what_was_lent(cents in 0_i64..1_000_000_000_000, rate in 0_i64..5000, months in 1_u32..121) {
            let principal = Decimal::new(cents.into(), 2);
            let loan = Loan::new(principal, Decimal::new(rate.into(), 4), months).unwrap();
            let paid: Decimal = loan.installments().map(|it| it.principal).sum();
            prop_assert_eq!(paid, principal);
            prop_assert!(loan.installments().all(|it| !it.interest.is_negative() && !it.left.is_negative()));
        }
    }
}
