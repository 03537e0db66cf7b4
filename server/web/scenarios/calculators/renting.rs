//! Spot, commitments, a divided GPU, and data that leaves a cloud.

use super::input::{Input, Takes, Values, currency, input};
use super::{Answered, Calculator, Row};
use crate::economics::check::{self, Refused};
use crate::economics::commitment::Commitment;
use crate::economics::egress::{Hop, Rates, Transfer};
use crate::economics::figure::{Figure, Unit};
use crate::economics::slices::{By, Layout, SliceCost, Turns, profiles_of};
use crate::economics::spot::{Interruptions, Job, Preemptions, Spot};
use crate::money::Decimal;

const RATES: &[(&str, &str)] = &[
    ("aws", "AWS, to the internet"),
    ("azure", "Azure, to the internet"),
    ("google-premium", "Google Cloud, its own network"),
    ("google-standard", "Google Cloud, standard network"),
    ("free", "no charge, such as Lambda"),
    ("flat", "one price per GB"),
];
const NO_YES: &[(&str, &str)] = &[("no", "no"), ("yes", "yes")];
const BY: &[(&str, &str)] =
    &[("dominant", "compute or memory, whichever is more"), ("compute", "compute"), ("memory", "memory")];

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "spot",
            name: "What does an hour of work cost on spot?",
            about: "Spot can be interrupted: what that costs, how often to write checkpoints, and when it is still cheaper.",
            inputs: spot_inputs(),
            answer: spot,
        },
        Calculator {
            handle: "commitment",
            name: "What utilization does a reservation need?",
            about: "A reservation is paid, used or not: its break-even, and what a later price cut costs.",
            inputs: commitment_inputs(),
            answer: commitment,
        },
        Calculator {
            handle: "egress",
            name: "What does it cost to move data out of a cloud?",
            about: "By monthly price tiers, including other data the account sends, and how long it takes.",
            inputs: egress_inputs(),
            answer: egress,
        },
        Calculator {
            handle: "slices",
            name: "What does a slice of a GPU cost?",
            about: "The cost of each MIG slice, and of the part that stays unused.",
            inputs: slices_inputs(),
            answer: slices,
        },
        Calculator {
            handle: "turns",
            name: "What does a time-sliced GPU cost per job?",
            about: "Several jobs take turns on one GPU, without isolation.",
            inputs: turns_inputs(),
            answer: turns,
        },
    ]
}

fn spot_inputs() -> Vec<Input> {
    vec![
        input(
            "price",
            "Spot price",
            Takes::Number,
            "MONEY per GPU-hour",
            "2.8896",
            "58% below on demand, a usual discount.",
        ),
        input("on_demand", "On-demand price", Takes::Number, "MONEY per GPU-hour", "6.88", ""),
        input(
            "interruptions.preemptions.share",
            "Interrupted",
            Takes::Percent,
            "% of instances a month",
            "15",
            "Published by cloud providers.",
        ),
        input(
            "interruptions.failures",
            "Failures of an instance",
            Takes::Number,
            "per hour",
            "0.000158",
            "Hardware failures: 419 in 54 days on 2,048 nodes (Meta, Llama 3). 0: none.",
        ),
        input(
            "interruptions.instances",
            "Concurrent instances",
            Takes::Whole,
            "",
            "1",
            "The job stops when any instance stops.",
        ),
        input(
            "interruptions.pause_minutes",
            "Time for a checkpoint",
            Takes::Number,
            "minutes",
            "1",
            "0: work continues during a checkpoint.",
        ),
        input("interruptions.restart_minutes", "Time to restart", Takes::Number, "minutes", "10", ""),
        input(
            "interruptions.notice_minutes",
            "Notice the job reacts to",
            Takes::Number,
            "minutes",
            "0",
            "AWS gives 2, Google Cloud and Azure 0.5. 0: no reaction.",
        ),
        input(
            "interval_hours",
            "Checkpoint every",
            Takes::NumberOrNone,
            "hours",
            "",
            "Leave empty for the best interval.",
        ),
        input(
            "job.useful_hours",
            "Length of the job",
            Takes::NumberOrNone,
            "hours",
            "",
            "Without interruptions.",
        ),
        input("job.wait_hours", "Wait for capacity", Takes::Number, "hours", "0", ""),
        input("job.deadline_hours", "Deadline", Takes::NumberOrNone, "hours", "", ""),
        currency(),
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

fn commitment_inputs() -> Vec<Input> {
    vec![
        input(
            "hourly",
            "Price per hour of the term",
            Takes::Number,
            "MONEY per GPU-hour",
            "5.395",
            "Paid, used or not.",
        ),
        input("upfront", "Paid upfront", Takes::Number, "MONEY per GPU", "0", ""),
        input("years", "Term", Takes::Number, "years", "3", ""),
        input(
            "on_demand",
            "On-demand price",
            Takes::Number,
            "MONEY per GPU-hour",
            "12.29",
            "Paid for used hours only.",
        ),
        input(
            "later_on_demand",
            "On-demand price after signing",
            Takes::NumberOrNone,
            "MONEY per GPU-hour",
            "6.88",
            "AWS prices of an H100 before and after June 2025. Leave empty for no change.",
        ),
        input("cost_of_capital", "Cost of capital", Takes::Percent, "% a year", "0", ""),
        currency(),
    ]
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

fn egress_inputs() -> Vec<Input> {
    vec![
        input("gigabytes", "Data", Takes::Number, "GB", "500000", "1 TB is 1,000 GB."),
        input("rates.of", "Price list", Takes::OneOf(RATES), "", "aws", ""),
        input(
            "rates.price",
            "Price per GB",
            Takes::Number,
            "MONEY per GB",
            "0.09",
            "Used with one price per GB.",
        ),
        input("months", "Spread over", Takes::Whole, "months", "1", "Tiers restart each month."),
        input(
            "other_gigabytes",
            "Other outgoing data",
            Takes::Number,
            "GB a month",
            "0",
            "It uses the lower tiers first.",
        ),
        input("nat", "Through a NAT gateway", Takes::OneOf(NO_YES), "", "no", "0.045 USD per GB (AWS)."),
        input(
            "zones",
            "Between zones",
            Takes::OneOf(NO_YES),
            "",
            "no",
            "0.01 USD per GB on each side (AWS).",
        ),
        input("region", "Between regions", Takes::NumberOrNone, "MONEY per GB", "", "Usually 0.02 to 0.08."),
        input("line", "Network bandwidth", Takes::Number, "Gbit/s", "10", ""),
        input("line_share", "Available for this data", Takes::Percent, "% of the bandwidth", "100", ""),
        currency(),
    ]
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

fn slices_inputs() -> Vec<Input> {
    vec![
        input(
            "accelerator",
            "GPU",
            Takes::Accelerator(|id| !profiles_of(id).is_empty()),
            "",
            "nvidia-h100-sxm",
            "GPUs that support MIG.",
        ),
        input("price", "Price of the whole GPU", Takes::Price, "MONEY per hour", "6.88", ""),
        input(
            "slices",
            "Slices",
            Takes::Text,
            "",
            "4g.40gb, 3g.40gb",
            "Names of MIG profiles, separated by commas.",
        ),
        input(
            "by",
            "Charged by",
            Takes::OneOf(BY),
            "",
            "dominant",
            "What a slice takes is unavailable to others.",
        ),
        currency(),
    ]
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

fn turns_inputs() -> Vec<Input> {
    vec![
        input("price", "Price of the whole GPU", Takes::Price, "MONEY per hour", "6.88", ""),
        input("replicas", "Jobs sharing the GPU", Takes::Whole, "", "4", ""),
        input("hours", "Time that one job uses", Takes::Number, "hours", "100", ""),
        currency(),
    ]
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
