//! What a month cost by charge key, each key with what it says: what pages by owner and by a machine, a tag or a label beside
//! something else of a charge are read from. Rollups have a row for each delivery, and keys have a
//! table of their own.

use sqlx::{Connection, PgConnection, QueryBuilder};
use uuid::Uuid;

use super::cleanup::use_keys;
use super::key_owners::{self, MANY};
use super::rule_engine::content_id;
use crate::accelerator;
use crate::ledger::ActiveImports;
use crate::period::BillingMonth;

/// Counted up when the sums, or those by owner, are made differently.
const VERSION: u32 = 7;

/// What a row says of its key.
const OF_KEY: &str = "currency, category, pricing, provider, billing_account, sub_account, service, region, accelerator, \
                      instance_type, meter, sku, unit, commitment_discount_id, is_unused_commitment, resource_id, tags";
/// What is summed of it.
const AMOUNTS: [&str; 6] =
    ["charges", "billed_cost", "effective_cost", "list_cost", "contracted_cost", "metered_quantity"];

/// Sums what is active in a month by key, unless that was done. Answers its number.
pub(super) async fn key_costs(
    db: &mut PgConnection,
    month: BillingMonth,
    visible: &ActiveImports,
) -> sqlx::Result<Uuid> {
    let basis_id = content_id(&(VERSION, accelerator::VERSION, month.first_day(), visible));
    if visible.deliveries().is_empty() || use_keys(&mut *db, basis_id).await? {
        return Ok(basis_id);
    }
    let mut tx = db.begin().await?;
    key_owners::wait_for_turn(&mut tx, basis_id).await?;
    if use_keys(&mut tx, basis_id).await? {
        return Ok(basis_id);
    }
    sqlx::query!(
        "insert into keyed_months (basis_id, billing_month, deliveries) values ($1, $2, $3)",
        basis_id,
        month.first_day(),
        visible.deliveries(),
    )
    .execute(&mut *tx)
    .await?;
    let amounts = AMOUNTS.join(", ");
    let sums = AMOUNTS.map(|amount| format!("sum(c.{amount})::{} as {amount}", type_of(amount))).join(", ");
    // Ids stand in the text as numbers, for the reason that `ActiveImports::push` gives.
    let mut query = QueryBuilder::new(format!(
        "insert into keyed_costs (basis_id, billing_month, charge_key_id, scope_id, {amounts}, part_seconds, {OF_KEY}) \
         select uuid '{basis_id}', date '{}', charge_key_id, scope_id, {amounts}, \
         coalesce(metered_quantity * (unit_seconds * accelerator_parts), 0), {OF_KEY} \
         from (select c.charge_key_id, c.scope_id, {sums} from monthly_costs c where c.billing_month = '{}'",
        month.first_day(),
        month.first_day(),
    ));
    visible.push(&mut query);
    // In the order of the index, which is made faster so.
    query.push(" group by 1, 2) c join charge_keys using (charge_key_id) order by charge_key_id");
    let rows = query.build().execute(&mut *tx).await?.rows_affected();
    tx.commit().await?;
    if rows >= MANY {
        sqlx::query("analyze keyed_costs").execute(db).await?;
    }
    Ok(basis_id)
}

fn type_of(amount: &str) -> &'static str {
    if amount == "charges" { "bigint" } else { "numeric" }
}
