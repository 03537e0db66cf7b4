//! The charges behind a figure: the last step before the row of the file.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::cache::Remembered;
use super::denomination::{PLACES, Unconverted};
use super::snapshot::{Allocation, Snapshot};
use super::sql::{Source, push_filters, push_from, push_where, rollup_of};
use super::{Answers, CostMetric, Filter, Grouping, Question, Spend};
use crate::accounts::Viewer;
use crate::cache::SizeInCache;
use crate::exchange::Used;
use crate::ledger::{ActiveImports, Payer};
use crate::money::{Currency, Decimal};

/// Up to this many charges are sorted one by one; of more, the keys are, which rollups know the costs of.
const SORTED: i64 = 5_000;
/// The places of charges whose keys are remembered: the first fifty pages.
const RANKED: i64 = 5_000;
/// Of those that had to be read anyway, more are sorted.
const SCANNED_AND_SORTED: i64 = 300_000;

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
    /// Of the charges that are listed.
    pub total: Decimal,
    /// What a team, or the viewer's teams, have of shared costs, of which no charge is theirs alone: with it the total is
    /// that of the spend that leads here.
    pub shared: Decimal,
    /// What the total and the costs are counted in; each charge says what it was billed in.
    pub currency: Currency,
    /// The rates that amounts of other currencies are converted with.
    pub rates: Vec<Used>,
    /// What is listed and in no total, because its month has no rate.
    pub unconverted: Vec<Unconverted>,
    pub cost: CostMetric,
    pub order: Order,
    pub lines: Vec<ChargeLine>,
}

/// In which order charges come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The largest charge first.
    LargestFirst,
    /// The largest charge key first, its charges as its file has them.
    LargestKeyFirst,
    /// As the ledger keeps them.
    Ledger,
}

#[derive(Clone, Debug, Serialize, FromRow)]
pub struct ChargeLine {
    #[sqlx(rename = "delivery_id")]
    pub delivery: i64,
    pub file_no: i16,
    #[sqlx(rename = "row_no")]
    pub row: i64,
    /// With when it begins: which of the charges of its row it is.
    #[serde(skip)]
    pub charge_key_id: Uuid,
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
    #[sqlx(rename = "consumed_quantity")]
    pub quantity: Option<Decimal>,
    pub unit: String,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub contracted_cost: Decimal,
    pub list_cost: Decimal,
    /// What it was billed in, and these four costs are in.
    pub currency: String,
    /// The one of the four that was asked for, in the currency of the list; null where no rate converts it.
    pub cost: Option<Decimal>,
    pub tags: serde_json::Value,
}

impl Answers {
    /// The charges that a question's period, currency and filters select, counted as its spend is; only those of `key` where
    /// there is one. `None` where nothing was billed.
    pub async fn charges(
        &self,
        db: &mut PgConnection,
        question: &Question,
        spend: &Spend,
        key: Option<Uuid>,
        page: Page,
    ) -> sqlx::Result<Option<Charges>> {
        let (Some(currency), Some(whole)) = (&spend.currency, &spend.total) else { return Ok(None) };
        let asked = Question { by: Grouping::Provider, then: None, ..question.of_everything() };
        let snapshot = self.snapshot(db, &asked, spend.sequence).await?;
        let (visible, allocation) = (&*snapshot.visible, &*snapshot.allocation);
        let source = rollup_of(db, asked.dimensions(), visible).await?;
        let only = if spend.is_converted { question.currency.as_ref() } else { Some(currency) };
        let has_others = !spend.rates.is_empty() || !spend.unconverted.is_empty();
        let converted = Some(spend).filter(|spend| spend.is_converted && has_others);
        let selection = Selection { question, currency: only, converted, key, visible, allocation };
        let (count, total, order, lines) = if source == Source::Charges {
            selection.scan(db, page).await?
        } else if page.end() <= RANKED {
            let ranked = selection.ranked(&mut *db, source, 0..RANKED);
            let wanted = RankedKeys { question: asked.timeless(), snapshot: snapshot.clone(), key };
            let ranked = self.remember(wanted, ranked).await?;
            selection.of_ranked(db, &ranked, page).await?
        } else {
            let ranked = selection.ranked(&mut *db, source, page.first..page.end()).await?;
            selection.of_ranked(db, &ranked, page).await?
        };
        // Of a single key nothing is shared out, and elsewhere a list is all that there is.
        let is_divided = key.is_none() && allocation.divides(question);
        let unconverted =
            if spend.unconverted.is_empty() { Vec::new() } else { selection.unconverted(db, source).await? };
        Ok(Some(Charges {
            count,
            total,
            // What is left of converted amounts behind the places of an amount is of rounding.
            shared: if is_divided { (whole.amount - total).round(40).normalize() } else { Decimal::ZERO },
            currency: currency.clone(),
            rates: spend.rates.iter().filter(|used| used.month >= question.period.first()).cloned().collect(),
            unconverted,
            cost: question.cost,
            order,
            lines,
        }))
    }
}

impl Charges {
    /// With what there is of shared costs: the figure that leads here.
    pub fn whole(&self) -> Decimal {
        self.total + self.shared
    }
}

impl Page {
    fn end(self) -> i64 {
        self.first + self.size
    }
}

/// Number, sum, order, and a page.
type Found = (i64, Decimal, Order, Vec<ChargeLine>);

/// The charges that a question selects, as SQL.
pub(super) struct Selection<'a> {
    pub question: &'a Question,
    /// `None`: whatever they are billed in.
    pub currency: Option<&'a Currency>,
    /// The spend whose rates their costs are converted with; `None`: each is in its own currency.
    pub converted: Option<&'a Spend>,
    pub key: Option<Uuid>,
    pub visible: &'a ActiveImports,
    pub allocation: &'a Allocation,
}

/// What the keys that a list of charges begins with are remembered by; perhaps of one key alone.
#[derive(PartialEq, Eq, Hash)]
struct RankedKeys {
    question: Question,
    snapshot: Snapshot,
    key: Option<Uuid>,
}

impl Remembered for RankedKeys {
    type Answer = Ranked;
}

impl SizeInCache for Ranked {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + size_of_val(self.keys.as_slice())
    }
}

/// Keys of a selection in the order of their costs, the largest first, and what all of them amount to.
#[derive(Debug)]
struct Ranked {
    count: i64,
    total: Decimal,
    keys: Vec<KeyOfDelivery>,
}

/// The charges of one key in a delivery and month, as the rollups count them.
#[derive(Debug, FromRow)]
struct KeyOfDelivery {
    billing_month: NaiveDate,
    delivery_id: i64,
    charge_key_id: Uuid,
    charges: i64,
    /// Charges of the keys before it.
    before: i64,
}

impl Selection<'_> {
    /// The keys of the charges at these places. Rollups tell which keys there are, how many charges each has and what they
    /// cost; so a page of ten million charges reads a hundred of them, by the index of keys. Of a short list they are all keys.
    async fn ranked(
        &self,
        db: &mut PgConnection,
        source: Source,
        places: std::ops::Range<i64>,
    ) -> sqlx::Result<Ranked> {
        let mut query = QueryBuilder::new(
            "with keys as materialized (select c.billing_month, c.delivery_id, c.charge_key_id, ",
        );
        // A month has one row a key and delivery; its days are added up.
        let is_summed = source != Source::Months;
        query.push(if is_summed {
            "sum(c.charges)::bigint as charges, coalesce(sum("
        } else {
            "c.charges, coalesce(("
        });
        self.push_cost(&mut query);
        query.push("), 0) as cost");
        self.push(&mut query, source);
        if is_summed {
            query.push(" group by 1, 2, 3");
        }
        // Each key has a charge at least, so no place needs more of them than it has charges before it.
        query.push("), largest as (select * from keys order by cost desc, charge_key_id, delivery_id, billing_month limit ");
        query.push_bind(SORTED.max(places.end));
        query.push(
            "), ranked as (select *, (sum(charges) over (order by cost desc, charge_key_id, delivery_id, billing_month \
             rows unbounded preceding) - charges)::bigint as before from largest), \
             sums as (select coalesce(sum(charges), 0)::bigint as count, coalesce(sum(cost), 0) as total from keys) \
             select sums.count, sums.total, ranked.* from sums left join ranked on sums.count <= ",
        );
        query.push_bind(SORTED);
        query.push(" or (before < ");
        query.push_bind(places.end);
        query.push(" and before + charges > ");
        query.push_bind(places.start);
        query.push(") order by before");
        let rows = query.build().fetch_all(&mut *db).await?;
        let (count, total) = match rows.first() {
            Some(row) => (row.try_get("count")?, row.try_get("total")?),
            None => (0, Decimal::ZERO),
        };
        let is_key =
            |row: &&PgRow| row.try_get::<Option<i64>, _>("before").is_ok_and(|before| before.is_some());
        let keys = rows.iter().filter(is_key).map(KeyOfDelivery::from_row).collect::<sqlx::Result<_>>()?;
        Ok(Ranked { count, total, keys })
    }

    /// A page of charges, the keys at whose places are known.
    async fn of_ranked(&self, db: &mut PgConnection, ranked: &Ranked, page: Page) -> sqlx::Result<Found> {
        let Ranked { count, total, keys } = ranked;
        if keys.is_empty() {
            return Ok((*count, *total, Order::LargestFirst, Vec::new()));
        }
        if *count <= SORTED {
            let lines = self.sorted(db, keys, page).await?;
            return Ok((*count, *total, Order::LargestFirst, lines));
        }
        let is_on_page =
            |key: &&KeyOfDelivery| key.before < page.end() && key.before + key.charges > page.first;
        let keys: Vec<&KeyOfDelivery> = keys.iter().filter(is_on_page).collect();
        let lines = if keys.is_empty() { Vec::new() } else { self.of_keys(db, &keys, page).await? };
        Ok((*count, *total, Order::LargestKeyFirst, lines))
    }

    /// All charges of these keys, the largest first.
    async fn sorted(
        &self,
        db: &mut PgConnection,
        keys: &[KeyOfDelivery],
        page: Page,
    ) -> sqlx::Result<Vec<ChargeLine>> {
        let mut query = self.lines();
        push_from(&mut query, Source::Charges, &Allocation::default());
        query.push(" join unnest(");
        query.push_bind(keys.iter().map(|key| key.billing_month).collect::<Vec<_>>());
        query.push("::date[], ");
        query.push_bind(keys.iter().map(|key| key.delivery_id).collect::<Vec<_>>());
        query.push("::bigint[], ");
        query.push_bind(keys.iter().map(|key| key.charge_key_id).collect::<Vec<_>>());
        query.push(
            "::uuid[]) wanted (billing_month, delivery_id, charge_key_id) on wanted.billing_month = c.billing_month \
             and wanted.delivery_id = c.delivery_id and wanted.charge_key_id = c.charge_key_id",
        );
        self.push_where(&mut query, Source::Charges);
        self.push_of_charges(&mut query);
        query.push(
            " order by cost desc nulls last, c.delivery_id, c.charge_key_id, c.file_no, c.row_no, c.charge_period_start limit ",
        );
        query.push_bind(page.size);
        query.push(" offset ");
        query.push_bind(page.first);
        query.build().fetch_all(db).await?.iter().map(|row| self.read(row)).collect()
    }

    /// A page of the charges of these keys in their order, each key's in the order of that index: nothing is
    /// sorted, and of a key with a million charges a hundred are read.
    async fn of_keys(
        &self,
        db: &mut PgConnection,
        keys: &[&KeyOfDelivery],
        page: Page,
    ) -> sqlx::Result<Vec<ChargeLine>> {
        let mut query = self.lines();
        query.push(" from (");
        for (rank, key) in keys.iter().enumerate() {
            if rank > 0 {
                query.push(" union all ");
            }
            let skipped = (page.first - key.before).max(0);
            let taken = (page.first + page.size - key.before).min(key.charges) - skipped;
            // Numbers, dates and ids only; they let PostgreSQL choose the partition when it plans.
            query.push(format!(
                "(select {rank} as rank, c.* from full_charges c join charge_keys k on k.charge_key_id = c.charge_key_id \
                 where c.billing_month = '{}' and c.delivery_id = {} and c.charge_key_id = '{}'",
                key.billing_month, key.delivery_id, key.charge_key_id
            ));
            self.push_of_charges(&mut query);
            query.push(format!(
                " order by c.file_no, c.row_no, c.charge_period_start limit {taken} offset {skipped})"
            ));
        }
        query.push(
            ") c join charge_keys k on k.charge_key_id = c.charge_key_id \
             left join tag_sets t on t.tag_set_id = c.tag_set_id order by c.rank, c.file_no, c.row_no, c.charge_period_start",
        );
        query.build().fetch_all(db).await?.iter().map(|row| self.read(row)).collect()
    }

    /// Reads every charge that may match: for what only charges know, a resource or a noisy tag, and for files.
    async fn scan(&self, db: &mut PgConnection, page: Page) -> sqlx::Result<Found> {
        let mut sums = QueryBuilder::new("select count(*) as count, coalesce(sum(");
        self.push_cost(&mut sums);
        sums.push("), 0) as total");
        self.push(&mut sums, Source::Charges);
        let sums = sums.build().fetch_one(&mut *db).await?;
        let (count, total): (i64, Decimal) = (sums.try_get("count")?, sums.try_get("total")?);
        let order = if count <= SCANNED_AND_SORTED { Order::LargestFirst } else { Order::Ledger };
        let mut query = self.lines();
        self.push(&mut query, Source::Charges);
        query.push(" order by ");
        if order == Order::LargestFirst {
            query.push("cost desc nulls last, ");
        }
        query.push("c.delivery_id, c.charge_key_id, c.file_no, c.row_no, c.charge_period_start limit ");
        query.push_bind(page.size);
        query.push(" offset ");
        query.push_bind(page.first);
        let rows = query.build().fetch_all(db).await?;
        let lines = rows.iter().map(|row| self.read(row)).collect::<sqlx::Result<_>>()?;
        Ok((count, total, order, lines))
    }

    /// A charge as who asks may see it.
    fn read(&self, row: &PgRow) -> sqlx::Result<ChargeLine> {
        ChargeLine::read(row, self.question.hides_payers)
    }

    fn lines(&self) -> QueryBuilder<Postgres> {
        let mut query = QueryBuilder::new("");
        self.select(&mut query);
        query
    }

    /// `select …` of what [`ChargeLine::read`] reads.
    pub fn select(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(
            "select c.delivery_id, c.file_no, c.row_no, c.charge_key_id, c.charge_period_start, c.charge_period_end, k.provider, \
             coalesce(nullif(k.sub_account, ''), k.billing_account) as account, k.service, k.region, k.category, \
             k.pricing, coalesce(nullif(k.instance_type, ''), k.meter) as meter, k.accelerator, \
             coalesce(k.resource_id, c.resource_id) as resource, c.consumed_quantity, k.unit, k.currency, \
             c.billed_cost, c.effective_cost, c.contracted_cost, c.list_cost, \
             k.tags || coalesce(t.tags, '{}') as tags, k.billing_account, k.sub_account, ",
        );
        self.push_cost(query);
        query.push(" as cost");
    }

    /// The cost that was asked for, as it is counted; null where no rate converts it.
    fn push_cost(&self, query: &mut QueryBuilder<Postgres>) {
        let cost = self.question.cost.column();
        if self.converted.is_none() {
            query.push(cost);
            return;
        }
        query.push(format!("trim_scale(round({cost} * "));
        self.push_rate(query);
        query.push(format!(", {PLACES}))"));
    }

    /// What one of a row's currency is worth in its month; null without a rate.
    fn push_rate(&self, query: &mut QueryBuilder<Postgres>) {
        query.push("case when k.currency = ");
        let into = self.converted.and_then(|spend| spend.currency.as_ref());
        query.push_bind(into.map(|into| into.as_str().to_owned()));
        query.push(" then 1");
        for used in self.converted.iter().flat_map(|spend| &spend.rates) {
            query.push(" when k.currency = ");
            query.push_bind(used.currency.as_str().to_owned());
            query.push(" and c.billing_month = ");
            query.push_bind(used.month.first_day());
            query.push(" then ");
            query.push_bind(used.rate);
            query.push("::numeric");
        }
        query.push(" end");
    }

    /// What of the selection no rate converts.
    async fn unconverted(&self, db: &mut PgConnection, source: Source) -> sqlx::Result<Vec<Unconverted>> {
        let cost = self.question.cost.column();
        let mut query = QueryBuilder::new(format!("select c.billing_month, k.currency, sum({cost}) as cost"));
        self.push(&mut query, source);
        query.push(" and ");
        self.push_rate(&mut query);
        query.push(" is null group by 1, 2 order by 1, 2");
        query.build().fetch_all(db).await?.iter().map(Unconverted::read).collect()
    }

    /// `from … where …`: the rows that are selected.
    pub fn push(&self, query: &mut QueryBuilder<Postgres>, source: Source) {
        let Question { filters, viewer, .. } = self.question;
        push_from(query, source, self.allocation);
        self.push_where(query, source);
        if let Some(currency) = self.currency {
            query.push(" and k.currency = ");
            query.push_bind(currency.as_str().to_owned());
        }
        if let Some(key) = self.key {
            query.push(" and c.charge_key_id = ");
            query.push_bind(key);
        }
        push_filters(query, filters, viewer, (source, self.question.cost), self.allocation);
    }

    fn push_where(&self, query: &mut QueryBuilder<Postgres>, source: Source) {
        let months = (self.question.period.first(), self.question.period.last());
        push_where(query, source, months, self.visible, self.allocation);
    }

    /// `and …`: a key may have charges of other days, and of other resources, than those that are asked for.
    fn push_of_charges(&self, query: &mut QueryBuilder<Postgres>) {
        let is_of_charges = |filter: &&Filter| matches!(filter.dimension, Grouping::Day | Grouping::Resource);
        let filters: Vec<Filter> = self.question.filters.iter().filter(is_of_charges).cloned().collect();
        let of_charges = (Source::Charges, self.question.cost);
        push_filters(query, &filters, &Viewer::Everything, of_charges, &Allocation::default());
    }
}

impl ChargeLine {
    /// One of its four costs, in the currency that it was billed in.
    pub fn cost_in_its_currency(&self, cost: CostMetric) -> Decimal {
        match cost {
            CostMetric::Billed => self.billed_cost,
            CostMetric::Effective => self.effective_cost,
            CostMetric::Contracted => self.contracted_cost,
            CostMetric::List => self.list_cost,
        }
    }

    /// Without who pays where that is not for who asks.
    pub(super) fn read(row: &PgRow, hides_payer: bool) -> sqlx::Result<Self> {
        let mut line = Self::from_row(row)?;
        if hides_payer {
            let (billing_account, sub_account) =
                (row.try_get("billing_account")?, row.try_get("sub_account")?);
            line.hide(Payer::of(billing_account, sub_account, None).as_ref());
        }
        Ok(line)
    }

    /// Takes out who pays.
    fn hide(&mut self, payer: Option<&Payer>) {
        let Some(payer) = payer else { return };
        self.resource = self.resource.as_deref().map(|it| payer.hide(it));
        payer.hide_in_tags(&mut self.tags);
    }
}
