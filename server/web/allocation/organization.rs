//! `/organization/teams`: who there is. A sheet of entries, edited one by one or as a CSV file.

use std::collections::BTreeMap;

use askama::Template;
use serde_json::json;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Now, Pairs, Sending, Upload, Writing};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::paths;
use super::super::respond;
use super::rules::sent;
use super::{Sent, configuration_now, is_at_once, month, problem, reason, rewrite, send};
use crate::allocation::{self, Configuration, Edit, Entry, Row, Sheet, identity};
use crate::audit::Actor;
use crate::changes::{self, About, Entry as _, Problem};
use crate::compute::compute;

/// Some ten thousand rows. All of a file is one change, which is looked at as a whole, entry by entry, before and after
/// it is kept.
const LARGEST_FILE: usize = 1 << 20;

#[derive(Template)]
#[template(path = "allocation/organization.html")]
struct Page {
    layout: Layout,
    sheet: Sheet,
    rows: Vec<(i64, Row)>,
    /// What was typed for a new one.
    form: Row,
    why: String,
    choices: Choices,
    problems: Vec<Problem>,
}

#[derive(Template)]
#[template(path = "allocation/entry.html")]
struct EntryPage {
    layout: Layout,
    sheet: Sheet,
    id: i64,
    title: String,
    form: Row,
    since: String,
    why: String,
    choices: Choices,
    problems: Vec<Problem>,
}

/// What can be chosen in the fields of a sheet: handles and names.
pub struct Choices {
    pub teams: Vec<(String, String)>,
    pub projects: Vec<(String, String)>,
    cost_centres: Vec<(String, String)>,
}

impl Choices {
    pub fn of(configuration: &Configuration) -> Self {
        let mut choices = Self { teams: Vec::new(), projects: Vec::new(), cost_centres: Vec::new() };
        for entry in configuration.entries.values() {
            match entry {
                Entry::Team(it) => choices.teams.push((it.handle.clone(), it.name.clone())),
                Entry::Project(it) => choices.projects.push((it.handle.clone(), it.name.clone())),
                Entry::CostCentre(it) => choices.cost_centres.push((it.handle.clone(), it.name.clone())),
                _ => {}
            }
        }
        for list in [&mut choices.teams, &mut choices.projects, &mut choices.cost_centres] {
            list.sort();
            list.dedup_by(|a, b| a.0 == b.0);
        }
        choices
    }

    /// Of a column; `None` where anything can be typed.
    fn of_column(&self, column: &str) -> Option<&[(String, String)]> {
        match column {
            "team" | "parent" => Some(&self.teams),
            "project" => Some(&self.projects),
            "cost_centre" => Some(&self.cost_centres),
            _ => None,
        }
    }
}

fn rows_of(configuration: &Configuration, sheet: Sheet) -> Vec<(i64, Row)> {
    let of_sheet = configuration.entries.iter().filter(|(_, entry)| Sheet::of(entry) == Some(sheet));
    let mut rows: Vec<_> = of_sheet.map(|(id, entry)| (identity(entry), *id, sheet.row(entry))).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows.into_iter().map(|(_, id, row)| (id, row)).collect()
}

impl Page {
    fn new(layout: Layout, sheet: Sheet, configuration: &Configuration) -> Self {
        Self {
            layout,
            sheet,
            rows: rows_of(configuration, sheet),
            form: Row::new(),
            why: String::new(),
            choices: Choices::of(configuration),
            problems: Vec::new(),
        }
    }

    /// What is said of an empty sheet: experiments there may be all the same.
    fn none(&self) -> String {
        match self.sheet {
            Sheet::Experiments => "There are no renamed, merged or assigned experiments yet".to_owned(),
            sheet => format!("There are no {} yet", sheet.name().to_lowercase()),
        }
    }

    fn here(&self) -> paths::Organization {
        paths::Organization { sheet: self.sheet }
    }

    fn sheets(&self) -> Vec<(&'static str, String, bool)> {
        let at = |sheet: Sheet| paths::Organization { sheet }.to_string();
        Sheet::ALL.map(|sheet| (sheet.name(), at(sheet), sheet == self.sheet)).into()
    }
}

pub async fn index(path: paths::Organization, format: Format, layout: Layout, mut db: Db) -> Result {
    let sheet = path.sheet;
    let configuration = configuration_now(&mut db).await?;
    match format {
        Format::Html => respond::html(Page::new(layout, sheet, &configuration)),
        Format::Json => {
            let rows: Vec<_> =
                rows_of(&configuration, sheet).into_iter().map(|(_, row)| json!(row)).collect();
            respond::json(&rows)
        }
        Format::Csv => {
            let rows = rows_of(&configuration, sheet);
            let texts = rows
                .iter()
                .map(|(_, row)| sheet.columns().iter().map(|column| row[column].as_str()).collect());
            let names = sheet.columns().to_vec();
            csv::answer_of_texts(sheet.as_str(), std::iter::once(names).chain(texts))
        }
    }
}

pub async fn create(path: paths::Organization, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let sheet = path.sheet;
    let configuration = configuration_now(&mut db).await?;
    let form = row_of(sheet, &pairs);
    let why = value(&pairs, "reason").to_owned();
    let problems = match sheet.read(&form) {
        Ok(entry) => {
            let summary = format!("New {}", entry.title());
            let about = About { summary: &summary, reason: reason(&why) };
            let edits = changes::additions(&mut db, vec![entry]).await?;
            let back = paths::Organization { sheet };
            let at_once = is_at_once(&layout, value(&pairs, "do")).then(|| back.to_string());
            match send(&mut db, edits, about, at_once, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(refused) => described(&refused),
    };
    respond::refused(Page { form, why, problems, ..Page::new(layout, sheet, &configuration) })
}

pub async fn edit(path: paths::OrganizationEntry, layout: Layout, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let entry = find(&configuration, path.sheet, path.entry)?;
    respond::html(EntryPage {
        layout,
        sheet: path.sheet,
        id: path.entry,
        title: entry.title(),
        form: path.sheet.row(entry),
        since: String::new(),
        why: String::new(),
        choices: Choices::of(&configuration),
        problems: Vec::new(),
    })
}

pub async fn change(path: paths::OrganizationEntry, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let (sheet, id) = (path.sheet, path.entry);
    let configuration = configuration_now(&mut db).await?;
    let before = find(&configuration, sheet, id)?;
    let mut form = row_of(sheet, &pairs);
    // What rules and labels know it by stays; another one is another entry.
    if sheet != Sheet::Accounts {
        form.insert("handle", identity(before).0);
    }
    let since = value(&pairs, "since").trim().to_owned();
    let why = value(&pairs, "reason").to_owned();
    let problems = match (sheet.read(&form), month("First month of this change", &since)) {
        (Ok(after), Ok(month)) => {
            let summary = format!("Changed {}", before.title());
            let about = About { summary: &summary, reason: reason(&why) };
            let edits = rewrite(&mut db, id, before, after, month).await?;
            let back = paths::Organization { sheet };
            let at_once = is_at_once(&layout, value(&pairs, "do")).then(|| back.to_string());
            match send(&mut db, edits, about, at_once, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        (Err(refused), _) => described(&refused),
        (_, Err(problem)) => vec![problem],
    };
    let title = before.title();
    respond::refused(EntryPage {
        layout,
        sheet,
        id,
        title,
        form,
        since,
        why,
        choices: Choices::of(&configuration),
        problems,
    })
}

pub async fn remove(path: paths::OrganizationRemove, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let entry = find(&configuration, path.sheet, path.entry)?;
    let summary = format!("Removed {}", entry.title());
    let edits = vec![Edit { id: path.entry, before: Some(entry.clone()), after: None }];
    sent(send(&mut db, edits, &summary, None, by.at(now)).await?)
}

/// A CSV file: rows that are new are added, rows that there are (by handle and first month) are changed, and rows that
/// the file lacks stay. All of it becomes one draft, or nothing.
pub async fn load(path: paths::OrganizationFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let sheet = path.sheet;
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let mut db = app.db.acquire().await?;
    let configuration = configuration_now(&mut db).await?;
    let mut page = Page::new(layout, sheet, &configuration);
    // A large file takes a while, which other requests do not wait for.
    let read = compute(move || sheet.read_file(&content).map(|rows| matched(&configuration, rows)));
    match read.await? {
        _ if name.is_empty() => page.problems = vec![problem("The file", "choose a file to import")],
        Err(refused) => page.problems = vec![problem(&name, &refused.to_string())],
        Ok(rows) => {
            let new = rows.iter().filter(|(known, _)| known.is_none()).count();
            let mut ids = changes::entry_ids(&mut db, new).await?.into_iter();
            let edits = rows.into_iter().map(|(known, after)| {
                let (id, before) = match known {
                    Some((id, before)) => (id, Some(before)),
                    None => (ids.next().unwrap_or_default(), None),
                };
                Edit { id, before, after: Some(after) }
            });
            let edits: Vec<Edit> = edits.collect();
            let summary = format!("{} from {name}", sheet.name());
            match send(&mut db, edits, &summary, None, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => page.problems = problems,
            }
        }
    }
    respond::refused(page)
}

/// Each row of a file beside the entry that it is about, where there is one.
fn matched(configuration: &Configuration, rows: Vec<Entry>) -> Vec<(Option<(i64, Entry)>, Entry)> {
    let key = |entry: &Entry| (Sheet::of(entry), identity(entry));
    let known: BTreeMap<_, _> =
        configuration.entries.iter().map(|(id, entry)| (key(entry), (*id, entry))).collect();
    let beside = |row: Entry| (known.get(&key(&row)).map(|(id, entry)| (*id, (*entry).clone())), row);
    rows.into_iter().map(beside).collect()
}

fn find(configuration: &Configuration, sheet: Sheet, id: i64) -> Result<&Entry> {
    configuration.entries.get(&id).filter(|entry| Sheet::of(entry) == Some(sheet)).ok_or(Error::NotFound)
}

fn row_of(sheet: Sheet, pairs: &[(String, String)]) -> Row {
    sheet.columns().iter().map(|column| (*column, value(pairs, column).to_owned())).collect()
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    pairs.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
}

fn described(refused: &[allocation::RefusedCell]) -> Vec<Problem> {
    let tell = |cell: &allocation::RefusedCell| {
        problem(&label(cell.column), &format!("found “{}”; enter {}", cell.found, cell.expected))
    };
    refused.iter().map(tell).collect()
}

pub fn is(column: &str, name: &str) -> bool {
    column == name
}

pub fn value_of<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).map_or("", String::as_str)
}

/// Whether what is chosen is no choice any more.
pub fn is_gone(known: &[(String, String)], value: &str) -> bool {
    !value.is_empty() && !known.iter().any(|(handle, _)| handle == value)
}

/// With a capital letter at the beginning, as a title has it.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A column as a person reads it.
pub fn label(column: &str) -> String {
    match column {
        "handle" => "Handle".to_owned(),
        "name" => "Name".to_owned(),
        "parent" => "Part of".to_owned(),
        "cost_centre" => "Cost center".to_owned(),
        "spellings" => "Also written".to_owned(),
        "members" => "Members".to_owned(),
        "team" => "Team".to_owned(),
        "project" => "Project".to_owned(),
        "account" => "Account".to_owned(),
        "first" => "First month".to_owned(),
        "last" => "Last month".to_owned(),
        other => other.to_owned(),
    }
}

/// What helps to fill a field in.
pub fn hint(sheet: Sheet, column: &str) -> &'static str {
    match (sheet, column) {
        (Sheet::Experiments, "handle") => {
            "The label in lowercase with single spaces. Leave empty to use the name."
        }
        (_, "handle") => "Used in addresses and rules. Leave empty to use the name.",
        (Sheet::Experiments, "spellings") => "Labels to merge into this experiment, separated by semicolons.",
        (_, "spellings") => "Other spellings in tags, separated by semicolons: CV; computer-vision.",
        (_, "members") => "Email addresses, separated by semicolons; for information only.",
        (_, "account") => "A billing account, sub-account, subscription or project of a provider.",
        (_, "first" | "last") => "Such as 2026-09. Leave empty for no limit.",
        (Sheet::Projects | Sheet::Experiments, "team") => "Who pays if the labels name no team.",
        _ => "",
    }
}
