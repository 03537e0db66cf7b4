//! A Prometheus that is read as time passes: through its restart, a gap, slow answers and wrong ones.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use gpuledger::audit::Actor;
use gpuledger::telemetry::prometheus::{self, Endpoint, Entered, Fetched, Server, Trouble};
use gpuledger::telemetry::{Undone, undo};
use sqlx::PgPool;

use crate::support::prometheus::{Manner, Prometheus, Proxy, Samples, at};
use crate::support::{TestLedger, now};

/// How long the tests wait for an answer.
const PATIENCE: Duration = Duration::from_millis(400);
const FIRST: &str = "2026-11-25T00:00";

/// Two days of a node: a pod on two of its GPUs, but for a gap, and nobody on the third.
fn samples() -> Samples {
    let mut samples = Samples::default();
    for (gpu, pod) in [(0, "train-0"), (1, "train-0"), (2, "")] {
        let labels = format!(
            "gpu=\"{gpu}\",UUID=\"GPU-{gpu}\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"node-s1\",namespace=\"llm\",pod=\"{pod}\",container=\"c\""
        );
        for time in HELD {
            samples.add("DCGM_FI_DEV_GPU_UTIL", &labels, time, "50");
        }
    }
    samples
}

const HELD: [(&str, &str); 2] =
    [("2026-11-25T00:00", "2026-11-25T10:00"), ("2026-11-25T12:00", "2026-11-26T12:00")];

/// GPU-hours of one GPU that Prometheus can have said something of: it repeats a sample for less than five minutes.
fn minutes_with_samples() -> f64 {
    let until = at("2026-11-27T00:00");
    let mut minute = at(FIRST);
    let mut minutes = 0;
    while minute < until {
        let is_said = HELD.iter().any(|(from, until)| {
            let last = at(until) - TimeDelta::seconds(30);
            minute >= at(from) && minute < last + TimeDelta::minutes(5)
        });
        minutes += i32::from(is_said);
        minute += TimeDelta::minutes(1);
    }
    f64::from(minutes) / 60.0
}

async fn add(ledger: &TestLedger, url: &str) -> i64 {
    let mut db = ledger.db.acquire().await.unwrap();
    let entered = Entered { name: "east", address: url, sealed_token: None, matchers: "" };
    let from = at(FIRST).date_naive();
    prometheus::add(&mut db, &entered, from, Actor::command_line(None).at(now())).await.unwrap().unwrap()
}

async fn server(ledger: &TestLedger, id: i64) -> Server {
    prometheus::server(&mut ledger.db.acquire().await.unwrap(), id).await.unwrap().unwrap()
}

/// Asks for the next hours.
async fn fetch(ledger: &TestLedger, id: i64, now: DateTime<Utc>) -> Fetched {
    let server = server(ledger, id).await;
    let endpoint = Endpoint::new(&server.address, None, &server.matchers).unwrap().within(PATIENCE);
    let scratch = ledger.originals.scratch().unwrap();
    let mut db = ledger.db.acquire().await.unwrap();
    prometheus::fetch(&mut db, &server, Ok(endpoint), scratch, now).await.unwrap()
}

/// Asks until all that is over was read.
async fn catch_up(ledger: &TestLedger, id: i64, now: DateTime<Utc>) {
    while matches!(fetch(ledger, id, now).await, Fetched::Hours | Fetched::Fewer) {}
}

/// GPU-hours held and at work, by the pod.
async fn held(ledger: &TestLedger) -> BTreeMap<String, (f64, f64)> {
    let rows: Vec<(String, f64, f64)> = sqlx::query_as(
        "select coalesce(j.key, 'nobody'), sum((select sum(h) from unnest(held) h))::float8 / 3600000,
             sum((select sum(b) from unnest(busy) b))::float8 / 3600000
         from usage_days
         left join jobs_seen j using (job_no)
         where until_sequence is null
         group by 1",
    )
    .fetch_all(&ledger.db)
    .await
    .unwrap();
    rows.into_iter().map(|(pod, held, busy)| (pod, (held, busy))).collect()
}

fn expected() -> BTreeMap<String, (f64, f64)> {
    let hours = minutes_with_samples();
    [("llm/train-0".to_owned(), (2.0 * hours, hours)), ("nobody".to_owned(), (hours, hours / 2.0))].into()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn nothing_is_lost_or_counted_twice_while_it_fails(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut behind = Prometheus::start(&samples());
    let proxy = Proxy::before(&behind, Manner::Silent);
    let id = add(&ledger, &proxy.url).await;

    // Of one that is slow fewer hours are asked for, down to one.
    for hours in [12, 6, 3, 1] {
        assert_eq!(fetch(&ledger, id, now()).await, Fetched::Fewer);
        assert_eq!(server(&ledger, id).await.window_hours, hours);
    }
    assert_eq!(fetch(&ledger, id, now()).await, Fetched::Failed);
    let failing = server(&ledger, id).await;
    assert_eq!(failing.problem.as_deref(), Some("no whole answer within 400ms"));
    assert_eq!(failing.retry_at, Some(now() + TimeDelta::minutes(5)));

    // Whatever is wrong with an answer, nothing of it counts.
    for (manner, problem) in [
        (
            Manner::Saying(
                "HTTP/1.1 200 OK\r\nContent-Length: 21\r\nConnection: close\r\n\r\n<html>Sign in</html>\n",
            ),
            "its answer is JSON that breaks off",
        ),
        (
            Manner::Saying(
                "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            ),
            "it answers 503 Service Unavailable",
        ),
        (
            Manner::Saying(
                "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            ),
            "it answers 302 Found: enter the address that this leads to",
        ),
        (
            Manner::Saying(
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"status\":\"success\",\"warnings\":[\"store b is down\"],\"data\":{\"result\":[]}}",
            ),
            "its answer is not whole: store b is down",
        ),
        (
            Manner::Saying(
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error\"}",
            ),
            "it answers 400 Bad Request: parse error",
        ),
        (Manner::BreakingOff, "the answer breaks off"),
    ] {
        proxy.becomes(manner);
        assert_eq!(fetch(&ledger, id, now()).await, Fetched::Failed, "{problem}");
        let said = server(&ledger, id).await.problem.unwrap();
        assert!(said.starts_with(problem), "{said}");
    }
    assert!(held(&ledger).await.is_empty());
    let failing = server(&ledger, id).await;
    assert_eq!((failing.read_until, failing.failing_since), (at(FIRST), Some(now())));
    assert!(matches!(failing.trouble(), Some(Trouble::Failing { .. })));

    // Some hours, then it is gone, then it is back.
    proxy.becomes(Manner::Honest);
    assert_eq!(fetch(&ledger, id, now()).await, Fetched::Hours);
    assert_eq!(server(&ledger, id).await.problem, None);
    behind.stop();
    let unanswered = prometheus::Endpoint::new(&behind.url(), None, "").unwrap().test().await.unwrap_err();
    assert_eq!(unanswered, "it cannot be reached: Connection refused");
    behind.start_again();
    catch_up(&ledger, id, now()).await;
    let read = server(&ledger, id).await;
    assert_eq!(read.read_until, at("2026-11-27T06:00"), "a quarter of a day is read once it is over");
    assert_eq!(read.seen_until, Some(at("2026-11-27T00:00")));
    assert_eq!(held(&ledger).await, expected());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn days_grow_by_hours_and_are_read_again_without_counting_twice(db: PgPool) {
    let ledger = TestLedger::new(db);
    let prometheus = Prometheus::start(&samples());
    let id = add(&ledger, &prometheus.url()).await;
    // As it goes: a quarter of a day, another one, then the rest of the day and more.
    for until in ["2026-11-25T05:00", "2026-11-25T06:15", "2026-11-25T13:00", "2026-11-26T18:30"] {
        catch_up(&ledger, id, at(until)).await;
    }
    assert_eq!(held(&ledger).await, expected());
    let mut db = ledger.db.acquire().await.unwrap();
    let days = prometheus::days(&mut db, id, 10).await.unwrap();
    assert_eq!(days.len(), 2, "a day is one import");
    let sequence = gpuledger::ledger::sequence(&mut db).await.unwrap();
    let jobs: Vec<i64> =
        sqlx::query_scalar("select job_no from jobs_seen").fetch_all(&ledger.db).await.unwrap();
    let pods = gpuledger::telemetry::descriptions::of_jobs(&mut db, sequence, &jobs).await.unwrap();
    let pod = pods.values().next().unwrap();
    assert_eq!((pod.started_at, pod.thousandths), (Some(at(FIRST)), 2000), "it began on the first of them");
    let before: f64 = days.iter().map(|it| it.accelerator_hours.to_string().parse::<f64>().unwrap()).sum();
    assert!((before - 3.0 * minutes_with_samples()).abs() < 1e-4, "{before}");

    let by = Actor::command_line(None);
    let act = by.at(now());
    let known = server(&ledger, id).await;
    prometheus::read_again(&mut db, &known, at(FIRST).date_naive(), act).await.unwrap();
    catch_up(&ledger, id, at("2026-11-26T18:30")).await;
    assert_eq!(held(&ledger).await, expected());
    let again = prometheus::days(&mut db, id, 10).await.unwrap();
    assert_eq!(
        again.iter().map(|it| it.accelerator_hours).collect::<Vec<_>>(),
        days.iter().map(|it| it.accelerator_hours).collect::<Vec<_>>()
    );

    // A day that is taken back stays so, until it is read again.
    assert_eq!(undo(&mut db, again[1].import_id, act).await.unwrap(), Undone::Done);
    catch_up(&ledger, id, at("2026-11-26T18:30")).await;
    let second_day = 12.0 + 5.0 / 60.0;
    assert_eq!(held(&ledger).await.get("llm/train-0"), Some(&(2.0 * second_day, second_day)));
    prometheus::read_again(&mut db, &server(&ledger, id).await, at(FIRST).date_naive(), act).await.unwrap();
    catch_up(&ledger, id, at("2026-11-26T18:30")).await;
    assert_eq!(held(&ledger).await, expected());
}
