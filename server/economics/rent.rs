//! What renting amounts to at a price.
//!
//! - an hour of one accelerator = price of the instance ÷ accelerators in it
//! - cost = accelerators × hours × price
//! - hours that an amount buys = amount ÷ price
//! - discount = 1 − price ÷ list price
//! - downtime of a year = 365 × 1,440 × (1 − availability), in minutes

use crate::money::Decimal;
use crate::money::arithmetic::{count, one, product, quotient};

/// Minutes of a year.
const MINUTES_PER_YEAR: i64 = 525_600;

/// Money for an hour of one accelerator of an instance. None without any in it.
pub fn per_accelerator(price: Decimal, accelerators: u32) -> Option<Decimal> {
    quotient(price, count(accelerators))
}

/// Money for so many instances or accelerators over so many hours.
pub fn cost(rented: u32, hours: Decimal, price: Decimal) -> Decimal {
    product(&[count(rented), hours, price])
}

/// Hours of one that an amount buys. None at no price.
pub fn hours_for(amount: Decimal, price: Decimal) -> Option<Decimal> {
    quotient(amount, price)
}

/// By what share a price is below the list. None without a list price.
pub fn discount(price: Decimal, list: Decimal) -> Option<Decimal> {
    Some(one() - quotient(price, list)?)
}

/// What a price is after a discount.
pub fn discounted(list: Decimal, discount: Decimal) -> Decimal {
    product(&[list, one() - discount])
}

/// Minutes of a year in which something with this availability may be down.
pub fn downtime(availability: Decimal) -> Decimal {
    product(&[MINUTES_PER_YEAR.into(), one() - availability])
}

/// The same in words, in the unit that people use for as much: `8.8 hours a year`.
pub fn downtime_in_words(availability: Decimal) -> String {
    let minutes = downtime(availability);
    let (unit, length) = match minutes {
        few if few < 60.into() => ("minutes", 1),
        some if some < Decimal::from(2 * 24 * 60) => ("hours", 60),
        _ => ("days", 24 * 60),
    };
    let described = quotient(minutes, length.into()).unwrap_or_default().round(1).normalize();
    format!("{described} {unit} a year")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    #[test]
    fn instances_are_rented_by_the_hour() {
        assert_eq!(per_accelerator(number("98.32"), 8), Some(number("12.29")));
        assert_eq!(per_accelerator(number("98.32"), 0), None);
        assert_eq!(cost(8, 72.into(), 32.into()), 18_432.into());
        assert_eq!(hours_for(100.into(), 8.into()), Some(number("12.5")));
    }

    #[test]
    fn discounts_are_shares_of_the_list_price() {
        assert_eq!(discounted(number("12.29"), number("0.7")), number("3.687"));
        assert_eq!(discount(number("3.687"), number("12.29")), Some(number("0.7")));
        assert_eq!(discount(one(), Decimal::ZERO), None);
    }

    #[test]
    fn five_nines_are_five_minutes_a_year() {
        assert_eq!(downtime(number("0.99999")), number("5.256"));
        assert_eq!(downtime(one()), Decimal::ZERO);
        for (availability, described) in [
            ("0.99999", "5.3 minutes a year"),
            ("0.999", "8.8 hours a year"),
            ("0.995", "43.8 hours a year"),
            ("0.99", "3.6 days a year"),
            ("1", "0 minutes a year"),
        ] {
            assert_eq!(downtime_in_words(number(availability)), described);
        }
    }
}
