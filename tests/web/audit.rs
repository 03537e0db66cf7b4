//! Everything that writes leaves a line in the audit trail.

use axum::http::{Method, StatusCode};
use gpuledger::accounts::sign_in::{self, Begun};
use gpuledger::accounts::{Role, setup};
use gpuledger::allocation::{Entry, Split};
use gpuledger::audit::Actor;
use gpuledger::changes::{self, Document as _, Right};
use gpuledger::onprem::{self, Kind};
use gpuledger::price_catalogue::Catalogue;
use gpuledger::{clock, web};
use serde_json::json;
use sqlx::PgPool;

use crate::support::app::PASSWORD;
use crate::support::configuration::{pool, rule, team, to_team, write};
use crate::support::{Focus, TestApp, html, now};

const MAPPING: &str = include_str!("../fixtures/invoices/reseller.toml");

/// How a writing route is used with success.
enum Use {
    /// With these fields, from a form of this page. An empty page: the one it is sent to.
    Form(&'static str, &'static [(&'static str, &'static str)]),
    Upload,
    /// A file that was sent piece by piece.
    Pieces,
    /// A file that is to be mapped.
    Sample,
    /// The same of one that says who used GPUs.
    UsageSample,
    /// A file of an archived import.
    Files,
    /// Of an upload that waits, or that the machine failed.
    Batch(&'static str),
    /// A file of exchange rates.
    Rates,
    /// A file of teams.
    Teams,
    /// A file of quantities.
    Quantities,
    /// A file for the asset register: rows of assets, or what a meter read.
    AssetRegister(&'static str),
    /// A file of a scenario.
    Scenario,
    /// A file of prices.
    Prices,
    /// A file of rates.
    RateCard,
    /// After what divided the machines of the bill of the scope in the address was undone.
    UndoneDivision,
    /// With these fields, once jobs of a scheduler were imported.
    Sacct(&'static [(&'static str, &'static str)]),
    /// Publishes what was to be reviewed.
    Review,
    /// Used by the test itself, which has the link.
    Link,
    /// Why it leaves no line.
    Nothing(&'static str),
}

/// By hand, in an order in which each can succeed: a route that writes has to be added here.
const WRITING: &[(&str, &str, Use)] = &[
    ("/setup/{token}", "", Use::Link),
    ("/imports", "/imports", Use::Upload),
    ("/imports/uploads", "", Use::Nothing("keeps a place for a file, until it is imported or gone")),
    ("/imports/uploads/{upload}", "", Use::Nothing("adds to a file that is not imported, or removes it")),
    ("/imports/uploads/import", "/imports/uploads/import", Use::Pieces),
    ("/imports/batches/{batch}/cancel", "BATCH", Use::Batch("cancel")),
    ("/imports/batches/{batch}/retry", "BATCH", Use::Batch("retry")),
    ("/imports/{delivery}/replace", "/imports/2/replace", Use::Form("/imports", &[])),
    (
        "/imports/{delivery}/explain",
        "/imports/2/explain",
        Use::Form("/imports", &[("reason", "Sub-account s2 was closed.")]),
    ),
    (
        "/imports/limits",
        "/imports/limits",
        Use::Form(
            "/imports/limits",
            &[("rows", "4"), ("cost", "5"), ("keys", "5"), ("services", "5"), ("resources", "2.5 %")],
        ),
    ),
    ("/imports/{delivery}/add", "/imports/3/add", Use::Form("/imports", &[])),
    ("/imports/{delivery}/discard", "/imports/4/discard", Use::Form("/imports", &[])),
    ("/imports/{delivery}/undo", "/imports/2/undo", Use::Form("/imports", &[])),
    (
        "/imports/review",
        "/imports/review",
        Use::Form("/imports/review", &[("provider", ""), ("review", "always")]),
    ),
    ("/imports/{delivery}/publish", "/imports/5/publish", Use::Review),
    ("/usage/nodes/{node}", "/usage/nodes/2", Use::Sacct(&[("machine", "node-s1")])),
    (
        "/usage/sources/{source}/clock",
        "/usage/sources/1/clock",
        Use::Form("/usage", &[("zone", "Europe/Berlin")]),
    ),
    (
        "/usage/prometheus/new",
        "/usage/prometheus/new",
        Use::Form(
            "/usage/prometheus/new",
            &[("name", "east"), ("address", "http://127.0.0.1:1/"), ("from", "2026-11-01")],
        ),
    ),
    ("/usage/prometheus/test", "", Use::Nothing("asks a server, and writes nothing down")),
    (
        "/usage/prometheus/{server}",
        "/usage/prometheus/1",
        Use::Form(
            "/usage/prometheus/1",
            &[("name", "east"), ("address", "http://127.0.0.1:1/"), ("matchers", "a=\"b\"")],
        ),
    ),
    (
        "/usage/prometheus/{server}/read-again",
        "/usage/prometheus/1/read-again",
        Use::Form("/usage/prometheus/1", &[("from", "2026-11-02")]),
    ),
    (
        "/usage/prometheus/{server}/remove",
        "/usage/prometheus/1/remove",
        Use::Form("/usage/prometheus/1", &[]),
    ),
    ("/usage/bills/{scope}/divide", "/usage/bills/1/divide", Use::UndoneDivision),
    ("/usage/imports/{import}/undo", "/usage/imports/1/undo", Use::Form("/usage/imports/1", &[])),
    ("/mappings/files", "", Use::Nothing("keeps a file for a day, until it is mapped or gone")),
    ("/mappings/files/{sample}", "", Use::Sample),
    ("/mappings/files/{sample}/usage", "", Use::UsageSample),
    ("/mappings/usage/{mapping}/remove", "/mappings/usage/1/remove", Use::Form("/mappings", &[])),
    ("/mappings/text", "/mappings/text", Use::Form("/mappings", &[("text", MAPPING)])),
    ("/mappings/{mapping}/remove", "/mappings/reseller/remove", Use::Form("/mappings/reseller", &[])),
    (
        "/catalog/new",
        "/catalog/new",
        Use::Form(
            "/catalog/new",
            &[
                ("kind", "machine"),
                ("provider", "AWS"),
                ("name", "p9.48xlarge"),
                ("model", "nvidia-b300"),
                ("accelerators", "8"),
                ("source", "a data sheet"),
            ],
        ),
    ),
    (
        "/catalog/additions/{addition}/remove",
        "/catalog/additions/1/remove",
        Use::Form("/catalog/additions/1", &[]),
    ),
    ("/storage", "/storage", Use::Form("/storage", &[("hours", "12")])),
    ("/storage/uploads", "/storage/uploads", Use::Form("/storage", &[("largest", "2.5"), ("free", "1")])),
    ("/storage/archive", "/storage/archive", Use::Form("/storage", &[])),
    ("/imports/{delivery}/load-again", "/imports/2/load-again", Use::Form("/imports", &[])),
    ("/imports/{delivery}/files", "/imports/2/files", Use::Files),
    (
        "/invoices/{period}",
        "/invoices/2026-10",
        Use::Form("/invoices/2026-10", &[("line", "1-USD"), ("number", "A-1"), ("amount", "30")]),
    ),
    (
        "/invoices/{period}/remove",
        "/invoices/2026-10/remove",
        Use::Form("/invoices/2026-10", &[("invoice", "1")]),
    ),
    (
        "/rates",
        "/rates",
        Use::Form(
            "/rates",
            &[("month", "2026-10"), ("currency", "EUR"), ("rate", "1.1"), ("quoted_in", "USD")],
        ),
    ),
    (
        "/rates/remove",
        "/rates/remove",
        Use::Form("/rates", &[("month", "2026-10"), ("currency", "EUR"), ("quoted_in", "USD")]),
    ),
    ("/rates/file", "", Use::Rates),
    ("/scenarios/file", "", Use::Scenario),
    ("/scenarios", "/scenarios", Use::Form("/scenarios", &[("from", "scenario:1"), ("name", "a copy")])),
    (
        "/scenarios/{scenario}",
        "/scenarios/1",
        Use::Form("/scenarios", &[("set", "/months=6"), ("last", "1")]),
    ),
    ("/scenarios/{scenario}/remove", "/scenarios/1/remove", Use::Form("/scenarios", &[])),
    ("/scenarios/{scenario}/bring-back", "/scenarios/1/bring-back", Use::Form("/scenarios", &[])),
    (
        "/rates/reporting-currency",
        "/rates/reporting-currency",
        Use::Form("/rates", &[("reporting_currency", "USD")]),
    ),
    (
        "/organization/{sheet}",
        "/organization/teams",
        Use::Form("/rules", &[("name", "Vision"), ("do", "save")]),
    ),
    (
        "/organization/{sheet}/{entry}",
        "/organization/teams/1",
        Use::Form("/rules", &[("name", "Computer Vision"), ("do", "save")]),
    ),
    ("/organization/{sheet}/file", "", Use::Teams),
    (
        "/changes/{kind}/{change}/apply",
        "/changes/allocation/DRAFT/apply",
        Use::Form("/rules", &[("reason", "a reorganization")]),
    ),
    ("/changes/{kind}/{change}/undo", "/changes/allocation/APPLIED/undo", Use::Form("/rules", &[])),
    ("/shared-costs/new", "/shared-costs/new", Use::Form("/rules", &[("name", "Support"), ("by", "evenly")])),
    (
        "/changes/{kind}/{change}/propose",
        "/changes/allocation/DRAFT/propose",
        Use::Form("/rules", &[("reason", "it is due")]),
    ),
    ("/changes/{kind}/{change}/discard", "/changes/allocation/DRAFT/discard", Use::Form("/rules", &[])),
    ("/rules/new", "/rules/new", Use::Form("/rules", &[("name", "All"), ("to", "team:vision")])),
    ("/labels/{label}/meaning", "/labels/team/meaning", Use::Form("/rules", &[("keys", "owner")])),
    ("/labels/{label}/map", "/labels/team/map", Use::Form("/rules", &[("value", "CV"), ("to", "vision")])),
    ("/rules/{rule}", "/rules/RULE", Use::Form("/rules", &[("name", "Everything"), ("to", "team:vision")])),
    ("/rules/{rule}/move", "/rules/RULE/move", Use::Form("/rules", &[("position", "1")])),
    ("/rules/{rule}/remove", "/rules/RULE/remove", Use::Form("/rules", &[])),
    (
        "/shared-costs/{pool}",
        "/shared-costs/POOL",
        Use::Form("/rules", &[("name", "Support"), ("by", "direct-cost")]),
    ),
    ("/shared-costs/{pool}/remove", "/shared-costs/POOL/remove", Use::Form("/rules", &[])),
    ("/organization/{sheet}/{entry}/remove", "/organization/teams/TEAM/remove", Use::Form("/rules", &[])),
    (
        "/experiments/{experiment}/change",
        "/experiments/exp-1/change",
        Use::Form("/rules", &[("name", "First"), ("do", "save")]),
    ),
    (
        "/experiments/{experiment}/merge",
        "/experiments/exp-1/merge",
        Use::Form("/rules", &[("into", "exp-2"), ("do", "save")]),
    ),
    (
        "/budgets",
        "/budgets",
        Use::Form(
            "/rules",
            &[
                ("of", "team:vision"),
                ("amount", "100"),
                ("currency", "USD"),
                ("every", "month"),
                ("first", "2026-10"),
                ("last", ""),
                ("thresholds", ""),
            ],
        ),
    ),
    (
        "/budgets/{budget}",
        "/budgets/BUDGET",
        Use::Form(
            "/rules",
            &[
                ("amount", "200"),
                ("currency", "USD"),
                ("every", "month"),
                ("first", "2026-10"),
                ("last", ""),
                ("thresholds", ""),
            ],
        ),
    ),
    ("/budgets/{budget}/end", "/budgets/BUDGET/end", Use::Form("/rules", &[("until", "2026-12")])),
    ("/budgets/{budget}/remove", "/budgets/BUDGET/remove", Use::Form("/rules", &[])),
    (
        "/quantities",
        "/quantities",
        Use::Form(
            "/quantities",
            &[
                ("day", "2026-10-05"),
                ("kind", "team"),
                ("owner", "vision"),
                ("unit", "runs"),
                ("quantity", "3"),
            ],
        ),
    ),
    ("/quantities/file", "", Use::Quantities),
    (
        "/quantities/remove",
        "/quantities/remove",
        Use::Form(
            "/quantities",
            &[("month", "2026-10"), ("kind", "team"), ("owner", "vision"), ("unit", "runs")],
        ),
    ),
    (
        "/clusters/new",
        "/clusters/new",
        Use::Form(
            "/clusters/new",
            &[("name", "East"), ("site", "Frankfurt"), ("since", "2026-10-01"), ("nodes", "1")],
        ),
    ),
    (
        "/clusters/{cluster}/publish",
        "/clusters/east/publish",
        Use::Form("/clusters", &[("month", "2026-10")]),
    ),
    (
        "/asset-register/{kind}/new",
        "/asset-register/meters/new",
        Use::Form("/clusters/new", &[("cluster", "east"), ("name", "pdu"), ("place", "it")]),
    ),
    (
        "/asset-register/{kind}/file",
        "/asset-register/pue/file",
        Use::AssetRegister("cluster,first,value\neast,2026-11,1.2\n"),
    ),
    (
        "/clusters/{cluster}/readings",
        "/clusters/east/readings",
        Use::AssetRegister("meter,from,until,kwh\npdu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,5\n"),
    ),
    ("/changes/readings/{change}/undo", "/changes/readings/HELD/undo", Use::Form("/clusters/new", &[])),
    (
        "/asset-register/entries/{entry}",
        "/asset-register/entries/METER",
        Use::Form("/clusters/new", &[("cluster", "east"), ("name", "pdu"), ("place", "facility")]),
    ),
    (
        "/asset-register/entries/{entry}/remove",
        "/asset-register/entries/METER/remove",
        Use::Form("/clusters/new", &[]),
    ),
    ("/changes/{kind}/{change}/undo", "/changes/asset-register/HELD/undo", Use::Form("/clusters/new", &[])),
    ("/changes/{kind}/{change}/apply", "/changes/asset-register/WISH/apply", Use::Form("/clusters/new", &[])),
    (
        "/changes/{kind}/{change}/discard",
        "/changes/asset-register/WISH/discard",
        Use::Form("/clusters/new", &[]),
    ),
    ("/prices/new", "/prices/new", Use::Form("/prices/new", &super::prices::ENTERED)),
    ("/changes/{kind}/{change}/undo", "/changes/prices/LAST_PRICES/undo", Use::Form("/prices/new", &[])),
    ("/prices/file", "/prices/file", Use::Prices),
    ("/prices/tokens", "/prices/tokens", Use::Form("/prices/tokens", &super::token_costs::ENTERED)),
    ("/prices/tokens/{price}/remove", "/prices/tokens/1/remove", Use::Form("/prices/tokens", &[])),
    ("/prices/tokens/{price}/restore", "/prices/tokens/1/restore", Use::Form("/prices/tokens", &[])),
    (
        "/changes/{kind}/{change}/propose",
        "/changes/prices/LAST_PRICES/propose",
        Use::Form("/prices/new", &[]),
    ),
    (
        "/changes/{kind}/{change}/discard",
        "/changes/prices/LAST_PRICES/discard",
        Use::Form("/prices/new", &[]),
    ),
    ("/changes/{kind}/{change}/apply", "/changes/prices/NEW_PRICES/apply", Use::Form("/prices/new", &[])),
    (
        "/prices/offers/{offer}",
        "/prices/offers/OFFER",
        Use::Form(
            "/prices/new",
            &[
                ("supplier", "AWS"),
                ("accelerator", "nvidia-h200-sxm"),
                ("tier", "on-demand"),
                ("price", "6.90"),
                ("date", "2026-11-01"),
                ("source", "their list"),
            ],
        ),
    ),
    ("/prices/offers/{offer}/remove", "/prices/offers/OTHER/remove", Use::Form("/prices/new", &[])),
    ("/rate-cards/new", "/rate-cards/new", Use::Form("/rate-cards/new", &super::rate_cards::ENTERED)),
    (
        "/rate-cards/changes/{change}/apply",
        "/rate-cards/changes/LAST_RATES/apply",
        Use::Form("/rate-cards/new", &[]),
    ),
    ("/rate-cards/{rate}", "/rate-cards/RATE", Use::Form("/rate-cards/new", &super::rate_cards::CORRECTED)),
    (
        "/changes/{kind}/{change}/propose",
        "/changes/rate-cards/LAST_RATES/propose",
        Use::Form("/rate-cards/new", &[]),
    ),
    (
        "/changes/{kind}/{change}/discard",
        "/changes/rate-cards/LAST_RATES/discard",
        Use::Form("/rate-cards/new", &[]),
    ),
    ("/rate-cards/{rate}/remove", "/rate-cards/RATE/remove", Use::Form("/rate-cards/new", &[])),
    ("/rate-cards/file", "/rate-cards/file", Use::RateCard),
    (
        "/rate-cards/changes/{change}/undo",
        "/rate-cards/changes/APPLIED_RATES/undo",
        Use::Form("/rate-cards/new", &[]),
    ),
    (
        "/people",
        "/people",
        Use::Form(
            "/people",
            &[("email", "lena@example.org"), ("role", "lead"), ("teams", "Computer Vision")],
        ),
    ),
    ("/scenarios/{scenario}/share", "/scenarios/1/share", Use::Form("/scenarios", &[("with", "vision")])),
    (
        "/scenarios/{scenario}/unshare",
        "/scenarios/1/unshare",
        Use::Form("/scenarios", &[("kind", "team"), ("name", "vision")]),
    ),
    ("/people/{person}", "/people/2", Use::Form("/people", &[("name", "Lena"), ("role", "finance")])),
    ("/people/{person}/link", "/people/2/link", Use::Form("/people", &[])),
    ("/password/{token}", "", Use::Link),
    ("/people/{person}/tokens/{token}/revoke", "/people/2/tokens/1/revoke", Use::Form("/people", &[])),
    ("/people/{person}/sign-out", "/people/2/sign-out", Use::Form("/people", &[])),
    ("/people/{person}/disable", "/people/2/disable", Use::Form("/people", &[])),
    ("/people/{person}/enable", "/people/2/enable", Use::Form("/people", &[])),
    ("/account/tokens", "/account/tokens", Use::Form("/account", &[("label", "nightly"), ("days", "30")])),
    ("/account/tokens/{token}/revoke", "/account/tokens/2/revoke", Use::Form("/account", &[])),
    ("/account/sessions/{session}/end", "/account/sessions/SESSION/end", Use::Form("/account", &[])),
    ("/account/sessions/end-others", "/account/sessions/end-others", Use::Form("/account", &[])),
    (
        "/account/password",
        "/account/password",
        Use::Form("/account", &[("current", PASSWORD), ("new", "another horse battery")]),
    ),
    ("/adjustments/new", "/adjustments/new", Use::Form("/adjustments/new", &super::adjustments::DISCOUNT)),
    (
        "/adjustments/changes/{change}/apply",
        "/adjustments/changes/LAST_ADJUSTMENTS/apply",
        Use::Form("/adjustments/new", &[]),
    ),
    (
        "/adjustments/bills/{scope}/compute",
        "/adjustments/bills/ADJUSTED/compute",
        Use::Form("/adjustments/new", &[]),
    ),
    (
        "/adjustments/{adjustment}",
        "/adjustments/ADJUSTMENT",
        Use::Form("/adjustments/new", &super::adjustments::LESS),
    ),
    (
        "/changes/{kind}/{change}/propose",
        "/changes/adjustments/LAST_ADJUSTMENTS/propose",
        Use::Form("/adjustments/new", &[]),
    ),
    (
        "/changes/{kind}/{change}/discard",
        "/changes/adjustments/LAST_ADJUSTMENTS/discard",
        Use::Form("/adjustments/new", &[]),
    ),
    (
        "/adjustments/{adjustment}/remove",
        "/adjustments/ADJUSTMENT/remove",
        Use::Form("/adjustments/new", &[]),
    ),
    (
        "/adjustments/changes/{change}/undo",
        "/adjustments/changes/APPLIED_ADJUSTMENTS/undo",
        Use::Form("/adjustments/new", &[]),
    ),
    ("/account/appearance", "", Use::Nothing("sets a cookie of the browser, and nothing here")),
    ("/sign-out", "/sign-out", Use::Form("/account", &[])),
    (
        "/sign-in",
        "/sign-in",
        Use::Form("/sign-in", &[("email", "ada@example.org"), ("password", "another horse battery")]),
    ),
];

/// Rules and a pool, and a team that nobody needs.
async fn written(app: &TestApp) {
    let mut db = app.db.acquire().await.unwrap();
    let rules = [1, 2].map(|place| rule(place, "service", &format!("s{place}"), to_team("vision")));
    let others =
        [Entry::Pool(pool("network", Split::Evenly)), team(&format!("t{}", now().timestamp_micros()))];
    write(&mut db, rules.into_iter().chain(others).collect()).await;
}

/// Another wish to change the asset register.
async fn proposed(app: &TestApp) {
    let mut db = app.db.acquire().await.unwrap();
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await.unwrap();
    let is_wanted = |kind: Kind| matches!(kind, Kind::Costs | Kind::Staff | Kind::Power);
    let (id, entry) = asset_register.entries.iter().find(|(_, it)| is_wanted(Kind::of(it))).unwrap();
    let edits = vec![onprem::Edit { id: *id, before: Some(entry.clone()), after: None }];
    let about = changes::About { summary: "without support", reason: None };
    let by = Actor::person("ada@example.com", "test");
    let outcome =
        changes::change::<onprem::AssetRegister>(&mut db, edits, about, Right::Propose, by.at(now()))
            .await
            .unwrap();
    assert!(matches!(outcome, changes::Outcome::Waits(_)), "{outcome:?}");
}

async fn lines(app: &TestApp) -> Vec<(String, String, String)> {
    sqlx::query_as("select verb, actor, coalesce(address, '') from audit_log order by audit_id")
        .fetch_all(&app.db)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_route_that_writes_leaves_a_line(db: PgPool) {
    let routes = web::routes();
    let mut stated: Vec<_> =
        routes.stated().iter().filter(|line| line.method != Method::GET).map(|line| line.path).collect();
    let mut listed: Vec<_> = WRITING.iter().map(|(path, ..)| *path).collect();
    stated.sort_unstable();
    listed.sort_unstable();
    // One that is for several kinds of changes is tried for each, and an address may write in several ways.
    listed.dedup();
    stated.dedup();
    assert_eq!(stated, listed, "a route that writes is tried here, or is listed with the reason why not");

    let mut ada = TestApp::new(db);
    let mut other = ada.stranger();
    let mut link = String::new();
    for (path, address, usage) in WRITING {
        let before = lines(&ada).await.len();
        let answer = match usage {
            Use::Nothing(reason) => {
                assert!(!reason.is_empty());
                continue;
            }
            Use::Form(page, fields) => {
                let mut address = (*address).to_owned();
                if address.contains("SESSION") {
                    let fields = [("email", "ada@example.org"), ("password", PASSWORD)];
                    other.submit("/sign-in", "/sign-in", &fields).await;
                    let newest: i64 = sqlx::query_scalar("select max(session_id) from sessions")
                        .fetch_one(&ada.db)
                        .await
                        .unwrap();
                    address = address.replace("SESSION", &newest.to_string());
                }
                if address.contains("ADJUSTED") {
                    ada.run_jobs().await;
                }
                if address.contains("WISH") {
                    proposed(&ada).await;
                }
                if address.contains("NEW_PRICES") {
                    let file = "accelerator,supplier,tier,price\nnvidia-a10,Vultr,on-demand,0.8\n";
                    super::prices::load(&mut ada, "", file).await;
                }
                for (word, model) in [("OFFER", "nvidia-h200-sxm"), ("OTHER", "amd-mi300x")] {
                    let listed = Catalogue::shipped().of(model).next().unwrap();
                    address = address.replace(word, &listed.offer());
                }
                if address.ends_with("RULE") {
                    written(&ada).await;
                }
                for (word, query) in [
                    (
                        "METER",
                        "select max(entry::bigint) from document_entries where kind = 'asset-register' and content ->> 'kind' = 'meter'",
                    ),
                    (
                        "HELD",
                        "select max(change_id) from changes where kind = 'asset-register' and status = 'applied'",
                    ),
                    ("LAST_RATES", "select max(change_id) from changes where kind = 'rate-cards'"),
                    (
                        "APPLIED_RATES",
                        "select max(change_id) from changes where kind = 'rate-cards' and status = 'applied'",
                    ),
                    ("RATE", "select max(entry::bigint) from document_entries where kind = 'rate-cards'"),
                    ("ADJUSTED", "select min(scope_id) from adjusted_bills"),
                    ("LAST_ADJUSTMENTS", "select max(change_id) from changes where kind = 'adjustments'"),
                    (
                        "APPLIED_ADJUSTMENTS",
                        "select max(change_id) from changes where kind = 'adjustments' and status = 'applied'",
                    ),
                    (
                        "ADJUSTMENT",
                        "select max(entry::bigint) from document_entries where kind = 'adjustments'",
                    ),
                    ("NEW_PRICES", "select max(change_id) from changes where kind = 'prices'"),
                    ("LAST_PRICES", "select max(change_id) from changes where kind = 'prices'"),
                    (
                        "WISH",
                        "select max(change_id) from changes where kind = 'asset-register' and status = 'proposed'",
                    ),
                    (
                        "BUDGET",
                        "select max(entry::bigint) from document_entries where kind = 'allocation' and content ->> 'kind' = 'budget'",
                    ),
                    (
                        "DRAFT",
                        "select max(change_id) from changes where kind = 'allocation' and status in ('draft', 'proposed')",
                    ),
                    (
                        "APPLIED",
                        "select max(change_id) from changes where kind = 'allocation' and status = 'applied'",
                    ),
                    (
                        "RULE",
                        "select min(entry::bigint) from document_entries where kind = 'allocation' and content ->> 'kind' = 'rule'",
                    ),
                    (
                        "POOL",
                        "select min(entry::bigint) from document_entries where kind = 'allocation' and content ->> 'kind' = 'pool'",
                    ),
                    (
                        "TEAM",
                        "select max(entry::bigint) from document_entries where kind = 'allocation' and content ->> 'kind' = 'team'",
                    ),
                ] {
                    if address.contains(word) {
                        let id: i64 = sqlx::query_scalar(query).fetch_one(&ada.db).await.unwrap();
                        address = address.replace(word, &id.to_string());
                    }
                }
                ada.submit(page, &address, fields).await
            }
            Use::Teams => super::allocation::load(&mut ada, "name,parent\nResearch,\nNLP,research\n").await,
            Use::Sample => super::mappings::save(&mut ada, "keep").await,
            Use::UsageSample => super::mappings::save_usage(&mut ada).await,
            Use::Upload => {
                let whole = Focus::new().hour("acme", "s1", "2026-10-05T10", "10", "vision").hour(
                    "acme",
                    "s2",
                    "2026-10-05T10",
                    "20",
                    "nlp",
                );
                ada.import("whole.csv", &whole).await;
                for cost in ["1", "2", "3"] {
                    let part = Focus::new().hour("acme", "s1", "2026-10-05T10", cost, "vision");
                    let answer = ada.upload(&[("part.csv", part.as_ref())]).await;
                    assert_eq!(answer.status, StatusCode::SEE_OTHER);
                    ada.run_jobs().await;
                }
                ada.get("/imports").await
            }
            Use::Files => ada.upload_to(address, &[("part.csv", b"part")]).await,
            Use::Pieces => {
                let file = [("name", "none.csv"), ("size", "0"), ("modified", "0")];
                let begun = ada.submit("/imports", "/imports/uploads", &file).await;
                let id = begun.location().rsplit('/').next().unwrap().to_owned();
                let answer = ada.submit("/imports", address, &[("upload", &id)]).await;
                sqlx::query("delete from jobs where status = 'queued'").execute(&ada.db).await.unwrap();
                answer
            }
            Use::Batch(what) => {
                let file = Focus::new().hour("acme", "s9", "2026-11-05T10", "10", "vision");
                let uploaded = ada.upload(&[("waits.csv", file.as_ref())]).await;
                let batch = uploaded.location().to_owned();
                if *what == "retry" {
                    sqlx::query("update jobs set status = 'failed' where status = 'queued'")
                        .execute(&ada.db)
                        .await
                        .unwrap();
                }
                let answer = ada.submit("/imports", &format!("{batch}/{what}"), &[]).await;
                sqlx::query("delete from jobs where status = 'queued'").execute(&ada.db).await.unwrap();
                answer
            }
            Use::Prices => {
                let file = "accelerator,supplier,tier,price\nnvidia-a10,Vultr,on-demand,0.9\n";
                super::prices::load(&mut ada, "", file).await
            }
            Use::Sacct(fields) => {
                ada.upload(&[("sacct.txt", super::usage::SACCT.as_bytes())]).await;
                ada.run_jobs().await;
                ada.submit("/usage", address, fields).await
            }
            Use::UndoneDivision => {
                let (scope, division): (i64, i64) = sqlx::query_as(
                    "select scope_id, delivery_id from usage_bills where delivery_id is not null limit 1",
                )
                .fetch_one(&ada.db)
                .await
                .unwrap();
                ada.submit("/imports", &format!("/imports/{division}/undo"), &[]).await;
                ada.submit("/usage", &format!("/usage/bills/{scope}/divide"), &[]).await
            }
            Use::Review => {
                let file = Focus::new().hour("reviewed", "s1", "2026-10-05T10", "1", "vision");
                super::reviews::send_for_review(&mut ada, "reviewed.csv", file).await;
                ada.submit("/imports", address, &[]).await
            }
            Use::RateCard => super::rate_cards::load(&mut ada, super::rate_cards::FILE).await,
            Use::Scenario => super::scenarios::load(&mut ada, "a.toml", super::scenarios::TEXT).await,
            Use::AssetRegister(content) => super::clusters::load(&mut ada, address, content.as_bytes()).await,
            Use::Quantities => {
                let file = "day,kind,owner,unit,quantity\n2026-10-06,team,vision,runs,4\n";
                super::quantities::load(&mut ada, file).await
            }
            Use::Rates => {
                super::rates::load(&mut ada, "month,currency,quoted_in,rate\n2026-10,EUR,USD,1.2\n").await
            }
            Use::Link if *path == "/setup/{token}" => {
                let mut db = ada.db.acquire().await.unwrap();
                let token = setup::ensure(&mut db, &mut clock::dice(), now()).await.unwrap().unwrap();
                let address = format!("/setup/{}", token.as_str());
                ada.submit(&address, &address, &[("email", "ada@example.org"), ("password", PASSWORD)]).await
            }
            Use::Link => {
                let address = link.strip_prefix("http://127.0.0.1:8080").unwrap().to_owned();
                let answer = other.submit(&address, &address, &[("password", "lena's long password")]).await;
                let lena = gpuledger::accounts::UserId(2);
                ada.token_of(lena).await;
                answer
            }
        };
        assert!(
            answer.status.is_success() || answer.status == StatusCode::SEE_OTHER,
            "{path}: {}",
            answer.body
        );
        assert!(lines(&ada).await.len() > before, "{path} left no line");
        let shown = html::text(&answer.body, "#secret");
        if shown.contains("/password/") {
            link = shown;
        }
    }

    let lines = lines(&ada).await;
    let mut verbs: Vec<_> = lines.iter().map(|(verb, ..)| verb.as_str()).collect();
    assert!(lines.iter().all(|(verb, actor, address)| {
        let is_of_a_job = matches!(
            verb.as_str(),
            "delivery.published" | "adjustments.computed" | "usage.divided" | "usage.imported"
        );
        // The server takes back how machines were divided when the usage is undone.
        let is_of_this_test =
            matches!(actor.as_str(), "command line (test)" | "ada@example.com" | "gpuledger");
        is_of_a_job || is_of_this_test || address == "192.0.2.7"
    }));
    verbs.sort_unstable();
    verbs.dedup();
    assert_eq!(
        verbs,
        [
            "adjustments.changed",
            "adjustments.computed",
            "adjustments.discarded",
            "adjustments.drafted",
            "adjustments.proposed",
            "adjustments.undone",
            "allocation.applied",
            "allocation.discarded",
            "allocation.drafted",
            "allocation.proposed",
            "allocation.quantities_removed",
            "allocation.quantities_set",
            "allocation.undone",
            "catalog.added",
            "catalog.removed",
            "delivery.added",
            "delivery.discarded",
            "delivery.explained",
            "delivery.loaded_again",
            "delivery.published",
            "delivery.replaced",
            "delivery.undone",
            "import.cancelled",
            "import.limits_set",
            "import.retried",
            "import.review_set",
            "import.uploaded",
            "invoice.entered",
            "invoice.removed",
            "mapping.removed",
            "mapping.saved",
            "person.added",
            "person.changed",
            "person.disabled",
            "person.enabled",
            "person.first_admin",
            "person.link_made",
            "person.password_changed",
            "person.password_set",
            "person.session_ended",
            "person.signed_out",
            "prices.changed",
            "prices.discarded",
            "prices.imported",
            "prices.proposed",
            "prices.token_price_added",
            "prices.token_price_removed",
            "prices.token_price_restored",
            "prices.undone",
            "prometheus.added",
            "prometheus.changed",
            "prometheus.read_again",
            "prometheus.removed",
            "rate_cards.changed",
            "rate_cards.discarded",
            "rate_cards.drafted",
            "rate_cards.proposed",
            "rate_cards.undone",
            "rates.removed",
            "rates.reporting_currency_set",
            "rates.set",
            "register.changed",
            "register.discarded",
            "register.proposed",
            "register.published",
            "register.undone",
            "scenario.brought_back",
            "scenario.made",
            "scenario.removed",
            "scenario.saved",
            "scenario.shared",
            "scenario.unshared",
            "sign_in.accepted",
            "sign_in.ended",
            "storage.archived",
            "storage.archiving_set",
            "storage.upload_limits_set",
            "token.made",
            "token.revoked",
            "usage.clock_changed",
            "usage.divided",
            "usage.division_asked",
            "usage.imported",
            "usage.node_matched",
            "usage.undone",
        ]
    );
    // Every link leads to what it names.
    let mut page = Some("/audit".to_owned());
    let mut links = Vec::new();
    while let Some(address) = page {
        let shown = ada.get(&address).await;
        links.extend(html::attributes(&shown.body, "tbody td a", "href"));
        for details in html::texts(&shown.body, "tbody td:nth-child(5)") {
            assert!(!details.contains('{'), "{details}");
        }
        page = html::attributes(&shown.body, "a[rel=next]", "href").pop();
    }
    links.sort_unstable();
    links.dedup();
    assert!(links.len() > 20, "{links:?}");
    for link in links {
        let answer = ada.get(&link).await;
        assert_eq!(answer.status, StatusCode::OK, "{link}");
    }

    // Nothing that opens anything is in it.
    let all: Vec<String> =
        sqlx::query_scalar("select a::text from audit_log a").fetch_all(&ada.db).await.unwrap();
    for secret in
        [PASSWORD, "another horse battery", "lena's long password", link.rsplit('/').next().unwrap()]
    {
        assert!(all.iter().all(|line| !line.contains(secret)), "{secret}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_is_read_by_who_what_and_when_as_page_json_and_csv(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let fields = [("email", "lena@example.org"), ("name", "=1+1"), ("role", "lead"), ("teams", "nlp")];
    admin.submit("/people", "/people", &fields).await;
    admin.submit("/people/2", "/people/2", &[("role", "finance"), ("name", "=1+1")]).await;

    let page = admin.get("/audit?who=LENA@example.org").await;
    assert_eq!(html::text(&page.body, "main > .quiet"), "Only by or about LENA@example.org.");
    assert_eq!(html::texts(&page.body, "tbody td:nth-child(3)"), ["changed", "password link made", "added"]);
    assert_eq!(html::texts(&page.body, "tbody td:nth-child(2)")[0], "admin@example.org 192.0.2.7");
    assert_eq!(html::attributes(&page.body, "tbody td:nth-child(4) a", "href")[0], "/people/2");
    let details = &html::texts(&page.body, "tbody td:nth-child(5)")[0];
    assert_eq!(details, "role: lead → finance; teams: nlp → none");

    let json = admin.json("/audit.json?what=person.changed").await;
    assert_eq!(json["lines"].as_array().unwrap().len(), 1);
    assert_eq!(json["lines"][0]["details"]["role"]["to"], "finance");
    assert_eq!(json["lines"][0]["address"], "192.0.2.7");
    let csv = admin.get("/audit.csv?what=person").await;
    assert_eq!(csv.body.lines().count(), 5, "{}", csv.body);
    assert!(csv.header("content-disposition").contains("audit.csv"));

    let empty = admin.get("/audit?what=delivery&from=2026-01-01&to=2026-01-31&who=").await;
    assert!(html::text(&empty.body, ".empty").contains("No entries match"));
    let refused = admin.get("/audit?from=yesterday").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("enter a date such as 2026-09-30"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn details_are_words_of_pages_and_what_people_typed_stays(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    for (details, shown) in [
        (json!({ "month": "2026-09", "rate": "1.1" }), "month: September 2026; rate: 1.1"),
        (json!({ "months": ["2026-09", "2026-10"] }), "months: September 2026, October 2026"),
        // A number of an invoice, a reason and a name of a token may look like a month, a day or a figure.
        (json!({ "number": "2026-09" }), "number: 2026-09"),
        (json!({ "number": "2026-09-30", "reason": "2026-10" }), "number: 2026-09-30; reason: 2026-10"),
        (json!({ "amount": { "amount": "1204.1", "currency": "USD" } }), "amount: 1,204.10 USD"),
        (json!({ "until": "2026-09-30T14:00:00.123456789Z" }), "blocked until: Sep 30, 2026, 14:00 UTC"),
        (json!({ "sequence": 7, "removed": null, "teams": [] }), "version: 7; teams: none"),
        (json!({ "changed": { "entries": 2, "is_new": true } }), "changed: is new yes, entries 2"),
    ] {
        sqlx::query(
            "insert into audit_log (happened_at, actor, verb, object_kind, object_id, object_name, details)
             values (now(), 'x', 'invoice.entered', '', '', '', $1)",
        )
        .bind(details)
        .execute(&app.db)
        .await
        .unwrap();
        let page = admin.get("/audit?who=x").await;
        let mut found: Vec<&str> = Vec::new();
        let texts = html::texts(&page.body, "tbody td:nth-child(5)");
        found.extend(texts[0].split("; "));
        found.sort_unstable();
        let mut expected: Vec<&str> = shown.split("; ").collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_goes_back_page_by_page(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    sqlx::query(
        "insert into audit_log (happened_at, actor, verb, object_kind, object_id, object_name, details)
         select now(), 'x', 'token.made', '', '', 'n' || n, '{}' from generate_series(1, 230) n",
    )
    .execute(&app.db)
    .await
    .unwrap();
    let mut address = "/audit?who=x".to_owned();
    let mut seen = 0;
    for count in [100, 100, 30] {
        let page = admin.get(&address).await;
        assert_eq!(html::texts(&page.body, "tbody tr").len(), count);
        seen += count;
        address = html::attributes(&page.body, "a[rel=next]", "href").pop().unwrap_or_default();
    }
    assert_eq!((seen, address.as_str()), (230, ""));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_refused_sign_in_keeps_no_address_that_may_be_a_password(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Admin).await;
    for email in ["ada@example.org", "hunter2@my-bank"] {
        app.submit("/sign-in", "/sign-in", &[("email", email), ("password", "wrong one")]).await;
    }
    let refused: Vec<String> = sqlx::query_scalar(
        "select object_name from audit_log where verb = 'sign_in.refused' order by audit_id",
    )
    .fetch_all(&app.db)
    .await
    .unwrap();
    assert_eq!(refused, ["ada@example.org", "an address without account"]);
}

/// Verb, actor and object of every line about signing in.
async fn sign_ins(app: &TestApp) -> Vec<(String, String, String)> {
    sqlx::query_as(
        "select verb, actor, object_name from audit_log where verb like 'sign\\_in.%' order by audit_id",
    )
    .fetch_all(&app.db)
    .await
    .unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn sign_ins_that_the_limits_block_leave_one_line_for_each_pause(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Admin).await;
    for email in ["ada@example.org", "hunter2@my-bank", "hunter3@my-bank"] {
        for _ in 0..8 {
            app.submit("/sign-in", "/sign-in", &[("email", email), ("password", "wrong one")]).await;
        }
    }
    let lines = sign_ins(&app).await;
    assert_eq!(lines.iter().filter(|(verb, ..)| verb == "sign_in.refused").count(), 15);
    let blocked: Vec<_> = lines.iter().filter(|(verb, ..)| verb == "sign_in.blocked").collect();
    let line = |of: &str| ("sign_in.blocked".to_owned(), "not signed in".to_owned(), of.to_owned());
    assert_eq!(blocked, [&line("ada@example.org"), &line("an address without account")]);
    let page = app.signed_in(Role::Admin).await.get("/audit?what=sign_in.blocked").await;
    let what = html::texts(&page.body, "tbody td:nth-child(3)");
    assert_eq!(what, ["sign-in blocked after too many failures"; 2]);

    // The next pause, and another place: so many lines more.
    let mut db = app.db.acquire().await.unwrap();
    let later = now() + chrono::TimeDelta::seconds(20);
    let mut begin =
        async |address: &str, now| sign_in::begin(&mut db, "ada@example.org", address, now).await.unwrap();
    assert!(matches!(begin("192.0.2.7", later).await, Begun::Checking(_)));
    for _ in 0..3 {
        assert!(matches!(begin("192.0.2.7", later).await, Begun::Wait { .. }));
    }
    // Of IPv6 a machine has as many addresses as it likes, all of one network.
    for n in 0..9 {
        begin(&format!("2001:db8:1:2::{n}"), later).await;
    }
    drop(db);
    let blocked = sign_ins(&app).await.into_iter().filter(|(verb, ..)| verb == "sign_in.blocked").count();
    assert_eq!(blocked, 4);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_wrong_current_password_leaves_a_line(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Lead).await;
    let guess = [("current", "wrong"), ("new", "another horse battery")];
    for _ in 0..7 {
        app.submit("/account", "/account/password", &guess).await;
    }
    let lines = sign_ins(&app).await;
    let line = |verb: &str| {
        let lead = "lead@example.org".to_owned();
        (format!("sign_in.{verb}"), lead.clone(), lead)
    };
    assert_eq!(lines[..5], vec![line("password_refused"); 5]);
    assert_eq!(lines[5..], [line("blocked")]);
}
