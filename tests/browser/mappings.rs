//! Invoices that no format knows, mapped in a browser: what is suggested is looked at, the provider is entered, and the month after
//! nobody is needed.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::{Page, Site};
use crate::support::files;

fn invoice(name: &str) -> String {
    std::fs::read_to_string(files::fixture(&format!("invoices/{name}"))).unwrap()
}

/// Drops a file on the page of mappings and waits for the one that asks about it.
async fn drop_on_mappings(site: &Site, page: &mut Page, name: &str) {
    page.go("/mappings").await;
    page.drop_file("[data-upload]", &site.file(name, invoice(name))).await;
    page.arrive("/mappings/files/").await;
    page.see(&format!("Map {name}")).await;
}

/// Enters what no column says, and waits until the answer follows.
async fn enter(page: &mut Page, label: &str, text: &str) {
    page.fill(label, text).await;
    page.ask("(document.activeElement.dispatchEvent(new Event('change', { bubbles: true })), true)").await;
    let holds = format!("[...document.querySelectorAll('#hidden input')].some(it => it.value === {text:?})");
    page.until(&holds, &format!("{label} is taken")).await;
}

async fn save_and_import(page: &mut Page, name: &str) {
    page.fill("Name of the mapping", name).await;
    page.click("button", "Save and import the file").await;
    page.arrive("/imports/batches/").await;
}

/// Imports the file of the next month as anybody would.
async fn import(site: &Site, page: &mut Page, name: &str, content: String) {
    page.go("/imports").await;
    page.choose_file(&site.file(name, content)).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    page.see(name).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_weekly_invoice_with_tax_becomes_charges_of_two_months(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    drop_on_mappings(&site, &mut page, "lambda-weekly.csv").await;
    enter(&mut page, "Provider", "Lambda").await;
    page.see("September 2026").await;
    page.see("October 2026").await;
    page.see("8,535.79").await;
    save_and_import(&mut page, "lambda-weekly").await;
    page.see("12 charges").await;
    let next =
        invoice("lambda-weekly.csv").replace("2026-09-2", "2026-10-1").replace("2026-10-04", "2026-10-20");
    import(&site, &mut page, "next.csv", next).await;
    page.go("/imports").await;
    page.see("lambda-weekly@1").await;
    page.see("17,071.58").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_german_invoice_reconciles_with_its_own_total(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    drop_on_mappings(&site, &mut page, "rechnung.csv").await;
    page.see("header in line 4").await;
    enter(&mut page, "Provider", "Rechenzentrum Nord").await;
    page.see("total, 15154.50, is the sum of its rows").await;
    page.see("15,154.50").await;
    save_and_import(&mut page, "rechenzentrum").await;
    page.see("3 charges").await;
    import(&site, &mut page, "oktober.csv", invoice("rechnung.csv").replace(".09.2026", ".10.2026")).await;
    page.see("3 charges").await;
    page.go("/spend/2026-10?cost=billed").await;
    page.see("15,154.50").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn discounts_and_totals_of_a_reseller_are_told_apart(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    drop_on_mappings(&site, &mut page, "reseller.csv").await;
    page.see("Kinds of lines").await;
    page.see("30,594.57").await;
    page.see("is the sum of its rows").await;
    save_and_import(&mut page, "reseller").await;
    page.see("4 charges").await;
    import(&site, &mut page, "october.csv", invoice("reseller.csv").replace("Sep 2026", "Oct 2026")).await;
    page.see("4 charges").await;
    page.go("/spend/2026-10?by=category&cost=billed").await;
    page.see("Credit").await;
    page.see("30,594.57").await;
    assert_eq!(page.complaints().await, [""; 0]);
}
