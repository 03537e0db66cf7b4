//! Spot, commitments, a divided GPU, and data that leaves a cloud.

use super::input::{Input, Values};
use super::{Answered, Calculator, Row};
use crate::economics::check::{self, Refused};
use crate::economics::commitment::Commitment;
use crate::economics::egress::{Hop, Rates, Transfer};
use crate::economics::figure::{Figure, Unit};
use crate::economics::slices::{By, Layout, SliceCost, Turns};
use crate::economics::spot::{Interruptions, Job, Preemptions, Spot};
use crate::money::Decimal;

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "spot",
            name: "What does an hour of work cost on spot?",
            about: "Spot can be interrupted: what that costs, how often to write checkpoints, and when it is still cheaper.",
            inputs: Input::of("spot"),
            answer: spot,
        },
        Calculator {
            handle: "commitment",
            name: "What utilization does a reservation need?",
            about: "A reservation is paid, used or not: its break-even, and what a later price cut costs.",
            inputs: Input::of("commitment"),
            answer: commitment,
        },
        Calculator {
            handle: "egress",
            name: "What does it cost to move data out of a cloud?",
            about: "By monthly price tiers, including other data the account sends, and how long it takes.",
            inputs: Input::of("egress"),
            answer: egress,
        },
        Calculator {
            handle: "slices",
            name: "What does a slice of a GPU cost?",
            about: "The cost of each MIG slice, and of the part that stays unused.",
            inputs: Input::of("slices"),
            answer: slices,
        },
        Calculator {
            handle: "turns",
            name: "What does a time-sliced GPU cost per job?",
            about: "Several jobs take turns on one GPU, without isolation.",
            inputs: Input::of("turns"),
            answer: turns,
        },
    ]
}

fn spot(values: &Values<'_>) -> Result<Answered, Refused> {
    let job = values.optional("job.useful_hours").map(|useful_hours| Job {
        useful_hours,
        speed: 1.into(),
        wait_hours: values.number("job.wait_hours"),
        deadline_hours: values.optional("job.deadline_hours"),
    });
    let asked = Spot {
        price: values.number("price"),
        on_demand: values.number("on_demand"),
        interruptions: Interruptions {
            preemptions: Preemptions::Month { share: values.number("interruptions.preemptions.share") },
            instances: values.whole("interruptions.instances"),
            pause_minutes: values.number("interruptions.pause_minutes"),
            restart_minutes: values.number("interruptions.restart_minutes"),
            notice_minutes: values.number("interruptions.notice_minutes"),
            failures: values.number("interruptions.failures"),
        },
        interval_hours: values.optional("interval_hours"),
        job,
    };
    let found = asked.cost()?;
    let verdict = match found.pays {
        Some(true) => format!("Spot costs less: {} per hour of useful work.", values.amount(&found.price)),
        Some(false) => {
            format!(
                "On demand costs less: an hour of useful work on spot costs {}.",
                values.amount(&found.price)
            )
        }
        None => "The job is interrupted so often that it never finishes.".to_owned(),
    };
    let in_time = match found.in_time {
        Some(true) => " The job meets its deadline.",
        Some(false) => " The job misses its deadline.",
        None => "",
    };
    let mut figures = vec![
        found.price,
        found.factor,
        found.most,
        found.best_interval,
        found.young,
        found.daly,
        found.interruptions,
    ];
    figures.extend(found.hours);
    let figures = figures.into_iter().map(Row::from).collect();
    Ok(Answered { sentence: format!("{verdict}{in_time}"), figures, warnings: found.warnings })
}

fn commitment(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Commitment {
        upfront: values.number("upfront"),
        hourly: values.number("hourly"),
        years: values.number("years"),
        on_demand: values.number("on_demand"),
        later_on_demand: values.optional("later_on_demand"),
        cost_of_capital: values.number("cost_of_capital"),
    }
    .terms()?;
    let one = Decimal::from(1);
    let mut sentence = match found.break_even.value {
        Some(share) if share <= one => format!(
            "The reservation costs less than on demand above {} utilization.",
            values.stated(share, Unit::Share)
        ),
        Some(_) => "The reservation costs more than on demand even at full utilization.".to_owned(),
        None => "On demand is free, so there is no break-even utilization.".to_owned(),
    };
    match found.later_break_even.as_ref().and_then(|it| it.value) {
        Some(share) if share > one => {
            sentence.push_str(" After the price change, on demand costs less at any utilization.");
        }
        Some(share) => {
            let share = values.stated(share, Unit::Share);
            sentence = format!("{sentence} After the price change, the break-even is {share}.");
        }
        None => {}
    }
    let mut figures = vec![found.rate, found.discount, found.break_even, found.months_of_full_use];
    figures.extend(found.later_break_even);
    figures.extend(found.regret);
    let figures = figures.into_iter().map(Row::from).collect();
    Ok(Answered { sentence, figures, warnings: found.warnings })
}

fn egress(values: &Values<'_>) -> Result<Answered, Refused> {
    let rates = match values.text("rates.of") {
        "azure" => Rates::Azure,
        "google-premium" => Rates::GooglePremium,
        "google-standard" => Rates::GoogleStandard,
        "free" => Rates::Free,
        "flat" => Rates::Flat { price: values.number("rates.price") },
        _ => Rates::Aws,
    };
    let hops = [
        values.is("nat", "yes").then_some(Hop::Nat),
        values.is("zones", "yes").then_some(Hop::Zones),
        values.optional("region").map(|price| Hop::Region { price }),
    ];
    let asked = Transfer {
        rates,
        gigabytes: values.number("gigabytes"),
        months: values.whole("months"),
        other_gigabytes: values.number("other_gigabytes"),
        hops: hops.into_iter().flatten().collect(),
        line: values.number("line"),
        line_share: values.number("line_share"),
    };
    let found = asked.cost()?;
    let warnings = values.usual_prices(|dollar| check::transfer_prices(&asked, dollar));
    let sentence = format!(
        "Moving the data costs {} and takes {}.",
        values.said(&found.total),
        values.said(&found.time)
    );
    // Tiers differ by what a GB in them costs.
    let part = |figure: Figure| match figure.terms.iter().find(|it| it.name == "price") {
        Some(price) if !price.value.is_zero() => {
            let price = values.stated(price.value, price.unit);
            Row { name: format!("{}, at {price}", figure.name), figure }
        }
        _ => figure.into(),
    };
    let mut figures = Vec::from([found.total, found.per_gigabyte, found.time].map(Row::from));
    figures.extend(found.parts.into_iter().map(part));
    Ok(Answered { sentence, figures, warnings })
}

fn slices(values: &Values<'_>) -> Result<Answered, Refused> {
    let names = values.text("slices").split([',', '+', ';']).map(str::trim).filter(|it| !it.is_empty());
    let by = match values.text("by") {
        "compute" => By::Compute,
        "memory" => By::Memory,
        _ => By::Dominant,
    };
    let found = Layout {
        accelerator: values.text("accelerator").to_owned(),
        price: values.number("price"),
        slices: names.map(str::to_owned).collect(),
        by,
    }
    .cost()?;
    let described: Vec<String> =
        found.slices.iter().map(|it| format!("{} costs {}", it.profile, values.said(&it.cost))).collect();
    let described = if described.is_empty() { "No slices".to_owned() } else { described.join("; ") };
    let sentence = format!("{described}. Unused: {}.", values.said(&found.idle));
    // Several can be of one profile.
    let slice = |(at, it): (usize, SliceCost)| Row {
        name: format!("Slice {}, {}", at + 1, it.profile),
        figure: it.cost,
    };
    let mut figures: Vec<Row> = found.slices.into_iter().enumerate().map(slice).collect();
    let rest = [found.idle, found.shares, found.stranded_compute, found.stranded_memory];
    figures.extend(rest.map(Row::from));
    Ok(Answered { sentence, figures, warnings: found.warnings })
}

fn turns(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Turns {
        price: values.number("price"),
        replicas: values.whole("replicas"),
        hours: values.number("hours"),
    }
    .cost()?;
    let wall = if found.is_isolated {
        ""
    } else {
        " Jobs are not isolated: one can slow down another or read its memory."
    };
    let sentence = format!("One job costs {}.{wall}", values.said(&found.cost));
    Ok(Answered { sentence, figures: vec![found.cost.into()], warnings: Vec::new() })
}
