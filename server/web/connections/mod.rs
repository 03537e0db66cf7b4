//! Connections: how many there may be at once, and how long one may take over what it asks.
//!
//! Who sends a header, a body or nothing at all as slowly as can be holds a connection, and with enough of them the server
//! has no file left to answer with. So a connection that is slow or idle ends, at once where another comes and there is no
//! place; there are fewer connections than files, and one address never has all of them.

mod open;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::Request;
use http_body::Frame;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustix::net::sockopt::set_tcp_user_timeout;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};
use tower::ServiceExt as _;

use open::{Open, Place};

/// Files that are kept for everything but connections: the database, originals, what arrives.
const RESERVE: usize = 256;
/// More files than anybody needs.
const MOST_FILES: u64 = 65_536;
/// More connections than anybody serves.
const MOST_CONNECTIONS: usize = 8_192;
/// After the system has no file for a connection.
const PAUSE: Duration = Duration::from_secs(1);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// All of them; one address has half of these at most.
    pub connections: usize,
    /// For the header of a request, and between two requests.
    pub header: Duration,
    /// Between two parts of a body, and for an answer that is not taken.
    pub pause: Duration,
    /// Bytes a second of a body, on average of the time that was waited for it beyond the first pause.
    pub rate: u64,
}

impl Limits {
    /// Takes all files that the system allows, and leaves some for everything else.
    pub fn of_this_process() -> Self {
        let files = usize::try_from(raise_files()).unwrap_or(usize::MAX);
        let half = files / 2;
        let connections = files.saturating_sub(RESERVE).max(half).min(MOST_CONNECTIONS);
        let (header, pause) = (Duration::from_secs(30), Duration::from_secs(30));
        Self { connections, header, pause, rate: 1024 }
    }
}

/// Raises how many files may be open to what the system allows: shells begin with 1,024. Answers how many that are.
fn raise_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    let before = current.unwrap_or(MOST_FILES);
    if before >= wanted {
        return before;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, "no more than {before} files can be open at once");
            before
        }
    }
}

/// Answers connections until it is told to stop; then those under way finish what they are at. What goes wrong with one
/// ends that one alone.
pub async fn serve(listener: TcpListener, site: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let graceful = GracefulShutdown::new();
    let open = Open::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if !is_of_one(&error) {
                    tracing::error!(%error, "no connection can be taken");
                    sleep(PAUSE).await;
                }
                continue;
            }
        };
        // Who is one too many is let go at once, so that it is not waited for.
        let Some(place) = open.enter(peer.ip(), limits.connections) else { continue };
        let lost = place.lost();
        let connection = graceful.watch(connection(stream, peer, place, site.clone(), limits));
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection broke off");
                    }
                }
                () = lost => {}
            }
        });
        // Those that lost their place close before the next comes.
        tokio::task::yield_now().await;
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Of a connection alone, which was gone before it was taken.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    site: Router,
    limits: Limits,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let _ = stream.set_nodelay(true);
    let pause = u32::try_from(limits.pause.as_millis()).unwrap_or(u32::MAX);
    // Where the system does not know it, an answer that nobody takes is kept as long as the peer is there.
    let _ = set_tcp_user_timeout(&stream, pause);
    let answer = service_fn(move |request: Request<Incoming>| {
        let here = place.request();
        let paced = |body| Body::new(Paced::new(body, limits, Arc::clone(&here)));
        let mut request = request.map(paced);
        request.extensions_mut().insert(ConnectInfo(peer));
        let (answer, request) = (site.clone().oneshot(request), here);
        async move {
            let answer = answer.await.unwrap_or_else(|never| match never {});
            Ok::<_, Infallible>(answer.map(|body| request.answer(body)))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header)
        .serve_connection(TokioIo::new(stream), answer)
}

/// A body that has to arrive. What the server itself takes for its parts does not count.
struct Paced<B> {
    body: B,
    limits: Limits,
    of: Arc<open::Request>,
    received: u64,
    /// How long it was waited for.
    waited: Duration,
    /// Since when it is waited for the next part, and until when at most.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<B> Paced<B> {
    fn new(body: B, limits: Limits, of: Arc<open::Request>) -> Self {
        Self { body, limits, of, received: 0, waited: Duration::ZERO, waiting: None }
    }

    fn is_slow(&self) -> bool {
        let beyond = self.waited.saturating_sub(self.limits.pause);
        self.received < beyond.as_secs().saturating_mul(self.limits.rate)
    }
}

impl<B: HttpBody<Data = Bytes, Error = hyper::Error> + Unpin> HttpBody for Paced<B> {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let slow = || io::Error::new(io::ErrorKind::TimedOut, "the body arrives too slowly");
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            // Where there is no place, whoever sends slowly ends before anybody who is answered.
            self.of.awaits_body();
            let pause = self.limits.pause;
            let (_, until) = self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(pause))));
            return until.as_mut().poll(context).map(|()| Some(Err(slow().into())));
        };
        if let Some((since, _)) = self.waiting.take() {
            self.of.is_answered();
            self.waited += since.elapsed();
        }
        if let Some(Ok(frame)) = &frame {
            self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
            if self.is_slow() {
                return Poll::Ready(Some(Err(slow().into())));
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
