//! The charges behind a figure: the last step before the row of the file.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use crate::money::{Currency, Decimal};

use super::sql::{Source, push_filters, push_from, push_where};
use super::visible::Visible;
use super::{CostBasis, Question};

/// Up to this many charges are sorted by cost; more come in the order of the ledger, which needs no sorting.
const SORTED: i64 = 300_000;

/// Charges on a page.
pub const PAGE_SIZE: i64 = 100;

/// Which of the charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub first: i64,
    pub size: i64,
}

/// A page of charges, with the sums over all of them.
#[derive(Clone, Debug, Serialize)]
pub struct Charges {
    pub count: i64,
    pub total: Decimal,
    pub currency: Currency,
    pub cost: CostBasis,
    /// Largest first; false where there were too many to sort.
    pub is_sorted: bool,
    pub lines: Vec<ChargeLine>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ChargeLine {
    pub delivery: i64,
    pub file_no: i16,
    pub row: i64,
    pub charge_period_start: DateTime<Utc>,
    pub charge_period_end: DateTime<Utc>,
    pub provider: String,
    pub account: String,
    pub service: String,
    pub region: String,
    pub category: String,
    pub pricing: String,
    pub meter: String,
    pub accelerator: Option<String>,
    pub resource: Option<String>,
    pub quantity: Option<Decimal>,
    pub unit: String,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub contracted_cost: Decimal,
    pub list_cost: Decimal,
    pub currency: String,
    /// The one of the four that was asked for.
    #[serde(skip)]
    pub cost: Decimal,
    pub tags: serde_json::Value,
}

/// The charges that a question's period, currency and filters select.
pub async fn charges(
    db: &mut PgConnection,
    question: &Question,
    currency: &Currency,
    sequence: i64,
    page: Page,
) -> sqlx::Result<Charges> {
    let visible = Visible::find(db, question.period.first(), question.period.last(), sequence).await?;
    let selection = Selection { question, currency, visible: &visible };
    let cost = question.cost.column();
    let mut sums = QueryBuilder::new(format!("select count(*) as count, coalesce(sum({cost}), 0) as total"));
    selection.push(&mut sums, Source::Charges);
    let sums = sums.build().fetch_one(&mut *db).await?;
    let (count, total): (i64, Decimal) = (sums.try_get("count")?, sums.try_get("total")?);
    let is_sorted = count <= SORTED;

    let mut query = selection.lines();
    selection.push(&mut query, Source::Charges);
    query.push(" order by ");
    if is_sorted {
        query.push("cost desc, ");
    }
    query.push("c.delivery_id, c.charge_key_id, c.file_no, c.row_no limit ");
    query.push_bind(page.size);
    query.push(" offset ");
    query.push_bind(page.first);
    let lines =
        query.build().fetch_all(db).await?.iter().map(ChargeLine::read).collect::<sqlx::Result<_>>()?;
    Ok(Charges { count, total, currency: currency.clone(), cost: question.cost, is_sorted, lines })
}

/// The charges that a question selects, as SQL.
pub(super) struct Selection<'a> {
    pub question: &'a Question,
    pub currency: &'a Currency,
    pub visible: &'a Visible,
}

impl Selection<'_> {
    fn lines(&self) -> QueryBuilder<Postgres> {
        let mut query = QueryBuilder::new("");
        self.select(&mut query);
        query
    }

    /// `select …` of what [`ChargeLine::read`] reads.
    pub fn select(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(
            "select c.delivery_id, c.file_no, c.row_no, c.charge_period_start, c.charge_period_end, k.provider, \
             coalesce(nullif(k.sub_account, ''), k.billing_account) as account, k.service, k.region, k.category, \
             k.pricing, coalesce(nullif(k.instance_type, ''), k.meter) as meter, k.accelerator, \
             coalesce(k.resource_id, c.resource_id) as resource, c.consumed_quantity, k.unit, k.currency, \
             c.billed_cost, c.effective_cost, c.contracted_cost, c.list_cost, \
             k.tags || coalesce(t.tags, '{}') as tags, ",
        );
        query.push(format!("{} as cost", self.question.cost.column()));
    }

    /// `from … where …`: the rows that are selected.
    pub fn push(&self, query: &mut QueryBuilder<Postgres>, source: Source) {
        let Question { period, filters, viewer, .. } = self.question;
        push_from(query, source);
        push_where(query, period.first(), period.last(), self.visible);
        query.push(" and k.currency = ");
        query.push_bind(self.currency.as_str().to_owned());
        push_filters(query, filters, viewer, source);
    }
}

impl ChargeLine {
    pub(super) fn read(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            delivery: row.try_get("delivery_id")?,
            file_no: row.try_get("file_no")?,
            row: row.try_get("row_no")?,
            charge_period_start: row.try_get("charge_period_start")?,
            charge_period_end: row.try_get("charge_period_end")?,
            provider: row.try_get("provider")?,
            account: row.try_get("account")?,
            service: row.try_get("service")?,
            region: row.try_get("region")?,
            category: row.try_get("category")?,
            pricing: row.try_get("pricing")?,
            meter: row.try_get("meter")?,
            accelerator: row.try_get("accelerator")?,
            resource: row.try_get("resource")?,
            quantity: row.try_get("consumed_quantity")?,
            unit: row.try_get("unit")?,
            billed_cost: row.try_get("billed_cost")?,
            effective_cost: row.try_get("effective_cost")?,
            contracted_cost: row.try_get("contracted_cost")?,
            list_cost: row.try_get("list_cost")?,
            currency: row.try_get("currency")?,
            tags: row.try_get("tags")?,
            cost: row.try_get("cost")?,
        })
    }
}
