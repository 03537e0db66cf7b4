//! The history of imports: who delivered what, when, and what became of it; narrowed, sorted, page by page.

use serde::Serialize;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};

use super::imports::{ImportLine, lines_of};
use crate::enum_words::{words, written_as_str};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Lines on a page.
pub const HISTORY_PAGE: i64 = 50;

/// What the history is narrowed to. Empty: all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    pub state: Option<DeliveryState>,
    pub format: Option<String>,
    pub provider: Option<String>,
    /// A billing account.
    pub account: Option<String>,
    pub month: Option<BillingMonth>,
    /// Who handed it in.
    pub person: Option<String>,
}

words! {
    /// What became of a delivery, as people ask for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DeliveryState: as_str {
        /// At least one of its months is active.
        Active = "active";
        Replaced = "replaced";
        Waiting = "waiting";
        Undone = "undone";
        Refused = "refused";
        Failed = "failed";
        Discarded = "discarded";
        Cancelled = "cancelled";
    }
}

written_as_str!(DeliveryState);

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum HistoryOrder: as_str {
        #[default]
        Newest = "newest";
        Oldest = "oldest";
        Rows = "rows";
        Rejected = "rejected";
    }
}

written_as_str!(HistoryOrder);

/// A page of the history, with the sums over all of it.
#[derive(Clone, Debug, Serialize, FromRow)]
pub struct History {
    pub count: i64,
    pub rows_read: i64,
    pub charges: i64,
    pub rejected: i64,
    pub skipped: i64,
    /// What is active now of these deliveries, one per currency.
    #[sqlx(skip)]
    pub counted: Vec<CountedCost>,
    #[sqlx(skip)]
    pub lines: Vec<ImportLine>,
}

/// Billed cost of what is active.
#[derive(Clone, Debug, Serialize, FromRow)]
pub struct CountedCost {
    pub currency: String,
    pub billed_cost: Decimal,
}

/// What there is to choose from.
#[derive(Clone, Debug, Default)]
pub struct HistoryChoices {
    pub formats: Vec<String>,
    pub providers: Vec<String>,
    pub people: Vec<String>,
}

/// The deliveries of a filter: `first` of them left out, at most `limit`.
pub async fn history(
    db: &mut PgConnection,
    filter: &HistoryFilter,
    order: HistoryOrder,
    first: i64,
    limit: i64,
) -> sqlx::Result<History> {
    let mut query = QueryBuilder::new(
        "select count(*) as count, coalesce(sum(d.rows_read), 0)::bigint as rows_read, \
         coalesce(sum(d.charges), 0)::bigint as charges, coalesce(sum(d.rejected), 0)::bigint as rejected, \
         coalesce(sum(d.skipped), 0)::bigint as skipped",
    );
    filter.push(&mut query);
    let mut history: History = query.build_query_as().fetch_one(&mut *db).await?;

    let mut query = QueryBuilder::new(
        "select t.currency, sum(t.billed_cost) as billed_cost from visibility v \
         join delivery_totals t using (delivery_id, scope_id) join scopes s using (scope_id) \
         where v.until_sequence is null and v.delivery_id in (select d.delivery_id",
    );
    filter.push(&mut query);
    query.push(")");
    filter.push_scope(&mut query);
    query.push(" group by 1 order by 2 desc");
    history.counted = query.build_query_as().fetch_all(&mut *db).await?;

    let mut query = QueryBuilder::new("select d.delivery_id");
    filter.push(&mut query);
    query.push(match order {
        HistoryOrder::Newest => " order by d.delivery_id desc",
        HistoryOrder::Oldest => " order by d.delivery_id",
        HistoryOrder::Rows => " order by d.rows_read desc, d.delivery_id desc",
        HistoryOrder::Rejected => " order by d.rejected desc, d.delivery_id desc",
    });
    query.push(" limit ");
    query.push_bind(limit);
    query.push(" offset ");
    query.push_bind(first);
    let ids: Vec<i64> = query.build_query_scalar().fetch_all(&mut *db).await?;
    history.lines = lines_of(db, &ids).await?;
    history.lines.sort_by_key(|line| ids.iter().position(|id| *id == line.delivery));
    Ok(history)
}

/// What the history can be narrowed to.
pub async fn history_choices(db: &mut PgConnection) -> sqlx::Result<HistoryChoices> {
    let choices = sqlx::query!(
        r#"select
               array(select distinct format from deliveries where format is not null order by 1) as "formats!",
               array(select distinct provider from scopes order by 1) as "providers!",
               array(select distinct created_by from deliveries order by 1) as "people!""#
    )
    .fetch_one(db)
    .await?;
    Ok(HistoryChoices { formats: choices.formats, providers: choices.providers, people: choices.people })
}

impl HistoryFilter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `from … where …`. What a running import shows already is no history yet.
    fn push(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(
            " from deliveries d where (d.status <> 'loading' or not exists (select from jobs j \
             where j.batch_id = d.batch_id and j.status in ('queued', 'running')))",
        );
        match self.state {
            // What waits stands above the history, unless it is asked for.
            None => query.push(" and d.status <> 'waiting'"),
            Some(state) => query.push(state.condition()),
        };
        for (column, value) in [("d.format", &self.format), ("d.created_by", &self.person)] {
            if let Some(value) = value {
                query.push(format!(" and {column} = "));
                query.push_bind(value.clone());
            }
        }
        if self.provider.is_some() || self.account.is_some() || self.month.is_some() {
            query.push(
                " and d.delivery_id in (select ds.delivery_id from delivery_scopes ds \
                 join scopes s using (scope_id) where true",
            );
            self.push_scope(query);
            query.push(")");
        }
    }

    /// `and …` of the scope `s`.
    fn push_scope(&self, query: &mut QueryBuilder<Postgres>) {
        for (column, value) in [("s.provider", &self.provider), ("s.billing_account", &self.account)] {
            if let Some(value) = value {
                query.push(format!(" and {column} = "));
                query.push_bind(value.clone());
            }
        }
        if let Some(month) = self.month {
            query.push(" and s.billing_month = ");
            query.push_bind(month.first_day());
        }
    }
}

impl DeliveryState {
    pub fn parse(text: &str) -> Option<Self> {
        // What addresses said before.
        let text = match text {
            "counts" => "active",
            "superseded" => "replaced",
            text => text,
        };
        text.parse().ok()
    }

    fn condition(self) -> String {
        let has_active = "exists (select from visibility v \
             where v.delivery_id = d.delivery_id and v.until_sequence is null)";
        match self {
            Self::Active => format!(" and d.status = 'loaded' and {has_active}"),
            Self::Replaced => format!(" and d.status = 'loaded' and not {has_active}"),
            // The others are called as the column has them.
            other => format!(" and d.status = '{}'", other.as_str()),
        }
    }

    /// The state as pages spell it.
    pub fn on_page(self) -> &'static str {
        if self == Self::Cancelled { "canceled" } else { self.as_str() }
    }
}
