//! What the drawings of a scenario say, in the sentence above them and in their legends.

use std::collections::BTreeSet;

use gpuledger::accounts::Role;
use gpuledger::economics::template::templates;
use sqlx::PgPool;

use crate::support::{TestApp, html};

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn owning_is_measured_by_the_cheapest_price_that_is_paid_by_use(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    for (handle, edit, described) in [
        (
            "ten-nodes",
            "",
            "Compared with Lambda on demand at 3.99, the cheapest price paid by use: The offer: ten nodes and As many nodes \
             as pay cost less from 89.3% utilization.",
        ),
        (
            "ten-nodes",
            "?set=/option/4/place/0/on_demand/price=2",
            "Compared with Lambda on demand at 2.00, the cheapest price paid by use: The offer: ten nodes and As many nodes \
             as pay cost less at no utilization.",
        ),
        (
            "eight-million",
            "",
            "Compared with CoreWeave on demand at 6.16, the cheapest price paid by use: Our own costs less from 81.5% \
             utilization.",
        ),
    ] {
        let page = finance.get(&format!("/scenarios/templates/{handle}{edit}")).await;
        assert_eq!(html::text(&page.body, "#break-even .says"), described, "{handle}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_line_of_a_drawing_has_a_name_of_its_own_and_every_axis_one(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    for template in templates() {
        let page = finance.get(&format!("/scenarios/templates/{}", template.handle)).await.body;
        for section in ["#break-even", "#paid", "#mix", "#range"] {
            let names = html::texts(&page, &format!("{section} .legend li"));
            let known: BTreeSet<&String> = names.iter().collect();
            assert_eq!(known.len(), names.len(), "{} {section}: {names:?}", template.handle);
        }
        for (section, axes) in [
            ("#break-even", &["USD per GPU-hour of work", "Utilization"][..]),
            ("#paid", &["USD paid so far", "Months"]),
            ("#mix", &["GPUs", "Hours, busiest first"]),
        ] {
            let texts = html::texts(&page, &format!("{section} svg.chart text"));
            let is_named = |axis: &&str| texts.iter().any(|it| it == axis);
            assert!(texts.is_empty() || axes.iter().all(is_named), "{} {section}", template.handle);
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_only_its_sale_repays_is_told_so(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = finance.get("/scenarios/templates/eight-million").await.body;
    let points = html::texts(&page, "#paid svg.narrow circle title");
    let by_sale = points.iter().filter(|it| it.starts_with("After 12 months Our own"));
    assert_eq!(by_sale.filter(|it| it.ends_with("only by selling what is left")).count(), 2, "{points:?}");
    assert_eq!(points.iter().filter(|it| it.starts_with("After 8.2 months Our own")).count(), 1);
    assert_eq!(points.len(), 3, "{points:?}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn who_has_paid_least_has_done_the_work(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let page = finance.get("/scenarios/templates/second-cloud").await.body;
    assert!(html::text(&page, "#options").contains("All at Lambda requirements not met"), "which pays less");
    assert_eq!(
        html::text(&page, "#paid .says"),
        "Batch on spot at CoreWeave has the lowest payments after 36 months: 6,232,361 USD."
    );
}
