//! Whose a charge is, as pages show it.

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{Edit, Entry, FixedShare, Months, Recipient, Split, Target, Team};
use gpuledger::changes::Document as _;
use gpuledger::report::{Answers, CostMetric, Filter, Grouping, Question, Spend};
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use crate::support::configuration::{change, pool, rule, team, to_pool, write};
use crate::support::{Focus, TestLedger};

fn line(month: &str, sub_account: &str, service: &str, category: &str, cost: &str, tags: &str) -> String {
    let next: u32 = month[5..].parse::<u32>().unwrap() + 1;
    let tags = tags.replace('"', "\"\"");
    format!(
        "NeoCloud,acme,{sub_account},{month}-01T00:00:00Z,2026-{next:02}-01T00:00:00Z,{month}-05T10:00:00Z,\
         {month}-05T11:00:00Z,{category},Standard,{service},Compute,sku,eu-1,,,1,Hours,{cost},{cost},{cost},{cost},USD,\
         \"{tags}\",NeoCloud,NeoCloud"
    )
}

/// A month: vision 60 in two spellings, speech 20, support 9, untagged 11.
pub fn month(month: &str) -> Focus {
    Focus::new()
        .line(&line(month, "s1", "GPU", "Usage", "40", r#"{"team":"Vision","experiment":"Exp-1"}"#))
        .line(&line(month, "s1", "GPU", "Usage", "20", r#"{"team":" vision ","experiment":"exp-1"}"#))
        .line(&line(month, "s2", "GPU", "Usage", "20", r#"{"team":"speech"}"#))
        .line(&line(month, "s2", "Support", "Purchase", "9", "{}"))
        .line(&line(month, "s3", "Storage", "Usage", "11", "{}"))
}

async fn ask(
    db: &mut PgConnection,
    period: &str,
    by: &str,
    filters: &[(&str, &str)],
    viewer: Viewer,
) -> Spend {
    let filters = filters
        .iter()
        .map(|(dimension, value)| Filter::keep(dimension.parse().unwrap(), vec![(*value).to_owned()]))
        .collect();
    let question = Question {
        by: by.parse::<Grouping>().unwrap(),
        cost: CostMetric::Billed,
        filters,
        ..Question::of(period.parse().unwrap(), viewer)
    };
    Answers::default().priced_spend(db, &question).await.unwrap()
}

fn groups(spend: &Spend) -> Vec<(&str, String)> {
    spend
        .groups
        .iter()
        .map(|group| (group.label.as_str(), group.cost.amount.normalize().to_string()))
        .collect()
}

async fn by(db: &mut PgConnection, by: &str) -> Vec<(String, String)> {
    let spend = ask(db, "2026-09", by, &[], Viewer::Everything).await;
    let sum: gpuledger::money::Decimal = spend.groups.iter().map(|group| group.cost.amount).sum();
    assert_eq!(sum, spend.total.as_ref().unwrap().amount);
    groups(&spend).into_iter().map(|(label, cost)| (label.to_owned(), cost)).collect()
}

fn strings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

async fn organization(db: &mut PgConnection) {
    write(
        db,
        vec![
            team("vision"),
            team("speech"),
            Entry::Pool(pool("support", Split::DirectCost)),
            rule(1, "service", "Support", to_pool("support")),
            rule(2, "", "", Target::Labels),
        ],
    )
    .await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rules_attribute_charges_and_pools_are_divided(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(by(&mut db, "team").await, strings(&[("Unallocated", "100")]));

    organization(&mut db).await;
    let by_team = [("Vision", "66.75"), ("Speech", "22.25"), ("Unallocated", "11")];
    assert_eq!(by(&mut db, "team").await, strings(&by_team));
    // What is shared belongs to no experiment, and neither does what is unallocated.
    assert_eq!(by(&mut db, "experiment").await, strings(&[("exp-1", "60"), ("No experiment", "40")]));
    assert_eq!(by(&mut db, "pool").await, strings(&[("Not shared", "91"), ("support", "9")]));

    let vision = ask(&mut db, "2026-09", "service", &[("team", "vision")], Viewer::Everything).await;
    assert_eq!(groups(&vision), [("GPU", "60".to_owned()), ("Support", "6.75".to_owned())]);
    let direct =
        ask(&mut db, "2026-09", "service", &[("team", "vision"), ("pool", "")], Viewer::Everything).await;
    assert_eq!(groups(&direct), [("GPU", "60".to_owned())]);
    let unallocated = ask(&mut db, "2026-09", "service", &[("team", "")], Viewer::Everything).await;
    assert_eq!(groups(&unallocated), [("Storage", "11".to_owned())]);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_their_teams_and_of_shared_costs_what_they_come_to(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let lead = || Viewer::Teams(vec!["research".into()]);
    organization(&mut db).await;
    write(&mut db, vec![team("research")]).await;
    let nothing = ask(&mut db, "2026-09", "service", &[], lead()).await;
    assert!(nothing.groups.iter().all(|group| group.cost.amount.is_zero()), "{:?}", nothing.groups);

    // Vision becomes a part of research.
    let configuration = gpuledger::allocation::Configuration::as_of(&mut db, 1000).await.unwrap();
    let (id, before) = configuration
        .entries
        .iter()
        .find(|(_, entry)| matches!(entry, Entry::Team(team) if team.handle == "vision"))
        .map(|(id, entry)| (*id, entry.clone()))
        .unwrap();
    let after = Entry::Team(Team {
        handle: "vision".into(),
        name: "Vision".into(),
        parent: Some("research".into()),
        ..Team::default()
    });
    change(&mut db, vec![Edit { id, before: Some(before), after: Some(after) }]).await;

    let theirs = ask(&mut db, "2026-09", "service", &[], lead()).await;
    assert_eq!(groups(&theirs), [("GPU", "60".to_owned()), ("Shared: support", "6.75".to_owned())]);
    let by_account = ask(&mut db, "2026-09", "account", &[], lead()).await;
    assert_eq!(groups(&by_account), [("s1", "60".to_owned()), ("Shared: support", "6.75".to_owned())]);
    // In which account support was billed is not found out by trying.
    let tried = ask(&mut db, "2026-09", "service", &[("account", "s2")], lead()).await;
    assert!(tried.groups.is_empty(), "{:?}", tried.groups);
    let other = ask(&mut db, "2026-09", "service", &[("team", "speech")], lead()).await;
    assert!(other.groups.is_empty(), "{:?}", other.groups);
    let unallocated = ask(&mut db, "2026-09", "service", &[("team", "")], lead()).await;
    assert!(unallocated.groups.is_empty(), "{:?}", unallocated.groups);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_reorganization_leaves_the_months_before_as_they_were(db: PgPool) {
    let ledger = TestLedger::new(db);
    for name in ["2026-08", "2026-09"] {
        ledger.deliver(&format!("{name}.csv"), &month(name)).await;
    }
    let mut db = ledger.db.acquire().await.unwrap();
    let until = |last: &str| Months { first: None, last: Some(last.parse().unwrap()) };
    let old =
        Team { handle: "vision".into(), name: "Vision".into(), months: until("2026-08"), ..Team::default() };
    let new = Team {
        handle: "perception".into(),
        name: "Perception".into(),
        spellings: vec!["vision".into(), "speech".into()],
        months: Months::from("2026-09".parse().unwrap()),
        ..Team::default()
    };
    let speech =
        Team { handle: "speech".into(), name: "Speech".into(), months: until("2026-08"), ..Team::default() };
    write(
        &mut db,
        vec![Entry::Team(old), Entry::Team(new), Entry::Team(speech), rule(1, "", "", Target::Labels)],
    )
    .await;
    let august = ask(&mut db, "2026-08", "team", &[], Viewer::Everything).await;
    assert_eq!(groups(&august)[..2], [("Vision", "60".to_owned()), ("Unallocated", "20".to_owned())]);
    let both = ask(&mut db, "2026-08..2026-09", "team", &[], Viewer::Everything).await;
    let expected = [("Perception", "80"), ("Vision", "60"), ("Unallocated", "40"), ("Speech", "20")];
    assert_eq!(groups(&both), expected.map(|(label, cost)| (label, cost.to_owned())));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_as_of_an_earlier_step_allocates_as_it_did_then(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let before = ask(&mut db, "2026-09", "team", &[], Viewer::Everything).await;

    let share = |team: &str, share: &str| FixedShare {
        to: Recipient::Team(team.into()),
        share: share.parse().unwrap(),
    };
    let halves = Split::Fixed { shares: vec![share("vision", "0.5"), share("speech", "0.5")] };
    write(
        &mut db,
        vec![Entry::Pool(pool("storage", halves)), rule(0, "service", "Storage", to_pool("storage"))],
    )
    .await;
    assert_eq!(by(&mut db, "team").await, strings(&[("Vision", "72.25"), ("Speech", "27.75")]));

    let question = Question {
        by: Grouping::Team,
        cost: CostMetric::Billed,
        sequence: Some(before.sequence),
        ..Question::of("2026-09".parse().unwrap(), Viewer::Everything)
    };
    let again = Answers::default().priced_spend(&mut db, &question).await.unwrap();
    assert_eq!(groups(&again), groups(&before));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn sums_that_pages_read_and_that_are_wrong_are_found(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let broken = async |db: &mut PgConnection| {
        let equations = gpuledger::allocation::check(&mut *db).await.unwrap();
        let broken = equations.into_iter().filter(|equation| !equation.holds);
        broken.filter_map(|equation| Some(equation.of.split_once(" by ")?.1.to_owned())).collect::<Vec<_>>()
    };
    assert!(broken(&mut db).await.is_empty());
    // Each changed and changed back.
    for (sums, changes, kind) in [
        ("keyed_costs", ["list_cost = list_cost + 0.01", "list_cost = list_cost - 0.01"], "key"),
        (
            "attributed_costs",
            ["billed_cost = billed_cost + 1", "billed_cost = billed_cost - 1"],
            "owner, by month",
        ),
        ("attributed_costs", ["is_credit = not is_credit"; 2], "owner, by month"),
        ("attributed_days", ["day = day + 1", "day = day - 1"], "owner, by day"),
        ("attributed_costs", ["is_owned = not is_owned"; 2], "owner, by month"),
        ("attributed_days", ["is_owned = not is_owned"; 2], "owner, by day"),
        ("charged_days", ["is_accelerated = not is_accelerated"; 2], "who is charged, by day"),
        ("charged_days", ["is_owned = not is_owned"; 2], "who is charged, by day"),
        ("item_costs", ["charges = charges + 1", "charges = charges - 1"], "who is charged, by item"),
        ("item_costs", ["is_credit = not is_credit"; 2], "who is charged, by item"),
        (
            "item_costs",
            ["metered_quantity = metered_quantity + 1", "metered_quantity = metered_quantity - 1"],
            "who is charged, by item",
        ),
        ("item_days", ["day = day + 1", "day = day - 1"], "who is charged, by item and day"),
        ("item_days", ["is_credit = not is_credit"; 2], "who is charged, by item and day"),
        ("item_days", ["scope_id = -scope_id"; 2], "who is charged, by item and day"),
    ] {
        let set = |what: &str| AssertSqlSafe(format!("update {sums} set {what} where effective_cost > 20"));
        sqlx::query(set(changes[0])).execute(&mut *db).await.unwrap();
        assert_eq!(broken(&mut db).await, [kind], "{sums} set {}", changes[0]);
        sqlx::query(set(changes[1])).execute(&mut *db).await.unwrap();
        assert!(broken(&mut db).await.is_empty(), "{sums} set {}", changes[1]);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_nobody_used_for_a_month_is_forgotten_and_made_again(db: PgPool) {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", &month("2026-09")).await;
    let mut db = ledger.db.acquire().await.unwrap();
    organization(&mut db).await;
    let before = ask(&mut db, "2026-09", "team", &[], Viewer::Everything).await;
    write(&mut db, vec![team("other")]).await;
    let now = by(&mut db, "team").await;
    let kept = ["attribution_sets", "attributed_months", "keyed_months", "pool_divisions"];
    for table in kept {
        let aged = format!("update {table} set used_at = now() - interval '60 days'");
        sqlx::query(AssertSqlSafe(aged)).execute(&mut *db).await.unwrap();
    }
    // Who asks uses it.
    assert_eq!(by(&mut db, "team").await, now);
    gpuledger::allocation::forget(&mut db).await.unwrap();
    for table in kept {
        let count = format!(
            "select count(*), count(*) filter (where used_at < now() - interval '30 days') from {table}"
        );
        let (left, unused): (i64, i64) =
            sqlx::query_as(AssertSqlSafe(count)).fetch_one(&mut *db).await.unwrap();
        assert_eq!((left > 0, unused), (true, 0), "{table}");
    }
    let sets: i64 =
        sqlx::query_scalar("select count(*) from attribution_sets").fetch_one(&mut *db).await.unwrap();
    assert_eq!(sets, 1);
    for table in ["attributed_costs", "attributed_days", "charged_days", "item_costs", "item_days"] {
        let of_nobody = format!(
            "select count(*) from {table} where part_id not in (select part_id from attributed_parts)"
        );
        let left: i64 = sqlx::query_scalar(AssertSqlSafe(of_nobody)).fetch_one(&mut *db).await.unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert_eq!(by(&mut db, "team").await, now);
    let question = Question {
        by: Grouping::Team,
        cost: CostMetric::Billed,
        sequence: Some(before.sequence),
        ..Question::of("2026-09".parse().unwrap(), Viewer::Everything)
    };
    let again = Answers::default().priced_spend(&mut db, &question).await.unwrap();
    assert_eq!(groups(&again), groups(&before));
}
