//! The largest questions that anybody can ask: whatever they take, everybody else is answered meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::access::ROUTES;
use crate::support::configuration::{rule, team, write};
use crate::support::{Focus, TestApp, TestLedger};

/// What an address can hold at most.
const LONGEST: usize = 60_000;
/// Nobody waits longer for an answer that takes no time. What is computed where everybody is answered takes seconds here; what is
/// not, up to 130 ms in a build without optimization, on a machine where others compute, too.
const AT_MOST: Duration = Duration::from_millis(250);
const TRIES: usize = 3;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// After that whoever asked goes away.
const PATIENCE: Duration = Duration::from_secs(2);

fn repeated(first: &str, parts: impl Iterator<Item = String>) -> String {
    let mut address = first.to_owned();
    for part in parts {
        if address.len() + part.len() > LONGEST {
            break;
        }
        address.push_str(&part);
    }
    address
}

/// Asks whether the server is well, again and again; the longest that took since the last look, in microseconds.
fn watch(app: &TestApp) -> Arc<AtomicU64> {
    let (mut other, longest) = (app.stranger(), Arc::new(AtomicU64::new(0)));
    let described = Arc::clone(&longest);
    tokio::spawn(async move {
        loop {
            let began = Instant::now();
            assert_eq!(other.get("/healthz").await.status, 200);
            tokio::time::sleep(PAUSE).await;
            let took = began.elapsed().saturating_sub(PAUSE);
            longest.fetch_max(u64::try_from(took.as_micros()).unwrap(), Ordering::SeqCst);
        }
    });
    described
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_server_is_well_whatever_is_asked(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut month = Focus::new();
    for hour in 0..200 {
        let at = format!("2026-09-{:02}T{:02}", hour % 28 + 1, hour % 24);
        month = month.hour("acme", "s1", &at, "0.01", "vision");
    }
    ledger.deliver("september.csv", month).await;
    write(
        &mut ledger.db.acquire().await.unwrap(),
        vec![team("vision"), rule(1, "", "", gpuledger::allocation::Target::Labels)],
    )
    .await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let mut addresses = Vec::new();
    for (_, _, address, _) in ROUTES.iter().filter(|(method, ..)| *method == "GET") {
        let joint = if address.contains('?') { '&' } else { '?' };
        let first = format!("{address}{joint}by=service");
        addresses.push(repeated(&first, (0..).map(|n| format!("&service=s{n}"))));
        addresses.push(repeated(&first, (0..).map(|n| format!("&tag:k{n}=v"))));
    }
    let template = "/scenarios/templates/ten-nodes";
    for suffix in ["", ".json", ".csv"] {
        for edits in [
            "&add=/option".repeat(300),
            "&copy=/option/0".repeat(300),
            "&add=/option/0/place".repeat(300),
            "&copy=/option/0".repeat(7) + &"&add=/option/0/place/0/committed".repeat(200),
            "&copy=/option/1".repeat(7) + &"&add=/option/1/place/0/others".repeat(120),
            "&add=/work".repeat(7),
            repeated("", (0..400).map(|n| format!("&set=/months={}", n % 100 + 1))),
        ] {
            addresses.push(format!("{template}{suffix}?{}", &edits[1..]));
        }
    }
    assert_eq!(slow_for_others(&mut admin, &addresses).await, [""; 0]);
}

/// Sorting and writing hundreds of thousands of groups takes seconds of a processor, for a lead as for anybody else.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_server_is_well_while_very_many_groups_are_asked(db: PgPool) {
    let ledger = TestLedger::new(db);
    let month = (0..20_000).fold(Focus::new(), |month, n| {
        let at = format!("2026-09-{:02}T{:02}", n % 28 + 1, n % 24);
        month.hour("acme", &format!("s{n}"), &at, &format!("0.{n:05}1"), "vision")
    });
    ledger.deliver("september.csv", month).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let addresses = [".json?", ".csv?", "?limit=1000000&", ".json?sort=name&", ".json?then=service&"]
        .map(|rest| format!("/spend/2026-09{rest}by=resource"));
    assert_eq!(slow_for_others(&mut admin, &addresses).await, [""; 0]);
    let answer = admin.get("/spend/2026-09.csv?by=resource").await;
    assert_eq!(answer.body.lines().count(), 20_001);
}

/// The beginnings of those addresses whose answers others waited for.
async fn slow_for_others<'a>(asks: &mut TestApp, addresses: &'a [String]) -> Vec<&'a str> {
    let longest = watch(asks);
    let mut slow = Vec::new();
    for address in addresses {
        // A busy machine is slow once; what holds a thread does so each time.
        let mut held = Vec::new();
        for _ in 0..TRIES {
            longest.store(0, Ordering::SeqCst);
            let _ = tokio::time::timeout(PATIENCE, asks.get(address)).await;
            // Who watches may have waited until now.
            tokio::time::sleep(4 * PAUSE).await;
            held.push(Duration::from_micros(longest.load(Ordering::SeqCst)));
            if held.last().is_some_and(|it| *it <= AT_MOST) {
                break;
            }
        }
        if held.iter().all(|it| *it > AT_MOST) {
            eprintln!("{held:?}: {}", &address[..address.len().min(120)]);
            slow.push(&address[..address.len().min(120)]);
        }
    }
    slow
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_more_than_anybody_asks_is_refused_in_words(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let template = "/scenarios/templates/ten-nodes?";
    for (edits, described) in [
        ("&add=/option".repeat(300), "option is 13 of them: too large"),
        ("&add=/option/0/place".repeat(10), "option.0.place is 7 of them: too large"),
        ("&add=/option/0/place/0/others".repeat(300), "expected at most 12 options, 6 places in each"),
        ("&set=/months=12".repeat(401), "Enter at most 400"),
    ] {
        let answer = finance.get(&format!("{template}{}", &edits[1..])).await;
        assert_eq!(answer.status, 400, "{described}");
        assert!(answer.body.contains(described), "{described}: {}", answer.body);
    }
    let tags = repeated("/spend/2026-09?by=service", (0..30).map(|n| format!("&tag:k{n}=v")));
    let answer = finance.get(&tags).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("has 30 dimensions to filter by. Use at most 20"), "{}", answer.body);
}
