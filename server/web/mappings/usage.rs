//! `/mappings/files/{sample}/usage`: what each column of a CSV is that says who used GPUs, and importing it by that.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

use askama::Template;
use chrono_tz::Tz;
use uuid::Uuid;

use super::new::waiting;
use crate::compute;
use crate::jobs::Sample;
use crate::telemetry::columns::{ColumnNames, UsageColumn};
use crate::telemetry::{self, Item, plain_csv};
use crate::web::error::Result;
use crate::web::extract::{Form, Pairs, Reading, Sending, Writing};
use crate::web::layout::Layout;
use crate::web::{paths, respond};

/// Rows of the file that are shown.
const SHOWN: usize = 5;
/// Bytes of the file that are looked at.
const START: u64 = 65_536;

#[derive(Template)]
#[template(path = "mappings/usage.html")]
struct Page {
    layout: Layout,
    path: paths::NewUsageMapping,
    file: String,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    /// What each column is, by its place.
    uses: BTreeMap<usize, UsageColumn>,
    name: String,
    problem: Option<String>,
}

/// What is asked of a column.
struct Question<'a> {
    place: usize,
    name: &'a str,
    /// Its first ones.
    values: String,
    uses: Vec<(&'static str, &'static str, bool)>,
}

impl Page {
    fn of(layout: Layout, path: paths::NewUsageMapping, sample: &Sample) -> Result<Self> {
        let mut start = Vec::new();
        if let Ok(crate::billing::Content::Text(text)) = crate::billing::unpack(File::open(&sample.path)?) {
            text.take(START).read_to_end(&mut start)?;
        }
        let mut lines =
            csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(start.as_slice());
        let mut rows =
            lines.records().filter_map(Result::ok).map(|row| row.iter().map(str::to_owned).collect());
        let names: Vec<String> = rows.next().unwrap_or_default();
        let names: Vec<String> =
            names.iter().map(|name| name.trim().trim_start_matches('\u{feff}').to_owned()).collect();
        let rows = rows.take(SHOWN).collect();
        let mut uses = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            let known = plain_csv::usual_name(name).and_then(|it| it.parse::<UsageColumn>().ok());
            if let Some(column) = known.filter(|it| !uses.values().any(|used| used == it)) {
                uses.insert(place, column);
            }
        }
        Ok(Self {
            layout,
            path,
            file: sample.name.clone(),
            names,
            rows,
            uses,
            name: String::new(),
            problem: None,
        })
    }

    fn fill(&mut self, pairs: &Pairs) {
        self.uses.clear();
        for (name, value) in pairs {
            if name == "name" {
                value.trim().clone_into(&mut self.name);
            }
            let place = name.strip_prefix("column").and_then(|place| place.parse::<usize>().ok());
            if let (Some(place), Ok(column)) = (place, value.parse::<UsageColumn>()) {
                self.uses.insert(place, column);
            }
        }
    }

    fn columns(&self) -> ColumnNames {
        let named = |(place, column): (&usize, &UsageColumn)| {
            Some((column.to_string(), self.names.get(*place)?.clone()))
        };
        ColumnNames(self.uses.iter().filter_map(named).collect())
    }

    /// What the columns cannot be.
    fn find_problem(&self) -> Option<String> {
        let twice =
            UsageColumn::ALL.iter().find(|column| self.uses.values().filter(|it| it == column).count() > 1);
        if let Some(column) = twice {
            return Some(format!("Two columns are “{}”. Choose one.", column.label()));
        }
        if self.name.is_empty() {
            return Some("Enter a name for these columns, such as that of the tool.".to_owned());
        }
        self.columns().lack().map(str::to_owned)
    }

    fn asks(&self) -> Vec<Question<'_>> {
        let mut asks = Vec::with_capacity(self.names.len());
        for (place, name) in self.names.iter().enumerate() {
            let values = self.rows.iter().filter_map(|row| row.get(place)).map(String::as_str);
            let values: Vec<&str> = values.filter(|it| !it.is_empty()).collect();
            let chosen = self.uses.get(&place).copied();
            let mut uses = vec![("", "not used", chosen.is_none())];
            uses.extend(UsageColumn::ALL.map(|it| (it.as_str(), it.label(), chosen == Some(it))));
            asks.push(Question { place, name, values: values.join(" · "), uses });
        }
        asks
    }
}

pub async fn show(path: paths::NewUsageMapping, reading: Reading) -> Result {
    let Reading { layout, app, .. } = reading;
    let sample = waiting(&app, path.sample)?;
    respond::html(Page::of(layout, path, &sample)?)
}

/// Saves what the columns are, and imports the file.
pub async fn save(path: paths::NewUsageMapping, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let sample = waiting(&app, path.sample)?;
    let mut page = Page::of(layout, path, &sample)?;
    page.fill(&pairs);
    page.problem = page.find_problem();
    if page.problem.is_none() {
        page.problem = first_problem(&sample, page.columns()).await?;
    }
    if page.problem.is_some() {
        return respond::refused(page);
    }
    let mut db = app.db.acquire().await?;
    telemetry::save_usage_mapping(&mut db, &page.name, &page.columns(), by.at(now)).await?;
    let mut arriving = app.inbox.open(Uuid::new_v4())?;
    arriving.take(&sample.name, &sample.path)?;
    let batch = arriving.batch_id;
    arriving.enqueue(&mut db, by.at(now)).await?;
    app.notifier.notify();
    let said = format!("Saved: files with the columns of {} are read by them.", page.name);
    Ok(respond::flash(paths::Batch { batch }, &said))
}

/// Why none of its first rows can be read by these columns.
async fn first_problem(sample: &Sample, columns: ColumnNames) -> Result<Option<String>> {
    let path = sample.path.clone();
    let read = move || {
        let Ok(crate::billing::Content::Text(text)) = crate::billing::unpack(File::open(&path)?) else {
            return Ok(Some("The file holds no text.".to_owned()));
        };
        let (mut readable, mut first) = (0, None);
        let mut each = |item: Item| match item {
            Item::Metered(_) => readable += 1,
            Item::Rejected(it) => {
                first.get_or_insert(format!(
                    "Row {}, {}: found “{}”, expected {}.",
                    it.row, it.column, it.found, it.expected
                ));
            }
            _ => {}
        };
        match plain_csv::read(text.take(START), Tz::UTC, &[columns], &mut each) {
            Err(refusal) => Ok(Some(format!("The file has {}.", refusal.found))),
            Ok(()) if readable == 0 => Ok(Some(first.unwrap_or_else(|| "The file has no rows.".to_owned()))),
            Ok(()) => Ok(None),
        }
    };
    let found: std::io::Result<Option<String>> = compute::compute(read).await?;
    Ok(found?)
}

pub async fn remove(path: paths::UsageMappingRemove, writing: Writing) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let said = if telemetry::remove_usage_mapping(&mut db, path.mapping, by.at(now)).await? {
        "Removed: no further file is read by these columns. What was imported stays."
    } else {
        "Nothing changed: it was removed before."
    };
    Ok(respond::flash(paths::Mappings, said))
}
