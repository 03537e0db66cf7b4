//! Bills into the browser, the month they make, down to a row, and back out.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::Site;
use crate::support::Focus;

fn september() -> Focus {
    Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision").hour(
        "acme",
        "s2",
        "2026-09-06T10",
        "30.5",
        "nlp",
    )
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_is_chosen_is_loaded_seen_as_a_month_and_undone(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Admin, &[]).await;
    page.sign_in("ada@example.org").await;

    page.go("/imports").await;
    page.choose_file(&site.file("september.csv", september())).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    page.see("september.csv").await;
    page.see("2 rows = 2 charges").await;

    // The month, by team, and down to the row of the file.
    page.go("/spend/2026-09?by=tag:team").await;
    page.see("150.75").await;
    page.see("vision").await;
    page.click("link", "charges of vision").await;
    page.arrive("/charges/2026-09").await;
    page.see("120.25").await;
    assert!(!page.is_shown("30.50").await);
    page.click("link", "1/1").await;
    page.arrive("/charges/1/0/1").await;
    page.see("BillingAccountId").await;
    page.see("node-s1").await;

    page.go("/imports/1").await;
    page.click("button", "Undo import").await;
    page.click("button", "Undo import").await;
    page.see("undone").await;
    page.go("/spend/2026-09").await;
    assert!(!page.is_shown("150.75").await);
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_is_dropped_is_loaded(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;

    page.go("/imports").await;
    let broken = september().line(&september().text().lines().nth(1).unwrap().replace("120.25", "a lot"));
    page.drop_file("[data-upload]", &site.file("dropped.csv", broken)).await;
    page.arrive("/imports/batches/").await;
    page.see("dropped.csv").await;
    page.see("row 3").await;
    page.see("a lot").await;
    page.see("2 charges").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_that_was_made_smaller_is_on_the_overview_until_it_is_explained(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    let half = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    let whole = half.text().to_owned() + half.text().lines().nth(1).unwrap_or_default() + "\n";
    for (name, file) in [("whole.csv", whole.as_str()), ("half.csv", half.text())] {
        page.go("/imports").await;
        page.choose_file(&site.file(name, file)).await;
        page.click("button", "Import").await;
        page.arrive("/imports/batches/").await;
        page.see(name).await;
        // Loads run side by side: the second would find nothing to replace while the first is under way.
        if name == "whole.csv" {
            page.see("2 rows = 2 charges").await;
        }
    }
    page.see("50% of the rows (1 of 2)").await;
    page.go("/imports/2").await;
    page.click("button", "Replace").await;
    page.see("A month became smaller").await;
    page.go("/overview").await;
    page.click("link", "Review what is missing").await;
    page.arrive("/imports/2").await;
    page.fill("Why is the month smaller?", "One row was there twice.").await;
    page.click("button", "Save").await;
    page.see("Saved.").await;
    page.see("One row was there twice.").await;
    page.go("/overview").await;
    assert!(!page.is_shown("Review what is missing").await);
    assert_eq!(page.complaints().await, [""; 0]);
}
