//! `/mappings/files/{sample}/usage`: what each column of a CSV is that says who used GPUs, and importing it by that.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};

use askama::Template;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sqlx::PgConnection;
use uuid::Uuid;

use super::new::waiting;
use crate::billing;
use crate::jobs::Sample;
use crate::money::Decimal;
use crate::telemetry::columns::{ColumnNames, UsageColumn};
use crate::telemetry::hours::HOURS;
use crate::telemetry::metered::Metered;
use crate::telemetry::{self, Item, hours_of, plain_csv};
use crate::web::error::Result;
use crate::web::extract::{Form, Pairs, Reading, Sending, Writing};
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

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
    /// The whole rows at the start of the file.
    start: Vec<u8>,
    /// What each column is, by its place.
    uses: BTreeMap<usize, UsageColumn>,
    name: String,
    problem: Option<String>,
    /// Somebody said what the columns are; else they are guessed.
    is_sent: bool,
    /// The first rows as these columns say them.
    read: Vec<Row>,
    /// What is wrong with a row beside them.
    rejected: Option<String>,
}

/// A row as it is read.
struct Row {
    node: String,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    accelerator_hours: Decimal,
    /// Job, namespace, user, account.
    holder: [String; 4],
    utilization: Option<Decimal>,
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
        let start = start_of(sample)?;
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
            start,
            uses,
            name: String::new(),
            problem: None,
            is_sent: false,
            read: Vec::new(),
            rejected: None,
        })
    }

    /// Reads its first rows by these columns, where they say enough.
    async fn preview(&mut self, db: &mut PgConnection) -> Result<()> {
        if self.columns().lack().is_none() {
            let zone = telemetry::unnamed_zone(db, telemetry::Format::PlainCsv).await?;
            let (read, problem) = first_rows(&self.start, self.columns(), zone);
            if read.is_empty() {
                self.problem = self.problem.take().or(problem);
            } else {
                self.rejected = problem;
            }
            self.read = read;
        }
        Ok(())
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
        self.find_problem_of_columns().or_else(|| {
            let nameless = "Enter a name for these columns, such as that of the tool.";
            self.name.is_empty().then(|| nameless.to_owned())
        })
    }

    fn find_problem_of_columns(&self) -> Option<String> {
        let twice =
            UsageColumn::ALL.iter().find(|column| self.uses.values().filter(|it| it == column).count() > 1);
        if let Some(column) = twice {
            return Some(format!("Two columns are “{}”. Choose one.", column.label()));
        }
        self.columns().lack().map(str::to_owned)
    }

    fn title_of_problem(&self) -> &'static str {
        if self.is_sent { "Nothing was saved" } else { "These columns cannot be read" }
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
    let Reading { layout, app, mut db, .. } = reading;
    let sample = waiting(&app, path.sample)?;
    let mut page = Page::of(layout, path, &sample)?;
    page.preview(&mut db).await?;
    respond::html(page)
}

/// Saves what the columns are, and imports the file; or shows its first rows by them.
pub async fn save(path: paths::NewUsageMapping, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let sample = waiting(&app, path.sample)?;
    let mut db = app.db.acquire().await?;
    let mut page = Page::of(layout, path, &sample)?;
    page.is_sent = true;
    page.fill(&pairs);
    let is_asked = pairs.iter().any(|(name, value)| name == "do" && value == "preview");
    page.problem = if is_asked { page.find_problem_of_columns() } else { page.find_problem() };
    page.preview(&mut db).await?;
    if page.problem.is_some() {
        return respond::refused(page);
    }
    if is_asked {
        return respond::html(page);
    }
    telemetry::save_usage_mapping(&mut db, &page.name, &page.columns(), by.at(now)).await?;
    let mut arriving = app.inbox.open(Uuid::new_v4())?;
    arriving.take(&sample.name, &sample.path)?;
    let batch = arriving.batch_id;
    arriving.enqueue(&mut db, by.at(now)).await?;
    app.notifier.notify();
    let said = format!("Saved: files with the columns of {} are read by them.", page.name);
    Ok(respond::flash(paths::Batch { batch }, &said))
}

/// What is looked at of a file: no row that would be cut.
fn start_of(sample: &Sample) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    if let Ok(billing::Content::Text(text)) = billing::unpack(File::open(&sample.path)?) {
        text.take(START).read_to_end(&mut start)?;
    }
    if start.len() as u64 == START {
        start.truncate(start_of_last_row(&start));
    }
    Ok(start)
}

/// Where the last row begins, which may be cut; a line break within quotes ends none. The length where there is but one.
fn start_of_last_row(start: &[u8]) -> usize {
    let rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(start);
    let last = rows.into_byte_records().map_while(Result::ok).last();
    let begins = last.and_then(|row| usize::try_from(row.position()?.byte()).ok());
    begins.filter(|at| *at > 0).unwrap_or(start.len())
}

/// The first rows of a file by these columns; and what is wrong with another, or why there are none.
fn first_rows(start: &[u8], columns: ColumnNames, zone: Tz) -> (Vec<Row>, Option<String>) {
    let (mut rows, mut first) = (Vec::new(), None);
    let mut each = |item: Item| match item {
        Item::Metered(it) if rows.len() < SHOWN => rows.push(Row::of(&it)),
        Item::Rejected(it) => {
            first.get_or_insert(format!(
                "Row {}, {}: found “{}”, expected {}.",
                it.row, it.column, it.found, it.expected
            ));
        }
        _ => {}
    };
    let problem = match plain_csv::read(start, zone, &[columns], &mut each) {
        Err(refusal) => Some(format!("The file has {}.", refusal.found)),
        Ok(()) if rows.is_empty() => Some(first.unwrap_or_else(|| "The file has no rows.".to_owned())),
        Ok(()) => first,
    };
    (rows, problem)
}

impl Row {
    fn of(metered: &Metered) -> Self {
        let (mut held, mut measured, mut busy) = (0_i128, 0_i128, 0_i128);
        for day in metered.days.values() {
            for hour in 0..HOURS {
                let (of_hour, busy_in_hour) = day.busy(hour);
                held += i128::from(day.present[hour]);
                measured += i128::from(of_hour);
                busy += i128::from(busy_in_hour);
            }
        }
        let (from, to) = metered.seen.unzip();
        let time = |at: Option<i64>| at.and_then(DateTime::from_timestamp_millis);
        let holder = metered.holder.clone().unwrap_or_default();
        Self {
            node: metered.device.node.clone(),
            from: time(from),
            to: time(to),
            accelerator_hours: hours_of(held),
            holder: [holder.name, holder.namespace, holder.user, holder.account],
            utilization: Decimal::new(busy, 0).divide(Decimal::new(measured, 0), 4),
        }
    }
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
