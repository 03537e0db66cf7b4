//! Spend over time: what the chart of a period draws.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::spend::source_of;
use super::sql::{Source, push_filters, push_from, push_value, push_where};
use super::visible::Visible;
use super::{Group, Grouping, Question, Spend};
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

/// The costs of an answer over time, for its `top` largest groups; the others are added up.
pub async fn over_time(
    db: &mut PgConnection,
    question: &Question,
    spend: &Spend,
    top: usize,
) -> sqlx::Result<Series> {
    let visible = Visible::compared(db, question.period, spend.sequence).await?;
    over_time_of(db, question, &visible, spend, top).await
}

/// As [`over_time`], where it is known what counts.
pub(super) async fn over_time_of(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
    spend: &Spend,
    top: usize,
) -> sqlx::Result<Series> {
    let mut buckets: Vec<Bucket> = if question.period.is_one_month() {
        let days = question.period.days();
        days.start.iter_days().take_while(|day| *day < days.end).map(Bucket::Day).collect()
    } else {
        question.period.months().map(Bucket::Month).collect()
    };
    let time = if question.period.is_one_month() { Grouping::Day } else { Grouping::Month };
    // Time against time is one column a bucket.
    let shown = if question.by.is_time() { Vec::new() } else { largest(&spend.groups, top) };
    let has_others = shown.len() < spend.groups.len();
    let others = if question.by.is_time() { question.cost.label() } else { "Others".to_owned() };
    let labels = shown.iter().map(|group| group.label.clone());
    let labels: Vec<String> = labels.chain(has_others.then_some(others)).collect();
    let named = [Bucket::WholePeriod, Bucket::Outside];
    buckets.extend(named);
    let mut costs = vec![vec![Decimal::ZERO; buckets.len()]; labels.len()];
    let places: BTreeMap<Option<&str>, usize> =
        shown.iter().enumerate().map(|(place, group)| (group.key.as_deref(), place)).collect();
    for (key, bucket, cost) in sum_over_time(db, question, visible, spend, &time).await? {
        let column = match bucket.as_str() {
            "whole-period" => buckets.len() - 2,
            "outside" => buckets.len() - 1,
            text => match buckets.iter().position(|bucket| bucket.is(text)) {
                Some(column) => column,
                None => continue,
            },
        };
        let place = places.get(&key.as_deref()).copied().unwrap_or(shown.len());
        if let Some(row) = costs.get_mut(place) {
            row[column] += cost;
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

async fn sum_over_time(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
    spend: &Spend,
    time: &Grouping,
) -> sqlx::Result<Vec<(Option<String>, String, Decimal)>> {
    let Some(currency) = &spend.currency else {
        return Ok(Vec::new());
    };
    let by_time = Question { by: time.clone(), ..question.clone() };
    let source = source_of(db, question, visible).await?.max(source_of(db, &by_time, visible).await?);
    // Days become text after they were summed: there are thirty, and half a million rows.
    let columns = match source {
        Source::Months => "c.billing_month",
        Source::Days => "c.billing_month, c.day, c.is_whole_period",
        Source::Charges => "c.billing_month, c.charge_period_start, c.charge_period_end",
    };
    let mut query = QueryBuilder::<Postgres>::new("select key, ");
    push_value(&mut query, time, source);
    query.push(" as bucket, sum(cost) as cost from (select ");
    push_value(&mut query, &question.by, source);
    query.push(format!(" as key, {columns}, sum({}) as cost", question.cost.column()));
    push_from(&mut query, source);
    push_where(&mut query, question.period.first(), question.period.last(), visible);
    query.push(" and k.currency = ");
    query.push_bind(currency.as_str().to_owned());
    push_filters(&mut query, &question.filters, &question.viewer, source);
    query.push(format!(" group by 1, {columns}) c group by 1, 2"));
    let rows = query.build().fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("key")?, row.try_get("bucket")?, row.try_get("cost")?))).collect()
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

/// The groups that weigh most, credits too, in the order of the answer. What was folded is none.
fn largest(groups: &[Group], top: usize) -> Vec<&Group> {
    let mut weighed: Vec<(usize, &Group)> =
        groups.iter().enumerate().filter(|(_, group)| !group.is_folded).collect();
    weighed.sort_by_key(|(_, group)| std::cmp::Reverse(group.cost.amount.abs()));
    weighed.truncate(top);
    weighed.sort_by_key(|(place, _)| *place);
    weighed.into_iter().map(|(_, group)| group).collect()
}
