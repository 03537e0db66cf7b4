//! What a month cost by day and by what it is attributed to. Rollups have a row for each key; these sums have one for
//! each owner, and are what pages by owner, and the weights of shared costs, are read from.

use sqlx::{Connection, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::attribute::content_id;
use super::mapping;
use crate::accelerator;
use crate::ledger::Visible;
use crate::period::BillingMonth;

/// Counted up when the sums are made differently.
const VERSION: u32 = 1;

/// What the amounts are summed by, and the amounts.
const GROUP: &str = "currency, day, is_whole_period, is_accelerated";
const AMOUNTS: [&str; 6] =
    ["charges", "billed_cost", "effective_cost", "list_cost", "contracted_cost", "part_seconds"];

/// Sums that exist, of the same deliveries under another mapping.
struct Others {
    attributed_id: Uuid,
    set_id: Uuid,
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
        "select attributed_id, set_id from attributed_months where basis_id = $1 order by created_at desc limit 1",
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
    let mut query = QueryBuilder::<Postgres>::new(format!(
        "insert into attributed_costs (attributed_id, billing_month, attribution_id, {GROUP}, {}) ",
        AMOUNTS.join(", ")
    ));
    let insert = Insert { attributed_id, month, set_id, visible };
    match others {
        Some(others) => insert.push_changed(&mut query, &others),
        None => insert.push_whole(&mut query),
    }
    query.build().execute(&mut *tx).await?;
    tx.commit().await?;
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

/// What is written. Ids stand in the text as numbers, for the reason that [`Visible::push`] gives.
struct Insert<'a> {
    attributed_id: Uuid,
    month: BillingMonth,
    set_id: Uuid,
    visible: &'a Visible,
}

impl Insert<'_> {
    fn first_columns(&self) -> String {
        format!("select uuid '{}', date '{}'", self.attributed_id, self.month.first_day())
    }

    /// Every day of every key.
    fn push_whole(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(self.first_columns());
        query.push(", ka.attribution_id, ");
        query.push(summed_days());
        query.push(format!(
            " from daily_costs c join charge_keys k on k.charge_key_id = c.charge_key_id \
             join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = '{}'",
            self.set_id
        ));
        self.push_where(query);
        query.push(" group by 3, 4, 5, 6, 7");
    }

    /// The sums under another mapping, and the days of the keys that it attributes otherwise: taken from where
    /// they were, added where they are.
    fn push_changed(&self, query: &mut QueryBuilder<Postgres>, others: &Others) {
        query.push(format!(
            "with moved as (\
                 select charge_key_id, was.attribution_id as before_id, ka.attribution_id as after_id \
                 from key_attributions ka join key_attributions was using (charge_key_id) \
                 where ka.set_id = '{}' and was.set_id = '{}' and was.attribution_id <> ka.attribution_id\
             ), days as (select m.before_id, m.after_id, {} \
             from daily_costs c join moved m on m.charge_key_id = c.charge_key_id \
             join charge_keys k on k.charge_key_id = c.charge_key_id",
            self.set_id,
            others.set_id,
            summed_days(),
        ));
        self.push_where(query);
        let minus = AMOUNTS.map(|amount| format!("-{amount}")).join(", ");
        let amounts = AMOUNTS.join(", ");
        query.push(format!(
            " group by 1, 2, 3, 4, 5, 6), rows as (\
                 select attribution_id, {GROUP}, {amounts} from attributed_costs where attributed_id = '{}' \
                 union all select after_id, {GROUP}, {amounts} from days \
                 union all select before_id, {GROUP}, {minus} from days\
             ) ",
            others.attributed_id
        ));
        query.push(self.first_columns());
        query.push(format!(", attribution_id, {GROUP}"));
        for amount in AMOUNTS {
            query.push(format!(", sum({amount})"));
        }
        // Without charges there is no amount left either.
        query.push(format!(" from rows group by attribution_id, {GROUP} having sum(charges) > 0"));
    }

    fn push_where(&self, query: &mut QueryBuilder<Postgres>) {
        query.push(format!(" where c.billing_month = '{}'", self.month.first_day()));
        self.visible.push(query);
    }
}

/// [`GROUP`] and [`AMOUNTS`] of daily rows `c` with their keys `k`.
fn summed_days() -> String {
    let mut columns = "k.currency, c.day, c.is_whole_period, \
        k.accelerator is not null and k.category = 'Usage' as is_accelerated"
        .to_owned();
    for amount in AMOUNTS {
        let sum = match amount {
            "part_seconds" => {
                "coalesce(sum(c.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0)".to_owned()
            }
            amount => format!("sum(c.{amount})"),
        };
        columns += &format!(", {sum} as {amount}");
    }
    columns
}
