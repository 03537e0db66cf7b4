//! The words of the economics on pages: units, verdicts, what is odd.

use super::filters::{self, figure};
use crate::economics::owning::{Term, Unit};
use crate::economics::{BreakEven, Finding, Verdict, Within};
use crate::money::{Currency, Decimal};

/// Decimals of a price of a kWh, which is a fraction of a unit.
pub(super) const FINE: u8 = 4;

/// A figure with its unit: `250,000.00 USD a year`, `80%`.
pub(super) fn stated(value: Decimal, unit: Unit, money: &str) -> String {
    let percent = |value: Decimal| format!("{}%", number(value.times(100), 2));
    match unit {
        Unit::Money => format!("{} {money}", amount(value, 2)),
        Unit::MoneyPerYear => format!("{} {money} a year", amount(value, 2)),
        Unit::MoneyPerMonth => format!("{} {money} a month", amount(value, 2)),
        Unit::MoneyPerHour => format!("{} {money} per hour", amount(value, FINE)),
        Unit::MoneyPerKwh => format!("{} {money} per kWh", amount(value, FINE)),
        Unit::MoneyPerKwMonth => format!("{} {money} per kW and month", amount(value, 2)),
        Unit::MoneyPerWeek => format!("{} {money} a week", amount(value, 2)),
        Unit::MoneyPerGibibyte => format!("{} {money} per GiB", amount(value, FINE)),
        Unit::MoneyPerGigabyteHour => format!("{} {money} per GB and hour", amount(value, 6)),
        Unit::MoneyPerUnitOfWork => format!("{} {money} per unit of work", amount(value, FINE)),
        Unit::MoneyPerGigabyte => format!("{} {money} per GB", amount(value, FINE)),
        Unit::MoneyPerMillionTokens => format!("{} {money} per million tokens", amount(value, FINE)),
        Unit::MoneyPerPetaflopHour => format!("{} {money} per petaflop-hour", amount(value, FINE)),
        Unit::Kilowatts => format!("{} kW", number(value, 2)),
        Unit::Minutes => format!("{} minutes", number(value, finer(value, 1))),
        Unit::Hours => format!("{} hours", number(value, finer(value, 1))),
        Unit::Years => format!("{} years", number(value, 2)),
        Unit::Months => format!("{} months", number(value, 1)),
        Unit::Days => format!("{} days", number(value, 2)),
        Unit::Weeks => format!("{} weeks", number(value, 1)),
        Unit::Gigabytes => format!("{} GB", number(value, 2)),
        Unit::Gibibytes => format!("{} GiB", number(value, 2)),
        Unit::GigabytesPerSecond => format!("{} GB/s", number(value, 1)),
        Unit::GigabitsPerSecond => format!("{} Gbit/s", number(value, 1)),
        Unit::Teraflops => format!("{} TFLOPS", number(value, 1)),
        Unit::Bytes => format!("{} bytes", number(value, 0)),
        Unit::Tokens => format!("{} tokens", number(value, 0)),
        Unit::TokensPerSecond => format!("{} tokens per second", number(value, 1)),
        Unit::PerHour => format!("{} per hour", number(value, finer(value, FINE))),
        Unit::Share => percent(value),
        Unit::SharePerYear => format!("{} a year", percent(value)),
        Unit::Number => number(value, FINE),
    }
}

/// A number in a formula, its money in this currency.
pub(super) fn term(term: &Term, currency: &Currency) -> String {
    stated(term.value, term.unit, currency.as_str())
}

fn amount(value: Decimal, places: u8) -> String {
    if value.is_zero() { "0".to_owned() } else { figure(value, places) }
}

/// So many places, or as many as two digits of what is small take: a minute of an hour is not 0.
fn finer(value: Decimal, places: u8) -> u8 {
    let is_lost = |places: u8| value.abs() < Decimal::new(10, places);
    (places..12).find(|places| value.is_zero() || !is_lost(*places)).unwrap_or(12)
}

/// Without digits that say nothing.
pub(super) fn number(value: Decimal, places: u8) -> String {
    let value = value.round(places).normalize();
    if value.is_zero() { "0".to_owned() } else { figure(value, value.scale()) }
}

/// Something odd, as a sentence.
pub(super) fn finding(finding: &Finding) -> String {
    let field: String = finding.field.replace(['.', '_'], " ").to_lowercase();
    format!("{}, {}: {}", filters::capital(&field), finding.found, finding.message)
}

/// From when on owning costs less than a price, or what a commitment is against it.
pub(super) fn break_even(against: &BreakEven) -> String {
    let percent = |share: Decimal| format!("{}%", number(share.times(100), 1));
    match against {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => {
            format!("from {} utilization", percent(*utilization))
        }
        BreakEven::PerUse { verdict: Verdict::Never { would_take: Some(share) }, .. } => {
            format!("never: it would take {} utilization", percent(*share))
        }
        BreakEven::PerUse { verdict: Verdict::Never { would_take: None }, .. } => {
            "never: the electricity alone costs more".to_owned()
        }
        BreakEven::Committed { verdict, ratio: Some(ratio), price: Some(price) } => {
            let when = match verdict {
                Within::Always => "at any utilization".to_owned(),
                Within::Below { utilization } => format!("below {} utilization", percent(*utilization)),
                Within::Never | Within::Undefined => "at no utilization".to_owned(),
            };
            let (ratio, price) = (number(*ratio, 2), figure(*price, 2));
            format!("{when}: owning costs {ratio} times as much; equal at {price} per hour")
        }
        BreakEven::PerUse { verdict: Verdict::Undefined, .. } | BreakEven::Committed { .. } => {
            "undefined: nothing is owned".to_owned()
        }
    }
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
            ("3.50804", Unit::MoneyPerHour, "3.5080 USD per hour"),
            ("0.1", Unit::SharePerYear, "10% a year"),
            ("0.76", Unit::Share, "76%"),
            ("2.9064", Unit::Years, "2.91 years"),
            ("8760.0", Unit::Hours, "8,760 hours"),
            ("0.016666666667", Unit::Hours, "0.017 hours"),
            ("9.34", Unit::Hours, "9.3 hours"),
            ("0", Unit::Hours, "0 hours"),
            ("0.00022262", Unit::PerHour, "0.00022 per hour"),
            ("0.02", Unit::PerHour, "0.02 per hour"),
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
        let committed = |verdict, ratio, price| BreakEven::Committed {
            verdict,
            ratio: Some(number(ratio)),
            price: Some(number(price)),
        };
        for (break_even, text) in [
            (per_use(Verdict::At { utilization: number("0.41333") }), "from 41.3% utilization"),
            (
                per_use(Verdict::Never { would_take: Some(number("1.2")) }),
                "never: it would take 120% utilization",
            ),
            (per_use(Verdict::Never { would_take: None }), "never: the electricity alone costs more"),
            (
                committed(Within::Always, "0.5416", "2.8435"),
                "at any utilization: owning costs 0.54 times as much; equal at 2.84 per hour",
            ),
            (
                committed(Within::Never, "1.51", "3.72"),
                "at no utilization: owning costs 1.51 times as much; equal at 3.72 per hour",
            ),
            (
                committed(Within::Below { utilization: number("0.5") }, "1.01", "3.32"),
                "below 50% utilization: owning costs 1.01 times as much; equal at 3.32 per hour",
            ),
        ] {
            assert_eq!(super::break_even(&break_even), text);
        }
    }
}
