//! `/spend/2026-09`: what was spent in a period, in groups, over time, against the period before.

pub(super) mod chart;
mod file;
mod table;

use askama::Template;
use chrono::NaiveDate;
use sqlx::PgConnection;

use super::choices::{self, Choices};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::{Access, Error, default_month, filters, paths, respond};
use crate::billing::usage_tags;
use crate::chart::Stack;
use crate::compute;
use crate::money::{Currency, Money};
use crate::period::{BillingMonth, Period};
use crate::report::{
    Answers, Completeness, DataStatus, Group, Grouping, Question, Series, Spend, Step, TokenCost, TokenTable,
};

/// Groups with a color of their own in the chart.
const COLORED: usize = 7;
/// Groups within a group on the page; a file has them all.
const INSIDE: usize = 5;
/// Kinds of tokens on the page; their own page has them all.
const SHOWN_TOKENS: usize = 8;
/// Tags offered as groupings, beside those that say who used a machine.
pub(super) const TAGS: usize = 12;
/// Months whose days still fit into a chart.
const MONTHS_OF_DAYS: u32 = 4;

#[derive(Template)]
#[template(path = "spend.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    spend: Spend,
    chart: Stack,
    tags: Vec<String>,
    completeness: Vec<Completeness>,
    tokens: Vec<TokenCost>,
}

pub async fn show(path: paths::Spend, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read(pairs)?;
    let mut question = asked.question(period, person.viewer());
    question.hides_payers = !person.may_see_billing_accounts();
    match format {
        Format::Json => {
            let spend = app.answers.priced_spend(&mut db, &question).await?;
            drop(db);
            compute::over(spend.lines(), move || respond::json(&spend)).await?
        }
        Format::Csv => {
            let spend = app.answers.priced_spend(&mut db, &question).await?;
            drop(db);
            let name = format!("spend-{period}-by-{}", asked.by);
            compute::over(spend.lines(), move || file::csv(&name, &spend)).await?
        }
        Format::Html if asked.is_form => Ok(respond::see_other(asked.link(paths::Spend { period }))),
        Format::Html => {
            question.limit_inside = Some(question.limit.unwrap_or(INSIDE));
            question.is_of_first = table::is_of_first(&asked);
            let Found { spend, step, series, tags, completeness, tokens } =
                find(&mut db, &app.answers, &question, asked.over).await?;
            let address = |asked: &Asked, period| asked.link(paths::Spend { period });
            let choices = Choices::find(&mut db, asked, period, &DataStatus::from(&spend), address).await?;
            let completeness = choices::completeness_for(&person, completeness);
            let chart = chart::stack(&spend, step, series);
            drop(db);
            let lines = spend.lines();
            let page = Page { layout, period, choices, spend, chart, tags, completeness, tokens };
            compute::over(lines, move || respond::html(page)).await?
        }
    }
}

/// What the page of a question is made of.
pub(super) struct Found {
    pub spend: Spend,
    step: Step,
    series: Series,
    /// The tags that one may group by: those that say who used a machine, then the most used others.
    pub tags: Vec<String>,
    completeness: Vec<Completeness>,
    tokens: Vec<TokenCost>,
}

pub(super) async fn find(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    over: Option<Step>,
) -> Result<Found, Error> {
    let spend = answers.priced_spend(&mut *db, question).await?;
    let step = over.unwrap_or_else(|| usual_step(question.period));
    let by = if spend.is_charted_by_group() { question.by.clone() } else { Grouping::Month };
    let charted = Question { by, ..question.clone() };
    let series = answers.over_time(&mut *db, &charted, step, &spend, COLORED).await?;
    let (period, viewer) = (question.period, &question.viewer);
    let tags = answers.tag_names(&mut *db, period, viewer, spend.sequence, TAGS).await?;
    let completeness = answers.completeness(&mut *db, period, viewer, spend.sequence).await?;
    let tokens = answers.token_costs(&mut *db, question, &spend).await?;
    Ok(Found { spend, step, series, tags, completeness, tokens })
}

/// `/spend?from=2026-01&to=2026-09`: where the form of a period leads. `/spend` is the latest month.
pub async fn during(_: paths::AnyPeriod, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: pairs, app, mut db, .. } = reading;
    if !pairs.iter().any(|(name, _)| matches!(name.as_str(), "from" | "to")) {
        let asked = Asked::read(pairs)?;
        let Some((month, asked)) =
            default_month::latest(&mut db, &app.answers, asked, &person.viewer()).await?
        else {
            return Ok(respond::see_other(paths::Overview));
        };
        return Ok(respond::see_other(asked.link(paths::Spend { period: month.into() })));
    }
    let month = |name: &str| -> Result<BillingMonth, Error> {
        let found = pairs.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
        found.parse().map_err(|_| {
            Error::BadRequest(format!("{name}: found “{found}”. Enter a month such as 2026-09."))
        })
    };
    let (from, to) = (month("from")?, month("to")?);
    let period = Period::new(from.min(to), from.max(to)).ok_or_else(|| {
        Error::BadRequest(format!("{from} to {to} is longer than ten years. Choose a shorter period."))
    })?;
    let rest = pairs.into_iter().filter(|(name, _)| !matches!(name.as_str(), "from" | "to"));
    let asked = Asked::read(rest.collect())?;
    Ok(respond::see_other(asked.link(paths::Spend { period })))
}

fn usual_step(period: Period) -> Step {
    if period.is_one_month() { Step::Day } else { Step::Month }
}

impl Page {
    /// The period, or the day that it is narrowed to.
    fn heading(&self) -> String {
        match self.day() {
            Some(day) => day.format("%B %-d, %Y").to_string(),
            None => self.period.name(),
        }
    }

    /// The only day that figures are of.
    fn day(&self) -> Option<NaiveDate> {
        let mut of_days = self.choices.asked.filters.iter().filter(|it| it.dimension == Grouping::Day);
        match (of_days.next(), of_days.next()) {
            (Some(filter), None) if !filter.leaves_out && filter.values.len() == 1 => {
                filter.values[0].parse().ok()
            }
            _ => None,
        }
    }

    /// Another day of the same question, with its name.
    fn on(&self, day: Option<NaiveDate>) -> Option<(String, String)> {
        let day = day?;
        let asked = self.choices.asked.only(&Grouping::Day, Some(&day.to_string()));
        let period = BillingMonth::of(day).into();
        Some((day.format("%B %-d").to_string(), asked.link(paths::Spend { period })))
    }

    /// The period, or the day, before and after.
    fn beside(&self) -> [(String, String); 2] {
        let periods = [self.period.previous(), self.period.next()].map(|it| self.choices.named(it));
        let Some(day) = self.day() else { return periods };
        let [before, after] = periods;
        [self.on(day.pred_opt()).unwrap_or(before), self.on(day.succ_opt()).unwrap_or(after)]
    }

    /// Where the forms of the page lead, which carry the question themselves.
    fn action(&self) -> String {
        paths::Spend { period: self.period }.to_string()
    }

    /// Where it is explained why this differs from the period before.
    fn variance(&self) -> String {
        let asked = Asked {
            by: Grouping::Service,
            then: None,
            limit: None,
            find: None,
            sort: None,
            over: None,
            page: 1,
            ..self.choices.asked.clone()
        };
        asked.link(paths::Variance { period: self.period })
    }

    /// What commitments cost that nothing used, where they cost anything.
    fn unused_commitment(&self) -> Option<&Money> {
        self.spend.unused_commitment.as_ref().filter(|unused| !unused.amount.is_zero())
    }

    fn by_commitment_status(&self) -> String {
        self.choices.at(&Asked { page: 1, ..self.choices.asked.by(Grouping::CommitmentStatus) })
    }

    fn shown_tokens(&self) -> TokenTable<'_> {
        TokenTable::of(&self.tokens, SHOWN_TOKENS)
    }

    fn to_tokens(&self) -> String {
        let asked = Asked {
            then: None,
            limit: None,
            find: None,
            sort: None,
            over: None,
            page: 1,
            ..self.choices.asked.clone()
        };
        asked.link(paths::Tokens { period: self.period })
    }

    /// A scenario of the same charges.
    fn scenario(&self) -> String {
        self.choices.asked.scenario(self.period)
    }

    /// Where the period is compared with its invoices.
    fn invoices(&self) -> String {
        paths::Invoices { period: self.period }.to_string()
    }

    /// The currency that was asked for, where the period has others only.
    fn absent_currency(&self) -> Option<&Currency> {
        self.choices.asked.currency.as_ref().filter(|_| !self.spend.other_currencies.is_empty())
    }

    fn of_all(&self) -> String {
        self.choices.at(&self.choices.asked.find(None))
    }

    /// What one may group by, and the one that is shown: for a select.
    fn groupings(&self, current: Option<&Grouping>) -> Vec<(String, String, bool)> {
        // A tag with as many values as there are jobs is kept with charges, and is not among the names that these have in common.
        let job = self.tags.iter().any(|tag| tag == usage_tags::USE).then(|| usage_tags::JOB.to_owned());
        let tags = job.into_iter().chain(self.tags.iter().cloned()).map(Grouping::Tag);
        let mut all: Vec<Grouping> = Grouping::FIXED.into_iter().chain(tags).collect();
        all.extend(current.filter(|current| !all.contains(current)).cloned());
        all.into_iter().map(|by| (by.to_string(), by.label(), Some(&by) == current)).collect()
    }

    /// The columns of the chart, where there is a choice.
    fn steps(&self) -> Vec<(String, String, bool)> {
        if self.period.is_one_month() || self.period.length() > MONTHS_OF_DAYS {
            return Vec::new();
        }
        let (usual, current) =
            (usual_step(self.period), self.choices.asked.over.unwrap_or(usual_step(self.period)));
        let choice = |(label, step): (&str, Step)| {
            let over = Some(step).filter(|step| *step != usual);
            (label.to_owned(), self.choices.at(&self.choices.asked.over(over)), step == current)
        };
        [("Month", Step::Month), ("Day", Step::Day)].into_iter().map(choice).collect()
    }

    fn data_status(&self) -> DataStatus {
        DataStatus::from(&self.spend)
    }

    /// Where a group leads: what it is made of. Nowhere for what was folded, or names who pays.
    fn inside(&self, group: &Group) -> Option<String> {
        let narrowed = self.narrowed(group)?;
        Some(self.choices.at(&narrowed.by(finer(&narrowed, &self.choices.asked.by))))
    }

    fn to_charges(&self, group: &Group) -> Option<String> {
        Some(self.charges_of(self.narrowed(group)?))
    }

    /// The charges of a group within a group.
    fn to_charges_inside(&self, group: &Group, inside: &Group) -> Option<String> {
        let then = self.choices.asked.then.as_ref().filter(|_| inside.is_value())?;
        Some(self.charges_of(self.narrowed(group)?.only(then, inside.key.as_deref())))
    }

    fn charges_of(&self, asked: Asked) -> String {
        let asked = Asked {
            by: Grouping::Service,
            then: None,
            limit: None,
            find: None,
            sort: None,
            over: None,
            ..asked
        };
        asked.link(paths::Charges { period: self.period })
    }

    fn narrowed(&self, group: &Group) -> Option<Asked> {
        group.is_value().then(|| self.choices.asked.only(&self.choices.asked.by, group.key.as_deref()))
    }
}

/// What one looks at next within a group.
fn finer(asked: &Asked, by: &Grouping) -> Grouping {
    let is_narrowed = |finer: &Grouping| {
        finer == by || asked.filters.iter().any(|f| f.dimension == *finer && !f.leaves_out)
    };
    if let Some(then) = asked.then.clone().filter(|then| !is_narrowed(then)) {
        return then;
    }
    [Grouping::Service, Grouping::Account, Grouping::Sku, Grouping::Resource]
        .into_iter()
        .find(|finer| !is_narrowed(finer))
        .unwrap_or(Grouping::Day)
}
