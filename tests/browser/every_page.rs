//! Every page that the route table names, in both themes and on a narrow and a wide screen: nothing for axe to find,
//! nothing that scrolls sideways, nothing that the browser complains about.

use gpuledger::changes::{self, About, Document as _, Outcome, Right};
use std::collections::BTreeMap;

use gpuledger::accelerator;
use gpuledger::accounts::{Role, people};
use gpuledger::adjustments::{Adjustment, Adjustments, Terms};
use gpuledger::allocation::{
    self, Budget, BudgetOf, BudgetPeriod, Entry, Months, Quantity, QuantityKind, Split, Target, Team,
};
use gpuledger::audit::Actor;
use gpuledger::billing::mapping::Mapping;
use gpuledger::economics::file;
use gpuledger::economics::template::templates;
use gpuledger::ledger::{self, NewAddition};
use gpuledger::money::Currency;
use gpuledger::onprem::power::Reading;
use gpuledger::onprem::{self, Entry as Own, Kind, MeterReadings, Start};
use gpuledger::price_catalogue;
use gpuledger::price_catalogue::{Catalogue, read};
use gpuledger::rate_cards::{self, RateCards};
use gpuledger::saved_scenarios::{self, Headline};
use gpuledger::telemetry::prometheus::{self, Entered};
use gpuledger::web;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, PgPool};

use super::{Page, Site};
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, files, now, number};

const AXE: &str = include_str!("axe.min.js");

/// An address of each route that answers a page. A route that is added stands here or in [`NO_PAGES`].
const PAGES: &[(&str, &str)] = &[
    ("/overview", "/overview"),
    ("/overview", "/overview?cost=billed"),
    ("/spend/{period}", "/spend/2026-09"),
    ("/spend/{period}", "/spend/2026-09?by=tag:team&provider=NeoCloud"),
    ("/spend/{period}", "/spend/2026-08..2026-09?by=day"),
    ("/spend/{period}", "/spend/2020-01"),
    ("/spend/{period}", "/spend/2026-08..2026-09?by=account&then=accelerator&over=day&in=USD&find=s"),
    ("/variance/{period}", "/variance/2026-09"),
    ("/tokens/{period}", "/tokens/2026-09"),
    ("/chargeback/{period}", "/chargeback/2026-09"),
    ("/teams/{team}/{period}", "/teams/research/2026-09"),
    ("/teams/{team}/{period}/statement", "/teams/research/2026-08..2026-09/statement"),
    ("/experiments/during/{period}", "/experiments/during/2026-09"),
    ("/experiments/{experiment}", "/experiments/seg-1"),
    ("/experiments/compare", "/experiments/compare?experiment=seg-1&experiment=seg-2"),
    ("/charges/{period}", "/charges/2026-09"),
    ("/charges/{delivery}/{file}/{row}", "/charges/1/0/1"),
    ("/charges/{delivery}/{file}/{row}", "/charges/1/0/999"),
    ("/account", "/account"),
    ("/imports", "/imports"),
    ("/imports/{delivery}", "/imports/1"),
    ("/imports/limits", "/imports/limits"),
    ("/imports/review", "/imports/review"),
    ("/prices/tokens", "/prices/tokens"),
    ("/jobs/{period}", "/jobs/2026-09"),
    ("/jobs/{period}", "/jobs/2026-09?by=user&account=ml"),
    ("/jobs/hours/{period}", "/jobs/hours/2026-09?by=team"),
    ("/jobs/job/{job}", "/jobs/job/1"),
    ("/usage", "/usage"),
    ("/usage/imports/{import}", "/usage/imports/1"),
    ("/usage/prometheus/new", "/usage/prometheus/new"),
    ("/usage/prometheus/{server}", "/usage/prometheus/1"),
    ("/mappings", "/mappings"),
    ("/mappings/{mapping}", "/mappings/reseller"),
    ("/catalog", "/catalog"),
    (
        "/catalog/new",
        "/catalog/new?kind=machine&provider=AWS&name=p9.48xlarge&model=nvidia-b300&accelerators=8&source=x&preview=yes",
    ),
    ("/catalog/additions/{addition}", "/catalog/additions/1"),
    ("/storage", "/storage"),
    ("/imports/{delivery}/changes/{by}", "/imports/1/changes/key"),
    ("/people", "/people"),
    ("/people/{person}", "/people/1"),
    ("/audit", "/audit"),
    ("/access", "/access"),
    ("/glossary", "/glossary"),
    ("/invoices/{period}", "/invoices/2026-08..2026-09"),
    ("/rates", "/rates"),
    ("/spend/{period}", "/spend/2026-09?by=team&then=experiment"),
    ("/rules", "/rules"),
    ("/rules/new", "/rules/new"),
    ("/rules/{rule}", "/rules/4"),
    ("/shared-costs", "/shared-costs"),
    ("/shared-costs/new", "/shared-costs/new"),
    ("/shared-costs/{pool}", "/shared-costs/3"),
    ("/organization/{sheet}", "/organization/teams"),
    ("/organization/{sheet}", "/organization/accounts"),
    ("/organization/{sheet}/{entry}", "/organization/teams/1"),
    ("/labels/{label}", "/labels/team"),
    ("/changes", "/changes"),
    ("/changes", "/changes?kind=prices&status=applied"),
    ("/changes/{change}", "/changes/1"),
    ("/quantities", "/quantities"),
    ("/budgets", "/budgets"),
    ("/budgets/{budget}", "/budgets/6"),
    ("/unallocated/{period}", "/unallocated/2026-09"),
    ("/prices", "/prices"),
    ("/prices", "/prices?supplier=Nobody"),
    ("/prices/new", "/prices/new"),
    ("/prices/offers/{offer}", "/prices/offers/OFFER"),
    ("/prices/changes/{change}", "/prices/changes/6"),
    ("/rate-cards", "/rate-cards"),
    ("/rate-cards/new", "/rate-cards/new"),
    ("/rate-cards/{rate}", "/rate-cards/RATE"),
    ("/rate-cards/changes/{change}", "/rate-cards/changes/RATE_CHANGE"),
    ("/adjustments", "/adjustments"),
    ("/adjustments/new", "/adjustments/new"),
    ("/adjustments/{adjustment}", "/adjustments/AGREED"),
    ("/adjustments/changes/{change}", "/adjustments/changes/AGREED_CHANGE"),
    ("/scenarios", "/scenarios"),
    ("/scenarios/new", "/scenarios/new?from=2026-09"),
    ("/scenarios/new", "/scenarios/new?from=2020-01"),
    ("/scenarios/templates/{template}", "/scenarios/templates/SITUATION"),
    ("/scenarios/calculators", "/scenarios/calculators"),
    ("/scenarios/calculators/{calculator}", "/scenarios/calculators/spot?price=7&interval_hours=often"),
    ("/scenarios/calculators/{calculator}", "/scenarios/calculators/memory"),
    ("/scenarios/{scenario}", "/scenarios/1"),
    ("/scenarios/{scenario}", "/scenarios/1?set=/months=0&set=/option/0/place/0/on_demand/price=cheap"),
    ("/scenarios/{scenario}", "/scenarios/1?version=1&copy=/option/0&add=/option/0/place/0/spot"),
    ("/scenarios/{scenario}/versions", "/scenarios/1/versions"),
    ("/scenarios/claims", "/scenarios/claims"),
    ("/clusters", "/clusters"),
    ("/clusters/new", "/clusters/new"),
    ("/clusters/new/figure", "/clusters/new/figure?nodes="),
    ("/clusters/{cluster}", "/clusters/h100-east"),
    ("/clusters/{cluster}/{month}", "/clusters/h100-east/2026-09"),
    ("/clusters/{cluster}/{month}", "/clusters/h100-east/2026-10"),
    ("/asset-register/{kind}", "/asset-register/assets"),
    ("/asset-register/{kind}", "/asset-register/events"),
    ("/asset-register/{kind}/new", "/asset-register/tariffs/new?cluster=h100-east"),
    ("/asset-register/entries/{entry}", "/asset-register/entries/9"),
    ("/asset-register/changes/{change}", "/asset-register/changes/3"),
    ("/asset-register/changes/{change}", "/asset-register/changes/4"),
    ("/asset-register/changes/{change}", "/asset-register/changes/5"),
];

/// Pages for who is not signed in.
const OUTSIDE: &[(&str, &str)] =
    &[("/sign-in", "/sign-in"), ("/setup/{token}", "/setup/0"), ("/password/{token}", "/password/0")];

/// What answers files, JSON or text; a batch and a file to be mapped are looked at in the end, since their addresses are not known before.
const NO_PAGES: &[&str] = &[
    "/teams",
    "/teams/{team}",
    "/experiments",
    "/jobs",
    "/jobs/hours",
    "/imports/{delivery}/files/{file}/rejected",
    "/mappings/files/{sample}",
    "/mappings/files/{sample}/usage",
    "/mappings/{mapping}/text",
    "/invoices",
    "/prices/changes",
    "/asset-register/changes",
    "/",
    "/spend",
    "/unallocated",
    "/imports/batches/{batch}",
    "/imports/{delivery}/rejections",
    "/imports/{delivery}/files/{file}",
    "/assets/{file}",
    "/healthz",
    "/readyz",
    "/metrics",
];

/// A file that has not arrived is on the page of imports.
const BEGIN_UPLOAD: &str = "fetch('/imports/uploads', {
    method: 'POST',
    headers: { 'X-CSRF-Token': document.querySelector('[name=csrf]').value },
    body: new URLSearchParams({ name: 'november.csv', size: 9000000, modified: 0 }),
}).then((answer) => answer.status)";

#[test]
fn every_route_is_looked_at_or_is_no_page() {
    let looked_at = |path| PAGES.iter().chain(OUTSIDE).any(|(route, _)| *route == path);
    for line in web::routes().stated().iter().filter(|line| line.method == "GET") {
        let path = line.path;
        assert!(looked_at(path) != NO_PAGES.contains(&path), "{path} is in one of the lists of this file");
    }
}

#[test]
fn axe_is_what_the_note_says() {
    let hash = Sha256::digest(AXE);
    assert!(include_str!("VENDORED.md").contains(&format!("{hash:x}")), "{hash:x}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_page_is_sound_in_both_themes_and_at_every_width(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    let mut problems = Vec::new();
    look_at(&mut page, UNSOUND, &mut problems).await;
    let found: String = std::mem::take(&mut problems).join("\n");
    for problem in ["image-alt", "sideways", "not printed", "than a sheet"] {
        assert!(found.contains(problem), "it finds what is wrong: {found}");
    }

    let setup = site.server.setup_link.clone().unwrap();
    look_at(&mut page, &setup, &mut problems).await;
    site.person("ada@example.org", Role::Admin, &[]).await;
    for (_, path) in OUTSIDE {
        look_at(&mut page, path, &mut problems).await;
    }
    page.sign_in("ada@example.org").await;
    page.complaints().await;
    look_at(&mut page, "/imports", &mut problems).await;
    load_bills(&site);
    page.go("/invoices/2026-09").await;
    page.fill("Invoice number", "A-1").await;
    page.fill("Total, with tax", "3000").await;
    page.click("button", "Enter invoice").await;
    page.see("It differs from the charges.").await;
    allocate(&site).await;
    own(&site).await;
    page.go("/clusters/h100-east/2026-09").await;
    page.click("button", "Publish month").await;
    page.arrive("/imports/batches/").await;
    page.see("loaded").await;
    correct(&site).await;
    keep_a_scenario(&site).await;
    read_prices(&site).await;
    let (rate, rate_change) = enter_rates(&site).await;
    let (agreed, agreed_change) = enter_adjustments(&site).await;
    add_to_catalog(&site).await;
    save_a_mapping(&site).await;
    let offer = Catalogue::shipped().listed()[0].id.as_str();
    for (_, path) in PAGES {
        let path = path.replace("SITUATION", templates()[0].handle).replace("OFFER", offer);
        let path = path.replace("AGREED_CHANGE", &agreed_change).replace("AGREED", &agreed);
        let path = path.replace("RATE_CHANGE", &rate_change).replace("RATE", &rate);
        look_at(&mut page, &path, &mut problems).await;
    }
    page.go("/imports").await;
    page.choose_file(&site.file("october.csv", Focus::new().line("not,a,row"))).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    page.see("october.csv").await;
    let batch = page.path().await;
    look_at(&mut page, &batch, &mut problems).await;
    page.go("/imports").await;
    let began = page.ask(BEGIN_UPLOAD).await;
    assert_eq!(began, 201);
    look_at(&mut page, "/imports", &mut problems).await;
    page.go("/mappings").await;
    let invoice = std::fs::read(files::fixture("invoices/rechnung.csv")).unwrap();
    page.choose_file(&site.file("rechnung.csv", invoice)).await;
    page.click("button", "Continue").await;
    page.arrive("/mappings/files/").await;
    let of_usage = format!("{}/usage", page.path().await);
    let mapping = format!("{}?provider=x&shape=semicolon-4&column0=start&column4=cost", page.path().await);
    look_at(&mut page, &mapping, &mut problems).await;
    look_at(&mut page, &of_usage, &mut problems).await;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Two months with a chart worth the name, a credit, a rejected row, and a delivery that waits.
fn load_bills(site: &Site) {
    let mut month = Focus::new();
    for (day, team) in (1..=28).zip(["vision", "nlp", "research", ""].into_iter().cycle()) {
        month = month.hour("acme", "s1", &format!("2026-09-{day:02}T10"), "120.25", team);
        month = month.hour("acme", "s2", &format!("2026-08-{day:02}T10"), "98.5", team);
    }
    month = month.hour("acme", "s1", "2026-09-03T11", "-20", "vision");
    for (label, at) in [("seg-1", "2026-09-04T11"), ("seg-2", "2026-09-05T11")] {
        month = month.hour("acme", "s1", at, "33", "vision").labelled("experiment", label);
    }
    let broken = month.text().lines().nth(1).unwrap().replace("120.25", "a lot");
    let month = month.line(&broken);
    site.import(&[site.file("months.csv", month)]);
    site.import(&[site.file("sacct.txt", JOBS)]);
}

/// A job on a machine of the bills, one on a node that none of them knows, and one that ends before it starts.
const JOBS: &str = "JobID|JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|AdminComment|NodeList|JobName\n\
    7|7|hpc|ann|ml|gpu|COMPLETED|2026-09-05T09:00:00|2026-09-05T10:00:00|2026-09-05T11:00:00|3600|gres/gpu:h100=4,gres/gpu=4||node-s1|train\n\
    8|8|hpc|ben|cv|gpu|FAILED|2026-09-05T09:00:00|2026-09-05T10:30:00|2026-09-05T11:00:00|1800|gres/gpu=4||gpu-7|eval\n\
    9|9|hpc|ben|cv|gpu|FAILED|2026-09-05T09:00:00|2026-09-05T10:30:00|2026-09-05T10:00:00|1800|gres/gpu=4||gpu-7|eval\n";

/// Teams, one inside another, a pool, two rules, a budget and a quantity; and a Prometheus.
async fn allocate(site: &Site) {
    let mut db = site.db.acquire().await.unwrap();
    // One that is down.
    let server = Entered { name: "east", address: "http://127.0.0.1:1/", sealed_token: None, matchers: "" };
    let from = "2026-11-01".parse().unwrap();
    prometheus::add(&mut db, &server, from, Actor::command_line(None).at(now())).await.unwrap();
    let shared = Entry::Pool(pool("support", Split::Evenly));
    let rules = [rule(1, "account", "s2", to_pool("support")), rule(2, "", "", Target::Labels)];
    let budget = Budget {
        of: BudgetOf::Team("vision".into()),
        period: BudgetPeriod::Quarter,
        months: Months::from("2026-07".parse().unwrap()),
        amount: 2000.into(),
        currency: Currency::exactly("USD"),
        thresholds: vec![80, 100],
    };
    let vision = Entry::Team(Team {
        handle: "vision".into(),
        name: "Vision".into(),
        parent: Some("research".into()),
        ..Team::default()
    });
    let shared = [vision, team("nlp"), shared].into_iter();
    let entries = shared.chain(rules).chain([Entry::Budget(budget), team("research")]);
    write(&mut db, entries.collect()).await;
    let runs = Quantity {
        day: "2026-09-05".parse().unwrap(),
        kind: QuantityKind::Team,
        owner: "vision".into(),
        unit: "training runs".into(),
        quantity: 12.into(),
    };
    let by = Actor::person("ada@example.com", "test");
    allocation::set_quantities(&mut db, &[runs], by.at(now())).await.unwrap();
}

/// A cluster of our own, a meter that was read, and what became of one of its nodes.
async fn own(site: &Site) {
    let today = "2026-08-01".parse().unwrap();
    let mut texts = Start::defaults(&onprem::systems()[0], today);
    for (name, text) in [("name", "H100 East"), ("site", "Frankfurt"), ("spares", "1")] {
        texts.insert(name.to_owned(), text.to_owned());
    }
    let mut entries = Start::read(&texts).unwrap().entries();
    let meter = [("cluster", "h100-east"), ("name", "pdu"), ("place", "it")];
    let lost = [("asset", "h100-east-node"), ("units", "2"), ("day", "2026-09-12"), ("what", "write-off")];
    for (kind, fields) in [(Kind::Meters, &meter[..]), (Kind::Events, &lost[..])] {
        let texts: BTreeMap<String, String> =
            fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        entries.push(onprem::read(kind, &texts).unwrap());
    }
    let mut db = site.db.acquire().await.unwrap();
    let edits = changes::additions(&mut db, entries).await.unwrap();
    let meter_id = edits[edits.len() - 2].id;
    asset_register(&mut db, edits, Right::Apply).await;
    let from = "2026-09-01T00:00:00Z".parse().unwrap();
    let reading =
        Reading { meter: "pdu".into(), from, until: from + chrono::TimeDelta::days(3), kwh: 4000.into() };
    let of_meter = MeterReadings { meter_id, readings: vec![reading] };
    let by = Actor::person("ada@example.com", "test");
    onprem::take_readings(&mut db, &[of_meter], "pdu.csv", by.at(now())).await.unwrap();
}

/// A file of prices that waits for a decision, with what was skipped and rejected.
async fn read_prices(site: &Site) {
    let mut db = site.db.acquire().await.unwrap();
    let file =
        "accelerator,supplier,tier,price\nnvidia-a10,AWS,on-demand,90\nH100,AWS,weekly,1\nH100,AWS,spot,0\n";
    let now = now();
    let today = now.date_naive();
    let about = read::About { supplier: None, date: today, source: "a list".into(), today };
    let read::Read { format, rows, prices, skipped, rejected, rejected_count } =
        read::read(file.as_bytes(), &about).unwrap();
    let found = prices.into_iter().map(|(_, price)| price).collect();
    let edits = price_catalogue::edits_of_file(&price_catalogue::Entries::default(), found);
    let report =
        price_catalogue::Report { format: Some(format), rows, known: 0, skipped, rejected, rejected_count };
    let report = serde_json::to_value(&report).unwrap();
    let by = Actor::person("ada@example.com", "test");
    let about = "prices.csv: one price";
    changes::draft::<price_catalogue::Entries>(&mut db, edits, Some(&report), about, by.at(now))
        .await
        .unwrap();
}

/// Usage without cost, a rate for a part of it, and a change of that which waits. Answers the numbers of both.
async fn enter_rates(site: &Site) -> (String, String) {
    site.import(&[files::fixture("exports/focus-usage/coreweave-1.2/input.csv")]);
    let by = Actor::person("ada@example.com", "test");
    let mut db = site.db.acquire().await.unwrap();
    let file =
        "provider,accelerator,unit,price,currency,valid_from\nCoreWeave,H100,GPU-hour,2.49,USD,2026-01-01\n";
    let rates = rate_cards::read::read(file.into()).unwrap().rates;
    let edits = rate_cards::edits_of_addition(&mut db, &RateCards::default(), rates).await.unwrap();
    let id = edits[0].id;
    changes::change::<RateCards>(&mut db, edits, "CoreWeave", Right::Apply, by.at(now())).await.unwrap();
    let (_, cards) = RateCards::current(&mut db).await.unwrap();
    let edits = rate_cards::edits_of(&cards, id, None).unwrap();
    let drafted =
        changes::draft::<RateCards>(&mut db, edits, None, "CoreWeave: removed", by.at(now())).await.unwrap();
    let Outcome::Waits(change) = drafted else { panic!("{drafted:?}") };
    (id.to_string(), change.to_string())
}

/// A discount on a bill that is there, and a change of it that waits. Answers the numbers of both.
async fn enter_adjustments(site: &Site) -> (String, String) {
    let by = Actor::person("ada@example.com", "test");
    let mut db = site.db.acquire().await.unwrap();
    let discount = Adjustment {
        provider: "CoreWeave".to_owned(),
        billing_account: String::new(),
        terms: Terms::Discount { percent: number("8") },
        first_month: "2026-01".parse().unwrap(),
        last_month: None,
        reason: "Reseller discount 2026".to_owned(),
        contract: "C-17".to_owned(),
    };
    let edits = changes::additions(&mut db, vec![discount.clone()]).await.unwrap();
    let id = edits[0].id;
    changes::change::<Adjustments>(&mut db, edits, "discount", Right::Apply, by.at(now())).await.unwrap();
    let edits = vec![changes::NumberedEdit { id, before: Some(discount), after: None }];
    let drafted =
        changes::draft::<Adjustments>(&mut db, edits, None, "no discount", by.at(now())).await.unwrap();
    let Outcome::Waits(change) = drafted else { panic!("{drafted:?}") };
    (id.to_string(), change.to_string())
}

/// How a reseller's invoice is read.
async fn save_a_mapping(site: &Site) {
    let text = std::fs::read_to_string(files::fixture("invoices/reseller.toml")).unwrap();
    let by = Actor::person("ada@example.com", "test");
    let mut db = site.db.acquire().await.unwrap();
    ledger::save_mapping(&mut db, &Mapping::parse(&text).unwrap(), by.at(now())).await.unwrap();
}

/// A machine that no release knows.
async fn add_to_catalog(site: &Site) {
    let new = NewAddition {
        provider: "NeoCloud".to_owned(),
        name: "neo-9000".to_owned(),
        model: accelerator::model("nvidia-b300").unwrap(),
        accelerators: Some("8".parse().unwrap()),
        same_as: None,
        source: "a data sheet".to_owned(),
    };
    let by = Actor::person("ada@example.com", "test");
    let mut db = site.db.acquire().await.unwrap();
    ledger::add(&mut db, &new, by.at(now())).await.unwrap().unwrap();
}

/// A situation of the field, in two versions.
async fn keep_a_scenario(site: &Site) {
    let mut db = site.db.acquire().await.unwrap();
    let ada = people::find_by_email(&mut db, "ada@example.org").await.unwrap().unwrap();
    let by = Actor::person("ada@example.com", "test");
    let mut scenario = file::read(templates()[0].text).unwrap();
    let headline = Headline::of(&scenario.compare().unwrap());
    let id = saved_scenarios::create(&mut db, &scenario, &headline, ada.user_id, by.at(now())).await.unwrap();
    scenario.months = 24;
    let next = (&scenario, &headline);
    saved_scenarios::save(&mut db, (id, 1), next, Some("two years"), by.at(now())).await.unwrap();
}

/// A price that was wrong, and a wish.
async fn correct(site: &Site) {
    let mut db = site.db.acquire().await.unwrap();
    for (price, right) in [(376_000, Right::Apply), (377_000, Right::Propose)] {
        let (_, now) = onprem::AssetRegister::current(&mut db).await.unwrap();
        let (id, asset) = now.assets().next().unwrap();
        let after = onprem::Asset { price: price.into(), ..asset.clone() };
        let (before, after) = (Some(Own::Asset(asset.clone())), Some(Own::Asset(after)));
        asset_register(&mut db, vec![onprem::Edit { id, before, after }], right).await;
    }
}

async fn asset_register(db: &mut PgConnection, edits: Vec<onprem::Edit>, right: Right) {
    let by = Actor::person("ada@example.com", "test");
    let about = About { summary: "What we have", reason: Some("by the invoice") };
    let outcome =
        changes::change::<onprem::AssetRegister>(db, edits, about, right, by.at(now())).await.unwrap();
    assert!(matches!(outcome, Outcome::At { .. } | Outcome::Waits(_)), "{outcome:?}");
}

async fn look_at(page: &mut Page, path: &str, problems: &mut Vec<String>) {
    page.set_width(1280).await;
    page.set_theme("light").await;
    page.go(path).await;
    let is_error =
        page.ask("performance.getEntriesByType('navigation')[0].responseStatus >= 400").await == true;
    // That the page itself is an error is said in the console too.
    let complaints = page.complaints().await;
    let own = |said: &String| is_error && said.contains("Failed to load resource");
    problems.extend(complaints.into_iter().filter(|said| !own(said)).map(|said| format!("{path}: {said}")));
    page.set_media("print").await;
    let lost = page.ask(NOT_PRINTED).await;
    if lost != 0 {
        problems.push(format!("{path}: {lost} tables are not printed"));
    }
    page.set_width(SHEET).await;
    let wide = page.ask(WIDEST).await;
    if wide.as_u64() > Some(SHEET.into()) {
        problems.push(format!("{path}: {wide} px are wider than a sheet"));
    }
    page.set_media("").await;
    page.ask(&format!("{{ {AXE}\n }} true")).await;
    for width in [1280, 360] {
        page.set_width(width).await;
        let wide = page.ask("document.documentElement.scrollWidth").await;
        if wide.as_u64() > Some(width.into()) {
            problems.push(format!("{path} at {width} px: scrolls sideways, {wide} px wide"));
        }
        for (theme, rules) in looks(width) {
            page.set_theme(theme).await;
            let found = page.ask(&format!("{RUN_AXE}({rules})")).await;
            for violation in found.as_array().into_iter().flatten() {
                let said = violation.as_str().map_or_else(|| Value::to_string(violation), str::to_owned);
                problems.push(format!("{path} at {width} px, {theme}: {said}"));
            }
        }
    }
}

const UNSOUND: &str = "data:text/html,<!doctype html><style>@media print{table{display:none}}</style>\
    <img src=x><p style=width:900px>x<main><table><tr><td>x</table></main>";

/// Tables that one can see and that are not on paper.
const NOT_PRINTED: &str = r#"[...document.querySelectorAll("main table")].filter(
    (table) => !table.closest("details") && table.getClientRects().length === 0).length"#;

/// A4 upright, within its margins, in pixels.
const SHEET: u32 = 688;

/// What scrolls on the screen is cut off on paper.
const WIDEST: &str = r#"Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("main table, .scroll")].map(
    (it) => Math.ceil(it.getBoundingClientRect().left + it.scrollWidth)))"#;

/// Themes at a width, and the rules that are asked there: all of them once, those about colors in the other theme, too, and those about
/// room at the other width.
fn looks(width: u32) -> &'static [(&'static str, &'static str)] {
    if width > 1000 {
        &[("light", "{}"), ("dark", r#"{ runOnly: ["color-contrast", "link-in-text-block"] }"#)]
    } else {
        &[("light", r#"{ runOnly: ["scrollable-region-focusable", "meta-viewport"] }"#)]
    }
}

const RUN_AXE: &str = r#"((options) => axe.run(document, { resultTypes: ["violations"], ...options }).then(({ violations }) => violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)))"#;
