//! Files that are sent piece by piece: what is gone on with, what is refused, and who sees what.

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use chrono::TimeDelta;
use futures_util::stream;
use gpuledger::accounts::Role;
use sqlx::PgPool;

use crate::support::app::Answer;
use crate::support::{Focus, TestApp, html, now};

fn bill() -> String {
    let bill = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    bill.hour("acme", "s2", "2026-09-06T10", "30.5", "nlp").text().to_owned()
}

/// A browser with the script of the page, and its token.
struct Script {
    app: TestApp,
    token: String,
}

impl Script {
    async fn of(app: &TestApp, email: &str, role: Role) -> Self {
        let mut app = app.signed_in_as(email, role).await;
        let token = app.token("/account").await;
        Self { app, token }
    }

    async fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: Body) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("x-csrf-token", &self.token);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.app.send(request.body(body).unwrap()).await
    }

    async fn form(&mut self, path: &str, body: String) -> Answer {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.send(Method::POST, path, &kind, Body::from(body)).await
    }

    async fn begin(&mut self, name: &str, size: usize) -> Answer {
        self.form("/imports/uploads", format!("name={name}&size={size}&modified=1790000000000")).await
    }

    async fn piece(&mut self, upload: &str, offset: usize, bytes: impl Into<Body>) -> Answer {
        let offset = offset.to_string();
        self.send(Method::PATCH, upload, &[("upload-offset", &offset)], bytes.into()).await
    }

    async fn cancel(&mut self, upload: &str) -> StatusCode {
        self.send(Method::DELETE, upload, &[], Body::empty()).await.status
    }

    async fn import(&mut self, uploads: &[&str]) -> Answer {
        let ids: Vec<_> =
            uploads.iter().map(|at| format!("upload={}", at.rsplit('/').next().unwrap())).collect();
        self.form("/imports/uploads/import", ids.join("&")).await
    }

    async fn listed(&mut self) -> Vec<String> {
        let page = self.app.get("/imports").await;
        html::texts(&page.body, ".uploads > li strong")
    }
}

fn offset(answer: &Answer) -> (u16, &str, &str) {
    (answer.status.as_u16(), answer.header("upload-offset"), answer.header("upload-length"))
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn upload_goes_on_after_a_lost_connection_and_is_imported_with_its_set(db: PgPool) {
    let app = TestApp::new(db);
    let mut fin = Script::of(&app, "fin@example.org", Role::Finance).await;
    let bill = bill();
    let (size, half) = (bill.len(), bill.len() / 2);
    let length = size.to_string();

    let begun = fin.begin("bill.csv", size).await;
    assert_eq!(offset(&begun), (201, "0", &*length), "{}", begun.body);
    let upload = begun.location().to_owned();
    let first = Bytes::copy_from_slice(&bill.as_bytes()[..half]);
    let broken = Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    let parts = Body::from_stream(stream::iter([Ok(first), broken]));
    assert_eq!(fin.piece(&upload, 0, parts).await.status, StatusCode::BAD_REQUEST);

    // Another place than where it is, before and behind it.
    for wrong in [0, half + 1] {
        let answer = fin.piece(&upload, wrong, "x").await;
        assert_eq!(offset(&answer), (409, &*half.to_string(), &*length));
    }
    // The page was closed meanwhile, and the file is chosen again.
    let page = fin.app.get("/imports").await;
    let said = html::text(&page.body, ".uploads > li");
    assert!(said.contains("bill.csv") && said.contains("Choose the file again to resume."), "{said}");
    let again = fin.begin("bill.csv", size).await;
    assert_eq!((again.location(), again.header("upload-offset")), (&*upload, &*half.to_string()));
    assert_eq!(fin.import(&[&upload]).await.body, "bill.csv has not arrived yet.\n");
    let rest = fin.piece(&upload, half, bill[half..].to_owned()).await;
    assert_eq!(offset(&rest), (204, &*length, &*length));

    let other = Focus::new().hour("acme", "s1", "2026-08-05T10", "7", "vision");
    let second = fin.begin("august.csv", other.text().len()).await.location().to_owned();
    fin.piece(&second, 0, other.text().to_owned()).await;
    assert_eq!(fin.listed().await, ["august.csv", "bill.csv"]);
    let batch = fin.import(&[&upload, &second]).await;
    assert_eq!(batch.status, StatusCode::SEE_OTHER, "{}", batch.body);
    assert!(fin.listed().await.is_empty());
    app.run_jobs().await;
    let page = fin.app.get(batch.location()).await.body;
    assert!(page.contains("bill.csv") && page.contains("august.csv"), "{page}");
    let september = fin.app.json("/spend/2026-09.json").await;
    assert!(september.to_string().contains("150.75"), "{september}");
    // The answer was lost, and it is asked once more.
    assert_eq!(fin.import(&[&upload, &second]).await.status, StatusCode::NOT_FOUND);
    assert!(app.incoming().is_empty());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn upload_is_of_one_person_until_it_is_canceled_or_a_day_old(db: PgPool) {
    let app = TestApp::new(db);
    let mut fin = Script::of(&app, "fin@example.org", Role::Finance).await;
    let mut admin = Script::of(&app, "ada@example.org", Role::Admin).await;
    let mut lead = Script::of(&app, "lena@example.org", Role::Lead).await;
    let upload = fin.begin("bill.csv", 4).await.location().to_owned();
    fin.piece(&upload, 0, "a,b").await;

    assert_eq!(admin.piece(&upload, 3, "c").await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.import(&[&upload]).await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.cancel(&upload).await, StatusCode::NOT_FOUND);
    assert!(admin.listed().await.is_empty());
    let own = admin.begin("bill.csv", 4).await;
    assert_ne!(own.location(), upload);
    assert_eq!(own.header("upload-offset"), "0");
    assert_eq!(lead.begin("bill.csv", 4).await.status, StatusCode::FORBIDDEN);
    assert_eq!(lead.piece(&upload, 3, "c").await.status, StatusCode::FORBIDDEN);

    assert_eq!(fin.cancel(&upload).await, StatusCode::NO_CONTENT);
    assert_eq!(fin.piece(&upload, 3, "c").await.status, StatusCode::NOT_FOUND);
    assert_eq!(fin.listed().await, [""; 0]);
    assert_eq!(admin.listed().await, ["bill.csv"]);
    app.remove_old_uploads(now() + TimeDelta::days(36_500));
    assert_eq!(admin.piece(own.location(), 0, "a").await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.listed().await, [""; 0]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_no_upload_is_refused(db: PgPool) {
    let app = TestApp::new(db);
    let mut fin = Script::of(&app, "fin@example.org", Role::Finance).await;
    let upload = fin.begin("bill.csv", 4).await.location().to_owned();
    let longer = fin.piece(&upload, 0, "a,b,c").await;
    assert_eq!(longer.status, StatusCode::BAD_REQUEST);
    assert_eq!(longer.body, "bill.csv has become larger since it was chosen. Choose it again.\n");
    let nowhere = fin.send(Method::PATCH, &upload, &[], Body::from("a")).await;
    assert_eq!(nowhere.status, StatusCode::BAD_REQUEST);
    assert_eq!(fin.import(&[]).await.body, "Choose at least one billing export.\n");
    assert_eq!(fin.import(&["x"]).await.status, StatusCode::NOT_FOUND);
    assert_eq!(fin.form("/imports/uploads", "name=a&size=-1&modified=0".to_owned()).await.status, 400);
    for n in 1..200 {
        assert_eq!(fin.begin(&format!("{n}.csv"), 1).await.status, StatusCode::CREATED, "{n}");
    }
    let many = fin.begin("200.csv", 1).await;
    assert_eq!(many.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(many.body, "You have 200 unfinished uploads. Import or cancel some of them first.\n");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn file_beyond_the_limits_is_refused_before_it_is_sent(db: PgPool) {
    let app = TestApp::new(db);
    let mut fin = Script::of(&app, "fin@example.org", Role::Finance).await;
    let mut admin = app.signed_in(Role::Admin).await;
    let wrong = admin.submit("/storage", "/storage/uploads", &[("largest", "a lot"), ("free", "0")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let said = html::texts(&wrong.body, "#uploads .problem");
    assert!(said[0].starts_with("Enter a size in GB from 0.001") && said[1].contains("0.2"), "{said:?}");
    let saved =
        admin.submit("/storage", "/storage/uploads", &[("largest", "0.001"), ("free", "0.5 GB")]).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER);
    let page = fin.app.get("/storage").await.body;
    let facts = html::text(&page, "#uploads dl");
    assert!(facts.contains("0.001 GB") && facts.contains("0.5 GB"), "{facts}");

    assert_eq!(fin.begin("bill.csv", 1_000_000).await.status, StatusCode::CREATED);
    let large = fin.begin("bill.csv", 1_200_000).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let sentence = "bill.csv is 1.2\u{202f}MB, and a file may be 1.0\u{202f}MB at most. \
                    An administrator can change this at Imports · Storage.\n";
    assert_eq!(large.body, sentence);
    // Without scripts: as soon as it is exceeded.
    let form = fin.app.upload(&[("bill.csv", &vec![b'x'; 1_200_000])]).await;
    assert_eq!(form.status, StatusCode::PAYLOAD_TOO_LARGE);
    let said = html::text(&form.body, "main");
    assert!(said.contains("bill.csv is too large: a file may be 1.0 MB at most."), "{said}");

    // No disk keeps so much free.
    admin.submit("/storage", "/storage/uploads", &[("largest", ""), ("free", "1000000")]).await;
    let full = fin.begin("bill.csv", 1_200_000).await;
    assert_eq!(full.status, StatusCode::INSUFFICIENT_STORAGE);
    assert!(full.body.starts_with("bill.csv (1.2\u{202f}MB) does not fit: "), "{}", full.body);
    assert!(full.body.contains("and 1,000.0\u{202f}TB of them stay free. An administrator"), "{}", full.body);
    let form = fin.app.upload(&[("bill.csv", b"a,b")]).await;
    assert_eq!(form.status, StatusCode::INSUFFICIENT_STORAGE);
    assert!(html::text(&form.body, "main").contains("bill.csv does not fit: "), "{}", form.body);
    assert!(app.incoming().is_empty());
    let trail = admin.get("/audit?what=storage").await.body;
    assert!(trail.matches("limits of uploads changed").count() >= 2, "{trail}");
}
