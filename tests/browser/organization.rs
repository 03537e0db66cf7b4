//! An administrator brings the organization as a file, which is not as it should be.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::Site;

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_of_teams_that_is_refused_says_why_and_is_taken_when_it_is_corrected(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Admin, &[]).await;
    page.sign_in("ada@example.org").await;

    page.go("/organization/teams").await;
    let wrong = "name,parent,first\nResearch,,\nVision,research,summer\n";
    page.choose_file(&site.file("wrong.csv", wrong)).await;
    page.click("button", "Import").await;
    // Said beside the file that was chosen, with the row and what was found.
    page.see("wrong.csv: row 2, first").await;
    page.see("summer").await;
    assert_eq!(page.path().await, "/organization/teams");
    // One row is as it should be, and what they say together is not.
    page.choose_file(&site.file("orphan.csv", "name,parent\nVision,research\n")).await;
    page.click("button", "Import").await;
    page.see("research").await;
    page.until(
        "!document.querySelector('[data-progress]').innerText.includes('summer')",
        "it is said of the other file",
    )
    .await;
    page.go("/changes").await;
    assert!(
        !page.is_shown("wrong.csv").await && !page.is_shown("orphan.csv").await,
        "nothing of them is left"
    );

    page.go("/organization/teams").await;
    page.choose_file(&site.file("teams.csv", wrong.replace("summer", "2026-09"))).await;
    page.click("button", "Import").await;
    page.arrive("/changes/").await;
    page.click("button", "Apply change").await;
    page.see("Applied. Version").await;
    page.go("/organization/teams").await;
    page.see("Vision").await;
    // A refusal is an answer with 422, which the browser notes.
    let complaints = page.complaints().await;
    assert_eq!(complaints.iter().filter(|said| !said.contains("422")).count(), 0, "{complaints:?}");
}
