use axum::body::Body;
use axum::http::{Request, StatusCode};
use gpuledger::accounts::session::{Browser, Opening};
use gpuledger::accounts::sign_in::{self, Attempt, Begun, PasswordChange};
use gpuledger::accounts::{Role, Secret, UserId, link, manage, people, session};
use gpuledger::audit::Actor;
use gpuledger::clock;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::support::app::PASSWORD;
use crate::support::{TestApp, html, now};

/// What opens a session in a browser that has none.
fn with(token: &Secret) -> Opening<'_> {
    Opening { token, browser: Browser::default(), instead_of: None }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_lets_in_who_knows_the_password_and_leads_on(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("Ada@example.org", Role::Finance).await;

    let asked = app.get("/account?tab=1").await;
    assert_eq!(
        (asked.status, asked.location()),
        (StatusCode::SEE_OTHER, "/sign-in?next=%2Faccount%3Ftab%3D1")
    );

    let fields = [("email", "ada@EXAMPLE.org"), ("password", PASSWORD), ("next", "/account?tab=1")];
    let answer = app.submit(asked.location(), "/sign-in", &fields).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/account?tab=1"));
    let cookie = answer.header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let page = app.get("/account").await;
    assert_eq!(html::text(&page.body, ".who"), "Ada@example.org");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_says_the_same_of_a_wrong_password_and_an_unknown_address(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let mut sentences = Vec::new();
    for email in ["ada@example.org", "eve@example.org"] {
        let answer = app.submit("/sign-in", "/sign-in", &[("email", email), ("password", "wrong one")]).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(html::attributes(&answer.body, "#email", "value"), [email]);
        assert_eq!(html::attributes(&answer.body, "#password", "value"), [""]);
        sentences.push(html::text(&answer.body, ".problem"));
    }
    assert_eq!(sentences[0], "Wrong email or password.");
    assert_eq!(sentences[0], sentences[1]);
    assert!(app.cookie("gpuledger_session").is_none());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_slows_down_who_guesses(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let wrong = [("email", "ada@example.org"), ("password", "wrong one")];
    for _ in 0..5 {
        assert_eq!(app.submit("/sign-in", "/sign-in", &wrong).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let right = [("email", "ada@example.org"), ("password", PASSWORD)];
    let answer = app.submit("/sign-in", "/sign-in", &right).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!((1..=15).contains(&answer.header("retry-after").parse::<i64>().unwrap()));
    assert!(html::text(&answer.body, "main").contains("Try again in 1"), "{}", answer.body);

    // A minute later, or from elsewhere, the owner gets in.
    let later = now() + chrono::TimeDelta::minutes(1);
    let mut db = app.db.acquire().await.unwrap();
    let email = "ada@example.org";
    let begun = sign_in::begin(&mut db, email, "198.51.100.1", now()).await.unwrap();
    assert!(matches!(begun, Begun::Checking(_)));
    let Begun::Checking(mut attempt) = sign_in::begin(&mut db, email, "192.0.2.7", later).await.unwrap()
    else {
        panic!("still waiting");
    };
    assert!(attempt.verify(PASSWORD.to_owned()).await.unwrap());
    let token = Secret::random(&mut clock::dice());
    assert!(sign_in::succeed(&mut db, &attempt, with(&token), later).await.unwrap().is_some());
    assert_eq!(app.submit("/sign-in", "/sign-in", &right).await.status, StatusCode::SEE_OTHER);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn guesses_at_the_same_moment_are_counted_too(db: PgPool) {
    let pool = PgPoolOptions::new().max_connections(20).connect_lazy_with((*db.connect_options()).clone());
    let now = now();
    let attempts = |email: fn(usize) -> String, address: fn(usize) -> String, number: usize| {
        let pool = pool.clone();
        async move {
            let attempt = async |i: usize| {
                let mut db = pool.acquire().await.unwrap();
                let begun = sign_in::begin(&mut db, &email(i), &address(i), now).await.unwrap();
                usize::from(matches!(begun, Begun::Checking(_)))
            };
            futures_util::future::join_all((0..number).map(attempt)).await.into_iter().sum::<usize>()
        }
    };
    let (ada, here) = (|_| "ada@example.org".to_owned(), |_| "192.0.2.7".to_owned());
    assert_eq!(attempts(ada, here, 50).await, 5, "for one account from one place");
    let (eve, anywhere) = (|_| "eve@example.org".to_owned(), |i| format!("198.51.100.{i}"));
    assert_eq!(attempts(eve, anywhere, 50).await, 30, "for one account from anywhere");
    let (anybody, there) = (|i| format!("{i}@example.org"), |_| "203.0.113.7".to_owned());
    assert_eq!(attempts(anybody, there, 80).await, 50, "from one place for any account");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_signs_out_for_good(db: PgPool) {
    let mut app = TestApp::new(db).signed_in(Role::Lead).await;
    let token = app.cookie("gpuledger_session").unwrap().to_owned();
    assert_eq!(app.get("/account").await.status, StatusCode::OK);

    let answer = app.submit("/account", "/sign-out", &[]).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/sign-in"));
    assert!(app.cookie("gpuledger_session").is_none());

    app.set_cookie("gpuledger_session", &token);
    assert_eq!(app.get("/account").await.status, StatusCode::SEE_OTHER);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_forgets_sessions_that_are_old_or_idle_and_people_who_are_disabled(db: PgPool) {
    let app = TestApp::new(db);
    let user = app.person("ada@example.org", Role::Admin, "none").await;
    let token = Secret::random(&mut clock::dice());
    let opened = now();
    let days = chrono::TimeDelta::days;
    let mut db = app.db.acquire().await.unwrap();
    assert_eq!(session::open(&mut db, user, "none", with(&token), opened).await.unwrap(), Some(0));
    // Used every six days it lives, until a month is over.
    for day in [6, 12, 18, 24, 29] {
        assert!(session::find(&mut db, &token, opened + days(day)).await.unwrap().is_some(), "day {day}");
    }
    assert!(session::find(&mut db, &token, opened + days(30)).await.unwrap().is_none());

    let other = Secret::random(&mut clock::dice());
    assert_eq!(session::open(&mut db, user, "none", with(&other), opened).await.unwrap(), Some(0));
    assert!(session::find(&mut db, &other, opened + days(7)).await.unwrap().is_none(), "idle");
    assert!(session::find(&mut db, &other, opened).await.unwrap().is_some());
    sqlx::query("update users set disabled_at = now()").execute(&mut *db).await.unwrap();
    assert!(session::find(&mut db, &other, opened).await.unwrap().is_none(), "disabled");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_keeps_only_hashes_of_tokens(db: PgPool) {
    let app = TestApp::new(db).signed_in(Role::Admin).await;
    let token = app.cookie("gpuledger_session").unwrap();
    let stored: Vec<String> =
        sqlx::query_scalar("select encode(token_hash, 'escape') || encode(token_hash, 'hex') from sessions")
            .fetch_all(&app.db)
            .await
            .unwrap();
    assert_eq!(stored.len(), 1);
    assert!(!stored[0].contains(token));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn over_https_its_cookies_are_secure_and_of_this_host_only(db: PgPool) {
    let mut app = TestApp::at(db, "https://gpus.example.org");
    app.person_with_password("ada@example.org", Role::Finance).await;
    let fields = [("email", "ada@example.org"), ("password", PASSWORD)];
    let answer = app.submit("/sign-in", "/sign-in", &fields).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-gpuledger_session=") && cookie.contains("Secure"), "{cookie}");
}

/// Fails so often for this account, each time from elsewhere.
async fn fail_from_everywhere(app: &TestApp, email: &str, times: u8) {
    let mut db = app.db.acquire().await.unwrap();
    for n in 0..times {
        let address = format!("198.51.100.{n}");
        sign_in::begin(&mut db, email, &address, now()).await.unwrap();
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn strangers_lock_nobody_out_for_long_and_not_at_all_where_they_were_before(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("Ada@example.org", Role::Finance).await;
    let right = [("email", "ada@example.org"), ("password", PASSWORD)];
    assert_eq!(app.submit("/sign-in", "/sign-in", &right).await.status, StatusCode::SEE_OTHER);
    fail_from_everywhere(&app, "ada@example.org", 40).await;

    let mut db = app.db.acquire().await.unwrap();
    let now = now();
    let elsewhere = sign_in::begin(&mut db, "ada@example.org", "203.0.113.9", now).await.unwrap();
    let Begun::Wait { until } = elsewhere else { panic!("guessing from many places is slowed down") };
    assert!(until <= now + chrono::TimeDelta::minutes(1));
    // From where she signed in before.
    assert_eq!(app.stranger().submit("/sign-in", "/sign-in", &right).await.status, StatusCode::SEE_OTHER);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn known_place_waits_when_too_many_failed_from_it(db: PgPool) {
    let mut app = TestApp::new(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let right = [("email", "ada@example.org"), ("password", PASSWORD)];
    assert_eq!(app.submit("/sign-in", "/sign-in", &right).await.status, StatusCode::SEE_OTHER);
    let here: String = sqlx::query_scalar("select address from sessions").fetch_one(&app.db).await.unwrap();

    let mut db = app.db.acquire().await.unwrap();
    for n in 0..50 {
        let email = format!("person{n}@example.org");
        let begun = sign_in::begin(&mut db, &email, &here, now()).await.unwrap();
        assert!(matches!(begun, Begun::Checking(_)), "{n}");
    }
    let answer = app.stranger().submit("/sign-in", "/sign-in", &right).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    let later = now() + chrono::TimeDelta::minutes(1);
    let begun = sign_in::begin(&mut db, "ada@example.org", &here, later).await.unwrap();
    assert!(matches!(begun, Begun::Checking(_)), "a minute later");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_place_does_not_try_everybody(db: PgPool) {
    let app = TestApp::new(db);
    let mut db = app.db.acquire().await.unwrap();
    let mut waits = 0;
    for n in 0..60_u8 {
        // Of IPv6 a machine has as many addresses as it likes, all of one network.
        let address = format!("2001:db8:1:2::{n:x}");
        let email = format!("person{n}@example.org");
        let begun = sign_in::begin(&mut db, &email, &address, now()).await.unwrap();
        waits += u8::from(matches!(begun, Begun::Wait { .. }));
    }
    assert_eq!(waits, 10);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn behind_a_proxy_that_is_trusted_each_has_their_own_address(db: PgPool) {
    let mut app = TestApp::behind_proxy(db);
    app.person_with_password("ada@example.org", Role::Finance).await;
    let token = app.token("/sign-in").await;
    let mut attempt = async |from: &str, password: &str| {
        let body = format!("csrf={token}&email=ada%40example.org&password={}", password.replace(' ', "+"));
        let request = Request::post("/sign-in")
            .header("x-forwarded-for", format!("10.6.6.6, {from}"))
            .header("content-type", "application/x-www-form-urlencoded");
        app.send(request.body(Body::from(body)).unwrap()).await.status
    };
    for _ in 0..5 {
        assert_eq!(attempt("198.51.100.1", "wrong one").await, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(attempt("198.51.100.1", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(attempt("198.51.100.2", PASSWORD).await, StatusCode::SEE_OTHER);
    let address: String =
        sqlx::query_scalar("select address from sessions").fetch_one(&app.db).await.unwrap();
    assert_eq!(address, "198.51.100.2");
}

/// Waits until somebody waits for a row that another one holds.
async fn until_somebody_waits(db: &PgPool) {
    let waits = "select exists (select from pg_stat_activity
                                where datname = current_database() and wait_event_type = 'Lock')";
    while !sqlx::query_scalar::<_, bool>(waits).fetch_one(db).await.unwrap() {}
}

async fn sessions(db: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from sessions").fetch_one(db).await.unwrap()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_sign_in_is_refused_when_the_password_changes_while_it_is_verified(db: PgPool) {
    let mut app = TestApp::new(db.clone());
    app.person_with_password("ada@example.org", Role::Finance).await;
    let csrf = app.token("/sign-in").await;
    let mut changing = db.begin().await.unwrap();
    sqlx::query("update users set password_hash = 'of another password'")
        .execute(&mut *changing)
        .await
        .unwrap();
    let fields = [("csrf", csrf.as_str()), ("email", "ada@example.org"), ("password", PASSWORD)];
    let change = async {
        until_somebody_waits(&db).await;
        changing.commit().await.unwrap();
    };
    let (answer, ()) = tokio::join!(app.post("/sign-in", &fields), change);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(html::text(&answer.body, ".problem"), "Wrong email or password.");
    assert!(app.cookie("gpuledger_session").is_none());
    assert_eq!(sessions(&db).await, 0);
    let verbs: Vec<String> = sqlx::query_scalar("select verb from audit_log where verb like 'sign%'")
        .fetch_all(&db)
        .await
        .unwrap();
    assert_eq!(verbs, ["sign_in.refused"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_link_lets_nobody_in_who_is_disabled_while_it_is_used(db: PgPool) {
    let mut app = TestApp::new(db.clone());
    let id = app.person("ada@example.org", Role::Finance, "none").await;
    let address = format!("/password/{}", link_of(&app, id).await.as_str());
    let csrf = app.token(&address).await;
    let mut disabling = db.begin().await.unwrap();
    sqlx::query("update users set disabled_at = now()").execute(&mut *disabling).await.unwrap();
    let fields = [("csrf", csrf.as_str()), ("password", PASSWORD)];
    let disable = async {
        until_somebody_waits(&db).await;
        disabling.commit().await.unwrap();
    };
    let (answer, ()) = tokio::join!(app.post(&address, &fields), disable);
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(sessions(&db).await, 0);
    let hash: String = sqlx::query_scalar("select password_hash from users").fetch_one(&db).await.unwrap();
    assert_eq!(hash, "none");
}

async fn link_of(app: &TestApp, id: UserId) -> Secret {
    let mut db = app.db.acquire().await.unwrap();
    let person = people::find(&mut db, id).await.unwrap().unwrap();
    let by = Actor::command_line(None);
    link::make(&mut db, &person, &mut clock::dice(), by.at(now())).await.unwrap().unwrap()
}

/// An attempt whose password was right just now.
async fn verified(app: &TestApp) -> Attempt {
    let mut db = app.db.acquire().await.unwrap();
    let begun = sign_in::begin(&mut db, "ada@example.org", "192.0.2.7", now()).await.unwrap();
    let Begun::Checking(mut attempt) = begun else { panic!("waiting") };
    assert!(attempt.verify(PASSWORD.to_owned()).await.unwrap());
    attempt
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_password_that_was_right_opens_nothing_once_it_was_changed_or_its_owner_disabled(db: PgPool) {
    let app = TestApp::new(db);
    let id = app.person_with_password("ada@example.org", Role::Finance).await;
    app.person("root@example.org", Role::Admin, "none").await;
    let by = Actor::command_line(None);
    let now = now();
    let token = Secret::random(&mut clock::dice());

    let attempt = verified(&app).await;
    let mut db = app.db.acquire().await.unwrap();
    manage::disable(&mut db, id, by.at(now)).await.unwrap();
    assert_eq!(sign_in::succeed(&mut db, &attempt, with(&token), now).await.unwrap(), None);
    manage::enable(&mut db, id, by.at(now)).await.unwrap();
    drop(db);

    let (attempt, other) = (verified(&app).await, verified(&app).await);
    let link = link_of(&app, id).await;
    let mut db = app.db.acquire().await.unwrap();
    let chosen = Secret::random(&mut clock::dice());
    link::complete(&mut db, &link, "new", "x", with(&chosen), now).await.unwrap().expect("a link that works");
    assert_eq!(sign_in::succeed(&mut db, &attempt, with(&token), now).await.unwrap(), None);
    let change = sign_in::change_password(&mut db, &other, "theirs", true, with(&token), now).await.unwrap();
    assert_eq!(change, PasswordChange::Refused);

    assert!(session::find(&mut db, &token, now).await.unwrap().is_none());
    assert!(session::find(&mut db, &chosen, now).await.unwrap().is_some());
    let accepted: i64 = sqlx::query_scalar("select count(*) from audit_log where verb = 'sign_in.accepted'")
        .fetch_one(&mut *db)
        .await
        .unwrap();
    assert_eq!(accepted, 0);
    let hash: String = sqlx::query_scalar("select password_hash from users where email like 'ada%'")
        .fetch_one(&mut *db)
        .await
        .unwrap();
    assert_eq!(hash, "new");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_second_sign_in_ends_the_browser_s_first_session(db: PgPool) {
    let mut app = TestApp::new(db);
    let ada = app.person_with_password("ada@example.org", Role::Finance).await;
    app.person_with_password("lena@example.org", Role::Admin).await;
    let mut elsewhere = app.stranger();
    let fields = |email| [("email", email), ("password", PASSWORD)];
    elsewhere.submit("/sign-in", "/sign-in", &fields("ada@example.org")).await;
    app.submit("/sign-in", "/sign-in", &fields("ada@example.org")).await;
    let opens_nothing = async |app: &TestApp, token: &str| {
        let mut thief = app.stranger();
        thief.set_cookie("gpuledger_session", token);
        assert_eq!(thief.get("/account").await.status, StatusCode::SEE_OTHER);
    };

    // The page of a form that was open before, with the token of the session.
    for email in ["ada@example.org", "lena@example.org"] {
        let first = app.cookie("gpuledger_session").unwrap().to_owned();
        let answer = app.submit("/account", "/sign-in", &fields(email)).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        opens_nothing(&app, &first).await;
    }
    let first = app.cookie("gpuledger_session").unwrap().to_owned();
    let address = format!("/password/{}", link_of(&app, ada).await.as_str());
    app.submit(&address, &address, &[("password", "another horse battery")]).await;
    opens_nothing(&app, &first).await;
    assert_eq!(html::text(&app.get("/account").await.body, ".who"), "ada@example.org");
    assert_eq!(sessions(&app.db).await, 1, "of Ada, who chose another password");
    let ended: i64 =
        sqlx::query_scalar("select sum((details ->> 'sessions_ended')::bigint)::bigint from audit_log where verb = 'sign_in.accepted'")
            .fetch_one(&app.db)
            .await
            .unwrap();
    assert_eq!(ended, 2);
}
