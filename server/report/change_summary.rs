//! What a change of the configuration does besides moving amounts, in sentences: who may see what, what things are called, where
//! they are booked, what may be spent. Pure.

use std::collections::BTreeSet;

use super::snapshot::named;
use crate::allocation::{Budget, BudgetPeriod, Configuration, Edit, Entry, MonthConfiguration};
use crate::period::BillingMonth;

/// A stretch of months in which both configurations stay the same: its first, `None` for the one before anything begins.
type Stretch = (Option<BillingMonth>, BillingMonth);

/// What differs between two configurations, a sentence each, with the months in which it does.
pub(super) fn sentences_of_change(
    before: &Configuration,
    after: &Configuration,
    edits: &[Edit],
) -> Vec<String> {
    let stretches = stretches(before, after);
    // In the order in which they were found; the stretches in which each is so.
    let mut described: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, (_, month)) in stretches.iter().enumerate() {
        let (then, now) = (before.of_month(*month), after.of_month(*month));
        let mut sentences = seen(&then, &now, ["visible", "count"]);
        sentences.extend(seen(&now, &then, ["no longer visible", "no longer count"]));
        sentences.extend(called(&then, &now));
        sentences.extend(booked(&then, &now));
        for sentence in sentences {
            match described.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, places)) => places.push(at),
                None => described.push((sentence, vec![at])),
            }
        }
    }
    let mut found = Vec::new();
    for (sentence, places) in described {
        for run in places.chunk_by(|a, b| a + 1 == *b) {
            found.push(format!("{sentence}{}.", months(&stretches, run[0], run[run.len() - 1])));
        }
    }
    found.extend(edits.iter().filter_map(|edit| budget(edit, |it| after.owner_name(&it.of))));
    found
}

fn stretches(before: &Configuration, after: &Configuration) -> Vec<Stretch> {
    let (mut months, mut others) = (before.months_of_change(), after.months_of_change());
    let first = months.remove(0).min(others.remove(0));
    let points: BTreeSet<BillingMonth> = months.into_iter().chain(others).collect();
    std::iter::once((None, first)).chain(points.into_iter().map(|month| (Some(month), month))).collect()
}

/// ` from September 2026 on`; nothing for always.
fn months(stretches: &[Stretch], first: usize, last: usize) -> String {
    let from = stretches[first].0;
    let until = stretches.get(last + 1).map(|(_, next)| next.previous());
    match (from, until) {
        (None, None) => String::new(),
        (Some(from), None) => format!(" from {} on", from.name()),
        (None, Some(until)) => format!(" up to {}", until.name()),
        (Some(from), Some(until)) if from == until => format!(" in {}", from.name()),
        (Some(from), Some(until)) => format!(" from {} to {}", from.name(), until.name()),
    }
}

/// Teams that `now` are inside others, and then were not: `Vision and its 2 subteams are visible to the leads of
/// Research`. Teams that one of the configurations lacks come and go with all that is theirs.
fn seen(
    then: &MonthConfiguration<'_>,
    now: &MonthConfiguration<'_>,
    [visible, count]: [&str; 2],
) -> Vec<String> {
    let around = |configuration: &MonthConfiguration<'_>, handle: &str| -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut at = configuration.team(handle);
        while let Some(parent) = at.and_then(|team| configuration.team(team.parent.as_deref()?)) {
            // A circle is refused, but must not hang what looks for it.
            if parent.handle == handle || !found.insert(parent.handle.clone()) {
                break;
            }
            at = Some(parent);
        }
        found
    };
    let in_both = now.teams.iter().filter(|team| then.team(&team.handle).is_some());
    let gained: Vec<(&str, BTreeSet<String>)> = in_both
        .map(|team| {
            let (before, after) = (around(then, &team.handle), around(now, &team.handle));
            (team.handle.as_str(), after.difference(&before).cloned().collect())
        })
        .filter(|(_, leads): &(_, BTreeSet<String>)| !leads.is_empty())
        .collect();
    let is_named_with_parent = |handle: &str, leads: &BTreeSet<String>| {
        let parent = now.team(handle).and_then(|team| team.parent.as_deref());
        gained.iter().any(|(other, theirs)| Some(*other) == parent && leads.is_subset(theirs))
    };
    let roots = gained.iter().filter(|(handle, leads)| !is_named_with_parent(handle, leads));
    roots
        .map(|(handle, leads)| {
            let inside = now.with_teams_inside(handle).into_iter().skip(1);
            let inside = inside.filter(|team| gained.iter().any(|(other, _)| other == team)).count();
            let what = match inside {
                0 => format!("{} is", name_of(now, handle)),
                1 => format!("{} and its subteam are", name_of(now, handle)),
                many => format!("{} and its {many} subteams are", name_of(now, handle)),
            };
            let it = if inside == 0 { "it" } else { "them" };
            let leads: Vec<&str> = leads.iter().map(|team| name_of(now, team)).collect();
            let leads = leads.join(" and of ");
            format!("{what} {visible} to the leads of {leads}, whose statements and budgets {count} {it}")
        })
        .collect()
}

fn name_of<'a>(configuration: &'a MonthConfiguration<'_>, handle: &'a str) -> &'a str {
    configuration.team(handle).map_or(handle, |team| &team.name)
}

/// What has another name.
fn called(then: &MonthConfiguration<'_>, now: &MonthConfiguration<'_>) -> Vec<String> {
    let renamed = named(now).filter_map(|(of, handle, name)| {
        let (.., old) = named(then).find(|(other, known, _)| *other == of && *known == handle)?;
        (old != name).then(|| format!("{} {old} is renamed to {name}", of.label()))
    });
    renamed.collect()
}

/// What finance books elsewhere.
fn booked(then: &MonthConfiguration<'_>, now: &MonthConfiguration<'_>) -> Vec<String> {
    let centre = |configuration: &MonthConfiguration<'_>, handle: Option<&str>| {
        let name =
            |handle: &str| configuration.cost_centre(handle).map_or(handle, |it| it.name.as_str()).to_owned();
        handle.map_or_else(|| "no cost center".to_owned(), name)
    };
    let mut found = Vec::new();
    for team in now.teams.iter().filter(|team| then.team(&team.handle).is_some()) {
        let (before, after) = (then.cost_centre_of(&team.handle), now.cost_centre_of(&team.handle));
        if before != after {
            let (before, after) = (centre(then, before), centre(now, after));
            found.push(format!("Charges of {} are booked to {after} instead of {before}", team.name));
        }
    }
    for project in &now.projects {
        let Some(known) = then.project(&project.handle) else { continue };
        if known.cost_centre != project.cost_centre {
            let before = centre(then, known.cost_centre.as_deref());
            let after = centre(now, project.cost_centre.as_deref());
            found.push(format!("Project {} is booked to {after} instead of {before}", project.name));
        }
    }
    found
}

/// What may be spent.
fn budget(edit: &Edit, name: impl Fn(&Budget) -> String) -> Option<String> {
    let of = |entry: Option<&Entry>| match entry {
        Some(Entry::Budget(budget)) => Some(budget.clone()),
        _ => None,
    };
    let amount = |it: &Budget| {
        let each = match it.period {
            BudgetPeriod::Month => "month",
            BudgetPeriod::Quarter => "quarter",
            BudgetPeriod::Year => "year",
        };
        format!("{} {} a {each}", it.amount, it.currency)
    };
    let months = |it: &Budget| match it.months.in_words() {
        words if words.is_empty() => words,
        words => format!(", {words}"),
    };
    match (of(edit.before.as_ref()), of(edit.after.as_ref())) {
        (None, Some(it)) => Some(format!("{} gets a budget of {}{}.", name(&it), amount(&it), months(&it))),
        (Some(it), None) => Some(format!("The budget of {} is removed: {}.", name(&it), amount(&it))),
        (Some(before), Some(after)) if amount(&before) != amount(&after) => Some(format!(
            "The budget of {} becomes {} instead of {}{}.",
            name(&after),
            amount(&after),
            amount(&before),
            months(&after)
        )),
        (Some(_), Some(after)) => Some(format!(
            "The budget of {} stays {}; its months or thresholds change.",
            name(&after),
            amount(&after)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{BudgetOf, CostCentre, Months, Team};
    use crate::changes::Document as _;
    use crate::money::Currency;

    fn team(handle: &str, parent: Option<&str>) -> Team {
        let name = handle[..1].to_uppercase() + &handle[1..];
        Team { handle: handle.into(), name, parent: parent.map(str::to_owned), ..Team::default() }
    }

    fn configuration() -> Configuration {
        let centre = |handle: &str, name: &str| {
            Entry::CostCentre(CostCentre {
                handle: handle.into(),
                name: name.into(),
                ..CostCentre::default()
            })
        };
        let entries = [
            Entry::Team(team("research", None)),
            Entry::Team(team("vision", None)),
            Entry::Team(team("detection", Some("vision"))),
            Entry::Team(team("tracking", Some("vision"))),
            centre("4711", "Models"),
            Entry::Budget(Budget {
                of: BudgetOf::Team("vision".into()),
                period: BudgetPeriod::Month,
                months: Months::default(),
                amount: "100".parse().unwrap(),
                currency: Currency::exactly("USD"),
                thresholds: vec![80],
            }),
        ];
        Configuration { entries: (1..).zip(entries).collect() }
    }

    fn described(edits: &[Edit]) -> Vec<String> {
        let before = configuration();
        sentences_of_change(&before, &before.edited(edits), edits)
    }

    fn edit(id: i64, after: Entry) -> Edit {
        Edit { id, before: configuration().entries.get(&id).cloned(), after: Some(after) }
    }

    #[test]
    fn who_sees_more_or_less_is_reported() {
        let into_research = || Entry::Team(team("vision", Some("research")));
        assert_eq!(
            described(&[edit(2, into_research())]),
            [
                "Vision and its 2 subteams are visible to the leads of Research, whose statements and budgets count them."
            ]
        );
        let alone = Entry::Team(team("tracking", None));
        assert_eq!(
            described(&[edit(4, alone)]),
            [
                "Tracking is no longer visible to the leads of Vision, whose statements and budgets no longer count it."
            ]
        );
        let month = "2026-09".parse().unwrap();
        let since = Edit::since(month, 2, &configuration().entries[&2], into_research(), 99);
        assert_eq!(
            described(&since),
            [
                "Vision and its 2 subteams are visible to the leads of Research, whose statements and budgets count them \
             from September 2026 on."
            ]
        );
    }

    #[test]
    fn names_cost_centres_and_budgets_are_reported() {
        let renamed = Team { name: "Perception".into(), ..team("vision", None) };
        assert_eq!(described(&[edit(2, Entry::Team(renamed))]), ["Team Vision is renamed to Perception."]);
        let booked = Team { cost_centre: Some("4711".into()), ..team("research", None) };
        assert_eq!(
            described(&[edit(1, Entry::Team(booked))]),
            ["Charges of Research are booked to Models instead of no cost center."]
        );
        let Some(Entry::Budget(budget)) = configuration().entries.remove(&6) else { panic!() };
        let more = Entry::Budget(Budget { amount: "120".parse().unwrap(), ..budget });
        assert_eq!(
            described(&[edit(6, more)]),
            ["The budget of Vision becomes 120 USD a month instead of 100 USD a month."]
        );
        let gone = Edit { after: None, ..edit(6, configuration().entries[&6].clone()) };
        assert_eq!(described(&[gone]), ["The budget of Vision is removed: 100 USD a month."]);
        assert!(described(&[]).is_empty());
    }
}
