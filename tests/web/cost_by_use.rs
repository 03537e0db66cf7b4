//! Allocation by use: what a machine is charged belongs to those who held it, whatever the machine's tags say.

use std::time::Duration;

use axum::http::StatusCode;
use gpuledger::accounts::{Role, Viewer};
use gpuledger::allocation;
use gpuledger::clock::Clock;
use gpuledger::jobs;
use gpuledger::ledger::{self, WhenUnsure};
use gpuledger::report::{Answers, JobDimension, JobsAsked, Question};
use gpuledger::telemetry::divide;
use serde_json::Value;
use sqlx::PgPool;

use super::usage::{SACCT, bill};
use crate::support::configuration::{rule, team, to_team, write};
use crate::support::json::{amount, decimal};
use crate::support::{Focus, TestApp, TestLedger, html, now};

async fn with_rules(ledger: &TestLedger) -> TestApp {
    let mut db = ledger.db.acquire().await.unwrap();
    let entries = vec![
        team("vision"),
        team("research"),
        rule(1, "tag:team", "vision", to_team("vision")),
        rule(2, "tag:usage:account", "cv", to_team("research")),
    ];
    write(&mut db, entries).await;
    TestApp::of(ledger).signed_in(Role::Finance).await
}

async fn import(app: &mut TestApp, name: &str, content: &str) {
    app.upload(&[(name, content.as_bytes())]).await;
    app.run_jobs().await;
}

fn groups(answer: &Value) -> Vec<(String, String)> {
    let groups = answer["groups"].as_array().unwrap().iter();
    let pair = |it: &Value| {
        (it["key"].as_str().unwrap_or("-").to_owned(), amount(&it["cost"]).normalize().to_string())
    };
    groups.map(pair).collect()
}

async fn spend(app: &mut TestApp, query: &str) -> Vec<(String, String)> {
    let answer = app.json(&format!("/spend/2026-10.json?{query}")).await;
    let total = amount(&answer["total"]);
    assert_eq!(
        answer["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| amount(&it["cost"]))
            .sum::<gpuledger::money::Decimal>(),
        total
    );
    groups(&answer)
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(key, cost)| (key.to_owned(), cost.to_owned())).to_vec()
}

async fn assert_checks(ledger: &TestLedger, of_usage: usize) {
    ledger.assert_balanced().await;
    let mut db = ledger.db.acquire().await.unwrap();
    let mut equations = allocation::check(&mut db).await.unwrap();
    let divided = divide::check(&mut db).await.unwrap();
    assert_eq!(divided.len(), of_usage, "{divided:#?}");
    equations.extend(divided);
    let broken: Vec<_> = equations.iter().filter(|it| !it.holds).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_machine_belongs_to_those_who_held_it(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    finance.import("bill.csv", bill()).await;
    assert_eq!(spend(&mut finance, "by=team").await, pairs([("vision", "80.8"), ("-", "40")]));

    import(&mut finance, "sacct.txt", SACCT).await;
    // Half of the machine for an hour by one job, for half an hour by another.
    assert_eq!(
        spend(&mut finance, "by=use").await,
        pairs([("Held, not measured", "60.6"), ("-", "40"), ("Held by nobody", "20.2")])
    );
    assert_eq!(
        spend(&mut finance, "by=user").await,
        pairs([("-", "60.2"), ("ann", "40.4"), ("ben", "20.2")])
    );
    assert_eq!(
        spend(&mut finance, "by=job").await,
        pairs([("-", "60.2"), ("hpc/7", "40.4"), ("hpc/8", "20.2")])
    );
    assert_eq!(spend(&mut finance, "by=queue").await, pairs([("gpu", "60.6"), ("-", "60.2")]));
    assert_eq!(
        spend(&mut finance, "by=tag:usage:name").await,
        pairs([("-", "60.2"), ("train", "40.4"), ("eval|fast", "20.2")])
    );
    // A rule about the job wins over the tag of its machine; where no rule is about it, the machine's holds.
    assert_eq!(
        spend(&mut finance, "by=team").await,
        pairs([("vision", "60.6"), ("-", "40"), ("research", "20.2")])
    );
    // What the bill says stays: by machine, service and day, and its hours.
    assert_eq!(spend(&mut finance, "by=resource").await, pairs([("node-s1", "80.8"), ("node-s2", "40")]));
    let hours = |answer: &Value| decimal(&answer["accelerator_hours"]);
    let all = finance.json("/spend/2026-10.json?by=use").await;
    let by_use: Vec<_> = all["groups"].as_array().unwrap().iter().map(hours).collect();
    assert_eq!(by_use.iter().map(|it| it.normalize().to_string()).collect::<Vec<_>>(), ["6", "8", "2"]);
    assert_checks(&ledger, 6).await;

    // Idle time is somebody's as well, where a rule says so.
    let mut db = ledger.db.acquire().await.unwrap();
    write(&mut db, vec![rule(3, "tag:usage:use", "Held by nobody", to_team("research"))]).await;
    assert_eq!(
        spend(&mut finance, "by=team").await,
        pairs([("research", "40.4"), ("vision", "40.4"), ("-", "40")])
    );
    // What users have is no credit of the machine's owner.
    let credits = finance.get("/spend/2026-10").await;
    assert!(!credits.body.contains("credits"), "{}", credits.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn nobody_takes_away_what_is_being_divided(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    ledger.import(&[ledger.file("bill.csv", bill())], None, WhenUnsure::Wait).await;
    let files = || ledger.originals.every_file().unwrap();
    let before = files();

    // Dividing waits for what jobs held.
    let mut holding = ledger.db.begin().await.unwrap();
    sqlx::query("lock table usage_days in access exclusive mode").execute(&mut *holding).await.unwrap();
    let (pool, originals) = (ledger.db.clone(), ledger.originals.clone());
    let dividing =
        tokio::spawn(async move { jobs::divide_machines(&pool, &originals, Clock::At(now())).await });
    let began = tokio::time::Instant::now();
    while files() == before {
        assert!(began.elapsed() < Duration::from_secs(20), "it has not begun");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // As after an import that failed meanwhile.
    let mut db = ledger.db.acquire().await.unwrap();
    assert_eq!(ledger::remove_orphans(&mut db, &ledger.originals).await.unwrap(), None);

    holding.rollback().await.unwrap();
    dividing.await.unwrap().unwrap();
    assert_eq!(
        spend(&mut finance, "by=use").await,
        pairs([("Held, not measured", "60.6"), ("-", "40"), ("Held by nobody", "20.2")])
    );
    // What nobody needs goes again.
    assert!(ledger::remove_orphans(&mut db, &ledger.originals).await.unwrap().is_some());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn jobs_belong_to_teams_where_most_charges_are_in_another_currency(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    let services = |bill: Focus, hour: u32| {
        let at = format!("2026-10-{:02}T{:02}", 6 + hour / 24, hour % 24);
        bill.hour("acme", "s3", &at, "1", "nlp").counted_in("seats", "3", "Seats").billed_in("EUR")
    };
    finance.import("bill.csv", (0..60).fold(bill(), services)).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    let jobs = finance.json("/jobs/2026-10.json").await;
    let teams: Vec<_> =
        jobs["jobs"].as_array().unwrap().iter().map(|it| (&it["job_id"], &it["team"])).collect();
    let of = |id: &str| teams.iter().find(|(job, _)| *job == id).unwrap().1;
    assert_eq!((of("7"), of("8")), (&Value::from("vision"), &Value::from("research")), "{teams:?}");
    assert_eq!(finance.json("/spend/2026-10.json").await["currency"], "EUR");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn users_and_jobs_are_offered_however_many_tags_there_are(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    let with_tags = |bill: Focus, hour: u32| {
        let bill = bill.hour("acme", "s2", &format!("2026-10-05T{hour}"), "1", "nlp");
        ('a'..='p').fold(bill, |bill, tag| bill.labelled(&format!("label-{tag}"), "x"))
    };
    finance.import("bill.csv", (13..23).fold(bill(), with_tags)).await;
    import(&mut finance, "sacct.txt", SACCT).await;

    let page = finance.get("/spend/2026-10").await.body;
    let offered = html::texts(&page, "select[name=by] option");
    for word in ["Use", "User", "Job", "Queue", "Node"] {
        assert!(offered.iter().any(|it| it == word), "{word}: {offered:?}");
    }
    let of_bills = offered.iter().filter(|it| it.starts_with("Tag ")).count();
    assert_eq!(of_bills, 12, "{offered:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_divided_follows_its_bill_and_its_usage(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    finance.import("bill.csv", bill()).await;
    let versions = |answer: &Value| answer["sequence"].as_i64().unwrap();
    let divided = finance.json("/spend/2026-10.json?by=user").await;
    assert_eq!(groups(&divided), pairs([("-", "60.2"), ("ann", "40.4"), ("ben", "20.2")]));

    // The same usage again changes nothing.
    finance.run_jobs().await;
    assert_eq!(versions(&finance.json("/spend/2026-10.json?by=user").await), versions(&divided));

    // The bill again, at another price.
    let dearer = Focus::new().hour("acme", "s1", "2026-10-05T10", "96", "vision").hour(
        "acme",
        "s2",
        "2026-10-05T12",
        "40",
        "nlp",
    );
    finance.import("dearer.csv", dearer).await;
    assert_eq!(spend(&mut finance, "by=user").await, pairs([("-", "64"), ("ann", "48"), ("ben", "24")]));
    assert_checks(&ledger, 6).await;

    // As of then it reads as it did.
    let before = versions(&divided);
    assert_eq!(spend(&mut finance, &format!("by=user&sequence={before}")).await, groups(&divided));

    // Usage that is taken back divides nothing.
    finance.submit("/usage/imports/1", "/usage/imports/1/undo", &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "by=user").await, pairs([("-", "136")]));
    assert_checks(&ledger, 0).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn leads_see_the_jobs_of_their_teams_and_no_others(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    finance.import("bill.csv", bill()).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    let all = finance.json("/jobs/2026-10.json").await;
    let jobs = |answer: &Value| -> Vec<(String, String)> {
        let jobs = answer["jobs"].as_array().unwrap().iter();
        let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
        jobs.map(|it| (text(it, "job_id"), text(it, "team"))).collect()
    };
    assert_eq!(jobs(&all), pairs([("7", "vision"), ("8", "research"), ("9", ""), ("6", "")]));

    // By all that some job has.
    let page = finance.get("/jobs/2026-10").await.body;
    for by in ["user", "team", "node"] {
        assert!(page.contains(&format!("/jobs/2026-10?by={by}\"")), "{by}: {page}");
    }
    assert!(!page.contains("by=experiment"), "{page}");

    let mut lead = finance.signed_in(Role::Lead).await;
    let theirs = lead.json("/jobs/2026-10.json").await;
    assert_eq!(jobs(&theirs), pairs([("8", "research")]));
    assert_eq!(decimal(&theirs["cost"]["total"]), "20.2".parse().unwrap());
    assert_eq!(decimal(&theirs["cost"]["unmeasured"]), "20.2".parse().unwrap());
    assert_eq!(decimal(&theirs["hours"]["held"]), "2".parse().unwrap());
    assert!(theirs["unmatched"].as_array().unwrap().is_empty());
    // What others pay in another currency changes nothing of it, and is not named.
    let euros = Focus::new().hour("beta", "b1", "2026-10-05T10", "7000000", "nlp").billed_in("EUR");
    finance.import("euros.csv", euros).await;
    let mut before = theirs.clone();
    let mut after = lead.json("/jobs/2026-10.json").await;
    for it in [&mut before, &mut after] {
        it.as_object_mut().unwrap().remove("sequence");
    }
    assert_eq!(after, before);
    let number = |answer: &Value, at: usize| answer["jobs"][at]["job_no"].as_i64().unwrap();
    let own = lead.get(&format!("/jobs/job/{}", number(&theirs, 0))).await;
    assert_eq!(own.status, StatusCode::OK);
    let others = lead.get(&format!("/jobs/job/{}", number(&all, 0))).await;
    assert_eq!(others.status, StatusCode::NOT_FOUND);

    // The team's page says what became of its hours, and leads to its jobs.
    let page = lead.get("/teams/research/2026-10").await;
    assert!(page.body.contains("By use") && page.body.contains("hpc/8"), "{}", page.body);
    assert!(page.body.contains("/jobs/2026-10?team=research"), "{}", page.body);
    let statement = lead.get("/teams/research/2026-10/statement").await;
    assert_eq!(html::texts(&statement.body, "#jobs tbody tr").len(), 1, "{}", statement.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn jobs_beyond_those_that_are_listed_are_added_up(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    finance.import("bill.csv", bill()).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    let mut db = ledger.db.acquire().await.unwrap();
    let answers = Answers::default();
    for period in ["2026-10", "2026-01..2026-12"] {
        for only in [&[][..], &[(JobDimension::Node, "node-s1".to_owned())]] {
            let question = Question::of(period.parse().unwrap(), Viewer::Everything);
            let asked = JobsAsked { only, most: Some(1), ..JobsAsked::default() };
            let it = answers.some_gpu_jobs(&mut db, &question, asked).await.unwrap();
            let others = it.others.unwrap();
            assert_eq!((it.jobs.len(), it.jobs[0].job.job_id.as_str()), (1, "7"));
            assert_eq!(it.sums.jobs, 1 + others.jobs);
            assert_eq!(it.sums.cost, it.jobs[0].cost + others.cost);
            assert_eq!(it.sums.accelerator_hours, it.jobs[0].accelerator_hours + others.accelerator_hours);
            assert_eq!(it.sums.cost, "60.6".parse().unwrap());
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_year_of_jobs_says_what_its_months_say(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    // Over the end of a month: a job of October that ends in November, and one that runs in November alone.
    let bill = bill()
        .hour("acme", "s1", "2026-10-31T23", "8", "vision")
        .hour("acme", "s1", "2026-11-01T00", "16", "vision")
        .hour("acme", "s1", "2026-11-02T00", "4", "vision");
    finance.import("bill.csv", bill).await;
    let over = "10|10|hpc|ann|ml|gpu|COMPLETED|2026-10-31T23:00:00|2026-10-31T23:00:00|2026-11-01T01:00:00|7200|gres/gpu=8||node-s1|over";
    let later = "11|11|hpc|ben|cv|gpu|COMPLETED|2026-11-02T00:00:00|2026-11-02T00:00:00|2026-11-02T01:00:00|3600|gres/gpu=8||node-s1|later";
    import(&mut finance, "sacct.txt", &format!("{SACCT}{over}\n{later}\n")).await;
    let mut lead = finance.signed_in(Role::Lead).await;
    for (person, jobs_of_all) in [(&mut finance, 6), (&mut lead, 2)] {
        let year = person.json("/jobs/2026-01..2026-12.json").await;
        let months = [person.json("/jobs/2026-10.json").await, person.json("/jobs/2026-11.json").await];
        let cost = |answer: &Value, of: &str| decimal(&answer["cost"][of]);
        for of in ["total", "used", "idle", "unmeasured", "unheld", "stranded", "without_usage"] {
            assert_eq!(cost(&year, of), cost(&months[0], of) + cost(&months[1], of), "{of}");
        }
        assert_eq!(year["jobs"].as_array().unwrap().len(), jobs_of_all, "{year:#}");
        let by_user = person.json("/jobs/2026-01..2026-12.json?by=user").await;
        let found: Vec<(String, String)> = by_user["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["key"].as_str().unwrap().to_owned(), decimal(&it["cost"]).normalize().to_string()))
            .collect();
        let expected = pairs([("ann", "64.4"), ("ben", "24.2"), ("cat", "0")]);
        assert_eq!(found, if jobs_of_all == 6 { expected } else { expected[1..2].to_vec() });
        // A job that ran in two months is one.
        let found = person.json("/jobs/2026-01..2026-12.json?find=over").await;
        let over: Vec<&Value> = found["jobs"].as_array().unwrap().iter().map(|it| &it["cost"]).collect();
        assert_eq!(over.len(), usize::from(jobs_of_all == 6));
        assert!(over.iter().all(|cost| decimal(cost) == "24".parse().unwrap()), "{over:?}");
    }
    // What it says changes with what is undone, however long it was remembered.
    finance.submit("/usage/imports/1", "/usage/imports/1/undo", &[]).await;
    let year = finance.json("/jobs/2026-01..2026-12.json").await;
    assert!(year["jobs"].as_array().unwrap().is_empty(), "{year:#}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn pods_of_one_name_in_two_namespaces_are_two_jobs(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    let rules = vec![
        rule(3, "tag:usage:namespace", "team-a", to_team("vision")),
        rule(4, "tag:usage:namespace", "team-b", to_team("research")),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), rules).await;
    finance.import("bill.csv", bill()).await;
    let usage = "node,from,to,accelerators,holder,namespace\n\
        node-s1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,6,worker-0,team-a\n\
        node-s1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,2,worker-0,team-b\n";
    import(&mut finance, "usage.csv", usage).await;
    assert_eq!(
        spend(&mut finance, "by=job").await,
        pairs([("default/team-a/worker-0", "60.6"), ("-", "40"), ("default/team-b/worker-0", "20.2")])
    );
    let all = finance.json("/jobs/2026-10.json").await;
    let mut lead = finance.signed_in(Role::Lead).await;
    let theirs = lead.json("/jobs/2026-10.json").await;
    let namespaces: Vec<_> =
        theirs["jobs"].as_array().unwrap().iter().map(|it| it["namespace"].as_str().unwrap()).collect();
    assert_eq!(namespaces, ["team-b"]);
    let others = all["jobs"].as_array().unwrap().iter().find(|it| it["namespace"] == "team-a").unwrap();
    let others = lead.get(&format!("/jobs/job/{}", others["job_no"])).await;
    assert_eq!(others.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_bill_that_could_not_be_divided_is_told_with_the_reason(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    finance.import("bill.csv", bill()).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    assert!(!finance.get("/usage").await.body.contains("not divided"));
    sqlx::query("update usage_bills set problem = 'the disk <b>failed'").execute(&ledger.db).await.unwrap();
    let usage = finance.get("/usage").await;
    assert!(usage.body.contains("NeoCloud acme, October 2026: the disk &#60;b&#62;failed"), "{}", usage.body);
    let overview = finance.get("/overview").await;
    assert!(overview.body.contains("The machines of a bill are not divided"), "{}", overview.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_division_that_was_undone_is_offered_again(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut finance = with_rules(&ledger).await;
    finance.import("bill.csv", bill()).await;
    import(&mut finance, "sacct.txt", SACCT).await;
    let divided = spend(&mut finance, "by=user").await;
    let (scope, division): (i64, i64) =
        sqlx::query_as("select scope_id, delivery_id from usage_bills").fetch_one(&ledger.db).await.unwrap();
    let again = format!("/usage/bills/{scope}/divide");
    finance.submit("/usage", &again, &[]).await;
    assert!(finance.get("/usage").await.body.contains("Nothing changed"), "what is divided stays");

    finance.submit("/imports", &format!("/imports/{division}/undo"), &[]).await;
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "by=user").await, pairs([("-", "120.8")]), "it stays undone");
    let page = finance.get("/usage").await;
    assert!(page.body.contains("NeoCloud acme, October 2026: undone by"), "{}", page.body);
    assert!(page.body.contains("Divide again"));
    assert!(finance.get("/overview").await.body.contains("not divided among those"));

    finance.submit("/usage", &again, &[]).await;
    assert!(finance.get("/usage").await.body.contains("Machines are being divided"));
    finance.run_jobs().await;
    assert_eq!(spend(&mut finance, "by=user").await, divided);
    let page = finance.get("/usage").await;
    assert!(!page.body.contains("Divide again") && !page.body.contains("being divided"), "{}", page.body);
    assert_checks(&ledger, 6).await;
}
