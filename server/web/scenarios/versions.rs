//! `/scenarios/7/versions?of=1&with=3`: the versions of a scenario, and what differs between two.

use askama::Template;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::error::{Error, Result};
use super::super::extract::{Db, Reading};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::edit::tree;
use super::field::{Takes, sections};
use super::scope::seen_by;
use super::{below, to, words};
use crate::accounts::Person;
use crate::compute::compute;
use crate::economics::comparison::{Comparison, Scenario};
use crate::money::{Currency, Decimal};
use crate::saved_scenarios::{self, Kept, Version, may_change};

#[derive(Deserialize)]
pub struct Asked {
    of: Option<i64>,
    with: Option<i64>,
}

#[derive(Template)]
#[template(path = "scenarios/versions.html")]
struct Page {
    layout: Layout,
    kept: Kept,
    versions: Vec<Version>,
    compared: Option<Compared>,
    may_change: bool,
}

/// Two versions side by side.
#[derive(Serialize)]
struct Compared {
    of: i64,
    with: i64,
    currency: Currency,
    with_currency: Currency,
    months: u32,
    with_months: u32,
    options: Vec<Totals>,
    changed: Vec<Changed>,
}

/// What an option, by its name, costs in each; none where it has no such option, or no answer.
#[derive(Serialize)]
struct Totals {
    option: String,
    of: Option<Decimal>,
    with: Option<Decimal>,
}

/// A field that differs; none where it has no such field.
#[derive(Serialize)]
struct Changed {
    field: String,
    of: Option<String>,
    with: Option<String>,
    /// What its texts mean.
    #[serde(skip)]
    takes: Takes,
}

impl Changed {
    /// A text of it as pages have it: choices by their names.
    fn on_page<'a>(&self, text: &'a str) -> &'a str {
        self.takes.choice(text).unwrap_or(text)
    }
}

impl Page {
    /// Addresses of the last one and of earlier ones.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn to_version(&self, version: &i64) -> String {
        if *version == self.kept.last_version {
            to(self.kept.id)
        } else {
            format!("{}?version={version}", to(self.kept.id))
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn is_of(&self, version: &i64) -> bool {
        self.compared.as_ref().is_some_and(|it| it.of == *version)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn is_with(&self, version: &i64) -> bool {
        self.compared.as_ref().is_some_and(|it| it.with == *version)
    }
}

impl Compared {
    /// Whether totals of both are of one currency and as many months.
    fn is_alike(&self) -> bool {
        (&self.currency, self.months) == (&self.with_currency, self.with_months)
    }
}

impl Totals {
    fn difference(&self) -> Option<Decimal> {
        Some(self.with? - self.of?)
    }
}

async fn find(
    db: &mut Db,
    id: i64,
    version: Option<i64>,
    (person, today): (&Person, NaiveDate),
) -> Result<Kept> {
    let reader = seen_by(db, person, today).await?;
    saved_scenarios::find(db, id, version, &reader).await?.ok_or(Error::NotFound)
}

/// A scenario with all of its versions, and two of them compared: those that are asked for, or the last two.
async fn read(
    mut db: Db,
    id: i64,
    asked: &Asked,
    person: (&Person, NaiveDate),
) -> Result<(Kept, Vec<Version>, Option<Compared>)> {
    let last = find(&mut db, id, None, person).await?;
    let versions = saved_scenarios::versions(&mut db, last.id).await?;
    let with = asked.with.unwrap_or(last.last_version);
    let of = asked.of.unwrap_or(with - 1);
    if of < 1 {
        return Ok((last, versions, None));
    }
    let before = find(&mut db, id, Some(of), person).await?.scenario;
    let after = find(&mut db, id, Some(with), person).await?.scenario;
    // Nobody waits for a connection while this is computed.
    drop(db);
    let compared = compute(move || beside((of, &before), (with, &after))).await?;
    Ok((last, versions, Some(compared)))
}

fn beside((of, before): (i64, &Scenario), (with, after): (i64, &Scenario)) -> Compared {
    let answers = [before, after].map(|it| it.compare().ok());
    let total = |answer: &Option<Comparison>, name: &str| {
        answer.as_ref()?.options.iter().find(|it| it.name == name).map(|it| it.total)
    };
    let mut options: Vec<Totals> = Vec::new();
    for name in before.options.iter().chain(&after.options).map(|it| &it.name) {
        if options.iter().all(|it| it.option != *name) {
            let [of, with] = answers.each_ref().map(|answer| total(answer, name));
            options.push(Totals { option: name.clone(), of, with });
        }
    }
    Compared {
        of,
        with,
        currency: before.currency.clone(),
        with_currency: after.currency.clone(),
        months: before.months,
        with_months: after.months,
        options,
        changed: changed(before, after),
    }
}

/// Fields by their names, so that an option that was added before others does not make them differ.
fn changed(before: &Scenario, after: &Scenario) -> Vec<Changed> {
    let texts = |scenario: &Scenario| -> Vec<(String, String, Takes)> {
        let tree = tree(scenario);
        sections(scenario)
            .iter()
            .flat_map(|section| section.fields().map(move |field| (section.label(field), field)))
            .map(|(label, field)| {
                let unit = if field.unit.starts_with('%') { "%" } else { "" };
                let text = field.takes.to_form(&field.text_in(&tree));
                (label, if text.is_empty() { text } else { format!("{text}{unit}") }, field.takes)
            })
            .collect()
    };
    let (before, mut after) = (texts(before), texts(after));
    let mut changed = Vec::new();
    for (field, of, takes) in before {
        // Of fields that are called alike the first of the one belongs to the first of the other.
        let at = after.iter().position(|(label, ..)| *label == field);
        let with = at.map(|at| after.remove(at).1);
        if with.as_ref() != Some(&of) && (with.is_some() || !of.is_empty()) {
            changed.push(Changed { field, of: Some(of), with, takes });
        }
    }
    // What came with nothing in it, or went, says nothing.
    after.retain(|(_, with, _)| !with.is_empty());
    let added = |(field, with, takes)| Changed { field, of: None, with: Some(with), takes };
    changed.extend(after.into_iter().map(added));
    changed
}

pub async fn show(path: paths::ScenarioVersions, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { now, layout, person, query: asked, db, .. } = reading;
    let (kept, versions, compared) = read(db, path.scenario, &asked, (&person, now.date_naive())).await?;
    match format {
        Format::Html => {}
        Format::Json => return respond::json(&json!({ "versions": versions, "compared": compared })),
        Format::Csv => return Err(Error::NotFound),
    }
    let may_change = kept.removed_at.is_none() && may_change(&person, kept.owner_id);
    respond::html(Page { layout, kept, versions, compared, may_change })
}
