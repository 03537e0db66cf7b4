//! A lead looks at what their team is charged, and tries the addresses of another.

use gpuledger::accounts::Role;
use gpuledger::allocation::{Entry, Split, Target};
use sqlx::PgPool;

use super::Site;
use crate::support::Focus;
use crate::support::configuration::{pool, rule, team, to_pool, write};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_who_tries_the_addresses_of_another_team_sees_none_of_it(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "30.5",
        "nlp",
    );
    site.import(&[site.file("september.csv", month)]);
    site.person("li@example.org", Role::Lead, &["nlp"]).await;
    page.sign_in("li@example.org").await;

    page.go("/spend/2026-09?by=tag:team").await;
    page.see("30.50").await;
    page.go("/charges/1/0/2").await;
    page.see("30.5").await;

    for path in [
        "/spend/2026-09?by=tag:team&tag:team=vision",
        "/spend/2026-09?by=account&account=acme",
        "/charges/2026-09?tag:team=vision",
        "/charges/1/0/1",
        "/imports",
        "/imports/1",
        "/imports/1/files/0",
        "/people",
    ] {
        page.go(path).await;
        let text = page.text().await;
        assert!(
            !text.contains("120.25") && !text.contains("150.75") && !text.contains("node-s1"),
            "{path}: {text}"
        );
    }
    page.go("/imports").await;
    page.see("Ask an administrator").await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_reads_their_page_statement_and_experiment_and_no_other_team_s(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    let month = Focus::new()
        .hour("acme", "s1", "2026-09-05T10", "120.25", "vision")
        .labelled("experiment", "moonshot")
        .hour("acme", "s2", "2026-09-06T10", "30.5", "nlp")
        .labelled("experiment", "run.json")
        .hour("acme", "s2", "2026-09-07T10", "9.5", "nlp")
        .hour("acme", "s3", "2026-09-08T10", "20", "");
    site.import(&[site.file("september.csv", month)]);
    let entries = vec![
        team("vision"),
        team("nlp"),
        Entry::Pool(pool("platform", Split::Evenly)),
        rule(1, "account", "s3", to_pool("platform")),
        rule(2, "", "", Target::Labels),
    ];
    write(&mut site.db.acquire().await.unwrap(), entries).await;
    site.person("li@example.org", Role::Lead, &["nlp"]).await;
    page.sign_in("li@example.org").await;

    // Their own page: 40 directly, and half of what is shared.
    page.click("link", "Teams").await;
    page.arrive("/teams/nlp/2026-09").await;
    for text in ["Nlp, September 2026", "50.00", "40.00", "10.00", "run.json"] {
        page.see(text).await;
    }
    page.click("link", "Statement").await;
    page.arrive("/teams/nlp/2026-09/statement").await;
    for text in ["Statement of Nlp", "platform", "50.00"] {
        page.see(text).await;
    }
    assert!(!page.is_shown("Vision").await && !page.is_shown("120.25").await);

    // An experiment, whose label reads as a file.
    page.click("link", "Experiments").await;
    page.arrive("/experiments/during/2026-09").await;
    assert!(!page.is_shown("moonshot").await);
    page.click("link", "run.json").await;
    page.see("30.50").await;
    assert_eq!(page.path().await, "/experiments/run.json.html");

    // What is another team's is as if it was not there.
    for path in [
        "/teams/vision",
        "/teams/vision/2026-09",
        "/teams/vision/2026-09/statement",
        "/experiments/moonshot",
        "/charges/1/0/1",
    ] {
        page.go(path).await;
        page.see("Page not found").await;
        let text = page.text().await;
        assert!(!text.contains("Vision") && !text.contains("120.25") && !text.contains("130.25"), "{text}");
    }
    page.go("/unallocated/2026-09").await;
    assert!(!page.is_shown("120.25").await && !page.is_shown("180.25").await);
    page.go("/chargeback/2026-09").await;
    page.see("Nlp").await;
    assert!(!page.is_shown("Vision").await);
    let refusals = |said: &&String| !said.contains("403") && !said.contains("404");
    assert_eq!(page.complaints().await.iter().filter(refusals).count(), 0);
}
