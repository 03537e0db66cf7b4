//! Spend over time: what the chart of a period draws.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::cache::Ask;
use super::denominate::denominate;
use super::payers::Payers;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, Source, push_value, source_of};
use super::{Answers, Grouping, Question, Spend};
use crate::cache::SizeInCache;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Costs over time and by group: what the chart of a period draws.
#[derive(Clone, Debug)]
pub struct Series {
    /// Days of a month, months of a longer period; then what belongs to none of them.
    pub buckets: Vec<Bucket>,
    /// The largest groups and, last, all others: a cost per bucket.
    pub groups: Vec<(String, Vec<Decimal>)>,
    /// Whether the last group stands for several.
    pub has_others: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    Day(NaiveDate),
    Month(BillingMonth),
    /// Tax, fees and subscriptions, which belong to no single day.
    WholePeriod,
    /// Billed in this month and used in another.
    Outside,
}

/// The width of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Day,
    Month,
}

impl Answers {
    /// A question's costs over time, for its `top` largest groups, as of the version of the answer it stands beside.
    pub async fn over_time(
        &self,
        db: &mut PgConnection,
        question: &Question,
        step: Step,
        spend: &Spend,
        top: usize,
    ) -> sqlx::Result<Series> {
        Ok(Series::clone(&*self.ask(db, question, spend.sequence, OverTime { step, top }).await?))
    }
}

/// A question's costs over time, for its `top` largest groups; the others are added up.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OverTime {
    step: Step,
    top: usize,
}

impl Ask for OverTime {
    type Answer = Series;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Series> {
        let AsOf { question, snapshot, .. } = asked;
        let mut buckets: Vec<Bucket> = match self.step {
            Step::Day => {
                let days = question.period.days();
                days.start.iter_days().take_while(|day| *day < days.end).map(Bucket::Day).collect()
            }
            Step::Month => question.period.months().map(Bucket::Month).collect(),
        };
        let named = [Bucket::WholePeriod, Bucket::Outside];
        buckets.extend(named);
        let cells = sum_over_time(db, asked, self.step).await?;
        // Time against time is one series.
        let shown = if question.by.is_time() { Vec::new() } else { largest(&cells, self.top) };
        let places: BTreeMap<Option<&str>, usize> =
            shown.iter().enumerate().map(|(place, key)| (*key, place)).collect();
        let has_others = cells.iter().any(|cell| !places.contains_key(&cell.key.as_deref()));
        let others = if question.by.is_time() { question.cost.label() } else { "Others".to_owned() };
        let labels = shown.iter().map(|key| snapshot.allocation.names.label(&question.by, *key));
        let labels: Vec<String> = labels.chain(has_others.then_some(others)).collect();
        let mut costs = vec![vec![Decimal::ZERO; buckets.len()]; labels.len()];
        for cell in &cells {
            let column = match cell.bucket.as_str() {
                "whole-period" => buckets.len() - 2,
                "outside" => buckets.len() - 1,
                text => match buckets.iter().position(|bucket| bucket.is(text)) {
                    Some(column) => column,
                    None => continue,
                },
            };
            let place = places.get(&cell.key.as_deref()).copied().unwrap_or(shown.len());
            if let Some(row) = costs.get_mut(place) {
                row[column] += cell.cost;
            }
        }
        // What belongs to no day is shown only where there is some.
        for named in named {
            if let Some(column) = buckets.iter().position(|bucket| *bucket == named)
                && costs.iter().all(|row| row[column].is_zero())
            {
                buckets.remove(column);
                for row in &mut costs {
                    row.remove(column);
                }
            }
        }
        Ok(Series { buckets, groups: labels.into_iter().zip(costs).collect(), has_others })
    }
}

impl SizeInCache for Series {
    fn size_in_cache(&self) -> usize {
        let costs = self.groups.len() * self.buckets.len() * size_of::<Decimal>();
        size_of_val(self) + costs + self.groups.iter().map(|(label, _)| label.len()).sum::<usize>()
    }
}

/// What a group cost in a bucket.
struct Cell {
    key: Option<String>,
    bucket: String,
    cost: Decimal,
}

async fn sum_over_time(db: &mut PgConnection, asked: AsOf<'_>, step: Step) -> sqlx::Result<Vec<Cell>> {
    let AsOf { question, snapshot, .. } = asked;
    let Some(denomination) = denominate(db, asked).await?.denomination else {
        return Ok(Vec::new());
    };
    let time = match step {
        Step::Day => Grouping::Day,
        Step::Month => Grouping::Month,
    };
    let source = source_of(db, (question.dimensions().chain([&time]), &question.viewer), snapshot).await?;
    // Days become text after they were summed: there are thirty, and half a million rows.
    let columns: &[Column<'_>] = match (step, source) {
        (Step::Month, _) => &[],
        (Step::Day, Source::Charges) => &[
            Column::Sql("charge_period_start", "c.charge_period_start"),
            Column::Sql("charge_period_end", "c.charge_period_end"),
        ],
        (Step::Day, _) => &[Column::Sql("day", "c.day"), Column::Sql("is_whole_period", "c.is_whole_period")],
    };
    let rows = Rows::of_period(question, snapshot, source, Some(&denomination));
    let mut query = QueryBuilder::<Postgres>::new("select ");
    query.push(rows.value("key", &question.by));
    query.push(" as key, ");
    push_value(&mut query, &time, source, question.cost);
    query.push(" as bucket");
    let mut payers = Payers::of(question);
    payers.push(&mut query, &rows);
    query.push(format!(", sum({}) as cost", rows.amount("cost")));
    let by = [Column::Value("key", &question.by)];
    rows.push(&mut query, &[Measure::Cost], by.iter().chain(columns).chain(payers.columns()));
    query.push(if question.hides_payers_in_groups() { " group by 1, 2, 3, 4" } else { " group by 1, 2" });
    let rows = query.build().fetch_all(db).await?;
    let mut cells: Vec<Cell> = rows
        .iter()
        .map(|row| {
            let key = payers.hide(row, &question.by, row.try_get("key")?)?;
            Ok(Cell { key, bucket: row.try_get("bucket")?, cost: row.try_get("cost")? })
        })
        .collect::<sqlx::Result<_>>()?;
    if question.hides_payers_in_groups() {
        cells.sort_by(|a, b| (&a.key, &a.bucket).cmp(&(&b.key, &b.bucket)));
        cells.dedup_by(|next, kept| {
            let is_same = (&next.key, &next.bucket) == (&kept.key, &kept.bucket);
            if is_same {
                kept.cost += next.cost;
            }
            is_same
        });
    }
    Ok(cells)
}

/// The days on which something was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Days {
    pub first: NaiveDate,
    pub last: NaiveDate,
    /// How many, from the first to the last.
    pub count: usize,
}

/// By group.
pub(super) type DaysByGroup = BTreeMap<Option<String>, Days>;

/// The days of each group of a question; groups that belong to no day are left out.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FindDays;

impl Ask for FindDays {
    type Answer = DaysByGroup;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<DaysByGroup> {
        let mut found: DaysByGroup = BTreeMap::new();
        for cell in sum_over_time(db, asked, Step::Day).await? {
            let Ok(day) = cell.bucket.parse::<NaiveDate>() else { continue };
            let days = found.entry(cell.key).or_insert(Days { first: day, last: day, count: 0 });
            days.first = days.first.min(day);
            days.last = days.last.max(day);
            days.count += 1;
        }
        Ok(found)
    }
}

impl SizeInCache for DaysByGroup {
    fn size_in_cache(&self) -> usize {
        self.keys().flatten().map(String::len).sum::<usize>()
            + self.len() * size_of::<(Option<String>, Days)>()
    }
}

impl Bucket {
    fn is(self, text: &str) -> bool {
        match self {
            Self::Day(day) => day.to_string() == text,
            Self::Month(month) => month.to_string() == text,
            Self::WholePeriod | Self::Outside => false,
        }
    }
}

/// The groups that weigh most, credits too, the largest first.
fn largest(cells: &[Cell], top: usize) -> Vec<Option<&str>> {
    let mut costs: BTreeMap<Option<&str>, Decimal> = BTreeMap::new();
    for cell in cells {
        *costs.entry(cell.key.as_deref()).or_default() += cell.cost;
    }
    let mut weighed: Vec<(Option<&str>, Decimal)> = costs.into_iter().collect();
    weighed.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.abs()));
    // One more than has a color is no more than the others' own line.
    if weighed.len() > top + 1 {
        weighed.truncate(top);
    }
    weighed.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
    weighed.into_iter().map(|(key, _)| key).collect()
}
