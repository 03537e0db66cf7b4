//! `/usage/prometheus`: servers that are asked for what GPUs did, how far each was read, and what is wrong with it.

use std::time::Duration;

use askama::Template;
use axum::response::IntoResponse as _;
use chrono::{DateTime, Days, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::jobs::prometheus::endpoint;
use crate::telemetry::prometheus::{
    self as servers, Endpoint, Entered, Server, ServerDay, Trouble, checked_address, checked_matchers,
};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Htmx, Now, Reading, Sending, Writing};
use crate::web::form::Fields;
use crate::web::format::Format;
use crate::web::layout::Layout;
use crate::web::{Access, App, csv, filters, paths, respond};

/// For how long Prometheus keeps samples unless it is told otherwise.
const KEPT: Days = Days::new(15);
/// Characters of a text.
const LONGEST: usize = 400;
const LONGEST_TOKEN: usize = 8_000;
/// Days on the page, and in a file.
const SHOWN: i64 = 31;
const LARGEST_FILE: i64 = 100_000;
/// For how long somebody waits for a test.
const PATIENCE: Duration = Duration::from_secs(15);

/// What is typed of a server.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Typed {
    name: String,
    address: String,
    token: String,
    matchers: String,
    /// Of a new one: from which day on it is read.
    from: String,
    /// Of one that is there already, where it is tested.
    server: String,
}

/// What was typed, where nothing is wrong with it.
struct Checked {
    name: String,
    address: String,
    token: Option<String>,
    matchers: String,
}

impl Typed {
    fn of(server: &Server) -> Self {
        Self {
            name: server.name.clone(),
            address: server.address.clone(),
            matchers: server.matchers.clone(),
            server: server.server_id.to_string(),
            ..Self::default()
        }
    }

    fn fields(&self) -> Fields {
        Fields::new([
            ("name", self.name.as_str()),
            ("address", &self.address),
            ("matchers", &self.matchers),
            ("from", &self.from),
            ("server", &self.server),
        ])
    }

    fn read(&self, fields: &mut Fields) -> Option<Checked> {
        let name = self.name.trim();
        if name.is_empty() {
            fields.refuse("name", "Enter a name.");
        }
        for (field, text) in [("name", &self.name), ("address", &self.address), ("matchers", &self.matchers)]
        {
            if text.chars().nth(LONGEST).is_some() {
                fields.refuse(field, format!("Enter at most {LONGEST} characters."));
            }
        }
        let address = fields.check("address", checked_address(&self.address));
        let matchers = fields.check("matchers", checked_matchers(&self.matchers));
        let token = Some(self.token.trim()).filter(|it| !it.is_empty()).map(str::to_owned);
        if token
            .as_ref()
            .is_some_and(|it| it.len() > LONGEST_TOKEN || !it.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            fields.refuse("token", "Enter the token alone, without spaces or line breaks.");
        }
        if fields.is_refused() {
            return None;
        }
        Some(Checked { name: name.to_owned(), address: address?, token, matchers: matchers? })
    }

    fn from(&self, fields: &mut Fields, now: DateTime<Utc>) -> Option<NaiveDate> {
        let from = self.from.trim().parse::<NaiveDate>().ok().filter(|day| *day <= now.date_naive());
        if from.is_none() {
            fields.refuse("from", "Enter a day such as 2026-09-30, today at the latest.");
        }
        from
    }
}

/// What came of a test.
struct Tested {
    is_good: bool,
    sentence: String,
}

#[derive(Template)]
#[template(path = "usage/prometheus_new.html", blocks = ["tested"])]
struct NewPage {
    layout: Layout,
    fields: Fields,
    tested: Option<Tested>,
}

#[derive(Serialize)]
struct Shown {
    server: Server,
    days: Vec<ServerDay>,
}

#[derive(Template)]
#[template(path = "usage/prometheus.html")]
struct Page {
    layout: Layout,
    it: Shown,
    now: DateTime<Utc>,
    fields: Fields,
}

pub async fn new(_: paths::NewPrometheus, Now(now): Now, layout: Layout) -> Result {
    let from = now.date_naive().checked_sub_days(KEPT).unwrap_or_default();
    let typed = Typed { from: from.to_string(), ..Typed::default() };
    respond::html(NewPage { layout, fields: typed.fields(), tested: None })
}

pub async fn create(_: paths::NewPrometheus, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let mut fields = typed.fields();
    let (checked, from) = (typed.read(&mut fields), typed.from(&mut fields, now));
    let (Some(checked), Some(from)) = (checked, from) else {
        return respond::refused(NewPage { layout, fields, tested: None });
    };
    let sealed = seal(&app, checked.token.as_deref())?;
    let added = servers::add(&mut db, &checked.entered(sealed.as_deref()), from, by.at(now)).await?;
    let Some(server) = added else {
        fields.refuse("name", "There is a Prometheus of this name. Enter another one.");
        return respond::refused(NewPage { layout, fields, tested: None });
    };
    let said = format!("{} is read from {from} on.", checked.name);
    Ok(respond::flash(paths::Prometheus { server }, &said))
}

impl Checked {
    fn entered<'a>(&'a self, sealed_token: Option<&'a [u8]>) -> Entered<'a> {
        Entered { name: &self.name, address: &self.address, sealed_token, matchers: &self.matchers }
    }
}

fn seal(app: &App, token: Option<&str>) -> Result<Option<Vec<u8>>> {
    let sealed = token.map(|token| app.secrets.seal(token, &mut clock::dice())).transpose();
    sealed.map_err(|error| Error::Internal(error.into()))
}

/// Asks a server that is typed, and says what it answers.
pub async fn test(
    _: paths::PrometheusTest,
    Htmx(is_fragment): Htmx,
    sending: Sending,
    Form(typed): Form<Typed>,
) -> Result {
    let Sending { layout, app, .. } = sending;
    let mut fields = typed.fields();
    let tested = if let Some(checked) = typed.read(&mut fields) {
        ask(&app, &typed, checked).await?
    } else {
        let names = ["name", "address", "token", "matchers"];
        let problem = names.iter().find_map(|name| fields.problem(name)).unwrap_or_default();
        Tested { is_good: false, sentence: problem.to_owned() }
    };
    let page = NewPage { layout, fields, tested: Some(tested) };
    if is_fragment { Ok(respond::html(page.as_tested())?.into_response()) } else { respond::html(page) }
}

async fn ask(app: &App, typed: &Typed, checked: Checked) -> Result<Tested> {
    let known = match typed.server.parse() {
        Ok(server) => servers::server(&mut *app.db.acquire().await?, server).await?,
        Err(_) => None,
    };
    let asked = match (checked.token, known) {
        // The token that is stored goes to the address that it was entered for, and to no other.
        (None, Some(known)) if known.sealed_token.is_some() && known.address != checked.address => {
            Err("enter the token again: the one that is saved is for another address".to_owned())
        }
        (None, Some(known)) => {
            let typed = Server { address: checked.address, matchers: checked.matchers, ..known };
            endpoint(&typed, &app.secrets)
        }
        (token, _) => Endpoint::new(&checked.address, token.as_deref(), &checked.matchers),
    };
    let counted = match asked {
        Ok(asked) => asked.within(PATIENCE).test().await,
        Err(problem) => Err(problem),
    };
    Ok(match counted {
        Err(problem) => Tested { is_good: false, sentence: format!("Not read: {problem}.") },
        Ok(metrics) if metrics.is_empty() => Tested {
            is_good: false,
            sentence: "It answers, but has no series of a DCGM exporter now. Check the exporter and the label matchers."
                .to_owned(),
        },
        Ok(metrics) => {
            let named: Vec<String> = metrics.iter().map(|(name, series)| format!("{name} ({series})")).collect();
            Tested { is_good: true, sentence: format!("It answers. Series of GPUs now: {}.", named.join(", ")) }
        }
    })
}

pub async fn show(path: paths::Prometheus, format: Format, reading: Reading) -> Result {
    let Reading { layout, now, mut db, .. } = reading;
    let server = find(&mut db, path.server).await?;
    let most = if format == Format::Html { SHOWN } else { LARGEST_FILE };
    let days = servers::days(&mut db, path.server, most).await?;
    match format {
        Format::Json => respond::json(&Shown { server, days }),
        Format::Csv => csv::answer(&format!("prometheus-{}", path.server), &days),
        Format::Html => {
            let fields = Typed::of(&server).fields();
            respond::html(Page { layout, it: Shown { server, days }, now, fields })
        }
    }
}

async fn find(db: &mut Db, server: i64) -> Result<Server> {
    servers::server(&mut *db, server).await?.ok_or(Error::NotFound)
}

/// One that is still asked.
async fn find_asked(db: &mut Db, server: i64) -> Result<Server> {
    Some(find(db, server).await?).filter(|it| it.removed_at.is_none()).ok_or(Error::NotFound)
}

pub async fn change(path: paths::Prometheus, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let server = find_asked(&mut db, path.server).await?;
    let mut fields = typed.fields();
    let checked = typed.read(&mut fields);
    if let Some(checked) = &checked
        && checked.token.is_none()
        && server.sealed_token.is_some()
        && checked.address != server.address
    {
        fields.refuse("token", "Enter the token again: the one that is saved is for another address.");
    }
    if let Some(checked) = checked.filter(|_| !fields.is_refused()) {
        let sealed = seal(&app, checked.token.as_deref())?;
        if servers::change(&mut db, path.server, &checked.entered(sealed.as_deref()), by.at(now)).await? {
            return Ok(respond::flash(path, "Saved. It is asked again within a minute."));
        }
        fields.refuse("name", "There is a Prometheus of this name. Enter another one.");
    }
    let days = servers::days(&mut db, path.server, SHOWN).await?;
    respond::refused(Page { layout, it: Shown { server, days }, now, fields })
}

#[derive(Deserialize)]
pub struct From {
    from: String,
}

pub async fn read_again(
    path: paths::PrometheusReadAgain,
    writing: Writing,
    Form(From { from }): Form<From>,
) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let server = find_asked(&mut db, path.server).await?;
    let page = paths::Prometheus { server: path.server };
    let day = from.trim().parse::<NaiveDate>().ok().filter(|day| *day <= now.date_naive());
    let Some(day) = day else {
        return Ok(respond::flash(
            page,
            "Nothing changed: enter a day such as 2026-09-30, today at the latest.",
        ));
    };
    servers::read_again(&mut db, &server, day, by.at(now)).await?;
    Ok(respond::flash(page, &format!("{} is read again from {day} on.", server.name)))
}

pub async fn remove(path: paths::PrometheusRemove, writing: Writing) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let server = find_asked(&mut db, path.server).await?;
    servers::remove(&mut db, &server, by.at(now)).await?;
    let said = format!("{} is not read any more. What was read of it stays.", server.name);
    Ok(respond::flash(paths::Usage, &said))
}

/// How a server is, and the look of it.
pub fn state(server: &Server, now: DateTime<Utc>) -> (&'static str, &'static str) {
    match server.trouble() {
        _ if server.removed_at.is_some() => ("Removed", ""),
        Some(Trouble::Failing { .. }) => ("Not read", "bad"),
        Some(Trouble::Silent { .. }) => ("No GPUs", "wait"),
        None if server.is_behind(now) => ("Catching up", "wait"),
        None => ("Up to date", "good"),
    }
}

/// What is wrong with it, in a sentence.
pub fn sentence(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Failing { since, problem } => format!(
            "Not read since {}: {problem}. It is tried again every five minutes, and no hour is skipped.",
            filters::moment_text(*since)
        ),
        Trouble::Silent { since: Some(since) } => format!(
            "It answers, but has had no series of GPUs since {}. Check the exporters and the label matchers.",
            filters::moment_text(*since)
        ),
        Trouble::Silent { since: None } => {
            "It answers, but has no series of GPUs. Check the exporters and the label matchers.".to_owned()
        }
    }
}

impl Page {
    fn is_asked(&self) -> bool {
        self.it.server.removed_at.is_none()
    }
}

csv::record! {
    |it: ServerDay|
    "import" => it.import_id,
    "day" => it.day,
    "status" => &it.status,
    "series" => it.samples,
    "accelerator_hours" => it.accelerator_hours,
    "read_until" => it.last_at.map(|at| at.to_rfc3339()).unwrap_or_default(),
    "message" => it.message.as_deref().unwrap_or_default(),
}
