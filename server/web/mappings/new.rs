//! `/mappings/files/{sample}`: what each column of a file is, what the file becomes by that, and then saving it.
//!
//! What is filled in stands in the address until it is saved, so that it can be sent to somebody.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use askama::Template;
use sqlx::PgConnection;
use uuid::Uuid;

use super::filled::{self, Filled, MOST_RULES, TEXTS};
use crate::accelerator::Catalog;
use crate::billing::mapping::{
    self, DateForm, Decimals, Draft, Lack, LastDay, LeaveOut, Length, MonthOfPreview, Preview, Said, Sample,
    Separator, States, Suggestion, Use,
};
use crate::billing::{self, Charge, ChargeCategory, Refusal};
use crate::compute;
use crate::jobs;
use crate::ledger::{self, SavedMapping};
use crate::web::error::{Error, Result};
use crate::web::extract::{Form, Pairs, Reading, Sending};
use crate::web::layout::Layout;
use crate::web::{App, filters, paths, respond};

/// Rows of the file that are shown.
const SHOWN: usize = 5;
/// Words of the column of categories that are asked about.
const MOST_WORDS: usize = 20;

#[derive(Template)]
#[template(path = "mappings/new.html")]
struct Page {
    layout: Layout,
    path: paths::NewMapping,
    file: String,
    sample: Sample,
    draft: Draft,
    suggestion: Suggestion,
    /// The mapping whose columns the file mostly has.
    from: Option<String>,
    /// Words of the column of categories.
    words: BTreeSet<String>,
    outcome: Outcome,
    /// The fields of the form that saves it.
    hidden: Pairs,
    name_problem: Option<String>,
}

/// A column of the file, as the page asks about it.
struct Column<'a> {
    at: usize,
    name: String,
    values: Vec<&'a str>,
    uses: Vec<(&'static str, &'static str, bool)>,
}

/// What the file becomes by what is filled in.
enum Outcome {
    Lacks(Vec<Lack>),
    Refused(Refusal),
    Read(Box<Preview>),
}

pub async fn show(path: paths::NewMapping, reading: Reading<Pairs>) -> Result {
    let Reading { layout, query, app, mut db, .. } = reading;
    let file = waiting(&app, path.sample)?;
    let known = Known::find(&mut db).await?;
    drop(db);
    respond::html(Page::find(layout, path, file, query, known).await?)
}

/// Saves what is filled in, and imports the file by it where that is wanted.
pub async fn save(path: paths::NewMapping, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let file = waiting(&app, path.sample)?;
    let mut db = app.db.acquire().await?;
    let known = Known::find(&mut db).await?;
    let then = |wanted: &str| pairs.iter().any(|(name, value)| name == "then" && value == wanted);
    let is_reviewed = then("review");
    let imports = is_reviewed || then("import");
    let mut page = Page::find(layout, path, file.clone(), pairs, known).await?;
    if page.name_problem.is_some() {
        return respond::refused(page);
    }
    let mapping = match page.draft.mapping() {
        Ok(mapping) => mapping,
        Err(lacks) => {
            let of_name = lacks.into_iter().find(|lack| lack.about.is_none());
            page.name_problem = of_name.map(|lack| lack.sentence);
            return respond::refused(page);
        }
    };
    let saved = ledger::save_mapping(&mut db, &mapping, by.at(now)).await?;
    let said = match saved {
        Some(version) => format!("Saved: mapping {}, version {version}.", mapping.name),
        None => format!("Mapping {} is as it was.", mapping.name),
    };
    if !imports {
        return Ok(respond::flash(paths::Mapping { mapping: mapping.name }, &said));
    }
    let mut arriving = app.inbox.open(Uuid::new_v4())?;
    arriving.take(&file.name, &file.path)?;
    // What was looked at is what is imported, whatever other mapping has the same columns.
    let reads = saved.map_or_else(|| mapping.name.clone(), |version| format!("{}@{version}", mapping.name));
    let mut arriving = arriving.mapped_by(reads);
    if is_reviewed {
        arriving.review_first();
    }
    let batch = arriving.batch_id;
    arriving.enqueue(&mut db, by.at(now)).await?;
    app.notifier.notify();
    Ok(respond::flash(paths::Batch { batch }, &said))
}

pub(super) fn waiting(app: &App, id: Uuid) -> Result<jobs::Sample> {
    app.samples.find(id)?.ok_or_else(|| {
        Error::NoSuchPage(
            "This file is not here any more: it was imported, or waited for a day. Choose it again."
                .to_owned(),
        )
    })
}

/// What a file is compared with.
struct Known {
    mappings: Vec<SavedMapping>,
    catalog: Arc<Catalog>,
}

impl Known {
    async fn find(db: &mut PgConnection) -> Result<Self> {
        Ok(Self { mappings: ledger::mappings(db).await?, catalog: ledger::catalog(db).await? })
    }

    /// The mapping that has most of the columns of a file.
    fn nearest(&self, sample: &Sample) -> Option<&SavedMapping> {
        self.mappings.iter().filter(|it| is_near(it, sample)).max_by_key(|it| shared(it, sample))
    }
}

/// How many columns of a mapping a file has.
fn shared(saved: &SavedMapping, sample: &Sample) -> usize {
    saved.mapping.file.columns.iter().filter(|name| sample.names.contains(name)).count()
}

/// Whether a file has most columns of a mapping.
fn is_near(saved: &SavedMapping, sample: &Sample) -> bool {
    shared(saved, sample) * 2 > saved.mapping.file.columns.len()
}

impl Page {
    async fn find(
        layout: Layout,
        path: paths::NewMapping,
        file: jobs::Sample,
        pairs: Pairs,
        known: Known,
    ) -> Result<Self> {
        compute::compute(move || Self::make(layout, path, &file, &pairs, &known)).await?
    }

    fn make(
        layout: Layout,
        path: paths::NewMapping,
        file: &jobs::Sample,
        pairs: &Pairs,
        known: &Known,
    ) -> Result<Self> {
        let filled = Filled::new(pairs);
        let sample = read(&file.path, &filled.said())
            .map_err(|it| Error::BadRequest(it.of(&file.name).to_string()))?;
        let suggestion = mapping::suggest(&sample);
        let is_filled = filled.is_for(&sample);
        let from = known.nearest(&sample).filter(|_| !is_filled);
        let draft = match from {
            Some(saved) => filled::adapted(&saved.mapping, &sample),
            None if is_filled => filled.draft(&sample),
            None => Draft { name: filled.name(), ..filled::suggested(&sample, &suggestion) },
        };
        let outcome = Outcome::of(&draft, &file.path, &known.catalog)?;
        let words = words(&sample, &draft, &outcome);
        let from = from.map(|saved| saved.mapping.name.clone());
        let is_taken = known.mappings.iter().any(|it| it.mapping.name == draft.name && !is_near(it, &sample));
        let name_problem = if super::is_built_in(&draft.name) {
            Some(super::built_in_name(&draft.name))
        } else {
            is_taken.then(|| {
                format!("The mapping {} reads files with other columns. Enter another name.", draft.name)
            })
        };
        let hidden = filled::pairs(&sample, &draft);
        Ok(Self {
            layout,
            path,
            file: file.name.clone(),
            sample,
            draft,
            suggestion,
            from,
            words,
            outcome,
            hidden,
            name_problem,
        })
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let columns = self.sample.names.iter().enumerate().map(|(at, name)| Column {
            at,
            name: if name.is_empty() { format!("column {}", at + 1) } else { name.clone() },
            values: self.values(at),
            uses: self.uses(at),
        });
        columns.collect()
    }

    fn uses(&self, at: usize) -> Vec<(&'static str, &'static str, bool)> {
        let chosen = self.draft.uses.get(at).copied().flatten();
        let none = ("", "not used", chosen.is_none());
        let uses = Use::ALL.into_iter().map(|it| (it.as_str(), it.label(), chosen == Some(it)));
        std::iter::once(none).chain(uses).collect()
    }

    /// The first values of a column, each once.
    fn values(&self, at: usize) -> Vec<&str> {
        let mut values: Vec<&str> = Vec::new();
        for value in self.sample.rows.iter().filter_map(|row| row.get(at)) {
            if !value.trim().is_empty() && !values.contains(&value.as_str()) && values.len() < 3 {
                values.push(value);
            }
        }
        values
    }

    fn first_rows(&self) -> &[Vec<String>] {
        &self.sample.rows[..self.sample.rows.len().min(SHOWN)]
    }

    /// Name, label, hint and value of each text that no column holds.
    fn texts(&self) -> Vec<(&'static str, &'static str, &'static str, &str)> {
        let open = TEXTS.iter().filter(|(of, ..)| self.draft.column(*of).is_none());
        open.map(|(of, label, hint)| {
            (of.as_str(), *label, *hint, self.draft.texts.get(of).map_or("", String::as_str))
        })
        .collect()
    }

    fn has(&self, of: &str) -> bool {
        Use::parse(of).is_some_and(|of| self.draft.column(of).is_some())
    }

    fn separators(&self) -> Vec<(&'static str, &'static str, bool)> {
        let choice = |it: Separator| (it.name(), it.label(), it == self.sample.separator);
        Separator::ALL.map(choice).to_vec()
    }

    fn categories(&self, word: &str) -> Vec<(&'static str, &'static str, bool)> {
        let stated = self.draft.category_words.get(word).map(String::as_str);
        // Words of FOCUS need not be stated.
        let chosen = stated.or_else(|| ChargeCategory::parse(word).map(ChargeCategory::as_str)).unwrap_or("");
        let categories = ChargeCategory::ALL.map(|it| (it.as_str(), it.as_str(), it.as_str() == chosen));
        std::iter::once(("", "choose one", chosen.is_empty())).chain(categories).collect()
    }

    /// The rules by which rows are left out, and an empty one.
    fn rules(&self) -> Vec<LeaveOut> {
        let empty = LeaveOut { column: String::new(), is: String::new(), is_total: false };
        let rules = self.draft.leave_out.iter().cloned();
        rules.chain([empty]).take(MOST_RULES).collect()
    }

    fn columns_of(&self, rule: &LeaveOut) -> Vec<(String, String, bool)> {
        let none = (String::new(), "no rule".to_owned(), rule.column.is_empty());
        let names = self.sample.names.iter().map(|name| (name.clone(), name.clone(), *name == rule.column));
        std::iter::once(none).chain(names).collect()
    }

    fn decimals(&self) -> Vec<(&'static str, &'static str, bool)> {
        let is_comma = self.draft.decimal == Decimals::Comma;
        vec![("point", "point: 1,234.50", !is_comma), ("comma", "comma: 1.234,50", is_comma)]
    }

    fn dates(&self) -> Vec<(&'static str, &'static str, bool)> {
        vec![
            ("", "as the file proves", self.draft.dates.is_none()),
            ("day-first", "day first", self.draft.dates == Some(DateForm::DayFirst)),
            ("month-first", "month first", self.draft.dates == Some(DateForm::MonthFirst)),
        ]
    }

    fn ends(&self) -> Vec<(&'static str, &'static str, bool)> {
        let is_included = self.draft.end_is == LastDay::Included;
        vec![("included", "the last day", is_included), ("excluded", "the day after", !is_included)]
    }

    fn lengths(&self) -> Vec<(&'static str, &'static str, bool)> {
        [
            ("hour", "an hour", Length::Hour),
            ("day", "a day", Length::Day),
            ("week", "a week", Length::Week),
            ("month", "a month", Length::Month),
        ]
        .map(|(name, label, length)| (name, label, length == self.draft.length))
        .to_vec()
    }

    fn states(&self) -> Vec<(&'static str, &'static str, bool)> {
        let is_part = self.draft.states == States::Part;
        vec![
            ("month", "a whole month: the next file of the month replaces it", !is_part),
            ("part", "a part of a month, as a week: files add up", is_part),
        ]
    }

    fn sheets(&self) -> Vec<(&str, &str, bool)> {
        let sheets = self.sample.sheets.iter().map(String::as_str);
        sheets.map(|name| (name, name, self.sample.sheet.as_deref() == Some(name))).collect()
    }

    fn shape(&self) -> String {
        filled::shape(&self.sample)
    }
}

impl Outcome {
    fn of(draft: &Draft, path: &Path, catalog: &Catalog) -> Result<Self> {
        // Its name is asked for when it is saved.
        let named = if draft.name.is_empty() {
            Draft { name: "file".to_owned(), ..draft.clone() }
        } else {
            draft.clone()
        };
        let mapping = match named.mapping() {
            Ok(mapping) => mapping,
            Err(lacks) => return Ok(Self::Lacks(lacks)),
        };
        let file = File::open(path)?;
        Ok(match mapping::preview(Box::new(file), &mapping, catalog) {
            Ok(preview) => Self::Read(Box::new(preview)),
            Err(refusal) => Self::Refused(refusal),
        })
    }
}

/// What all months sum to, by currency.
fn totals(preview: &Preview) -> BTreeMap<&str, MonthOfPreview> {
    let mut totals: BTreeMap<&str, MonthOfPreview> = BTreeMap::new();
    for ((_, currency), month) in &preview.months {
        let total = totals.entry(currency).or_default();
        total.charges += month.charges;
        total.billed_cost += month.billed_cost;
        total.accelerator_hours += month.accelerator_hours;
        for (unit, quantity) in &month.without_cost {
            *total.without_cost.entry(unit.clone()).or_default() += *quantity;
        }
    }
    totals
}

/// What a charge is for, in a few words.
fn what(charge: &Charge) -> String {
    let key = &charge.key;
    let words = [&key.service, &key.meter, &key.instance_type, &key.sku];
    let mut said: Vec<&str> = Vec::new();
    for word in words.into_iter().map(String::as_str).filter(|word| !word.is_empty()) {
        if !said.contains(&word) {
            said.push(word);
        }
    }
    said.join(" · ")
}

/// The words of the column of categories: of the file as far as it was read, and those that are stated and that it lacks this time.
fn words(sample: &Sample, draft: &Draft, outcome: &Outcome) -> BTreeSet<String> {
    let Some(at) = draft.uses.iter().position(|it| *it == Some(Use::Category)) else {
        return BTreeSet::new();
    };
    let cells = sample.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.trim());
    let cells = cells.filter(|cell| !cell.is_empty()).map(str::to_owned).take(MOST_WORDS * 10);
    let read = if let Outcome::Read(preview) = outcome { Some(&preview.words) } else { None };
    cells.chain(read.into_iter().flatten().cloned()).chain(draft.category_words.keys().cloned()).collect()
}

fn read(path: &Path, said: &Said) -> Result<Sample, Refusal> {
    let path = path.to_owned();
    let open = move || {
        let file =
            File::open(&path).map_err(|error| Refusal::new(error.to_string(), "a file that can be read"))?;
        billing::unpack(file)
    };
    mapping::sample(&open, said)
}
