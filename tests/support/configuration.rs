//! An allocation configuration in a few words.

use gpuledger::allocation::{
    Condition, Configuration, Edit, Entry, Months, Rule, SharedCostPool, Split, Target, Team, Test,
};
use gpuledger::audit::Actor;
use gpuledger::changes::{self, Outcome};
use sqlx::PgConnection;

use super::now;

/// A team named as its handle with a capital letter.
pub fn team(handle: &str) -> Entry {
    let name = handle[..1].to_uppercase() + &handle[1..];
    Entry::Team(Team { handle: handle.into(), name, ..Team::default() })
}

/// A rule for what `field` equals; for everything where the field is empty.
pub fn rule(place: i64, field: &str, value: &str, to: Target) -> Entry {
    let condition =
        || Condition { field: field.parse().unwrap(), not: false, test: Test::Is(vec![value.to_owned()]) };
    Entry::Rule(Rule {
        name: format!("{field} {value}").trim().to_owned() + if field.is_empty() { "everything" } else { "" },
        place,
        when: if field.is_empty() { Vec::new() } else { vec![condition()] },
        to,
        months: Months::default(),
    })
}

pub fn pool(handle: &str, split: Split) -> SharedCostPool {
    SharedCostPool {
        handle: handle.into(),
        name: handle.into(),
        split,
        among: Vec::new(),
        without: Vec::new(),
        pools: Vec::new(),
        months: Months::default(),
    }
}

pub fn to_pool(handle: &str) -> Target {
    Target::Pool { pool: handle.into() }
}

pub fn to_team(handle: &str) -> Target {
    Target::Team { team: handle.into(), project: None }
}

/// Writes entries into the configuration, in one change; answers their numbers.
pub async fn write(db: &mut PgConnection, entries: Vec<Entry>) -> Vec<i64> {
    let edits = changes::additions(db, entries).await.unwrap();
    let ids = edits.iter().map(|edit| edit.id).collect();
    change(db, edits).await;
    ids
}

/// Drafts and applies edits; answers the number of the change.
pub async fn change(db: &mut PgConnection, edits: Vec<Edit>) -> i64 {
    let by = Actor::person("ada@example.com", "test");
    let drafted = changes::draft::<Configuration>(db, edits, None, "a change", by.at(now())).await.unwrap();
    let Outcome::Waits(id) = drafted else { panic!("{drafted:?}") };
    let outcome = changes::apply::<Configuration>(db, id, Some("because"), by.at(now())).await.unwrap();
    assert!(matches!(outcome, Outcome::At { .. }), "{outcome:?}");
    id
}
