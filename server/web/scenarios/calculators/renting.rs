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
    ("free", "nothing, as Lambda"),
    ("flat", "one price for each GB"),
];
const NO_YES: &[(&str, &str)] = &[("no", "no"), ("yes", "yes")];
const BY: &[(&str, &str)] =
    &[("dominant", "compute or memory, whichever is more"), ("compute", "compute"), ("memory", "memory")];

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "spot",
            name: "What does an hour of work cost on spot?",
            about: "Spot is cheap because it can be taken away. What is lost with it, how often to write checkpoints, and \
                    whether it is still cheaper than on demand.",
            inputs: spot_inputs(),
            answer: spot,
        },
        Calculator {
            handle: "commitment",
            name: "How much must a reservation be used?",
            about: "A reservation is paid whether it is used or not. From which use on it pays, and what it costs if the \
                    list price falls after signing.",
            inputs: commitment_inputs(),
            answer: commitment,
        },
        Calculator {
            handle: "egress",
            name: "What does it cost to move data out of a cloud?",
            about: "By the tiers of the month, with what the account sends anyway, and how long it takes.",
            inputs: egress_inputs(),
            answer: egress,
        },
        Calculator {
            handle: "slices",
            name: "What does a slice of a GPU cost?",
            about: "A GPU that MIG divides: what each slice costs, and what is stranded.",
            inputs: slices_inputs(),
            answer: slices,
        },
        Calculator {
            handle: "turns",
            name: "What does a turn on a shared GPU cost?",
            about: "Time-slicing: several jobs take turns on one GPU, without a wall between them.",
            inputs: turns_inputs(),
            answer: turns,
        },
    ]
}

fn spot_inputs() -> Vec<Input> {
    vec![
        input(
            "price",
            "Price on spot",
            Takes::Number,
            "MONEY a GPU-hour",
            "2.8896",
            "The usual 58 % less than on demand.",
        ),
        input("on_demand", "Price on demand", Takes::Number, "MONEY a GPU-hour", "6.88", ""),
        input(
            "interruptions.preemptions.share",
            "Taken away",
            Takes::Percent,
            "% of instances a month",
            "15",
            "As clouds publish it.",
        ),
        input(
            "interruptions.failures",
            "Failures of an instance",
            Takes::Number,
            "an hour",
            "0.000158",
            "Of hardware, besides: 419 in 54 days on 2,048 nodes (Meta, Llama 3). 0: none.",
        ),
        input(
            "interruptions.instances",
            "Instances at once",
            Takes::Whole,
            "",
            "1",
            "The job stops when any of them does.",
        ),
        input(
            "interruptions.pause_minutes",
            "A checkpoint takes",
            Takes::Number,
            "minutes",
            "1",
            "0: work goes on meanwhile.",
        ),
        input("interruptions.restart_minutes", "Until it goes on", Takes::Number, "minutes", "10", ""),
        input(
            "interruptions.notice_minutes",
            "Notice that the job listens to",
            Takes::Number,
            "minutes",
            "0",
            "AWS gives 2, Google Cloud and Azure half a one. 0: it does not listen.",
        ),
        input(
            "interval_hours",
            "A checkpoint every",
            Takes::NumberOrNone,
            "hours",
            "",
            "Empty: as often as is best.",
        ),
        input(
            "job.useful_hours",
            "The job takes",
            Takes::NumberOrNone,
            "hours",
            "",
            "Where nothing stops it.",
        ),
        input("job.wait_hours", "Wait for capacity", Takes::Number, "hours", "0", ""),
        input("job.deadline_hours", "To be done within", Takes::NumberOrNone, "hours", "", ""),
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
        Some(true) => format!("Spot pays: an hour of useful work costs {}.", values.amount(&found.price)),
        Some(false) => {
            format!(
                "On demand costs less: on spot an hour of useful work costs {}.",
                values.amount(&found.price)
            )
        }
        None => "A job that is stopped so often is never done.".to_owned(),
    };
    let in_time = match found.in_time {
        Some(true) => " The job is done in time.",
        Some(false) => " The job is late.",
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
            "Price of an hour of the term",
            Takes::Number,
            "MONEY a GPU-hour",
            "5.395",
            "Used or not.",
        ),
        input("upfront", "Paid at the start", Takes::Number, "MONEY a GPU", "0", ""),
        input("years", "Term", Takes::Number, "years", "3", ""),
        input(
            "on_demand",
            "Price on demand",
            Takes::Number,
            "MONEY a GPU-hour",
            "12.29",
            "For hours that are used.",
        ),
        input(
            "later_on_demand",
            "Price on demand after signing",
            Takes::NumberOrNone,
            "MONEY a GPU-hour",
            "6.88",
            "What AWS asked for an H100 before and after June 2025. Empty: it stays.",
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
            "It costs less than on demand where it is used more than {} of the time.",
            values.stated(share, Unit::Share)
        ),
        Some(_) => "It costs more than on demand even if every hour is used.".to_owned(),
        None => "On demand costs nothing: there is no use from which on it pays.".to_owned(),
    };
    match found.later_break_even.as_ref().and_then(|it| it.value) {
        Some(share) if share > one => {
            sentence.push_str(" After the price moved, on demand costs less whatever the use.");
        }
        Some(share) => {
            let share = values.stated(share, Unit::Share);
            sentence = format!("{sentence} After the price moved, that is {share}.");
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
        input("gigabytes", "Data", Takes::Number, "GB", "500000", "A TB is 1,000 of them."),
        input("rates.of", "Prices of", Takes::OneOf(RATES), "", "aws", ""),
        input("rates.price", "One price", Takes::Number, "MONEY a GB", "0.09", "Where one price is chosen."),
        input("months", "Spread over", Takes::Whole, "months", "1", "Tiers begin anew each month."),
        input(
            "other_gigabytes",
            "Sent anyway",
            Takes::Number,
            "GB a month",
            "0",
            "It fills the first tiers.",
        ),
        input("nat", "Through a NAT gateway", Takes::OneOf(NO_YES), "", "no", "0.045 for each GB (AWS)."),
        input(
            "zones",
            "Across zones",
            Takes::OneOf(NO_YES),
            "",
            "no",
            "0.01 for each GB on either side (AWS).",
        ),
        input("region", "Across regions", Takes::NumberOrNone, "MONEY a GB", "", "0.02 to 0.08 are asked."),
        input("line", "Line", Takes::Number, "Gbit a second", "10", ""),
        input("line_share", "Of it for data", Takes::Percent, "%", "100", ""),
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
    let sentence = format!("It costs {} and takes {}.", values.said(&found.total), values.said(&found.time));
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
            "Those that MIG divides.",
        ),
        input("price", "Price of the whole GPU", Takes::Price, "MONEY an hour", "6.88", ""),
        input(
            "slices",
            "Slices",
            Takes::Text,
            "",
            "4g.40gb, 3g.40gb",
            "Names of profiles, with commas between them.",
        ),
        input(
            "by",
            "Charged by",
            Takes::OneOf(BY),
            "",
            "dominant",
            "What a slice blocks nobody else can use.",
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
    let described = if described.is_empty() { "No slice is cut".to_owned() } else { described.join("; ") };
    let sentence = format!("{described}. {} are paid for nothing.", values.said(&found.idle));
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
        input("price", "Price of the whole GPU", Takes::Price, "MONEY an hour", "6.88", ""),
        input("replicas", "Jobs that take turns", Takes::Whole, "", "4", ""),
        input("hours", "One of them holds its turn for", Takes::Number, "hours", "100", ""),
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
    let wall = if found.is_isolated { "" } else { " One job can starve another, and see its memory." };
    let sentence = format!("Its turns cost {}.{wall}", values.said(&found.cost));
    Ok(Answered { sentence, figures: vec![found.cost.into()], warnings: Vec::new() })
}
