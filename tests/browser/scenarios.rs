//! Somebody asks what if.

use gpuledger::accounts::Role;
use gpuledger::economics::template::{template, templates};
use sqlx::PgPool;

use super::Site;

/// As when one goes on to the next field.
const LEAVE: &str = "document.activeElement.blur()";
const ANSWER: &str = "document.querySelector('#answer').innerText";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_answer_follows_a_number_and_the_way_back_undoes_it(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Finance, &[]).await;
    page.sign_in("ada@example.org").await;
    page.go("/scenarios").await;
    // Its demand is flat.
    page.click("link", template("eight-million").unwrap().name).await;
    page.see("costs least").await;
    page.until(&format!("!{ANSWER}.includes('over 7 months')"), "it is over more months").await;
    page.fill("Compared over", "7").await;
    page.ask(LEAVE).await;
    page.until(&format!("{ANSWER}.includes('over 7 months')"), "the answer follows").await;
    page.until("location.search == '?set=/months=7'", "the address says so").await;
    page.fill("Compared over", "700").await;
    page.ask(LEAVE).await;
    page.see("No result yet").await;
    page.until(
        "document.querySelector('#n-months').innerText.includes('Enter 1 to 120 months')",
        "it is told beside the field",
    )
    .await;
    page.ask("history.back()").await;
    page.until(&format!("{ANSWER}.includes('over 7 months')"), "the way back").await;
    page.until("document.querySelector('#f-months').value == '7'", "in the form, too").await;
    // Another kind of demand has other fields.
    page.ask("document.querySelectorAll('#edit details').forEach((it) => { it.open = true })").await;
    let choose = "{ const it = document.querySelector('#f-work-0-demand-shape'); it.value = 'swinging'; \
                  it.dispatchEvent(new Event('change', { bubbles: true })) } true";
    page.ask(choose).await;
    page.until("document.querySelector('#f-work-0-demand-base') != null", "it has a base").await;
    // Beside the fields there were before, too, it is shown what is wrong with them.
    let months = |value: &str| {
        format!(
            "{{ const it = document.querySelector('#f-months'); it.value = '{value}'; \
             it.dispatchEvent(new Event('change', {{ bubbles: true }})) }} true"
        )
    };
    let note = "document.querySelector('#n-months').innerText";
    // What was typed to keep it under stays, whatever the answer is.
    page.ask("document.querySelector('#keep #name').value = 'What if'").await;
    page.ask(&months("700")).await;
    page.until(&format!("{note}.includes('Enter 1 to 120')"), "it is told beside the field").await;
    page.ask(&months("8")).await;
    page.until(&format!("{ANSWER}.includes('over 8 months')"), "there is an answer").await;
    page.until(&format!("{note} == ''"), "and nothing beside the field").await;
    assert!(page.complaints().await.is_empty());
    page.until("document.querySelector('#keep #name').value == 'What if'", "it is there still").await;
    page.click("button", "Save").await;
    page.arrive("/scenarios/1").await;
    page.see("“What if” is saved.").await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_situation_is_printed_on_two_sheets(db: PgPool) {
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Finance, &[]).await;
    page.sign_in("ada@example.org").await;
    for template in templates() {
        page.go(&format!("/scenarios/templates/{}", template.handle)).await;
        assert_eq!(page.sheets().await, 2, "{}", template.name);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_options_come_to_is_seen_without_scrolling(db: PgPool) {
    /// Tables that are wider than the place they have.
    const CUT: &str = "[...document.querySelectorAll('#options > .scroll')].filter((it) => it.checkVisibility() \
                       && it.scrollWidth > it.clientWidth + 1).map((it) => it.getAttribute('aria-label'))";
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Finance, &[]).await;
    page.sign_in("ada@example.org").await;
    // Six options.
    page.go("/scenarios/templates/base-and-burst").await;
    assert_eq!(page.ask(CUT).await, serde_json::json!([]));
    page.set_width(390).await;
    assert_eq!(page.ask(CUT).await, serde_json::json!(["Cost breakdown of every option"]));
    // Where one scrolls, one still sees of what a figure is.
    let left = "document.querySelector('#costs .total th').getBoundingClientRect().left";
    let before = page.ask(left).await;
    page.ask("document.querySelector('#costs').parentElement.scrollBy({ left: 200, behavior: 'instant' })")
        .await;
    page.until("document.querySelector('#costs').parentElement.scrollLeft == 200", "it scrolled").await;
    assert_eq!(page.ask(left).await, before);
}

/// What is added is open, in view and focused, at an address that says where.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_option_that_is_added_is_where_one_looks(db: PgPool) {
    const SEEN: &str = "(() => { const it = document.querySelector('#option-5'); if (!it) return false; \
                        const { top, bottom } = it.getBoundingClientRect(); \
                        return it.parentElement.open && top >= 0 && bottom <= innerHeight; })()";
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Finance, &[]).await;
    page.sign_in("ada@example.org").await;
    for scripts in [true, false] {
        if !scripts {
            page.without_javascript().await;
        }
        for width in [1280, 390] {
            page.set_width(width).await;
            page.go("/scenarios/templates/eight-million").await;
            page.click("button", "Add an option").await;
            page.until("location.hash == '#option-5'", "the address says where").await;
            page.until(SEEN, "it is open and in view").await;
            page.until("document.activeElement.id == 'option-5'", "one goes on there").await;
            page.see("Starts from the cheapest listed on-demand price").await;
        }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn charts_follow_an_edit_and_lead_to_what_matters(db: PgPool) {
    const PAID: &str = "document.querySelector('#paid .says').innerText";
    let Some((site, mut page)) = Site::start(&db).await else { return };
    site.person("ada@example.org", Role::Finance, &[]).await;
    page.sign_in("ada@example.org").await;
    page.go("/scenarios/templates/ten-nodes").await;
    page.until(&format!("{PAID}.includes('On demand, Lambda has the lowest payments')"), "what one sees")
        .await;
    // What would turn it opens the field where it is changed.
    let field = "document.querySelector('#f-option-4-place-0-on_demand-price')";
    page.until(&format!("!{field}.checkVisibility()"), "it is folded away").await;
    page.ask("document.querySelector('#verdict li a[href$=\"option-4-place-0-on_demand-price\"]').click()")
        .await;
    page.until(&format!("document.activeElement == {field} && {field}.checkVisibility()"), "its field").await;
    page.ask(&format!("{{ {field}.value = '6'; }} true")).await;
    page.ask(&format!("{field}.dispatchEvent(new Event('change', {{ bubbles: true }}))")).await;
    page.until(&format!("{PAID}.includes('As many nodes as pay')"), "the chart follows").await;
    page.until(
        "document.querySelector('#told').innerText.includes('As many nodes as pay costs least')",
        "it is said",
    )
    .await;
    page.until(&format!("document.activeElement == {field}"), "one goes on where one was").await;
    // Every drawing says what it shows, and has its figures as a table.
    let untold = "[...document.querySelectorAll('#answer section:has(svg.chart)')].filter((it) => \
                  !it.querySelector('.says') || !it.querySelector('table')).map((it) => it.id)";
    assert_eq!(page.ask(untold).await, serde_json::json!([]));
    assert!(page.complaints().await.is_empty());
}
