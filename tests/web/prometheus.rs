//! A Prometheus in the browser: added, tested, read beside a bill, down, changed and removed.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::usage::bill;
use crate::support::json::{amount, decimal};
use crate::support::prometheus::{Manner, Prometheus, Proxy, Samples};
use crate::support::{TestApp, html};

/// The hour of the bill of node-s1: half of its GPUs were held by a pod.
fn samples(percent: &str) -> Samples {
    samples_of(("2026-10-05T10:00", "2026-10-05T11:00"), percent)
}

fn samples_of(hours: (&str, &str), percent: &str) -> Samples {
    let mut samples = Samples::default();
    for gpu in 0..8 {
        let pod = if gpu < 4 { "train-0" } else { "" };
        let labels = format!(
            "gpu=\"{gpu}\",UUID=\"GPU-{gpu}\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"node-s1\",namespace=\"llm\",pod=\"{pod}\""
        );
        samples.add("DCGM_FI_DEV_GPU_UTIL", &labels, hours, percent);
    }
    samples
}

const TOKEN: &str = "s3cret-token";

fn fields(address: &str) -> [(&str, &str); 5] {
    [("name", "east"), ("address", address), ("token", TOKEN), ("matchers", ""), ("from", "2026-10-04")]
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_prometheus_is_read_beside_a_bill_and_told_when_it_is_down(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    admin.import("bill.csv", bill()).await;
    let mut behind = Prometheus::start(&samples("75"));
    let proxy = Proxy::before(&behind, Manner::Guarded(TOKEN));

    // What is wrong is said at its field, and nothing is added.
    let refused = admin
        .submit(
            "/usage/prometheus/new",
            "/usage/prometheus/new",
            &[("name", ""), ("address", "ftp://a"), ("matchers", "east"), ("from", "2027-01-01")],
        )
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for sentence in
        ["Enter a name.", "Enter an address such as", "Enter label matchers such as", "today at the latest"]
    {
        assert!(refused.body.contains(sentence), "{sentence}");
    }

    // It is tested before it is added.
    let wrong = [("name", "east"), ("address", proxy.url.as_str()), ("token", "wrong")];
    let tested = admin.submit("/usage/prometheus/new", "/usage/prometheus/test", &wrong).await;
    assert!(
        tested.body.contains("it answers 401 Unauthorized: enter a token that may read it"),
        "{}",
        tested.body
    );
    let tested = admin.submit("/usage/prometheus/new", "/usage/prometheus/test", &fields(&proxy.url)).await;
    // Its samples are of last month.
    assert!(tested.body.contains("It answers, but has no series"), "{}", tested.body);
    assert!(!tested.body.contains(TOKEN));
    assert!(admin.get("/usage").await.body.contains("None is read."));

    let added = admin.submit("/usage/prometheus/new", "/usage/prometheus/new", &fields(&proxy.url)).await;
    assert_eq!(added.location(), "/usage/prometheus/1");
    let again = admin.submit("/usage/prometheus/new", "/usage/prometheus/new", &fields(&proxy.url)).await;
    assert!(again.body.contains("There is a Prometheus of this name"));
    let stored: (Vec<u8>,) =
        sqlx::query_as("select sealed_token from prometheus_servers").fetch_one(&admin.db).await.unwrap();
    assert!(!String::from_utf8_lossy(&stored.0).contains(TOKEN));

    admin.read_prometheus().await;
    admin.run_jobs().await;
    let jobs = admin.json("/jobs/2026-10.json").await;
    assert_eq!(decimal(&jobs["cost"]["used"]), "30.3".parse().unwrap());
    assert_eq!(decimal(&jobs["cost"]["idle"]), "10.1".parse().unwrap());
    assert_eq!(decimal(&jobs["cost"]["unheld"]), "40.4".parse().unwrap());
    let spend = admin.json("/spend/2026-10.json?by=namespace").await;
    assert_eq!(
        (spend["groups"][0]["key"].as_str(), amount(&spend["groups"][0]["cost"])),
        (None, "80.4".parse().unwrap())
    );
    let page = admin.get("/usage/prometheus/1").await;
    assert_eq!(html::texts(&page.body, "#days tbody tr").len(), 1, "{}", page.body);
    assert!(page.body.contains("has had no series of GPUs since Oct"), "{}", page.body);
    assert!(!page.body.contains(TOKEN));

    // It is down: the overview says so, and nothing is skipped.
    admin.submit("/usage/prometheus/1", "/usage/prometheus/1/read-again", &[("from", "2026-10-01")]).await;
    behind.stop();
    proxy.becomes(Manner::Honest);
    admin.read_prometheus().await;
    let overview = admin.get("/overview").await;
    assert!(overview.body.contains("Prometheus east: Not read since"), "{}", overview.body);
    assert!(admin.get("/usage").await.body.contains("Not read"));
    let page = admin.get("/usage/prometheus/1").await;
    assert!(!page.body.contains("are being read now"), "{}", page.body);
    behind.start_again();
    proxy.becomes(Manner::Guarded(TOKEN));
    // Saving has it asked again at once. Without a token the one that is saved stays.
    let renamed = [("name", "East"), ("address", proxy.url.as_str()), ("matchers", "{gpu!=\"9\"}")];
    admin.submit("/usage/prometheus/1", "/usage/prometheus/1", &renamed).await;
    admin.read_prometheus().await;
    assert!(!admin.get("/overview").await.body.contains("Not read"));
    admin.run_jobs().await;
    assert_eq!(admin.json("/jobs/2026-10.json").await["cost"], jobs["cost"], "read twice, counted once");

    // One that says otherwise of the same series: what follows from it is computed again.
    let other = Prometheus::start(&samples("25"));
    let (address, page) = (other.url(), "/usage/prometheus/1");
    let moved = [("name", "East"), ("address", address.as_str()), ("token", TOKEN), ("matchers", "")];
    admin.submit(page, page, &moved).await;
    admin.submit(page, "/usage/prometheus/1/read-again", &[("from", "2026-10-05")]).await;
    admin.read_prometheus().await;
    admin.run_jobs().await;
    let spend = admin.json("/spend/2026-10.json?by=use").await;
    let used = spend["groups"].as_array().unwrap().iter().find(|it| it["key"] == "Used").unwrap();
    assert_eq!(amount(&used["cost"]), "10.1".parse().unwrap(), "{spend}");
    let jobs = admin.json("/jobs/2026-10.json").await;

    // One that has only later samples, as after its retention: what was read of earlier hours stays.
    let later = Prometheus::start(&samples_of(("2026-10-05T13:00", "2026-10-05T14:00"), "25"));
    let address = later.url();
    let moved = [("name", "East"), ("address", address.as_str()), ("token", TOKEN), ("matchers", "")];
    admin.submit(page, page, &moved).await;
    admin.submit(page, "/usage/prometheus/1/read-again", &[("from", "2026-10-03")]).await;
    admin.read_prometheus().await;
    admin.run_jobs().await;
    let both = admin.json("/jobs/2026-10.json").await;
    assert_eq!(both["cost"], jobs["cost"]);
    let held = |it: &serde_json::Value| decimal(&it["jobs"][0]["accelerator_hours"]).round(3).to_string();
    // Prometheus repeats the last sample for some minutes.
    assert_eq!((held(&jobs).as_str(), held(&both).as_str()), ("4.333", "8.667"));
    // From a day on that it has not reached yet nothing is skipped.
    let reached = admin.get(page).await;
    admin.submit(page, "/usage/prometheus/1/read-again", &[("from", "2026-11-20")]).await;
    let until = |body: &str| html::text(body, "main > p");
    assert_eq!(until(&reached.body), until(&admin.get(page).await.body));

    // A token that is saved goes to no other address.
    let elsewhere = [("name", "East"), ("address", "http://127.0.0.1:1/"), ("matchers", "")];
    let refused = admin.submit("/usage/prometheus/1", "/usage/prometheus/1", &elsewhere).await;
    assert!(refused.body.contains("the one that is saved is for another address"), "{}", refused.body);
    let with_server = [("name", "East"), ("address", "http://127.0.0.1:1/"), ("server", "1")];
    let tested = admin.submit("/usage/prometheus/1", "/usage/prometheus/test", &with_server).await;
    assert!(tested.body.contains("enter the token again"), "{}", tested.body);

    admin.submit("/usage/prometheus/1", "/usage/prometheus/1/remove", &[]).await;
    assert!(admin.get("/usage").await.body.contains("None is read."));
    assert!(admin.get("/usage/prometheus/1").await.body.contains("What was read of it stays."));
    assert_eq!(admin.json("/jobs/2026-10.json").await["cost"], jobs["cost"]);
}
