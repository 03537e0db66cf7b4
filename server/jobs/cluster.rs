//! Handing in months of a cluster: files like any other, made of the asset register.

use crate::changes::Document as _;
use anyhow::{Context as _, bail};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::Inbox;
use crate::audit::{self, Act, Object, Verb};
use crate::ledger::{self, Decision, Undone};
use crate::onprem::{self, ClusterMonth, Months, State};
use crate::period::BillingMonth;

/// What came of submitting months.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Where their loading is followed; `None` where nothing was to be loaded.
    pub batch: Option<Uuid>,
    pub months: usize,
    /// Months of which nothing is left, and nothing is active any more.
    pub gone: usize,
}

/// Submits the months of a cluster that differ from what the asset register says: all that are over, or one. The caller
/// notifies the worker.
///
/// # Errors
/// Of the database, or of the disk.
pub async fn submit_cluster(
    db: &mut PgConnection,
    (inbox, computed): (&Inbox, &Months),
    cluster: &str,
    only: Option<BillingMonth>,
    act: Act<'_>,
) -> anyhow::Result<Submitted> {
    // Computed and remembered before anything is held, so that nobody waits for it.
    let (revision, asset_register) = onprem::AssetRegister::current(&mut *db).await?;
    computed.of(&mut *db, (revision, &asset_register), cluster, act.at.date_naive()).await?;
    let mut tx = db.begin().await?;
    // The asset register stays as it is, and nobody else submits months of this cluster, until this is done.
    let revision = onprem::hold(&mut tx, cluster).await?;
    let asset_register = onprem::AssetRegister::as_of(&mut tx, revision).await?;
    let (at, today) = ((revision, &asset_register), act.at.date_naive());
    let mut due = computed.of(&mut tx, at, cluster, today).await?;
    due.retain(|it| match only {
        Some(month) => month == it.month && it.state.may_be_published(),
        None => it.state.is_due(),
    });
    let (gone, files): (Vec<&ClusterMonth>, Vec<&ClusterMonth>) =
        due.iter().partition(|it| it.state == State::Gone);
    let batch_id = Uuid::new_v4();
    let mut submitted = Submitted { batch: None, months: files.len(), gone: gone.len() };
    if !files.is_empty() {
        submitted.batch = Some(batch_id);
        let mut arriving = inbox.open(batch_id)?;
        // One after another: the file of a month of a large cluster is large.
        for it in &files {
            let made = onprem::file_of(&mut tx, at, cluster, it.month, today).await?;
            let made = made.context("the cluster is gone from an asset register that is held")?;
            let mut file = arriving.file(&it.file_name(cluster))?;
            file.write(&made.bytes).await?;
            file.finish().await?;
            onprem::note_submitted(&mut tx, (cluster, revision), (it, &made), batch_id, &act.by.name, act.at)
                .await?;
        }
        let months: Vec<BillingMonth> = files.iter().map(|it| it.month).collect();
        let details = json!({ "cluster": cluster, "months": months, "revision": revision });
        audit::record(&mut tx, act, Verb::ClusterPublished, &Object::Batch(batch_id), details).await?;
        arriving.decided(Decision::Replace).enqueue(&mut tx, act).await?;
    }
    // Last, since undoing holds the ledger.
    for it in &gone {
        for delivery in onprem::deliveries_of(&mut tx, cluster, it.month).await? {
            let sequence = match ledger::undo(&mut tx, delivery, &act.by.name, act.at).await? {
                Undone::At(sequence) => sequence,
                Undone::Already => continue,
                // Such files state no identities of rows, so nobody else has theirs.
                Undone::Overlaps(overlap) => bail!("{}", overlap.of_undo(delivery)),
                // One at least: else nothing kept it from being undone.
                Undone::Archived(others) => bail!("load import {} again first: it is archived", others[0]),
            };
            let (object, details) = (Object::Delivery(delivery), json!({ "sequence": sequence }));
            audit::record(&mut tx, act, Verb::DeliveryUndone, &object, details).await?;
        }
    }
    tx.commit().await?;
    Ok(submitted)
}
