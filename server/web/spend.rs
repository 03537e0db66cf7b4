//! `/spend/2026-09`: what was spent in a period, in groups, over time, against the period before.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;

use super::error::Result;
use super::extract::{CurrentUser, Db, Query};
use super::layout::Layout;
use super::question::Asked;
use super::respond::{As, Cell, Format, Record};
use super::{Access, filters, paths, respond};
use crate::chart;
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::report::{Answers, Bucket, CostBasis, Group, Grouping, Series, Spend};

/// Groups with a colour of their own in the chart.
const COLOURED: usize = 7;
/// Groups on the page; the rest is one line that leads to all of them.
const SHOWN: usize = 100;
/// Tags offered as groupings.
const TAGS: i64 = 12;

#[derive(Template)]
#[template(path = "spend.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    spend: Spend,
    chart: chart::Stack,
    tags: Vec<String>,
}

pub async fn show(
    path: paths::Spend,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    Query(pairs): Query<Vec<(String, String)>>,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
) -> Result {
    let As { value: period, format } = path.period;
    let asked = Asked::read(pairs)?;
    let mut question = asked.question(period, person.viewer());
    match format {
        Format::Json => respond::json(&answers.spend(&mut db, &question).await?),
        Format::Csv => {
            let spend = answers.spend(&mut db, &question).await?;
            let name = format!("spend-{period}-by-{}", asked.by);
            Ok(respond::csv_parts(&name, respond::in_parts(spend.groups)))
        }
        Format::Html => {
            question.limit = Some(question.limit.unwrap_or(SHOWN));
            let spend = answers.spend(&mut db, &question).await?;
            let series = answers.over_time(&mut db, &question, &spend, COLOURED).await?;
            let tags = answers.tag_names(&mut db, period, &question.viewer, spend.sequence, TAGS).await?;
            let chart = stack(&spend, series);
            respond::html(Page { layout, period, asked, spend, chart, tags })
        }
    }
}

impl Page {
    fn at(&self, asked: &Asked) -> String {
        asked.link(paths::Spend { period: As::page(self.period) })
    }

    /// The same question for another period.
    fn during(&self, period: Period) -> String {
        self.asked.link(paths::Spend { period: As::page(period) })
    }

    /// The same figures as a file.
    fn file(&self, suffix: &str) -> String {
        format!("/spend/{}.{suffix}{}", self.period, self.asked.suffix())
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        let choice =
            |cost: CostBasis| (cost.label(), self.at(&self.asked.cost(cost)), cost == self.asked.cost);
        CostBasis::ALL.into_iter().map(choice).collect()
    }

    fn groupings(&self) -> Vec<(String, String, bool)> {
        let tags = self.tags.iter().map(|tag| Grouping::Tag(tag.clone()));
        let choice = |by: Grouping| (by.label(), self.at(&self.asked.by(by.clone())), by == self.asked.by);
        let mut choices: Vec<_> = Grouping::FIXED.into_iter().chain(tags).map(choice).collect();
        if !choices.iter().any(|(_, _, is_current)| *is_current) {
            choices.push(choice(self.asked.by.clone()));
        }
        choices
    }

    /// The currencies of the period, where there are several.
    fn currencies(&self) -> Vec<(String, String, bool)> {
        let choice = |currency: &Currency| {
            let is_current = Some(currency) == self.spend.currency.as_ref();
            (currency.to_string(), self.at(&self.asked.currency(currency)), is_current)
        };
        self.spend.currency.iter().chain(&self.spend.other_currencies).map(choice).collect()
    }

    fn chips(&self) -> Vec<(String, String)> {
        self.asked.chips(|asked| self.at(asked))
    }

    /// Where a group leads: what it is made of. Nowhere for what was folded.
    fn inside(&self, group: &Group) -> Option<String> {
        let narrowed = self.narrowed(group)?;
        Some(self.at(&narrowed.by(finer(&self.asked))))
    }

    fn to_charges(&self, group: &Group) -> Option<String> {
        let narrowed = self.narrowed(group)?;
        let narrowed = Asked { limit: None, by: Grouping::Service, ..narrowed };
        Some(narrowed.link(paths::Charges { period: As::page(self.period) }))
    }

    fn narrowed(&self, group: &Group) -> Option<Asked> {
        (!group.is_folded).then(|| self.asked.only(&self.asked.by, group.key.as_deref()))
    }

    fn with_every_group(&self) -> String {
        self.at(&self.asked.limit(usize::MAX))
    }

    fn is_folded(&self) -> bool {
        self.spend.groups.iter().any(|group| group.is_folded)
    }

    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}

/// What one looks at next within a group.
fn finer(asked: &Asked) -> Grouping {
    let is_narrowed = |by: &Grouping| asked.by == *by || asked.filters.iter().any(|f| f.dimension == *by);
    [Grouping::Service, Grouping::Account, Grouping::Sku, Grouping::Resource]
        .into_iter()
        .find(|by| !is_narrowed(by))
        .unwrap_or(Grouping::Day)
}

fn stack(spend: &Spend, series: Series) -> chart::Stack {
    let time = if spend.period.is_one_month() { "day" } else { "month" };
    let what = match &spend.by {
        by if by.is_time() => String::new(),
        by => format!(" and {}", by.label().to_lowercase()),
    };
    let others = series.groups.len() - usize::from(series.has_others);
    chart::Stack {
        title: format!("{} by {time}{what}", spend.cost.label()),
        description: format!(
            "{}, stacked columns; the same figures stand in the table below.",
            spend.period.name()
        ),
        unit: spend.currency.as_ref().map(ToString::to_string).unwrap_or_default(),
        buckets: series.buckets.into_iter().map(bucket).collect(),
        series: series
            .groups
            .into_iter()
            .enumerate()
            .map(|(i, (label, values))| chart::Series { label, values, is_other: i == others && i > 0 })
            .collect(),
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}

fn bucket(bucket: Bucket) -> chart::Bucket {
    let (label, name, is_apart) = match bucket {
        Bucket::Day(day) => (day.format("%-d").to_string(), day.format("%-d %b %Y").to_string(), false),
        Bucket::Month(month) => {
            let first = month.first_day();
            (first.format("%b").to_string(), first.format("%b %Y").to_string(), false)
        }
        Bucket::WholePeriod => ("Whole".into(), "Whole period".into(), true),
        Bucket::Outside => ("Outside".into(), "Outside the month".into(), true),
    };
    chart::Bucket { label, name, is_apart }
}

impl Record for Group {
    const COLUMNS: &'static [&'static str] =
        &["key", "label", "cost", "currency", "accelerator_hours", "share", "previous"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let number = |number: Option<Decimal>| number.map_or(Cell::Empty, Cell::Number);
        vec![
            self.key.as_deref().map_or(Cell::Empty, Cell::text),
            Cell::text(self.label.as_str()),
            Cell::Number(self.cost.amount),
            Cell::text(self.cost.currency.as_str()),
            Cell::Number(self.accelerator_hours),
            number(self.share),
            number(self.previous.as_ref().map(|money| money.amount)),
        ]
    }
}
