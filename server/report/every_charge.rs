//! All charges behind a figure, however many: a cursor that hands them out in parts.

use sqlx::{PgPool, Postgres, QueryBuilder, Transaction};
use uuid::Uuid;

use super::charges::{ChargeLine, Selection};
use super::sql::Source;
use super::{Answers, Question, Spend};
use crate::ledger::ActiveImports;

/// Charges in a part: enough to keep both sides busy, few enough to forget.
const PART: i64 = 2_000;

/// A place among the charges. Dropping it ends the query, whoever has read how far.
pub struct EveryCharge {
    cursor: Transaction<'static, Postgres>,
    hides_payers: bool,
}

impl EveryCharge {
    /// In the order of the ledger, which needs no sorting, in every currency where none is asked for; each with its cost in
    /// that of the spend, as of whose step they are. Holds a connection until it is dropped.
    pub async fn open(
        pool: &PgPool,
        question: &Question,
        spend: &Spend,
        key: Option<Uuid>,
    ) -> sqlx::Result<Self> {
        let sequence = spend.sequence;
        let mut cursor = pool.begin().await?;
        let (first, last) = (question.period.first(), question.period.last());
        let visible = ActiveImports::find(&mut cursor, first, last, sequence).await?;
        let allocation = Answers::default().allocation(&mut cursor, question, sequence).await?;
        let (visible, allocation) = (&visible, &allocation);
        let currency = question.currency.as_ref();
        let selection = Selection { question, currency, converted: Some(spend), key, visible, allocation };
        let mut query = QueryBuilder::new("declare every_charge no scroll cursor for ");
        selection.select(&mut query);
        selection.push(&mut query, Source::Charges);
        query.push(" order by c.billing_month, c.delivery_id, c.charge_key_id, c.file_no, c.row_no, c.charge_period_start");
        query.build().persistent(false).execute(&mut *cursor).await?;
        Ok(Self { cursor, hides_payers: question.hides_payers })
    }

    /// The next ones; none when all have been handed out.
    pub async fn next(&mut self) -> sqlx::Result<Vec<ChargeLine>> {
        let fetch = format!("fetch forward {PART} from every_charge");
        let rows =
            sqlx::query(sqlx::AssertSqlSafe(fetch)).persistent(false).fetch_all(&mut *self.cursor).await?;
        rows.iter().map(|row| ChargeLine::read(row, self.hides_payers)).collect()
    }
}
