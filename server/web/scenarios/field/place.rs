//! A place of an option: what it sells, and at which prices.

use super::owned::of_owned;
use super::{Maker, Part, Takes};
use crate::scenario::comparison::Place;

const PER: &[(&str, &str)] = &[("once", "once"), ("month", "a month"), ("gpu-hour", "a GPU-hour of work")];

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
        (place.owned.is_some(), "owned", "Add machines of our own"),
        (place.spend_rate.is_some(), "spend_rate", "Add a price under a spend commitment"),
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
    if place.porting.is_some() {
        let mut of = maker("/porting");
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
        parts.push(part("While it is ported", of, Vec::new()));
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
