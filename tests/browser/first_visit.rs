//! A newcomer starts the server and opens the link that it prints.

use sqlx::PgPool;

use super::Site;

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_first_visitor_becomes_the_first_administrator(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    page.go("/").await;
    page.arrive("/sign-in").await;

    let link = site.server.setup_link.clone().expect("nobody has an account yet");
    page.go(&link).await;
    page.fill("Email", "ada@example.org").await;
    page.fill("Name", "Ada").await;
    page.fill("Password", "short").await;
    page.click("button", "Create account").await;
    // The hint says the same without its first word.
    page.see("Choose at least 10 characters").await;
    page.fill("Password", "a few words in a row").await;
    page.click("button", "Create account").await;
    page.see("Ada").await;
    page.see("No bills imported yet").await;
    assert_eq!(page.complaints().await.iter().filter(|said| !said.contains("422")).count(), 0);

    // The link worked once.
    page.go("/people").await;
    page.see("ada@example.org").await;
    page.click("button", "Ada").await;
    page.click("button", "Sign out").await;
    page.arrive("/sign-in").await;
    page.go(&link).await;
    assert!(!page.is_shown("Create account").await);
}
