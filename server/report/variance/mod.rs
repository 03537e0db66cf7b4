//! Why spend changed since the period before: `/variance/2026-09`, its `.json` and `.csv`.

mod parts;

use std::sync::Arc;

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

pub use parts::Parts;

use super::as_of::Error;
use super::basis::Basis;
use super::denomination::{Unconverted, denominate, left_out};
use super::question::SHARED;
use super::sql::{Column, Measure, Rows};
use super::sums::items_source_of;
use super::{CostBasis, Grouping, Question};
use crate::accounts::Viewer;
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
    pub sequence: i64,
    pub cost: CostBasis,
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
/// is paid for do not tell two apart, so that a move from on demand to a commitment is a change of price.
#[derive(Clone, Debug, Serialize)]
pub struct Movement {
    pub provider: String,
    pub service: String,
    pub item: String,
    pub region: String,
    pub category: String,
    pub accelerator: Option<String>,
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
    ("item", "coalesce(nullif(k.instance_type, ''), nullif(k.meter, ''), k.sku)"),
    ("region", "k.region"),
    ("category", "k.category"),
    ("accelerator", "k.accelerator"),
    ("unit", "k.unit"),
];

/// Compares a question's period with the one of the same length before it.
pub async fn variance(db: &mut PgConnection, question: &Question) -> Result<Variance, Error> {
    let (sequence, basis) = Basis::find(db, question).await?;
    Ok(variance_of(db, question, &basis, sequence).await?)
}

/// As [`variance`], where it is known what counts.
pub(super) async fn variance_of(
    db: &mut PgConnection,
    question: &Question,
    basis: &Basis,
    sequence: i64,
) -> sqlx::Result<Variance> {
    let mut answer = Variance {
        period: question.period,
        previous_period: question.period.previous(),
        sequence,
        cost: question.cost,
        currency: None,
        previous: None,
        total: None,
        parts: Parts::default(),
        teams_moved: basis.allocation.teams_moved(),
        movements: Arc::default(),
        other_currencies: Vec::new(),
        only: None,
        rates: Vec::new(),
        unconverted: Vec::new(),
        previous_unconverted: Vec::new(),
    };
    let denominated = denominate(db, question, basis, sequence).await?;
    answer.other_currencies = denominated.others;
    let Some(denomination) = denominated.denomination else {
        return Ok(answer);
    };
    if !answer.other_currencies.is_empty() {
        answer.only = Some(question.currency.as_ref().unwrap_or(denomination.currency()).clone());
    }
    let filtered = Question { by: Grouping::Month, then: None, ..question.clone() };
    let source = items_source_of(db, filtered.dimensions(), basis).await?;
    let rows = Rows {
        question: &filtered,
        basis,
        source,
        denomination: Some(&denomination),
        first: question.period.previous().first(),
        last: question.period.last(),
    };
    let mut query = QueryBuilder::<Postgres>::new("select c.currency");
    for (name, _) in ITEM {
        query.push(format!(", {} as {name}", rows.visible(name)));
    }
    for (name, sum) in
        [("local", rows.sum("cost")), ("cost", rows.amount("cost")), ("quantity", rows.sum("quantity"))]
    {
        for (when, comparison) in [("previous", "<"), ("current", ">=")] {
            query.push(format!(", coalesce(sum({sum}) filter (where c.billing_month {comparison} "));
            query.push_bind(question.period.first().first_day());
            query.push(format!("), 0) as {when}_{name}"));
        }
    }
    rows.push(
        &mut query,
        &[Measure::Cost, Measure::Quantity],
        &ITEM.map(|(name, sql)| Column::Sql(name, sql)),
    );
    query.push(" group by 1, 2, 3, 4, 5, 6, 7, 8");
    let (mut previous, mut total) = (Decimal::ZERO, Decimal::ZERO);
    let mut movements = Vec::new();
    // Of shared costs, which they are.
    let named = |item: String| match item.strip_prefix(SHARED) {
        Some(_) if question.viewer != Viewer::Everything => {
            basis.allocation.names.label(&Grouping::Pool, Some(&item))
        }
        _ => item,
    };
    for row in query.build().fetch_all(&mut *db).await? {
        let item = |when: &str| -> sqlx::Result<Before> {
            Ok(Before {
                local: row.try_get(format!("{when}_local").as_str())?,
                cost: row.try_get(format!("{when}_cost").as_str())?,
                quantity: row.try_get(format!("{when}_quantity").as_str())?,
            })
        };
        let (before, after) = (item("previous")?, item("current")?);
        let is_converted = row.try_get::<&str, _>("currency")? != denomination.currency().as_str();
        let parts = Parts::of(before, after, is_converted);
        answer.parts += parts;
        previous += before.cost;
        total += after.cost;
        if before.cost.is_zero() && after.cost.is_zero() {
            continue;
        }
        let has_quantity = !before.quantity.is_zero() || !after.quantity.is_zero();
        movements.push(Movement {
            provider: row.try_get("provider")?,
            service: row.try_get("service")?,
            item: named(row.try_get("item")?),
            region: row.try_get("region")?,
            category: row.try_get("category")?,
            accelerator: row.try_get("accelerator")?,
            previous: before.cost,
            cost: after.cost,
            change: after.cost - before.cost,
            parts,
            unit: if has_quantity { row.try_get("unit")? } else { String::new() },
            previous_quantity: before.quantity,
            quantity: after.quantity,
            price_currency: Currency::exactly(row.try_get("currency")?),
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
    let left_out = left_out(db, question, basis, &denomination, source).await?;
    (answer.unconverted, answer.previous_unconverted) = (left_out.of_period, left_out.of_previous);
    Ok(answer)
}
