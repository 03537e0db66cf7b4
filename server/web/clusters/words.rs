//! The words of the economics on pages: units, verdicts, what is odd.

use super::super::filters::{self, figure};
use crate::money::{Currency, Decimal};
use crate::onprem::{Comparison, Economics};
use crate::scenario::capacity::{Full, Order};
use crate::scenario::claim::Value;
use crate::scenario::owning::{Component, Cooling, Hours, Term, Unit};
use crate::scenario::{BreakEven, Finding, Verdict};

/// Decimals of a price of a kWh, which is a fraction of a unit.
const FINE: u8 = 4;

/// A figure with its unit: `250,000.00 USD a year`, `80.0 %`.
pub(super) fn stated(value: Decimal, unit: Unit, money: &str) -> String {
    let percent = |value: Decimal| format!("{} %", number(value.times(100), 2));
    match unit {
        Unit::Money => format!("{} {money}", amount(value, 2)),
        Unit::MoneyPerYear => format!("{} {money} a year", amount(value, 2)),
        Unit::MoneyPerMonth => format!("{} {money} a month", amount(value, 2)),
        Unit::MoneyPerHour => format!("{} {money} an hour", amount(value, FINE)),
        Unit::MoneyPerKwh => format!("{} {money} a kWh", amount(value, FINE)),
        Unit::MoneyPerKwMonth => format!("{} {money} a kW and month", amount(value, 2)),
        Unit::MoneyPerWeek => format!("{} {money} a week", amount(value, 2)),
        Unit::MoneyPerGibibyte => format!("{} {money} a GiB", amount(value, FINE)),
        Unit::MoneyPerGigabyteHour => format!("{} {money} a GB and hour", amount(value, 6)),
        Unit::MoneyPerUnitOfWork => format!("{} {money} a unit of work", amount(value, FINE)),
        Unit::MoneyPerGigabyte => format!("{} {money} a GB", amount(value, FINE)),
        Unit::MoneyPerMillionTokens => format!("{} {money} a million tokens", amount(value, FINE)),
        Unit::MoneyPerPetaflopHour => format!("{} {money} an hour at a petaflop", amount(value, FINE)),
        Unit::Kilowatts => format!("{} kW", number(value, 2)),
        Unit::Minutes => format!("{} minutes", number(value, 1)),
        Unit::Hours => format!("{} hours", number(value, 1)),
        Unit::Years => format!("{} years", number(value, 2)),
        Unit::Months => format!("{} months", number(value, 1)),
        Unit::Days => format!("{} days", number(value, 2)),
        Unit::Weeks => format!("{} weeks", number(value, 1)),
        Unit::Gigabytes => format!("{} GB", number(value, 2)),
        Unit::Gibibytes => format!("{} GiB", number(value, 2)),
        Unit::GigabytesPerSecond => format!("{} GB a second", number(value, 1)),
        Unit::GigabitsPerSecond => format!("{} Gbit a second", number(value, 1)),
        Unit::Teraflops => format!("{} TFLOPS", number(value, 1)),
        Unit::Bytes => format!("{} bytes", number(value, 0)),
        Unit::Tokens => format!("{} tokens", number(value, 0)),
        Unit::TokensPerSecond => format!("{} tokens a second", number(value, 1)),
        Unit::PerHour => format!("{} an hour", number(value, FINE)),
        Unit::Share => percent(value),
        Unit::SharePerYear => format!("{} a year", percent(value)),
        Unit::Number => number(value, FINE),
    }
}

/// Of a cluster's own currency.
pub(super) fn term(term: &Term, currency: &Currency) -> String {
    stated(term.value, term.unit, currency.as_str())
}

fn amount(value: Decimal, places: u8) -> String {
    if value.is_zero() { "0".to_owned() } else { figure(value, places) }
}

/// Without digits that say nothing.
fn number(value: Decimal, places: u8) -> String {
    let value = value.round(places).normalize();
    if value.is_zero() { "0".to_owned() } else { figure(value, value.scale()) }
}

/// Something odd, as a sentence.
pub(super) fn finding(finding: &Finding) -> String {
    let field: String = finding.field.replace(['.', '_'], " ").to_lowercase();
    format!("{}, {}: {}", filters::capital(&field), finding.found, finding.message)
}

impl Hours {
    /// What is meant with such an hour.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Owned => "owned: accelerators in service, day and night",
            Self::Available => "available: without downtime",
            Self::Allocated => "allocated: a job holds them",
            Self::Productive => "productive: they do work",
            Self::Useful => "useful: without work that is done twice",
        }
    }
}

/// From when on owning costs less than a price, or what a commitment is against it.
pub(super) fn verdict(comparison: &Comparison) -> String {
    let percent = |share: Decimal| format!("{} %", number(share.times(100), 1));
    match &comparison.break_even {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => {
            format!("from {} utilization on", percent(*utilization))
        }
        BreakEven::PerUse { verdict: Verdict::Never { would_take: Some(share) }, .. } => {
            format!("never: it would take {}", percent(*share))
        }
        BreakEven::PerUse { verdict: Verdict::Never { would_take: None }, .. } => {
            "never: an hour’s energy costs more".to_owned()
        }
        BreakEven::Committed { ratio: Some(ratio), price: Some(price) } => format!(
            "at any utilization: owning is {} times it; even at {} an hour",
            number(*ratio, 2),
            figure(*price, 2)
        ),
        BreakEven::PerUse { verdict: Verdict::Undefined, .. } | BreakEven::Committed { .. } => {
            "undefined: nothing is owned".to_owned()
        }
    }
}

/// Whether owning costs less at the utilization that was entered.
pub(super) fn pays(comparison: &Comparison, economics: &Economics) -> bool {
    match &comparison.break_even {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => {
            *utilization <= economics.utilization
        }
        BreakEven::PerUse { .. } => false,
        BreakEven::Committed { ratio, .. } => ratio.is_some_and(|ratio| ratio <= Decimal::from(1)),
    }
}

impl Full {
    pub fn in_words(self) -> String {
        match self {
            Self::Already => "already".to_owned(),
            Self::In { months: 1 } => "in a month".to_owned(),
            Self::In { months } => format!("in {months} months"),
            Self::Never => "never at this growth".to_owned(),
        }
    }
}

impl Order {
    pub fn in_words(self) -> String {
        match self {
            Self::Now { months_late: 0 } => "now".to_owned(),
            Self::Now { months_late: 1 } => "now, and it comes a month late".to_owned(),
            Self::Now { months_late } => format!("now, and it comes {months_late} months late"),
            Self::In { months: 1 } => "within a month".to_owned(),
            Self::In { months } => format!("within {months} months"),
            Self::Never => "nothing to order".to_owned(),
        }
    }
}

impl Cooling {
    pub fn name(self) -> &'static str {
        match self {
            Self::Air => "air",
            Self::Liquid => "liquid",
        }
    }
}

/// A price of a kWh, which is a fraction of a unit.
pub(super) fn fine(price: &Decimal) -> String {
    figure(*price, FINE)
}

/// A figure of a claim; they are all in dollars.
pub(super) fn in_dollars(figure: &Value) -> String {
    stated(figure.value, figure.unit, "dollars")
}

/// Components with what each shows of the total in cents.
pub(super) fn rows(economics: &Economics) -> Vec<(&Component, Decimal)> {
    economics.components.iter().zip(economics.displayed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_says_what_it_counts() {
        let number = |text: &str| text.parse::<Decimal>().unwrap();
        for (value, unit, text) in [
            ("375000", Unit::Money, "375,000.00 USD"),
            ("0", Unit::Money, "0 USD"),
            ("3.50804", Unit::MoneyPerHour, "3.5080 USD an hour"),
            ("0.1", Unit::SharePerYear, "10 % a year"),
            ("0.76", Unit::Share, "76 %"),
            ("2.9064", Unit::Years, "2.91 years"),
            ("8760.0", Unit::Hours, "8,760 hours"),
            ("0.40211480362537", Unit::Number, "0.4021"),
            ("8.4", Unit::Kilowatts, "8.4 kW"),
        ] {
            assert_eq!(stated(number(value), unit, "USD"), text);
        }
    }

    #[test]
    fn a_verdict_is_told_in_words() {
        let number = |text: &str| text.parse::<Decimal>().unwrap();
        let per_use = |verdict| BreakEven::PerUse { verdict, price: None };
        for (break_even, text) in [
            (per_use(Verdict::At { utilization: number("0.41333") }), "from 41.3 % utilization on"),
            (per_use(Verdict::Never { would_take: Some(number("1.2")) }), "never: it would take 120 %"),
            (per_use(Verdict::Never { would_take: None }), "never: an hour’s energy costs more"),
            (
                BreakEven::Committed { ratio: Some(number("0.5416")), price: Some(number("2.8435")) },
                "at any utilization: owning is 0.54 times it; even at 2.84 an hour",
            ),
        ] {
            let comparison = Comparison { break_even, of_month: Decimal::ZERO };
            assert_eq!(verdict(&comparison), text);
        }
    }
}
