//! A stop that was asked for: nothing under way is lost, and PostgreSQL goes with the last one out.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use gpuledger::accounts::Role;
use rustix::process::Signal;
use sqlx::{ConnectOptions as _, PgPool};

use crate::store::sandbox::Sandbox;
use crate::support::app::PASSWORD;
use crate::support::{Focus, Http, Server, TestApp, gpuledger};

fn server_of(db: &PgPool, folder: &std::path::Path) -> Server {
    Server::start(gpuledger(folder, Some(db.connect_options().to_url_lossy().as_str()), &[]))
}

/// A request whose last bytes have not been sent.
fn half_a_sign_in(server: &Server) -> std::net::TcpStream {
    let mut stream = std::net::TcpStream::connect(&server.address["http://".len()..]).unwrap();
    let head = "POST /sign-in HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\
                Content-Type: application/x-www-form-urlencoded\r\n\r\nemail";
    stream.write_all(head.as_bytes()).unwrap();
    // It has been taken up when another request, sent later, has been answered.
    assert_eq!(Http::new(&server.address).get("/healthz").status, 200);
    stream
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_request_under_way_is_answered(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server_of(&db, folder.path());
    let mut stream = half_a_sign_in(&server);
    server.signal(Signal::TERM);
    while std::net::TcpStream::connect(&server.address["http://".len()..]).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(server.is_running());
    stream.write_all(b"=a&b=").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert!(server.end().success());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_second_signal_ends_it_at_once(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server_of(&db, folder.path());
    let _stream = half_a_sign_in(&server);
    server.signal(Signal::INT);
    while std::net::TcpStream::connect(&server.address["http://".len()..]).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    server.signal(Signal::INT);
    assert_eq!(server.end().code(), Some(1));
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_import_goes_back_in_the_queue_and_runs_with_the_next_server(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    TestApp::new(db.clone()).person_with_password("ada@example.org", Role::Admin).await;
    let mut server = server_of(&db, folder.path());
    let mut browser = Http::new(&server.address);
    let fields = format!("email=ada%40example.org&password={}", PASSWORD.replace(' ', "+"));
    assert_eq!(browser.submit("/sign-in", "/sign-in", &fields).status, 303);

    // Nobody publishes while this is held.
    let mut hold = db.begin().await.unwrap();
    sqlx::query("select * from ledger for update").execute(&mut *hold).await.unwrap();
    let month = Focus::new().hour("acme", "s1", "2026-09-05T10", "120.25", "vision");
    assert_eq!(browser.upload("september.csv", month.text()).status, 303);
    let status = async || -> (String, i32) {
        sqlx::query_as("select status, attempts from jobs").fetch_one(&db).await.unwrap()
    };
    while status().await.0 != "running" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.signal(Signal::TERM);
    assert!(server.end().success(), "{}", server.log());
    assert_eq!(status().await, ("queued".to_owned(), 0), "{}", server.log());
    hold.rollback().await.unwrap();

    // What a process that ends leaves of the file that it was keeping.
    let half = folder.path().join("originals/arriving-x");
    std::fs::create_dir_all(folder.path().join("originals")).unwrap();
    std::fs::write(&half, "half a fi").unwrap();
    let _server = server_of(&db, folder.path());
    assert!(!half.exists());
    while status().await.0 != "done" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let counts: i64 =
        sqlx::query_scalar("select count(*) from charges join visible_deliveries using (delivery_id)")
            .fetch_one(&db)
            .await
            .unwrap();
    assert_eq!(counts, 1);
}

#[test]
fn the_last_one_out_stops_postgres() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(gpuledger(sandbox.data_dir(), None, &[]));
    assert!(sandbox.postmaster().is_some());
    server.signal(Signal::TERM);
    assert!(server.end().success());
    assert!(sandbox.postmaster().is_none());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn it_may_open_as_many_files_as_the_system_allows(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let program = gpuledger(folder.path(), Some(url.as_str()), &[]);
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "ulimit -Sn 300; exec \"$0\" \"$@\""])
        .arg(program.get_program())
        .args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let server = Server::start(shell);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let files: Vec<&str> = files.split_whitespace().collect();
    let soft: u64 = files[0].parse().unwrap();
    let hard: u64 = files[1].parse().unwrap_or(u64::MAX);
    assert_eq!(soft, hard.min(65_536), "{files:?}");
}
