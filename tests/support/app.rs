//! A browser without a screen: it keeps cookies, follows nothing by itself, and sends forms as pages made them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use chrono::{DateTime, NaiveDate, Utc};
use gpuledger::accounts::session::{Browser, Opening};
use gpuledger::accounts::token::{self, Made};
use gpuledger::accounts::{Email, NewPerson, Password, Role, Secret, UserId, people, session};
use gpuledger::audit::Actor;
use gpuledger::clock::{self, Clock};
use gpuledger::config::Settings;
use gpuledger::jobs;
use gpuledger::storage;
use gpuledger::web::connections::{self, Limits};
use gpuledger::web::{self, App, PageCache};
use serde_json::Value;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use super::{TestLedger, html};

pub const PASSWORD: &str = "correct horse battery";

/// The present of every test: a Friday on which October's bills are final and November's are not.
pub fn now() -> DateTime<Utc> {
    NaiveDate::from_ymd_opt(2026, 11, 27).unwrap().and_hms_opt(12, 0, 0).unwrap().and_utc()
}

pub struct TestApp {
    pub db: PgPool,
    app: App,
    router: Router,
    /// Where originals and arriving files lie; shared with the other browsers.
    folder: Arc<TempDir>,
    cookies: BTreeMap<String, String>,
    is_https: bool,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
    pub bytes: Vec<u8>,
}

impl TestApp {
    pub fn new(db: PgPool) -> Self {
        Self::at(db, "http://127.0.0.1:8080")
    }

    pub fn at(db: PgPool, base_url: &str) -> Self {
        let settings =
            Settings::new("data", "127.0.0.1:8080".parse().unwrap(), Some(base_url.parse().unwrap()));
        Self::with(db, settings)
    }

    /// Behind the proxy that every request of these browsers comes through.
    pub fn behind_proxy(db: PgPool) -> Self {
        let mut settings = Settings::new("data", "127.0.0.1:8080".parse().unwrap(), None);
        settings.trusted_proxies = vec!["192.0.2.0/24".parse().unwrap()];
        Self::with(db, settings)
    }

    fn with(db: PgPool, mut settings: Settings) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        folder.path().clone_into(&mut settings.data_dir);
        let is_https = settings.base_url().is_https();
        // An import needs more connections than the pool of a test has.
        let jobs = PgPoolOptions::new().max_connections(8).connect_lazy_with((*db.connect_options()).clone());
        let app = App { clock: Clock::At(now()), ..App::new(settings, db.clone(), jobs) };
        Self { db, router: web::router(app.clone()), app, folder, cookies: BTreeMap::new(), is_https }
    }

    /// The site of a ledger, with its originals.
    pub fn of(ledger: &TestLedger) -> Self {
        let mut app = Self::new(ledger.db.clone());
        let settings = Settings::new(ledger.folder.path(), "127.0.0.1:8080".parse().unwrap(), None);
        let of_ledger = App::new(settings, ledger.db.clone(), ledger.db.clone());
        app.app = App { clock: app.app.clock, ..of_ledger };
        app.router = web::router(app.app.clone());
        app
    }

    /// The same site, which takes so long between two answers while a bill is loaded.
    pub fn at_pace(&self, between: Duration) -> Self {
        let app = App { pages: Arc::new(PageCache::at_pace(between)), ..self.app.clone() };
        Self { router: web::router(app.clone()), app, ..self.stranger() }
    }

    /// The site behind a socket, as long as the test runs.
    pub async fn serve(&self, limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(connections::serve(listener, self.router.clone(), limits, std::future::pending()));
        address
    }

    /// The same site in another browser.
    pub fn stranger(&self) -> Self {
        Self {
            db: self.db.clone(),
            app: self.app.clone(),
            router: self.router.clone(),
            folder: Arc::clone(&self.folder),
            cookies: BTreeMap::new(),
            is_https: self.is_https,
        }
    }

    /// The same site for someone of this role, signed in without the form.
    pub async fn signed_in(&self, role: Role) -> Self {
        self.signed_in_as(&format!("{role}@example.org"), role).await
    }

    pub async fn signed_in_as(&self, email: &str, role: Role) -> Self {
        let hash = "nobody can sign in with this";
        let user = self.person(email, role, hash).await;
        let mut app = self.stranger();
        let token = Secret::random(&mut clock::dice());
        let mut db = self.db.acquire().await.unwrap();
        let opening = Opening { token: &token, browser: Browser::default(), instead_of: None };
        session::open(&mut db, user, hash, opening, now()).await.unwrap().expect("a session");
        app.cookies.insert(app.session_cookie().to_owned(), token.as_str().to_owned());
        app
    }

    /// An account with this hash for a password.
    pub async fn person(&self, email: &str, role: Role, hash: &str) -> UserId {
        let teams: &[&str] = if role == Role::Lead { &["research"] } else { &[] };
        add_person(&self.db, email, role, teams, hash).await
    }

    /// A token by which a script of this person reads.
    pub async fn token_of(&self, user: UserId) -> String {
        let mut db = self.db.acquire().await.unwrap();
        let person = people::find(&mut db, user).await.unwrap().unwrap();
        let by = Actor::command_line(Some("test"));
        let (year, now) = (chrono::TimeDelta::days(365), now());
        let made =
            token::make(&mut db, &person, "script", year, &mut clock::dice(), by.at(now)).await.unwrap();
        match made {
            Made::Token(token) => token,
            other => panic!("{other:?}"),
        }
    }

    /// What a script gets that sends this token and accepts anything.
    pub async fn read(&mut self, token: &str, path: &str) -> Answer {
        let request = Request::get(path).header(header::AUTHORIZATION, format!("Bearer {token}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// An account that signs in with [`PASSWORD`].
    pub async fn person_with_password(&self, email: &str, role: Role) -> UserId {
        self.person(email, role, &hash_of_password(email).await).await
    }

    pub fn session_cookie(&self) -> &'static str {
        if self.is_https { "__Host-gpuledger_session" } else { "gpuledger_session" }
    }

    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.get(name).map(String::as_str)
    }

    pub fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.get_as(path, "text/html").await
    }

    pub async fn get_as(&mut self, path: &str, accept: &str) -> Answer {
        let request = || Request::get(path).header(header::ACCEPT, accept).body(Body::empty()).unwrap();
        let answer = self.send(request()).await;
        if answer.headers.contains_key(header::ETAG) {
            let anew = self.without_pages().send(request()).await;
            assert_eq!(answer.body, anew.body, "{path}: the page that was kept, and as it is rendered anew");
        }
        answer
    }

    /// The figures of an address that answers as JSON.
    pub async fn json(&mut self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        answer.json()
    }

    /// The same browser before a server that has rendered nothing yet.
    fn without_pages(&self) -> Self {
        let known = &self.app;
        let app = App::new(Settings::clone(&known.settings), known.db.clone(), known.jobs.clone());
        let app = App { answers: Arc::clone(&known.answers), clock: known.clock, ..app };
        let (router, cookies) = (web::router(app.clone()), self.cookies.clone());
        Self { app, router, cookies, ..self.stranger() }
    }

    /// What htmx gets: the part of the page that changes.
    pub async fn fragment(&mut self, path: &str) -> Answer {
        let request = Request::get(path).header("hx-request", "true");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Opens the page of a form, then sends it with the page's token.
    pub async fn submit(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token(page).await;
        let fields: Vec<_> = [("csrf", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.post(action, &fields).await
    }

    /// The token of a page's forms.
    pub async fn token(&mut self, page: &str) -> String {
        let page = self.get(page).await;
        let tokens = html::attributes(&page.body, "input[name=csrf]", "value");
        tokens.into_iter().next().unwrap_or_else(|| panic!("no form: {} {}", page.status, page.body))
    }

    /// Sends exactly these fields.
    pub async fn post(&mut self, action: &str, fields: &[(&str, &str)]) -> Answer {
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let request = Request::post(action)
            .header(header::ACCEPT, "text/html")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(body.join("&"))).unwrap()).await
    }

    /// Sends files as the form of the imports page does.
    pub async fn upload(&mut self, files: &[(&str, &[u8])]) -> Answer {
        self.upload_to("/imports", files).await
    }

    /// Sends files to another page that takes some.
    pub async fn upload_to(&mut self, action: &str, files: &[(&str, &[u8])]) -> Answer {
        self.upload_from("/imports", action, files).await
    }

    /// Sends files as the form of this page does.
    pub async fn upload_from(&mut self, page: &str, action: &str, files: &[(&str, &[u8])]) -> Answer {
        let mut body = self.upload_head(page).await;
        for (name, content) in files {
            body.extend(file_head(name).bytes());
            body.extend_from_slice(content);
            body.extend(b"\r\n");
        }
        body.extend(b"--B--\r\n");
        self.send(upload_of(action, Body::from(body))).await
    }

    /// Uploads one file and lets its import run; answers the page of the batch.
    pub async fn import(&mut self, name: &str, content: impl AsRef<[u8]>) -> Answer {
        let answer = self.upload(&[(name, content.as_ref())]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        self.run_jobs().await;
        self.get(answer.location()).await
    }

    /// The same of a file with rejected rows: publishes what waits for review.
    pub async fn import_and_publish(&mut self, name: &str, content: impl AsRef<[u8]>) {
        self.import(name, content).await;
        let waiting = self.json("/imports.json").await["waiting"].clone();
        for delivery in waiting.as_array().unwrap() {
            let page = format!("/imports/{}", delivery["delivery"]);
            let answer = self.submit(&page, &format!("{page}/publish"), &[]).await;
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        }
    }

    /// The first field of an upload: the token of a page's form.
    pub async fn upload_head(&mut self, page: &str) -> Vec<u8> {
        let token = self.token(page).await;
        format!("--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n").into_bytes()
    }

    /// Runs everything in the queue.
    pub async fn run_jobs(&self) {
        jobs::run_pending(&self.app.jobs, &self.app.originals, self.app.clock).await.unwrap();
    }

    /// Reads every Prometheus, as a server does, until all that is over was read or it fails.
    pub async fn read_prometheus(&self) {
        let (pool, originals, secrets) = (&self.app.jobs, &self.app.originals, &self.app.secrets);
        while jobs::prometheus::read_due(pool, originals, secrets, self.app.clock).await.unwrap() {}
    }

    /// As a server does every minute.
    pub async fn archive(&self, now: DateTime<Utc>) {
        let mut db = self.db.acquire().await.unwrap();
        storage::archive(&mut db, &self.app.originals, now).await.unwrap();
    }

    /// As a server does every few minutes.
    pub fn remove_old_uploads(&self, now: DateTime<Utc>) {
        self.app.uploads.remove_old(now).unwrap();
    }

    /// As when a disk is gone.
    pub fn lose_folder(&self) {
        std::fs::remove_dir_all(self.folder.path()).unwrap();
    }

    /// What arrived and was not imported yet.
    pub fn incoming(&self) -> Vec<PathBuf> {
        let folder = self.folder.path().join("incoming");
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Sends a request with this browser's cookies and keeps the ones that come back.
    pub async fn send(&mut self, request: Request<Body>) -> Answer {
        let response = self.open(request).await;
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: parts.status, headers: parts.headers, body, bytes: bytes.to_vec() }
    }

    /// The same, with a body that has not been read.
    pub async fn open(&mut self, mut request: Request<Body>) -> Response {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request.headers_mut().insert(header::COOKIE, cookies.join("; ").parse().unwrap());
        }
        let peer: SocketAddr = "192.0.2.7:40000".parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = self.router.clone().oneshot(request).await.unwrap();
        self.keep_cookies(response.headers());
        response
    }

    /// A request by method and path, without a body.
    pub async fn request(&mut self, method: &Method, path: &str) -> Answer {
        let request = Request::builder().method(method).uri(path).header(header::ACCEPT, "text/html");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    fn keep_cookies(&mut self, headers: &HeaderMap) {
        for cookie in headers.get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

impl Answer {
    pub fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn location(&self) -> &str {
        self.header(header::LOCATION)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

/// An account with this hash for a password.
pub async fn add_person(db: &PgPool, email: &str, role: Role, teams: &[&str], hash: &str) -> UserId {
    let teams = teams.iter().map(|&team| team.to_owned()).collect();
    let person = NewPerson { email: Email::parse(email).unwrap(), name: None, role, teams };
    let mut db = db.acquire().await.unwrap();
    let by = Actor::command_line(Some("test"));
    match people::add(&mut db, &person, Some(hash), by.at(now())).await.unwrap() {
        people::Added::As(id) => id,
        people::Added::EmailTaken => panic!("{email} twice"),
    }
}

/// The hash of [`PASSWORD`] for whoever has this address.
pub async fn hash_of_password(email: &str) -> String {
    Password::choose(PASSWORD, email).unwrap().hash(&mut clock::dice()).await.unwrap()
}

/// What stands before the content of a file in an upload.
pub fn file_head(name: &str) -> String {
    format!(
        "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
}

pub fn upload_of(action: &str, body: Body) -> Request<Body> {
    Request::post(action)
        .header(header::ACCEPT, "text/html")
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=B")
        .body(body)
        .unwrap()
}

pub fn encode(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}
