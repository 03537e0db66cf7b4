//! Pages that were rendered already, for everybody who sees the same in them.
//!
//! What decides a page is its address, what its reader may see, the day, and what people have written until now
//! ([`Version`]): where all of that is the same, so is the page. It is rendered for anybody of that kind, so its handler
//! does not know who asks; names and the token of forms are blanks that are filled in as it is sent. See
//! `docs/decisions/rendered-pages-are-cached-by-their-inputs.md`.

mod blank;
mod pace;
mod rendered;
mod version;

use super::format::File;
use std::time::Duration;

use anyhow::Context as _;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chrono::NaiveDate;

use super::error::Result;
use super::extract::Visitor;
use super::guard::slot_of;
use super::{App, Error};
use crate::accounts::Role;
use crate::cache::{self, Cache, NotReady};
use blank::Filled;
use pace::Pace;
use rendered::{Kept, Wanted};
pub(super) use version::Now;
use version::Version;

/// What htmx says of the part of a page that it wants.
const PART: [HeaderName; 3] = [
    HeaderName::from_static("hx-request"),
    HeaderName::from_static("hx-boosted"),
    HeaderName::from_static("hx-history-restore-request"),
];

/// Rendered pages, in the memory that all answers share.
#[derive(Default)]
pub struct PageCache {
    cache: Cache<Key, Kept>,
    pace: Pace,
}

impl PageCache {
    /// With so much time between two answers while a bill is loaded.
    #[must_use]
    pub fn at_pace(between: Duration) -> Self {
        Self { pace: Pace::of(between), ..Self::default() }
    }
}

/// What decides a page.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// A hash: it may be as long as a request.
    address: blake3::Hash,
    file: Option<File>,
    part: [Option<HeaderValue>; 3],
    role: Role,
    teams: Vec<String>,
    sees_billing_accounts: bool,
    theme: Option<&'static str>,
    today: NaiveDate,
    version: Version,
}

/// Answers a request for a page that may be kept: with what was rendered before, else by its handler.
pub(super) async fn answer(
    app: &App,
    request: Request,
    visitor: &Visitor,
    patience: Duration,
    next: Next,
) -> Result {
    let Some(person) = &visitor.person else { return Err(Error::SignedOut) };
    let (mut parts, _) = request.into_parts();
    let wanted = Wanted::of(&parts.headers);
    let now = Now::find(&mut *app.db.acquire().await?).await?;
    if now.is_loading {
        app.pages.pace.keep(person.user_id.0).await;
    }
    let key = Key {
        address: blake3::hash(parts.uri.to_string().as_bytes()),
        file: parts.extensions.get().copied(),
        part: PART.map(|name| parts.headers.get(name).cloned()),
        role: person.role,
        teams: person.teams.clone(),
        sees_billing_accounts: person.may_see_billing_accounts(),
        theme: visitor.theme,
        today: app.clock.now().date_naive(),
        version: now.version,
    };
    parts.headers = without_others(&parts.headers);
    parts.extensions.insert(blank::anybody(visitor, person));
    let render = async || {
        let _slot = slot_of(visitor).await.map_err(IntoResponse::into_response)?;
        let request = Request::from_parts(parts.clone(), Body::empty());
        Kept::of(next.clone().run(request).await).await
    };
    let kept = cache::without_waiting(patience, || app.pages.cache.get(key.clone(), render())).await;
    let kept = kept.map_err(|NotReady| Error::NotReady)?;
    let filled = Filled::of(visitor, person);
    match kept {
        Ok(kept) => Ok(kept.send(&filled, &wanted)),
        Err(other) => fill_in(other, &filled).await,
    }
}

/// A page that is not kept, being too long, has blanks all the same.
async fn fill_in(answer: Response, filled: &Filled) -> Result {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("text/html")) {
        return Ok(answer);
    }
    let (mut parts, body) = answer.into_parts();
    let text = to_bytes(body, usize::MAX).await.context("a page in memory could not be read")?;
    let mut whole = Vec::with_capacity(text.len());
    for (text, blank) in blank::split(&text) {
        whole.extend(text);
        whole.extend(blank.map_or(&[][..], |blank| filled.text(blank)));
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(whole)))
}

/// A handler sees of a request what decides the page, and nothing else.
fn without_others(headers: &HeaderMap) -> HeaderMap {
    PART.into_iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}
