//! When there is much to do: large files, slow questions, more visitors than connections.

use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::Request;
use axum::response::Response;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use gpuledger::accounts::Role;
use gpuledger::ledger::Status;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::support::app::{file_head, upload_of};
use crate::support::{Focus, TestApp, TestLedger};

/// More than two parts of a download.
async fn many_charges(db: PgPool) -> TestApp {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let mut month = Focus::new();
    for hour in 0..4_500 {
        let at = format!("2026-09-{:02}T{:02}", hour % 28 + 1, hour % 24);
        month = month.hour("acme", if hour == 0 { "=1+1" } else { "s1" }, &at, "0.01", "vision");
    }
    finance.import("september.csv", month).await;
    finance
}

async fn download(app: &mut TestApp) -> Response {
    app.open(Request::get("/charges/2026-09.csv").body(Body::empty()).unwrap()).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_holds_every_charge_once(db: PgPool) {
    let mut finance = many_charges(db).await;
    let csv = finance.get("/charges/2026-09.csv").await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<&str> = csv.body.lines().collect();
    assert_eq!(lines.len(), 1 + 4_500);
    assert!(lines[0].starts_with("delivery,file,row,"));
    let mut rows: Vec<u32> =
        lines[1..].iter().map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(1..=4_500));
    assert_eq!(csv.body.matches(",'=1+1,").count(), 1, "a spreadsheet must not run it");

    let none = finance.get("/charges/2026-09.csv?provider=Nobody").await;
    assert_eq!(none.body.lines().count(), 1, "only the names of the columns");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn downloads_have_connections_of_their_own_and_give_them_back(db: PgPool) {
    let mut finance = many_charges(db).await;
    let mut admin = finance.signed_in(Role::Admin).await;
    let other = finance.person("other@example.org", Role::Finance, "no password").await;
    let token = finance.token_of(other).await;
    let mut other = finance.stranger();

    // Nobody has more than two at once, and so not all of them.
    let mut open = vec![download(&mut finance).await, download(&mut finance).await];
    let refused = finance.get("/charges/2026-09.csv").await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "5"));
    assert!(refused.body.contains("Two of your downloads are in progress"), "{}", refused.body);
    open.extend([download(&mut admin).await, download(&mut admin).await]);
    assert!(open.iter().all(|response| response.status() == 200));
    let refused = other.read(&token, "/charges/2026-09.csv").await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, "5"));
    assert!(refused.body.contains("Too many downloads are in progress"), "{}", refused.body);
    assert_eq!(finance.get("/charges/2026-09").await.status, 200, "pages go on");

    // Who goes away in the middle ends the query.
    drop(open);
    assert_eq!(finance.get("/charges/2026-09.csv").await.body.lines().count(), 4_501);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_that_takes_too_long_says_what_to_do(db: PgPool) {
    let options = PgConnectOptions::clone(&db.connect_options()).options([("statement_timeout", "200")]);
    let app = TestApp::new(PgPoolOptions::new().max_connections(3).connect_lazy_with(options));
    let mut finance = app.signed_in(Role::Finance).await;
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table ledger in access exclusive mode").execute(&mut *hold).await.unwrap();
    let answer = finance.get("/spend/2026-09").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("choose a shorter period"), "{}", answer.body);
    hold.rollback().await.unwrap();
    assert_eq!(finance.get("/spend/2026-09").await.status, 200);
}

/// From now on PostgreSQL finds no room for rows of this table.
async fn fill_disk(db: &PgPool, table: &str) {
    let full = format!(
        "create function full_disk() returns trigger language plpgsql as $$ begin
             raise exception using errcode = '53100', message = 'could not extend file';
         end $$;
         create trigger full_disk before insert on {table} execute function full_disk();"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(full)).execute(db).await.unwrap();
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn full_disk_of_the_database_is_said_to_be_one(db: PgPool) {
    fill_disk(&db, "exchange_rates").await;
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let rate = [("month", "2026-09"), ("currency", "EUR"), ("rate", "1.1"), ("quoted_in", "USD")];
    let answer = finance.submit("/rates", "/rates", &rate).await;
    assert_eq!(answer.status, 507, "{}", answer.body);
    assert!(answer.body.contains("The server’s disk is full"), "{}", answer.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_on_a_full_disk_names_the_disk_and_keeps_nothing(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    fill_disk(&db, "charge_keys").await;
    let file = Focus::new().hour("acme", "s1", "2026-09-05T10", "12.50", "vision");
    let failed = ledger.deliver("a.csv", &file).await;
    assert_eq!(failed.status, Status::Failed);
    let message = failed.message.unwrap();
    assert!(message.starts_with("the disk of the database is full. Make room on it"), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, 0.into());

    sqlx::raw_sql("drop trigger full_disk on charge_keys").execute(&db).await.unwrap();
    assert_eq!(ledger.deliver("a.csv", &file).await.status, Status::Loaded);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_stops_before_the_disk_is_full(db: PgPool) {
    let mut ledger = TestLedger::new(db);
    ledger.originals = ledger.originals.keeping_free(u64::MAX);
    let file = Focus::new().hour("acme", "s1", "2026-09-05T10", "12.50", "vision");
    let failed = ledger.deliver("a.csv", &file).await;
    assert_eq!(failed.status, Status::Failed);
    let message = failed.message.unwrap();
    assert!(message.starts_with("the disk of the data folder is full. Make room on it"), "{message}");
    assert!(message.contains("MB of it are free, and "), "{message}");
    assert_eq!(ledger.billed("acme", "2026-09").await, 0.into());

    ledger.originals = ledger.originals.keeping_free(0);
    assert_eq!(ledger.deliver("a.csv", &file).await.status, Status::Loaded);
    ledger.assert_balanced().await;
}

/// Else a disk that an import filled stays full until PostgreSQL looks for itself.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn import_that_filled_the_disk_gives_the_room_back(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    fill_disk(&db, "delivery_totals").await;
    let mut file = Focus::new();
    for hour in 0..240 {
        file =
            file.hour("acme", "s1", &format!("2026-09-{:02}T{:02}", hour / 24 + 1, hour % 24), "1", "vision");
    }
    assert_eq!(ledger.deliver("a.csv", &file).await.status, Status::Failed);
    for table in ["charges_2026_09", "daily_costs_2026_09", "monthly_costs_2026_09"] {
        let size = sqlx::query_scalar("select pg_relation_size($1::text::regclass)").bind(table);
        let size: i64 = size.fetch_one(&db).await.unwrap();
        assert_eq!(size, 0, "{table}");
    }
}

/// Of a server that has two connections for pages.
fn few_connections(db: &PgPool) -> PgPool {
    let options = PgConnectOptions::clone(&db.connect_options());
    PgPoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(4)).connect_lazy_with(options)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn requests_that_wait_for_sums_of_another_leave_connections_to_the_others(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "12.50", "vision")).await;
    let app = TestApp::new(few_connections(&db));
    let user = app.person("ada@example.org", Role::Finance, "no password").await;
    let token = app.token_of(user).await;
    // The first of them does not get on with its sums.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table monthly_totals in access exclusive mode").execute(&mut *hold).await.unwrap();
    let ask = |address: &'static str| {
        let (mut script, token) = (app.stranger(), token.clone());
        tokio::spawn(async move { script.read(&token, address).await })
    };
    let waiting: Vec<_> = (0..20).map(|_| ask("/spend/2026-09.json?by=service")).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    for _ in 0..3 {
        assert_eq!(app.stranger().get("/healthz").await.status, 200);
        assert_eq!(ask("/rates.json").await.unwrap().status, 200, "another page answers meanwhile");
    }
    assert!(waiting.iter().all(|page| !page.is_finished()));
    hold.rollback().await.unwrap();
    for page in join_all(waiting).await {
        let page = page.unwrap();
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.contains("12.5"), "{}", page.body);
    }
}

/// And what they asked for is made to the end, so that it is there when they come back.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_whose_sums_are_being_made_says_so_and_comes_back(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "12.50", "vision")).await;
    let mut finance = TestApp::new(db.clone()).signed_in(Role::Finance).await;
    // Whose each charge is cannot be written down.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table key_attributions in access exclusive mode").execute(&mut *hold).await.unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        let page = finance.get("/spend/2026-09?by=team").await;
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!(page.status, 503);
        assert_eq!((page.header("refresh"), page.header("retry-after")), ("2", "2"));
        assert!(page.body.contains("The figures of this page are being updated"), "{}", page.body);
        assert_eq!(finance.get("/spend/2026-09?by=service").await.status, 200);
    }
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&db).await.unwrap();
    assert_eq!(waiting, 1, "both pages wait for the same");
    hold.rollback().await.unwrap();
    let page = finance.get("/spend/2026-09?by=team").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("12.50"), "{}", page.body);
}

/// Whoever asks for what takes long waits for themselves, and what nobody waits for any more ends in the database, too.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn long_questions_of_one_person_leave_connections_to_others_and_end_with_their_clients(db: PgPool) {
    let ledger = TestLedger::new(db.clone());
    ledger.deliver("a.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "12.50", "vision")).await;
    let options = PgConnectOptions::clone(&db.connect_options()).options(gpuledger::store::SESSION);
    let app = TestApp::new(PgPoolOptions::new().max_connections(6).connect_lazy_with(options));
    let token_of = async |email| app.token_of(app.person(email, Role::Finance, "no password").await).await;
    let (much, other) = (token_of("much@example.org").await, token_of("other@example.org").await);
    let ask = |token: &str, address: String| {
        let (mut script, token) = (app.stranger(), token.to_owned());
        tokio::spawn(async move { script.read(&token, &address).await })
    };
    // Whoever asks for sums waits as long as this holds them.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("lock table monthly_costs in access exclusive mode").execute(&mut *hold).await.unwrap();
    let asked: Vec<_> =
        (0..30).map(|n| ask(&much, format!("/spend/2026-09.json?by=service&not:tag:k{n}=x"))).collect();
    let waiting = async || {
        let waiting = "select count(*) from pg_stat_activity
                       where datname = current_database() and wait_event_type = 'Lock'";
        sqlx::query_scalar::<_, i64>(waiting).fetch_one(&db).await.unwrap()
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(waiting().await, 4, "so many of one person at once");
    assert_eq!(ask(&other, "/rates.json".to_owned()).await.unwrap().status, 200);

    asked.iter().for_each(tokio::task::JoinHandle::abort);
    let began = Instant::now();
    while waiting().await > 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "they end with their clients");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    hold.rollback().await.unwrap();
    let answer = ask(&much, "/spend/2026-09.json?by=service&not:tag:k0=x".to_owned()).await.unwrap();
    assert!(answer.body.contains("12.5"), "{}", answer.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn nobody_holds_a_connection_while_a_file_arrives(db: PgPool) {
    for (page, action) in [
        ("/rates", "/rates/file"),
        ("/quantities", "/quantities/file"),
        ("/organization/teams", "/organization/teams/file"),
        ("/asset-register/clusters", "/asset-register/clusters/file"),
        ("/asset-register/clusters", "/clusters/atlas/readings"),
    ] {
        let few = few_connections(&db);
        let app = TestApp::new(few.clone());
        sqlx::query("delete from users").execute(&db).await.unwrap();
        let mut browser = app.signed_in(Role::Admin).await;
        let mut head = browser.upload_head(page).await;
        head.extend(file_head("slow.csv").bytes());
        let first = stream::once(async { Ok::<_, std::io::Error>(Bytes::from(head)) });
        let request = upload_of(action, Body::from_stream(first.chain(stream::pending())));
        let slow = tokio::spawn(async move { browser.open(request).await.status() });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!slow.is_finished(), "{action}: the file has not arrived yet");
        let free = tokio::time::timeout(Duration::from_secs(1), async {
            tokio::try_join!(few.acquire(), few.acquire()).map(|_| ())
        });
        assert!(free.await.is_ok_and(|free| free.is_ok()), "{action}: connections are held");
        slow.abort();
    }
}
