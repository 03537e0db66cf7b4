//! One command takes everything away, and one brings it back, somewhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use gpuledger::store::{Database, Store};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::{ConnectOptions as _, PgPool};

use crate::store::sandbox::Sandbox;
use crate::support::{Focus, Http, Server, TestLedger, gpuledger};

const PASSWORD: &str = "seven+blue+herons+again";

pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{command:?}: {said}");
    output
}

/// How a command ended that must fail, and what it said.
pub fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{command:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn add_person(data_dir: &Path) {
    let person = ["user", "add", "--email", "ada@example.org", "--role", "admin", "--password-stdin"];
    let mut command = gpuledger(data_dir, None, &person);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), PASSWORD.replace('+', " ").as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
}

fn page(server: &Server, path: &str) -> String {
    let mut browser = Http::new(&server.address);
    let fields = format!("email=ada%40example.org&password={PASSWORD}");
    assert_eq!(browser.submit("/sign-in", "/sign-in", &fields).status, 303);
    let reply = browser.get(path);
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body
}

#[test]
fn a_backup_made_during_an_import_is_restored_elsewhere() {
    let (here, there) = (Sandbox::new(), Sandbox::new());
    let file = |name: &str| here.root().join(name);
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.123456789012", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T11",
        "30.5",
        "nlp",
    );
    fs::write(file("september.csv"), month).unwrap();
    let large = ["generate", "--rows", "20000", "--seed", "7", "--month", "2026-08", "--output"];
    run(gpuledger(here.data_dir(), None, &large).arg(file("august.csv")));

    add_person(here.data_dir());
    let server = Server::start(gpuledger(here.data_dir(), None, &[]));
    run(gpuledger(here.data_dir(), None, &["import"]).arg(file("september.csv")));
    let mut import = gpuledger(here.data_dir(), None, &["import"]).arg(file("august.csv")).spawn().unwrap();
    let is_arriving = || {
        let entries = fs::read_dir(here.data_dir().join("originals")).unwrap();
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("arriving-"))
    };
    while !is_arriving() {
        assert_eq!(import.try_wait().unwrap(), None, "the import was too fast to be seen");
    }
    let made = run(gpuledger(here.data_dir(), None, &["backup", "--json"]).arg(file("backup")));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert!(made["sequence"] == 1 || made["sequence"] == 2, "{made}");
    assert!(import.wait().unwrap().success());

    let mut restore = gpuledger(there.data_dir(), None, &["restore", "--json"]);
    let restored = run(restore.arg(file("backup")));
    let restored: Value = serde_json::from_slice(&restored.stdout).unwrap();
    assert_eq!((&restored["sequence"], &restored["broken"]), (&made["sequence"], &Value::from(0)));
    run(&mut gpuledger(there.data_dir(), None, &["check", "--deep"]));

    let copy = Server::start(gpuledger(there.data_dir(), None, &[]));
    for path in [
        "/spend/2026-09.json?by=tag:team&sequence=1",
        "/charges/2026-09.csv?sequence=1",
        "/charges/1/0/1.json",
    ] {
        assert_eq!(page(&copy, path), page(&server, path), "{path}");
    }

    // Nothing is written over.
    let mut again = gpuledger(there.data_dir(), None, &["restore"]);
    assert!(refusal(again.arg(file("backup"))).contains("other files (originals)"));
    let mut again = gpuledger(here.data_dir(), None, &["backup"]);
    assert!(refusal(again.arg(file("backup"))).contains("is there already"));
}

/// A backup of one delivery, beside its ledger.
pub async fn backup_of(db: &PgPool) -> (TestLedger, std::path::PathBuf) {
    let ledger = TestLedger::new(db.clone());
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    ledger.deliver("september.csv", &month).await;
    let folder = ledger.folder.path().join("backup");
    run(gpuledger(ledger.folder.path(), Some(&url(db)), &["backup"]).arg(&folder));
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "it holds everything");
    for file in ["manifest.json", "database.dump"] {
        let mode = fs::metadata(folder.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    (ledger, folder)
}

pub fn url(db: &PgPool) -> String {
    db.connect_options().to_url_lossy().to_string()
}

pub async fn empty_database(db: &PgPool) {
    sqlx::query("drop schema public cascade").execute(db).await.unwrap();
    sqlx::query("create schema public").execute(db).await.unwrap();
}

pub async fn tables(db: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from pg_tables where schemaname = 'public'")
        .fetch_one(db)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_database_of_ones_own_is_restored_into_an_empty_one(db: PgPool) {
    let (_ledger, backup) = backup_of(&db).await;
    empty_database(&db).await;
    let there = tempfile::tempdir().unwrap();
    run(gpuledger(there.path(), Some(&url(&db)), &["restore"]).arg(&backup));
    let check = run(&mut gpuledger(there.path(), None, &["check", "--deep", "--json"]));
    let equations: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert!(equations.as_array().unwrap().iter().any(|line| line["name"] == "rows in the file = rows read"));
}

/// How many rows there are of what lets somebody in, or keeps them out.
async fn ways_in(db: &PgPool) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in ["sessions", "password_links", "setup_links", "sign_in_failures", "api_tokens"] {
        let query = format!("select count(*) from {table}");
        counts.push(sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(db).await.unwrap());
    }
    counts
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn restore_ends_sessions_links_and_api_tokens(db: PgPool) {
    sqlx::raw_sql(
        "insert into users (email, role, created_at) values ('ada@example.org', 'admin', now());
         insert into sessions (token_hash, user_id, created_at, seen_at, expires_at)
             select sha256('session'), user_id, now(), now(), now() + interval '1 day' from users;
         insert into password_links (token_hash, user_id, created_at, expires_at)
             select sha256('link'), user_id, now(), now() + interval '1 day' from users;
         insert into setup_links (token_hash, created_at, expires_at)
             values (sha256('setup'), now(), now() + interval '1 day');
         insert into sign_in_failures (email, address, failed_at) values ('ada@example.org', '192.0.2.7', now());
         insert into api_tokens (user_id, token_hash, label, created_at, expires_at)
             select user_id, sha256(label::bytea), label, now(), now() + interval '1 day'
             from users, unnest(array['month', 'week']) label",
    )
    .execute(&db)
    .await
    .unwrap();
    let (_ledger, backup) = backup_of(&db).await;
    assert_eq!(ways_in(&db).await, [1, 1, 1, 1, 2], "they live on where the backup was made");

    empty_database(&db).await;
    let there = tempfile::tempdir().unwrap();
    let restored = run(gpuledger(there.path(), Some(&url(&db)), &["restore", "--json"]).arg(&backup));
    let restored: Value = serde_json::from_slice(&restored.stdout).unwrap();
    assert_eq!(restored["tokens_ended"], 2, "{restored}");
    assert_eq!(ways_in(&db).await, [0; 5]);
    let people: i64 = sqlx::query_scalar("select count(*) from users").fetch_one(&db).await.unwrap();
    assert_eq!(people, 1);

    // In words, too; and the second one has none to end.
    let again = there.path().join("again");
    run(gpuledger(there.path(), None, &["backup"]).arg(&again));
    for (backup, described) in [(&backup, "2 API tokens ended"), (&again, "no API tokens")] {
        empty_database(&db).await;
        let there = tempfile::tempdir().unwrap();
        let said = run(gpuledger(there.path(), Some(&url(&db)), &["restore"]).arg(backup));
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains(described), "{said}");
    }
}

#[sqlx::test(migrations = false)]
async fn restore_ends_sessions_that_an_older_backup_holds(db: PgPool) {
    empty_database(&db).await;
    let backup = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades/0.1.0-20261123000047/backup");
    let there = tempfile::tempdir().unwrap();
    run(gpuledger(there.path(), Some(&url(&db)), &["restore"]).arg(&backup));
    assert_eq!(ways_in(&db).await, [0; 5]);
}

/// It would wait for it, and it for the backup.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn backup_does_not_wait_for_an_import_that_is_loading(db: PgPool) {
    let table = "create table charges_of_99_2026_09 (like charges including all)";
    sqlx::query(table).execute(&db).await.unwrap();
    let mut fills = db.begin().await.unwrap();
    sqlx::query("truncate charges_of_99_2026_09").execute(&mut *fills).await.unwrap();
    let (_ledger, backup) = backup_of(&db).await;
    fills.commit().await.unwrap();
    empty_database(&db).await;
    let there = tempfile::tempdir().unwrap();
    run(gpuledger(there.path(), Some(&url(&db)), &["restore"]).arg(&backup));
    let left: bool = sqlx::query_scalar("select to_regclass('charges_of_99_2026_09') is null")
        .fetch_one(&db)
        .await
        .unwrap();
    assert!(left, "no import goes on in what is restored");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn backup_holds_no_sessions(db: PgPool) {
    sqlx::raw_sql(
        "insert into users (email, role, created_at) values ('ada@example.org', 'admin', now());
         insert into sessions (token_hash, user_id, created_at, seen_at, expires_at, user_agent)
             select sha256('session'), user_id, now(), now(), now() + interval '1 day', 'a browser' from users",
    )
    .execute(&db)
    .await
    .unwrap();
    let (ledger, backup) = backup_of(&db).await;
    let database = Database::of(ledger.folder.path(), Some(&url(&db))).unwrap();
    let client = Store::find(&database).await.unwrap().client().await.unwrap();
    let mut rows = client.command("pg_restore");
    rows.args(["--data-only", "--table=users", "--table=sessions", "--file=-"])
        .arg(backup.join("database.dump"));
    let rows = String::from_utf8(rows.output().await.unwrap().stdout).unwrap();
    assert!(rows.contains("ada@example.org") && !rows.contains("a browser"), "{rows}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_damaged_backup_changes_nothing(db: PgPool) {
    let (_ledger, backup) = backup_of(&db).await;
    empty_database(&db).await;
    let there = tempfile::tempdir().unwrap();
    let data_dir = there.path().join("data");
    let restore = || refusal(gpuledger(&data_dir, Some(&url(&db)), &["restore"]).arg(&backup));

    let dump = backup.join("database.dump");
    let whole = fs::read(&dump).unwrap();
    fs::write(&dump, &whole[..whole.len() - 1]).unwrap();
    assert!(restore().contains("database.dump is damaged"));
    fs::remove_file(&dump).unwrap();
    assert!(restore().contains("database.dump"));
    fs::write(&dump, &whole).unwrap();

    let manifest = fs::read_to_string(backup.join("manifest.json")).unwrap();
    fs::write(backup.join("manifest.json"), manifest.replace("originals/", "originals/../../")).unwrap();
    assert!(restore().contains("no file of a backup"));
    fs::remove_file(backup.join("manifest.json")).unwrap();
    assert!(restore().contains("is no backup"));
    assert!(!data_dir.exists());
    assert_eq!(tables(&db).await, 0);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn where_the_dump_cannot_be_read_back_nothing_is_left_of_it(db: PgPool) {
    let (_ledger, backup) = backup_of(&db).await;
    empty_database(&db).await;
    // As if it had been made so: pg_restore fails in the middle.
    let dump = backup.join("database.dump");
    let whole = fs::read(&dump).unwrap();
    let half = &whole[..whole.len() - 100];
    fs::write(&dump, half).unwrap();
    let manifest = fs::read_to_string(backup.join("manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["parts"][0]["bytes"] = half.len().into();
    manifest["parts"][0]["sha256"] = format!("{:x}", Sha256::digest(half)).into();
    fs::write(backup.join("manifest.json"), manifest.to_string()).unwrap();
    let there = tempfile::tempdir().unwrap();
    let said = refusal(gpuledger(there.path(), Some(&url(&db)), &["restore"]).arg(&backup));
    assert!(said.contains("is as before"), "{said}");
    assert_eq!(tables(&db).await, 0);
    let left: Vec<_> = fs::read_dir(there.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["database-url"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_backup_that_is_broken_off_leaves_nothing(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    // pg_dump waits for this.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table charges in access exclusive mode").execute(&mut *hold).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = gpuledger(ledger.folder.path(), Some(&url(&db)), &["backup"]);
    let mut child = command.arg(folder.path().join("backup")).stderr(Stdio::null()).spawn().unwrap();
    while fs::read_dir(folder.path()).unwrap().next().is_none() {
        assert_eq!(child.try_wait().unwrap(), None);
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
