//! Blocks of an import to the tables that imports share.

use sqlx::PgConnection;

use super::correction::Mark;
use super::reading::Block;
use super::{new_keys, partition, usage_without_cost};
use crate::billing::Rejection;
use crate::period::BillingMonth;
use crate::store;

/// Writes a block of anything but charges.
pub(super) async fn write_block(db: &mut PgConnection, delivery_id: i64, block: Block) -> sqlx::Result<()> {
    match block {
        // These have a queue of their own.
        Block::Charges { .. } | Block::ChargesEnd => Ok(()),
        Block::Rollup(part) => {
            copy(db, part.grain.daily(), part.month, part.daily).await?;
            match part.grain.monthly() {
                Some(monthly) => copy(db, monthly, part.month, part.monthly).await,
                None => Ok(()),
            }
        }
        Block::Keys(keys) => new_keys::insert(db, keys).await,
        Block::UsageWithoutCost(rows) => {
            let copy = format!(
                "copy usage_without_cost ({}) from stdin (format binary)",
                usage_without_cost::COLUMNS
            );
            store::copy_rows(db, &copy, rows).await?;
            Ok(())
        }
        Block::TagSets(sets) => insert_tag_sets(db, sets).await,
        Block::Identities { part, identities } => {
            sqlx::query!(
                "insert into row_identities (delivery_id, part, identities) values ($1, $2, $3)",
                delivery_id,
                part,
                &identities,
            )
            .execute(db)
            .await?;
            Ok(())
        }
        Block::Rejections { file_no, rejections } => {
            insert_rejections(db, delivery_id, file_no, rejections).await
        }
        Block::Corrected { file_no, rows } => insert_corrected(db, delivery_id, file_no, &rows).await,
    }
}

pub(super) async fn copy(
    db: &mut PgConnection,
    (table, columns): (&str, &str),
    month: BillingMonth,
    rows: store::CopyRows,
) -> sqlx::Result<()> {
    let partition = partition::name(table, month);
    store::copy_rows(db, &format!("copy {partition} ({columns}) from stdin (format binary)"), rows).await?;
    Ok(())
}

/// In id order, so that imports side by side never wait for each other in a circle.
async fn insert_tag_sets(
    db: &mut PgConnection,
    mut sets: Vec<(uuid::Uuid, serde_json::Value)>,
) -> sqlx::Result<()> {
    sets.sort_unstable_by_key(|(id, _)| *id);
    let (ids, tags): (Vec<_>, Vec<_>) = sets.into_iter().unzip();
    sqlx::query!(
        "insert into tag_sets (tag_set_id, tags) select * from unnest($1::uuid[], $2::jsonb[]) on conflict do nothing",
        &ids,
        &tags,
    )
    .execute(db)
    .await?;
    Ok(())
}

pub(super) async fn insert_rejections(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    rejections: Vec<Rejection>,
) -> sqlx::Result<()> {
    let rows: Vec<i64> = rejections.iter().map(|rejection| rejection.row as i64).collect();
    let text = |of: fn(&Rejection) -> &str| -> Vec<String> {
        // PostgreSQL's text holds no NUL, a broken file may.
        rejections.iter().map(|rejection| of(rejection).replace('\0', "\u{fffd}")).collect()
    };
    sqlx::query!(
        "insert into rejections (delivery_id, file_no, row_no, column_name, found, expected, is_repeated)
         select $1, $2, * from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[])",
        delivery_id,
        file_no,
        &rows,
        &text(|r| &r.column),
        &text(|r| &r.found),
        &text(|r| &r.expected),
        &rejections.iter().map(|rejection| rejection.is_repeated).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What a row claims to correct is kept only where that was rejected, before this delivery.
async fn insert_corrected(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    rows: &[(u64, Mark)],
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into corrected_rejections
             (delivery_id, file_no, row_no, corrects_delivery_id, corrects_file_no, corrects_row_no)
         select $1, $2, m.row_no, r.delivery_id, r.file_no, r.row_no
         from unnest($3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[])
             m (row_no, corrects_delivery_id, corrects_file_no, corrects_row_no)
         -- One that was priced again has the same rows under another number.
         left join lateral (
             select latest.delivery_id
             from deliveries named
             join deliveries latest on coalesce(latest.reprices, latest.delivery_id) = coalesce(named.reprices, named.delivery_id)
             where named.delivery_id = m.corrects_delivery_id and latest.status = 'loaded'
             order by latest.published_sequence desc
             limit 1
         ) active on true
         join rejections r
           on r.delivery_id = coalesce(active.delivery_id, m.corrects_delivery_id) and r.file_no = m.corrects_file_no and r.row_no = m.corrects_row_no
         where r.delivery_id < $1 and not r.is_repeated",
        delivery_id,
        file_no,
        &rows.iter().map(|(row, _)| *row as i64).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.delivery).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.file).collect::<Vec<_>>(),
        &rows.iter().map(|(_, mark)| mark.row).collect::<Vec<_>>(),
    )
    .execute(db)
    .await?;
    Ok(())
}
