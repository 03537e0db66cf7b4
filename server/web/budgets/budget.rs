//! `/budgets/7`: one budget, day by day and period by period; changed, ended and removed.

use std::sync::Arc;

use askama::Template;
use chrono::Datelike as _;
use serde::Deserialize;
use sqlx::PgConnection;

use super::super::format::Format;
use super::NOTHING;
use super::form::{self, BudgetForm, Done};
use crate::accounts::Viewer;
use crate::allocation::{Budget, Configuration, Edit, Entry, Months};
use crate::audit::Act;
use crate::changes::{About, Problem};
use crate::chart::{self, Bucket, BurnUp, BurnUpAmount, BurnUpDay};
use crate::ledger;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::{Answers, BudgetDay, BudgetPage};
use crate::web::allocation::reason;
use crate::web::csv;
use crate::web::error::{Error, Result};
use crate::web::extract::{Form, Reading, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{Access, filters, paths, respond};

#[derive(Template)]
#[template(path = "budgets/show.html")]
struct Page {
    layout: Layout,
    it: BudgetPage,
    chart: Option<BurnUp>,
    fields: Fields,
    problems: Vec<Problem>,
}

pub async fn show(path: paths::Budget, format: Format, reading: Reading) -> Result {
    let Reading { layout, person, app, mut db, .. } = reading;
    let id = path.budget;
    let it = app.answers.budget(&mut db, &person.viewer(), id).await?.ok_or(Error::NotFound)?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => csv::answer(&format!("budget-{id}"), &it.days),
        Format::Html => {
            let (_, budget) = found(&app.answers, &mut db, id).await?;
            respond::html(Page::of(layout, it, form::filled(&budget), Vec::new()))
        }
    }
}

pub async fn change(path: paths::Budget, writing: Writing, Form(form): Form<BudgetForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let id = path.budget;
    let (configuration, before) = found(&app.answers, &mut db, id).await?;
    let mut fields = form.fields();
    let mut problems = Vec::new();
    if let Some(after) = form.read_of(before.of.clone(), &mut fields) {
        form::check_currency(&app.answers, &mut db, &after, &mut fields).await?;
        if !fields.is_refused() {
            let words = form::in_words(&configuration, &after);
            let about = About { summary: &format!("Changed {words}"), reason: reason(&form.reason) };
            match write(&mut db, id, before, Some(after), about, by.at(now)).await? {
                Done::Written(change) => {
                    return Ok(respond::flash_undo(at(id), &format!("Changed: {words}."), change));
                }
                Done::Nothing => return Ok(respond::flash(at(id), NOTHING)),
                Done::Refused(found) => problems = found,
            }
        }
    }
    let it = app.answers.budget(&mut db, &Viewer::Everything, id).await?.ok_or(Error::NotFound)?;
    respond::refused(Page::of(layout, it, fields, problems))
}

#[derive(Deserialize)]
pub struct EndForm {
    until: String,
    #[serde(default)]
    reason: String,
}

/// Ends a budget with a month; the periods that begin later have none.
pub async fn end(path: paths::BudgetEnd, writing: Writing, Form(form): Form<EndForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let id = path.budget;
    let (configuration, before) = found(&app.answers, &mut db, id).await?;
    let mut fields = form::filled(&before);
    let mut problems = Vec::new();
    let until = form.until.trim().parse::<BillingMonth>().map_err(|_| "Enter a month such as 2026-09.");
    let until = until.and_then(|until| {
        let is_before = before.months.first.is_some_and(|first| until < first);
        if is_before { Err("This is before the first month. Remove the budget instead.") } else { Ok(until) }
    });
    if let Some(until) = fields.check("until", until) {
        let after = Budget { months: Months { last: Some(until), ..before.months }, ..before.clone() };
        let words = form::in_words(&configuration, &after);
        let about = About { summary: &format!("Ended {words}"), reason: reason(&form.reason) };
        match write(&mut db, id, before, Some(after), about, by.at(now)).await? {
            Done::Written(change) => {
                return Ok(respond::flash_undo(at(id), &format!("Ended: {words}."), change));
            }
            Done::Nothing => return Ok(respond::flash(at(id), NOTHING)),
            Done::Refused(found) => problems = found,
        }
    }
    let it = app.answers.budget(&mut db, &Viewer::Everything, id).await?.ok_or(Error::NotFound)?;
    respond::refused(Page::of(layout, it, fields, problems))
}

pub async fn remove(path: paths::BudgetRemove, writing: Writing) -> Result {
    let Writing { now, by, app, mut db, .. } = writing;
    let id = path.budget;
    let (configuration, before) = found(&app.answers, &mut db, id).await?;
    let words = form::in_words(&configuration, &before);
    let sentence = match write(&mut db, id, before, None, &format!("Removed {words}"), by.at(now)).await? {
        Done::Written(change) => {
            return Ok(respond::flash_undo(paths::Budgets, &format!("Removed: {words}."), change));
        }
        Done::Nothing => NOTHING.to_owned(),
        Done::Refused(problems) => {
            let first = problems.into_iter().next().map(|it| it.message).unwrap_or_default();
            format!("Nothing changed: {first}.")
        }
    };
    Ok(respond::flash(paths::Budgets, &sentence))
}

/// The configuration as it stands, and the budget of this number.
async fn found(answers: &Answers, db: &mut PgConnection, id: i64) -> Result<(Arc<Configuration>, Budget)> {
    let sequence = ledger::sequence(db).await?;
    let configuration = answers.configuration(db, sequence).await?;
    match configuration.entries.get(&id) {
        Some(Entry::Budget(budget)) => {
            let budget = budget.clone();
            Ok((configuration, budget))
        }
        _ => Err(Error::NotFound),
    }
}

async fn write(
    db: &mut PgConnection,
    id: i64,
    before: Budget,
    after: Option<Budget>,
    about: impl Into<About<'_>>,
    act: Act<'_>,
) -> sqlx::Result<Done> {
    let edit = Edit { id, before: Some(Entry::Budget(before)), after: after.map(Entry::Budget) };
    form::write(db, vec![edit], about, act).await
}

fn at(id: i64) -> paths::Budget {
    paths::Budget { budget: id }
}

impl Page {
    fn of(layout: Layout, it: BudgetPage, fields: Fields, problems: Vec<Problem>) -> Self {
        let chart = burn_up(&it);
        Self { layout, it, chart, fields, problems }
    }

    fn may_write(&self) -> bool {
        self.layout.may(Access::Finance)
    }

    fn here(&self) -> String {
        self.it.line.href()
    }

    fn end(&self) -> String {
        paths::BudgetEnd { budget: self.it.line.id }.to_string()
    }

    fn remove(&self) -> String {
        paths::BudgetRemove { budget: self.it.line.id }.to_string()
    }
}

fn burn_up(it: &BudgetPage) -> Option<BurnUp> {
    let current = it.line.current.as_ref()?;
    let has_months = !current.period.is_one_month();
    let day = |day: &BudgetDay| {
        let (label, names_year) = match day.day.day() {
            1 if has_months => {
                let ends = (current.period.first(), current.period.last());
                chart::month_label(BillingMonth::of(day.day), ends)
            }
            _ if has_months => (String::new(), false),
            number => (number.to_string(), false),
        };
        let name = day.day.format("%b %-d, %Y").to_string();
        let amount = match (day.so_far, day.forecast) {
            (_, Some(it)) => BurnUpAmount::Expected { low: it.low, expected: it.expected, high: it.high },
            (so_far, None) => BurnUpAmount::Spent(so_far.unwrap_or_default()),
        };
        BurnUpDay { day: Bucket { label, name, is_apart: false, names_year }, amount }
    };
    Some(BurnUp {
        title: format!("Cumulative effective cost in {} and budget", current.period.name()),
        description: "Spend to the end of each day; the table below has the same figures.".to_owned(),
        unit: it.line.amount.currency.to_string(),
        limit: it.line.amount.amount,
        days: it.days.iter().map(day).collect(),
        format: |amount: Decimal| filters::figure(amount, 2),
    })
}

csv::record! {
    |it: BudgetDay|
    "day" => it.day,
    "spent" => it.spent,
    "so_far" => it.so_far,
    "forecast" => it.forecast.map(|forecast| forecast.expected),
    "forecast_low" => it.forecast.map(|forecast| forecast.low),
    "forecast_high" => it.forecast.map(|forecast| forecast.high),
}
