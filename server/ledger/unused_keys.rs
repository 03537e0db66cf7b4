//! Charge keys that no import has any more. Imports that are archived, and those that broke off, leave theirs behind; a fleet has
//! a quarter of a million of them a month, which another month hardly shares.

use sqlx::PgConnection;

use super::orphans;

/// Removes them, and whose they were. Answers how many; `None` where an import is running, whose keys are no import's yet.
pub async fn remove_unused_keys(db: &mut PgConnection) -> sqlx::Result<Option<u64>> {
    if !orphans::lock_alone(db).await? {
        return Ok(None);
    }
    let removed = remove(db).await;
    orphans::unlock_alone(db).await?;
    removed.map(Some)
}

async fn remove(db: &mut PgConnection) -> sqlx::Result<u64> {
    let removed = sqlx::query!(
        "delete from charge_keys k
         where not exists (select from monthly_costs m where m.charge_key_id = k.charge_key_id)
           and not exists (select from monthly_totals t where t.charge_key_id = k.charge_key_id)"
    )
    .execute(&mut *db)
    .await?
    .rows_affected();
    if removed > 0 {
        sqlx::query!(
            "delete from key_attributions a
             where not exists (select from charge_keys k where k.charge_key_id = a.charge_key_id)"
        )
        .execute(db)
        .await?;
    }
    Ok(removed)
}
