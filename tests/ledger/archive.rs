//! Imports that are active nowhere lose their rows after a while, and get them back from their files.

use chrono::{DateTime, Duration, Utc};
use gpuledger::accounts::Viewer;
use gpuledger::allocation::Target;
use gpuledger::audit::Actor;
use gpuledger::generate::{self, Format, Plan};
use gpuledger::ledger::{
    self, Archived, Decision, LoadedAgain, Progress, Reload, Source, Undone, WhenUnsure,
};
use gpuledger::report::{self, Answers, ChangesBy, CostMetric, Grouping, Page, Question};
use gpuledger::storage::{self, Archiving};
use sqlx::{Acquire as _, PgConnection, PgPool};

use crate::support::configuration::{rule, team, write};
use crate::support::{Focus, TestLedger, now};

/// A bill of September with something of everything.
fn bill(ledger: &TestLedger, rows: u64, seed: u64) -> std::path::PathBuf {
    let file = ledger.folder.path().join(format!("{seed}.csv"));
    let plan = Plan::of_fleet(Format::AwsCur, rows, "2026-09".parse().unwrap(), seed);
    generate::write(&plan, &mut std::io::BufWriter::new(std::fs::File::create(&file).unwrap())).unwrap();
    file
}

/// Two imports of a month, the second of which replaces the first, and a team.
async fn replaced(db: PgPool, rows: u64) -> TestLedger {
    let ledger = TestLedger::new(db);
    write(&mut ledger.db.acquire().await.unwrap(), vec![team("vision"), rule(1, "", "", Target::Labels)])
        .await;
    for seed in [1, 2] {
        let file = bill(&ledger, rows, seed);
        ledger.import(&[file], Some(Decision::Replace), WhenUnsure::Wait).await;
    }
    ledger
}

/// As a server does then.
async fn at(ledger: &TestLedger, now: DateTime<Utc>) {
    let mut db = ledger.db.acquire().await.unwrap();
    storage::archive(&mut db, &ledger.originals, now).await.unwrap();
}

/// As a server does some minutes after the hours that are set, which are none.
async fn archive(ledger: &TestLedger) {
    let mut db = ledger.db.acquire().await.unwrap();
    let at_once = Archiving { after_hours: Some(0), ..Archiving::default() };
    storage::set_archiving(&mut db, at_once, now()).await.unwrap();
    for minutes in [1, 4] {
        at(ledger, now() + Duration::minutes(minutes)).await;
    }
}

/// As an administrator does with a click.
async fn archive_all(db: &mut PgConnection, now: DateTime<Utc>) -> Vec<i64> {
    storage::archive_since(db, now, Actor::person("ada@example.com", "::1").at(now)).await.unwrap()
}

/// Rows of a delivery by table.
async fn rows_of(ledger: &TestLedger, delivery: i64) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in
        ["charges", "monthly_costs", "daily_costs", "daily_resources", "row_identities", "monthly_totals"]
    {
        let count = format!("select count(*) from {table} where delivery_id = $1");
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(count)).bind(delivery);
        counts.push(count.fetch_one(&ledger.db).await.unwrap());
    }
    counts
}

fn questions(sequence: i64) -> Vec<Question> {
    let question =
        Question { sequence: Some(sequence), ..Question::of("2026-09".parse().unwrap(), Viewer::Everything) };
    let mut questions: Vec<Question> = Grouping::FIXED
        .into_iter()
        .chain([Grouping::Tag("team".into())])
        .map(|by| Question { by, ..question.clone() })
        .collect();
    questions.push(Question { viewer: Viewer::Teams(vec!["vision".into()]), ..question });
    questions
}

/// The answers of each question, or the import that is archived.
async fn ask(ledger: &TestLedger, answers: &Answers, sequence: i64) -> Result<Vec<String>, i64> {
    let mut db = ledger.db.acquire().await.unwrap();
    let mut found = Vec::new();
    for question in questions(sequence) {
        match answers.spend(&mut db, &question).await {
            Ok(spend) => found.push(serde_json::to_string(&spend).unwrap()),
            Err(report::Error::Database(error)) => {
                return Err(Archived::of(&error).unwrap_or_else(|| panic!("{error:?}")).delivery);
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    Ok(found)
}

async fn load_again(ledger: &TestLedger, delivery: i64) -> LoadedAgain {
    load_again_from(ledger, delivery, &[]).await
}

async fn load_again_from(ledger: &TestLedger, delivery_id: i64, uploaded: &[Source]) -> LoadedAgain {
    let TestLedger { db: pool, originals, .. } = ledger;
    let (progress, now) = (&Progress::default(), now());
    Reload { pool, originals, delivery_id, uploaded, progress, now }.run().await.unwrap()
}

async fn try_undo(ledger: &TestLedger, delivery: i64) -> Undone {
    let mut db = ledger.db.acquire().await.unwrap();
    ledger::undo(&mut db, delivery, "test", now()).await.unwrap()
}

/// In tables that imports share, and in tables of their own.
async fn is_archived_and_loaded_again(db: PgPool, rows: u64) {
    let ledger = replaced(db, rows).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let now = ledger::sequence(&mut db).await.unwrap();
    let (answers, before) = (Answers::default(), rows_of(&ledger, 1).await);
    let [then, today] = [now - 1, now];
    let asked = [ask(&ledger, &answers, then).await.unwrap(), ask(&ledger, &answers, today).await.unwrap()];
    assert_ne!(asked[0], asked[1]);
    let changed =
        report::changes(&mut db, 2, ChangesBy::Service, CostMetric::Billed, Page { first: 0, size: 50 });
    let changed = serde_json::to_string(&changed.await.unwrap()).unwrap();

    archive(&ledger).await;
    assert_eq!(rows_of(&ledger, 1).await, [0, 0, 0, 0, 0, before[5]]);
    assert!(before.iter().all(|rows| *rows > 0), "{before:?}");
    ledger.assert_balanced().await;
    for answers in [&answers, &Answers::default()] {
        assert_eq!(ask(&ledger, answers, then).await, Err(1), "fewer rows are no answer");
        assert_eq!(ask(&ledger, answers, today).await.as_ref(), Ok(&asked[1]));
    }
    // What it changed is decided by service without its rows, and by key not at all.
    let page = || Page { first: 0, size: 50 };
    let again = report::changes(&mut db, 2, ChangesBy::Service, CostMetric::Billed, page()).await.unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), changed);
    let by_key = report::changes(&mut db, 2, ChangesBy::Key, CostMetric::Billed, page()).await.unwrap_err();
    assert_eq!(Archived::of(&by_key), Some(Archived { delivery: 1 }));
    assert_eq!(try_undo(&ledger, 2).await, Undone::Archived(vec![1]));
    assert_eq!(ledger::sequence(&mut db).await.unwrap(), today, "nothing happened");

    let loaded = load_again(&ledger, 1).await;
    assert!(matches!(loaded, LoadedAgain::Done), "{loaded:?}");
    assert_eq!(rows_of(&ledger, 1).await, before);
    ledger.assert_balanced().await;
    for answers in [&answers, &Answers::default()] {
        assert_eq!(ask(&ledger, answers, then).await.as_ref(), Ok(&asked[0]));
    }
    assert!(matches!(load_again(&ledger, 1).await, LoadedAgain::Already));
    assert!(matches!(try_undo(&ledger, 2).await, Undone::At(_)));
    ledger.assert_balanced().await;
    // Now the second one is undone, and archived in its turn.
    archive(&ledger).await;
    assert_eq!(rows_of(&ledger, 2).await[..5], [0; 5]);
    assert_eq!(rows_of(&ledger, 1).await, before);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn replaced_import_loses_its_rows_and_gets_them_back(db: PgPool) {
    is_archived_and_loaded_again(db, 3_000).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn replaced_large_import_loses_its_tables_and_gets_them_back(db: PgPool) {
    is_archived_and_loaded_again(db, 22_000).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn imports_that_are_active_or_stated_as_final_keep_their_rows(db: PgPool) {
    let ledger = TestLedger::new(db);
    let hour = |cost: &str| Focus::new().hour("acme", "s1", "2026-09-05T10", cost, "vision");
    // Two parts of a month, of which both are active; and a month that was final and is restated.
    ledger.deliver("first.csv", hour("10")).await;
    let second = ledger.file("second.csv", hour("7"));
    ledger.import(&[second], Some(Decision::Add), WhenUnsure::Wait).await;
    let august = |cost: &str| Focus::new().hour("acme", "s1", "2026-08-05T10", cost, "vision");
    ledger.deliver("open.csv", august("1")).await;
    ledger.deliver("final.csv", august("2").invoiced()).await;
    let restated = ledger.file("restated.csv", august("3").invoiced());
    ledger.import(&[restated], Some(Decision::Replace), WhenUnsure::Wait).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let in_an_hour = now() + Duration::hours(1);
    assert_eq!(storage::archivable(&mut db, in_an_hour).await.unwrap(), [3], "replaced before it was final");
    assert!(storage::archivable(&mut db, now() - Duration::hours(1)).await.unwrap().is_empty());
    archive(&ledger).await;
    for delivery in [1, 2, 4, 5] {
        assert_eq!(rows_of(&ledger, delivery).await[0], 1, "{delivery}");
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rows_that_are_not_those_that_were_imported_are_not_loaded_again(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    archive(&ledger).await;
    for (more, back) in [
        (
            "update delivery_totals set billed_cost = billed_cost + 0.01",
            "update delivery_totals set billed_cost = billed_cost - 0.01",
        ),
        // Hours that were counted otherwise.
        (
            "update daily_totals set metered_quantity = metered_quantity + 1",
            "update daily_totals set metered_quantity = metered_quantity - 1",
        ),
    ] {
        let change = |sql: &str| {
            sqlx::query(sqlx::AssertSqlSafe(format!("{sql} where delivery_id = 1"))).execute(&ledger.db)
        };
        change(more).await.unwrap();
        let LoadedAgain::Failed(message) = load_again(&ledger, 1).await else { panic!("{more}") };
        assert!(message.contains("reads") && message.contains("Import the file again"), "{message}");
        assert_eq!(rows_of(&ledger, 1).await[..5], [0; 5]);
        assert_eq!(try_undo(&ledger, 2).await, Undone::Archived(vec![1]));
        change(back).await.unwrap();
    }
    assert!(matches!(load_again(&ledger, 1).await, LoadedAgain::Done));
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_left_of_a_removal_that_broke_off_is_not_taken_for_whole(db: PgPool) {
    let ledger = replaced(db, 22_000).await;
    let before = rows_of(&ledger, 1).await;
    let mut db = ledger.db.acquire().await.unwrap();
    archive_all(&mut db, now() + Duration::minutes(1)).await;
    // Somebody reads one of its tables for long: those before it are gone, the others stay.
    let mut reader = ledger.db.acquire().await.unwrap();
    let mut reader = reader.begin().await.unwrap();
    sqlx::query("select from monthly_costs_of_1_2026_09 limit 1").execute(&mut *reader).await.unwrap();
    let later = now() + Duration::minutes(10);
    at(&ledger, later).await;
    let tables = "select count(*) from pg_class where relname ~ '_of_1_2026_09$' and relkind = 'r'";
    assert_eq!(sqlx::query_scalar::<_, i64>(tables).fetch_one(&mut *db).await.unwrap(), 1);
    let LoadedAgain::Failed(message) = load_again(&ledger, 1).await else { panic!("its charges are gone") };
    assert!(message.contains("Try again in a moment"), "{message}");
    assert_eq!(try_undo(&ledger, 2).await, Undone::Archived(vec![1]));
    reader.rollback().await.unwrap();
    at(&ledger, later).await;
    assert_eq!(rows_of(&ledger, 1).await[..5], [0; 5]);
    // As a server leaves it that is killed while it loads rows again.
    for statement in [
        "create table charges_of_1_2026_09 (like charges including all)",
        "insert into row_identities (delivery_id, part, identities) values (1, 1, '{}')",
        "update deliveries set needs_cleaning = true where delivery_id = 1",
    ] {
        sqlx::query(statement).execute(&mut *db).await.unwrap();
    }
    at(&ledger, later).await;
    assert_eq!(rows_of(&ledger, 1).await[..5], [0; 5]);
    assert_eq!(sqlx::query_scalar::<_, i64>(tables).fetch_one(&mut *db).await.unwrap(), 0);
    assert!(matches!(load_again(&ledger, 1).await, LoadedAgain::Done));
    assert_eq!(rows_of(&ledger, 1).await, before);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_final_month_was_compared_with_keeps_its_rows(db: PgPool) {
    let ledger = TestLedger::new(db);
    let august = |cost: &str| Focus::new().hour("acme", "s1", "2026-08-05T10", cost, "vision");
    ledger.deliver("august.csv", august("1")).await;
    let september = Focus::new().hour("acme", "s1", "2026-09-05T10", "5", "vision");
    ledger.deliver("september.csv", september.invoiced()).await;
    let last = ledger.file("august-final.csv", august("2").invoiced());
    ledger.import(&[last], Some(Decision::Replace), WhenUnsure::Wait).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let in_an_hour = now() + Duration::hours(1);
    assert_eq!(storage::archivable(&mut db, in_an_hour).await.unwrap(), Vec::<i64>::new());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_that_is_loaded_again_at_once_keeps_its_rows(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    let before = rows_of(&ledger, 1).await;
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(archive_all(&mut db, now() + Duration::minutes(1)).await, [1]);
    assert_eq!(rows_of(&ledger, 1).await, before, "somebody may be reading them");
    assert!(matches!(load_again(&ledger, 1).await, LoadedAgain::Done));
    at(&ledger, now() + Duration::minutes(10)).await;
    assert_eq!(rows_of(&ledger, 1).await, before);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn keys_that_no_import_has_any_more_are_removed(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let keys = "select count(*) from charge_keys";
    let of_sums = "select count(distinct charge_key_id) from (
                       select charge_key_id from monthly_costs union select charge_key_id from monthly_totals
                   ) of_sums";
    let before = sqlx::query_scalar::<_, i64>(keys).fetch_one(&mut *db).await.unwrap();
    // Another import is loading, and its keys are in no sums yet.
    let mut other = ledger.db.acquire().await.unwrap();
    sqlx::query("select pg_advisory_lock_shared($1)")
        .bind(0x6770_755f_6b65_6570_i64)
        .execute(&mut *other)
        .await
        .unwrap();
    archive(&ledger).await;
    assert_eq!(sqlx::query_scalar::<_, i64>(keys).fetch_one(&mut *db).await.unwrap(), before);
    sqlx::query("select pg_advisory_unlock_all()").execute(&mut *other).await.unwrap();
    assert!(ledger::remove_unused_keys(&mut db).await.unwrap().is_some_and(|removed| removed > 0));
    let left = sqlx::query_scalar::<_, i64>(keys).fetch_one(&mut *db).await.unwrap();
    assert_eq!(left, sqlx::query_scalar::<_, i64>(of_sums).fetch_one(&mut *db).await.unwrap());
    assert_eq!(ledger::remove_unused_keys(&mut db).await.unwrap(), Some(0));
    ledger.assert_balanced().await;
    assert!(matches!(load_again(&ledger, 1).await, LoadedAgain::Done));
    assert_eq!(sqlx::query_scalar::<_, i64>(keys).fetch_one(&mut *db).await.unwrap(), before);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_of_archived_imports_are_removed_after_the_days_that_are_set_and_taken_again(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    archive(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let now = now();
    let set = Archiving { after_hours: Some(0), files_after_days: Some(3) };
    assert!(storage::set_archiving(&mut db, set, now).await.unwrap());
    assert!(!storage::set_archiving(&mut db, set, now + Duration::days(9)).await.unwrap());
    let files = async || {
        let files = sqlx::query_scalar::<_, i64>("select count(*) from originals");
        (files.fetch_one(&ledger.db).await.unwrap(), ledger.originals.every_file().unwrap().len())
    };
    assert_eq!(files().await, (2, 4));
    at(&ledger, now + Duration::days(2)).await;
    assert_eq!(files().await, (2, 4));
    at(&ledger, now + Duration::days(4)).await;
    assert_eq!(files().await, (1, 2));
    ledger.assert_balanced().await;
    let said = "select details ->> 'imports' from audit_log where verb = 'storage.files_removed'";
    assert_eq!(sqlx::query_scalar::<_, String>(said).fetch_all(&mut *db).await.unwrap(), ["[1]"]);
    let LoadedAgain::Failed(message) = load_again(&ledger, 1).await else { panic!("its file is gone") };
    assert_eq!(
        message,
        "its file “1.csv” was removed to save space. Choose the file on the page of the import"
    );

    let sequence = ledger::sequence(&mut db).await.unwrap();
    let [other, same] = [bill(&ledger, 3_000, 3), bill(&ledger, 3_000, 1)];
    let upload = async |path: &std::path::Path| {
        let source = Source::new("mine.csv", path);
        load_again_from(&ledger, 1, &[source]).await
    };
    let LoadedAgain::Failed(message) = upload(&other).await else { panic!("it is another file") };
    assert!(
        message.starts_with("none of the files is “1.csv” as it was imported, byte by byte."),
        "{message}"
    );
    assert_eq!(files().await, (1, 2));
    // The file is the same, and says something else than then.
    let more = "update deliveries set charges = charges + $1 where delivery_id = 1";
    sqlx::query(more).bind(1).execute(&mut *db).await.unwrap();
    let LoadedAgain::Failed(message) = upload(&same).await else { panic!("its rows are others") };
    assert!(message.contains("Import the file again"), "{message}");
    assert_eq!(files().await, (1, 2), "it is not kept");
    sqlx::query(more).bind(-1).execute(&mut *db).await.unwrap();
    assert!(matches!(upload(&same).await, LoadedAgain::Done));
    assert_eq!(files().await, (2, 4));
    assert_eq!(ledger::sequence(&mut db).await.unwrap(), sequence, "no figure changed");
    ledger.assert_balanced().await;
    // Imported as any other file, it replaces what is active.
    ledger.import(&[same], Some(Decision::Replace), WhenUnsure::Wait).await;
    // Both have the file now, and one of them is active.
    at(&ledger, now + Duration::days(9)).await;
    at(&ledger, now + Duration::days(19)).await;
    assert_eq!(files().await, (1, 2), "that of import 2 has gone");
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_that_a_backup_reads_or_that_cannot_be_removed_go_later(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    archive(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let set = Archiving { after_hours: Some(0), files_after_days: Some(1) };
    storage::set_archiving(&mut db, set, now()).await.unwrap();
    let later = now() + Duration::days(9);
    let kept = async || {
        let files = sqlx::query_scalar::<_, Vec<u8>>("select sha256 from originals order by stored_at");
        files.fetch_all(&ledger.db).await.unwrap()
    };
    let mut backup = ledger.db.acquire().await.unwrap();
    ledger::hold_originals(&mut backup).await.unwrap();
    at(&ledger, later).await;
    assert_eq!(kept().await.len(), 2, "the backup still copies them");
    ledger::release_originals(&mut backup).await.unwrap();

    // Something else is where its content was.
    let of_first = ledger::Sha256::try_from(kept().await[0].clone()).unwrap();
    let content = ledger.originals.folder().join(&ledger.originals.files(&of_first).unwrap()[0]);
    std::fs::rename(&content, content.with_extension("elsewhere")).unwrap();
    std::fs::create_dir(&content).unwrap();
    at(&ledger, later).await;
    assert_eq!(kept().await.len(), 2, "what is not removed is not forgotten");
    std::fs::remove_dir(&content).unwrap();
    std::fs::rename(content.with_extension("elsewhere"), &content).unwrap();
    at(&ledger, later).await;
    assert_eq!(kept().await.len(), 1);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn files_are_kept_for_a_day_after_somebody_set_their_days(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    archive(&ledger).await;
    let (mut db, later) = (ledger.db.acquire().await.unwrap(), now() + Duration::days(400));
    let set = Archiving { after_hours: Some(0), files_after_days: Some(1) };
    storage::set_archiving(&mut db, set, later).await.unwrap();
    for (hours, kept) in [(23, 2), (25, 1)] {
        at(&ledger, later + Duration::hours(hours)).await;
        let files = sqlx::query_scalar::<_, i64>("select count(*) from originals");
        assert_eq!(files.fetch_one(&ledger.db).await.unwrap(), kept, "{hours} hours");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn bills_of_our_own_clusters_stay_since_nobody_else_has_them(db: PgPool) {
    let ledger = replaced(db, 3_000).await;
    archive(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(ledger::old_files(&mut db, now() + Duration::days(9)).await.unwrap().files, 1);
    // As if the server had made the first one.
    sqlx::query(
        "insert into cluster_months (sha256, cluster, billing_month, revision, batch_id, made_at, made_by)
         select sha256, 'hpc', date '2026-09-01', 1, gen_random_uuid(), now(), 'test' from delivery_files where delivery_id = 1",
    )
    .execute(&mut *db)
    .await
    .unwrap();
    assert_eq!(ledger::old_files(&mut db, now() + Duration::days(9)).await.unwrap().files, 0);
}
