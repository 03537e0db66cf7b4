//! Importing files of usage, twice, side by side with others of the same time, and taking them back.

use chrono_tz::Tz;
use gpuledger::audit::Actor;
use gpuledger::ledger::{Report, Source, Status, remove_orphans, sequence};
use gpuledger::telemetry::{self, ImportUsage, Undone, read};
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{TestLedger, now};

const HEADER: &str = "JobID|JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList|JobName";

/// An export with these rows.
fn sacct(rows: &[&str]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

const FIRST: &str = "7|7|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|2026-09-01T22:00:00|2026-09-02T02:00:00|14400|gres/gpu:h100=16,gres/gpu=16|gpu-[01-02]|train";
const SECOND: &str = "8|8|hpc|ben|cv|gpu|COMPLETED|2026-09-02T09:00:00|2026-09-02T10:00:00|2026-09-02T11:00:00|3600|gres/gpu=4|gpu-02|eval";
const RUNNING: &str =
    "9|9|hpc|ann|ml|gpu|RUNNING|2026-09-02T09:00:00|2026-09-02T20:00:00|Unknown|3600|gres/gpu=8|gpu-01|train";
const ENDED: &str = "9|9|hpc|ann|ml|gpu|FAILED|2026-09-02T09:00:00|2026-09-02T20:00:00|2026-09-02T23:30:00|12600|gres/gpu=8|gpu-01|train";

async fn import(ledger: &TestLedger, name: &str, content: &str) -> Report {
    import_in(ledger, name, content, None).await
}

async fn import_in(ledger: &TestLedger, name: &str, content: &str, zone: Option<Tz>) -> Report {
    let path = ledger.file(name, content);
    let (usage, bills) = telemetry::usage_among(vec![Source::new(name, path)], &[]).await;
    assert!(bills.is_empty(), "{name} is usage");
    let by = Actor::command_line(None);
    let importing = ImportUsage { source: None, zone, batch_id: Uuid::new_v4(), act: by.at(now()) };
    importing.all(&ledger.db, &ledger.originals, usage).await.pop().unwrap()
}

async fn undo(ledger: &TestLedger, report: &Report) -> Undone {
    let mut db = ledger.db.acquire().await.unwrap();
    let import = report.usage.as_ref().unwrap().import;
    telemetry::undo(&mut db, import, Actor::command_line(None).at(now())).await.unwrap()
}

/// Accelerator-hours by day, node and job, as of a version.
async fn held(ledger: &TestLedger, sequence: i64) -> Vec<(String, String, String, f64)> {
    sqlx::query_as(
        "select day::text, n.name, j.key, (select sum(h) from unnest(held) h)::float8 / 3600000
         from usage_days
         join usage_nodes n using (node_id)
         join jobs_seen j using (job_no)
         where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)
         order by 1, 2, 3",
    )
    .bind(sequence)
    .fetch_all(&ledger.db)
    .await
    .unwrap()
}

async fn at(ledger: &TestLedger) -> i64 {
    sequence(&mut ledger.db.acquire().await.unwrap()).await.unwrap()
}

async fn hours(ledger: &TestLedger) -> f64 {
    held(ledger, at(ledger).await).await.iter().map(|it| it.3).sum()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn adjacent_windows_count_once_in_any_order_and_undo_is_exact(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first = import(&ledger, "1.txt", &sacct(&[FIRST, SECOND, RUNNING])).await;
    assert_eq!(first.status, Status::Loaded, "{:?}", first.message);
    assert_eq!(first.usage.as_ref().unwrap().accelerator_hours.to_string(), "76");
    let days = held(&ledger, at(&ledger).await).await;
    let of_first: Vec<_> =
        days.iter().filter(|it| it.2.starts_with("7@")).map(|it| (&*it.0, &*it.1, it.3)).collect();
    let expected = [
        ("2026-09-01", "gpu-01", 16.0),
        ("2026-09-01", "gpu-02", 16.0),
        ("2026-09-02", "gpu-01", 16.0),
        ("2026-09-02", "gpu-02", 16.0),
    ];
    assert_eq!(of_first, expected, "each hour of a day that it ran, on both nodes");
    let (before, after_first) = (at(&ledger).await, held(&ledger, at(&ledger).await).await);

    // The next window has the same jobs, and the end of the one that ran.
    let second = import(&ledger, "2.txt", &sacct(&[SECOND, ENDED])).await;
    assert_eq!(second.status, Status::Loaded);
    assert!((hours(&ledger).await - 96.0).abs() < 1e-9, "64 + 4 + 28");
    assert_eq!(held(&ledger, before).await, after_first, "as of the version before it reads as before");

    // What was exported while it ran takes the place of nothing.
    let older = import(&ledger, "3.txt", &sacct(&[RUNNING])).await;
    assert_eq!(older.status, Status::Loaded);
    assert!((hours(&ledger).await - 96.0).abs() < 1e-9);

    assert_eq!(undo(&ledger, &second).await, Undone::Done);
    assert_eq!(held(&ledger, at(&ledger).await).await, after_first);
    assert_eq!(undo(&ledger, &second).await, Undone::NotActive);
    assert_eq!(undo(&ledger, &first).await, Undone::Done);
    assert!((hours(&ledger).await - 8.0).abs() < 1e-9, "the job that ran, by the third file");
    assert_eq!(undo(&ledger, &older).await, Undone::Done);
    assert!(held(&ledger, at(&ledger).await).await.is_empty());
    let last_at = async || {
        let mut db = ledger.db.acquire().await.unwrap();
        read::sources(&mut db).await.unwrap()[0].last_at
    };
    assert_eq!(last_at().await, None);
    // What was undone can be imported again.
    let again = import(&ledger, "1.txt", &sacct(&[FIRST, SECOND, RUNNING])).await;
    assert_eq!(again.status, Status::Loaded);
    assert_eq!(held(&ledger, at(&ledger).await).await, after_first);
    assert!(last_at().await.is_some());
    let same = import(&ledger, "1 again.txt", &sacct(&[FIRST, SECOND, RUNNING])).await;
    assert_eq!(same.status, Status::Duplicate);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn bad_rows_are_named_and_the_others_count(db: PgPool) {
    let ledger = TestLedger::new(db);
    let rows = [
        FIRST,
        "1|1|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|2026-09-01T22:00:00|2026-09-01T21:00:00|3600|gres/gpu=8|gpu-01|ends before it starts",
        "2|2|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|2026-09-01T22:00:00|2026-09-01T23:00:00|3600|gres/gpu=2000|gpu-01|too many",
        "3|3|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|yesterday|2026-09-01T23:00:00|3600|gres/gpu=2|gpu-01|when",
        "4|4|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|2026-09-01T22:00:00|2026-09-01T23:00:00|3600|gres/gpu=2|gpu-[01-|where",
        "5|5|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00",
        "6|6|hpc|ann|ml|gpu|COMPLETED|2026-09-01T09:00:00|2026-09-01T22:00:00|2026-09-01T23:00:00|3600|gres/gpu=2|gpu-01|a|name|with bars",
    ];
    let report = import(&ledger, "bad.txt", &sacct(&rows)).await;
    assert_eq!(report.status, Status::Loaded);
    assert_eq!((report.rows_read, report.rejected, report.usage.as_ref().unwrap().jobs), (7, 5, 2));
    let found: Vec<_> = report.rejections.iter().map(|it| (it.row, it.column.as_str())).collect();
    assert_eq!(found, [(2, "End"), (3, "AllocTRES"), (4, "Start"), (5, "NodeList"), (6, "")]);
    let name: String = sqlx::query_scalar("select name from job_descriptions where job_id = '6'")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(name, "a|name|with bars");
    // What no other job held, a rejected one may have: of no time it is said that nobody did.
    let known: i64 =
        sqlx::query_scalar("select count(*) from usage_coverage").fetch_one(&ledger.db).await.unwrap();
    assert_eq!(known, 0);

    // Where nothing can be read, nothing is imported, and the file is not kept.
    let refused = import(&ledger, "none.txt", &sacct(&rows[1..3])).await;
    assert_eq!(refused.status, Status::Refused);
    let cut = import(&ledger, "cut.json", r#"{"meta": {"Slurm": {}}, "jobs": [{"job_id": 1, "#).await;
    assert_eq!(cut.status, Status::Refused);
    assert!(cut.message.unwrap().contains("breaks off"));
    remove_orphans(&mut ledger.db.acquire().await.unwrap(), &ledger.originals).await.unwrap();
    let kept: i64 = sqlx::query_scalar("select count(*) from originals").fetch_one(&ledger.db).await.unwrap();
    assert_eq!(kept, 1, "what counts is kept");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn times_without_an_offset_are_of_the_clock_that_was_said(db: PgPool) {
    let ledger = TestLedger::new(db);
    // The night in which the clocks go back: from half past two, once more, to a quarter to three.
    let row = "7|7|hpc|ann|ml|gpu|COMPLETED|2026-10-25T01:00:00|2026-10-25T02:30:00|2026-10-25T02:45:00|4500|gres/gpu=1|n1|x";
    import_in(&ledger, "a.txt", &sacct(&[row]), "Europe/Berlin".parse().ok()).await;
    // Whoever says another one is told that it was not used.
    let other = row.replace("7|7", "6|6");
    let told = import_in(&ledger, "c.txt", &sacct(&[&other]), "Asia/Tokyo".parse().ok()).await;
    let message = told.message.unwrap_or_default();
    assert!(message.contains("time zone Asia/Tokyo was ignored: hpc uses Europe/Berlin"), "{message}");
    let held: Vec<i32> =
        sqlx::query_scalar("select distinct held from usage_days").fetch_one(&ledger.db).await.unwrap();
    assert_eq!((held[0], held[1], held.iter().sum::<i32>()), (1_800_000, 2_700_000, 4_500_000));
    // A cluster's clock is remembered.
    let later = row.replace("7|7", "8|8");
    let told = import(&ledger, "b.txt", &sacct(&[&later])).await;
    assert_eq!(told.message, None);
    let days: i64 = sqlx::query_scalar("select count(distinct held) from usage_days")
        .fetch_one(&ledger.db)
        .await
        .unwrap();
    assert_eq!(days, 1);
}

/// An answer of Prometheus: each series a device of a node with who held it, from a minute on, so many minutes at so many percent.
fn series(of: &[(&str, &str, &str, i64, i64, u32)]) -> String {
    let begins = 1_788_253_200; // 2026-09-01T09:00:00Z
    let one = |(node, gpu, pod, from, minutes, percent): &(&str, &str, &str, i64, i64, u32)| {
        let values: Vec<String> =
            (*from..from + minutes).map(|at| format!("[{},\"{percent}\"]", begins + at * 60)).collect();
        format!(
            r#"{{"metric":{{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"{node}","UUID":"GPU-{gpu}","namespace":"llm","pod":"{pod}"}},"values":[{}]}}"#,
            values.join(",")
        )
    };
    let all: Vec<String> = of.iter().map(one).collect();
    format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, all.join(","))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_a_job_of_slurm_held_is_not_held_by_nobody(db: PgPool) {
    let ledger = TestLedger::new(db);
    let both =
        series(&[("n1", "a", "t-0", 0, 60, 50), ("n1", "b", "4711", 0, 60, 100), ("n1", "c", "", 0, 60, 0)]);
    let both = both.replace(r#""namespace":"llm","pod":"4711""#, r#""hpc_job":"4711""#);
    import(&ledger, "both.json", &both).await;
    let sequence = at(&ledger).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let nodes = read::nodes(&mut db, sequence).await.unwrap();
    let days = "2026-09-01".parse().unwrap().."2026-09-02".parse().unwrap();
    let mut held = read::held(&mut db, sequence, &days, &nodes, None).await.unwrap();
    held.sort_by_key(|it| it.job_no);
    // The pod's and nobody's. The third says how busy a job was that Slurm describes, or would.
    assert_eq!(held.len(), 2);
    assert_eq!((held[0].job_no, held[0].held.iter().sum::<i32>()), (0, 3_600_000), "one of the three");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn windows_of_a_meter_count_once_and_what_nobody_held_is_said(db: PgPool) {
    let ledger = TestLedger::new(db);
    let first =
        series(&[("n1", "a", "t-0", 0, 60, 50), ("n1", "b", "t-0", 0, 60, 100), ("n1", "c", "", 0, 60, 0)]);
    let report = import(&ledger, "1.json", &first).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert_eq!((report.rows_read, report.usage.as_ref().unwrap().samples), (3, 3));
    let of_first = held(&ledger, at(&ledger).await).await;
    let of: Vec<_> = of_first.iter().map(|it| (it.1.as_str(), it.2.as_str(), it.3)).collect();
    assert_eq!(of, [("n1", "llm/t-0", 2.0)], "the third is nobody's");
    let busy: Vec<(i64, i64)> =
        sqlx::query_as("select job_no, (select sum(b) from unnest(busy) b) from usage_days order by job_no")
            .fetch_all(&ledger.db)
            .await
            .unwrap();
    assert_eq!(busy[0], (0, 0));
    assert_eq!(busy[1].1, 5_400_000);

    // The second half of the same hour, and the next one.
    let second = series(&[("n1", "a", "t-0", 30, 90, 80), ("n1", "b", "t-1", 60, 60, 80)]);
    let report = import(&ledger, "2.json", &second).await;
    let of_both = held(&ledger, at(&ledger).await).await;
    let of: Vec<_> = of_both.iter().map(|it| (it.2.as_str(), it.3)).collect();
    assert_eq!(of, [("llm/t-0", 3.0), ("llm/t-1", 1.0)]);
    undo(&ledger, &report).await;
    assert_eq!(held(&ledger, at(&ledger).await).await, of_first);

    let empty = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
    let report = import(&ledger, "empty.json", empty).await;
    assert_eq!(report.message.as_deref(), Some("there is nothing in it: no row, no series"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_cluster_that_its_exports_do_not_name_keeps_its_clock(db: PgPool) {
    let ledger = TestLedger::new(db);
    let without = |id: u32| {
        let row = FIRST.replace("7|7|hpc|", &format!("{id}|{id}|"));
        format!("{}\n{row}\n", HEADER.replace("Cluster|", ""))
    };
    import_in(&ledger, "a.txt", &without(7), "Europe/Berlin".parse().ok()).await;
    import(&ledger, "b.txt", &without(8)).await;
    let begins: Vec<String> = sqlx::query_scalar("select distinct started_at::text from job_descriptions")
        .fetch_all(&ledger.db)
        .await
        .unwrap();
    assert_eq!(begins, ["2026-09-01 20:00:00+00"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_plain_file_is_kept_once_and_a_packed_one_as_it_arrived(db: PgPool) {
    let ledger = TestLedger::new(db);
    let plain = sacct(&[FIRST]);
    import(&ledger, "a.txt", &plain).await;
    let copies = || {
        let files = ledger.originals.every_file().unwrap();
        files.iter().filter(|file| file.extension().is_some_and(|it| it == "received")).count()
    };
    assert_eq!(copies(), 0);
    let path = ledger.file("b.txt.gz", crate::support::files::gzip(sacct(&[SECOND]).as_bytes()));
    let (usage, _) = telemetry::usage_among(vec![Source::new("b.txt.gz", path)], &[]).await;
    let by = Actor::command_line(None);
    let importing = ImportUsage { source: None, zone: None, batch_id: Uuid::new_v4(), act: by.at(now()) };
    let report = importing.all(&ledger.db, &ledger.originals, usage).await.pop().unwrap();
    assert_eq!(report.status, Status::Loaded);
    assert_eq!(copies(), 1);
}
