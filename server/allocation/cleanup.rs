//! What allocations are read from is made when it is asked for, kept for whoever asks next, and removed when nobody has for a
//! month. Who takes a mapping, sums or a division says so; a process remembers for a day at most that it did (see
//! `report::Answers`), so what it reads is there.
//!
//! To say so and to look are two statements each: where a removal is under way the first waits for it, and the second sees
//! what it left.

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::key_owners::wait_for_turn;

/// Says that a mapping is used.
pub(super) async fn use_set(db: &mut PgConnection, set_id: Uuid) -> sqlx::Result<()> {
    sqlx::query!(
        "update attribution_sets set used_at = now() where set_id = $1 and used_at < now() - interval '1 hour'",
        set_id,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Says that sums by owner are used. Answers whether they are there.
pub(super) async fn use_sums(db: &mut PgConnection, attributed_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query!(
        "update attributed_months set used_at = now()
         where attributed_id = $1 and used_at < now() - interval '1 hour'",
        attributed_id,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query_scalar!(
        r#"select exists (select from attributed_months where attributed_id = $1) as "kept!""#,
        attributed_id,
    )
    .fetch_one(db)
    .await
}

/// The same of sums by key.
pub(super) async fn use_keys(db: &mut PgConnection, basis_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query!(
        "update keyed_months set used_at = now() where basis_id = $1 and used_at < now() - interval '1 hour'",
        basis_id,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query_scalar!(
        r#"select exists (select from keyed_months where basis_id = $1) as "kept!""#,
        basis_id,
    )
    .fetch_one(db)
    .await
}

/// The same of a division.
pub(super) async fn use_division(db: &mut PgConnection, division_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query!(
        "update pool_divisions set used_at = now()
         where division_id = $1 and used_at < now() - interval '1 hour'",
        division_id,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query_scalar!(
        r#"select exists (select from pool_divisions where division_id = $1) as "kept!""#,
        division_id,
    )
    .fetch_one(db)
    .await
}

/// Removes what nobody has used for a month: it can be made again. Each mapping, and each month by key, goes with its rows
/// in one transaction, which who makes the same again waits for.
pub async fn forget(db: &mut PgConnection) -> sqlx::Result<()> {
    let sets = sqlx::query_scalar!(
        "select set_id from attribution_sets where used_at < now() - interval '30 days' order by 1"
    )
    .fetch_all(&mut *db)
    .await?;
    for set_id in sets {
        let mut tx = db.begin().await?;
        wait_for_turn(&mut tx, set_id).await?;
        let gone = sqlx::query!(
            "delete from attribution_sets where set_id = $1 and used_at < now() - interval '30 days'",
            set_id,
        )
        .execute(&mut *tx)
        .await?;
        if gone.rows_affected() > 0 {
            sqlx::query!("delete from key_attributions where set_id = $1", set_id).execute(&mut *tx).await?;
        }
        tx.commit().await?;
    }
    let months = sqlx::query_scalar!(
        "select basis_id from keyed_months where used_at < now() - interval '30 days' order by 1"
    )
    .fetch_all(&mut *db)
    .await?;
    for basis_id in months {
        let mut tx = db.begin().await?;
        wait_for_turn(&mut tx, basis_id).await?;
        let gone = sqlx::query!(
            "delete from keyed_months where basis_id = $1 and used_at < now() - interval '30 days'",
            basis_id,
        )
        .execute(&mut *tx)
        .await?;
        if gone.rows_affected() > 0 {
            sqlx::query!("delete from keyed_costs where basis_id = $1", basis_id).execute(&mut *tx).await?;
        }
        tx.commit().await?;
    }
    sqlx::query!("delete from attributed_months where used_at < now() - interval '30 days'")
        .execute(&mut *db)
        .await?;
    sqlx::query!("delete from pool_divisions where used_at < now() - interval '30 days'")
        .execute(&mut *db)
        .await?;
    remove_parts(db).await
}

/// Removes what was made of months with these deliveries, whose rows are gone: nobody asks for it before they are loaded again, and
/// then it is made anew.
pub async fn forget_with(db: &mut PgConnection, deliveries: &[i64]) -> sqlx::Result<()> {
    let months = sqlx::query_scalar!(
        "select basis_id from keyed_months where deliveries && $1 order by 1",
        deliveries
    )
    .fetch_all(&mut *db)
    .await?;
    for basis_id in months {
        let mut tx = db.begin().await?;
        wait_for_turn(&mut tx, basis_id).await?;
        sqlx::query!("delete from keyed_months where basis_id = $1", basis_id).execute(&mut *tx).await?;
        sqlx::query!("delete from keyed_costs where basis_id = $1", basis_id).execute(&mut *tx).await?;
        sqlx::query!("delete from attributed_months where basis_id = $1", basis_id).execute(&mut *tx).await?;
        tx.commit().await?;
    }
    remove_parts(db).await
}

/// A part belongs to every month that was made from it; what belongs to none is asked for no more.
async fn remove_parts(db: &mut PgConnection) -> sqlx::Result<()> {
    for removal in [
        "delete from attributed_costs c where not exists (select from attributed_parts p where p.part_id = c.part_id)",
        "delete from attributed_days d where not exists (select from attributed_parts p where p.part_id = d.part_id)",
        "delete from charged_days d where not exists (select from attributed_parts p where p.part_id = d.part_id)",
        "delete from charged_items i where not exists (select from attributed_parts p where p.part_id = i.part_id)",
        "delete from item_costs i where not exists (select from attributed_parts p where p.part_id = i.part_id)",
        "delete from item_days i where not exists (select from attributed_parts p where p.part_id = i.part_id)",
    ] {
        sqlx::query(removal).execute(&mut *db).await?;
    }
    Ok(())
}
