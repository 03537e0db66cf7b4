//! What a change does to the entries of the configuration, in words.

use std::collections::BTreeMap;

use super::super::allocation::{rules, shared_costs};
use crate::allocation::{Configuration, Edit, Entry, Sheet};
use crate::changes::Document as _;

/// How many rules are asked before each, and that one: what people count, not what is stored.
#[derive(Debug, Default)]
pub struct Places {
    before: BTreeMap<i64, usize>,
    after: BTreeMap<i64, usize>,
    /// What people call teams and pools, when it is done.
    names: Configuration,
}

impl Places {
    /// Of the rules before and after edits of a configuration.
    pub fn of(configuration: &Configuration, edits: &[Edit]) -> Self {
        let count = |configuration: &Configuration| {
            configuration.rules().into_iter().zip(1..).map(|((id, _), place)| (id, place)).collect()
        };
        let names = configuration.edited(edits);
        Self { before: count(configuration), after: count(&names), names }
    }
}

/// What an edit does to an entry, field by field: the name, what was, what will be.
pub fn differences(edit: &Edit, places: &Places) -> Vec<(String, String, String)> {
    let described = |entry: &Option<Entry>, place: Option<usize>| {
        entry.as_ref().map(|entry| described(entry, place, &places.names))
    };
    let before = described(&edit.before, places.before.get(&edit.id).copied());
    let after = described(&edit.after, places.after.get(&edit.id).copied());
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let names: Vec<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    let of = |described: &[(String, String)], name: &str| {
        described.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut differences: Vec<(String, String, String)> = Vec::new();
    for name in names {
        let (then, now) = (of(&before, name), of(&after, name));
        if then != now && !differences.iter().any(|(known, ..)| known == name) {
            differences.push((name.clone(), then, now));
        }
    }
    differences
}

/// What pages call a column of a sheet.
fn name_of(column: &str) -> &str {
    match column {
        "cost_centre" => "cost center",
        other => other,
    }
}

/// An entry in words, field by field.
fn described(entry: &Entry, place: Option<usize>, names: &Configuration) -> Vec<(String, String)> {
    let mut described: Vec<(String, String)> = match (entry, Sheet::of(entry)) {
        (_, Some(sheet)) => {
            let row = sheet.row(entry);
            let columns = sheet.columns().iter().filter(|column| !matches!(**column, "first" | "last"));
            columns.map(|column| (name_of(column).to_owned(), row[column].clone())).collect()
        }
        (Entry::Rule(rule), _) => vec![
            ("name".into(), rule.name.clone()),
            ("when".into(), rules::conditions(rule)),
            ("to".into(), rules::target(&rule.to)),
            ("place in the order".into(), place.map(|place| place.to_string()).unwrap_or_default()),
        ],
        (Entry::Pool(pool), _) => vec![
            ("name".into(), pool.name.clone()),
            ("divided".into(), shared_costs::split(&pool.split, names)),
            ("only".into(), shared_costs::teams(&pool.among, names)),
            ("without".into(), shared_costs::teams(&pool.without, names)),
            ("shared costs that take part".into(), shared_costs::pools(&pool.pools, names)),
        ],
        (Entry::Meaning(it), _) => vec![("tags".into(), it.keys.join(", "))],
        (Entry::Value(it), _) => {
            vec![("value".into(), it.value.clone()), ("spellings".into(), it.spellings.join(", "))]
        }
        (Entry::Budget(it), _) => vec![
            ("of".into(), it.of.in_words()),
            ("amount".into(), format!("{} {}", it.amount, it.currency)),
            (
                "thresholds".into(),
                it.thresholds.iter().map(|percent| format!("{percent}%")).collect::<Vec<_>>().join(", "),
            ),
        ],
        _ => Vec::new(),
    };
    let months = entry.months().in_words();
    described.push(("months".into(), if months.is_empty() { "all".into() } else { months }));
    described
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{Months, Rule, Target};

    #[test]
    fn a_rule_that_moves_is_told_by_the_place_that_one_counts() {
        let rule = |place| {
            let (name, when) = (format!("at {place}"), Vec::new());
            Entry::Rule(Rule { name, place, when, to: Target::Labels, months: Months::default() })
        };
        let configuration = Configuration { entries: [(7, rule(0)), (8, rule(16)), (9, rule(32))].into() };
        let Entry::Rule(last) = rule(32) else { unreachable!() };
        let moved = Entry::Rule(Rule { place: -16, ..last });
        let edit = Edit { id: 9, before: Some(rule(32)), after: Some(moved) };
        let places = Places::of(&configuration, std::slice::from_ref(&edit));
        let expected = ("place in the order".to_owned(), "3".to_owned(), "1".to_owned());
        assert_eq!(differences(&edit, &places), [expected]);
        // A new number that leaves it where it is says nothing.
        let Entry::Rule(first) = rule(0) else { unreachable!() };
        let still =
            Edit { id: 7, before: Some(rule(0)), after: Some(Entry::Rule(Rule { place: 4, ..first })) };
        assert!(differences(&still, &Places::of(&configuration, std::slice::from_ref(&still))).is_empty());
    }
}
