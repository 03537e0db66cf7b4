//! The sums behind an answer: every group of a question, before some are chosen, folded and ordered.

use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::basis::Basis;
use super::denomination::{Denomination, LeftOut, denominate, left_out};
use super::sql::{Column, Measure, Rows, Source};
use super::{Grouping, Question};
use crate::ledger::Visible;
use crate::money::{Currency, Decimal};

/// What an answer is made from.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// `None` where nothing was billed.
    pub denomination: Option<Denomination>,
    pub other_currencies: Vec<Currency>,
    pub left_out: LeftOut,
    pub groups: Vec<Sum>,
}

/// A group, and what it is broken down into.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// `None`: no value.
    pub key: Option<String>,
    /// How many groups it was folded from; `None` for one that is itself.
    pub stands_for: Option<usize>,
    pub figures: Figures,
    pub inside: Vec<Sum>,
}

/// What is summed of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub cost: Decimal,
    pub previous: Decimal,
    /// Accelerator time that was paid for, in part-seconds.
    pub part_seconds: Decimal,
    /// Of `cost`, what was paid for the use of accelerators.
    pub accelerator_cost: Decimal,
    /// Accelerator time of machines that are owned, in part-seconds.
    pub owned_seconds: Decimal,
    /// Of `cost`, what everything that is owned cost, used or not.
    pub owned_cost: Decimal,
    /// Of `cost`, what commitments cost that nothing used.
    pub unused_cost: Decimal,
}

impl std::ops::AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.cost += other.cost;
        self.previous += other.previous;
        self.part_seconds += other.part_seconds;
        self.accelerator_cost += other.accelerator_cost;
        self.owned_seconds += other.owned_seconds;
        self.owned_cost += other.owned_cost;
        self.unused_cost += other.unused_cost;
    }
}

impl std::iter::Sum for Figures {
    fn sum<I: Iterator<Item = Self>>(figures: I) -> Self {
        figures.fold(Self::default(), |mut sum, next| {
            sum += next;
            sum
        })
    }
}

/// Sums a question's groups, largest first; time in its order.
pub(super) async fn sums_of(
    db: &mut PgConnection,
    question: &Question,
    basis: &Basis,
    sequence: i64,
) -> sqlx::Result<Sums> {
    let found = denominate(db, question, basis, sequence).await?;
    let Some(denomination) = found.denomination else {
        return Ok(Sums {
            denomination: None,
            other_currencies: found.others,
            left_out: LeftOut::default(),
            groups: Vec::new(),
        });
    };
    let source = source_of(db, question.dimensions(), basis).await?;
    let groups = groups(db, question, basis, &denomination, source).await?;
    let left_out = left_out(db, question, basis, &denomination, source).await?;
    Ok(Sums { denomination: Some(denomination), other_currencies: found.others, left_out, groups })
}

async fn groups(
    db: &mut PgConnection,
    question: &Question,
    basis: &Basis,
    denomination: &Denomination,
    source: Source,
) -> sqlx::Result<Vec<Sum>> {
    let compared = if question.by.is_time() { question.period } else { question.period.previous() };
    let rows = Rows {
        question,
        basis,
        source,
        denomination: Some(denomination),
        first: compared.first(),
        last: question.period.last(),
    };
    let first_day = question.period.first().first_day();
    let mut query = QueryBuilder::<Postgres>::new("select ");
    query.push(rows.value("key", &question.by));
    query.push(" as key, ");
    match &question.then {
        Some(then) => query.push(rows.value("inside", then)),
        None => query.push("null"),
    };
    query.push(" as inside");
    for (name, sum, comparison) in [
        ("cost", rows.amount("cost"), ">="),
        ("previous", rows.amount("cost"), "<"),
        ("part_seconds", rows.sum("part_seconds"), ">="),
        ("accelerator_cost", rows.amount("accelerator_cost"), ">="),
        ("owned_seconds", rows.sum("owned_seconds"), ">="),
        ("owned_cost", rows.amount("owned_cost"), ">="),
        ("unused_cost", rows.amount("unused_cost"), ">="),
    ] {
        query.push(format!(", coalesce(sum({sum}) filter (where c.billing_month {comparison} "));
        query.push_bind(first_day);
        query.push(format!("), 0) as {name}"));
    }
    let mut columns = vec![Column::Value("key", &question.by)];
    columns.extend(question.then.as_ref().map(|then| Column::Value("inside", then)));
    let measures = [
        Measure::Cost,
        Measure::PartSeconds,
        Measure::AcceleratorCost,
        Measure::OwnedSeconds,
        Measure::OwnedCost,
        Measure::UnusedCost,
    ];
    rows.push(&mut query, &measures, &columns);
    query.push(" group by 1");
    if question.then.is_some() {
        query.push(", 2");
    }
    let rows = query.build().fetch_all(db).await?;
    let mut groups: Vec<Sum> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for row in rows {
        let key: Option<String> = row.try_get("key")?;
        let figures = Figures {
            cost: row.try_get("cost")?,
            previous: row.try_get("previous")?,
            part_seconds: row.try_get("part_seconds")?,
            accelerator_cost: row.try_get("accelerator_cost")?,
            owned_seconds: row.try_get("owned_seconds")?,
            owned_cost: row.try_get("owned_cost")?,
            unused_cost: row.try_get("unused_cost")?,
        };
        let place = *places.entry(key.clone()).or_insert_with(|| {
            groups.push(Sum { key, ..Sum::default() });
            groups.len() - 1
        });
        groups[place].figures += figures;
        if question.then.is_some() {
            let key = row.try_get("inside")?;
            groups[place].inside.push(Sum { key, figures, ..Sum::default() });
        }
    }
    for group in &mut groups {
        order(&mut group.inside, question.then.as_ref());
    }
    order(&mut groups, Some(&question.by));
    Ok(groups)
}

/// Largest first, time in its order.
fn order(groups: &mut [Sum], by: Option<&Grouping>) {
    if by.is_some_and(Grouping::is_time) {
        groups.sort_by(|a, b| a.key.cmp(&b.key));
    } else {
        groups.sort_by(|a, b| {
            let (x, y) = (&a.figures, &b.figures);
            y.cost.cmp(&x.cost).then(y.previous.cmp(&x.previous)).then_with(|| a.key.cmp(&b.key))
        });
    }
}

/// The coarsest rows that have these dimensions.
pub(super) async fn source_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    basis: &Basis,
) -> sqlx::Result<Source> {
    let of_owners = |dimension: &Grouping| dimension.is_allocated() || dimension.is_time();
    if basis.allocation.is_needed() && dimensions.clone().all(of_owners) {
        let by_day = dimensions.clone().any(|dimension| *dimension == Grouping::Day);
        return Ok(match by_day {
            false => Source::Attributed,
            true if dimensions.clone().all(is_of_charged) => Source::ChargedDays,
            true => Source::AttributedDays,
        });
    }
    items_source_of(db, dimensions, basis).await
}

/// The coarsest of those that know what was bought.
pub(super) async fn items_source_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    basis: &Basis,
) -> sqlx::Result<Source> {
    let is_of_items = |dimension: &Grouping| match dimension {
        Grouping::Day => false,
        Grouping::Provider
        | Grouping::Account
        | Grouping::Service
        | Grouping::Region
        | Grouping::Accelerator
        | Grouping::Pricing
        | Grouping::Category
        | Grouping::CommitmentStatus
        | Grouping::Sku => true,
        other => is_of_charged(other),
    };
    if basis.allocation.is_needed() && dimensions.clone().all(is_of_items) {
        return Ok(Source::ChargedItems);
    }
    keys_source_of(db, dimensions, basis).await
}

/// Whether it is told by who is charged, or by time.
fn is_of_charged(dimension: &Grouping) -> bool {
    let says_part = matches!(dimension, Grouping::Pool | Grouping::PoolPart);
    dimension.divides() || says_part || dimension.is_time()
}

/// The coarsest of those that know keys.
pub(super) async fn keys_source_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    basis: &Basis,
) -> sqlx::Result<Source> {
    Ok(rollup_of(db, dimensions, &basis.visible).await?.allocated(&basis.allocation))
}

/// The coarsest of those that know keys and deliveries: noisy tags are kept with the charges of the deliveries they are
/// noisy in.
pub(super) async fn rollup_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    visible: &Visible,
) -> sqlx::Result<Source> {
    let tags: Vec<String> = dimensions
        .clone()
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
    Ok(Source::rollup(dimensions, is_noisy))
}
