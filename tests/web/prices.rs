//! The list of prices: filtered, entered, imported after a preview, proposed, undone; beside what we pay, and used by
//! clusters and scenarios.

use axum::body::Body;
use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::Target;
use gpuledger::money::Decimal;
use gpuledger::period::{BillingMonth, Period};
use gpuledger::price_catalogue::Catalogue;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::app::{Answer, file_head, upload_of};
use crate::support::changes::decide;
use crate::support::configuration::{rule, team, write};
use crate::support::{Focus, TestApp, TestLedger, html, now};

/// Vultr's H100, which the list that is shipped has not.
pub const ENTERED: [(&str, &str); 8] = [
    ("supplier", "Vultr"),
    ("accelerator", "nvidia-h100-sxm"),
    ("tier", "on-demand"),
    ("price", "3.75"),
    ("currency", "USD"),
    ("date", "2026-11-01"),
    ("source", "an offer of them"),
    ("sku", "8x H100"),
];

const SKYPILOT: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n\
    gpu_8x_h100_sxm5,H100,8.0,208.0,1800.0,28.0,us-east-1,,\n\
    gpu_8x_v100_n,V100,8.0,88.0,448.0,6.32,us-east-1,,\n\
    cpu_4x_general,,,4.0,16.0,0.2,us-east-1,,\n\
    gpu_1x_a10,A10,1.0,30.0,200.0,0.0,us-east-1,,\n\
    gpu_1x_h100_new,H100,1.0,30.0,200.0,USD 4,us-east-1,,\n";

/// Sends a file of prices with what stands beside it.
pub async fn load(app: &mut TestApp, supplier: &str, content: &str) -> Answer {
    let mut body = app.upload_head("/prices/new").await;
    for (name, value) in [("supplier", supplier), ("read_on", "2026-11-02"), ("read_at", "their site")] {
        let part = format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(part.bytes());
    }
    body.extend(file_head("vms.csv").bytes());
    body.extend(content.bytes());
    body.extend(b"\r\n--B--\r\n");
    app.send(upload_of("/prices/file", Body::from(body))).await
}

fn with(changed: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let is_changed = |name: &str| changed.iter().any(|it| it.0 == name);
    ENTERED.into_iter().filter(|it| !is_changed(it.0)).chain(changed.iter().copied()).collect()
}

async fn enter(app: &mut TestApp, fields: &[(&str, &str)]) -> Answer {
    app.submit("/prices/new", "/prices/new", fields).await
}

/// Supplier and price of the list, narrowed by a query.
async fn listed(app: &mut TestApp, query: &str) -> Vec<(String, String)> {
    let list = app.json(&format!("/prices.json?{query}")).await;
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    list["prices"].as_array().unwrap().iter().map(|it| (text(&it["supplier"]), text(&it["price"]))).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_list_that_is_shipped_is_there_from_the_beginning_and_narrowed_by_its_address(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let shipped = Catalogue::shipped();
    assert_eq!(listed(&mut admin, "").await.len(), shipped.listed().len());
    let h100 = listed(&mut admin, "accelerator=nvidia-h100-sxm&tier=on-demand").await;
    assert!(h100.len() > 5 && h100.iter().any(|it| it == &("AWS".into(), "6.88".into())));
    let amounts: Vec<Decimal> = h100.iter().map(|it| it.1.parse().unwrap()).collect();
    assert!(amounts.is_sorted());
    let aws = listed(&mut admin, "supplier=aws&sort=price").await;
    let amounts: Vec<Decimal> = aws.iter().map(|it| it.1.parse().unwrap()).collect();
    assert!(amounts.len() > 5 && amounts.is_sorted() && aws.iter().all(|it| it.0 == "AWS"));

    let page = admin.get("/prices?supplier=AWS&region=us-east-1").await.body;
    let table = html::text(&page, "main table");
    assert!(
        table.contains("p5.48xlarge") && table.contains("Jul 20, 2026") && !table.contains("CoreWeave"),
        "{table}"
    );
    let odd = html::text(&admin.get("/prices?only=odd&supplier=Microsoft").await.body, "main table");
    assert!(odd.contains("30.1 % more than 3.67 of 2026-06-18"), "{odd}");
    assert!(admin.get("/prices?supplier=Nobody").await.body.contains("No prices match"));
    for wrong in ["tier=weekly", "accelerator=abacus", "sort=colour", "only=mine", "revision=7", "colour=red"]
    {
        assert_eq!(admin.get(&format!("/prices?{wrong}")).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let csv = admin.get("/prices.csv?accelerator=nvidia-h100-sxm").await.body;
    assert!(csv.starts_with("accelerator,supplier,tier,paid,price,currency,gpus,sku,region,term_months,"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_price_that_is_entered_holds_at_once_and_is_undone(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let answer = enter(&mut admin, &ENTERED).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/prices"), "{}", answer.body);
    let vultr = [("Vultr".to_owned(), "3.75".to_owned())];
    assert_eq!(listed(&mut admin, "supplier=Vultr").await, vultr);
    assert_eq!(listed(&mut admin, "only=entered").await, vultr);
    assert_eq!(listed(&mut admin, "supplier=Vultr&revision=0").await, [], "as it was before");

    let list = admin.json("/prices.json?supplier=Vultr").await;
    let offer = format!("/prices/offers/{}", list["prices"][0]["id"].as_str().unwrap());
    let form = admin.get(&offer).await.body;
    assert!(form.contains(r#"value="3.75""#) && form.contains(r#"value="an offer of them""#));
    let changed = with(&[("price", "3.60"), ("reason", "they answered")]);
    assert_eq!(admin.submit(&offer, &offer, &changed).await.status, StatusCode::SEE_OTHER);
    assert_eq!(listed(&mut admin, "supplier=Vultr").await[0].1, "3.6");

    let undone = admin.submit("/prices/changes/1", "/changes/prices/1/undo", &[]).await;
    assert_eq!(undone.status, StatusCode::UNPROCESSABLE_ENTITY, "a later change touched it");
    assert!(undone.body.contains("A later change edited these entries"));
    assert!(!undone.body.contains("Edited by somebody else"));
    let page = admin.get("/prices/changes/1").await.body;
    assert!(
        page.contains("A later change edited these entries") && !page.contains("Edited by somebody else")
    );
    admin.submit("/prices/changes/2", "/changes/prices/2/undo", &[]).await;
    assert_eq!(listed(&mut admin, "supplier=Vultr").await, vultr);
    admin.submit("/prices/changes/1", "/changes/prices/1/undo", &[]).await;
    assert_eq!(listed(&mut admin, "supplier=Vultr").await, []);
    let changes = admin.json("/prices/changes.json").await;
    assert_eq!((&changes["total"], &changes["limit"]), (&2.into(), &200.into()));
    let changes = &changes["changes"];
    assert_eq!((&changes[0]["status"], &changes[0]["reason"]), (&"undone".into(), &"they answered".into()));
    assert_eq!(changes[1]["undone_revision"], 4);
    assert_eq!((&changes[1]["prices"], &changes[1]["edits"]), (&1.into(), &Value::Null));
    assert_eq!(
        admin.json("/prices/changes/2.json").await["change"]["edits"][0]["after"]["price"]["price"],
        "3.6"
    );
    assert!(
        html::text(&admin.get("/changes?kind=prices").await.body, "main")
            .contains("Vultr 8x H100, on demand: added")
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_wrong_is_said_at_its_field_and_what_is_odd_is_asked_once_more(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    for (field, value, sentence) in [
        ("price", "-1", "Enter an amount of money above zero"),
        ("price", "0", "Enter a price above 0"),
        ("supplier", " ", "Enter the name of whoever sells it"),
        ("date", "2999-01-01", "Enter a day that is over"),
        ("gpus", "none", "Enter a number above zero, or a part of one"),
        ("paid", "committed", "Enter nothing, or how this tier is paid"),
        ("source", "", "Enter where the price was read"),
    ] {
        let answer = enter(&mut admin, &with(&[(field, value)])).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        let problem = html::text(&answer.body, &format!("#{field}-problem"));
        assert!(problem.contains(sentence), "{field}: {problem}");
    }
    // The price of a node.
    let node = with(&[("price", "30")]);
    let asked = enter(&mut admin, &node).await;
    assert_eq!(asked.status, StatusCode::UNPROCESSABLE_ENTITY);
    let problem = html::text(&asked.body, "#price-problem");
    assert!(problem.contains("times the median of on demand prices of the same accelerator"), "{problem}");
    assert!(asked.body.contains("An hour of one GPU is 30 USD, as I entered it"));
    assert_eq!(listed(&mut admin, "supplier=Vultr").await, []);
    // What is ticked is of the price that was asked about, and of no other.
    let claim = html::attributes(&asked.body, "input[name=sure]", "value").remove(0);
    assert_eq!(claim, "An hour of one GPU is 30 USD");
    let other = with(&[("price", "300")]).into_iter().chain([("sure", claim.as_str())]).collect::<Vec<_>>();
    assert_eq!(enter(&mut admin, &other).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let sure: Vec<_> = node.into_iter().chain([("sure", claim.as_str())]).collect();
    assert_eq!(enter(&mut admin, &sure).await.status, StatusCode::SEE_OTHER);
    let marks = &admin.json("/prices.json?supplier=Vultr").await["prices"][0]["marks"];
    assert!(marks.as_array().unwrap().iter().any(|it| it["what"] == "far-above"), "{marks}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_is_looked_at_before_it_changes_anything(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let answer = load(&mut admin, "Lambda", SKYPILOT).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let address = answer.location().to_owned();
    assert_eq!(listed(&mut admin, "only=entered").await, [], "nothing changed yet");
    let page = admin.get(&address).await.body;
    let report = html::text(&page, "#report");
    assert!(report.contains("5 rows of a SkyPilot catalog: 2 prices change, 1 row rejected"), "{report}");
    assert!(report.contains("without accelerators") && report.contains("0.0: not sold"));
    assert!(report.contains("priceUSD 4an amount of money above zero"), "{report}");
    let edits = html::text(&page, "#edits");
    assert!(edits.contains("gpu_8x_h100_sxm5, us-east-1") && edits.contains("3.50 USD"), "{edits}");

    assert_eq!(admin.submit(&address, &decide(&address, "apply"), &[]).await.status, StatusCode::SEE_OTHER);
    let entered = listed(&mut admin, "only=entered").await;
    assert_eq!(entered, [("Lambda".into(), "3.5".into()), ("Lambda".into(), "0.79".into())]);
    let list = admin.json("/prices.json?only=entered").await;
    assert_eq!(list["prices"][0]["source"], "their site");
    assert_eq!((&list["prices"][0]["date"], &list["prices"][0]["gpus"]), (&"2026-11-02".into(), &"8".into()));

    // The same again changes nothing.
    let again = load(&mut admin, "Lambda", SKYPILOT).await.location().to_owned();
    let page = html::text(&admin.get(&again).await.body, "main");
    assert!(page.contains("This changes no prices.") && page.contains("2 unchanged"), "{page}");
    // A later one says by how much.
    let later = "accelerator,supplier,tier,price,sku,region,gpus,date\n\
                 nvidia-h100-sxm,Lambda,on-demand,4.2,gpu_8x_h100_sxm5,us-east-1,8,2026-11-10\n";
    let later = load(&mut admin, "", later).await.location().to_owned();
    let edits = html::text(&admin.get(&later).await.body, "#edits");
    assert!(edits.contains("20.0 % more"), "{edits}");
    let csv = admin.get(&format!("{later}.csv")).await.body;
    assert!(csv.contains(",2026-11-10,3.5,USD,4.2,USD,20.0 % more"), "{csv}");

    for (supplier, content, sentence) in [
        ("Lambda", "a,b\n1,2\n", "names no columns of a list of prices"),
        ("", SKYPILOT, "enter the supplier"),
        ("Lambda", "", "names no columns"),
    ] {
        let answer = load(&mut admin, supplier, content).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(html::text(&answer.body, "main").contains(sentence), "{sentence}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_file_of_the_list_is_read_back_and_changes_nothing(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    enter(&mut admin, &ENTERED).await;
    let csv = admin.get("/prices.csv").await.body;
    let answer = load(&mut admin, "", &csv).await;
    let page = html::text(&admin.get(answer.location()).await.body, "main");
    assert!(page.contains("This changes no prices.") && !page.contains("rejected"), "{page}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn finance_proposes_and_an_administrator_applies_or_discards(db: PgPool) {
    let app = TestApp::new(db);
    let (mut finance, mut admin) = (app.signed_in(Role::Finance).await, app.signed_in(Role::Admin).await);
    let proposed = enter(&mut finance, &ENTERED).await;
    assert_eq!(proposed.location(), "/prices/changes/1");
    assert_eq!(listed(&mut finance, "supplier=Vultr").await, []);
    assert!(finance.get("/prices/changes/1").await.body.contains("Administrators see this proposal"));
    let bill = Focus::new().hour("acme", "s1", "2026-09-05T10", "24", "vision");
    admin.import("month.csv", &bill).await;
    let overview = html::text(&admin.get("/overview").await.body, "main");
    assert!(overview.contains("1 proposed change to prices is waiting for your review."), "{overview}");
    assert_eq!(
        finance.submit("/prices/changes/1", "/changes/prices/1/apply", &[]).await.status,
        StatusCode::FORBIDDEN
    );
    let file = load(&mut finance, "Lambda", SKYPILOT).await.location().to_owned();
    let why = [("reason", "their new list")];
    finance.submit(&file, &decide(&file, "propose"), &why).await;
    assert!(html::text(&admin.get("/prices").await.body, "main").contains("2 proposals need review"));
    admin.submit("/prices/changes/1", "/changes/prices/1/apply", &[]).await;
    admin.submit(&file, &decide(&file, "discard"), &[]).await;
    assert_eq!(listed(&mut finance, "only=entered").await, [("Vultr".into(), "3.75".into())]);
    admin.submit("/prices/changes/1", &decide(&file, "apply"), &[]).await;
    assert_eq!(listed(&mut finance, "only=entered").await.len(), 1, "what is discarded stays discarded");
    let page = html::text(&admin.get("/prices/changes/1").await.body, "main");
    assert!(
        page.contains("by finance@example.org") && page.contains("as revision 1 of the price list"),
        "{page}"
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_offer_that_is_shipped_is_removed_and_brought_back(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let aws = "supplier=AWS&accelerator=nvidia-h100-sxm&tier=on-demand";
    let id = admin.json(&format!("/prices.json?{aws}")).await["prices"][0]["id"].as_str().unwrap().to_owned();
    let offer = format!("/prices/offers/{id}");
    assert_eq!(admin.submit(&offer, &format!("{offer}/remove"), &[]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(listed(&mut admin, aws).await, []);
    assert_eq!(admin.get(&offer).await.status, StatusCode::NOT_FOUND);
    admin.submit("/prices/changes/1", "/changes/prices/1/undo", &[]).await;
    assert_eq!(listed(&mut admin, aws).await, [("AWS".into(), "6.88".into())]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_form_overwrites_nothing_that_was_saved_since_it_was_opened(db: PgPool) {
    let mut one = TestApp::new(db).signed_in(Role::Admin).await;
    enter(&mut one, &ENTERED).await;
    let list = one.json("/prices.json?supplier=Vultr").await;
    let offer = format!("/prices/offers/{}", list["prices"][0]["id"].as_str().unwrap());
    let form = one.get(&offer).await.body;
    let seen = html::attributes(&form, "input[name=revision]", "value").remove(0);
    let removal = format!("{offer}/remove?revision=1");
    assert!(form.contains(&removal));
    assert_eq!(seen, "1");
    let theirs = with(&[("price", "3.60"), ("date", "2026-11-03")]);
    // In another window.
    assert_eq!(one.submit(&offer, &offer, &theirs).await.status, StatusCode::SEE_OTHER);

    let mine = with(&[("price", "3.50"), ("date", "2026-11-02")]);
    for address in [offer.as_str(), "/prices/new"] {
        let fields: Vec<_> = mine.iter().copied().chain([("revision", "1")]).collect();
        let refused = one.submit(&offer, address, &fields).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{address}");
        assert!(refused.body.contains("Edited by somebody else"), "{}", refused.body);
        assert!(refused.body.contains(r#"value="3.50""#), "what was typed is there still");
        assert_eq!(html::attributes(&refused.body, "input[name=revision]", "value"), ["2"]);
    }
    assert_eq!(one.submit(&offer, &removal, &[]).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(listed(&mut one, "supplier=Vultr").await[0].1, "3.6");
    // Who has seen it since may.
    let fields: Vec<_> = mine.iter().copied().chain([("revision", "2")]).collect();
    assert_eq!(one.submit(&offer, &offer, &fields).await.status, StatusCode::SEE_OTHER);
    assert_eq!(listed(&mut one, "supplier=Vultr").await[0].1, "3.5");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn texts_without_end_and_nuls_are_refused_in_words(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let (long, reason): (&str, &str) = ("x".repeat(201).leak(), "y".repeat(1001).leak());
    for (field, value) in
        [("supplier", long), ("sku", long), ("region", long), ("source", long), ("reason", reason)]
    {
        let answer = enter(&mut admin, &with(&[(field, value)])).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        let problem = html::text(&answer.body, &format!("#{field}-problem"));
        assert!(problem.contains("at most"), "{field}: {problem}");
    }
    for (supplier, sentence) in
        [(long, "Supplier: enter at most 200 characters"), ("a\0b", "Supplier: remove the NUL")]
    {
        let answer = load(&mut admin, supplier, SKYPILOT).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.body);
        assert!(html::text(&answer.body, "main").contains(sentence), "{sentence}");
    }
    let rows = SKYPILOT.replace("gpu_8x_v100_n", "gpu\0").replace("gpu_1x_a10,A10", "gpu_1x_a10,Aba\0cus");
    let answer = load(&mut admin, "Lambda", &rows).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let report = html::text(&admin.get(answer.location()).await.body, "#report");
    assert!(report.contains("1 price changes") && report.contains("3 rows rejected"), "{report}");
    assert!(report.contains("text without a NUL character"), "{report}");
    let file = answer.location();
    let refused = admin.submit(file, &decide(file, "propose"), &[("reason", reason)]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_is_sent_again_finds_its_preview_and_old_ones_go(db: PgPool) {
    let mut admin = TestApp::new(db.clone()).signed_in(Role::Admin).await;
    let first = load(&mut admin, "Lambda", SKYPILOT).await.location().to_owned();
    assert_eq!(load(&mut admin, "Lambda", SKYPILOT).await.location(), first);
    sqlx::query("update changes set made_at = made_at - interval '31 days'").execute(&db).await.unwrap();
    let second = load(&mut admin, "Lambda", SKYPILOT).await.location().to_owned();
    assert_ne!(second, first);
    assert_eq!(admin.get(&first).await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.json("/prices/changes.json").await["total"], 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_list_of_changes_says_where_it_stops_and_a_change_how_many_it_lost(db: PgPool) {
    let mut admin = TestApp::new(db.clone()).signed_in(Role::Admin).await;
    let head = "accelerator,supplier,tier,price,sku,date\n";
    let rows = |price: &str| -> String {
        let row = |at: i32| format!("nvidia-h100-sxm,Nobody,on-demand,{price},m{at},2026-11-10\n");
        (0..25).map(row).collect::<Vec<_>>().concat()
    };
    let change = load(&mut admin, "", &format!("{head}{}", rows("3"))).await.location().to_owned();
    let later = load(&mut admin, "", &format!("{head}{}", rows("3.1"))).await.location().to_owned();
    admin.submit(&later, &decide(&later, "apply"), &[]).await;
    let page = html::text(&admin.get(&change).await.body, "main");
    assert!(page.contains("and 5 more"), "{page}");
    let refused = admin.submit(&change, &decide(&change, "propose"), &[]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "it is in conflict");

    sqlx::query(
        "insert into changes (kind, status, summary, edits, made_at, made_by)
         select 'prices', 'discarded', 'one of many', '[]', now(), 'somebody' from generate_series(1, 205)",
    )
    .execute(&db)
    .await
    .unwrap();
    let list = admin.json("/prices/changes.json").await;
    assert_eq!((list["changes"].as_array().unwrap().len(), &list["total"]), (200, &207.into()));
    let page = html::text(&admin.get("/changes?kind=prices").await.body, "main");
    assert!(page.contains("207: one of many") && page.contains("Page 1 of 5"), "{page}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_decided_before_is_said_and_what_never_was_is_not_found(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    enter(&mut admin, &ENTERED).await;
    for act in ["apply", "undo", "propose", "discard"] {
        let answer = admin.submit("/prices/new", &format!("/changes/prices/77/{act}"), &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{act}");
    }
    let one = "/prices/changes/1";
    for (act, sentence) in [
        ("apply", "this change was applied by"),
        ("propose", "this change was applied by"),
        ("undo", "Undone. Revision"),
        ("undo", "this change was undone by"),
        ("discard", "this change was undone by"),
    ] {
        let answer = admin.submit(one, &decide(one, act), &[]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{act}");
        let page = admin.get(answer.location()).await.body;
        assert!(page.contains(sentence), "{act}: {page}");
    }
    // A file that changes nothing is no proposal.
    let csv = admin.get("/prices.csv").await.body;
    let draft = load(&mut admin, "", &csv).await.location().to_owned();
    admin.submit(one, &decide(&draft, "propose"), &[]).await;
    assert_eq!(admin.json(&format!("{draft}.json")).await["change"]["status"], "drafted");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn prices_in_two_currencies_are_not_compared(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    enter(&mut admin, &ENTERED).await;
    let list = admin.json("/prices.json?supplier=Vultr").await;
    let offer = format!("/prices/offers/{}", list["prices"][0]["id"].as_str().unwrap());
    let euros = with(&[("currency", "EUR"), ("price", "3")]);
    assert_eq!(admin.submit(&offer, &offer, &euros).await.status, StatusCode::SEE_OTHER);
    let edits = html::text(&admin.get("/prices/changes/2").await.body, "#edits");
    assert!(edits.contains("3.75 USD") && edits.contains("in another currency"), "{edits}");
    assert!(!edits.contains(" less") && !edits.contains(" more"), "{edits}");
    let csv = admin.get("/prices/changes/2.csv").await.body;
    assert!(csv.contains(",3.75,USD,3,EUR,in another currency"), "{csv}");
}

/// A ledger with an hour of 8 H100 for 24 dollars in the last quarter that is over.
async fn with_hours(db: PgPool) -> TestLedger {
    let quarter = Period::quarter_of(BillingMonth::of(now().date_naive())).previous();
    let at = format!("{}-05T10", quarter.first());
    let ledger = TestLedger::new(db);
    ledger.deliver("month.csv", Focus::new().hour("acme", "s1", &at, "24", "vision")).await;
    ledger
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn our_own_effective_price_stands_beside_the_list_for_all_but_leads(db: PgPool) {
    let ledger = with_hours(db).await;
    let app = TestApp::of(&ledger);
    let mut finance = app.signed_in(Role::Finance).await;
    let list = finance.json("/prices.json?supplier=AWS&accelerator=nvidia-h100-sxm").await;
    let price: Decimal = list["prices"][0]["ours"]["per_hour"].as_str().unwrap().parse().unwrap();
    assert_eq!(price, 3.into());
    assert_eq!(list["own_prices"]["prices"][0]["pricing"], "Standard");
    let spot = finance.json("/prices.json?accelerator=nvidia-h100-sxm&tier=spot").await;
    assert_eq!(spot["prices"][0]["ours"], Value::Null, "nothing was bought so");
    assert_eq!(
        (&list["prices"][0]["own_currency"], &spot["prices"][0]["own_currency"]),
        (&"USD".into(), &Value::Null)
    );
    let csv = finance.get("/prices.csv?supplier=AWS&accelerator=nvidia-h100-sxm&tier=on-demand").await.body;
    assert!(csv.contains(",own_effective_price,own_currency") && csv.contains(",3.000000,USD"), "{csv}");
    let table = html::text(&finance.get("/prices?supplier=AWS").await.body, "main table");
    assert!(table.contains("You paid in USDPaid") && table.contains(" 3.00 "), "{table}");

    let mut lead = app.signed_in(Role::Lead).await;
    let list = lead.json("/prices.json").await;
    assert_eq!(list["own_prices"], Value::Null);
    assert!(list["prices"].as_array().unwrap().iter().all(|it| it["ours"].is_null()));
    let page = lead.get("/prices").await.body;
    assert!(!page.contains("You paid") && !page.contains("/prices/offers/") && page.contains("p5.48xlarge"));
    assert!(lead.get("/prices.csv").await.body.lines().skip(1).all(|line| line.ends_with(',')));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_paid_in_another_currency_is_said_to_be_converted(db: PgPool) {
    let month = Period::quarter_of(BillingMonth::of(now().date_naive())).previous().first();
    let ledger = TestLedger::new(db);
    let file = Focus::new().hour("acme", "s1", &format!("{month}-05T10"), "24", "vision").billed_in("EUR");
    ledger.deliver("month.csv", file).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let month = month.to_string();
    let rate = [("month", month.as_str()), ("currency", "EUR"), ("quoted_in", "USD"), ("rate", "2")];
    let entered = finance.submit("/rates", "/rates", &rate).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{}", html::text(&entered.body, "main"));
    let list = finance.json("/prices.json?supplier=AWS&accelerator=nvidia-h100-sxm").await;
    assert_eq!(list["own_prices"]["converted_from"], serde_json::json!(["EUR"]));
    let body = finance.get("/prices?supplier=AWS").await.body;
    let table = html::text(&body, "main table");
    assert!(table.contains("You paid in USD, converted from EUR") && table.contains(" 6.00 "), "{table}");
    assert!(body.contains("6.000000 USD, converted from EUR"), "at the figure, too");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn clusters_and_scenarios_compare_with_the_list_that_holds(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let template = "/scenarios/templates/ten-nodes";
    let added = admin.get(&format!("{template}?do=add:/option")).await.location().to_owned();
    assert_eq!(added, format!("{template}?prices=0&add=/option#option-5"));
    let added = added.replace('?', ".json?").replace("#option-5", "");
    let before = admin.json(&added).await;
    let cheap = with(&[("price", "0.50")]);
    assert_eq!(enter(&mut admin, &cheap).await.status, StatusCode::SEE_OTHER);
    let since = now().date_naive() - chrono::Duration::days(70);
    let since = since.format("%Y-%m-01").to_string();
    let fields = [("name", "East"), ("site", "Paris"), ("since", since.as_str())];
    admin.submit("/clusters/new", "/clusters/new", &fields).await;
    let cluster = admin.json("/clusters/east.json").await;
    let offers = cluster["cloud"]["listed"][0].as_array().unwrap();
    assert!(offers.iter().any(|it| it["supplier"] == "Vultr" && it["price"] == "0.5"), "{offers:?}");

    assert_eq!(admin.json(&added).await, before, "an address is of the list that it was made with");
    let with_place = admin.json(&format!("{template}.json?add=/option")).await;
    let options = with_place["scenario"]["option"].as_array().unwrap();
    let rate = &options.last().unwrap()["place"][0]["on_demand"];
    assert_eq!((&rate["price"], &rate["date"]), (&"0.5".into(), &"2026-11-01".into()), "the cheapest");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_rate_of_a_scenario_takes_what_we_paid_and_odd_prices_are_told_beside_it(db: PgPool) {
    let ledger = with_hours(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let template = "/scenarios/templates/ten-nodes";
    let page = finance.get(template).await.body;
    let acts = html::attributes(&page, "button[name=do]", "value");
    let ours = acts.iter().find(|it| it.starts_with("take:") && it.ends_with("=ours")).unwrap();
    let taken = finance.get(&format!("{template}?do={ours}")).await;
    assert_eq!(taken.status, StatusCode::SEE_OTHER);
    let at = ours.strip_prefix("take:").and_then(|it| it.strip_suffix("=ours")).unwrap();
    let address = taken.location().to_owned();
    let field = format!("#f{}-price", at.replace('/', "-"));
    assert!(address.contains(&format!("set={at}/price=3&")) && address.ends_with(&field), "{address}");
    let changed = html::text(&finance.get(&address).await.body, ".chips");
    assert!(changed.contains("our own effective price, Q"), "{changed}");

    let odd = finance.get(&format!("{template}?set={at}/price=60&set={at}/date=2024-01-01")).await.body;
    let note = |field: &str| html::text(&odd, &format!("#n{}-{field}", at.replace('/', "-")));
    assert!(note("price").contains("is it the price of a whole machine?"), "{}", note("price"));
    assert!(note("date").contains("days old; update it"), "{}", note("date"));
    let refused = finance.get(&format!("{template}?do=take:{at}=0123456789abcdef")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_rate_of_a_lead_takes_what_their_teams_paid_and_nothing_of_others(db: PgPool) {
    let quarter = Period::quarter_of(BillingMonth::of(now().date_naive())).previous();
    let at = format!("{}-05T10", quarter.first());
    let ledger = TestLedger::new(db);
    ledger.deliver("theirs.csv", Focus::new().hour("acme", "s1", &at, "80", "rivals")).await;
    let configuration = vec![team("research"), team("rivals"), rule(1, "", "", Target::Labels)];
    write(&mut ledger.db.acquire().await.unwrap(), configuration).await;
    let app = TestApp::of(&ledger);
    let (mut lead, mut finance) = (app.signed_in(Role::Lead).await, app.signed_in(Role::Finance).await);
    let template = "/scenarios/templates/ten-nodes";
    let acts = |body: &str| -> Vec<String> {
        let acts = html::attributes(body, "button[name=do]", "value");
        acts.into_iter().filter(|it| it.starts_with("take:") && it.ends_with("=ours")).collect()
    };
    let ours = acts(&finance.get(template).await.body)[0].clone();
    let set = |price: &str| {
        let at = ours.strip_prefix("take:").and_then(|it| it.strip_suffix("=ours")).unwrap();
        format!("set={at}/price={price}&")
    };
    let taken = finance.get(&format!("{template}?do={ours}")).await.location().to_owned();
    assert!(taken.contains(&set("10")), "{taken}");
    // They paid for none.
    let page = lead.get(template).await.body;
    assert!(page.contains("value=\"take:") && !page.contains("your price in"));
    assert_eq!(acts(&page), [""; 0]);
    assert_eq!(lead.get(&format!("{template}?do={ours}")).await.status, StatusCode::BAD_REQUEST);
    // They paid another rate.
    ledger.deliver("own.csv", Focus::new().hour("other", "s2", &at, "24", "research")).await;
    for (who, price) in [(&mut lead, "3"), (&mut finance, "6.5")] {
        assert!(acts(&who.get(template).await.body).contains(&ours));
        let taken = who.get(&format!("{template}?do={ours}")).await.location().to_owned();
        assert!(taken.contains(&set(price)), "{taken}");
    }
}
