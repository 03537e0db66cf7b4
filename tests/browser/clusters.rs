//! A newcomer enters a cluster.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::Site;

const FIGURE: &str = "document.querySelector('#figure').innerText.replaceAll(/\\s+/g, ' ')";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_figure_beside_the_form_follows_what_is_typed(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Admin, &[]).await;
    page.sign_in("ada@example.org").await;
    page.go("/clusters/new").await;
    page.until(&format!("{FIGURE}.includes('3,825,000.00 USD')"), "there is a figure at once").await;
    page.fill("Price of a node", "1000000").await;
    page.until(&format!("{FIGURE}.includes('9,450,000.00 USD')"), "nine nodes and their fabric").await;
    page.fill("Price of a node", "").await;
    page.see("Complete these fields").await;
    page.fill("Price of a node", "100000").await;
    page.until(&format!("{FIGURE}.includes('1,350,000.00 USD')"), "the figure is back").await;
    page.fill("Name", "H100 East").await;
    page.fill("Site", "Frankfurt").await;
    page.click("button", "Add cluster").await;
    page.arrive("/clusters/h100-east").await;
    page.see("Frankfurt, 64 accelerators in service").await;
}
