//! Connections that are slow, idle or many, over real sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use gpuledger::web::connections::Limits;
use sqlx::PgPool;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::TestApp;

const LIMITS: Limits = Limits {
    connections: 20,
    header: Duration::from_millis(500),
    pause: Duration::from_millis(500),
    rate: 1024,
};
const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n";

async fn connect(from: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((IpAddr::V4(Ipv4Addr::new(127, 0, 0, from)), 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// What comes back until the other side ends it, or is silent for longer than any limit.
async fn rest(stream: &mut TcpStream) -> Option<String> {
    let mut described = Vec::new();
    let ended =
        tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut described)).await.ok()?;
    // Who is let go with something still unread learns of it.
    drop(ended);
    Some(String::from_utf8_lossy(&described).into_owned())
}

async fn is_well(from: u8, to: SocketAddr) -> bool {
    let mut stream = connect(from, to).await;
    let mut first = [0; 15];
    let asked = async {
        stream.write_all(HEALTH.as_bytes()).await?;
        stream.read_exact(&mut first).await
    };
    let answered = tokio::time::timeout(Duration::from_millis(400), asked).await;
    answered.is_ok_and(|it| it.is_ok()) && first.starts_with(b"HTTP/1.1 200 OK")
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn one_address_with_many_slow_headers_leaves_the_others_theirs(db: PgPool) {
    let server = TestApp::new(db).serve(LIMITS).await;
    let mut slow = Vec::new();
    for _ in 0..3 * LIMITS.connections {
        let mut stream = connect(1, server).await;
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: h").await;
        slow.push(stream);
    }
    assert!(is_well(2, server).await, "another address is answered");
    assert!(is_well(1, server).await, "and this one, in place of the slow one that waited longest");
    let began = Instant::now();
    for stream in &mut slow {
        assert!(rest(stream).await.is_some(), "it goes on after {:?}", began.elapsed());
    }
}

/// They keep the pace that is asked of them: only their places are for others who come.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn many_addresses_with_slow_bodies_leave_others_a_place(db: PgPool) {
    let slowly = Limits { pause: Duration::from_mins(1), ..LIMITS };
    let server = TestApp::new(db).serve(slowly).await;
    let mut slow = Vec::new();
    for from in 1..=4 {
        for _ in 0..LIMITS.connections {
            let mut stream = connect(from, server).await;
            let head = "POST /sign-in HTTP/1.1\r\nHost: here\r\nContent-Length: 100000\r\n\r\nemail=";
            let _ = stream.write_all(head.as_bytes()).await;
            slow.push(stream);
        }
    }
    // All of them are read from.
    tokio::time::sleep(Duration::from_millis(200)).await;
    for from in [5, 6, 5, 1] {
        assert!(is_well(from, server).await, "{from}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn many_addresses_with_slow_headers_leave_others_a_place(db: PgPool) {
    let slowly = Limits { header: Duration::from_mins(1), ..LIMITS };
    let server = TestApp::new(db).serve(slowly).await;
    let mut slow = Vec::new();
    for from in 1..=4 {
        for _ in 0..LIMITS.connections {
            let mut stream = connect(from, server).await;
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: h").await;
            slow.push(stream);
        }
    }
    for from in [5, 6, 5, 1] {
        assert!(is_well(from, server).await, "{from}");
    }
    let mut open = 0;
    for stream in &mut slow {
        let closed = tokio::time::timeout(Duration::from_millis(5), stream.read(&mut [0; 1])).await;
        open += usize::from(closed.is_err());
    }
    assert!(open <= LIMITS.connections, "{open}");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_connection_that_asks_nothing_more_ends(db: PgPool) {
    let server = TestApp::new(db).serve(LIMITS).await;
    let mut stream = connect(1, server).await;
    for _ in 0..3 {
        stream.write_all(HEALTH.as_bytes()).await.unwrap();
        tokio::time::sleep(LIMITS.header / 3).await;
    }
    let began = Instant::now();
    let described = rest(&mut stream).await.expect("it ends");
    assert_eq!(described.matches("HTTP/1.1 200 OK").count(), 3, "{described}");
    assert!(began.elapsed() < 3 * LIMITS.header, "{:?}", began.elapsed());
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_body_that_does_not_arrive_ends_and_one_that_does_is_read(db: PgPool) {
    let server = TestApp::new(db).serve(LIMITS).await;
    let head = |length: usize| {
        format!(
            "POST /sign-in HTTP/1.1\r\nHost: here\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {length}\r\n\r\n"
        )
    };
    // Nothing of it, and a byte now and then.
    for is_trickling in [false, true] {
        let mut stream = connect(1, server).await;
        stream.write_all(head(100_000).as_bytes()).await.unwrap();
        let began = Instant::now();
        let (mut reads, mut writes) = stream.split();
        let mut described = Vec::new();
        let trickle = async {
            loop {
                tokio::time::sleep(Duration::from_millis(100)).await;
                if is_trickling && writes.write_all(b"a").await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        let ended = async {
            tokio::select! {
                ended = reads.read_to_end(&mut described) => drop(ended),
                () = trickle => {}
            }
        };
        tokio::time::timeout(Duration::from_secs(5), ended).await.expect("it ends");
        let described = String::from_utf8_lossy(&described);
        assert!(described.is_empty() || described.starts_with("HTTP/1.1 4"), "{described}");
        assert!(began.elapsed() >= LIMITS.pause, "{:?}", began.elapsed());
    }
    let mut stream = connect(1, server).await;
    stream.write_all(head(3).as_bytes()).await.unwrap();
    tokio::time::sleep(LIMITS.pause / 2).await;
    stream.write_all(b"a=b").await.unwrap();
    let described = rest(&mut stream).await.unwrap();
    assert!(
        described.starts_with("HTTP/1.1 403"),
        "a form without its token is read and refused: {described}"
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_answer_that_nobody_takes_ends(db: PgPool) {
    let app = TestApp::new(db);
    let page = app.stranger().get("/sign-in").await.body;
    let (_, script) = page.split_once(r#"src="/assets/htmx"#).unwrap();
    let script = script.split_once('"').unwrap().0;
    let asked = format!("GET /assets/htmx{script} HTTP/1.1\r\nHost: here\r\n\r\n").repeat(400);
    let server = app.serve(LIMITS).await;
    // As many as one address has, each with far more on its way than what systems keep of an answer.
    let mut jammed = Vec::new();
    for _ in 0..LIMITS.connections / 2 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.bind((IpAddr::V4(Ipv4Addr::LOCALHOST), 0).into()).unwrap();
        let mut stream = socket.connect(server).await.unwrap();
        stream.write_all(asked.as_bytes()).await.unwrap();
        jammed.push(stream);
    }
    tokio::time::sleep(6 * LIMITS.pause).await;
    for stream in &mut jammed {
        let described = rest(stream).await.expect("it ended meanwhile");
        assert!(
            described.matches("HTTP/1.1 200 OK").count() < 200,
            "nothing more was sent to who takes nothing"
        );
    }
}
