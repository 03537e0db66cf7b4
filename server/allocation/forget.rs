//! What allocations are read from is made when it is asked for, kept for whoever asks next, and removed when nobody has for a
//! month. Who takes a mapping, sums or a division says so; a process remembers for a day at most that it did (see
//! `report::Answers`), so what it reads is there.

use sqlx::PgConnection;
use uuid::Uuid;

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
    sqlx::query_scalar!(
        r#"with used as (
               update attributed_months set used_at = now()
               where attributed_id = $1 and used_at < now() - interval '1 hour'
           )
           select exists (select from attributed_months where attributed_id = $1) as "kept!""#,
        attributed_id,
    )
    .fetch_one(db)
    .await
}

/// The same of sums by key.
pub(super) async fn use_keys(db: &mut PgConnection, basis_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"with used as (
               update keyed_months set used_at = now()
               where basis_id = $1 and used_at < now() - interval '1 hour'
           )
           select exists (select from keyed_months where basis_id = $1) as "kept!""#,
        basis_id,
    )
    .fetch_one(db)
    .await
}

/// The same of a division.
pub(super) async fn use_division(db: &mut PgConnection, division_id: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"with used as (
               update pool_divisions set used_at = now()
               where division_id = $1 and used_at < now() - interval '1 hour'
           )
           select exists (select from pool_divisions where division_id = $1) as "kept!""#,
        division_id,
    )
    .fetch_one(db)
    .await
}

/// Removes what nobody has used for a month: it can be made again.
pub async fn forget(db: &mut PgConnection) -> sqlx::Result<()> {
    // Each statement of its own: what is removed first is asked for no more by the time its rows are.
    for removal in [
        "delete from attribution_sets where used_at < now() - interval '30 days'",
        "delete from key_attributions a where not exists (select from attribution_sets s where s.set_id = a.set_id)",
        "delete from attributed_months where used_at < now() - interval '30 days'",
        "delete from attributed_days d where not exists (select from attributed_parts p where p.part_id = d.part_id)",
        "delete from charged_days d where not exists (select from attributed_parts p where p.part_id = d.part_id)",
        "delete from attributed_costs c where not exists (select from attributed_parts p where p.part_id = c.part_id)",
        "delete from keyed_months where used_at < now() - interval '30 days'",
        "delete from keyed_costs c where not exists (select from keyed_months m where m.basis_id = c.basis_id)",
        "delete from pool_divisions where used_at < now() - interval '30 days'",
    ] {
        sqlx::query(removal).execute(&mut *db).await?;
    }
    Ok(())
}
