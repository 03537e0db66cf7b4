//! Refusals: one enum, each variant a status and a sentence for a person. Causes are logged once, here,
//! and never shown. Handlers answer an [`Error`]; [`present`] dresses it as the request asked.

use std::time::Duration;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use chrono::{DateTime, Utc};

use super::extract::{Visitor, bearer};
use super::filters;
use super::layout::Layout;
use super::observe::Reason;
use super::{Access, paths};
use crate::accounts::password::HashError;
use crate::compute::NotComputed;
use crate::jobs::NotTaken;
use crate::ledger::Archived;
use crate::{report, store};

/// Seconds after which a busy server is asked again.
const RETRY_AFTER: i64 = 5;
/// Seconds after which a page whose sums are being made is asked for again.
const SOON: i64 = 2;
/// How long whoever looks at a browser waits before they are told why. A script waits as long as a page may take.
const OF_PEOPLE: Duration = Duration::from_secs(3);
const OF_SCRIPTS: Duration = Duration::from_secs(25);

pub type Result<T = Response, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("There is no page at this address.")]
    NotFound,
    /// Like the above, where the address itself says what is wrong with it.
    #[error("{0}")]
    NoSuchPage(String),
    /// Completes itself: what was found and what was expected.
    #[error("{0}")]
    BadRequest(String),
    #[error("Sign in to see this page.")]
    SignedOut,
    /// Of a script's token.
    #[error("{0}")]
    BadToken(String),
    #[error("Tokens can only read figures and files. Sign in with a browser to see this page.")]
    NotForTokens,
    #[error("Your account has no access to this page. Ask an administrator.")]
    Forbidden,
    #[error("Your account may not do this, and nothing was changed. Ask an administrator.")]
    MayNotWrite,
    #[error("This form expired. Nothing was changed: go back, reload the page and send the form again.")]
    Forged,
    #[error("This address does not accept this kind of request.")]
    MethodNotAllowed,
    #[error("The form or file is too large.")]
    TooLarge,
    /// Completes itself, as the next one: the file, its size, the limit, and who can change it.
    #[error("{0}")]
    FileTooLarge(String),
    #[error("{0}")]
    NoRoom(String),
    #[error("You have {0} unfinished uploads. Import or cancel some of them first.")]
    TooManyUploads(usize),
    #[error("The server’s disk is full. Nothing was changed: free up space and try again.")]
    DiskFull,
    #[error(
        "Too many attempts. Try again {}, after {}.",
        filters::wait(until, now),
        filters::clock_time(until)
    )]
    TooMany { until: DateTime<Utc>, now: DateTime<Utc> },
    #[error("Two of your downloads are in progress. Wait until one has ended.")]
    TooManyDownloads,
    #[error("Many of your pages are loading. Wait until some of them are done.")]
    AsksMuch,
    #[error("Too many downloads are in progress. Try again in a moment.")]
    DownloadsBusy,
    #[error("The server is busy. Try again in a moment.")]
    ComputingBusy,
    #[error("The figures of this page are being updated. It refreshes automatically.")]
    NotReady,
    #[error(
        "This page needs the rows of import {0}, which is archived. Finance and administrators can restore them on the page of \
         the import."
    )]
    Archived(i64),
    #[error("The database does not answer right now. Nothing was changed; try again in a moment.")]
    Unavailable(#[source] sqlx::Error),
    #[error(
        "This takes too long for a page. Nothing was changed: choose a shorter period, or one account or service."
    )]
    TooSlow,
    #[error("Something went wrong on the server. The server log has details.")]
    Internal(#[source] anyhow::Error),
}

impl Error {
    /// No text that anyone means holds this character, and PostgreSQL stores none that does.
    pub(super) fn nul(what: &str) -> Self {
        Self::BadRequest(format!("{what} has a NUL character: remove it."))
    }

    /// The status of the answer, and the title of its page.
    fn status_and_title(&self) -> (StatusCode, &'static str) {
        const LATER: &str = "Try again in a moment";
        match self {
            Self::NotFound | Self::NoSuchPage(_) => (StatusCode::NOT_FOUND, "Page not found"),
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "Check your input"),
            Self::SignedOut | Self::BadToken(_) => (StatusCode::UNAUTHORIZED, "Not signed in"),
            Self::Forbidden | Self::MayNotWrite | Self::NotForTokens => (StatusCode::FORBIDDEN, "No access"),
            Self::Forged => (StatusCode::FORBIDDEN, "Form expired"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "Not allowed"),
            Self::Archived(_) => (StatusCode::CONFLICT, "Archived"),
            Self::TooLarge | Self::FileTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "Too large"),
            Self::DiskFull | Self::NoRoom(_) => (StatusCode::INSUFFICIENT_STORAGE, "Disk full"),
            Self::TooManyUploads(_) => (StatusCode::TOO_MANY_REQUESTS, "Too many uploads"),
            Self::TooMany { .. } | Self::TooManyDownloads | Self::AsksMuch => {
                (StatusCode::TOO_MANY_REQUESTS, LATER)
            }
            Self::DownloadsBusy | Self::ComputingBusy | Self::NotReady | Self::Unavailable(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, LATER)
            }
            Self::TooSlow => (StatusCode::SERVICE_UNAVAILABLE, "This takes too long"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong"),
        }
    }
}

macro_rules! internal {
    ($($cause:ty),+) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Self {
                Self::Internal(cause.into())
            }
        }
    )+};
}
internal!(anyhow::Error, askama::Error, serde_json::Error, HashError);

impl From<NotComputed> for Error {
    fn from(cause: NotComputed) -> Self {
        match cause {
            NotComputed::Busy => Self::ComputingBusy,
            NotComputed::TooSlow => Self::TooSlow,
            NotComputed::BrokeOff => Self::Internal(cause.into()),
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(cause: sqlx::Error) -> Self {
        use sqlx::Error::{Io, PoolClosed, PoolTimedOut, Tls};
        match cause {
            cause if let Some(why) = NotComputed::of(&cause) => why.into(),
            cause if let Some(Archived { delivery }) = Archived::of(&cause) => Self::Archived(delivery),
            cause if is_cancelled(&cause) => Self::TooSlow,
            cause if store::is_disk_full(&cause) => Self::DiskFull,
            Io(_) | PoolClosed | PoolTimedOut | Tls(_) => Self::Unavailable(cause),
            cause if store::is_restarting(&cause) => Self::Unavailable(cause),
            cause => Self::Internal(cause.into()),
        }
    }
}

impl From<report::Error> for Error {
    fn from(cause: report::Error) -> Self {
        match cause {
            report::Error::NoSuchVersion { .. } => Self::BadRequest(cause.to_string()),
            report::Error::Database(cause) => cause.into(),
        }
    }
}

impl From<report::HourlyError> for Error {
    fn from(cause: report::HourlyError) -> Self {
        match cause {
            report::HourlyError::TooFine(_) => Self::BadRequest(format!("{cause}.")),
            report::HourlyError::Report(cause) => cause.into(),
        }
    }
}

/// PostgreSQL gave up by the statement timeout of pages.
fn is_cancelled(cause: &sqlx::Error) -> bool {
    cause.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "57014")
}

impl From<PathRejection> for Error {
    fn from(rejection: PathRejection) -> Self {
        use axum::extract::path::ErrorKind;
        let PathRejection::FailedToDeserializePathParams(failed) = rejection else { return Self::NotFound };
        match failed.kind() {
            ErrorKind::DeserializeError { message, .. } | ErrorKind::Message(message) => {
                Self::NoSuchPage(format!("This address names nothing: {message}."))
            }
            _ => Self::NotFound,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(cause: std::io::Error) -> Self {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match cause.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::DiskFull,
            _ => Self::Internal(cause.into()),
        }
    }
}

impl From<NotTaken> for Error {
    fn from(cause: NotTaken) -> Self {
        const WHO: &str = "An administrator can change this at Imports · Storage.";
        let size_of = filters::size;
        match cause {
            NotTaken::TooLarge { name, size, largest } => {
                let found = match size {
                    Some(size) => format!("{name} is {}, and a file", size_of(size)),
                    None => format!("{name} is too large: a file"),
                };
                Self::FileTooLarge(format!("{found} may be {} at most. {WHO}", size_of(largest)))
            }
            NotTaken::NoRoom { name, size, free, kept_free } => {
                let size = size.map_or_else(String::new, |size| format!(" ({})", size_of(size)));
                Self::NoRoom(format!(
                    "{name}{size} does not fit: {} are free on the server’s disk, and {} of them stay free. {WHO}",
                    size_of(free),
                    size_of(kept_free)
                ))
            }
            NotTaken::TooMany(count) => Self::TooManyUploads(count),
            NotTaken::Io(cause) => cause.into(),
        }
    }
}

/// Paths without parameters cannot be refused, but their extractor asks for a refusal.
impl Default for Error {
    fn default() -> Self {
        Self::NotFound
    }
}

/// What a response carries from the handler to [`present`].
#[derive(Clone)]
struct Refusal {
    title: &'static str,
    sentence: String,
    is_signed_out: bool,
    /// The import whose page says more.
    import: Option<i64>,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match &self {
            Self::Internal(cause) => tracing::error!("{cause:#}"),
            Self::Unavailable(cause) => tracing::warn!("{cause}"),
            _ => {}
        }
        let (status, title) = self.status_and_title();
        let refusal = Refusal {
            title,
            sentence: self.to_string(),
            is_signed_out: matches!(self, Self::SignedOut),
            import: if let Self::Archived(import) = self { Some(import) } else { None },
        };
        let mut response = status.into_response();
        let wait = match &self {
            Self::TooMany { until, now } => Some((*until - *now).num_seconds().max(1)),
            Self::TooManyDownloads
            | Self::AsksMuch
            | Self::DownloadsBusy
            | Self::ComputingBusy
            | Self::Unavailable(_) => Some(RETRY_AFTER),
            Self::NotReady => Some(SOON),
            _ => None,
        };
        if matches!(self, Self::NotReady) {
            response.headers_mut().insert(header::REFRESH, HeaderValue::from(SOON));
        }
        if let Some(seconds) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if response.status() == StatusCode::UNAUTHORIZED {
            let is_bad = matches!(self, Self::BadToken(_));
            let how = if is_bad {
                r#"Bearer realm="gpuledger", error="invalid_token""#
            } else {
                r#"Bearer realm="gpuledger""#
            };
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(how));
        }
        response.extensions_mut().insert(refusal);
        if let Some(reason) = Reason::of(&self) {
            response = reason.on(response);
        }
        response
    }
}

/// What the request wants the answer to be.
pub(super) struct Asked {
    form: Form,
    uri: Uri,
    pub(super) is_get: bool,
}

enum Form {
    Page,
    Htmx,
    Json,
    Plain,
}

impl Asked {
    pub(super) fn of(uri: &Uri, headers: &HeaderMap, is_get: bool) -> Self {
        let accepts = |kind: &str| {
            headers
                .get(header::ACCEPT)
                .and_then(|value| value.to_str().ok())
                .is_some_and(|a| a.contains(kind))
        };
        let ends = |suffix: &str| uri.path().ends_with(suffix);
        let form = if ends(".json") || (accepts("application/json") && !accepts("text/html")) {
            Form::Json
        } else if ends(".csv") || bearer(headers).is_some() {
            Form::Plain
        } else if headers.contains_key("hx-request") {
            Form::Htmx
        } else if accepts("text/html") {
            Form::Page
        } else {
            Form::Plain
        };
        Self { form, uri: uri.clone(), is_get }
    }

    /// How long it waits for sums that another one makes.
    pub(super) fn patience(&self) -> Duration {
        match self.form {
            Form::Page => OF_PEOPLE,
            Form::Htmx | Form::Json | Form::Plain => OF_SCRIPTS,
        }
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct Page<'a> {
    layout: Layout,
    status: StatusCode,
    refusal: &'a Refusal,
}

impl Page<'_> {
    /// The import whose rows are needed, where this person may load them again.
    fn import(&self) -> Option<i64> {
        self.refusal.import.filter(|_| self.layout.may(Access::Finance))
    }
}

/// Gives a refusal its body. Other responses pass as they are.
pub(super) fn present(mut response: Response, asked: &Asked, visitor: &Visitor) -> Response {
    let Some(refusal) = response.extensions_mut().remove::<Refusal>() else { return response };
    let sign_in = || sign_in_and_return(asked);
    let body = match asked.form {
        Form::Page if refusal.is_signed_out => return Redirect::to(&sign_in()).into_response(),
        Form::Page => {
            let layout = Layout::new(visitor, asked.uri.path());
            let page = Page { layout, status: response.status(), refusal: &refusal };
            // The page of an error must not fail: its sentence alone will do.
            page.render().map_or_else(|_| refusal.sentence.clone().into_response(), html)
        }
        Form::Json => {
            let body = serde_json::json!({ "error": refusal.sentence }).to_string();
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Form::Htmx | Form::Plain => format!("{}\n", refusal.sentence).into_response(),
    };
    if matches!(asked.form, Form::Htmx)
        && refusal.is_signed_out
        && let Ok(target) = HeaderValue::from_str(&sign_in())
    {
        response.headers_mut().insert("hx-redirect", target);
    }
    let (mut parts, _) = response.into_parts();
    let (dressed, body) = body.into_parts();
    // The body's own type and length replace those of the bare status.
    parts.headers.extend(dressed.headers);
    Response::from_parts(parts, body)
}

fn html(text: String) -> Response {
    axum::response::Html(text).into_response()
}

/// The sign-in page, which leads back to where the person wanted to go.
fn sign_in_and_return(asked: &Asked) -> String {
    let wanted = asked.uri.path_and_query().map_or("/", |wanted| wanted.as_str());
    if !asked.is_get || wanted == "/" {
        return paths::SignIn.to_string();
    }
    let next = super::sign_in::Next { next: Some(wanted.to_owned()) };
    paths::with_query(paths::SignIn, &next)
}
