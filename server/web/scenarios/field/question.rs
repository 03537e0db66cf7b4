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
        "Yearly cost of capital tied up in machines and commitments.",
    );
    of.rare("note", "Description", Takes::Text, "", "");
    of.rare("currency", "Currency", Takes::Text, "", "Changing it converts all amounts.");
    let (unit, hint) = if money == SHIPPED {
        ("of the currency to convert to", "Leave empty to use your exchange rates.")
    } else {
        ("MONEY", "Converts built-in prices and price lists in USD.")
    };
    of.rare("dollar/worth", "Value of a US dollar", Takes::NumberOrNone, unit, hint);
    of.rare("dollar/date", "Rate date", Takes::DayOrNone, "", "");
    of.rare("dollar/source", "Rate source", Takes::Text, "", "");
    of.rare("seed", "Seed of the simulations", Takes::Whole, "", "The same seed gives the same simulations.");
    let acts = vec![
        ("Add work".to_owned(), "add:/work".to_owned()),
        ("Add an option".to_owned(), "add:/option".to_owned()),
    ];
    Part { title: String::new(), fields: of.fields, acts }
}
