//! Finding the rate from one currency to another in a month. Pure.

use serde::Serialize;

use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Significant digits of a rate that was derived from others.
const DIGITS: u32 = 10;
/// Decimals of a division before it is cut to [`DIGITS`].
const PLACES: u8 = 24;

/// One unit of `currency` is worth `rate` of `quoted_in` in a billing month.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Rate {
    pub month: BillingMonth,
    pub currency: Currency,
    pub quoted_in: Currency,
    pub rate: Decimal,
    /// Where it comes from, in words.
    pub source: String,
}

impl Rate {
    /// Whether it can be believed beside another rate of the pair: within half and double of it.
    pub fn is_near(&self, other: &Self) -> bool {
        self.rate <= other.rate.times(2) && other.rate <= self.rate.times(2)
    }
}

/// The rates of some months, at most one a month and pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rates(Vec<Rate>);

/// The rate that amounts of a month were converted with: one unit of `currency` is `rate` of `into`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Used {
    pub month: BillingMonth,
    pub currency: Currency,
    pub into: Currency,
    pub rate: Decimal,
    /// Where it comes from: `European Central Bank`, `1 ÷ 1.0843 (entered)`.
    pub source: String,
}

impl Used {
    /// What an amount is worth. Exact, but of a product with more digits than there is room for (76): that of the first
    /// forty of the amount and thirty of the rate.
    pub fn convert(&self, amount: Decimal) -> Decimal {
        let rounded = || amount.significant(40).multiply(self.rate.significant(30));
        amount.checked_multiply(self.rate).unwrap_or_else(|_| rounded())
    }
}

impl Rates {
    pub fn new(rates: Vec<Rate>) -> Self {
        Self(rates)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As stated, else the inverse of the opposite, else by way of a third currency that both are quoted
    /// against. `None` where the month has no such rates; a currency is worth itself.
    pub fn find(&self, month: BillingMonth, currency: &Currency, into: &Currency) -> Option<Used> {
        let used =
            |rate, source| Used { month, currency: currency.clone(), into: into.clone(), rate, source };
        if currency == into {
            return Some(used(Decimal::from(1), "the same currency".to_owned()));
        }
        if let Some((rate, source)) = self.between(month, currency, into) {
            return Some(used(rate, source));
        }
        // By way of the first that has both, in the order of names, so that the answer is always the same.
        let of_month = || self.0.iter().filter(|rate| rate.month == month);
        let mut pivots: Vec<&Currency> =
            of_month().flat_map(|rate| [&rate.currency, &rate.quoted_in]).collect();
        pivots.sort_unstable();
        pivots.dedup();
        pivots.into_iter().find_map(|pivot| {
            let (first, _) = self.fraction(month, currency, pivot)?;
            let (second, source) = self.fraction(month, pivot, into)?;
            let rate = first.product(&second)?;
            Some(used(rate, format!("by way of {pivot} ({source})")))
        })
    }

    fn between(
        &self,
        month: BillingMonth,
        currency: &Currency,
        into: &Currency,
    ) -> Option<(Decimal, String)> {
        let (fraction, source) = self.fraction(month, currency, into)?;
        Some(match fraction {
            Fraction { over: None, rate } => (rate, source),
            Fraction { over: Some(rate), .. } => (
                Decimal::from(1).divide(rate, PLACES)?.significant(DIGITS).normalize(),
                format!("1 ÷ {rate} ({source})"),
            ),
        })
    }

    /// The stated rate, or that it is one over the opposite.
    fn fraction(
        &self,
        month: BillingMonth,
        currency: &Currency,
        into: &Currency,
    ) -> Option<(Fraction, String)> {
        let stated = |a: &Currency, b: &Currency| {
            self.0.iter().find(|rate| rate.month == month && rate.currency == *a && rate.quoted_in == *b)
        };
        if let Some(found) = stated(currency, into) {
            return Some((Fraction { rate: found.rate, over: None }, found.source.clone()));
        }
        let found = stated(into, currency)?;
        Some((Fraction { rate: Decimal::from(1), over: Some(found.rate) }, found.source.clone()))
    }
}

/// A rate that is not divided yet, so that a way over two rounds once.
struct Fraction {
    rate: Decimal,
    over: Option<Decimal>,
}

impl Fraction {
    fn product(&self, other: &Self) -> Option<Decimal> {
        let one = Decimal::from(1);
        let top = self.rate.multiply(other.rate);
        let bottom = self.over.unwrap_or(one).multiply(other.over.unwrap_or(one));
        Some(if bottom == one { top } else { top.divide(bottom, PLACES)?.significant(DIGITS).normalize() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(table: &[(&str, &str, &str, &str)]) -> Rates {
        let rate = |(month, currency, quoted_in, rate): &(&str, &str, &str, &str)| Rate {
            month: month.parse().unwrap(),
            currency: Currency::exactly(currency),
            quoted_in: Currency::exactly(quoted_in),
            rate: rate.parse().unwrap(),
            source: "test".to_owned(),
        };
        Rates::new(table.iter().map(rate).collect())
    }

    fn find(rates: &Rates, month: &str, from: &str, into: &str) -> Option<(String, String)> {
        let found = rates.find(month.parse().unwrap(), &Currency::exactly(from), &Currency::exactly(into));
        found.map(|used| (used.rate.to_string(), used.source))
    }

    #[test]
    fn a_product_with_too_many_digits_is_rounded_not_refused() {
        let rates = rates(&[("2026-09", "EUR", "USD", "1.0843000000000000000000000001")]);
        let [eur, usd] = ["EUR", "USD"].map(Currency::exactly);
        let found = rates.find("2026-09".parse().unwrap(), &eur, &usd).unwrap();
        let long = format!("0.{}", "7".repeat(30)).parse::<Decimal>().unwrap();
        assert_eq!(found.convert(long), long.multiply(found.rate));
        let longer = long.multiply(long);
        assert_eq!(found.convert(longer), longer.significant(40).multiply(found.rate));
    }

    #[test]
    fn it_takes_the_stated_rate_then_the_inverse_then_a_way_over_a_third() {
        let rates = rates(&[
            ("2026-09", "EUR", "USD", "1.0843"),
            ("2026-09", "EUR", "JPY", "162.11"),
            ("2026-09", "GBP", "USD", "1.3021"),
            ("2026-08", "EUR", "USD", "1.1"),
        ]);
        let rate = |month, from, into| find(&rates, month, from, into).map(|(rate, _)| rate);
        assert_eq!(rate("2026-09", "EUR", "USD").as_deref(), Some("1.0843"));
        assert_eq!(rate("2026-08", "EUR", "USD").as_deref(), Some("1.1"));
        // 1 / 1.0843 = 0.92225398874…
        assert_eq!(rate("2026-09", "USD", "EUR").as_deref(), Some("0.9222539887"));
        // 162.11 / 1.0843 = 149.50659411…
        assert_eq!(rate("2026-09", "USD", "JPY").as_deref(), Some("149.5065941"));
        // 1.0843 / 162.11, with ten digits that count.
        assert_eq!(rate("2026-09", "JPY", "USD").as_deref(), Some("0.006688668188"));
        assert_eq!(rate("2026-09", "GBP", "EUR").as_deref(), Some("1.200866919"));
        assert_eq!(rate("2026-09", "USD", "USD").as_deref(), Some("1"));
        // Two steps away, or another month: nothing is guessed.
        assert_eq!(rate("2026-09", "GBP", "JPY"), None);
        assert_eq!(rate("2026-08", "USD", "JPY"), None);
        assert_eq!(rate("2026-07", "EUR", "USD"), None);
    }

    #[test]
    fn it_says_where_a_rate_comes_from() {
        let rates = rates(&[("2026-09", "EUR", "USD", "1.0843"), ("2026-09", "EUR", "JPY", "162.11")]);
        let source = |from, into| find(&rates, "2026-09", from, into).unwrap().1;
        assert_eq!(source("EUR", "USD"), "test");
        assert_eq!(source("USD", "EUR"), "1 ÷ 1.0843 (test)");
        assert_eq!(source("USD", "JPY"), "by way of EUR (test)");
    }
}
