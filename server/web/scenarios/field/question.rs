//! What is asked: over how long, at which cost of capital.

use super::{Maker, Part, Takes};
use crate::economics::comparison::{SHIPPED, Scenario};

pub(super) fn question(scenario: &Scenario) -> Part {
    let money = scenario.currency.to_string();
    let mut of = Maker { at: String::new(), money: &money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    of.add("months", "Compared over", Takes::Whole, "months", "");
    of.add(
        "cost_of_capital",
        "Cost of capital",
        Takes::Percent,
        "% a year",
        "What money costs that is bound.",
    );
    of.rare("note", "What it is about", Takes::Text, "", "");
    of.rare("currency", "Currency", Takes::Text, "", "Of every amount. Another one converts them all.");
    let (unit, hint) = if money == SHIPPED {
        ("of the currency to convert to", "Empty: by your exchange rates, where there are some.")
    } else {
        ("MONEY", "What shipped prices and lists in dollars are converted at.")
    };
    of.rare("dollar/worth", "A US dollar is worth", Takes::NumberOrNone, unit, hint);
    of.rare("dollar/date", "Rate of", Takes::DayOrNone, "", "");
    of.rare("dollar/source", "Rate by", Takes::Text, "", "");
    of.rare("seed", "Seed of the simulations", Takes::Whole, "", "The same seed gives the same simulations.");
    let acts = vec![
        ("Add work".to_owned(), "add:/work".to_owned()),
        ("Add an option".to_owned(), "add:/option".to_owned()),
    ];
    Part { title: String::new(), fields: of.fields, acts }
}
