use axum::http::StatusCode;
use gpuledger::accounts::{Role, Viewer, people};
use sqlx::PgPool;

use crate::support::{TestApp, html};

const HOSTILE: &str = "\"><script>alert(1)</script>{{7*7}}";

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_admin_adds_a_lead_with_teams(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [
        ("email", "lena@example.org"),
        ("role", "lead"),
        ("teams", "Research, NLP ,research"),
        ("password", "correct horse battery"),
    ];
    let answer = app.submit("/people", "/people", &fields).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/people"));
    let page = app.get("/people").await;
    assert_eq!(html::text(&page.body, ".flash"), "lena@example.org can sign in now.");
    assert_eq!(html::texts(&page.body, "tbody th"), ["admin@example.org", "lena@example.org"]);

    let mut db = app.db.acquire().await.unwrap();
    let lena =
        people::list(&mut db).await.unwrap().into_iter().find(|person| person.role == Role::Lead).unwrap();
    assert_eq!(lena.viewer(), Viewer::Teams(vec!["nlp".to_owned(), "research".to_owned()]));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_refuses_with_a_sentence_at_each_field(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [("email", "ADMIN@example.org"), ("role", "lead"), ("teams", " , "), ("password", "short")];
    let answer = app.submit("/people", "/people", &fields).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::texts(&answer.body, ".problem").len(), 2);
    assert_eq!(html::attributes(&answer.body, "option[selected]", "value"), ["lead"]);

    let fields = [("email", "ADMIN@example.org"), ("role", "admin"), ("password", "correct horse battery")];
    let answer = app.submit("/people", "/people", &fields).await;
    assert_eq!(html::texts(&answer.body, ".problem"), ["Somebody has this address already."]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_escapes_what_people_type(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Admin).await;
    let fields = [
        ("email", "eve@example.org"),
        ("name", HOSTILE),
        ("role", "lead"),
        ("teams", HOSTILE),
        ("password", "correct horse battery"),
    ];
    assert_eq!(app.submit("/people", "/people", &fields).await.status, StatusCode::SEE_OTHER);
    let refused = app
        .submit(
            "/people",
            "/people",
            &[("email", HOSTILE), ("name", HOSTILE), ("role", HOSTILE), ("password", "")],
        )
        .await;
    let missing = app.get("/nowhere/%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    for page in [app.get("/people").await, refused, missing] {
        assert!(!page.body.contains("<script>"), "{}", page.body);
        assert!(html::texts(&page.body, "script").iter().all(String::is_empty));
    }
    assert_eq!(
        html::attributes(
            &app.submit(
                "/people",
                "/people",
                &[("email", ""), ("name", HOSTILE), ("role", ""), ("password", "")]
            )
            .await
            .body,
            "#name",
            "value"
        ),
        [HOSTILE]
    );
}
