//! What a month cost by day and by what it is attributed to. Rollups have a row for each key; these sums have one for
//! each owner, and are what pages by owner, and the weights of shared costs, are read from.

use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::attribute::content_id;
use super::mapping::{self, MANY};
use crate::accelerator;
use crate::ledger::Visible;
use crate::period::BillingMonth;

/// Counted up when the sums are made differently.
const VERSION: u32 = 1;
/// Parts of a month, from which on they are added up to one.
const PARTS: usize = 8;

/// What the amounts are summed by, and the amounts.
const GROUP: &str = "currency, day, is_whole_period, is_accelerated";
const AMOUNTS: [&str; 6] =
    ["charges", "billed_cost", "effective_cost", "list_cost", "contracted_cost", "part_seconds"];

/// Sums that exist, of what counts as well, under another mapping.
struct Others {
    set_id: Uuid,
    parts: Vec<Uuid>,
}

/// Sums a month under a mapping that covers it, unless that was done.
pub(super) async fn attribute_costs(
    db: &mut PgConnection,
    month: BillingMonth,
    set_id: Uuid,
    visible: &Visible,
) -> sqlx::Result<Uuid> {
    let basis_id = content_id(&(VERSION, accelerator::VERSION, month.first_day(), visible));
    let attributed_id = content_id(&(basis_id, set_id));
    let is_empty = visible.deliveries().is_empty();
    if is_empty || is_kept(&mut *db, attributed_id).await? {
        return Ok(attributed_id);
    }
    let mut tx = db.begin().await?;
    mapping::wait_for_turn(&mut tx, attributed_id).await?;
    if is_kept(&mut tx, attributed_id).await? {
        return Ok(attributed_id);
    }
    let others = sqlx::query_as!(
        Others,
        r#"select set_id, (
               select coalesce(array_agg(part_id), '{}') from attributed_parts p
               where p.attributed_id = m.attributed_id
           ) as "parts!"
           from attributed_months m
           where basis_id = $1
           order by created_at desc
           limit 1"#,
        basis_id,
    )
    .fetch_optional(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into attributed_months (attributed_id, billing_month, set_id, basis_id) values ($1, $2, $3, $4)",
        attributed_id,
        month.first_day(),
        set_id,
        basis_id,
    )
    .execute(&mut *tx)
    .await?;
    let part = Part { id: new_part(&mut tx).await?, month, set_id, visible };
    let (parts, rows) = match others {
        Some(others) => part.add_difference(&mut tx, others).await?,
        None => (vec![part.id], part.add_whole(&mut tx).await?),
    };
    sqlx::query!(
        "insert into attributed_parts (attributed_id, part_id) select $1, unnest($2::uuid[])",
        attributed_id,
        &parts,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    if rows >= MANY {
        sqlx::query("analyze attributed_costs").execute(db).await?;
    }
    Ok(attributed_id)
}

async fn is_kept(db: &mut PgConnection, attributed_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (select from attributed_months where attributed_id = $1) as "kept!""#,
        attributed_id,
    )
    .fetch_one(db)
    .await
}

/// A part outlives the month it was made for where others were made from it, so it has a number of its own.
async fn new_part(db: &mut PgConnection) -> sqlx::Result<Uuid> {
    sqlx::query_scalar!(r#"select gen_random_uuid() as "id!""#).fetch_one(db).await
}

/// Rows that are added. Ids stand in the text as numbers, for the reason that [`Visible::push`] gives.
struct Part<'a> {
    id: Uuid,
    month: BillingMonth,
    set_id: Uuid,
    visible: &'a Visible,
}

impl Part<'_> {
    /// Every day of every key. Answers how many rows that made.
    async fn add_whole(&self, db: &mut PgConnection) -> sqlx::Result<usize> {
        let mut query = self.insert();
        query.push(format!(
            " ka.attribution_id, {} from daily_costs c join charge_keys k on k.charge_key_id = c.charge_key_id \
             join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = '{}'",
            summed_days(),
            self.set_id
        ));
        self.push_where(&mut query);
        query.push(" group by 3, 4, 5, 6, 7");
        execute(db, query).await
    }

    /// The days of the keys that are attributed otherwise than in another mapping: taken from where they were, added
    /// where they are. Answers the parts of the month, and how many rows were made.
    async fn add_difference(
        &self,
        db: &mut PgConnection,
        mut others: Others,
    ) -> sqlx::Result<(Vec<Uuid>, usize)> {
        // A table, so that PostgreSQL counts them before it looks for their days.
        let moved = format!(
            "create temporary table moved_keys on commit drop as \
             select charge_key_id, was.attribution_id as before_id, ka.attribution_id as after_id \
             from key_attributions ka join key_attributions was using (charge_key_id) \
             where ka.set_id = '{}' and was.set_id = '{}' and was.attribution_id <> ka.attribution_id",
            self.set_id, others.set_id,
        );
        sqlx::query(AssertSqlSafe(moved)).execute(&mut *db).await?;
        sqlx::query("analyze moved_keys").execute(&mut *db).await?;
        let mut query = QueryBuilder::<Postgres>::new(format!(
            "with days as (select m.before_id, m.after_id, {} \
             from moved_keys m join daily_costs c on c.charge_key_id = m.charge_key_id \
             join charge_keys k on k.charge_key_id = m.charge_key_id",
            summed_days(),
        ));
        self.push_where(&mut query);
        let (amounts, minus) = (AMOUNTS.join(", "), AMOUNTS.map(|amount| format!("-{amount}")).join(", "));
        query.push(format!(" group by 1, 2, 3, 4, 5, 6) {}", self.insert().sql().as_str()));
        query.push(format!(
            " after_id, {GROUP}, {amounts} from days \
             union all select uuid '{}', date '{}', before_id, {GROUP}, {minus} from days",
            self.id,
            self.month.first_day()
        ));
        let rows = execute(&mut *db, query).await?;
        others.parts.push(self.id);
        if others.parts.len() < PARTS {
            return Ok((others.parts, rows));
        }
        let merged = Self { id: new_part(&mut *db).await?, ..*self };
        let rows = merged.add_sum(db, &others.parts).await?;
        Ok((vec![merged.id], rows))
    }

    /// What parts come to together.
    async fn add_sum(&self, db: &mut PgConnection, parts: &[Uuid]) -> sqlx::Result<usize> {
        let mut query = self.insert();
        query.push(format!(" attribution_id, {GROUP}"));
        for amount in AMOUNTS {
            query.push(format!(", sum({amount})"));
        }
        query.push(" from attributed_costs where part_id = any(");
        query.push_bind(parts.to_vec());
        // Without charges there is no amount left either.
        query.push(format!(") group by attribution_id, {GROUP} having sum(charges) <> 0"));
        execute(db, query).await
    }

    /// `insert … select` up to the first column that is summed by.
    fn insert(&self) -> QueryBuilder<Postgres> {
        QueryBuilder::new(format!(
            "insert into attributed_costs (part_id, billing_month, attribution_id, {GROUP}, {}) \
             select uuid '{}', date '{}',",
            AMOUNTS.join(", "),
            self.id,
            self.month.first_day(),
        ))
    }

    fn push_where(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(format!(" where c.billing_month = '{}'", self.month.first_day()));
        self.visible.push(query);
    }
}

async fn execute(db: &mut PgConnection, mut query: QueryBuilder<Postgres>) -> sqlx::Result<usize> {
    let rows = query.build().execute(db).await?.rows_affected();
    Ok(usize::try_from(rows).unwrap_or(usize::MAX))
}

/// [`GROUP`] and [`AMOUNTS`] of daily rows `c` with their keys `k`.
fn summed_days() -> String {
    let amounts = AMOUNTS.map(|amount| match amount {
        "part_seconds" => {
            "coalesce(sum(c.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as part_seconds"
                .to_owned()
        }
        amount => format!("sum(c.{amount}) as {amount}"),
    });
    format!(
        "k.currency, c.day, c.is_whole_period, \
         k.accelerator is not null and k.category = 'Usage' as is_accelerated, {}",
        amounts.join(", ")
    )
}
