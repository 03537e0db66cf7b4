//! `/scenarios/7`, `/scenarios/templates/own-or-rent`: a comparison, and the form that changes it.
//!
//! The state is the address: what it begins with, and the fields that differ ([`super::edit`]). The form says every field;
//! what differs becomes the address that a browser is sent to, or that htmx puts in its place.

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::Value;

use super::super::error::{Error, Result};
use super::super::extract::{CurrentUser, Db, Htmx, Query};
use super::super::layout::Layout;
use super::super::respond::{Cell, Record};
use super::super::words::{number, term};
use super::super::{filters, paths, respond};
use super::answer::{Answer, answer};
use super::below;
use super::edit::{Edit, Edited, tree};
use super::field::{Field, Section, Takes, fields, sections};
use super::keep::{Base, Said};
use super::words;
use crate::money::{Currency, Decimal};
use crate::scenario::check::Finding;
use crate::scenario::comparison::{Line, OptionAnswer, Scenario};
use crate::scenario::file;
use crate::scenario::owning::Term;
use crate::scenarios::{self, Share, may_change};
use crate::web::paths::ScenarioFile;

#[derive(Template)]
#[template(path = "scenarios/show.html")]
pub(super) struct Page {
    pub layout: Layout,
    base: Base,
    edited: Edited,
    /// The document as it is edited, and before.
    now: Value,
    before: Value,
    sections: Vec<Section>,
    notes: Vec<Note>,
    answer: Option<Answer>,
    may_change: bool,
    shares: Vec<Share>,
    /// Why what was sent was not done.
    pub problem: Option<String>,
}

/// What is said beside a field.
struct Note {
    pointer: String,
    sentence: String,
    is_refusal: bool,
}

/// What scripts get.
#[derive(Serialize)]
struct Whole<'a> {
    scenario: &'a Scenario,
    version: Option<i64>,
    #[serde(flatten)]
    answer: &'a Answer,
}

pub async fn of_template(
    path: paths::ScenarioTemplate,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    htmx: Htmx,
    Query(pairs): Query<Vec<(String, String)>>,
    db: Db,
) -> Result {
    let base = Base::template(&path.template.value)?;
    let said = read(pairs)?;
    if said.version.is_some() {
        return Err(Error::BadRequest("version: a template has none.".to_owned()));
    }
    drop(db);
    show(base, &said, path.template.file, htmx, |base, edited| async move {
        Page::of(layout, base, edited, Vec::new(), &person).await
    })
    .await
}

pub async fn of_kept(
    path: paths::Scenario,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    htmx: Htmx,
    Query(pairs): Query<Vec<(String, String)>>,
    mut db: Db,
) -> Result {
    let said = read(pairs)?;
    let base = Base::kept(&mut db, path.scenario.value, said.version, &person).await?;
    let shares = scenarios::shared_with(&mut db, path.scenario.value).await?;
    // Nobody waits for a connection while this is reckoned.
    drop(db);
    show(base, &said, path.scenario.file, htmx, |base, edited| async move {
        Page::of(layout, base, edited, shares, &person).await
    })
    .await
}

fn read(pairs: Vec<(String, String)>) -> Result<Said> {
    let said = Said::read(pairs)?;
    match said.rest.first() {
        Some((name, _)) => Err(Error::BadRequest(format!(
            "found “{name}”, expected set, copy, add, remove or version; the fields of the form are pointers."
        ))),
        None => Ok(said),
    }
}

async fn show<F: Future<Output = Result<Page>>>(
    base: Base,
    said: &Said,
    file: Option<ScenarioFile>,
    Htmx(is_fragment): Htmx,
    page: impl FnOnce(Base, Edited) -> F,
) -> Result {
    let edited = said.edit(&base)?;
    let address = base.at("", &edited.edits);
    let is_form = !said.form.is_empty() || said.act.is_some();
    if let Some(file) = file {
        return hand_out(&base, edited, file).await;
    }
    if is_form && !is_fragment {
        let part = said.act.as_ref().map_or("", |_| "#edit");
        return Ok(respond::see_other(format!("{address}{part}")));
    }
    let mut response = respond::html(page(base, edited).await?)?;
    if is_form && let Ok(address) = HeaderValue::from_str(&address) {
        response.headers_mut().insert("hx-push-url", address);
    }
    Ok(response)
}

/// The same figures as a file.
async fn hand_out(base: &Base, edited: Edited, file: ScenarioFile) -> Result {
    if let Some(wrong) = edited.misread.first() {
        let sentence = format!("{}: found “{}”, {}.", wrong.pointer, wrong.text, wrong.expected);
        return Err(Error::BadRequest(sentence));
    }
    let scenario = edited.scenario;
    let name = scenario.name.clone();
    if file == ScenarioFile::Toml {
        let text = file::write(&scenario)
            .map_err(|error| anyhow::Error::new(error).context("a scenario was not written"))?;
        return Ok(toml(&name, text));
    }
    let answer =
        answer(scenario.clone()).await?.map_err(|refused| Error::BadRequest(format!("{refused}.")))?;
    if file == ScenarioFile::Json {
        let version = if let Base::Kept(kept) = base { Some(kept.version) } else { None };
        return respond::json(&Whole { scenario: &scenario, version, answer: &answer });
    }
    respond::csv(&name, &rows(&answer))
}

fn toml(name: &str, text: String) -> Response {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut response = ([(header::CONTENT_TYPE, "application/toml; charset=utf-8")], text).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.toml\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// A cost line of an option, for files. Those of an option sum to its total.
struct Row<'a> {
    option: &'a str,
    supplier: &'a str,
    line: &'a str,
    cost: Decimal,
    currency: &'a Currency,
    formula: &'a str,
    is_cheapest: bool,
}

fn rows(answer: &Answer) -> Vec<Row<'_>> {
    let lines = answer
        .options()
        .into_iter()
        .flat_map(|(at, option)| option.lines.iter().map(move |line| row(answer, (at, option), line)));
    lines.collect()
}

fn row<'a>(answer: &'a Answer, (at, option): (usize, &'a OptionAnswer), line: &'a Line) -> Row<'a> {
    Row {
        option: &option.name,
        supplier: option.places.get(line.place).map_or("", |it| it.supplier.as_str()),
        line: &line.name,
        cost: line.cost,
        currency: answer.currency(),
        formula: line.formula,
        is_cheapest: answer.is_cheapest(&at),
    }
}

impl Record for Row<'_> {
    const COLUMNS: &'static [&'static str] =
        &["option", "supplier", "line", "cost", "currency", "formula", "is_cheapest"];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            Cell::text(self.option),
            Cell::text(self.supplier),
            Cell::text(self.line),
            Cell::Number(self.cost),
            Cell::text(self.currency.as_str()),
            Cell::text(self.formula),
            Cell::text(if self.is_cheapest { "yes" } else { "no" }),
        ]
    }
}

impl Page {
    /// A page with its answer, or why there is none.
    pub(super) async fn of(
        layout: Layout,
        base: Base,
        edited: Edited,
        shares: Vec<Share>,
        person: &crate::accounts::Person,
    ) -> Result<Self> {
        let sections = sections(&edited.scenario);
        let mut notes: Vec<Note> = edited
            .misread
            .iter()
            .map(|it| Note { pointer: it.pointer.clone(), sentence: capital(it.expected), is_refusal: true })
            .collect();
        let mut answered = None;
        if notes.is_empty() {
            match answer(edited.scenario.clone()).await? {
                Ok(found) => {
                    notes.extend(found.comparison.warnings.iter().map(|it| note(it, &sections, false)));
                    answered = Some(found);
                }
                Err(refused) => notes.extend(refused.0.iter().map(|it| note(it, &sections, true))),
            }
        }
        let may_change = match &base {
            Base::Kept(kept) => kept.removed_at.is_none() && may_change(person, kept.owner_id),
            Base::Template(..) => false,
        };
        let (now, before) = (tree(&edited.scenario), tree(base.scenario()));
        Ok(Self {
            layout,
            base,
            edited,
            now,
            before,
            sections,
            notes,
            answer: answered,
            may_change,
            shares,
            problem: None,
        })
    }

    fn scenario(&self) -> &Scenario {
        &self.edited.scenario
    }

    fn kept(&self) -> Option<&scenarios::Kept> {
        match &self.base {
            Base::Kept(kept) => Some(kept),
            Base::Template(..) => None,
        }
    }

    fn path(&self) -> String {
        self.base.path()
    }

    fn file(&self, suffix: &str) -> String {
        self.base.at(suffix, &self.edited.edits)
    }

    fn unedited(&self) -> String {
        self.base.at("", &[])
    }

    fn is_edited(&self) -> bool {
        !self.edited.edits.is_empty()
    }

    /// What forms take along: the version and everything that was edited.
    fn state(&self) -> Vec<(&'static str, String)> {
        let version = self.kept().map(|it| ("version", it.version.to_string()));
        version.into_iter().chain(self.edited.edits.iter().map(Edit::pair)).collect()
    }

    /// Which scenario is copied when it is kept under a name.
    fn from(&self) -> String {
        match &self.base {
            Base::Template(template, _) => format!("template:{}", template.handle),
            Base::Kept(kept) => format!("scenario:{}", kept.id),
        }
    }

    /// The version that the next one follows.
    fn last_version(&self) -> i64 {
        self.kept().map_or(0, |it| it.last_version)
    }

    fn next_version(&self) -> i64 {
        self.last_version() + 1
    }

    fn is_last(&self) -> bool {
        self.base.version().is_none()
    }

    /// What was edited, in words, each with the address without it.
    fn chips(&self) -> Vec<(String, String)> {
        let known: Vec<(String, Field)> = labelled(self.scenario());
        let before = labelled(self.base.scenario());
        let edits = &self.edited.edits;
        let chip = |(at, edit): (usize, &Edit)| {
            let (own, later) = (at, &edits[at + 1..]);
            let rest: Vec<Edit> = edits[..own].iter().chain(later).cloned().collect();
            // What a later edit stands on cannot go alone.
            let is_free = Edited::of(self.base.scenario(), rest.clone()).is_ok();
            is_free.then(|| (self.in_words(edit, &known, &before), self.base.at("", &rest)))
        };
        edits.iter().enumerate().filter_map(chip).collect()
    }

    fn in_words(&self, edit: &Edit, known: &[(String, Field)], before: &[(String, Field)]) -> String {
        match edit {
            Edit::Set(pointer, text) => {
                let find = |among: &[(String, Field)]| {
                    among.iter().find(|(_, field)| field.pointer == *pointer).cloned()
                };
                let Some((label, field)) = find(known).or_else(|| find(before)) else {
                    return format!("{pointer}: {text}");
                };
                let was = field.takes.to_form(&field.text_in(&self.before));
                let now = field.takes.to_form(text);
                let unit = if field.unit.starts_with('%') { " %" } else { "" };
                if was.is_empty() {
                    format!("{label}: {now}{unit}")
                } else {
                    format!("{label}: {was} → {now}{unit}")
                }
            }
            Edit::Copy(pointer) => format!("Copied {}", place_in_words(pointer)),
            Edit::Add(pointer) => format!("Added {}", place_in_words(pointer)),
            Edit::Remove(pointer) => format!("Removed {}", place_in_words(pointer)),
        }
    }

    fn text(&self, field: &Field) -> String {
        self.edited.text(field, &self.now)
    }

    fn notes_of(&self, pointer: &str) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.pointer == pointer).collect()
    }

    fn is_refused(&self, pointer: &str) -> bool {
        self.notes.iter().any(|it| it.is_refusal && it.pointer == pointer)
    }

    fn refusals(&self) -> Vec<&Note> {
        self.notes.iter().filter(|it| it.is_refusal).collect()
    }

    fn warnings(&self) -> Vec<&Note> {
        self.notes.iter().filter(|it| !it.is_refusal).collect()
    }

    /// What a field is called with what it belongs to.
    fn label(&self, pointer: &str) -> String {
        let found = labelled(self.scenario()).into_iter().find(|(_, field)| field.pointer == pointer);
        found.map_or_else(|| place_in_words(pointer), |(label, _)| label)
    }

    /// Every place beside a field where something may be said, for htmx.
    fn spots(&self) -> String {
        let fields = fields(self.scenario());
        let spots: Vec<String> = fields.iter().map(|it| format!("#{}", note_id(&it.pointer))).collect();
        spots.join(",")
    }

    fn term(&self, of: &Term) -> String {
        term(of, &self.scenario().currency)
    }

    /// Whether a section was edited last, or something is wrong with what is folded away in it.
    fn is_open(&self, section: &Section) -> bool {
        let inside = format!("{}/", section.pointer);
        let is_here = |pointer: &str| format!("{pointer}/").starts_with(&inside);
        section.pointer.is_empty()
            || self.edited.edits.last().is_some_and(|it| is_here(it.pointer()))
            || self.notes.iter().any(|it| it.is_refusal && it.pointer.starts_with(&inside))
    }

    fn has_rare_refusal(&self, fields: &[Field]) -> bool {
        fields.iter().any(|it| it.is_rare && self.is_refused(&it.pointer))
    }
}

/// Every field with what it belongs to: `Price of a node, Our own`.
pub(super) fn labelled(scenario: &Scenario) -> Vec<(String, Field)> {
    let mut found = Vec::new();
    for section in sections(scenario) {
        for field in section.parts.into_iter().flat_map(|it| it.fields) {
            let whose = section.title.strip_prefix("Work: ").unwrap_or(&section.title);
            let label = if section.pointer.is_empty() {
                field.label.to_owned()
            } else {
                format!("{}, {whose}", field.label)
            };
            found.push((label, field));
        }
    }
    found
}

/// `/option/1/place/0/spot`: spot of option 2.
fn place_in_words(pointer: &str) -> String {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let number = |at: &str| at.parse::<usize>().map_or_else(|_| at.to_owned(), |at| (at + 1).to_string());
    let what = |name: &str| match name {
        "on_demand" => "on demand".to_owned(),
        "committed" => "a reservation".to_owned(),
        "owned" => "machines of our own".to_owned(),
        "others" => "a cost".to_owned(),
        "place" => "a place".to_owned(),
        other => other.replace('_', " "),
    };
    match parts.as_slice() {
        ["option"] => "an option".to_owned(),
        ["work"] => "work".to_owned(),
        [one] => what(one),
        [kind, at] => format!("{} {}", what(kind), number(at)),
        [kind, at, .., last] => {
            let name = if last.parse::<usize>().is_ok() { parts[parts.len() - 2] } else { last };
            format!("{} of {} {}", what(name), what(kind), number(at))
        }
        [] => "the scenario".to_owned(),
    }
}

/// What is said of a field, at the field, or at what is closest to it.
fn note(finding: &Finding, sections: &[Section], is_refusal: bool) -> Note {
    let pointer = format!("/{}", finding.field.replace('.', "/"));
    let found =
        sections.iter().flat_map(|it| &it.parts).flat_map(|it| &it.fields).find(|it| it.pointer == pointer);
    let is_share = found.is_some_and(|it| matches!(it.takes, Takes::Percent | Takes::PercentOrNone));
    let is_known = finding.message.starts_with("expected a share from 0 to 1");
    let sentence = match finding.found.parse::<Decimal>() {
        Ok(share) if is_share && is_known => {
            format!("{} %: expected 0 to 100 %", number(share.times(100), 4))
        }
        _ => format!("{}: {}", finding.found, finding.message),
    };
    Note { pointer, sentence: capital(&sentence), is_refusal }
}

fn capital(text: &str) -> String {
    format!("{}.", filters::capital(text.trim_end_matches('.')))
}

/// An id of a field; it holds nothing that a selector would take for something.
fn id(pointer: &str) -> String {
    format!("f{}", pointer.replace('/', "-"))
}

fn note_id(pointer: &str) -> String {
    format!("n{}", pointer.replace('/', "-"))
}
