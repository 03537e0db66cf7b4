//! `/labels/team`: which tags mean a label, every spelling with the money behind it, and those that mean nothing yet,
//! mapped in one click.

use askama::Template;
use serde::Deserialize;
use sqlx::PgConnection;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Form, Reading, Writing};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::respond;
use super::super::{Access, filters, paths};
use super::rules::sent;
use super::{OfMonth, configuration_now, is_at_once, reason, send};
use crate::accounts::Viewer;
use crate::allocation::{
    Configuration, CostCentre, Edit, Entry, Experiment, Label, Meaning, Project, Team, Value, handle_of,
    normalized, normalized_key,
};
use crate::audit::Act;
use crate::changes::{self, About, Entry as _};
use crate::period::BillingMonth;
use crate::report::{self, Grouping, Spelling, Spellings, Written, needs_no_entry};

#[derive(Template)]
#[template(path = "allocation/labels.html")]
struct Page {
    layout: Layout,
    label: Label,
    spellings: Spellings,
    keys: String,
    /// What a spelling can be added to: a handle or value, and its name.
    known: Vec<(String, String)>,
}

pub async fn show(path: paths::Labels, format: Format, reading: Reading<OfMonth>) -> Result {
    let Reading { now, layout, query: asked, app, mut db, .. } = reading;
    let label = path.label;
    let month = asked.month(&mut db, &app.answers).await?;
    let month = month.unwrap_or_else(|| BillingMonth::of(now.date_naive()));
    let configuration = configuration_now(&mut db).await?;
    let of_month = configuration.of_month(month);
    let spellings = report::spellings(&mut db, &app.answers, &of_month, label).await?;
    match format {
        Format::Json => respond::json(&spellings),
        Format::Csv => csv::answer(&format!("labels-{label}-{month}"), &spellings.lines),
        Format::Html => {
            let keys = keys(&configuration, label).join(", ");
            let known = known(&configuration, label);
            respond::html(Page { layout, label, spellings, keys, known })
        }
    }
}

impl Page {
    fn labels(&self) -> Vec<(&'static str, String, bool)> {
        let at = |label: Label| paths::Labels { label }.to_string();
        Label::ALL.map(|label| (label.name(), at(label), label == self.label)).into()
    }

    fn during(&self, month: BillingMonth) -> String {
        format!("{}?month={month}", paths::Labels { label: self.label })
    }

    fn has_owned(&self) -> bool {
        self.spellings.lines.iter().any(|line| !line.owned_hours.is_zero())
    }

    fn file(&self, file: File) -> String {
        let page = paths::Labels { label: self.label };
        file.of(format!("{page}?month={}", self.spellings.month))
    }

    fn map(&self) -> paths::LabelMap {
        paths::LabelMap { label: self.label }
    }

    fn meaning(&self) -> paths::LabelMeaning {
        paths::LabelMeaning { label: self.label }
    }

    /// The charges behind a spelling.
    fn charges(&self, line: &Written) -> String {
        let asked =
            Asked::default().only(&Grouping::Tag(line.tag.clone()), Some(&line.value)).by(Grouping::Service);
        asked.link(paths::Spend { period: self.spellings.month.into() })
    }

    fn can_be_new(&self) -> bool {
        !needs_no_entry(self.label)
    }

    /// Whether a spelling can be said to mean it.
    fn is_known(&self, other: &str) -> bool {
        needs_no_entry(self.label) || self.known.iter().any(|(handle, _)| handle == other)
    }

    /// Labels that mean nothing and look like nothing that there is: new names, most likely.
    fn fresh(&self) -> usize {
        if self.can_be_new() { fresh(&self.spellings).count() } else { 0 }
    }
}

/// What something new would be called: as most of its charges have it.
fn name_of(line: &Spelling) -> &str {
    line.written.first().map_or(line.text.as_str(), |it| it.value.trim())
}

fn fresh(spellings: &Spellings) -> impl Iterator<Item = &Spelling> {
    spellings.lines.iter().filter(|line| line.means.is_none() && line.looks_like.is_empty())
}

/// The tags that mean a label, as they were written.
fn keys(configuration: &Configuration, label: Label) -> Vec<String> {
    match meaning(configuration, label) {
        Some((_, it)) => it.keys.clone(),
        None => label.usual_keys().iter().map(|key| (*key).to_owned()).collect(),
    }
}

fn meaning(configuration: &Configuration, label: Label) -> Option<(i64, &Meaning)> {
    configuration.entries.iter().find_map(|(id, entry)| match entry {
        Entry::Meaning(it) if it.label == label => Some((*id, it)),
        _ => None,
    })
}

fn known(configuration: &Configuration, label: Label) -> Vec<(String, String)> {
    let mut known: Vec<(String, String)> = configuration
        .entries
        .values()
        .filter_map(|entry| match (label, entry) {
            (Label::Team, Entry::Team(it)) => Some((it.handle.clone(), it.name.clone())),
            (Label::Project, Entry::Project(it)) => Some((it.handle.clone(), it.name.clone())),
            (Label::CostCentre, Entry::CostCentre(it)) => Some((it.handle.clone(), it.name.clone())),
            (Label::Experiment, Entry::Experiment(it)) => Some((it.handle.clone(), it.name.clone())),
            (_, Entry::Value(it)) if it.label == label => Some((it.value.clone(), it.value.clone())),
            _ => None,
        })
        .collect();
    if !matches!(label, Label::Team | Label::Project | Label::CostCentre | Label::Experiment) {
        known
            .extend(label.usual_values().iter().map(|(value, _)| ((*value).to_owned(), (*value).to_owned())));
    }
    known.sort();
    known.dedup_by(|a, b| a.0 == b.0);
    known
}

#[derive(Deserialize)]
pub struct MeaningForm {
    keys: String,
    #[serde(flatten)]
    wish: Wish,
}

/// How it is sent: to be looked at first or to hold at once, why, and from the page of which month.
#[derive(Deserialize)]
pub struct Wish {
    #[serde(default, rename = "do")]
    way: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    month: String,
}

/// Says which tags mean a label.
pub async fn say(path: paths::LabelMeaning, writing: Writing, Form(form): Form<MeaningForm>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let label = path.label;
    let configuration = configuration_now(&mut db).await?;
    let keys: Vec<String> =
        form.keys.split([',', ';']).map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned).collect();
    let usual: Vec<String> = label.usual_keys().iter().map(|key| (*key).to_owned()).collect();
    let is_usual = keys.iter().map(|key| normalized_key(key)).eq(usual.iter().cloned());
    let after = Entry::Meaning(Meaning { label, keys: keys.clone() });
    let edits = match meaning(&configuration, label) {
        Some((id, it)) => {
            let after = if keys.is_empty() || is_usual { None } else { Some(after) };
            vec![Edit { id, before: Some(Entry::Meaning(it.clone())), after }]
        }
        None if keys.is_empty() || is_usual => vec![Edit { id: 0, before: None, after: None }],
        None => changes::additions(&mut db, vec![after]).await?,
    };
    let summary = format!("Tag keys for {}: {}", label.name().to_lowercase(), keys.join(", "));
    finish(&layout, &mut db, label, edits, &summary, &form.wish, by.at(now)).await
}

/// `to` names what the spelling means; where it is empty, it becomes something of its own.
#[derive(Deserialize)]
pub struct MapForm {
    #[serde(default)]
    value: String,
    #[serde(default)]
    to: String,
    /// Every label that means nothing and looks like nothing becomes something of its own.
    all: Option<String>,
    #[serde(flatten)]
    wish: Wish,
}

/// Says what a spelling means.
pub async fn map(path: paths::LabelMap, writing: Writing, Form(form): Form<MapForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let label = path.label;
    let configuration = configuration_now(&mut db).await?;
    let spelling = form.value.trim();
    let (edits, summary) = if form.all.is_some() {
        let month = match form.wish.month() {
            Some(month) => month,
            None => app.answers.latest_month(&mut db, &Viewer::Everything).await?.ok_or(Error::NotFound)?,
        };
        let spellings =
            report::spellings(&mut db, &app.answers, &configuration.of_month(month), label).await?;
        let new = fresh(&spellings).map(|line| called(label, name_of(line))).collect::<Result<Vec<_>>>()?;
        let edits = changes::additions(&mut db, new).await?;
        (edits, format!("New {}s from labels · {}", label.name().to_lowercase(), month.name()))
    } else if form.to.is_empty() {
        let entry = called(label, spelling)?;
        let summary = format!("New {} for the label “{spelling}”", entry.title());
        (changes::additions(&mut db, vec![entry]).await?, summary)
    } else {
        let edits = spelled(&mut db, &configuration, label, spelling, &form.to).await?;
        (edits, format!("“{spelling}” mapped to {} {}", label.name().to_lowercase(), form.to))
    };
    finish(&layout, &mut db, label, edits, &summary, &form.wish, by.at(now)).await
}

/// An entry that a label calls by this name.
fn called(label: Label, spelling: &str) -> Result<Entry> {
    let (handle, name) = (handle_of(spelling), spelling.to_owned());
    Ok(match label {
        Label::Team => Entry::Team(Team { handle, name, ..Team::default() }),
        Label::Project => Entry::Project(Project { handle, name, ..Project::default() }),
        Label::CostCentre => Entry::CostCentre(CostCentre { handle, name, ..CostCentre::default() }),
        _ => return Err(Error::BadRequest(format!("Values of {label} need no entry."))),
    })
}

/// A spelling added to everything in the configuration that has this handle or value, and taken from what it meant before; what
/// was called nothing else is gone then. What has other names keeps its own.
async fn spelled(
    db: &mut PgConnection,
    configuration: &Configuration,
    label: Label,
    spelling: &str,
    to: &str,
) -> Result<Vec<Edit>> {
    let is_same = |text: &str| normalized(text) == normalized(spelling);
    let (mut edits, mut taken) = (Vec::new(), Vec::new());
    for (id, before) in &configuration.entries {
        let mut after = before.clone();
        let (handle, name, spellings) = match (label, &mut after) {
            (Label::Team, Entry::Team(it)) => (&it.handle, &it.name, &mut it.spellings),
            (Label::Project, Entry::Project(it)) => (&it.handle, &it.name, &mut it.spellings),
            (Label::CostCentre, Entry::CostCentre(it)) => (&it.handle, &it.name, &mut it.spellings),
            (Label::Experiment, Entry::Experiment(it)) => (&it.handle, &it.name, &mut it.spellings),
            (_, Entry::Value(it)) if it.label == label => (&it.value, &it.value, &mut it.spellings),
            _ => continue,
        };
        let edit = |after| Edit { id: *id, before: Some(before.clone()), after };
        if handle == to || normalized(handle) == normalized(to) {
            spellings.push(spelling.to_owned());
            edits.push(edit(Some(after)));
        } else if is_same(handle) || is_same(name) {
            if ![handle, name].into_iter().chain(spellings.iter()).all(|known| is_same(known)) {
                return Err(Error::BadRequest(format!(
                    "Nothing was changed: {} also has other spellings. Rename it first, or merge it with {to}.",
                    before.title()
                )));
            }
            taken.push(edit(None));
        } else if spellings.iter().any(|known| is_same(known)) {
            spellings.retain(|known| !is_same(known));
            taken.push(edit(Some(after)));
        }
    }
    if !edits.is_empty() {
        edits.extend(taken);
        return Ok(edits);
    }
    let spellings = vec![spelling.to_owned()];
    let after = match label {
        Label::Team | Label::Project | Label::CostCentre => {
            return Err(Error::BadRequest(format!("Nothing was changed: there is no {label} {to}.")));
        }
        Label::Experiment => Entry::Experiment(Experiment {
            handle: normalized(to),
            name: to.to_owned(),
            spellings,
            ..Experiment::default()
        }),
        _ => Entry::Value(Value { label, value: to.to_owned(), spellings }),
    };
    taken.extend(changes::additions(db, vec![after]).await?);
    Ok(taken)
}

impl Wish {
    fn month(&self) -> Option<BillingMonth> {
        self.month.parse().ok()
    }
}

/// At once for an administrator who asks for it, and then the page that is led back to can undo it; else a draft.
async fn finish(
    layout: &Layout,
    db: &mut PgConnection,
    label: Label,
    edits: Vec<Edit>,
    summary: &str,
    wish: &Wish,
    act: Act<'_>,
) -> Result {
    let page = paths::Labels { label };
    let back = match wish.month() {
        Some(month) => format!("{page}?month={month}"),
        None => page.to_string(),
    };
    let about = About { summary, reason: reason(&wish.reason) };
    let at_once = is_at_once(layout, &wish.way).then_some(back);
    sent(send(db, edits, about, at_once, act).await?)
}

csv::record! {
    |it: Spelling|
    "label" => &it.text,
    "written" => it.written.iter().map(|it| format!("{}={}", it.tag, it.value)).collect::<Vec<_>>().join("; "),
    "means" => &it.means,
    "looks_like" => it.looks_like.join("; "),
    "effective_cost" => it.cost,
    "accelerator_hours" => it.accelerator_hours,
    "owned_hours" => it.owned_hours,
}
