//! What is usually paid for a kWh, a kW, a GB: a price far beyond is probably that of something else. Stated in US dollars,
//! and compared in the currency of the price, so that it is asked only where it is known what a dollar is worth.

use super::Findings;
use crate::economics::egress::{Hop, Rates, Transfer};
use crate::economics::owning::{Housing, Owning};
use crate::economics::vector_search::Vectors;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product};

/// Digits of a price in another currency.
const DIGITS: u32 = 2;

/// In US dollars.
struct Usual {
    from: Decimal,
    to: Decimal,
    /// Beyond this it is shown.
    most: Decimal,
    /// What it may be instead.
    question: &'static str,
}

impl Findings {
    fn usually(&mut self, field: &str, price: Decimal, dollar: Decimal, usual: &Usual) {
        let converted = |amount: Decimal| product(&[amount, dollar]);
        if price > converted(usual.most) {
            let rounded = |amount| converted(amount).significant(DIGITS).normalize();
            let (from, to, question) = (rounded(usual.from), rounded(usual.to), usual.question);
            self.warn(field, price, &format!("usually {from} to {to}; {question}"));
        }
    }
}

/// Prices of owning, where a US dollar is worth so much.
pub fn owning_prices(owning: &Owning, dollar: Decimal) -> Findings {
    let mut found = Findings::default();
    let tariff = Usual {
        from: decimal(4, 2),
        to: decimal(35, 2),
        most: 1.into(),
        question: "is this in cents, or per MWh?",
    };
    found.usually("tariff", owning.tariff, dollar, &tariff);
    if let Housing::Colocation { price, .. } = owning.housing {
        let colocation = Usual {
            from: 100.into(),
            to: 400.into(),
            most: 400.into(),
            question: "is this a price per year?",
        };
        found.usually("housing.price", price, dollar, &colocation);
    }
    found
}

/// Prices of moving data, where a US dollar is worth so much.
pub fn transfer_prices(it: &Transfer, dollar: Decimal) -> Findings {
    let mut found = Findings::default();
    let gigabyte =
        Usual { from: decimal(2, 2), to: decimal(12, 2), most: 1.into(), question: "is this per TB?" };
    if let Rates::Flat { price } = it.rates {
        found.usually("rates.price", price, dollar, &gigabyte);
    }
    found.each("hops", &it.hops, |hop, found| {
        if let Hop::Region { price } = hop {
            found.usually("price", *price, dollar, &gigabyte);
        }
    });
    found
}

/// Prices of memory, where a US dollar is worth so much.
pub fn vectors_prices(it: &Vectors, dollar: Decimal) -> Findings {
    let mut found = Findings::default();
    let hour =
        Usual { from: decimal(2, 3), to: decimal(2, 2), most: 1.into(), question: "is this per month?" };
    found.usually("price", it.price, dollar, &hour);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::owning::Energy;

    #[test]
    fn prices_are_odd_by_what_a_dollar_is_worth() {
        let (dollar, yen) = (Decimal::from(1), Decimal::from(155));
        let owning = |tariff: Decimal, price: Decimal| Owning {
            tariff,
            housing: Housing::Colocation { price, contracted_kw: None, energy: Energy::Included },
            ..Owning::default()
        };
        let described = |found: &Findings| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        let japanese = owning(25.into(), 30_000.into());
        assert_eq!(described(&owning_prices(&japanese, yen)), [""; 0]);
        assert_eq!(described(&owning_prices(&japanese, dollar)).len(), 2);
        assert_eq!(
            described(&owning_prices(&owning(160.into(), 65_000.into()), yen)),
            [
                "tariff is 160: usually 6.2 to 54; is this in cents, or per MWh?",
                "housing.price is 65000: usually 15500 to 62000; is this a price per year?",
            ]
        );
        let moved = Transfer { rates: Rates::Flat { price: 12.into() }, ..Transfer::default() };
        assert_eq!(described(&transfer_prices(&moved, yen)), [""; 0]);
        assert_eq!(
            described(&transfer_prices(&moved, dollar)),
            ["rates.price is 12: usually 0.02 to 0.12; is this per TB?"]
        );
        let held = Vectors { price: 2.into(), ..Vectors::default() };
        assert_eq!(described(&vectors_prices(&held, yen)), [""; 0]);
        assert_eq!(
            described(&vectors_prices(&held, dollar)),
            ["price is 2: usually 0.002 to 0.02; is this per month?"]
        );
    }
}
