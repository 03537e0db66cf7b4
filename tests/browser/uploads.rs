//! Large files over connections that are lost.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::{Page, Site};
use crate::support::Focus;

/// Of three pieces, in rows that are long.
const ROWS: usize = 4500;
/// Bytes a second at which they take some seconds.
const SLOW: u32 = 1_500_000;

fn large() -> String {
    let note = "n".repeat(1700);
    let row = Focus::new().hour("acme", "s1", "2026-09-05T10", "1", "vision");
    let (header, row) = row.text().trim_end().split_once('\n').unwrap();
    format!("{header},x_Note\n") + &format!("{row},{note}\n").repeat(ROWS)
}

/// Waits until a piece of the file has arrived, and the next one is on its way.
async fn is_under_way(page: &mut Page) {
    let percent = "+document.querySelector('.uploads > li .num').textContent.replace('%', '')";
    page.until(&format!("{percent} > 0 && {percent} < 100"), "a part of the file has arrived").await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_goes_on_where_the_connection_was_lost(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;

    page.go("/imports").await;
    page.choose_file(&site.file("september.csv", large())).await;
    page.set_network(false, Some(SLOW)).await;
    page.click("button", "Import").await;
    is_under_way(&mut page).await;
    page.set_network(true, None).await;
    page.see("Connection lost. Trying again in").await;
    page.see("0 of 1 file uploaded").await;
    assert!(!page.complaints().await.is_empty(), "the browser says so, too");
    page.set_network(false, None).await;
    page.arrive("/imports/batches/").await;
    page.see("4,500 rows = 4,500 charges").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn usage_is_imported_from_its_own_page(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    page.go("/usage").await;
    let usage = "node,from,to,accelerators,holder\ngpu-1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,8,train\n";
    page.choose_file(&site.file("usage.csv", usage)).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    page.see("Usage import 1").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_that_is_chosen_again_resumes_and_one_can_be_canceled(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("fin@example.org", Role::Finance, &[]).await;
    page.sign_in("fin@example.org").await;
    let file = site.file("september.csv", large());

    for width in [1280, 390] {
        page.set_width(width).await;
        page.go("/imports").await;
        page.choose_file(&file).await;
        page.set_network(false, Some(SLOW)).await;
        page.click("button", "Import").await;
        is_under_way(&mut page).await;
        // The page is left, and opened again.
        page.go("/imports").await;
        page.see("Choose the file again to resume.").await;
        page.set_network(false, None).await;
        if width == 1280 {
            page.click("button", "Cancel september.csv").await;
            page.until("!document.querySelector('.uploads > li')", "it is canceled").await;
            page.go("/imports").await;
            assert!(!page.is_shown("september.csv").await);
        }
    }
    page.choose_file(&file).await;
    page.click("button", "Import").await;
    page.arrive("/imports/batches/").await;
    page.see("4,500 rows = 4,500 charges").await;
    assert_eq!(page.complaints().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_that_is_too_large_is_taken_out_and_the_others_go_on(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Admin, &[]).await;
    page.sign_in("ada@example.org").await;
    page.go("/storage").await;
    page.fill("Largest file, GB", "0.005").await;
    page.click("button", "Save limits").await;
    page.see("Saved. The limits apply to new uploads.").await;

    page.go("/imports").await;
    let small = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    let files = [site.file("large.csv", large()), site.file("small.csv", small)];
    page.choose_files(&files).await;
    page.click("button", "Import").await;
    page.see("a file may be").await;
    page.see("1 of 2 files uploaded").await;
    assert!(!page.complaints().await.is_empty(), "the browser says so, too");
    page.click("button", "Cancel large.csv").await;
    page.arrive("/imports/batches/").await;
    page.see("small.csv").await;
    page.see("1 row = 1 charge").await;
    assert!(!page.is_shown("large.csv").await);
    assert_eq!(page.complaints().await, [""; 0]);
}
