//! Spend of a period in groups, with the period before it: the page, its `.json` and `.csv`, and
//! `gpuledger report spend`.

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use crate::accelerator::accelerator_hours;
use crate::accounts::Viewer;
use crate::ledger;
use crate::money::{Currency, Decimal, Money};
use crate::period::{BillingMonth, Period};

use super::sql::{Source, push_filters, push_from, push_value, push_where};
use super::visible::Visible;
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
    /// Of the period before; null for days and months, which are not compared.
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
    /// Stands for several groups that a limit left out.
    #[serde(skip)]
    pub is_folded: bool,
    /// The same group in the period before; null for days and months, which have none.
    pub previous: Option<Money>,
}

/// Sums a period in groups.
pub async fn spend(db: &mut PgConnection, question: &Question) -> sqlx::Result<Spend> {
    let sequence = sequence_of(db, question).await?;
    let visible = Visible::compared(db, question.period, sequence).await?;
    spend_of(db, question, &visible, sequence).await
}

/// As [`spend`], where it is known what counts at the sequence.
pub(super) async fn spend_of(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
    sequence: i64,
) -> sqlx::Result<Spend> {
    let currencies = currencies(db, question, visible, sequence).await?;
    let currency = question.currency.clone().or_else(|| currencies.first().cloned());
    let rejected_rows = rejected_rows(db, question, visible, sequence).await?;
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
    let sums = sum_groups(db, question, &currency, visible).await?;
    let money = |amount| Money { amount, currency: currency.clone() };
    let total: Decimal = sums.iter().map(|sum| sum.cost).sum();
    let part_seconds: Decimal = sums.iter().map(|sum| sum.part_seconds).sum();
    answer.total = Some(money(total));
    answer.previous = (!question.by.is_time()).then(|| money(sums.iter().map(|sum| sum.previous).sum()));
    answer.accelerator_hours = accelerator_hours(part_seconds, PLACES).normalize();
    answer.groups = fold(sums, question.limit)
        .into_iter()
        .map(|sum| Group {
            label: label(&question.by, &sum),
            accelerator_hours: accelerator_hours(sum.part_seconds, PLACES).normalize(),
            is_folded: sum.folded > 1,
            share: sum.cost.divide(total, PLACES),
            previous: (!question.by.is_time()).then(|| money(sum.previous)),
            cost: money(sum.cost),
            key: sum.key,
        })
        .collect();
    Ok(answer)
}

/// What a group sums to before it becomes an answer.
#[derive(Default)]
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
    visible: &Visible,
) -> sqlx::Result<Vec<Sum>> {
    let source = source_of(db, question, visible).await?;
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
    push_from(&mut query, source);
    let compared = if question.by.is_time() { question.period } else { question.period.previous() };
    push_where(&mut query, compared.first(), question.period.last(), visible);
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

/// Keeps the largest groups, and always the one without a value, for what nobody claims is never hidden;
/// adds the others up.
fn fold(sums: Vec<Sum>, limit: Option<usize>) -> Vec<Sum> {
    let Some(limit) = limit.filter(|limit| *limit < sums.len()) else {
        return sums;
    };
    let (mut kept, rest): (Vec<_>, Vec<_>) =
        sums.into_iter().enumerate().partition(|(place, sum)| *place < limit || sum.key.is_none());
    if rest.len() == 1 {
        kept.extend(rest);
        return kept.into_iter().map(|(_, sum)| sum).collect();
    }
    let mut other = Sum { key: Some(OTHER.into()), ..Sum::default() };
    for (_, sum) in rest {
        other.folded += sum.folded;
        other.cost += sum.cost;
        other.previous += sum.previous;
        other.part_seconds += sum.part_seconds;
    }
    if other.folded > 0 {
        kept.push((limit, other));
    }
    kept.into_iter().map(|(_, sum)| sum).collect()
}

fn label(by: &Grouping, sum: &Sum) -> String {
    if sum.folded > 1 { format!("{} others", sum.folded) } else { by.value_label(sum.key.as_deref()) }
}

/// The currencies of a period that the viewer sees, the most used first.
async fn currencies(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
    sequence: i64,
) -> sqlx::Result<Vec<Currency>> {
    let (first, last) = (question.period.first(), question.period.last());
    if question.viewer == Viewer::Everything {
        return every_currency(db, first, last, sequence).await;
    }
    let source = Source::Months;
    let mut query = QueryBuilder::<Postgres>::new("select k.currency, sum(c.charges) as charges");
    push_from(&mut query, source);
    push_where(&mut query, first, last, visible);
    push_filters(&mut query, &[], &question.viewer, source);
    query.push(" group by 1 order by 2 desc, 1");
    let rows = query.build().fetch_all(db).await?;
    rows.iter().map(|row| Ok(Currency::exactly(row.try_get("currency")?))).collect()
}

/// The same for those who see everything, from the deliveries' totals instead of a sum over every key.
async fn every_currency(
    db: &mut PgConnection,
    first: BillingMonth,
    last: BillingMonth,
    sequence: i64,
) -> sqlx::Result<Vec<Currency>> {
    let currencies = sqlx::query_scalar!(
        "select t.currency
         from delivery_totals t
         join visibility v using (delivery_id, scope_id)
         join scopes s using (scope_id)
         where s.billing_month >= $1 and s.billing_month <= $2
           and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
         group by 1
         order by sum(t.charges) desc, 1",
        first.first_day(),
        last.first_day(),
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(currencies.iter().map(|currency| Currency::exactly(currency)).collect())
}

/// The tags that charges of a period carry as of a sequence, the most used first, at most `limit`.
pub async fn tag_names(
    db: &mut PgConnection,
    period: Period,
    viewer: &Viewer,
    sequence: i64,
    limit: i64,
) -> sqlx::Result<Vec<String>> {
    let visible = Visible::find(db, period.first(), period.last(), sequence).await?;
    tag_names_of(db, period, viewer, &visible, limit).await
}

/// As [`tag_names`], where it is known what counts.
pub(super) async fn tag_names_of(
    db: &mut PgConnection,
    period: Period,
    viewer: &Viewer,
    visible: &Visible,
    limit: i64,
) -> sqlx::Result<Vec<String>> {
    let mut query = QueryBuilder::<Postgres>::new("select tag as name");
    push_from(&mut query, Source::Months);
    query.push(" cross join lateral jsonb_object_keys(k.tags) tag");
    push_where(&mut query, period.first(), period.last(), visible);
    push_filters(&mut query, &[], viewer, Source::Months);
    query.push(" group by 1 order by sum(c.charges) desc, 1 limit ");
    query.push_bind(limit);
    query.build_query_scalar().fetch_all(db).await
}

/// The latest month that the ledger counts anything for that the viewer may see.
pub async fn latest_month(db: &mut PgConnection, viewer: &Viewer) -> sqlx::Result<Option<BillingMonth>> {
    let months = sqlx::query_scalar!(
        r#"select distinct s.billing_month as "month!"
           from scopes s join visibility v using (scope_id)
           where v.until_sequence is null
           order by 1 desc"#
    )
    .fetch_all(&mut *db)
    .await?;
    if *viewer == Viewer::Everything {
        return Ok(months.first().copied().map(BillingMonth::of));
    }
    // One after the other, since the first nearly always is the one; all at once would read every month.
    let sequence = ledger::sequence(db).await?;
    for month in months.into_iter().map(BillingMonth::of) {
        let visible = Visible::find(db, month, month, sequence).await?;
        if !deliveries_of(db, month, month, &visible, viewer).await?.is_empty() {
            return Ok(Some(month));
        }
    }
    Ok(None)
}

/// The deliveries that hold rows in these months which the viewer may see.
async fn deliveries_of(
    db: &mut PgConnection,
    first: BillingMonth,
    last: BillingMonth,
    visible: &Visible,
    viewer: &Viewer,
) -> sqlx::Result<Vec<i64>> {
    let mut query = QueryBuilder::<Postgres>::new("select distinct c.delivery_id");
    push_from(&mut query, Source::Months);
    push_where(&mut query, first, last, visible);
    push_filters(&mut query, &[], viewer, Source::Months);
    query.build_query_scalar().fetch_all(db).await
}

/// Rows that could not be read, of deliveries in which the viewer sees others.
async fn rejected_rows(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
    sequence: i64,
) -> sqlx::Result<i64> {
    let period = question.period;
    let seen = match &question.viewer {
        Viewer::Everything => None,
        viewer @ Viewer::Teams(_) => {
            Some(deliveries_of(db, period.first(), period.last(), visible, viewer).await?)
        }
    };
    sqlx::query_scalar!(
        r#"select coalesce(sum(d.rejected), 0)::bigint as "rejected!"
           from deliveries d
           where ($4::bigint[] is null or d.delivery_id = any($4))
             and d.delivery_id in (
               select v.delivery_id
               from visibility v
               join scopes s using (scope_id)
               where s.billing_month >= $1 and s.billing_month < $2
                 and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
           )"#,
        period.days().start,
        period.days().end,
        sequence,
        seen.as_deref(),
    )
    .fetch_one(db)
    .await
}

async fn sequence_of(db: &mut PgConnection, question: &Question) -> sqlx::Result<i64> {
    let current = ledger::sequence(db).await?;
    Ok(question.sequence.map_or(current, |asked| asked.min(current)))
}

/// The coarsest rows that can answer: noisy tags are kept with the charges of the deliveries they are noisy in.
pub(super) async fn source_of(
    db: &mut PgConnection,
    question: &Question,
    visible: &Visible,
) -> sqlx::Result<Source> {
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
                   where d.noisy_tags && $1 and d.delivery_id = any($2)
               ) as "noisy!""#,
            &tags,
            visible.deliveries(),
        )
        .fetch_one(db)
        .await?;
    Ok(Source::of(dimensions(), is_noisy))
}
