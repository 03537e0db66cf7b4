//! A restore that is killed is seen to be unfinished: nothing works with what is there, and another restore goes through.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::PgPool;
use sqlx::migrate::Migrate as _;
use tempfile::TempDir;

use super::backup::{backup_of, empty_database, refusal, run, tables, url};
use crate::store::sandbox::wait_until;
use crate::support::{TestLedger, gpuledger};

const RESTORES: &str = "select count(*) from pg_stat_activity
                        where datname = current_database() and application_name like '%pg_restore'";
const WAITING_RESTORES: &str = "select count(*) from pg_stat_activity
     where datname = current_database() and application_name like '%pg_restore' and wait_event_type = 'Lock'";
const DUMPS: &str = "select count(*) from pg_stat_activity
                     where datname = current_database() and application_name like '%pg_dump'";
const WAITING_DUMPS: &str = "select count(*) from pg_stat_activity
     where datname = current_database() and application_name like '%pg_dump' and wait_event_type = 'Lock'";
const RESTORED: &str = "select count(*) from pg_tables where tablename = '_sqlx_migrations'";

/// A backup, and where it is to be restored.
struct Place {
    db: PgPool,
    _ledger: TestLedger,
    backup: PathBuf,
    figures: Vec<u8>,
    there: TempDir,
}

impl Place {
    async fn new(db: &PgPool) -> Self {
        let (ledger, backup) = backup_of(db).await;
        let figures = figures(ledger.folder.path(), db);
        empty_database(db).await;
        Self { db: db.clone(), _ledger: ledger, backup, figures, there: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        gpuledger(self.there.path(), Some(&url(&self.db)), arguments)
    }

    fn restore(&self) -> Child {
        self.command(&["restore"]).arg(&self.backup).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Waits until a query counts as many.
    async fn until(&self, query: &'static str, count: i64) {
        let began = Instant::now();
        loop {
            let found: i64 = sqlx::query_scalar(query).fetch_one(&self.db).await.unwrap();
            if found == count {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{found} and not {count}: {query}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Starts a restore, which waits for a table that somebody else is making.
    async fn restore_that_waits(&self) -> (Child, sqlx::Transaction<'static, sqlx::Postgres>) {
        let mut hold = self.db.begin().await.unwrap();
        sqlx::query("create table public.deliveries ()").execute(&mut *hold).await.unwrap();
        let child = self.restore();
        self.until(WAITING_RESTORES, 1).await;
        (child, hold)
    }

    /// Nothing of it lives on, what it left is refused, and the next restore goes through.
    async fn assert_unfinished(&self) {
        let backup = self.backup.to_str().unwrap();
        wait_until("what worked for it has ended", || !is_in_a_command_line(backup));
        self.until(RESTORES, 0).await;

        let elsewhere = self.there.path().with_extension("backup");
        let elsewhere = elsewhere.to_str().unwrap();
        for command in [
            &["check"][..],
            &["serve", "--listen", "127.0.0.1:0"],
            &["report", "spend", "--period", "2026-09"],
            &["backup", elsewhere],
        ] {
            let said = refusal(&mut self.command(command));
            assert!(said.contains("was broken off") && said.contains("Run gpuledger restore"), "{said}");
        }

        run(self.command(&["restore"]).arg(&self.backup));
        let check = run(&mut self.command(&["check", "--deep", "--json"]));
        let equations: Value = serde_json::from_slice(&check.stdout).unwrap();
        let kept = |line: &&Value| line["name"] == "kept files = files that are there";
        assert_eq!(equations.as_array().unwrap().iter().find(kept).unwrap()["right"], "1");
        assert_eq!(figures(self.there.path(), &self.db), self.figures);
        assert!(!self.there.path().join("originals/unfinished-restore").exists());
    }
}

fn figures(data_dir: &Path, db: &PgPool) -> Vec<u8> {
    let spend = ["report", "spend", "--period", "2026-09", "--by", "tag:team", "--json"];
    run(&mut gpuledger(data_dir, Some(&url(db)), &spend)).stdout
}

fn kill(child: &mut Child) {
    kill_process(Pid::from_child(child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

fn is_in_a_command_line(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(text))
}

/// The one file below a folder whose name ends so.
fn file_below(folder: &Path, end: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.map(|file| file.path()).find(|path| path.to_string_lossy().ends_with(end))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restore_killed_while_originals_are_copied_is_refused_and_repeated(db: PgPool) {
    let place = Place::new(&db).await;
    // A part that can be read once, when it is verified; after that its reader waits.
    let part = file_below(&place.backup.join("originals"), ".index.json").unwrap();
    let content = fs::read(&part).unwrap();
    fs::remove_file(&part).unwrap();
    let name = CString::new(part.to_str().unwrap()).unwrap();
    mknodat(CWD, &name, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut child = place.restore();
    OpenOptions::new().write(true).open(&part).unwrap().write_all(&content).unwrap();
    let originals = place.there.path().join("originals");
    wait_until("an original is copied", || file_below(&originals, ".zst").is_some());
    kill(&mut child);

    fs::remove_file(&part).unwrap();
    fs::write(&part, content).unwrap();
    assert_eq!(tables(&db).await, 1, "the mark");
    place.assert_unfinished().await;
}

/// It takes a while until a private database is there.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restore_killed_before_it_came_to_the_database_is_refused_and_repeated(db: PgPool) {
    let place = Place::new(&db).await;
    let originals = place.there.path().join("originals");
    fs::create_dir(&originals).unwrap();
    fs::write(originals.join("unfinished-restore"), "").unwrap();
    place.assert_unfinished().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restore_makes_the_data_folder(db: PgPool) {
    let place = Place::new(&db).await;
    let new = place.there.path().join("not there yet");
    run(gpuledger(&new, Some(&url(&db)), &["restore"]).arg(&place.backup));
    assert_eq!(figures(&new, &db), place.figures);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restore_killed_while_pg_restore_runs_commits_nothing_and_is_repeated(db: PgPool) {
    let place = Place::new(&db).await;
    let (mut child, hold) = place.restore_that_waits().await;
    let said = refusal(&mut place.command(&["check"]));
    assert!(said.contains("is running"), "{said}");
    kill(&mut child);
    hold.rollback().await.unwrap();
    let backup = place.backup.to_str().unwrap();
    wait_until("pg_restore has ended", || !is_in_a_command_line(backup));
    place.until(RESTORES, 0).await;
    assert_eq!(tables(&db).await, 1, "the mark");
    place.assert_unfinished().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restore_killed_before_the_migrations_is_refused_and_repeated(db: PgPool) {
    let place = Place::new(&db).await;
    let (mut child, hold) = place.restore_that_waits().await;
    // Whoever migrates waits for this.
    let mut migrations = db.acquire().await.unwrap();
    migrations.lock().await.unwrap();
    hold.rollback().await.unwrap();
    place.until(RESTORED, 1).await;
    kill(&mut child);
    migrations.close().await.unwrap();
    place.assert_unfinished().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_interrupted_restore_leaves_nothing(db: PgPool) {
    let place = Place::new(&db).await;
    let (mut child, hold) = place.restore_that_waits().await;
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    hold.rollback().await.unwrap();
    place.until(RESTORES, 0).await;
    assert_eq!(tables(&db).await, 0);
    let left: Vec<_> =
        fs::read_dir(place.there.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["database-url"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_others_made_in_a_database_is_not_cleared_by_a_restore(db: PgPool) {
    let place = Place::new(&db).await;
    sqlx::query("create function public.theirs() returns int language sql as 'select 1'")
        .execute(&db)
        .await
        .unwrap();
    let said = refusal(place.command(&["restore"]).arg(&place.backup));
    assert!(said.contains("not empty"), "{said}");
    let theirs: i32 = sqlx::query_scalar("select public.theirs()").fetch_one(&db).await.unwrap();
    assert_eq!((theirs, tables(&db).await), (1, 0));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_data_folder_with_other_files_is_refused_and_stays_as_it_is(db: PgPool) {
    let place = Place::new(&db).await;
    let original = place.there.path().join("originals/ab/some.zst");
    fs::create_dir_all(original.parent().unwrap()).unwrap();
    fs::write(&original, "somebody's").unwrap();
    fs::write(place.there.path().join("notes.txt"), "somebody's").unwrap();
    let said = refusal(place.command(&["restore"]).arg(&place.backup));
    assert!(said.contains("other files (notes.txt, originals)"), "{said}");
    assert!(original.exists());
    assert_eq!((fs::read_dir(place.there.path()).unwrap().count(), tables(&db).await), (2, 0));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_restored_database_has_statistics(db: PgPool) {
    let place = Place::new(&db).await;
    run(place.command(&["restore"]).arg(&place.backup));
    let known = "select count(*) from pg_stats where tablename = 'charge_keys' and attname = 'provider'";
    place.until(known, 1).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_killed_backup_takes_its_dump_along_and_the_next_removes_its_folder(db: PgPool) {
    let place = Place::new(&db).await;
    run(place.command(&["restore"]).arg(&place.backup));
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table charges in access exclusive mode").execute(&mut *hold).await.unwrap();
    let target = place.there.path().join("backup");
    let mut child = place.command(&["backup"]).arg(&target).stderr(Stdio::null()).spawn().unwrap();
    place.until(WAITING_DUMPS, 1).await;
    kill(&mut child);
    place.until(DUMPS, 0).await;
    hold.rollback().await.unwrap();

    let unfinished = || {
        let entries = fs::read_dir(place.there.path()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".gpuledger-backup-")).count()
    };
    assert_eq!(unfinished(), 1);
    run(place.command(&["backup"]).arg(&target));
    assert_eq!(unfinished(), 0);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_killed_import_left_goes_with_the_next_command_unless_another_one_runs(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    let half = ledger.file("originals/arriving-x", "half a fi");
    let check = || run(&mut gpuledger(ledger.folder.path(), Some(&url(&db)), &["check"]));
    // As an import holds it, whose files are on their way.
    let mut import = db.acquire().await.unwrap();
    sqlx::query("select pg_advisory_lock_shared($1)")
        .bind(0x6770_755f_6b65_6570_i64)
        .execute(&mut *import)
        .await
        .unwrap();
    check();
    assert!(half.exists());
    import.close().await.unwrap();
    check();
    assert!(!half.exists());
}
