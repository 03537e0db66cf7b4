//! A lead tries the addresses of another team.

use gpuledger::accounts::Role;
use sqlx::PgPool;

use super::Site;
use crate::support::Focus;

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
    page.see("An administrator can change that").await;
}
