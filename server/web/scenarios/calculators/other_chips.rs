//! Other chips: what porting amounts to, what a unit of work costs on each, and what staying costs.

use super::input::{Input, Takes, Values, currency, input};
use super::{Answered, Calculator, Row};
use crate::accelerator;
use crate::economics::check::Refused;
use crate::economics::figure::Unit;
use crate::economics::price_path::{LockIn, Progress, Refresh};
use crate::economics::silicon::Porting;
use crate::economics::work_unit::{Basis, Offer, Performance, Ranked, rank};
use crate::money::Decimal;

const BASES: &[(&str, &str)] = &[
    ("own", "your own work, measured on both"),
    ("half", "dense operations in 16 bits, by the data sheet"),
    ("fp8", "dense operations in FP8, by the data sheet"),
    ("bandwidth", "memory bandwidth: what decoding is bound by"),
];

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "work",
            name: "Which of two GPUs does the same work for less?",
            about: "By the hour and by the work, two offers may come in another order. Operations with sparsity are twice \
                    the dense ones on paper and are never compared with them.",
            inputs: work_inputs(),
            answer: work,
        },
        Calculator {
            handle: "porting",
            name: "When is moving to a cloud’s own chips repaid?",
            about: "Porting costs engineers, may fail, and both are paid for a while.",
            inputs: porting_inputs(),
            answer: porting,
        },
        Calculator {
            handle: "lock-in",
            name: "What does staying with the machines one owns cost?",
            about: "Better is sold every year. What work costs more on what one has than on the best there is each \
                    quarter, and what the next generation brings.",
            inputs: lock_in_inputs(),
            answer: lock_in,
        },
    ]
}

fn is_specified(id: &str) -> bool {
    accelerator::specification(id).is_some_and(|it| it.half.is_some())
}

fn work_inputs() -> Vec<Input> {
    vec![
        input(
            "basis",
            "Compared by",
            Takes::OneOf(BASES),
            "",
            "half",
            "A measurement of your own work is best.",
        ),
        input("a", "The first", Takes::Accelerator(is_specified), "", "nvidia-h100-sxm", ""),
        input("offers.0.price", "Its price", Takes::Price, "MONEY a GPU-hour", "6.88", ""),
        input(
            "offers.0.value",
            "It does",
            Takes::NumberOrNone,
            "units an hour",
            "",
            "Where your own work is measured.",
        ),
        input("b", "The second", Takes::Accelerator(is_specified), "", "nvidia-b200", ""),
        input("offers.1.price", "Its price", Takes::Price, "MONEY a GPU-hour", "14.24", ""),
        input("offers.1.value", "It does", Takes::NumberOrNone, "units an hour", "", ""),
        currency(),
    ]
}

fn work(values: &Values<'_>) -> Result<Answered, Refused> {
    let is_one_model = values.text("a") == values.text("b");
    let offer = |model: &str, at: u8| {
        let known = accelerator::specification(values.text(model));
        let (value, basis) = match values.text("basis") {
            "own" => (values.optional(&format!("offers.{at}.value")), Basis::OwnBenchmark),
            "fp8" => (known.and_then(|it| it.fp8), Basis::DenseOperations),
            "bandwidth" => (known.and_then(|it| it.bandwidth), Basis::Bandwidth),
            _ => (known.and_then(|it| it.half), Basis::DenseOperations),
        };
        Offer {
            name: match (accelerator::model(values.text(model)), is_one_model) {
                (Some(it), false) => format!("{} {}", it.name, it.variant),
                (Some(it), true) => {
                    format!("{} {}, the {}", it.name, it.variant, if at == 0 { "first" } else { "second" })
                }
                (None, _) => String::new(),
            },
            price: values.number(&format!("offers.{at}.price")),
            performance: Performance { value: value.unwrap_or_default(), basis },
        }
    };
    let found = rank(&[offer("a", 0), offer("b", 1)])?;
    let (first, second) = (&found.by_unit[0], &found.by_unit[1]);
    let order = if found.differs { ", though an hour of it costs more" } else { "" };
    let sentence = match (first.per_unit.value, second.per_unit.value) {
        (Some(a), Some(b)) if a == b => {
            format!("{} and {} cost the same for the same work.", first.name, second.name)
        }
        (Some(_), Some(_)) => format!(
            "{} does it for less{order}: {}, and {} for {}.",
            first.name,
            values.said(&first.per_unit),
            second.name,
            values.said(&second.per_unit)
        ),
        _ => "Nobody knows what one of them does by this measure.".to_owned(),
    };
    let row = |it: Ranked| Row { name: format!("{}, {}", it.per_unit.name, it.name), figure: it.per_unit };
    let figures = found.by_unit.into_iter().map(row).collect();
    Ok(Answered { sentence, figures, warnings: found.warnings })
}

fn porting_inputs() -> Vec<Input> {
    vec![
        input("spend", "Spent on accelerators", Takes::Number, "MONEY a month", "20000", ""),
        input(
            "saving",
            "Saved for the same work",
            Takes::Percent,
            "%",
            "40",
            "Measured on both; 30 to 50 % are claimed.",
        ),
        input("coverage", "Of the work that can move", Takes::Percent, "%", "100", ""),
        input("engineer_weeks", "Porting takes", Takes::Number, "weeks of an engineer", "26", ""),
        input("loaded_cost", "An engineer a year", Takes::Number, "MONEY", "250000", "With everything."),
        input("chance", "Chance that it works", Takes::Percent, "%", "80", ""),
        input("months_of_both", "Both are paid for", Takes::Number, "months", "0", ""),
        input("releases_per_year", "Releases a year", Takes::Number, "", "0", ""),
        input("ported_anew", "Of porting, taken again by each", Takes::Percent, "%", "0", ""),
        input("months", "Counted over", Takes::Whole, "months", "24", ""),
        input("cost_of_capital", "Cost of capital", Takes::Percent, "% a year", "0", ""),
        currency(),
    ]
}

fn porting(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Porting {
        spend: values.number("spend"),
        saving: values.number("saving"),
        coverage: values.number("coverage"),
        engineer_weeks: values.number("engineer_weeks"),
        loaded_cost: values.number("loaded_cost"),
        chance: values.number("chance"),
        months_of_both: values.number("months_of_both"),
        releases_per_year: values.number("releases_per_year"),
        ported_anew: values.number("ported_anew"),
        months: values.whole("months"),
        cost_of_capital: values.number("cost_of_capital"),
    }
    .cost()?;
    let sentence = match (found.months.value, found.expected_value.value) {
        (Some(_), Some(value)) => format!(
            "It is repaid after {}, if it works; over all of them it is worth {} on average.",
            values.said(&found.months),
            values.stated(value, Unit::Money)
        ),
        _ => "It is never repaid: nothing is saved.".to_owned(),
    };
    let figures = [
        found.months,
        found.expected_value,
        found.porting,
        found.both,
        found.saved,
        found.least_spend,
        found.week,
    ];
    let figures = figures.map(Row::from).into();
    Ok(Answered { sentence, figures, warnings: found.warnings })
}

fn lock_in_inputs() -> Vec<Input> {
    vec![
        input(
            "monthly",
            "The work of a month costs",
            Takes::Number,
            "MONEY",
            "100000",
            "On the machines one owns.",
        ),
        input("months", "Kept for", Takes::Whole, "months", "36", ""),
        input(
            "progress.orders_per_year",
            "Hardware gets better by",
            Takes::Number,
            "orders of magnitude a year",
            "0.14",
            "For the money; 0.14 is 38 % a year (Epoch AI).",
        ),
        input("price_ratio", "The next generation costs", Takes::Number, "times as much", "1.3", ""),
        input("performance_ratio", "and does", Takes::Number, "times as much", "2.3", "In the same work."),
        input("cost_of_capital", "Cost of capital", Takes::Percent, "% a year", "10", ""),
        currency(),
    ]
}

fn lock_in(values: &Values<'_>) -> Result<Answered, Refused> {
    let progress = Progress { orders_per_year: values.number("progress.orders_per_year") };
    let lost = LockIn {
        monthly: values.number("monthly"),
        months: values.whole("months"),
        progress,
        cost_of_capital: values.number("cost_of_capital"),
    }
    .cost()?;
    let unit = Refresh {
        price_ratio: values.number("price_ratio"),
        performance_ratio: values.number("performance_ratio"),
    }
    .unit()?;
    let next = match unit.value {
        Some(ratio) if ratio < Decimal::from(1) => format!(
            " The next generation does the same work for {} of the capital.",
            values.stated(ratio, Unit::Share)
        ),
        _ => " The next generation does it for no less capital.".to_owned(),
    };
    let sentence =
        format!("Staying costs {} more than the best there is each quarter.{next}", values.said(&lost));
    Ok(Answered { sentence, figures: [lost, unit].map(Row::from).into(), warnings: Vec::new() })
}
