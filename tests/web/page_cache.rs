//! Pages that were rendered for somebody else: whoever sees the same gets the same, with their own name; and whatever is
//! written is on the next page. That a kept page is what would be rendered anew holds for every page that any test asks
//! for (`support/app.rs`).

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use flate2::read::GzDecoder;
use gpuledger::accounts::Role;
use sqlx::PgPool;
use std::io::Read as _;
use std::time::{Duration, Instant};

use super::invoices::invoice;
use crate::support::app::Answer;
use crate::support::{Focus, TestApp, TestLedger, html};

const PAGE: &str = "/spend/2026-09?by=account";

async fn ledger(db: PgPool) -> TestLedger {
    let ledger = TestLedger::new(db);
    ledger.deliver("september.csv", Focus::new().hour("acme", "s1", "2026-09-05T10", "30", "research")).await;
    ledger
}

async fn ask(app: &mut TestApp, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::get(path).header(header::ACCEPT, "text/html");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(Body::empty()).unwrap()).await
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn people_who_see_the_same_get_one_page_with_their_own_name_and_token(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut pages = Vec::new();
    for email in ["first@example.org", "o'second+<i>@example.org"] {
        let mut person = app.signed_in_as(email, Role::Finance).await;
        let page = person.get(PAGE).await;
        assert_eq!(html::text(&page.body, "summary .who"), email);
        assert!(html::text(&page.body, "details.menu p.quiet").starts_with(email));
        let tokens = html::attributes(&page.body, "input[name=csrf]", "value");
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        // The token is theirs: with it they may write.
        let written = person.post("/account/appearance", &[("csrf", &tokens[0]), ("theme", "dark")]).await;
        assert_eq!(written.status, StatusCode::SEE_OTHER, "{}", written.body);
        pages.push((page, tokens[0].clone()));
    }
    let [(first, one), (second, other)] = &pages[..] else { unreachable!() };
    assert_ne!(one, other);
    assert_ne!(first.header("etag"), second.header("etag"));
    assert!(!second.body.contains("first@example.org") && !second.body.contains(one.as_str()));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_page_is_compressed_for_who_takes_that_and_says_the_same(db: PgPool) {
    let mut finance = TestApp::of(&ledger(db).await).signed_in(Role::Finance).await;
    let plain = finance.get(PAGE).await;
    let packed = ask(&mut finance, PAGE, &[("accept-encoding", "br, gzip")]).await;
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), ("gzip", ""));
    assert!(
        packed.header("vary").is_empty()
            || packed.headers.get_all("vary").iter().any(|it| it == "Accept-Encoding")
    );
    let mut text = String::new();
    GzDecoder::new(&packed.bytes[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.body);
    assert!(packed.bytes.len() * 2 < plain.bytes.len(), "{} of {}", packed.bytes.len(), plain.bytes.len());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn who_has_the_page_already_is_told_so_until_it_changes(db: PgPool) {
    let ledger = ledger(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    for path in [PAGE, "/spend/2026-09.json?by=account", "/spend/2026-09.csv?by=account"] {
        let page = finance.get(path).await;
        let tag = page.header("etag").to_owned();
        let known = [("if-none-match", tag.as_str())];
        let again = ask(&mut finance, path, &known).await;
        assert_eq!((again.status, again.bytes.len()), (StatusCode::NOT_MODIFIED, 0), "{path}");
        assert_eq!(
            (again.header("etag"), again.header("cache-control")),
            (tag.as_str(), "no-store"),
            "{path}"
        );
        let other = ask(&mut finance, path, &[("if-none-match", "W/\"0\", \"1\"")]).await;
        assert_eq!(other.status, StatusCode::OK, "{path}");

        let more = Focus::new().hour("acme", "s1", "2026-09-05T10", &format!("3{}", path.len()), "research");
        ledger.deliver(&format!("{}.csv", path.len()), more).await;
        assert_eq!(ask(&mut finance, path, &known).await.status, StatusCode::OK, "{path}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_message_is_shown_once(db: PgPool) {
    let mut finance = TestApp::of(&ledger(db).await).signed_in(Role::Finance).await;
    let token = finance.token("/account").await;
    finance.get(PAGE).await;
    finance.post("/account/sessions/end-others", &[("csrf", &token)]).await;
    let sentence = "There was no other session.";
    assert_eq!(html::text(&finance.get(PAGE).await.body, ".flash p"), sentence);
    assert!(!finance.get(PAGE).await.body.contains(sentence));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_never_gets_the_page_of_finance(db: PgPool) {
    let ledger = ledger(db).await;
    ledger.deliver("other.csv", Focus::new().hour("umbra", "s1", "2026-09-05T10", "70", "secret")).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let mut lead = finance.signed_in(Role::Lead).await;
    assert!(finance.get(PAGE).await.body.contains("umbra"));
    let page = lead.get(PAGE).await;
    assert!(page.body.contains("NeoCloud") && !page.body.contains("umbra"));
    assert!(finance.get(PAGE).await.body.contains("umbra"));
    assert_eq!(finance.stranger().get(PAGE).await.status, StatusCode::SEE_OTHER, "to the page that signs in");
}

/// Signing in is no reason to render pages anew; what people write is.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_people_write_is_on_the_next_page(db: PgPool) {
    let ledger = ledger(db).await;
    let app = TestApp::of(&ledger);
    let mut admin = app.signed_in(Role::Admin).await;
    let page = "/invoices/2026-09";
    let before = admin.get(page).await;
    assert!(before.headers.contains_key(header::ETAG));
    admin.signed_in(Role::Finance).await;
    assert_eq!(admin.get(page).await.header("etag"), before.header("etag"));
    // An invoice is no version of the ledger.
    let entered = admin.submit(page, page, &invoice("1-USD", "A-1", "20.00")).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", entered.body);
    admin.get(page).await;
    assert_ne!(admin.get(page).await.header("etag"), before.header("etag"));
}

/// Of two who write at once the first may be done last.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_line_of_the_trail_that_is_committed_late_renews_pages(db: PgPool) {
    let ledger = ledger(db).await;
    let mut admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    let line =
        "insert into audit_log (happened_at, actor, verb, object_kind, object_id, object_name, details)
                values (now(), 'ada@example.org', 'invoice.entered', 'invoice', '1', 'A-1', '{}')";
    // More than are looked at.
    for _ in 0..150 {
        sqlx::query(line).execute(&ledger.db).await.unwrap();
    }
    let mut late = ledger.db.begin().await.unwrap();
    sqlx::query(line).execute(&mut *late).await.unwrap();
    let entered = "insert into invoices (scope_id, currency, number, amount, entered_at, entered_by)
                   select scope_id, 'USD', 'LATE-1', 20, now(), 'ada@example.org' from scopes limit 1";
    sqlx::query(entered).execute(&mut *late).await.unwrap();
    sqlx::query(line).execute(&ledger.db).await.unwrap();
    let page = "/invoices/2026-09";
    assert!(!admin.get(page).await.body.contains("LATE-1"));
    late.commit().await.unwrap();
    assert!(admin.get(page).await.body.contains("LATE-1"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pages_keep_pace_while_a_bill_loads(db: PgPool) {
    let between = Duration::from_secs(1);
    let ledger = ledger(db).await;
    let finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let mut reader = finance.at_pace(between).signed_in_as("other@example.org", Role::Finance).await;
    for (status, is_held_back) in [("failed", false), ("loading", true)] {
        let sql = "insert into deliveries (batch_id, status, created_at, created_by)
                   values (gen_random_uuid(), $1, now(), 'ada@example.org')";
        sqlx::query(sql).bind(status).execute(&ledger.db).await.unwrap();
        reader.get(PAGE).await;
        let began = Instant::now();
        for _ in 0..3 {
            assert_eq!(ask(&mut reader, PAGE, &[]).await.status, StatusCode::OK);
        }
        assert_eq!(began.elapsed() > 2 * between, is_held_back, "{status}: {:?}", began.elapsed());
    }
    // What tells how far the bill is, and what is written, is not held back.
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(ask(&mut reader, "/imports", &[]).await.status, StatusCode::OK);
    }
    assert!(began.elapsed() < 2 * between, "{:?}", began.elapsed());
}
