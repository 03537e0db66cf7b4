//! The log tells everything that an operator needs, and nothing that opens a door.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Http, Server, gpuledger};

const PASSWORD: &str = "seven+blue+herons+again";
const NEW_PASSWORD: &str = "eight+green+herons+again";

/// Everything secret that the day of an administrator brings forth, with the log of it.
fn a_day_in_the_log(db: &PgPool, level: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let mut command = gpuledger(&folder.path().join("data"), Some(url.as_str()), &["--log-format", "json"]);
    command.env("GPULEDGER_LOG", level);
    let server = Server::start(command);
    let link = server.setup_link.clone().expect("nobody has an account");
    let setup = link.strip_prefix(&server.address).unwrap();
    let mut browser = Http::new(&server.address);

    let fields = format!("email=ada%40example.org&name=Ada&password={PASSWORD}");
    assert_eq!(browser.submit(setup, setup, &fields).status, 303);
    assert_eq!(browser.get("/spend/2026-09?tag:secret=in-the-query").status, 200);
    assert_eq!(browser.get(&format!("/spend/2026-09?token={PASSWORD}")).status, 400);
    let mut secrets: Vec<String> = browser.cookies.values().cloned().collect();
    browser.submit("/account", "/sign-out", "");
    let sign_in = |password: &str| format!("email=ada%40example.org&password={password}");
    assert_eq!(browser.submit("/sign-in", "/sign-in", &sign_in("wrong+herons+again")).status, 422);
    assert_eq!(browser.submit("/sign-in", "/sign-in", &sign_in(PASSWORD)).status, 303);
    let fields = format!("current={PASSWORD}&password={NEW_PASSWORD}&new={NEW_PASSWORD}");
    browser.submit("/account", "/account/password", &fields);
    secrets.extend(browser.cookies.values().cloned());
    secrets.retain(|secret| secret.len() > 8);
    secrets.extend(["herons".to_owned(), "in-the-query".to_owned()]);
    secrets.push(setup.rsplit('/').next().unwrap().to_owned());
    (server.log(), secrets)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn neither_passwords_nor_tokens_nor_links_nor_cookies_are_logged(db: PgPool) {
    let (log, secrets) = a_day_in_the_log(&db, "debug");
    assert!(secrets.len() >= 5, "{secrets:?}");
    assert!(log.contains("/setup/{token}"), "{log}");
    for secret in secrets {
        assert!(!log.contains(&secret), "{secret} is in the log:\n{log}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_request_is_a_line_of_json_with_an_id(db: PgPool) {
    let (log, _) = a_day_in_the_log(&db, "info");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let of = |route: &str, status: u64| {
        lines.iter().find(|line| line["route"] == route && line["status"] == status).expect(route)
    };
    let spend = of("/spend/{period}", 200);
    assert_eq!(spend["method"], "GET");
    assert_eq!(spend["user"], 1);
    assert!(spend["millis"].as_f64() > Some(0.0));
    assert_eq!(spend["span"]["id"].as_str().map(str::len), Some(32));
    assert_eq!(spend["client"], "127.0.0.1");
    assert!(spend.get("reason").is_none(), "{spend}");
    let refused = of("/sign-in", 422);
    assert_eq!((&refused["user"], &refused["client"]), (&Value::Null, &Value::from("127.0.0.1")));
    assert_eq!(refused["reason"], "wrong password");
    assert_eq!(of("/sign-in", 303)["user"], 1, "who is let in");
    assert_eq!(of("/setup/{token}", 303)["user"], 1);
    assert!(!log.contains("/healthz"), "machines that look are not written down");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_answer_carries_the_id_of_its_line(db: PgPool) {
    let mut app = crate::support::TestApp::new(db);
    let answer = app.get("/sign-in").await;
    assert_eq!(answer.header("x-request-id").len(), 32);
    let answer = app.get("/nothing").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("x-request-id").len(), 32);
}

/// The log of a server up to where it answers.
fn log_of_a_start(db: &PgPool, base_url: &str, trusted_proxy: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let mut command = gpuledger(&folder.path().join("data"), Some(url.as_str()), &serve);
    command.env("GPULEDGER_BASE_URL", base_url).env("GPULEDGER_TRUSTED_PROXY", trusted_proxy);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // Which fails where it has ended by itself.
    let _ = kill_process(Pid::from_child(&server), Signal::TERM);
    let log = String::from_utf8(server.wait_with_output().unwrap().stderr).unwrap();
    assert_eq!(line, format!("gpuledger answers at {base_url}/\n"), "{log}");
    log
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn https_without_a_trusted_proxy_is_warned_of_at_start(db: PgPool) {
    let (https, http) = ("https://gpus.example.org", "http://gpus.example.org");
    for (base_url, trusted_proxy, is_warned) in
        [(https, "", true), (https, ", ", true), (https, "10.0.0.7,,10.1.0.0/16", false), (http, "", false)]
    {
        let log = log_of_a_start(&db, base_url, trusted_proxy);
        assert_eq!(log.contains("GPULEDGER_TRUSTED_PROXY"), is_warned, "{base_url} {trusted_proxy:?}: {log}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_id_of_a_request_is_taken_from_a_trusted_proxy_only(db: PgPool) {
    let ask = || axum::http::Request::get("/sign-in").header("x-request-id", "of-the-proxy");
    let mut app = crate::support::TestApp::behind_proxy(db.clone());
    let answer = app.send(ask().body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answer.header("x-request-id"), "of-the-proxy");
    let mut app = crate::support::TestApp::new(db);
    let answer = app.send(ask().body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answer.header("x-request-id").len(), 32);
}
