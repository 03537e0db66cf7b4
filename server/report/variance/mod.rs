//! Why spend changed since the period before: `/variance/2026-09`, its `.json` and `.csv`.

mod parts;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder, Row};

pub use parts::Parts;

use super::as_of::{Error, as_of};
use super::cache::Ask;
use super::compared::{Compared, SameDays};
use super::compared_period::{ComparedPeriod, first_together, whole_until};
use super::denominate::{denominate, left_out};
use super::denomination::Unconverted;
use super::question::SHARED;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, USAGE_TYPE, items_source_of};
use super::{Answers, CostMetric, Grouping, Question};
use crate::accounts::Viewer;
use crate::cache::SizeInCache;
use crate::exchange::Used;
use crate::money::{Currency, Decimal, Money};
use crate::period::Period;
use parts::Before;
pub(super) use parts::scaled;

/// Decimals of unit prices, which are for display.
const PRICE_PLACES: u8 = 6;

/// The answer. The parts, and the changes of all movements, sum to the change exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Variance {
    pub period: Period,
    pub previous_period: Period,
    /// What it is compared with: all of the period before, or the same days of it.
    pub compared: Compared,
    pub sequence: i64,
    pub cost: CostMetric,
    pub currency: Option<Currency>,
    pub previous: Option<Money>,
    pub total: Option<Money>,
    pub parts: Parts,
    /// The viewer's teams are not the same in all months that are compared: what joined or left is in these parts, as
    /// usage and price, too.
    pub teams_moved: bool,
    /// The largest change first, up or down.
    pub movements: Arc<[Movement]>,
    /// Currencies of the period that are in none of the figures.
    pub other_currencies: Vec<Currency>,
    /// The only currency whose charges these are, where there are others.
    #[serde(skip)]
    pub only: Option<Currency>,
    pub rates: Vec<Used>,
    /// What no rate converts is in none of the figures: of the period …
    pub unconverted: Vec<Unconverted>,
    /// … and of the one before, so that some of what looks new is not.
    pub previous_unconverted: Vec<Unconverted>,
}

/// Something that is bought: a machine type, a meter or a product of a service in a region. Who uses it and how it
/// is paid for do not distinguish two, so that a move from on demand to a commitment is a change of price.
#[derive(Clone, Debug, Serialize)]
pub struct Movement {
    pub provider: String,
    pub service: String,
    pub item: String,
    pub region: String,
    pub category: String,
    pub accelerator: Option<String>,
    /// Where it stands for a shared cost whose charges are not the viewer's to see: [`SHARED`] and the pool.
    #[serde(skip)]
    pub shared: Option<String>,
    pub previous: Decimal,
    pub cost: Decimal,
    pub change: Decimal,
    pub parts: Parts,
    /// What the quantities are counted in; empty without one.
    pub unit: String,
    pub previous_quantity: Decimal,
    pub quantity: Decimal,
    /// The currency it is billed in, and what a unit costs in it; null without a quantity.
    pub price_currency: Currency,
    pub previous_price: Option<Decimal>,
    pub price: Option<Decimal>,
}

/// What tells one thing that is bought from another.
const ITEM: [(&str, &str); 7] = [
    ("provider", "k.provider"),
    ("service", "k.service"),
    ("item", USAGE_TYPE),
    ("region", "k.region"),
    ("category", "k.category"),
    ("accelerator", "k.accelerator"),
    ("unit", "k.unit"),
];

/// What rows are added up by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, FromRow)]
struct Item {
    currency: String,
    provider: String,
    service: String,
    #[sqlx(rename = "item")]
    usage_type: String,
    region: String,
    category: String,
    accelerator: Option<String>,
    unit: String,
}

#[derive(Clone, Copy, Default)]
struct Sides {
    before: Before,
    after: Before,
}

/// The items of rows, as they were before a day and since another.
async fn items_of(
    db: &mut PgConnection,
    rows: &Rows<'_>,
    same_days: Option<&SameDays>,
    (before, since): (NaiveDate, NaiveDate),
) -> sqlx::Result<BTreeMap<Item, Sides>> {
    let mut query = QueryBuilder::<Postgres>::new("select c.currency");
    for (name, _) in ITEM {
        query.push(format!(", {} as {name}", rows.visible(name)));
    }
    for (name, sum) in
        [("local", rows.sum("cost")), ("cost", rows.amount("cost")), ("quantity", rows.sum("quantity"))]
    {
        for (when, comparison, day) in [("previous", "<", before), ("current", ">=", since)] {
            query.push(format!(", coalesce(sum({sum}) filter (where c.billing_month {comparison} "));
            query.push_bind(day);
            query.push(format!("), 0) as {when}_{name}"));
        }
    }
    let columns = ITEM.map(|(name, sql)| Column::Sql(name, sql));
    rows.push_up_to(&mut query, same_days, &[Measure::Cost, Measure::Quantity], &columns);
    query.push(" group by 1, 2, 3, 4, 5, 6, 7, 8");
    let mut items = BTreeMap::new();
    for row in query.build().fetch_all(db).await? {
        let side = |when: &str| -> sqlx::Result<Before> {
            Ok(Before {
                local: row.try_get(format!("{when}_local").as_str())?,
                cost: row.try_get(format!("{when}_cost").as_str())?,
                quantity: row.try_get(format!("{when}_quantity").as_str())?,
            })
        };
        let item = Item::from_row(&row)?;
        items.insert(item, Sides { before: side("previous")?, after: side("current")? });
    }
    Ok(items)
}

impl Answers {
    /// A question's period beside the one of the same length before it.
    pub async fn variance(&self, db: &mut PgConnection, question: &Question) -> Result<Variance, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let answer = self.ask(db, question, sequence, Compare).await?;
        Ok(Variance { sequence, ..Variance::clone(&answer) })
    }
}

/// Compares a question's period with the one of the same length before it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Compare;

impl Ask for Compare {
    type Answer = Variance;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Variance> {
        let AsOf { question, snapshot, sequence } = asked;
        let mut answer = Variance {
            period: question.period,
            previous_period: question.period.previous(),
            compared: Compared::of(question, snapshot.same_days.as_deref()),
            sequence,
            cost: question.cost,
            currency: None,
            previous: None,
            total: None,
            parts: Parts::default(),
            teams_moved: snapshot.allocation.teams_moved(),
            movements: Arc::default(),
            other_currencies: Vec::new(),
            only: None,
            rates: Vec::new(),
            unconverted: Vec::new(),
            previous_unconverted: Vec::new(),
        };
        let denominated = denominate(db, asked).await?;
        answer.other_currencies.clone_from(&denominated.others);
        let Some(denomination) = &denominated.denomination else {
            return Ok(answer);
        };
        if !answer.other_currencies.is_empty() {
            answer.only = Some(question.currency.as_ref().unwrap_or(denomination.currency()).clone());
        }
        let filtered = Question { by: Grouping::Month, then: None, ..question.clone() };
        let source = items_source_of(db, (filtered.dimensions(), &filtered.viewer), snapshot).await?;
        let apart = ComparedPeriod::of(&filtered, snapshot);
        let first_day = question.period.first().first_day();
        let before = whole_until(question, apart.as_ref());
        let rows = Rows {
            first: first_together(question, before),
            ..Rows::of_period(&filtered, snapshot, source, Some(denomination))
        };
        let mut items = items_of(db, &rows, None, (before.first_day(), first_day)).await?;
        if let Some(apart) = &apart {
            let source =
                items_source_of(db, (apart.dimensions(&filtered), &filtered.viewer), snapshot).await?;
            let (rows, same_days) = apart.rows(&filtered, snapshot, Some(denomination), source);
            // All of these are of before, whichever month they are in.
            let after = question.period.last().next().first_day();
            for (item, Sides { before, .. }) in items_of(db, &rows, same_days, (after, after)).await? {
                let known = &mut items.entry(item).or_default().before;
                known.local += before.local;
                known.cost += before.cost;
                known.quantity += before.quantity;
            }
        }
        let (mut previous, mut total) = (Decimal::ZERO, Decimal::ZERO);
        let mut movements = Vec::new();
        // Of shared costs, which they are.
        let is_shared = |item: &String| question.viewer != Viewer::Everything && item.starts_with(SHARED);
        for (item, Sides { before, after }) in items {
            let is_converted = item.currency != denomination.currency().as_str();
            let parts = Parts::of(before, after, is_converted);
            answer.parts += parts;
            previous += before.cost;
            total += after.cost;
            if before.cost.is_zero() && after.cost.is_zero() {
                continue;
            }
            let shared = Some(item.usage_type.clone()).filter(is_shared);
            let named =
                shared.as_ref().map(|pool| snapshot.allocation.names.label(&Grouping::Pool, Some(pool)));
            let has_quantity = !before.quantity.is_zero() || !after.quantity.is_zero();
            movements.push(Movement {
                provider: item.provider,
                service: item.service,
                item: named.unwrap_or(item.usage_type),
                shared,
                region: item.region,
                category: item.category,
                accelerator: item.accelerator,
                previous: before.cost,
                cost: after.cost,
                change: after.cost - before.cost,
                parts,
                unit: if has_quantity { item.unit } else { String::new() },
                previous_quantity: before.quantity,
                quantity: after.quantity,
                price_currency: Currency::exactly(&item.currency),
                previous_price: before.local.divide(before.quantity, PRICE_PLACES),
                price: after.local.divide(after.quantity, PRICE_PLACES),
            });
        }
        let size = |movement: &Movement| (movement.change.abs(), movement.cost.abs());
        movements.sort_by(|a: &Movement, b: &Movement| {
            size(b).cmp(&size(a)).then_with(|| (&a.provider, &a.item).cmp(&(&b.provider, &b.item)))
        });
        answer.movements = movements.into();
        let money = |amount| Money { amount, currency: denomination.currency().clone() };
        answer.currency = Some(denomination.currency().clone());
        (answer.previous, answer.total) = (Some(money(previous)), Some(money(total)));
        answer.rates = denomination.used();
        let left_out = left_out(db, question, snapshot, &denominated, source).await?;
        (answer.unconverted, answer.previous_unconverted) = (left_out.of_period, left_out.of_previous);
        Ok(answer)
    }
}

impl SizeInCache for Variance {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.movements.len() * 640
    }
}
