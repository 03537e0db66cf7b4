//! Other chips: what porting amounts to, what a unit of work costs on each, and what staying costs.

use super::input::{Input, Values};
use super::{Answered, Calculator, Row};
use crate::accelerator;
use crate::economics::check::Refused;
use crate::economics::figure::Unit;
use crate::economics::price_path::{LockIn, Progress, Refresh};
use crate::economics::silicon::Porting;
use crate::economics::work_unit::{Basis, Offer, Performance, Ranked, rank};
use crate::money::Decimal;

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "work",
            name: "Which of two GPUs does the same work for less?",
            about: "The cheaper GPU per hour can cost more for the same work.",
            inputs: Input::of("work"),
            answer: work,
        },
        Calculator {
            handle: "porting",
            name: "When does porting to a cloud’s own chips pay back?",
            about: "Porting takes engineers, can fail, and both run for a while.",
            inputs: Input::of("porting"),
            answer: porting,
        },
        Calculator {
            handle: "lock-in",
            name: "What does keeping your machines cost?",
            about: "The extra cost of the work compared with the best hardware sold in each quarter.",
            inputs: Input::of("lock-in"),
            answer: lock_in,
        },
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
    let order = if found.differs { ", although its price per hour is higher" } else { "" };
    let sentence = match (first.per_unit.value, second.per_unit.value) {
        (Some(a), Some(b)) if a == b => {
            format!("{} and {} cost the same for the same work.", first.name, second.name)
        }
        (Some(_), Some(_)) => format!(
            "{} costs less for the same work{order}: {}, {} {}.",
            first.name,
            values.said(&first.per_unit),
            second.name,
            values.said(&second.per_unit)
        ),
        _ => "Enter the performance of both GPUs, or choose another measure.".to_owned(),
    };
    let row = |it: Ranked| Row { name: format!("{}, {}", it.per_unit.name, it.name), figure: it.per_unit };
    let figures = found.by_unit.into_iter().map(row).collect();
    Ok(Answered { sentence, figures, warnings: found.warnings })
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
            "Porting pays back after {} if it works. Its expected value over the period is {}.",
            values.said(&found.months),
            values.stated(value, Unit::Money)
        ),
        _ => "Porting never pays back: there are no savings.".to_owned(),
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
            " The next generation needs {} of the capital for the same work.",
            values.stated(ratio, Unit::Share)
        ),
        _ => " The next generation needs no less capital for the same work.".to_owned(),
    };
    let sentence = format!(
        "Keeping the machines costs {} more than the best hardware of each quarter.{next}",
        values.said(&lost)
    );
    Ok(Answered { sentence, figures: [lost, unit].map(Row::from).into(), warnings: Vec::new() })
}
