//! The guard before every route: who is it, may they, and was the form ours?
//!
//! It reads the same table that the router was built from, so a route nobody stated a role for answers
//! nobody, and a handler cannot forget the check. What it learns about the visitor goes along with the
//! request; handlers take it with the extractors of `extract/`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use tokio::time::timeout;

use super::client_disconnect::Answering;
use super::error::{Asked, Error, Result, present};
use super::extract::{Visitor, bearer, cookie, has_nul};
use super::format::{self, File};
use super::observe::Who;
use super::route_builder::{Access, Stated};
use super::{App, headers, page_cache, renamed};
use crate::accounts::session;
use crate::accounts::token::{self, Sent};
use crate::cache::{self, NotReady};
use crate::compute;
use crate::fair_queue::{Queues, Slot};

mod csrf;
mod currency;

/// Of 16 connections, those that one person's pages have at most.
const AT_ONCE: usize = 4;
/// How many more requests of the person wait for one of these, and how long.
const LONGEST_QUEUE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(20);

static READING: LazyLock<Queues> = LazyLock::new(|| Queues::of_each(AT_ONCE));

#[derive(Clone)]
struct Guard {
    app: App,
    table: Arc<HashMap<(Method, &'static str), Stated>>,
}

/// Puts the guard before every route and before what no route matches.
pub(super) fn stand_before(router: Router<App>, stated: Vec<Stated>, app: App) -> Router {
    let table = stated.into_iter().map(|line| ((line.method.clone(), line.path), line)).collect();
    let guard = Guard { app: app.clone(), table: Arc::new(table) };
    router
        .fallback(|| async { Error::NotFound })
        .layer(middleware::from_fn_with_state(guard, watch))
        .with_state(app)
}

async fn watch(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
    let address = format::asked(&request);
    if is_get && let Some(now) = renamed::address(&address) {
        let mut response = Redirect::permanent(&now).into_response();
        headers::set(&mut response, &guard.app.settings);
        return response;
    }
    let asked = Asked::of(&address, request.headers(), is_get);
    let mut visitor = Visitor { is_demonstration: guard.app.is_demonstration, ..Visitor::default() };
    let admitted = guard.admit(request, &mut visitor).await;
    let person = visitor.person.as_ref().map(|person| person.user_id.0);
    let answering = Answering::new(answer(&guard, admitted, &visitor, &asked, next));
    let answer = match person {
        Some(person) => compute::for_person(person, answering).await,
        None => answering.await,
    };
    let mut response = present(answer, &asked, &visitor);
    cookie::hand_out(&mut response, &visitor, &guard.app.settings);
    headers::set(&mut response, &guard.app.settings);
    response.extensions_mut().insert(Who(visitor.person.as_ref().map(|person| person.user_id)));
    response
}

/// What the route says, or what it is kept as.
async fn answer(
    guard: &Guard,
    admitted: Result<(Request, Stated)>,
    visitor: &Visitor,
    asked: &Asked,
    next: Next,
) -> Response {
    match admitted {
        Ok((request, line)) if asked.is_get && line.is_kept && visitor.flash.is_none() => {
            let answer = page_cache::answer(&guard.app, request, visitor, asked.patience(), next).await;
            answer.unwrap_or_else(IntoResponse::into_response)
        }
        // What only reads gives its connection back where it would wait for sums that another one computes.
        Ok((request, _)) if asked.is_get => {
            let (parts, _) = request.into_parts();
            let begin = async || match slot_of(visitor).await {
                Ok(_slot) => next.clone().run(Request::from_parts(parts.clone(), Body::empty())).await,
                Err(error) => error.into_response(),
            };
            let answer = cache::without_waiting(asked.patience(), begin).await;
            answer.unwrap_or_else(|NotReady| Error::NotReady.into_response())
        }
        Ok((request, _)) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// What of a person may ask the database at once: a few windows are answered beside each other, and however much somebody
/// asks, most connections are left to everybody else.
pub(super) async fn slot_of(visitor: &Visitor) -> Result<Option<Slot>> {
    let Some(person) = &visitor.person else { return Ok(None) };
    let entered = timeout(PATIENCE, READING.of(person.user_id.0).enter(LONGEST_QUEUE)).await;
    entered.ok().flatten().map(Some).ok_or(Error::AsksMuch)
}

impl Guard {
    /// Lets the request pass to its route, with its visitor attached, or says why not.
    async fn admit(&self, mut request: Request, visitor: &mut Visitor) -> Result<(Request, Stated)> {
        let stated = self.stated(&request);
        if !stated.as_ref().is_ok_and(|line| line.access == Access::Static) {
            *visitor = match bearer(request.headers()) {
                Some(token) => self.recognize_script(token).await?,
                None => self.recognize(request.headers()).await?,
            };
        }
        if request.uri().path_and_query().is_some_and(|address| has_nul(address.as_str().as_bytes())) {
            return Err(Error::nul("The address"));
        }
        let stated = stated?;
        if !stated.has_files && request.extensions().get::<File>().is_some() {
            return Err(Error::NotFound);
        }
        if !stated.access.admits(visitor.role()) {
            return Err(match visitor.person {
                None => Error::SignedOut,
                Some(_) if request.method().is_safe() => Error::Forbidden,
                Some(_) => Error::MayNotWrite,
            });
        }
        if visitor.is_script && !(stated.is_for_scripts && request.method().is_safe()) {
            return Err(Error::NotForTokens);
        }
        if request.method().is_safe() {
            if stated.access != Access::Static {
                currency::check(request.uri(), &self.app).await?;
            }
        } else {
            request = csrf::check(request, visitor, &self.app.settings).await?;
        }
        request.extensions_mut().insert(visitor.clone());
        Ok((request, stated))
    }

    fn stated(&self, request: &Request) -> Result<Stated> {
        let path = request.extensions().get::<MatchedPath>().ok_or(Error::NotFound)?.as_str();
        // The router answers HEAD with what it answers to GET.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let mut of_path = self.table.values().filter(|line| line.path == path).peekable();
        let is_stated = of_path.peek().is_some();
        let found = of_path.find(|line| line.method == *method).cloned();
        found.ok_or(if is_stated { Error::MethodNotAllowed } else { Error::NotFound })
    }

    /// Whose token a script sent. One that came along with a cookie decides: a script says who it is.
    async fn recognize_script(&self, sent: &str) -> Result<Visitor> {
        let now = self.app.clock.now();
        let mut db = self.app.db.acquire().await?;
        let sentence = match token::find(&mut db, sent, now).await? {
            Sent::By(person) => {
                return Ok(Visitor { person: Some(*person), is_script: true, ..Visitor::default() });
            }
            Sent::Expired(at) => format!(
                "This token expired on {}. Create a new one on your account page.",
                at.format("%b %-d, %Y")
            ),
            Sent::Unknown => {
                "This token is unknown: it was mistyped or revoked. Create a new one on your account page."
                    .to_owned()
            }
        };
        Err(Error::BadToken(sentence))
    }

    async fn recognize(&self, headers: &HeaderMap) -> Result<Visitor> {
        let jar = CookieJar::from_headers(headers);
        let settings = &self.app.settings;
        let mut visitor = Visitor {
            theme: cookie::theme(&jar, settings),
            is_demonstration: self.app.is_demonstration,
            ..Visitor::default()
        };
        if let Some(token) = cookie::session(&jar, settings) {
            let mut db = self.app.db.acquire().await?;
            visitor.person = session::find(&mut db, &token, self.app.clock.now()).await?;
            visitor.session = visitor.person.is_some().then_some(token);
        }
        visitor.is_new = visitor.session.is_none();
        if let Some(known) = cookie::visit(&jar, settings) {
            visitor.visit = known;
            visitor.is_new = false;
        }
        visitor.flash = cookie::flash(&jar, visitor.secret(), settings);
        Ok(visitor)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::routing::get;
    use sqlx::PgPool;
    use tower::ServiceExt as _;

    use super::*;
    use crate::config::Settings;

    #[tokio::test]
    async fn a_route_without_a_stated_role_answers_nobody() {
        let settings = Settings::new("data", "127.0.0.1:1".parse().unwrap(), None);
        // Never connected to: nobody comes with a cookie.
        let db = PgPool::connect_lazy("postgres://localhost/none").unwrap();
        let app = App::new(settings, db.clone(), db);
        let router =
            Router::new().route("/stated", get(async || "yes")).route("/unstated", get(async || "no"));
        let line = Stated {
            method: Method::GET,
            path: "/stated",
            access: Access::Static,
            is_for_scripts: false,
            has_files: false,
            is_kept: false,
        };
        let site = stand_before(router, vec![line], app);
        for (path, status) in [
            ("/stated", StatusCode::OK),
            ("/unstated", StatusCode::NOT_FOUND),
            ("/none", StatusCode::NOT_FOUND),
        ] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            assert_eq!(site.clone().oneshot(request).await.unwrap().status(), status, "{path}");
        }
    }
}
