//! Changing the configuration: drafts, decisions, undo, and everything that is refused.

use gpuledger::allocation::{
    Account, Budget, BudgetOf, BudgetPeriod, Condition, Configuration, Edit, Entry, FixedShare, Months,
    Project, Recipient, Rule, SharedCostPool, Split, Target, Team, Test,
};
use gpuledger::audit::Actor;
use gpuledger::changes::{self, About, Document as _, Kind, Outcome, Status};
use gpuledger::report::{self, EventOf, Events};
use sqlx::{PgConnection, PgPool};

use crate::support::configuration::{change, pool, rule, team, to_pool, to_team, write};
use crate::support::now;

async fn draft(db: &mut PgConnection, entries: Vec<Entry>) -> Outcome {
    let edits = changes::additions(db, entries).await.unwrap();
    let by = Actor::person("ada@example.com", "test");
    changes::draft::<Configuration>(db, edits, None, "a change", by.at(now())).await.unwrap()
}

/// What a draft of these entries is refused for.
async fn refused(db: &mut PgConnection, entries: Vec<Entry>) -> String {
    let before = Configuration::as_of(db, i64::MAX - 1).await.unwrap();
    let found = match draft(db, entries).await {
        Outcome::Refused(problems) => {
            let lines = problems.iter().map(|problem| format!("{}: {}", problem.of, problem.message));
            lines.collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(Configuration::as_of(db, i64::MAX - 1).await.unwrap(), before);
    assert!(report::events(db, Events::default(), 0, 10).await.unwrap().0.is_empty());
    found
}

fn part_of(handle: &str, parent: &str) -> Entry {
    Entry::Team(Team {
        handle: handle.into(),
        name: handle.into(),
        parent: Some(parent.into()),
        ..Team::default()
    })
}

fn shares(of: &[(&str, &str)]) -> Split {
    let share = |(team, share): &(&str, &str)| FixedShare {
        to: Recipient::Team((*team).into()),
        share: share.parse().unwrap(),
    };
    Split::Fixed { shares: of.iter().map(share).collect() }
}

fn handing_to(handle: &str, pools: &[&str]) -> Entry {
    let pools = pools.iter().map(|pool| (*pool).to_owned()).collect();
    Entry::Pool(SharedCostPool { pools, ..pool(handle, Split::DirectCost) })
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_makes_no_sense_is_refused_with_its_reason(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let pattern = |text: &str| {
        Entry::Rule(Rule {
            name: "Broken".into(),
            place: 1,
            when: vec![Condition {
                field: "service".parse().unwrap(),
                not: false,
                test: Test::Matches(text.into()),
            }],
            to: Target::Account,
            months: Months::default(),
        })
    };
    let gone = Entry::Team(Team {
        handle: "vision".into(),
        name: "Vision".into(),
        months: Months { first: None, last: Some("2026-06".parse().unwrap()) },
        ..Team::default()
    });
    let spelled = |handle: &str, spelling: &str| {
        Entry::Team(Team {
            handle: handle.into(),
            name: handle.into(),
            spellings: vec![spelling.into()],
            ..Team::default()
        })
    };
    let budget = |amount: &str, currency: &str, of: BudgetOf| {
        Entry::Budget(Budget {
            of,
            period: BudgetPeriod::Month,
            months: Months::from("2026-09".parse().unwrap()),
            amount: amount.parse().unwrap(),
            currency: gpuledger::money::Currency::exactly(currency),
            thresholds: vec![80, 100],
        })
    };
    let of_vision = || BudgetOf::Team("vision".into());
    let cases: Vec<(Vec<Entry>, &str)> = vec![
        (vec![pattern("team-(a|b")], "rule Broken: \"team-(a|b\" is no pattern: unclosed group"),
        (vec![pattern("")], "rule Broken: Service: enter a pattern"),
        (vec![rule(1, "service", " ", Target::Account)], "Service: enter a value"),
        (
            vec![team("a"), team("b"), Entry::Pool(pool("tax", shares(&[("a", "0.5"), ("b", "0.49")])))],
            "shared costs tax: the shares total 99%; enter shares that total 100%",
        ),
        (
            vec![team("a"), Entry::Pool(pool("tax", shares(&[("a", "1"), ("b", "0")])))],
            "shared costs tax: there is no team b",
        ),
        (vec![Entry::Pool(pool("tax", shares(&[])))], "shared costs tax: enter fixed shares"),
        (
            vec![
                team("a"),
                Entry::Pool(SharedCostPool {
                    without: vec!["a".into()],
                    ..pool("tax", shares(&[("a", "1")]))
                }),
            ],
            "shared costs tax: team a is excluded and has a share",
        ),
        (
            vec![
                team("a"),
                Entry::Pool(pool("fees", Split::Evenly)),
                Entry::Pool(SharedCostPool {
                    pools: vec!["fees".into()],
                    ..pool("tax", shares(&[("a", "1")]))
                }),
            ],
            "shared costs tax: shared costs fees take part and have no share",
        ),
        (
            vec![handing_to("a", &["b"]), handing_to("b", &["a"])],
            "shared costs a: a loop of shared costs is not allowed: a → b → a\nshared costs b: a loop of shared costs is not allowed: b → a → b",
        ),
        (vec![handing_to("a", &["a"])], "shared costs a: a loop of shared costs is not allowed: a → a"),
        (
            vec![handing_to("a", &["b"]), handing_to("b", &["c"]), handing_to("c", &[])],
            "shared costs a: at most two levels of shared costs are allowed: a → b → c → teams",
        ),
        (
            vec![handing_to("a", &["b"]), handing_to("b", &["c"]), handing_to("c", &["a"])],
            "shared costs a: a loop of shared costs is not allowed: a → b → c → a\nshared costs b: a loop of shared costs is not allowed: b → c → a → b",
        ),
        (
            vec![handing_to("a", &["b"]), handing_to("b", &["c", "d"]), handing_to("c", &["b"])],
            "shared costs b: a loop of shared costs is not allowed: b → c → b\nshared costs b: there are no shared costs d\nshared costs c: a loop of shared costs",
        ),
        (
            vec![gone.clone(), rule(1, "service", "EC2", to_team("vision"))],
            "rule service EC2: target: there is no team vision in 2026-07",
        ),
        (vec![rule(1, "service", "EC2", to_team("vision"))], "target: there is no team vision"),
        (vec![rule(1, "service", "EC2", to_pool("tax"))], "target: there are no shared costs tax"),
        (vec![team("vision"), team("vision")], "team Vision: there are two vision"),
        (vec![spelled("a", "CV "), spelled("b", "cv")], "means a and b"),
        (vec![team("a"), spelled("b", "A")], "means a and b"),
        (
            vec![part_of("a", "b"), part_of("b", "c"), part_of("c", "a")],
            "team a: part of: a team cannot be part of itself (a → b → c → a)",
        ),
        (vec![part_of("a", "nobody")], "team a: part of: there is no team nobody"),
        (
            vec![Entry::Team(Team { handle: "a b".into(), name: "x".into(), ..Team::default() })],
            "handle \"a b\": use letters",
        ),
        (vec![Entry::Team(Team::default())], "enter a name"),
        (
            vec![Entry::Project(Project {
                handle: "p".into(),
                name: "P".into(),
                team: Some("x".into()),
                ..Project::default()
            })],
            "project P: there is no team x",
        ),
        (
            vec![Entry::Account(Account {
                account: "123".into(),
                team: "x".into(),
                months: Months::default(),
            })],
            "account 123: there is no team x",
        ),
        (
            vec![Entry::Team(Team {
                handle: "a".into(),
                name: "A".into(),
                months: Months {
                    first: Some("2026-09".parse().unwrap()),
                    last: Some("2026-08".parse().unwrap()),
                },
                ..Team::default()
            })],
            "team A: the last month is before the first (2026-09 to 2026-08)",
        ),
        (
            vec![team("vision"), budget("0", "USD", of_vision())],
            "budget of team vision: enter an amount above zero",
        ),
        (vec![budget("5", "USD", of_vision())], "budget of team vision: there is no team vision"),
        (
            vec![team("vision"), budget("5", "tokens", of_vision())],
            "budget of team vision: currency tokens: enter a code",
        ),
        (
            vec![team("vision"), budget("5", "USD", of_vision()), budget("6", "USD", of_vision())],
            "budget of team vision: two budgets cover the same months",
        ),
    ];
    for (entries, expected) in cases {
        let found = refused(&mut db, entries).await;
        assert!(found.contains(expected), "{found}\nlacks\n{expected}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_draft_changes_nothing_until_it_is_applied_and_undo_goes_back(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let by = Actor::person("ada@example.com", "test");
    let Outcome::Waits(id) = draft(&mut db, vec![team("vision")]).await else { panic!() };
    assert!(!Configuration::as_of(&mut db, 0).await.unwrap().has_teams());

    assert_eq!(
        changes::apply::<Configuration>(&mut db, id, Some("new"), by.at(now())).await.unwrap(),
        Outcome::At { change: id, version: 1 }
    );
    assert!(Configuration::as_of(&mut db, 1).await.unwrap().has_teams());
    assert!(!Configuration::as_of(&mut db, 0).await.unwrap().has_teams());
    assert_eq!(
        changes::apply::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap(),
        Outcome::Decided
    );

    assert_eq!(
        changes::undo::<Configuration>(&mut db, id, Some("too early"), by.at(now())).await.unwrap(),
        Outcome::At { change: id, version: 2 }
    );
    assert!(!Configuration::as_of(&mut db, 2).await.unwrap().has_teams());
    assert!(Configuration::as_of(&mut db, 1).await.unwrap().has_teams());
    assert_eq!(
        changes::undo::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap(),
        Outcome::Decided
    );
    let change = changes::find::<Configuration>(&mut db, id).await.unwrap().unwrap().outline;
    assert_eq!((change.status, change.decision_reason.as_deref()), (Status::Undone, Some("new")));
    assert_eq!((change.applied_version, change.undone_version), (Some(1), Some(2)));
    assert_eq!(change.undone_by.as_deref(), Some("ada@example.com"));
    assert_eq!((change.undo_reason.as_deref(), change.undone_at.is_some()), (Some("too early"), true));
    // It stands in the history twice: what was done, and later that it was undone.
    let (lines, count) = report::events(&mut db, Events::default(), 0, 10).await.unwrap();
    assert_eq!((lines.iter().map(|line| line.is_undo).collect::<Vec<_>>(), count), (vec![true, false], 2));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn draft_in_conflict_is_not_applied(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let by = Actor::person("ada@example.com", "test");
    let ids = write(&mut db, vec![team("vision")]).await;
    let renamed = |name: &str| {
        let after = Team { handle: "vision".into(), name: name.into(), ..Team::default() };
        vec![Edit { id: ids[0], before: Some(team("vision")), after: Some(Entry::Team(after)) }]
    };
    let drafted = changes::draft::<Configuration>(&mut db, renamed("Sight"), None, "rename", by.at(now()))
        .await
        .unwrap();
    let Outcome::Waits(late) = drafted else { panic!("{drafted:?}") };
    let first = change(&mut db, renamed("Seeing")).await;
    let outcome = changes::apply::<Configuration>(&mut db, late, None, by.at(now())).await.unwrap();
    assert_eq!(outcome, Outcome::Conflict(vec!["team Sight".into()]));
    // Undone first, it can be.
    assert!(matches!(
        changes::undo::<Configuration>(&mut db, first, None, by.at(now())).await.unwrap(),
        Outcome::At { .. }
    ));
    assert!(matches!(
        changes::apply::<Configuration>(&mut db, late, None, by.at(now())).await.unwrap(),
        Outcome::At { .. }
    ));
    let outcome = changes::undo::<Configuration>(&mut db, first, None, by.at(now())).await.unwrap();
    assert_eq!(outcome, Outcome::Decided);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn undoing_what_others_stand_on_is_refused(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let by = Actor::person("ada@example.com", "test");
    let Outcome::Waits(id) = draft(&mut db, vec![team("vision")]).await else { panic!() };
    changes::apply::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap();
    write(&mut db, vec![rule(1, "service", "EC2", to_team("vision"))]).await;
    let outcome = changes::undo::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap();
    let Outcome::Refused(problems) = outcome else { panic!("{outcome:?}") };
    assert!(problems[0].message.contains("there is no team vision"), "{problems:?}");
    assert!(Configuration::as_of(&mut db, 1000).await.unwrap().has_teams());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_draft_waits_for_a_decision_once_it_is_proposed(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let by = Actor::person("fay@example.com", "test");
    let ids = changes::entry_ids(&mut db, 1).await.unwrap();
    let edits = vec![Edit { id: ids[0], before: None, after: Some(team("vision")) }];
    let about = About { summary: "New team", reason: Some("it begins") };
    let Outcome::Waits(id) =
        changes::draft::<Configuration>(&mut db, edits, None, about, by.at(now())).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(changes::waiting(&mut db, Some(Kind::Allocation)).await.unwrap(), 0);
    let outcome = changes::propose::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap();
    assert_eq!(outcome, Outcome::Waits(id));
    assert_eq!(changes::waiting(&mut db, Some(Kind::Allocation)).await.unwrap(), 1);
    let proposed = Events { status: Some(Status::Proposed), author: Some("fay@example.com"), kind: None };
    let (lines, _) = report::events(&mut db, proposed, 0, 10).await.unwrap();
    let EventOf::Change { change } = &lines[0].of else { panic!("{lines:?}") };
    assert_eq!(change.reason.as_deref(), Some("it begins"), "a reason that was given stays");
    let (others, count) =
        report::events(&mut db, Events { author: Some("ada@example.com"), ..Events::default() }, 0, 10)
            .await
            .unwrap();
    assert_eq!((others.len(), count), (0, 0));

    let ada = Actor::person("ada@example.com", "test");
    assert!(changes::discard(&mut db, Kind::Allocation, id, Some("not yet"), ada.at(now())).await.unwrap());
    let outcome = changes::propose::<Configuration>(&mut db, id, None, by.at(now())).await.unwrap();
    assert_eq!(outcome, Outcome::Decided);
    let change = changes::find::<Configuration>(&mut db, id).await.unwrap().unwrap().outline;
    assert_eq!((change.status, change.decision_reason.as_deref()), (Status::Discarded, Some("not yet")));
    assert_eq!(changes::waiting(&mut db, Some(Kind::Allocation)).await.unwrap(), 0);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_draft_that_changes_nothing_is_none(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let by = Actor::person("ada@example.com", "test");
    let same = Edit { id: 1, before: Some(team("a")), after: Some(team("a")) };
    let drafted =
        changes::draft::<Configuration>(&mut db, vec![same], None, "nothing", by.at(now())).await.unwrap();
    assert_eq!(drafted, Outcome::Nothing);
}
