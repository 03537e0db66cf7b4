use axum::http::StatusCode;
use gpuledger::accounts::manage::{self, Managed};
use gpuledger::accounts::session::{Browser, Opening};
use gpuledger::accounts::{Role, Secret, UserId, Viewer, link, people};
use gpuledger::allocation::{Entry, Team};
use gpuledger::audit::Actor;
use gpuledger::clock;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::configuration::{team, write};
use crate::support::{TestApp, html, now};

const HOSTILE: &str = "\"><script>alert(1)</script>{{7*7}}";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_admin_adds_a_lead_with_teams(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [("email", "lena@example.org"), ("role", "lead"), ("teams", "Research, NLP ,research")];
    let answer = app.submit("/people", "/people", &fields).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(html::text(&answer.body, "#secret").starts_with("http://127.0.0.1:8080/password/"));
    let page = app.get("/people").await;
    assert_eq!(html::texts(&page.body, "tbody th"), ["admin@example.org", "lena@example.org"]);

    let mut db = app.db.acquire().await.unwrap();
    let lena =
        people::list(&mut db).await.unwrap().into_iter().find(|person| person.role == Role::Lead).unwrap();
    assert_eq!(lena.viewer(), Viewer::Teams(vec!["nlp".to_owned(), "research".to_owned()]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_refuses_with_a_sentence_at_each_field(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [("email", "ADMIN@example.org"), ("role", "lead"), ("teams", " , ")];
    let answer = app.submit("/people", "/people", &fields).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::texts(&answer.body, ".problem").len(), 2);
    assert_eq!(html::attributes(&answer.body, "option[selected]", "value"), ["lead"]);

    let problems = html::texts(&answer.body, ".problem");
    assert_eq!(problems[0], "This email is used by admin@example.org. Enter another one.");
}

/// Else they would be told that nothing is loaded, and nobody why.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_has_a_team_that_there_is(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    write(&mut app.db.acquire().await.unwrap(), vec![team("research"), team("vision")]).await;
    let fields = |teams| [("email", "lena@example.org"), ("role", "lead"), ("teams", teams)];
    let refused = app.submit("/people", "/people", &fields("Research, reserch")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let problems = html::texts(&refused.body, ".problem");
    assert_eq!(problems, ["There is no team “reserch”. Enter one of: Research, Vision."]);
    assert_eq!(app.submit("/people", "/people", &fields("Research")).await.status, StatusCode::OK);
    let refused = app.submit("/people/2", "/people/2", &[("role", "lead"), ("teams", "reserch")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    // What a team is called is as good as its handle.
    let named = Team { handle: "cv".into(), name: "Computer Vision".into(), ..Team::default() };
    write(&mut app.db.acquire().await.unwrap(), vec![Entry::Team(named)]).await;
    let fields = [("role", "lead"), ("teams", "computer vision, research")];
    assert_eq!(app.submit("/people/2", "/people/2", &fields).await.status, StatusCode::SEE_OTHER);
    let lena = people::find(&mut app.db.acquire().await.unwrap(), UserId(2)).await.unwrap().unwrap();
    assert_eq!(lena.teams, ["cv", "research"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_escapes_what_people_type(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [("email", "eve@example.org"), ("name", HOSTILE), ("role", "lead"), ("teams", HOSTILE)];
    let added = app.submit("/people", "/people", &fields).await;
    assert_eq!(added.status, StatusCode::OK);
    let refused =
        app.submit("/people", "/people", &[("email", HOSTILE), ("name", HOSTILE), ("role", HOSTILE)]).await;
    let missing = app.get("/nowhere/%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    let person = app.get("/people/2").await;
    let trail = app.get("/audit").await;
    for page in [app.get("/people").await, added, person, trail, refused, missing] {
        assert!(!page.body.contains("<script>"), "{}", page.body);
        assert!(html::texts(&page.body, "script").iter().all(String::is_empty));
    }
    assert_eq!(
        html::attributes(
            &app.submit("/people", "/people", &[("email", ""), ("name", HOSTILE), ("role", "")]).await.body,
            "#name",
            "value"
        ),
        [HOSTILE]
    );
}

/// Adds someone through the page and answers where their link leads.
async fn invite(admin: &mut TestApp, email: &str, role: &str) -> String {
    let fields = [("email", email), ("role", role), ("teams", "nlp")];
    let answer = admin.submit("/people", "/people", &fields).await;
    html::text(&answer.body, "#secret").strip_prefix("http://127.0.0.1:8080").unwrap().to_owned()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn who_is_invited_chooses_a_password_once(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let link = invite(&mut admin, "lena@example.org", "finance").await;
    assert_eq!(html::texts(&admin.get("/people").await.body, ".badge"), ["active", "invited"]);

    let mut lena = app.stranger();
    assert!(html::text(&lena.get(&link).await.body, "h1").starts_with("Welcome"));
    let weak = lena.submit(&link, &link, &[("password", "lena@example.org")]).await;
    assert_eq!(html::texts(&weak.body, ".problem"), ["Choose a password that is not your email address."]);
    let set = lena.submit(&link, &link, &[("password", "correct horse battery")]).await;
    assert_eq!((set.status, set.location()), (StatusCode::SEE_OTHER, "/"));
    assert_eq!(html::text(&lena.get("/account").await.body, ".who"), "lena@example.org");
    assert_eq!(html::texts(&admin.get("/people").await.body, ".badge"), ["active", "active"]);

    let over = app.stranger().get(&link).await;
    assert_eq!(over.status, StatusCode::NOT_FOUND);
    assert!(over.body.contains("This link has expired"));
    assert_eq!(app.stranger().get("/password/nonsense").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lost_password_is_replaced_through_the_newest_link_only(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let lena = app.person_with_password("lena@example.org", Role::Finance).await;
    let page = format!("/people/{}", lena.0);
    let mut links = Vec::new();
    for _ in 0..2 {
        let answer = admin.submit(&page, &format!("{page}/link"), &[]).await;
        let link = html::text(&answer.body, "#secret");
        links.push(link.strip_prefix("http://127.0.0.1:8080").unwrap().to_owned());
    }
    let mut stranger = app.stranger();
    assert_eq!(stranger.get(&links[0]).await.status, StatusCode::NOT_FOUND);

    let mut device = app.stranger();
    let old = [("email", "lena@example.org"), ("password", "correct horse battery")];
    assert_eq!(device.submit("/sign-in", "/sign-in", &old).await.status, StatusCode::SEE_OTHER);
    stranger.submit(&links[1], &links[1], &[("password", "another horse battery")]).await;
    assert_eq!(device.get("/account").await.status, StatusCode::SEE_OTHER, "signed out elsewhere");
    assert_eq!(device.submit("/sign-in", "/sign-in", &old).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_link_is_over_after_three_days_and_when_its_owner_is_disabled(db: PgPool) {
    let app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Admin).await;
    let id = app.person("lena@example.org", Role::Finance, "none").await;
    let by = Actor::command_line(None);
    let mut db = app.db.acquire().await.unwrap();
    let lena = people::find(&mut db, id).await.unwrap().unwrap();
    let now = now();
    let token = link::make(&mut db, &lena, &mut clock::dice(), by.at(now)).await.unwrap().unwrap();
    let hours = chrono::TimeDelta::hours;
    assert!(link::find(&mut db, &token, now + hours(71)).await.unwrap().is_some());
    assert!(link::find(&mut db, &token, now + hours(73)).await.unwrap().is_none());
    let session = Secret::random(&mut clock::dice());
    let opening = Opening { token: &session, browser: Browser::default(), instead_of: None };
    let late = now + hours(73);
    assert!(link::complete(&mut db, &token, "hash", "x", opening, late).await.unwrap().is_none());
    manage::disable(&mut db, id, by.at(now)).await.unwrap();
    assert!(link::find(&mut db, &token, now).await.unwrap().is_none());
    assert!(link::make(&mut db, &lena, &mut clock::dice(), by.at(now)).await.unwrap().is_none());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn another_role_holds_from_the_next_click_on(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut lead = app.signed_in(Role::Lead).await;
    assert_eq!(lead.get("/imports").await.status, StatusCode::FORBIDDEN);
    let fields = [("name", " Li "), ("role", "finance"), ("teams", "research")];
    let answer = admin.submit("/people/2", "/people/2", &fields).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/people/2"));
    assert_eq!(lead.get("/imports").await.status, StatusCode::OK);
    assert_eq!(html::text(&lead.get("/account").await.body, ".who"), "Li");
    let refused = admin.submit("/people/2", "/people/2", &[("role", "lead"), ("teams", "")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::attributes(&refused.body, "#role option[selected]", "value"), ["lead"]);
    assert_eq!(admin.get("/people/99").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn disabling_ends_everything_at_once(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut finance = app.signed_in(Role::Finance).await;
    assert_eq!(finance.get("/account").await.status, StatusCode::OK);
    admin.submit("/people/2", "/people/2/disable", &[]).await;
    let page = admin.get("/people/2").await;
    assert_eq!(html::text(&page.body, "h1 .badge"), "disabled");
    assert_eq!(finance.get("/account").await.status, StatusCode::SEE_OTHER);
    let fields = [("email", "FINANCE@example.org"), ("role", "admin")];
    let again = admin.submit("/people", "/people", &fields).await;
    assert!(html::text(&again.body, ".problem").contains("finance@example.org, and is disabled"));
    admin.submit("/people/2", "/people/2/enable", &[]).await;
    assert_eq!(html::text(&admin.get("/people/2").await.body, "h1 .badge"), "active");
    assert_eq!(finance.get("/account").await.status, StatusCode::SEE_OTHER, "sessions stay ended");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn signing_somebody_out_leaves_the_account(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    let mut finance = app.signed_in(Role::Finance).await;
    admin.submit("/people/2", "/people/2/sign-out", &[]).await;
    assert_eq!(html::text(&admin.get("/people/2").await.body, ".flash"), "One session ended.");
    assert_eq!(finance.get("/account").await.status, StatusCode::SEE_OTHER);
}

/// Gives somebody this many tokens by which scripts read.
async fn give_tokens(app: &TestApp, owner: UserId, number: usize) {
    for n in 0..number {
        app.token_of(owner).await;
        sqlx::query("update api_tokens set label = $1 where label = 'script'")
            .bind(format!("script {n}"))
            .execute(&app.db)
            .await
            .unwrap();
    }
}

async fn details_of(app: &TestApp, verb: &str) -> Value {
    let details = "select details from audit_log where verb = $1 order by audit_id desc limit 1";
    sqlx::query_scalar(details).bind(verb).fetch_one(&app.db).await.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn signing_somebody_out_everywhere_revokes_their_tokens(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    app.signed_in(Role::Finance).await;
    give_tokens(&app, UserId(2), 2).await;
    let token = app.token_of(UserId(2)).await;
    let own = app.token_of(UserId(1)).await;
    admin.submit("/people/2", "/people/2/sign-out", &[]).await;
    let said = html::text(&admin.get("/people/2").await.body, ".flash");
    assert_eq!(said, "One session ended. 3 tokens were revoked.");
    assert_eq!(admin.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(admin.read(&own, "/spend/2026-09.json").await.status, StatusCode::OK);
    let details = details_of(&app, "person.signed_out").await;
    assert_eq!(details, json!({ "sessions_ended": 1, "tokens_revoked": 3 }));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_password_chosen_through_a_link_revokes_tokens(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    app.signed_in(Role::Finance).await;
    let token = app.token_of(UserId(2)).await;
    let answer = admin.submit("/people/2", "/people/2/link", &[]).await;
    let link = html::text(&answer.body, "#secret");
    let link = link.strip_prefix("http://127.0.0.1:8080").unwrap();
    let mut owner = app.stranger();
    owner.submit(link, link, &[("password", "another horse battery")]).await;
    let said = html::text(&owner.get("/account").await.body, ".flash");
    assert_eq!(said, "Password changed. You are signed in on this device only. One token was revoked.");
    assert_eq!(owner.read(&token, "/spend/2026-09.json").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(details_of(&app, "person.password_set").await, json!({ "tokens_revoked": 1 }));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_last_administrator_stays(db: PgPool) {
    let app = TestApp::new(db);
    let mut admin = app.signed_in(Role::Admin).await;
    // Who was invited and never came is no administrator yet.
    invite(&mut admin, "ada@example.org", "admin").await;
    for (action, fields) in [("/people/1", &[("role", "finance")][..]), ("/people/1/disable", &[])] {
        let answer = admin.submit("/people/1", action, fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(answer.body.contains("the last administrator who can sign in"), "{action}");
        assert_eq!(admin.get("/people").await.status, StatusCode::OK, "{action}");
    }
    app.person_with_password("grace@example.org", Role::Admin).await;
    let answer = admin.submit("/people/1", "/people/1", &[("role", "finance")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(admin.get("/people").await.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn of_two_administrators_who_disable_each_other_one_remains(db: PgPool) {
    let app = TestApp::new(db);
    let one = app.person("a@example.org", Role::Admin, "none").await;
    let other = app.person("b@example.org", Role::Admin, "none").await;
    let by = Actor::command_line(None);
    let disable = async |id| {
        let mut db = app.db.acquire().await.unwrap();
        manage::disable(&mut db, id, by.at(now())).await.unwrap()
    };
    let outcomes = tokio::join!(disable(one), disable(other));
    assert!(matches!(outcomes, (Managed::Done, Managed::LastAdmin) | (Managed::LastAdmin, Managed::Done)));
}
