//! Spend of a period in groups, with the period before it: the page, its `.json` and `.csv`, and
//! `gpuledger report spend`.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use crate::accelerator::accelerator_hours;
use crate::ledger;
use crate::money::{Currency, Decimal, Money};
use crate::period::{BillingMonth, Period};

use super::sql::{Source, push_filters, push_from, push_value};
use super::{CostBasis, Grouping, Question};

/// Decimals of accelerator-hours and shares where they do not end by themselves.
const PLACES: u8 = 6;
/// The key of the group that a limit folds the rest into.
const OTHER: &str = "other";

/// The answer. Groups are largest first (time in its order) and sum to the total exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Spend {
    pub period: Period,
    pub sequence: i64,
    pub currency: Option<Currency>,
    pub cost: CostBasis,
    pub by: Grouping,
    pub total: Option<Money>,
    pub previous: Option<Money>,
    pub accelerator_hours: Decimal,
    pub groups: Vec<Group>,
    /// Currencies of the period that are not in the total, since currencies are never added up.
    pub other_currencies: Vec<Currency>,
    /// Rows that could not be read: the period's figures are too small by what they would have held.
    pub rejected_rows: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Null: the charges have no value in this dimension.
    pub key: Option<String>,
    pub label: String,
    pub cost: Money,
    pub accelerator_hours: Decimal,
    /// Of the total; null where the total is zero.
    pub share: Option<Decimal>,
    /// The same group in the period before; null for days and months, which have none.
    pub previous: Option<Money>,
}

/// Sums a period in groups.
pub async fn spend(db: &mut PgConnection, question: &Question) -> sqlx::Result<Spend> {
    let sequence = sequence_of(db, question).await?;
    let currencies = currencies(db, question, sequence).await?;
    let currency = question.currency.clone().or_else(|| currencies.first().cloned());
    let rejected_rows = rejected_rows(db, question.period, sequence).await?;
    let other_currencies = currencies.into_iter().filter(|c| Some(c) != currency.as_ref()).collect();
    let mut answer = Spend {
        period: question.period,
        sequence,
        currency: currency.clone(),
        cost: question.cost,
        by: question.by.clone(),
        total: None,
        previous: None,
        accelerator_hours: Decimal::ZERO,
        groups: Vec::new(),
        other_currencies,
        rejected_rows,
    };
    let Some(currency) = currency else {
        return Ok(answer);
    };
    let sums = sum_groups(db, question, &currency, sequence).await?;
    let money = |amount| Money { amount, currency: currency.clone() };
    let total: Decimal = sums.iter().map(|sum| sum.cost).sum();
    let part_seconds: Decimal = sums.iter().map(|sum| sum.part_seconds).sum();
    answer.total = Some(money(total));
    answer.previous = Some(money(sums.iter().map(|sum| sum.previous).sum()));
    answer.accelerator_hours = accelerator_hours(part_seconds, PLACES).normalize();
    answer.groups = fold(sums, question.limit)
        .into_iter()
        .map(|sum| Group {
            label: label(&question.by, &sum),
            accelerator_hours: accelerator_hours(sum.part_seconds, PLACES).normalize(),
            share: sum.cost.divide(total, PLACES),
            previous: (!question.by.is_time()).then(|| money(sum.previous)),
            cost: money(sum.cost),
            key: sum.key,
        })
        .collect();
    Ok(answer)
}

/// What a group sums to before it becomes an answer.
struct Sum {
    key: Option<String>,
    folded: usize,
    cost: Decimal,
    previous: Decimal,
    part_seconds: Decimal,
}

async fn sum_groups(
    db: &mut PgConnection,
    question: &Question,
    currency: &Currency,
    sequence: i64,
) -> sqlx::Result<Vec<Sum>> {
    let source = source_of(db, question, sequence).await?;
    let (cost, part_seconds) = (question.cost.column(), source.part_seconds());
    let first_day = question.period.first().first_day();
    let mut query = QueryBuilder::<Postgres>::new("select ");
    push_value(&mut query, &question.by, source);
    query.push(format!(" as key, coalesce(sum({cost}) filter (where c.billing_month >= "));
    query.push_bind(first_day);
    query.push(format!("), 0) as cost, coalesce(sum({cost}) filter (where c.billing_month < "));
    query.push_bind(first_day);
    query.push(format!("), 0) as previous, coalesce(sum({part_seconds}) filter (where c.billing_month >= "));
    query.push_bind(first_day);
    query.push("), 0) as part_seconds");
    push_from(&mut query, source, sequence);
    let compared = if question.by.is_time() { question.period } else { question.period.previous() };
    push_period(&mut query, compared.first(), question.period.last());
    query.push(" and k.currency = ");
    query.push_bind(currency.as_str().to_owned());
    push_filters(&mut query, &question.filters, &question.viewer, source);
    query.push(" group by 1");
    query.push(if question.by.is_time() { " order by 1" } else { " order by cost desc, previous desc, key" });
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            Ok(Sum {
                key: row.try_get("key")?,
                folded: 1,
                cost: row.try_get("cost")?,
                previous: row.try_get("previous")?,
                part_seconds: row.try_get("part_seconds")?,
            })
        })
        .collect()
}

/// Keeps the first groups and adds the others up.
fn fold(mut sums: Vec<Sum>, limit: Option<usize>) -> Vec<Sum> {
    let Some(limit) = limit.filter(|limit| *limit < sums.len()) else {
        return sums;
    };
    let rest = sums.split_off(limit);
    let mut other = Sum {
        key: Some(OTHER.into()),
        folded: 0,
        cost: Decimal::ZERO,
        previous: Decimal::ZERO,
        part_seconds: Decimal::ZERO,
    };
    for sum in rest {
        other.folded += sum.folded;
        other.cost += sum.cost;
        other.previous += sum.previous;
        other.part_seconds += sum.part_seconds;
    }
    sums.push(other);
    sums
}

fn label(by: &Grouping, sum: &Sum) -> String {
    if sum.folded > 1 { format!("{} others", sum.folded) } else { by.value_label(sum.key.as_deref()) }
}

/// The currencies of a period that the viewer sees, the most used first.
async fn currencies(
    db: &mut PgConnection,
    question: &Question,
    sequence: i64,
) -> sqlx::Result<Vec<Currency>> {
    let source = Source::Months;
    let mut query = QueryBuilder::<Postgres>::new("select k.currency, sum(c.charges) as charges");
    push_from(&mut query, source, sequence);
    push_period(&mut query, question.period.first(), question.period.last());
    push_filters(&mut query, &[], &question.viewer, source);
    query.push(" group by 1 order by 2 desc, 1");
    let rows = query.build().fetch_all(db).await?;
    rows.iter().map(|row| Ok(Currency::exactly(row.try_get("currency")?))).collect()
}

/// Costs by day and group: what the chart of a month draws.
#[derive(Clone, Debug)]
pub struct Series {
    pub days: Vec<NaiveDate>,
    /// Per group in the order asked for: its label and a cost per day.
    pub groups: Vec<(String, Vec<Decimal>)>,
    /// Tax, fees and subscriptions, which belong to no day.
    pub whole_period: Decimal,
    /// Usage billed in this month and used in another.
    pub outside: Decimal,
}

/// Costs per day for the groups of an answer; whatever is not among them is added to the last.
pub async fn by_day(db: &mut PgConnection, question: &Question, spend: &Spend) -> sqlx::Result<Series> {
    let days: Vec<NaiveDate> =
        question.period.days().start.iter_days().take_while(|d| *d < question.period.days().end).collect();
    let mut series = Series {
        groups: spend
            .groups
            .iter()
            .map(|group| (group.label.clone(), vec![Decimal::ZERO; days.len()]))
            .collect(),
        days,
        whole_period: Decimal::ZERO,
        outside: Decimal::ZERO,
    };
    let Some(currency) = spend.currency.clone() else {
        return Ok(series);
    };
    let source = source_of(db, &Question { by: Grouping::Day, ..question.clone() }, spend.sequence).await?;
    let source = if question.by == Grouping::Resource { Source::Charges } else { source };
    let mut query = QueryBuilder::<Postgres>::new("select ");
    push_value(&mut query, &question.by, source);
    query.push(" as key, ");
    push_value(&mut query, &Grouping::Day, source);
    query.push(format!(" as day, sum({}) as cost", question.cost.column()));
    push_from(&mut query, source, spend.sequence);
    push_period(&mut query, question.period.first(), question.period.last());
    query.push(" and k.currency = ");
    query.push_bind(currency.as_str().to_owned());
    push_filters(&mut query, &question.filters, &question.viewer, source);
    query.push(" group by 1, 2");
    let places: BTreeMap<Option<&str>, usize> =
        spend.groups.iter().enumerate().map(|(place, group)| (group.key.as_deref(), place)).collect();
    for row in query.build().fetch_all(db).await? {
        let (key, day, cost): (Option<String>, String, Decimal) =
            (row.try_get("key")?, row.try_get("day")?, row.try_get("cost")?);
        match day.as_str() {
            "whole-period" => series.whole_period += cost,
            "outside" => series.outside += cost,
            day => {
                let Ok(day) = day.parse::<NaiveDate>() else { continue };
                let column = (day - series.days[0]).num_days() as usize;
                let last = series.groups.len() - 1;
                let place = places.get(&key.as_deref()).copied().unwrap_or(last);
                series.groups[place].1[column] += cost;
            }
        }
    }
    Ok(series)
}

/// The latest month that the ledger counts anything for.
pub async fn latest_month(db: &mut PgConnection) -> sqlx::Result<Option<BillingMonth>> {
    let month = sqlx::query_scalar!(
        "select max(s.billing_month) from scopes s join visibility v using (scope_id) where v.until_sequence is null"
    )
    .fetch_one(db)
    .await?;
    Ok(month.map(BillingMonth::of))
}

async fn rejected_rows(db: &mut PgConnection, period: Period, sequence: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select coalesce(sum(d.rejected), 0)::bigint as "rejected!"
           from deliveries d
           where d.delivery_id in (
               select v.delivery_id
               from visibility v
               join scopes s using (scope_id)
               where s.billing_month >= $1 and s.billing_month < $2
                 and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
           )"#,
        period.days().start,
        period.days().end,
        sequence,
    )
    .fetch_one(db)
    .await
}

async fn sequence_of(db: &mut PgConnection, question: &Question) -> sqlx::Result<i64> {
    let current = ledger::sequence(db).await?;
    Ok(question.sequence.map_or(current, |asked| asked.min(current)))
}

/// The coarsest rows that can answer: noisy tags are kept with the charges of the deliveries they are noisy in.
async fn source_of(db: &mut PgConnection, question: &Question, sequence: i64) -> sqlx::Result<Source> {
    let dimensions = || std::iter::once(&question.by).chain(question.filters.iter().map(|f| &f.dimension));
    let tags: Vec<String> = dimensions()
        .filter_map(|dimension| match dimension {
            Grouping::Tag(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    let is_noisy = !tags.is_empty()
        && sqlx::query_scalar!(
            r#"select exists (
                   select
                   from deliveries d
                   join visibility v using (delivery_id)
                   where d.noisy_tags && $1
                     and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
               ) as "noisy!""#,
            &tags,
            sequence,
        )
        .fetch_one(db)
        .await?;
    Ok(Source::of(dimensions(), is_noisy))
}

fn push_period(query: &mut QueryBuilder<Postgres>, first: BillingMonth, last: BillingMonth) {
    query.push(" where c.billing_month >= ");
    query.push_bind(first.first_day());
    query.push(" and c.billing_month <= ");
    query.push_bind(last.first_day());
}
