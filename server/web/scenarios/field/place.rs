//! A place of an option: what it sells, and at which prices.

use super::owned::{of_owned, of_staff};
use super::{Maker, Part, Takes};
use crate::economics::comparison::{Moved, Owned, Place};
use crate::economics::egress::Rates;

const PER: &[(&str, &str)] =
    &[("once", "once"), ("month", "per month"), ("gpu-hour", "per GPU-hour of work")];

const EVERY: &[(&str, &str)] = &[("once", "once"), ("month", "every month")];
const LEAVES: &[(&str, &str)] = &[
    ("aws", "AWS"),
    ("azure", "Azure"),
    ("google-premium", "Google, over its own network"),
    ("google-standard", "Google, over the internet"),
    ("free", "no charge"),
    ("flat", "a flat price"),
];

pub(super) fn of_place(pointer: &str, (at, count): (usize, usize), place: &Place, money: &str) -> Vec<Part> {
    let maker = |under: &str| Maker { at: format!("{pointer}{under}"), money, fields: Vec::new() };
    let part = |title: &str, of: Maker<'_>, acts: Vec<(String, String)>| Part {
        title: title.to_owned(),
        fields: of.fields,
        acts,
    };
    let removal = |under: &str| vec![("Remove".to_owned(), format!("remove:{pointer}{under}"))];
    let mut of = maker("");
    of.add("supplier", "Supplier", Takes::Text, "", "");
    let hint = "Names of work, separated by commas. Leave empty for all.";
    of.add("serves", "Runs here", Takes::Names, "", hint);
    of.rare(
        "accelerator",
        "Accelerator",
        Takes::Text,
        "",
        "ID in the catalog. Leave empty for that of the work.",
    );
    of.rare(
        "performance",
        "Performance",
        Takes::Number,
        "hours of the work’s accelerator per hour",
        "Measured. 1: the same.",
    );
    of.rare("rework", "Paid hours per useful hour", Takes::Number, "", "Checkpoints, restarts. 1: none.");
    of.rare("gpus_per_node", "GPUs per node", Takes::Whole, "", "Capacity is sold in whole nodes.");
    of.rare(
        "availability",
        "Guaranteed availability",
        Takes::PercentOrNone,
        "% of the time",
        "Leave empty for no guarantee.",
    );
    let hint = "Share of requested on-demand hours that are available. 100: always.";
    of.rare("obtainable", "On-demand availability", Takes::Percent, "% of the time", hint);
    of.rare("support", "Support", Takes::Percent, "% of payments to the supplier", "");
    let mut acts = Vec::new();
    for (is_there, under, word) in [
        (place.on_demand.is_some(), "on_demand", "Add on demand"),
        (false, "committed", "Add a reservation"),
        (false, "blocks", "Add a capacity block"),
        (place.spot.is_some(), "spot", "Add spot"),
        (place.cheaper_hours.is_some(), "cheaper_hours", "Add cheaper hours"),
        (place.owned.is_some(), "owned", "Add on-prem machines"),
        (place.spend_rate.is_some(), "spend_rate", "Add a price under a spend commitment"),
        (place.per_million_tokens.is_some(), "per_million_tokens", "Add a price per token"),
        (false, "moved", "Add moved data"),
        (place.porting.is_some(), "porting", "Add porting"),
        (false, "others", "Add another cost"),
    ] {
        if !is_there {
            acts.push((word.to_owned(), format!("add:{pointer}/{under}")));
        }
    }
    if count > 1 {
        acts.push(("Remove place".to_owned(), format!("remove:{pointer}")));
    }
    let title = if count > 1 { format!("Place {}", at + 1) } else { "Place".to_owned() };
    let mut parts = vec![part(&title, of, acts)];
    if let Some(owned) = &place.owned {
        let mut of = maker("/owned");
        of_owned(&mut of, owned);
        parts.push(part("On-prem machines", of, removal("/owned")));
        parts.push(people(pointer, owned, money));
    }
    for n in 0..place.committed.len() {
        let under = format!("/committed/{n}");
        let mut of = maker(&under);
        of.rate("rate/", "Price, used or not", "Paid every hour of the term.");
        of.add("months", "Term", Takes::Whole, "months", "");
        of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best for the cheapest number.");
        of.rare(
            "upfront",
            "Upfront",
            Takes::Number,
            "MONEY per GPU and term",
            "In addition to the price per hour.",
        );
        parts.push(part("Reserved", of, removal(&under)));
    }
    for n in 0..place.blocks.len() {
        let under = format!("/blocks/{n}");
        let mut of = maker(&under);
        of.rate("rate/", "Price, paid in advance", "Per GPU-hour. The whole block is paid, used or not.");
        of.add("gpus", "GPUs", Takes::Whole, "", "");
        of.add("hours", "Length", Takes::Whole, "hours", "Without a break.");
        of.add("every_months", "Repeats every", Takes::Whole, "months", "0: bought once.");
        of.rare("first_month", "First block after", Takes::Whole, "months", "0: in the first month.");
        of.rare("starts_at_hour", "Starts in its month after", Takes::Whole, "hours", "0 to 729.");
        parts.push(part("Capacity block", of, removal(&under)));
    }
    if place.spot.is_some() {
        let mut of = maker("/spot");
        of.rate("rate/", "Spot price", "");
        of.add("gpus", "At most", Takes::NumberOrNone, "GPUs", "Leave empty for no limit.");
        of.rare(
            "rework",
            "Paid hours per useful hour",
            Takes::NumberOrNone,
            "",
            "Leave empty to compute it from interruptions.",
        );
        of.rare("interruptions/restart_minutes", "Time to restart", Takes::Number, "minutes", "");
        of.rare("interruptions/pause_minutes", "Time for a checkpoint", Takes::Number, "minutes", "");
        parts.push(part("Spot", of, removal("/spot")));
    }
    if place.on_demand.is_some() {
        let mut of = maker("/on_demand");
        of.rate("", "On-demand price", "Paid for used hours only.");
        parts.push(part("On demand", of, removal("/on_demand")));
    }
    if place.spend_rate.is_some() {
        let mut of = maker("/spend_rate");
        of.rate("", "Committed price", "For on-demand hours that the spend commitment covers.");
        parts.push(part("Under the spend commitment", of, removal("/spend_rate")));
    }
    if place.per_million_tokens.is_some() {
        let mut of = maker("/per_million_tokens");
        of.rate("", "Price per million tokens", "For work with a throughput.");
        if let Some(price) = of.fields.first_mut() {
            price.unit = format!("{money} per million tokens");
        }
        parts.push(part("Per token", of, removal("/per_million_tokens")));
    }
    for (n, moved) in place.moved.iter().enumerate() {
        let under = format!("/moved/{n}");
        let mut of = maker(&under);
        of_moved(&mut of, moved);
        parts.push(part("Moved data", of, removal(&under)));
    }
    if place.cheaper_hours.is_some() {
        let mut of = maker("/cheaper_hours");
        of.add("from", "From", Takes::Whole, "o’clock", "");
        of.add("until", "Until", Takes::Whole, "o’clock", "An earlier hour than From means past midnight.");
        of.add(
            "factor",
            "Reduced price",
            Takes::Percent,
            "% of the full price",
            "Applies to on demand and spot.",
        );
        parts.push(part("Cheaper hours of the day", of, removal("/cheaper_hours")));
    }
    if place.porting.is_some() {
        let mut of = maker("/porting");
        of.add("engineer_weeks", "Effort", Takes::Number, "engineer-weeks", "");
        of.add(
            "loaded_cost",
            "Cost of an engineer",
            Takes::Number,
            "MONEY a year",
            "Including benefits and taxes.",
        );
        let hint = "If it fails, the effort is lost and another option does the work.";
        of.add("chance", "Chance of success", Takes::Percent, "%", hint);
        of.rare(
            "releases_per_year",
            "Releases",
            Takes::Number,
            "a year",
            "Each repeats a part of the porting.",
        );
        of.rare("ported_anew", "Repeated per release", Takes::Percent, "%", "");
        let ran = "Here and in the old place.";
        of.add("months_of_both", "Runs in both for", Takes::Whole, "months", ran);
        of.add(
            "meanwhile/price",
            "Price in the old place",
            Takes::Number,
            "MONEY per GPU-hour",
            "For the accelerator of the work.",
        );
        of.rare("meanwhile/source", "Source", Takes::Text, "", "");
        parts.push(part("Porting", of, removal("/porting")));
    }
    for n in 0..place.others.len() {
        let under = format!("/others/{n}");
        let mut of = maker(&under);
        of.add("name", "Cost item", Takes::Text, "", "");
        of.add("amount", "Amount", Takes::Number, "MONEY", "");
        of.add("per", "Paid", Takes::OneOf(PER), "", "");
        parts.push(part("Another cost", of, removal(&under)));
    }
    parts
}

fn of_moved(of: &mut Maker<'_>, moved: &Moved) {
    of.add("name", "Data", Takes::Text, "", "");
    of.add("gigabytes", "Volume", Takes::Number, "GB", "1 TB is 1,000 GB.");
    of.add("every", "Moved", Takes::OneOf(EVERY), "", "");
    of.add("rates/of", "Leaves from", Takes::OneOf(LEAVES), "", "Whose prices for outgoing data apply.");
    if matches!(moved.rates, Rates::Flat { .. }) {
        of.add("rates/price", "Price per GB", Takes::Number, "MONEY per GB", "");
    }
    let hint = "Data the account sends anyway. It uses the lower tiers first.";
    of.rare("other_gigabytes", "Other outgoing data", Takes::Number, "GB a month", hint);
}

/// How many people the machines take, which grows by steps.
fn people(place: &str, owned: &Owned, money: &str) -> Part {
    let at = format!("{place}/owned/machines/staff/steps");
    let mut of = Maker { at: at.clone(), money, fields: Vec::new() };
    of_staff(&mut of, owned);
    let mut acts = vec![("Add a staffing level".to_owned(), format!("add:{at}"))];
    let steps = owned.machines.staff.steps.len();
    if steps > 1 {
        acts.push(("Remove the last staffing level".to_owned(), format!("remove:{at}/{}", steps - 1)));
    }
    Part { title: "Staff".to_owned(), fields: of.fields, acts }
}
