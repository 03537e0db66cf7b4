//! The same journey in a browser that runs no scripts.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::Site;
use crate::support::Focus;

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn everything_works_without_javascript(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Admin, &[]).await;
    page.without_javascript().await;
    page.sign_in("ada@example.org").await;

    page.go("/imports").await;
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    page.choose_file(&site.file("september.csv", month)).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    let batch = page.path().await;
    // Nothing reloads by itself; one reloads.
    while !page.is_shown("1 charge").await {
        page.go(&batch).await;
    }

    page.go("/spend/2026-09").await;
    page.see("120.25").await;
    page.click("link", "charges of").await;
    page.arrive("/charges/2026-09").await;
    page.click("link", "1/1").await;
    page.arrive("/charges/1/0/1").await;
    page.see("BillingAccountId").await;

    page.go("/imports/1").await;
    page.click("button", "Undo import").await;
    page.click("button", "Undo import").await;
    page.see("undone").await;
    page.click("button", "ada@example.org").await;
    page.click("button", "Sign out").await;
    page.arrive("/sign-in").await;
}
