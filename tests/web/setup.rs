use axum::http::StatusCode;
use gpuledger::accounts::session::{Browser, Opening};
use gpuledger::accounts::setup::{self, SetUp};
use gpuledger::accounts::{Email, NewPerson, Role, Secret, people};
use gpuledger::audit::Actor;
use gpuledger::clock;
use sqlx::PgPool;

use crate::support::{TestApp, html, now};

async fn link(app: &TestApp) -> Option<String> {
    let mut db = app.db.acquire().await.unwrap();
    let token = setup::ensure(&mut db, &mut clock::dice(), now()).await.unwrap()?;
    Some(format!("/setup/{}", token.as_str()))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn its_link_makes_the_first_administrator_and_then_is_over(db: PgPool) {
    let mut app = TestApp::new(db);
    let link = link(&app).await.unwrap();
    let fields = [("email", "ada@example.org"), ("name", "Ada"), ("password", "correct horse battery")];

    let answer = app.submit(&link, &link, &fields).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/"));
    let people = app.get("/people").await;
    assert_eq!(
        html::texts(&people.body, "tbody tr:first-child > *")[..3],
        ["ada@example.org", "Ada", "admin"]
    );

    let mut stranger = app.stranger();
    let over = stranger.get(&link).await;
    assert_eq!(over.status, StatusCode::NOT_FOUND);
    assert!(over.body.contains("This setup link has expired"));
    let token = stranger.token("/sign-in").await;
    let again = stranger
        .post(&link, &[("csrf", &token), ("email", "eve@example.org"), ("password", "correct horse battery")])
        .await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    assert_eq!(self::link(&app).await, None, "no further links once somebody has an account");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_shows_what_is_wrong_and_stays_open(db: PgPool) {
    let mut app = TestApp::new(db);
    let link = link(&app).await.unwrap();
    let answer = app.submit(&link, &link, &[("email", "ada"), ("password", "short")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::texts(&answer.body, ".problem").len(), 2);
    assert_eq!(html::attributes(&answer.body, "#email", "aria-invalid"), ["true"]);
    assert_eq!(app.get(&link).await.status, StatusCode::OK);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn of_two_at_once_one_gets_in(db: PgPool) {
    let app = TestApp::new(db);
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let mut db = app.db.acquire().await.unwrap();
        tokens.push(setup::ensure(&mut db, &mut clock::dice(), now()).await.unwrap().unwrap());
    }
    let complete = async |token: &Secret, email: &str| {
        let mut db = app.db.acquire().await.unwrap();
        let email = Email::parse(email).unwrap();
        let by = Actor::person(email.as_str(), "192.0.2.7");
        let person = NewPerson { email, name: None, role: Role::Admin, teams: Vec::new() };
        let opening = Opening { token, browser: Browser::default(), instead_of: None };
        setup::complete(&mut db, token, &person, "none", &by, opening, now()).await.unwrap()
    };
    let (one, other) =
        tokio::join!(complete(&tokens[0], "a@example.org"), complete(&tokens[1], "b@example.org"));
    let done = [one, other].into_iter().filter(|outcome| matches!(outcome, SetUp::Done(_))).count();
    assert_eq!(done, 1);
    let mut db = app.db.acquire().await.unwrap();
    assert_eq!(people::list(&mut db).await.unwrap().len(), 1);
    let sessions: i64 =
        sqlx::query_scalar("select count(*) from sessions").fetch_one(&mut *db).await.unwrap();
    assert_eq!(sessions, 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn its_link_expires_after_a_day(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let token = setup::ensure(&mut db, &mut clock::dice(), now()).await.unwrap().unwrap();
    let hours = |n| now() + chrono::TimeDelta::hours(n);
    assert!(setup::is_open(&mut db, &token, hours(23)).await.unwrap());
    assert!(!setup::is_open(&mut db, &token, hours(25)).await.unwrap());
}
