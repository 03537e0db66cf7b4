//! The sums behind an answer: every group of a question, before some are chosen, folded and ordered.

use futures_util::TryStreamExt as _;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::cache::Remembered;
use super::compared_period::{ComparedPeriod, first_together, whole_until};
use super::denominate::{LeftOut, denominate, left_out};
use super::denomination::Denomination;
use super::payers::Payers;
use super::snapshot::{AsOf, Snapshot};
use super::sql::{Column, Measure, Rows, Source, source_of};
use super::{Grouping, Question};
use crate::cache::SizeInCache;
use crate::compute;
use crate::money::{Currency, Decimal};

/// What sums are remembered by.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct SumsOf {
    pub question: Question,
    pub snapshot: Snapshot,
    /// Without all that comes after the first groups.
    pub is_of_first: bool,
}

impl Remembered for SumsOf {
    type Answer = Sums;
}

impl SizeInCache for Sums {
    fn size_in_cache(&self) -> usize {
        fn of(sums: &[Sum]) -> usize {
            let text = |sum: &Sum| sum.key.as_ref().map_or(0, String::len);
            size_of_val(sums) + sums.iter().map(|sum| text(sum) + of(&sum.inside)).sum::<usize>()
        }
        size_of_val(self) + of(&self.groups)
    }
}

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
pub(super) async fn sums_of(db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Sums> {
    let AsOf { question, snapshot, .. } = asked;
    let found = denominate(db, asked).await?;
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
    let apart = ComparedPeriod::of(question, snapshot);
    // Of the period before what is compared whole, up to where that is read by itself.
    let before = whole_until(question, apart.as_ref());
    let mut rows = Rows::of_period(question, snapshot, source, Some(denomination));
    if !question.by.is_time() {
        rows.first = first_together(question, before);
    }
    let first_day = question.period.first().first_day();
    let mut payers = Payers::of(question);
    let mut query = select_groups(question, &rows, &payers);
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
    let measures = [
        Measure::Cost,
        Measure::PartSeconds,
        Measure::AcceleratorCost,
        Measure::OwnedSeconds,
        Measure::OwnedCost,
        Measure::UnusedCost,
    ];
    rows.push(&mut query, &measures, &columns_of(question, &payers));
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

impl ComparedPeriod<'_> {
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
        let mut payers = Payers::of(question);
        let mut query = select_groups(question, &rows, &payers);
        query.push(format!(", sum({}) as cost", rows.amount("cost")));
        rows.push_up_to(&mut query, same_days, &[Measure::Cost], &columns_of(question, &payers));
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

/// `select …`: what a question groups by, and who pays for it where that is to be hidden.
fn select_groups(question: &Question, rows: &Rows<'_>, payers: &Payers<'_>) -> QueryBuilder<Postgres> {
    let inside = question.then.as_ref().map_or("null".to_owned(), |then| rows.value("inside", then));
    let mut query =
        QueryBuilder::new(format!("select {} as key, {inside} as inside", rows.value("key", &question.by)));
    payers.push(&mut query, rows);
    query
}

/// What the rows of these are summed by.
fn columns_of<'a>(question: &'a Question, payers: &Payers<'_>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::Value("key", &question.by)];
    columns.extend(question.then.as_ref().map(|then| Column::Value("inside", then)));
    columns.extend(payers.columns());
    columns
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
