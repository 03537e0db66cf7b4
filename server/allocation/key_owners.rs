//! Mappings in PostgreSQL: which key belongs to whom, one set for all months whose configuration says the same.

use futures_util::TryStreamExt;
use rustc_hash::FxHashMap;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::cleanup::use_set;
use super::key_row::KeyRow;
use super::{Attribution, Configuration, MonthConfiguration, RuleEngine, digest};
use crate::ledger::ActiveImports;
use crate::period::BillingMonth;
use crate::store::{CopyRows, copy_rows};

/// Rows that PostgreSQL should know of before it plans with them.
pub(super) const MANY: u64 = 5_000;
/// Rows of a block.
const BLOCK: usize = 8 << 20;

/// Makes the sets of a configuration cover the keys of the deliveries that wait for somebody.
pub async fn cover_waiting(db: &mut PgConnection, configuration: &Configuration) -> sqlx::Result<()> {
    let waiting = sqlx::query!(
        "select distinct s.billing_month, ds.delivery_id
         from deliveries d
         join delivery_scopes ds using (delivery_id)
         join scopes s using (scope_id)
         where d.status = 'waiting'
         order by 1, 2"
    )
    .fetch_all(&mut *db)
    .await?;
    for of_month in waiting.chunk_by(|a, b| a.billing_month == b.billing_month) {
        let month = BillingMonth::of(of_month[0].billing_month);
        let deliveries = of_month.iter().map(|row| row.delivery_id).collect();
        let imports = ActiveImports::of_deliveries(&mut *db, deliveries).await?;
        cover(&mut *db, &configuration.of_month(month), &imports).await?;
    }
    Ok(())
}

/// The set of a month's configuration, made to cover the keys of these deliveries.
pub async fn cover(
    db: &mut PgConnection,
    configuration: &MonthConfiguration<'_>,
    visible: &ActiveImports,
) -> sqlx::Result<Uuid> {
    let (set_id, deliveries) = (digest(configuration, visible.catalog_version()), visible.deliveries());
    use_set(&mut *db, set_id).await?;
    if uncovered(db, set_id, deliveries).await?.is_empty() {
        return Ok(set_id);
    }
    let mut tx = db.begin().await?;
    wait_for_turn(&mut tx, set_id).await?;
    sqlx::query!("insert into attribution_sets (set_id) values ($1) on conflict do nothing", set_id)
        .execute(&mut *tx)
        .await?;
    let missing = uncovered(&mut tx, set_id, deliveries).await?;
    let (rows, attributions) = map(&mut tx, configuration, set_id, &missing).await?;
    let is_many = rows.iter().map(|block| block.rows() as u64).sum::<u64>() >= MANY;
    keep(&mut tx, &attributions).await?;
    for block in rows {
        copy_rows(
            &mut tx,
            "copy key_attributions (set_id, charge_key_id, attribution_id) from stdin (format binary)",
            block,
        )
        .await?;
    }
    sqlx::query!(
        "insert into attribution_set_deliveries (set_id, delivery_id) select $1, unnest($2::bigint[])",
        set_id,
        &missing,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    if is_many {
        // Whoever reads next would be given a set that nobody has counted, and look each key up by itself.
        sqlx::query("analyze key_attributions").execute(db).await?;
    }
    Ok(set_id)
}

/// Who wants to make the same waits until this transaction ends, and finds it.
pub(super) async fn wait_for_turn(db: &mut PgConnection, id: Uuid) -> sqlx::Result<()> {
    let lock = i64::from_be_bytes(id.as_bytes()[..8].try_into().unwrap_or_default());
    sqlx::query!("select pg_advisory_xact_lock($1)", lock).execute(db).await?;
    Ok(())
}

async fn uncovered(db: &mut PgConnection, set_id: Uuid, deliveries: &[i64]) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        r#"select wanted.delivery_id as "delivery_id!"
           from unnest($2::bigint[]) wanted (delivery_id)
           where wanted.delivery_id not in (
               select delivery_id from attribution_set_deliveries where set_id = $1
           )"#,
        set_id,
        deliveries,
    )
    .fetch_all(db)
    .await
}

/// Attributes the keys of deliveries that a set lacks.
async fn map(
    db: &mut PgConnection,
    configuration: &MonthConfiguration<'_>,
    set_id: Uuid,
    deliveries: &[i64],
) -> sqlx::Result<(Vec<CopyRows>, Vec<(Uuid, Attribution)>)> {
    // A pattern that is none is refused before it is kept.
    let attributor = RuleEngine::new(configuration).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let mut known: FxHashMap<Attribution, Uuid> = FxHashMap::default();
    let (mut blocks, mut rows) = (Vec::new(), CopyRows::with_capacity(BLOCK));
    let mut keys =
        sqlx::query_file_as!(KeyRow, "server/allocation/keys_to_map.sql", set_id, deliveries).fetch(db);
    while let Some(key) = keys.try_next().await? {
        let key_id = key.charge_key_id;
        let attribution = attributor.attribute(&key.into());
        let id = if let Some(id) = known.get(&attribution) {
            *id
        } else {
            let id = attribution.id();
            known.insert(attribution, id);
            id
        };
        rows.row(3).uuid(set_id).uuid(key_id).uuid(id);
        if rows.len() >= BLOCK {
            blocks.push(std::mem::replace(&mut rows, CopyRows::with_capacity(BLOCK)));
        }
    }
    blocks.push(rows);
    let mut attributions: Vec<(Uuid, Attribution)> =
        known.into_iter().map(|(attribution, id)| (id, attribution)).collect();
    // Two who keep the same ones wait for each other in this order.
    attributions.sort_unstable_by_key(|(id, _)| *id);
    Ok((blocks, attributions))
}

async fn keep(db: &mut PgConnection, attributions: &[(Uuid, Attribution)]) -> sqlx::Result<()> {
    let column = |of: fn(&Attribution) -> &String| -> Vec<String> {
        attributions.iter().map(|(_, attribution)| of(attribution).clone()).collect()
    };
    sqlx::query!(
        "insert into attributions (
             attribution_id, team, project, experiment, cost_centre, environment, model_size, workload,
             interruptible, pool, pool_part, rule_id
         )
         select * from unnest(
             $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::text[], $11::text[], $12::bigint[]
         )
         on conflict do nothing",
        &attributions.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &column(|it| &it.team),
        &column(|it| &it.project),
        &column(|it| &it.experiment),
        &column(|it| &it.cost_centre),
        &column(|it| &it.environment),
        &column(|it| &it.model_size),
        &column(|it| &it.workload),
        &column(|it| &it.interruptible),
        &column(|it| &it.pool),
        &column(|it| &it.pool_part),
        &attributions.iter().map(|(_, it)| it.rule).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}
