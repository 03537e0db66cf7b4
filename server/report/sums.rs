//! The sums behind an answer: every group of a question, before some are chosen, folded and ordered.

use futures_util::TryStreamExt as _;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::compared::{DaysBefore, SameDays};
use super::denomination::{Denomination, LeftOut, denominate, left_out};
use super::payers::Payers;
use super::snapshot::Snapshot;
use super::sql::{Column, Measure, OfCharges, Rows, Source};
use super::{Grouping, Question};
use crate::accounts::Viewer;
use crate::compute;
use crate::ledger::ActiveImports;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// What an answer is made from.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// `None` where nothing was billed.
    pub denomination: Option<Denomination>,
    pub other_currencies: Vec<Currency>,
    pub left_out: LeftOut,
    pub groups: Vec<Sum>,
    /// Of groups that come after these: how many, and what they sum to.
    pub beyond: (usize, Figures),
}

impl Sums {
    /// Keeps the first groups, and of the others their number and sum.
    pub fn first(mut self, most: usize) -> Self {
        let rest = self.groups.split_off(most.min(self.groups.len()));
        // What was moved out leaves its room behind.
        self.groups.shrink_to_fit();
        self.beyond.0 += rest.len();
        self.beyond.1 += rest.iter().map(|sum| sum.figures).sum();
        self
    }
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
    snapshot: &Snapshot,
    sequence: i64,
) -> sqlx::Result<Sums> {
    let found = denominate(db, question, snapshot, sequence).await?;
    let Some(denomination) = &found.denomination else {
        return Ok(Sums {
            denomination: None,
            other_currencies: found.others,
            left_out: LeftOut::default(),
            groups: Vec::new(),
            beyond: Default::default(),
        });
    };
    let source = source_of(db, (question.dimensions(), &question.viewer), snapshot).await?;
    let groups = groups(db, question, snapshot, denomination, source).await?;
    let left_out = left_out(db, question, snapshot, &found, source).await?;
    let (denomination, other_currencies) = (found.denomination, found.others);
    Ok(Sums { denomination, other_currencies, left_out, groups, beyond: Default::default() })
}

async fn groups(
    db: &mut PgConnection,
    question: &Question,
    snapshot: &Snapshot,
    denomination: &Denomination,
    source: Source,
) -> sqlx::Result<Vec<Sum>> {
    let apart = Apart::of(question, snapshot);
    // Of the period before what is compared whole, up to where that is read by itself.
    let before = apart.as_ref().map_or(question.period.first(), |apart| apart.since(question));
    let is_alone = question.by.is_time() || before == question.period.previous().first();
    let compared = if is_alone { question.period } else { question.period.previous() };
    let rows = Rows {
        question,
        snapshot,
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
    let mut payers = Payers::of(question);
    payers.push(&mut query, &rows);
    for (name, sum, comparison, day) in [
        ("cost", rows.amount("cost"), ">=", first_day),
        ("previous", rows.amount("cost"), "<", before.first_day()),
        ("part_seconds", rows.sum("part_seconds"), ">=", first_day),
        ("accelerator_cost", rows.amount("accelerator_cost"), ">=", first_day),
        ("owned_seconds", rows.sum("owned_seconds"), ">=", first_day),
        ("owned_cost", rows.amount("owned_cost"), ">=", first_day),
        ("unused_cost", rows.amount("unused_cost"), ">=", first_day),
    ] {
        query.push(format!(", coalesce(sum({sum}) filter (where c.billing_month {comparison} "));
        query.push_bind(day);
        query.push(format!("), 0) as {name}"));
    }
    let mut columns = vec![Column::Value("key", &question.by)];
    columns.extend(question.then.as_ref().map(|then| Column::Value("inside", then)));
    columns.extend(payers.columns().iter().copied());
    let measures = [
        Measure::Cost,
        Measure::PartSeconds,
        Measure::AcceleratorCost,
        Measure::OwnedSeconds,
        Measure::OwnedCost,
        Measure::UnusedCost,
    ];
    rows.push(&mut query, &measures, &columns);
    query.push(match (question.hides_payers_in_groups(), &question.then) {
        (true, _) => " group by 1, 2, 3, 4",
        (false, Some(_)) => " group by 1, 2",
        (false, None) => " group by 1",
    });
    let mut groups: Vec<Sum> = Vec::new();
    let mut places = std::collections::HashMap::new();
    // By resource there are hundreds of thousands: not all at once as the database sends them.
    let mut rows = query.build().fetch(&mut *db);
    while let Some(row) = rows.try_next().await? {
        let key = payers.hide(&row, &question.by, row.try_get("key")?)?;
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
        if let Some(then) = &question.then {
            let key = payers.hide(&row, then, row.try_get("inside")?)?;
            groups[place].inside.push(Sum { key, figures, ..Sum::default() });
        }
    }
    drop(rows);
    if let Some(apart) = apart.filter(|_| !question.by.is_time()) {
        for (key, inside, previous) in apart.sums(db, question, snapshot, denomination).await? {
            let figures = Figures { previous, ..Figures::default() };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                groups.push(Sum { key, ..Sum::default() });
                groups.len() - 1
            });
            groups[place].figures += figures;
            if question.then.is_none() {
                continue;
            }
            match groups[place].inside.iter_mut().find(|known| known.key == inside) {
                Some(known) => known.figures += figures,
                None => groups[place].inside.push(Sum { key: inside, figures, ..Sum::default() }),
            }
        }
    }
    let (by, then, hides_payers) =
        (question.by.clone(), question.then.clone(), question.hides_payers_in_groups());
    let ordered = compute::over(groups.len(), move || {
        for group in &mut groups {
            if hides_payers {
                merge(&mut group.inside);
            }
            order(&mut group.inside, then.as_ref());
        }
        order(&mut groups, Some(&by));
        groups
    });
    Ok(ordered.await?)
}

/// What is compared with, where it is not all of the period before: it is read by itself.
pub(super) enum Apart<'a> {
    /// The days that the period has come to itself.
    SameDays(&'a SameDays),
    /// What is asked of the days before those that are asked for; of the same dates, as far as the period has come itself.
    DaysBefore(Box<DaysBefore>, Option<&'a SameDays>),
}

impl<'a> Apart<'a> {
    pub fn of(question: &Question, snapshot: &'a Snapshot) -> Option<Self> {
        let same_days = snapshot.same_days.as_deref();
        match question.days_before() {
            Some(before) => {
                let is_of_period_before = before.last < question.period.first();
                let same_days = same_days.filter(|_| is_of_period_before);
                Some(Self::DaysBefore(Box::new(before), same_days))
            }
            None => same_days.map(Self::SameDays),
        }
    }

    /// From which month on the period before is read by itself.
    pub fn since(&self, question: &Question) -> BillingMonth {
        match self {
            Self::SameDays(same_days) => same_days.since,
            Self::DaysBefore(..) => question.period.previous().first(),
        }
    }

    /// What its rows have to know, days among it.
    pub fn dimensions<'q>(&'q self, question: &'q Question) -> impl Iterator<Item = &'q Grouping> + Clone {
        let asked = match self {
            Self::SameDays(_) => question,
            Self::DaysBefore(before, _) => &before.asked,
        };
        asked.dimensions().chain([&Grouping::Day])
    }

    /// The rows of it, from those that know [`Self::dimensions`].
    pub fn rows<'r>(
        &'r self,
        question: &'r Question,
        snapshot: &'r Snapshot,
        denomination: Option<&'r Denomination>,
        source: Source,
    ) -> (Rows<'r>, Option<&'r SameDays>) {
        let (asked, last, same_days) = match self {
            Self::SameDays(same_days) => (question, question.period.previous().last(), Some(*same_days)),
            Self::DaysBefore(before, same_days) => (&before.asked, before.last, *same_days),
        };
        let first = self.since(question);
        (Rows { question: asked, snapshot, source, denomination, first, last }, same_days)
    }

    /// What each group, and each within a group, cost.
    async fn sums(
        &self,
        db: &mut PgConnection,
        question: &Question,
        snapshot: &Snapshot,
        denomination: &Denomination,
    ) -> sqlx::Result<Vec<(Option<String>, Option<String>, Decimal)>> {
        let source = source_of(db, (self.dimensions(question), &question.viewer), snapshot).await?;
        let (rows, same_days) = self.rows(question, snapshot, Some(denomination), source);
        let mut query = QueryBuilder::<Postgres>::new("select ");
        query.push(rows.value("key", &question.by));
        query.push(" as key, ");
        match &question.then {
            Some(then) => query.push(rows.value("inside", then)),
            None => query.push("null"),
        };
        query.push(" as inside");
        let mut payers = Payers::of(question);
        payers.push(&mut query, &rows);
        query.push(format!(", sum({}) as cost", rows.amount("cost")));
        let mut columns = vec![Column::Value("key", &question.by)];
        columns.extend(question.then.as_ref().map(|then| Column::Value("inside", then)));
        columns.extend(payers.columns().iter().copied());
        rows.push_up_to(&mut query, same_days, &[Measure::Cost], &columns);
        query.push(if question.hides_payers_in_groups() { " group by 1, 2, 3, 4" } else { " group by 1, 2" });
        let rows = query.build().fetch_all(db).await?;
        let mut sums = Vec::with_capacity(rows.len());
        for row in rows {
            let key = payers.hide(&row, &question.by, row.try_get("key")?)?;
            let mut inside = row.try_get("inside")?;
            if let Some(then) = &question.then {
                inside = payers.hide(&row, then, inside)?;
            }
            sums.push((key, inside, row.try_get("cost")?));
        }
        Ok(sums)
    }
}

/// Adds up those of the same key.
fn merge(sums: &mut Vec<Sum>) {
    sums.sort_by(|a, b| a.key.cmp(&b.key));
    sums.dedup_by(|next, kept| {
        let is_same = next.key == kept.key;
        if is_same {
            kept.figures += next.figures;
        }
        is_same
    });
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
    (dimensions, viewer): (impl Iterator<Item = &'a Grouping> + Clone, &Viewer),
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    let of_owners = |dimension: &Grouping| dimension.is_allocated() || dimension.is_time();
    if snapshot.allocation.is_needed() && dimensions.clone().all(of_owners) {
        let by_day = dimensions.clone().any(|dimension| *dimension == Grouping::Day);
        return Ok(match by_day {
            false => Source::Attributed,
            true if dimensions.clone().all(is_of_charged) => Source::ChargedDays,
            true => Source::AttributedDays,
        });
    }
    items_source_of(db, (dimensions, viewer), snapshot).await
}

/// The coarsest of those that know what was bought.
pub(super) async fn items_source_of<'a>(
    db: &mut PgConnection,
    (dimensions, viewer): (impl Iterator<Item = &'a Grouping> + Clone, &Viewer),
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    let is_of_items = |dimension: &Grouping| match dimension {
        Grouping::Provider
        | Grouping::Account
        | Grouping::Service
        | Grouping::Region
        | Grouping::Accelerator
        | Grouping::Pricing
        | Grouping::Category
        | Grouping::CommitmentStatus
        | Grouping::UsageType
        | Grouping::Sku => true,
        other => is_of_charged(other),
    };
    if dimensions.clone().all(is_of_items) {
        let by_day = dimensions.clone().any(|dimension| *dimension == Grouping::Day);
        if snapshot.allocation.is_needed() {
            return Ok(if by_day { Source::ItemDays } else { Source::Items });
        }
        // Without teams, what a lead sees is decided by a tag.
        if *viewer == Viewer::Everything {
            return Ok(if by_day { Source::TotalDays } else { Source::Totals });
        }
    }
    keys_source_of(db, dimensions, snapshot).await
}

/// Whether it is decided by who is charged, or by time.
fn is_of_charged(dimension: &Grouping) -> bool {
    let says_part = matches!(dimension, Grouping::Pool | Grouping::PoolPart);
    dimension.divides() || says_part || dimension.is_time()
}

/// The coarsest of those that know keys.
pub(super) async fn keys_source_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    Ok(rollup_of(db, dimensions, &snapshot.visible).await?.allocated(&snapshot.allocation))
}

/// The coarsest of those that know keys and deliveries: noisy tags are kept with the charges of the deliveries they are
/// noisy in.
pub(super) async fn rollup_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    visible: &ActiveImports,
) -> sqlx::Result<Source> {
    let tags: Vec<String> = dimensions
        .clone()
        .filter_map(|dimension| match dimension {
            Grouping::Tag(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    let by_resource = dimensions.clone().any(|dimension| *dimension == Grouping::Resource);
    if tags.is_empty() && !by_resource {
        return Ok(Source::rollup(dimensions, OfCharges::default()));
    }
    let only = sqlx::query_as!(
        OfCharges,
        r#"select coalesce(bool_or(noisy_tags && $1), false) as "tag!",
               coalesce(bool_or(not has_resources), false) as "resource!"
           from deliveries
           where delivery_id = any($2)"#,
        &tags,
        visible.deliveries(),
    )
    .fetch_one(db)
    .await?;
    Ok(Source::rollup(dimensions, only))
}
