//! A place of an option: what it sells, and at which prices.

use super::owned::{of_owned, of_staff};
use super::{Maker, Part, Takes};
use crate::economics::comparison::{Moved, Owned, Place};
use crate::economics::egress::Rates;

const PER: &[(&str, &str)] = &[("once", "once"), ("month", "a month"), ("gpu-hour", "a GPU-hour of work")];

const EVERY: &[(&str, &str)] = &[("once", "once"), ("month", "every month")];
const LEAVES: &[(&str, &str)] = &[
    ("aws", "AWS"),
    ("azure", "Azure"),
    ("google-premium", "Google, over its own network"),
    ("google-standard", "Google, over the internet"),
    ("free", "who takes nothing for it"),
    ("flat", "at a price of one’s own"),
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
    let hint = "Names of works, with commas between. Empty: all of them.";
    of.add("serves", "What runs here", Takes::Names, "", hint);
    of.rare("accelerator", "Accelerator", Takes::Text, "", "By its id in the catalog; empty: as the work’s.");
    of.rare(
        "performance",
        "Worth of an hour here",
        Takes::Number,
        "hours of the work’s accelerator",
        "As measured. 1: it is the same.",
    );
    of.rare("rework", "Hours for a useful one", Takes::Number, "", "Checkpoints, restarts. 1: none.");
    of.rare("gpus_per_node", "GPUs of a node", Takes::Whole, "", "What capacity comes in.");
    of.rare("availability", "Promised", Takes::PercentOrNone, "% of the time", "Empty: nothing is.");
    let hint = "On demand, of the hours that are asked for. 100: always.";
    of.rare("obtainable", "There when asked for", Takes::Percent, "% of the time", hint);
    of.rare("support", "Support", Takes::Percent, "% of what is paid to the supplier", "");
    let mut acts = Vec::new();
    for (is_there, under, word) in [
        (place.on_demand.is_some(), "on_demand", "Add on demand"),
        (false, "committed", "Add a reservation"),
        (false, "blocks", "Add a capacity block"),
        (place.spot.is_some(), "spot", "Add spot"),
        (place.cheaper_hours.is_some(), "cheaper_hours", "Add cheaper hours"),
        (place.owned.is_some(), "owned", "Add machines of our own"),
        (place.spend_rate.is_some(), "spend_rate", "Add a price under a spend commitment"),
        (place.per_million_tokens.is_some(), "per_million_tokens", "Add a price by the token"),
        (false, "moved", "Add data that moves here"),
        (place.porting.is_some(), "porting", "Add porting"),
        (false, "others", "Add another cost"),
    ] {
        if !is_there {
            acts.push((word.to_owned(), format!("add:{pointer}/{under}")));
        }
    }
    if count > 1 {
        acts.push(("Remove this place".to_owned(), format!("remove:{pointer}")));
    }
    let title = if count > 1 { format!("Place {}", at + 1) } else { "Where".to_owned() };
    let mut parts = vec![part(&title, of, acts)];
    if let Some(owned) = &place.owned {
        let mut of = maker("/owned");
        of_owned(&mut of, owned);
        parts.push(part("Machines of our own", of, removal("/owned")));
        parts.push(people(pointer, owned, money));
    }
    for n in 0..place.committed.len() {
        let under = format!("/committed/{n}");
        let mut of = maker(&under);
        of.rate("rate/", "Price, used or not", "Paid for every hour of the term.");
        of.add("months", "Term", Takes::Whole, "months", "");
        of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best: as many as cost least.");
        of.rare("upfront", "Upfront", Takes::Number, "MONEY a GPU and term", "Besides its hours.");
        parts.push(part("Reserved", of, removal(&under)));
    }
    for n in 0..place.blocks.len() {
        let under = format!("/blocks/{n}");
        let mut of = maker(&under);
        of.rate("rate/", "Price, paid in advance", "Of a GPU-hour; the whole block is paid, used or not.");
        of.add("gpus", "GPUs", Takes::Whole, "", "");
        of.add("hours", "Lasts", Takes::Whole, "hours", "From its start on, without a break.");
        of.add("every_months", "Bought again after", Takes::Whole, "months", "0: bought once.");
        of.rare("first_month", "First after", Takes::Whole, "months", "0: in the first month.");
        of.rare("starts_at_hour", "Begins in its month after", Takes::Whole, "hours", "Of 730.");
        parts.push(part("Capacity block", of, removal(&under)));
    }
    if place.spot.is_some() {
        let mut of = maker("/spot");
        of.rate("rate/", "Price while it lasts", "");
        of.add("gpus", "At most", Takes::NumberOrNone, "GPUs", "Empty: as many as are asked for.");
        of.rare(
            "rework",
            "Hours for a useful one",
            Takes::NumberOrNone,
            "",
            "Empty: as follows from how often it is taken away.",
        );
        of.rare("interruptions/restart_minutes", "Until it goes on", Takes::Number, "minutes", "");
        of.rare("interruptions/pause_minutes", "A checkpoint takes", Takes::Number, "minutes", "");
        parts.push(part("Spot", of, removal("/spot")));
    }
    if place.on_demand.is_some() {
        let mut of = maker("/on_demand");
        of.rate("", "Price of use", "Paid for hours that are used.");
        parts.push(part("On demand", of, removal("/on_demand")));
    }
    if place.spend_rate.is_some() {
        let mut of = maker("/spend_rate");
        of.rate("", "Price under it", "Of hours on demand that the option’s spend commitment pays for.");
        parts.push(part("Under the spend commitment", of, removal("/spend_rate")));
    }
    if place.per_million_tokens.is_some() {
        let mut of = maker("/per_million_tokens");
        of.rate("", "Price of a million tokens", "Of work that says how many an hour makes.");
        if let Some(price) = of.fields.first_mut() {
            price.unit = format!("{money} a million tokens");
        }
        parts.push(part("By the token", of, removal("/per_million_tokens")));
    }
    for (n, moved) in place.moved.iter().enumerate() {
        let under = format!("/moved/{n}");
        let mut of = maker(&under);
        of_moved(&mut of, moved);
        parts.push(part("Data that moves here", of, removal(&under)));
    }
    if place.cheaper_hours.is_some() {
        let mut of = maker("/cheaper_hours");
        of.add("from", "From", Takes::Whole, "o’clock", "");
        of.add("until", "Until", Takes::Whole, "o’clock", "No later than from: over midnight.");
        of.add("factor", "Costs", Takes::Percent, "% of the price", "On demand and spot.");
        parts.push(part("Cheaper hours of the day", of, removal("/cheaper_hours")));
    }
    if place.porting.is_some() {
        let mut of = maker("/porting");
        of.add("engineer_weeks", "Takes", Takes::Number, "weeks of an engineer", "");
        of.add("loaded_cost", "An engineer a year", Takes::Number, "MONEY", "Full-time, with everything.");
        let hint = "If it fails, what it took is lost and another option does the work. The total is what is expected.";
        of.add("chance", "Works at all with a chance of", Takes::Percent, "%", hint);
        of.rare("releases_per_year", "Releases", Takes::Number, "a year", "Each takes a part of it anew.");
        of.rare("ported_anew", "Ported anew with each", Takes::Percent, "%", "");
        let ran = "Here, and where it ran.";
        of.add("months_of_both", "It runs in both", Takes::Whole, "months", ran);
        of.add(
            "meanwhile/price",
            "Where it ran",
            Takes::Number,
            "MONEY a GPU-hour",
            "Of the work’s accelerator.",
        );
        of.rare("meanwhile/source", "Source", Takes::Text, "", "");
        parts.push(part("Porting", of, removal("/porting")));
    }
    for n in 0..place.others.len() {
        let under = format!("/others/{n}");
        let mut of = maker(&under);
        of.add("name", "What", Takes::Text, "", "");
        of.add("amount", "Amount", Takes::Number, "MONEY", "");
        of.add("per", "Paid", Takes::OneOf(PER), "", "");
        parts.push(part("Another cost", of, removal(&under)));
    }
    parts
}

fn of_moved(of: &mut Maker<'_>, moved: &Moved) {
    of.add("name", "What", Takes::Text, "", "");
    of.add("gigabytes", "How much", Takes::Number, "GB", "1 TB is 1,000 GB.");
    of.add("every", "Moves", Takes::OneOf(EVERY), "", "");
    of.add("rates/of", "Leaves", Takes::OneOf(LEAVES), "", "Whose prices are paid on its way out.");
    if matches!(moved.rates, Rates::Flat { .. }) {
        of.add("rates/price", "Price", Takes::Number, "MONEY a GB", "");
    }
    let hint = "What the account sends anyway: it fills the tiers first.";
    of.rare("other_gigabytes", "Besides that", Takes::Number, "GB a month", hint);
}

/// How many people the machines take, which grows by steps.
fn people(place: &str, owned: &Owned, money: &str) -> Part {
    let at = format!("{place}/owned/machines/staff/steps");
    let mut of = Maker { at: at.clone(), money, fields: Vec::new() };
    of_staff(&mut of, owned);
    let mut acts = vec![("Add a step".to_owned(), format!("add:{at}"))];
    let steps = owned.machines.staff.steps.len();
    if steps > 1 {
        acts.push(("Remove the last step".to_owned(), format!("remove:{at}/{}", steps - 1)));
    }
    Part { title: "People they take".to_owned(), fields: of.fields, acts }
}
