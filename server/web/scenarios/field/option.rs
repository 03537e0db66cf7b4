//! An option: its name, and its places.

use super::place::of_place;
use super::{Maker, Part, Section, Takes};
use crate::economics::comparison::{Alternative, Scenario};

pub(super) fn of_option(at: usize, option: &Alternative, scenario: &Scenario, money: &str) -> Section {
    let pointer = format!("/option/{at}");
    let mut of = Maker { at: pointer.clone(), money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    let mut acts = vec![("Copy".to_owned(), format!("copy:{pointer}"))];
    if scenario.options.len() > 1 {
        acts.push(("Remove".to_owned(), format!("remove:{pointer}")));
    }
    if option.spend.is_none() {
        acts.push(("Add a spend commitment".to_owned(), format!("add:{pointer}/spend")));
    }
    let head = Part { title: String::new(), fields: of.fields, acts };
    let mut parts = vec![head];
    if option.spend.is_some() {
        let mut of = Maker { at: format!("{pointer}/spend"), money, fields: Vec::new() };
        let hint = "Paid every hour of the term, used or not, like Savings Plans.";
        of.add("per_hour", "Committed", Takes::Number, "MONEY per hour", hint);
        of.add("months", "Term", Takes::Whole, "months", "");
        let acts = vec![("Remove".to_owned(), format!("remove:{pointer}/spend"))];
        parts.push(Part { title: "Spend commitment".to_owned(), fields: of.fields, acts });
    }
    for (n, place) in option.places.iter().enumerate() {
        parts.extend(of_place(&format!("{pointer}/place/{n}"), (n, option.places.len()), place, money));
    }
    Section { title: option.name.clone(), pointer, parts }
}
