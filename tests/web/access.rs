//! Every route with every role and with none. What follows is written by hand: a route that is added to the
//! site has to be added here, with whom it is for.

use axum::http::{Method, StatusCode};
use gpuledger::accounts::Role;
use gpuledger::web;
use sqlx::PgPool;

use crate::support::{TestApp, html};

const NOBODY: &[Option<Role>] = &[None, Some(Role::Lead), Some(Role::Finance), Some(Role::Admin)];
const PEOPLE: &[Option<Role>] = &[Some(Role::Lead), Some(Role::Finance), Some(Role::Admin)];
const FINANCE: &[Option<Role>] = &[Some(Role::Finance), Some(Role::Admin)];
const ADMINS: &[Option<Role>] = &[Some(Role::Admin)];

/// Method, path, an address of it, whom it answers.
pub(super) const ROUTES: &[(&str, &str, &str, &[Option<Role>])] = &[
    ("GET", "/", "/", PEOPLE),
    ("GET", "/overview", "/overview", PEOPLE),
    ("GET", "/overview", "/overview.json", PEOPLE),
    ("GET", "/overview", "/overview.csv", PEOPLE),
    ("GET", "/spend", "/spend?from=2026-08&to=2026-09", PEOPLE),
    ("GET", "/spend/{period}", "/spend/2026-09", PEOPLE),
    ("GET", "/variance/{period}", "/variance/2026-09", PEOPLE),
    ("GET", "/tokens/{period}", "/tokens/2026-09", PEOPLE),
    ("GET", "/charges/{period}", "/charges/2026-09", PEOPLE),
    ("GET", "/charges/{delivery}/{file}/{row}", "/charges/1/0/1", PEOPLE),
    ("GET", "/teams", "/teams", PEOPLE),
    ("GET", "/teams/{team}", "/teams/vision", PEOPLE),
    ("GET", "/teams/{team}/{period}", "/teams/vision/2026-09", PEOPLE),
    ("GET", "/teams/{team}/{period}/statement", "/teams/vision/2026-09/statement", PEOPLE),
    ("GET", "/experiments", "/experiments", PEOPLE),
    ("GET", "/experiments/during/{period}", "/experiments/during/2026-09", PEOPLE),
    ("GET", "/experiments/compare", "/experiments/compare", PEOPLE),
    ("GET", "/experiments/compare", "/experiments/compare.json", PEOPLE),
    ("GET", "/experiments/compare", "/experiments/compare.csv", PEOPLE),
    ("GET", "/experiments/{experiment}", "/experiments/exp-1", PEOPLE),
    ("POST", "/experiments/{experiment}/change", "/experiments/exp-1/change", FINANCE),
    ("POST", "/experiments/{experiment}/merge", "/experiments/exp-1/merge", FINANCE),
    ("GET", "/chargeback/{period}", "/chargeback/2026-09", PEOPLE),
    ("GET", "/sign-in", "/sign-in", NOBODY),
    ("POST", "/sign-in", "/sign-in", NOBODY),
    ("POST", "/sign-out", "/sign-out", NOBODY),
    ("GET", "/setup/{token}", "/setup/0", NOBODY),
    ("POST", "/setup/{token}", "/setup/0", NOBODY),
    ("GET", "/account", "/account", PEOPLE),
    ("POST", "/account/password", "/account/password", PEOPLE),
    ("POST", "/account/appearance", "/account/appearance", PEOPLE),
    ("POST", "/account/sessions/{session}/end", "/account/sessions/1/end", PEOPLE),
    ("POST", "/account/sessions/end-others", "/account/sessions/end-others", PEOPLE),
    ("POST", "/account/tokens", "/account/tokens", PEOPLE),
    ("POST", "/account/tokens/{token}/revoke", "/account/tokens/1/revoke", PEOPLE),
    ("GET", "/password/{token}", "/password/0", NOBODY),
    ("POST", "/password/{token}", "/password/0", NOBODY),
    ("GET", "/access", "/access", PEOPLE),
    ("GET", "/glossary", "/glossary", PEOPLE),
    ("GET", "/imports", "/imports", FINANCE),
    ("GET", "/imports", "/imports.json", FINANCE),
    ("GET", "/imports", "/imports.csv", FINANCE),
    ("POST", "/imports", "/imports", FINANCE),
    ("POST", "/imports/uploads", "/imports/uploads", FINANCE),
    ("POST", "/imports/uploads/import", "/imports/uploads/import", FINANCE),
    ("PATCH", "/imports/uploads/{upload}", "/imports/uploads/67e55044-10b1-426f-9247-bb680e5fe0c8", FINANCE),
    ("DELETE", "/imports/uploads/{upload}", "/imports/uploads/67e55044-10b1-426f-9247-bb680e5fe0c8", FINANCE),
    ("GET", "/imports/batches/{batch}", "/imports/batches/67e55044-10b1-426f-9247-bb680e5fe0c8", FINANCE),
    (
        "POST",
        "/imports/batches/{batch}/cancel",
        "/imports/batches/67e55044-10b1-426f-9247-bb680e5fe0c8/cancel",
        FINANCE,
    ),
    (
        "POST",
        "/imports/batches/{batch}/retry",
        "/imports/batches/67e55044-10b1-426f-9247-bb680e5fe0c8/retry",
        FINANCE,
    ),
    ("GET", "/imports/{delivery}", "/imports/1", FINANCE),
    ("GET", "/imports/{delivery}/changes/{by}", "/imports/1/changes/service", FINANCE),
    ("GET", "/imports/{delivery}/rejections", "/imports/1/rejections.csv", FINANCE),
    ("GET", "/imports/{delivery}/files/{file}", "/imports/1/files/0", FINANCE),
    ("GET", "/imports/{delivery}/files/{file}/rejected", "/imports/1/files/0/rejected", FINANCE),
    ("POST", "/imports/{delivery}/explain", "/imports/1/explain", FINANCE),
    ("GET", "/imports/review", "/imports/review", FINANCE),
    ("POST", "/imports/review", "/imports/review", ADMINS),
    ("GET", "/imports/limits", "/imports/limits", FINANCE),
    ("POST", "/imports/limits", "/imports/limits", ADMINS),
    ("POST", "/imports/{delivery}/publish", "/imports/1/publish", FINANCE),
    ("POST", "/imports/{delivery}/replace", "/imports/1/replace", FINANCE),
    ("POST", "/imports/{delivery}/add", "/imports/1/add", FINANCE),
    ("POST", "/imports/{delivery}/discard", "/imports/1/discard", FINANCE),
    ("POST", "/imports/{delivery}/undo", "/imports/1/undo", FINANCE),
    ("POST", "/imports/{delivery}/load-again", "/imports/1/load-again", FINANCE),
    ("POST", "/imports/{delivery}/files", "/imports/1/files", FINANCE),
    ("GET", "/storage", "/storage", FINANCE),
    ("GET", "/storage", "/storage.json", FINANCE),
    ("POST", "/storage", "/storage", ADMINS),
    ("POST", "/storage/uploads", "/storage/uploads", ADMINS),
    ("POST", "/storage/archive", "/storage/archive", ADMINS),
    ("GET", "/invoices", "/invoices", FINANCE),
    ("GET", "/invoices/{period}", "/invoices/2026-09", FINANCE),
    ("POST", "/invoices/{period}", "/invoices/2026-09", FINANCE),
    ("POST", "/invoices/{period}/remove", "/invoices/2026-09/remove", FINANCE),
    ("GET", "/budgets", "/budgets", PEOPLE),
    ("GET", "/budgets", "/budgets.json", PEOPLE),
    ("GET", "/budgets", "/budgets.csv", PEOPLE),
    ("POST", "/budgets", "/budgets", FINANCE),
    ("GET", "/budgets/{budget}", "/budgets/1", PEOPLE),
    ("POST", "/budgets/{budget}", "/budgets/1", FINANCE),
    ("POST", "/budgets/{budget}/end", "/budgets/1/end", FINANCE),
    ("POST", "/budgets/{budget}/remove", "/budgets/1/remove", FINANCE),
    ("GET", "/quantities", "/quantities", FINANCE),
    ("GET", "/quantities", "/quantities.json", FINANCE),
    ("GET", "/quantities", "/quantities.csv", FINANCE),
    ("POST", "/quantities", "/quantities", FINANCE),
    ("POST", "/quantities/file", "/quantities/file", FINANCE),
    ("POST", "/quantities/remove", "/quantities/remove", FINANCE),
    ("GET", "/unallocated", "/unallocated", FINANCE),
    ("GET", "/unallocated/{period}", "/unallocated/2026-09", FINANCE),
    ("GET", "/scenarios", "/scenarios", PEOPLE),
    ("GET", "/scenarios", "/scenarios.json", PEOPLE),
    ("GET", "/scenarios", "/scenarios.csv", PEOPLE),
    ("POST", "/scenarios", "/scenarios", PEOPLE),
    ("POST", "/scenarios/file", "/scenarios/file", PEOPLE),
    ("GET", "/scenarios/new", "/scenarios/new?from=2026-09", PEOPLE),
    ("GET", "/scenarios/new", "/scenarios/new.json?from=2026-09", PEOPLE),
    ("GET", "/scenarios/new", "/scenarios/new.csv?from=2026-09", PEOPLE),
    ("GET", "/scenarios/new", "/scenarios/new.toml?from=2026-09", PEOPLE),
    ("GET", "/scenarios/templates/{template}", "/scenarios/templates/none", PEOPLE),
    ("GET", "/scenarios/calculators", "/scenarios/calculators", PEOPLE),
    ("GET", "/scenarios/calculators/{calculator}", "/scenarios/calculators/spot", PEOPLE),
    ("GET", "/scenarios/{scenario}", "/scenarios/1", PEOPLE),
    ("POST", "/scenarios/{scenario}", "/scenarios/1", PEOPLE),
    ("GET", "/scenarios/{scenario}/versions", "/scenarios/1/versions", PEOPLE),
    ("GET", "/scenarios/{scenario}/versions", "/scenarios/1/versions.json", PEOPLE),
    ("POST", "/scenarios/{scenario}/share", "/scenarios/1/share", PEOPLE),
    ("POST", "/scenarios/{scenario}/unshare", "/scenarios/1/unshare", PEOPLE),
    ("POST", "/scenarios/{scenario}/remove", "/scenarios/1/remove", PEOPLE),
    ("POST", "/scenarios/{scenario}/bring-back", "/scenarios/1/bring-back", PEOPLE),
    ("GET", "/scenarios/claims", "/scenarios/claims", PEOPLE),
    ("GET", "/scenarios/claims", "/scenarios/claims.json", PEOPLE),
    ("GET", "/catalog", "/catalog", FINANCE),
    ("GET", "/catalog", "/catalog.json", FINANCE),
    ("GET", "/catalog", "/catalog.csv", FINANCE),
    ("GET", "/catalog/new", "/catalog/new", ADMINS),
    ("POST", "/catalog/new", "/catalog/new", ADMINS),
    ("GET", "/catalog/additions/{addition}", "/catalog/additions/1", FINANCE),
    ("GET", "/catalog/additions/{addition}", "/catalog/additions/1.json", FINANCE),
    ("GET", "/catalog/additions/{addition}", "/catalog/additions/1.csv", FINANCE),
    ("POST", "/catalog/additions/{addition}/remove", "/catalog/additions/1/remove", ADMINS),
    ("GET", "/jobs", "/jobs", PEOPLE),
    ("GET", "/jobs/{period}", "/jobs/2026-09", PEOPLE),
    ("GET", "/jobs/{period}", "/jobs/2026-09.json", PEOPLE),
    ("GET", "/jobs/{period}", "/jobs/2026-09.csv", PEOPLE),
    ("GET", "/jobs/hours", "/jobs/hours", PEOPLE),
    ("GET", "/jobs/hours/{period}", "/jobs/hours/2026-09", PEOPLE),
    ("GET", "/jobs/hours/{period}", "/jobs/hours/2026-09.json", PEOPLE),
    ("GET", "/jobs/hours/{period}", "/jobs/hours/2026-09.csv", PEOPLE),
    ("GET", "/jobs/job/{job}", "/jobs/job/1", PEOPLE),
    ("GET", "/jobs/job/{job}", "/jobs/job/1.json", PEOPLE),
    ("GET", "/jobs/job/{job}", "/jobs/job/1.csv", PEOPLE),
    ("GET", "/usage", "/usage", FINANCE),
    ("GET", "/usage", "/usage.json", FINANCE),
    ("GET", "/usage", "/usage.csv", FINANCE),
    ("GET", "/usage/imports/{import}", "/usage/imports/1", FINANCE),
    ("GET", "/usage/imports/{import}", "/usage/imports/1.json", FINANCE),
    ("GET", "/usage/imports/{import}", "/usage/imports/1.csv", FINANCE),
    ("GET", "/usage/prometheus/new", "/usage/prometheus/new", ADMINS),
    ("POST", "/usage/prometheus/new", "/usage/prometheus/new", ADMINS),
    ("POST", "/usage/prometheus/test", "/usage/prometheus/test", ADMINS),
    ("GET", "/usage/prometheus/{server}", "/usage/prometheus/1", FINANCE),
    ("GET", "/usage/prometheus/{server}", "/usage/prometheus/1.json", FINANCE),
    ("GET", "/usage/prometheus/{server}", "/usage/prometheus/1.csv", FINANCE),
    ("POST", "/usage/prometheus/{server}", "/usage/prometheus/1", ADMINS),
    ("POST", "/usage/prometheus/{server}/read-again", "/usage/prometheus/1/read-again", ADMINS),
    ("POST", "/usage/prometheus/{server}/remove", "/usage/prometheus/1/remove", ADMINS),
    ("POST", "/usage/bills/{scope}/divide", "/usage/bills/1/divide", FINANCE),
    ("POST", "/usage/imports/{import}/undo", "/usage/imports/1/undo", FINANCE),
    ("POST", "/usage/nodes/{node}", "/usage/nodes/1", ADMINS),
    ("POST", "/usage/sources/{source}/clock", "/usage/sources/1/clock", ADMINS),
    ("GET", "/mappings", "/mappings", FINANCE),
    ("GET", "/mappings", "/mappings.json", FINANCE),
    ("GET", "/mappings", "/mappings.csv", FINANCE),
    ("POST", "/mappings/files", "/mappings/files", FINANCE),
    ("POST", "/mappings/text", "/mappings/text", FINANCE),
    ("GET", "/mappings/files/{sample}", "/mappings/files/67e55044-10b1-426f-9247-bb680e5fe0c8", FINANCE),
    ("POST", "/mappings/files/{sample}", "/mappings/files/67e55044-10b1-426f-9247-bb680e5fe0c8", FINANCE),
    (
        "GET",
        "/mappings/files/{sample}/usage",
        "/mappings/files/67e55044-10b1-426f-9247-bb680e5fe0c8/usage",
        FINANCE,
    ),
    (
        "POST",
        "/mappings/files/{sample}/usage",
        "/mappings/files/67e55044-10b1-426f-9247-bb680e5fe0c8/usage",
        FINANCE,
    ),
    ("POST", "/mappings/usage/{mapping}/remove", "/mappings/usage/1/remove", FINANCE),
    ("GET", "/mappings/{mapping}", "/mappings/none", FINANCE),
    ("GET", "/mappings/{mapping}", "/mappings/none.json", FINANCE),
    ("GET", "/mappings/{mapping}", "/mappings/none.csv", FINANCE),
    ("GET", "/mappings/{mapping}/text", "/mappings/none/text", FINANCE),
    ("POST", "/mappings/{mapping}/remove", "/mappings/none/remove", FINANCE),
    ("GET", "/rates", "/rates", FINANCE),
    ("GET", "/rates", "/rates.json", FINANCE),
    ("GET", "/rates", "/rates.csv", FINANCE),
    ("POST", "/rates", "/rates", FINANCE),
    ("POST", "/rates/file", "/rates/file", FINANCE),
    ("POST", "/rates/remove", "/rates/remove", FINANCE),
    ("POST", "/rates/reporting-currency", "/rates/reporting-currency", FINANCE),
    ("GET", "/rules", "/rules", FINANCE),
    ("GET", "/rules", "/rules.json", FINANCE),
    ("GET", "/rules", "/rules.csv", FINANCE),
    ("GET", "/rules/new", "/rules/new", FINANCE),
    ("GET", "/rules/{rule}", "/rules/1", FINANCE),
    ("GET", "/shared-costs", "/shared-costs", FINANCE),
    ("GET", "/shared-costs/new", "/shared-costs/new", FINANCE),
    ("GET", "/shared-costs/{pool}", "/shared-costs/1", FINANCE),
    ("GET", "/organization/{sheet}", "/organization/teams", FINANCE),
    ("GET", "/organization/{sheet}/{entry}", "/organization/teams/1", FINANCE),
    ("GET", "/labels/{label}", "/labels/team", FINANCE),
    ("GET", "/changes", "/changes", FINANCE),
    ("GET", "/changes", "/changes.json", FINANCE),
    ("GET", "/changes", "/changes.csv", FINANCE),
    ("GET", "/changes/{change}", "/changes/1", FINANCE),
    ("POST", "/rules/new", "/rules/new", FINANCE),
    ("POST", "/rules/{rule}", "/rules/1", FINANCE),
    ("POST", "/rules/{rule}/move", "/rules/1/move", FINANCE),
    ("POST", "/rules/{rule}/remove", "/rules/1/remove", FINANCE),
    ("POST", "/shared-costs/new", "/shared-costs/new", FINANCE),
    ("POST", "/shared-costs/{pool}", "/shared-costs/1", FINANCE),
    ("POST", "/shared-costs/{pool}/remove", "/shared-costs/1/remove", FINANCE),
    ("POST", "/organization/{sheet}", "/organization/teams", FINANCE),
    ("POST", "/organization/{sheet}/file", "/organization/teams/file", FINANCE),
    ("POST", "/organization/{sheet}/{entry}", "/organization/teams/1", FINANCE),
    ("POST", "/organization/{sheet}/{entry}/remove", "/organization/teams/1/remove", FINANCE),
    ("POST", "/labels/{label}/meaning", "/labels/team/meaning", FINANCE),
    ("POST", "/labels/{label}/map", "/labels/team/map", FINANCE),
    ("POST", "/changes/{kind}/{change}/propose", "/changes/allocation/1/propose", FINANCE),
    ("POST", "/changes/{kind}/{change}/discard", "/changes/allocation/1/discard", FINANCE),
    ("POST", "/changes/{kind}/{change}/apply", "/changes/allocation/1/apply", ADMINS),
    ("POST", "/changes/{kind}/{change}/undo", "/changes/allocation/1/undo", ADMINS),
    ("GET", "/clusters", "/clusters", FINANCE),
    ("GET", "/clusters", "/clusters.json", FINANCE),
    ("GET", "/clusters", "/clusters.csv", FINANCE),
    ("GET", "/clusters/new", "/clusters/new", FINANCE),
    ("POST", "/clusters/new", "/clusters/new", FINANCE),
    ("GET", "/clusters/new/figure", "/clusters/new/figure", FINANCE),
    ("GET", "/clusters/{cluster}", "/clusters/h100-east", FINANCE),
    ("GET", "/clusters/{cluster}/{month}", "/clusters/h100-east/2026-09", FINANCE),
    ("POST", "/clusters/{cluster}/publish", "/clusters/h100-east/publish", FINANCE),
    ("POST", "/clusters/{cluster}/readings", "/clusters/h100-east/readings", FINANCE),
    ("GET", "/asset-register/{kind}", "/asset-register/assets", FINANCE),
    ("POST", "/asset-register/{kind}/file", "/asset-register/assets/file", FINANCE),
    ("GET", "/asset-register/{kind}/new", "/asset-register/assets/new", FINANCE),
    ("POST", "/asset-register/{kind}/new", "/asset-register/assets/new", FINANCE),
    ("GET", "/asset-register/entries/{entry}", "/asset-register/entries/1", FINANCE),
    ("POST", "/asset-register/entries/{entry}", "/asset-register/entries/1", FINANCE),
    ("POST", "/asset-register/entries/{entry}/remove", "/asset-register/entries/1/remove", FINANCE),
    ("GET", "/asset-register/changes", "/asset-register/changes.json", FINANCE),
    ("GET", "/asset-register/changes/{change}", "/asset-register/changes/1", FINANCE),
    ("POST", "/changes/readings/{change}/undo", "/changes/readings/1/undo", FINANCE),
    ("GET", "/prices", "/prices", PEOPLE),
    ("GET", "/prices", "/prices.json", PEOPLE),
    ("GET", "/prices", "/prices.csv", PEOPLE),
    ("GET", "/prices/tokens", "/prices/tokens", PEOPLE),
    ("POST", "/prices/tokens", "/prices/tokens", ADMINS),
    ("POST", "/prices/tokens/{price}/remove", "/prices/tokens/1/remove", ADMINS),
    ("POST", "/prices/tokens/{price}/restore", "/prices/tokens/1/restore", ADMINS),
    ("GET", "/prices/new", "/prices/new", FINANCE),
    ("POST", "/prices/new", "/prices/new", FINANCE),
    ("POST", "/prices/file", "/prices/file", FINANCE),
    ("GET", "/prices/offers/{offer}", "/prices/offers/0123456789abcdef", FINANCE),
    ("POST", "/prices/offers/{offer}", "/prices/offers/0123456789abcdef", FINANCE),
    ("POST", "/prices/offers/{offer}/remove", "/prices/offers/0123456789abcdef/remove", FINANCE),
    ("GET", "/prices/changes", "/prices/changes.json", FINANCE),
    ("GET", "/prices/changes/{change}", "/prices/changes/1", FINANCE),
    ("GET", "/rate-cards", "/rate-cards", FINANCE),
    ("GET", "/rate-cards", "/rate-cards.json", FINANCE),
    ("GET", "/rate-cards", "/rate-cards.csv", FINANCE),
    ("GET", "/rate-cards/new", "/rate-cards/new", FINANCE),
    ("POST", "/rate-cards/new", "/rate-cards/new", FINANCE),
    ("POST", "/rate-cards/file", "/rate-cards/file", FINANCE),
    ("GET", "/rate-cards/{rate}", "/rate-cards/1", FINANCE),
    ("POST", "/rate-cards/{rate}", "/rate-cards/1", FINANCE),
    ("POST", "/rate-cards/{rate}/remove", "/rate-cards/1/remove", FINANCE),
    ("GET", "/rate-cards/changes/{change}", "/rate-cards/changes/1", FINANCE),
    ("POST", "/rate-cards/changes/{change}/apply", "/rate-cards/changes/1/apply", FINANCE),
    ("POST", "/rate-cards/changes/{change}/undo", "/rate-cards/changes/1/undo", FINANCE),
    ("GET", "/adjustments", "/adjustments", FINANCE),
    ("GET", "/adjustments", "/adjustments.json", FINANCE),
    ("GET", "/adjustments", "/adjustments.csv", FINANCE),
    ("GET", "/adjustments/new", "/adjustments/new", FINANCE),
    ("POST", "/adjustments/new", "/adjustments/new", FINANCE),
    ("GET", "/adjustments/{adjustment}", "/adjustments/1", FINANCE),
    ("POST", "/adjustments/{adjustment}", "/adjustments/1", FINANCE),
    ("POST", "/adjustments/{adjustment}/remove", "/adjustments/1/remove", FINANCE),
    ("POST", "/adjustments/bills/{scope}/compute", "/adjustments/bills/1/compute", FINANCE),
    ("GET", "/adjustments/changes/{change}", "/adjustments/changes/1", FINANCE),
    ("POST", "/adjustments/changes/{change}/apply", "/adjustments/changes/1/apply", FINANCE),
    ("POST", "/adjustments/changes/{change}/undo", "/adjustments/changes/1/undo", FINANCE),
    ("GET", "/people", "/people", ADMINS),
    ("POST", "/people", "/people", ADMINS),
    ("GET", "/people/{person}", "/people/1", ADMINS),
    ("POST", "/people/{person}", "/people/1", ADMINS),
    ("POST", "/people/{person}/disable", "/people/1/disable", ADMINS),
    ("POST", "/people/{person}/enable", "/people/1/enable", ADMINS),
    ("POST", "/people/{person}/sign-out", "/people/1/sign-out", ADMINS),
    ("POST", "/people/{person}/link", "/people/1/link", ADMINS),
    ("POST", "/people/{person}/tokens/{token}/revoke", "/people/1/tokens/1/revoke", ADMINS),
    ("GET", "/audit", "/audit", ADMINS),
    ("GET", "/audit", "/audit.json", ADMINS),
    ("GET", "/audit", "/audit.csv", ADMINS),
    ("GET", "/assets/{file}", "/assets/app.css", NOBODY),
    ("GET", "/healthz", "/healthz", NOBODY),
    ("GET", "/readyz", "/readyz", NOBODY),
    ("GET", "/metrics", "/metrics", ADMINS),
];

#[test]
fn every_route_is_listed_here() {
    let mut stated: Vec<_> =
        web::routes().stated().iter().map(|line| format!("{} {}", line.method, line.path)).collect();
    let mut listed: Vec<_> = ROUTES.iter().map(|(method, path, ..)| format!("{method} {path}")).collect();
    stated.sort();
    listed.sort();
    // A page and its files are one route.
    listed.dedup();
    assert_eq!(stated, listed);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_route_answers_whom_it_is_for_and_nobody_else(db: PgPool) {
    let app = TestApp::new(db);
    for role in [None, Some(Role::Lead), Some(Role::Finance), Some(Role::Admin)] {
        let mut browser = match role {
            Some(role) => app.signed_in(role).await,
            None => app.stranger(),
        };
        for (method, _, address, admitted) in ROUTES {
            let method: Method = method.parse().unwrap();
            let answer = browser.request(&method, address).await;
            let is_refused = match answer.status {
                StatusCode::UNAUTHORIZED => true,
                // A form without its token is refused too, but for another reason.
                StatusCode::FORBIDDEN => !answer.body.contains("This form expired"),
                StatusCode::SEE_OTHER => role.is_none() && answer.location().starts_with("/sign-in"),
                _ => false,
            };
            assert_eq!(
                !is_refused,
                admitted.contains(&role),
                "{method} {address} for {role:?}: {}",
                answer.status
            );
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn page_without_files_has_no_address_with_a_suffix(db: PgPool) {
    let mut admin = TestApp::new(db).signed_in(Role::Admin).await;
    let routes = web::routes();
    let has_files = |path: &str| routes.stated().iter().any(|line| line.path == path && line.has_files);
    let pages = ROUTES.iter().filter(|(method, path, ..)| *method == "GET" && !has_files(path));
    let mut tried = 0;
    for (_, path, address, _) in pages.filter(|(_, path, ..)| !path.starts_with("/assets/")) {
        let page = address.split('?').next().unwrap().trim_end_matches(".csv");
        for suffix in [".json", ".toml"] {
            let answer = admin.get(&format!("{page}{suffix}")).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}: {page}{suffix}");
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn everyone_can_read_who_may_do_what(db: PgPool) {
    let mut lead = TestApp::new(db).signed_in(Role::Lead).await;
    let page = lead.get("/access").await;
    assert!(
        html::text(&page.body, "main > p")
            .contains("Your role is lead: the spend of their teams. Your teams: research")
    );
    let spend = html::texts(&page.body, "tbody tr:first-child td");
    assert_eq!(spend, ["yes", "yes", "rows of their teams only", "read"]);
    let audit = html::texts(&page.body, "tbody tr:last-child td");
    assert_eq!(audit, ["yes", "no", "no", "no"]);
}
