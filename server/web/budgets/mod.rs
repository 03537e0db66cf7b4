//! `/budgets`: what each team, project and cost centre may spend, and how they stand.

pub(super) mod budget;
mod form;

use askama::Template;
use chrono::NaiveDate;
use sqlx::PgConnection;

use form::{BudgetForm, Done};

use super::allocation::reason;
use super::csv;
use super::error::Result;
use super::extract::{Form, Reading, Writing};
use super::form::Fields;
use super::format::Format;
use super::layout::Layout;
use super::question::Asked;
use super::{Access, filters, paths, respond};
use crate::accounts::Viewer;
use crate::allocation::{BudgetOf, Entry};
use crate::changes::{self, About, Problem};
use crate::exchange;
use crate::money::Currency;
use crate::period::{BillingMonth, Period};
use crate::report::{Answers, BudgetLine, BudgetState, Budgets, Grouping, WARNING};

const NOTHING: &str = "Nothing changed: the budget is the same.";

#[derive(Template)]
#[template(path = "budgets/index.html")]
struct Page {
    layout: Layout,
    it: Budgets,
    /// Who can have one: what the form says and what people read.
    owners: Vec<(String, String)>,
    fields: Fields,
    problems: Vec<Problem>,
    /// The viewer is of teams.
    is_of_teams: bool,
}

impl Page {
    async fn find(
        layout: Layout,
        db: &mut PgConnection,
        answers: &Answers,
        viewer: &Viewer,
        fields: Option<Fields>,
        today: NaiveDate,
    ) -> Result<Self> {
        let it = answers.budgets(db, viewer).await?;
        let configuration = answers.configuration(db, it.sequence).await?;
        let owners = form::owners(&configuration).into_iter();
        let owners = owners.map(|(of, name)| (form::name(&of), format!("{name} ({})", form::kind(&of))));
        let fields = if let Some(fields) = fields {
            fields
        } else {
            let first = it.month.unwrap_or_else(|| BillingMonth::of(today));
            form::empty(exchange::reporting_currency(db).await?.as_ref(), first)
        };
        Ok(Self {
            layout,
            it,
            owners: owners.collect(),
            fields,
            problems: Vec::new(),
            is_of_teams: *viewer != Viewer::Everything,
        })
    }

    fn may_write(&self) -> bool {
        self.layout.may(Access::Finance)
    }

    /// Amounts of different currencies stand in tables of their own.
    fn currencies(&self) -> Vec<&Currency> {
        let mut currencies: Vec<_> = self.it.budgets.iter().map(|line| &line.amount.currency).collect();
        currencies.sort_unstable();
        currencies.dedup();
        currencies
    }

    fn lines_in<'a>(&'a self, currency: &'a Currency) -> impl Iterator<Item = &'a BudgetLine> {
        self.it.budgets.iter().filter(move |line| line.amount.currency == *currency)
    }
}

pub async fn index(_: paths::Budgets, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, person, app, mut db, .. } = reading;
    let viewer = person.viewer();
    match format {
        Format::Html => {
            respond::html(Page::find(layout, &mut db, &app.answers, &viewer, None, now.date_naive()).await?)
        }
        Format::Json => respond::json(&app.answers.budgets(&mut db, &viewer).await?),
        Format::Csv => csv::answer("budgets", &app.answers.budgets(&mut db, &viewer).await?.budgets),
    }
}

pub async fn add(_: paths::Budgets, writing: Writing, Form(form): Form<BudgetForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let mut fields = form.fields();
    let sequence = crate::ledger::sequence(&mut db).await?;
    let configuration = app.answers.configuration(&mut db, sequence).await?;
    let mut problems = Vec::new();
    if let Some(budget) = form.read(&configuration, &mut fields) {
        form::check_currency(&app.answers, &mut db, &budget, &mut fields).await?;
        if !fields.is_refused() {
            let words = form::in_words(&configuration, &budget);
            let edits = changes::additions(&mut db, vec![Entry::Budget(budget)]).await?;
            let about = About { summary: &format!("New {words}"), reason: reason(&form.reason) };
            match form::write(&mut db, edits, about, by.at(now)).await? {
                Done::Written(change) => {
                    return Ok(respond::flash_undo(paths::Budgets, &format!("Added: {words}."), change));
                }
                Done::Nothing => return Ok(respond::flash(paths::Budgets, NOTHING)),
                Done::Refused(found) => problems = found,
            }
        }
    }
    let page = Page::find(layout, &mut db, &app.answers, &Viewer::Everything, Some(fields), now.date_naive())
        .await?;
    respond::refused(Page { problems, ..page })
}

impl BudgetLine {
    pub fn href(&self) -> String {
        paths::Budget { budget: self.id }.to_string()
    }

    /// What was spent in a period, in a currency: the page of the team, else spend.
    pub fn charges_in(&self, period: &Period, currency: &Currency) -> String {
        let asked = Asked { convert_into: Some(currency.clone()), ..Asked::default() };
        let period = *period;
        let (dimension, handle) = match &self.of {
            BudgetOf::Team(team) => return asked.link(paths::Team { team: team.clone(), period }),
            BudgetOf::Project(handle) => (Grouping::Project, handle),
            BudgetOf::CostCentre(handle) => (Grouping::CostCentre, handle),
        };
        asked.only(&dimension, Some(handle)).link(paths::Spend { period })
    }

    pub fn kind(&self) -> &'static str {
        form::kind(&self.of)
    }

    /// How it stands: words and their looks.
    pub fn states(&self) -> Vec<(String, &'static str)> {
        let Some(it) = &self.current else { return vec![("Not begun".to_owned(), "")] };
        let mut states = Vec::new();
        if it.has_ended {
            states.push(("Ended".to_owned(), ""));
        }
        states.push(match it.threshold {
            Some(percent) if percent > 100 => (format!("Reached {percent}%"), "bad"),
            _ if it.is_over_budget => ("Above 100%".to_owned(), "bad"),
            Some(percent) => (format!("Reached {percent}%"), if percent < WARNING { "good" } else { "wait" }),
            None => match self.thresholds.first() {
                Some(lowest) => (format!("Below {lowest}%"), "good"),
                None => ("Within budget".to_owned(), "good"),
            },
        });
        if it.is_forecast_over_budget && !it.is_over_budget {
            states.push(("Forecast above 100%".to_owned(), "bad"));
        }
        states
    }

    /// The same as one text, for files.
    pub fn state(&self) -> String {
        let words: Vec<String> =
            self.states().into_iter().map(|(word, _)| word.to_lowercase().replace('%', " %")).collect();
        words.join(", ")
    }
}

impl BudgetState {
    /// What is left of the budget.
    pub fn left(&self, line: &BudgetLine) -> crate::money::Decimal {
        line.amount.amount - self.spent
    }
}

csv::record! {
    |it: BudgetLine|
    "budget" => it.id,
    "kind" => form::kind_in_files(&it.of),
    "owner" => &it.name,
    "every" => it.every.as_str(),
    "first" => it.first,
    "last" => it.last,
    "amount" => it.amount.amount,
    "currency" => &it.amount.currency,
    "period" => it.current.as_ref().map(|now| now.period.to_string()),
    "spent" => it.current.as_ref().map(|now| now.spent),
    "reached" => it.current.as_ref().map(|now| now.reached),
    "stated_until" => it.current.as_ref().and_then(|now| now.stated_until),
    "forecast" => it.current.as_ref().and_then(|now| now.forecast).map(|forecast| forecast.expected),
    "forecast_low" => it.current.as_ref().and_then(|now| now.forecast).map(|forecast| forecast.low),
    "forecast_high" => it.current.as_ref().and_then(|now| now.forecast).map(|forecast| forecast.high),
    "state" => it.state(),
}
