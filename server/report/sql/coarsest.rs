//! Which rows answer a question: the coarsest that know its dimensions.

use sqlx::PgConnection;

use super::source::{OfCharges, Source};
use crate::accounts::Viewer;
use crate::ledger::ActiveImports;
use crate::report::Grouping;
use crate::report::snapshot::{Allocation, Snapshot};

impl Source {
    /// The same rows as of allocated months.
    #[must_use]
    pub fn allocated(self, allocation: &Allocation) -> Self {
        if self == Self::Months && allocation.is_needed() { Self::Keyed } else { self }
    }
}

/// The coarsest rows that have these dimensions.
pub async fn source_of<'a>(
    db: &mut PgConnection,
    (dimensions, viewer): (impl Iterator<Item = &'a Grouping> + Clone, &Viewer),
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    let of_owners = |dimension: &Grouping| dimension.is_allocated() || dimension.is_time();
    if snapshot.allocation.is_needed() && dimensions.clone().all(of_owners) {
        let by_day = dimensions.clone().any(|dimension| *dimension == Grouping::Day);
        return Ok(match by_day {
            false => Source::Attributed,
            true if dimensions.clone().all(is_of_charged) => Source::ChargedDays,
            true => Source::AttributedDays,
        });
    }
    items_source_of(db, (dimensions, viewer), snapshot).await
}

/// The coarsest of those that know what was bought.
pub async fn items_source_of<'a>(
    db: &mut PgConnection,
    (dimensions, viewer): (impl Iterator<Item = &'a Grouping> + Clone, &Viewer),
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    let is_of_items = |dimension: &Grouping| match dimension {
        Grouping::Provider
        | Grouping::Account
        | Grouping::Service
        | Grouping::Region
        | Grouping::Accelerator
        | Grouping::Pricing
        | Grouping::Category
        | Grouping::CommitmentStatus
        | Grouping::UsageType
        | Grouping::Sku => true,
        other => is_of_charged(other),
    };
    if dimensions.clone().all(is_of_items) {
        let by_day = dimensions.clone().any(|dimension| *dimension == Grouping::Day);
        if snapshot.allocation.is_needed() {
            return Ok(if by_day { Source::ItemDays } else { Source::Items });
        }
        // Without teams, what a lead sees is decided by a tag.
        if *viewer == Viewer::Everything {
            return Ok(if by_day { Source::TotalDays } else { Source::Totals });
        }
    }
    keys_source_of(db, dimensions, snapshot).await
}

/// Whether it is decided by who is charged, or by time.
fn is_of_charged(dimension: &Grouping) -> bool {
    let says_part = matches!(dimension, Grouping::Pool | Grouping::PoolPart);
    dimension.divides() || says_part || dimension.is_time()
}

/// The coarsest of those that know keys.
pub async fn keys_source_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    snapshot: &Snapshot,
) -> sqlx::Result<Source> {
    Ok(rollup_of(db, dimensions, &snapshot.visible).await?.allocated(&snapshot.allocation))
}

/// The coarsest of those that know keys and deliveries: noisy tags are kept with the charges of the deliveries they are
/// noisy in.
pub async fn rollup_of<'a>(
    db: &mut PgConnection,
    dimensions: impl Iterator<Item = &'a Grouping> + Clone,
    visible: &ActiveImports,
) -> sqlx::Result<Source> {
    let tags: Vec<String> = dimensions
        .clone()
        .filter_map(|dimension| match dimension {
            Grouping::Tag(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    let by_resource = dimensions.clone().any(|dimension| *dimension == Grouping::Resource);
    if tags.is_empty() && !by_resource {
        return Ok(Source::rollup(dimensions, OfCharges::default()));
    }
    let only = sqlx::query_as!(
        OfCharges,
        r#"select coalesce(bool_or(noisy_tags && $1), false) as "tag!",
               coalesce(bool_or(not has_resources), false) as "resource!"
           from deliveries
           where delivery_id = any($2)"#,
        &tags,
        visible.deliveries(),
    )
    .fetch_one(db)
    .await?;
    Ok(Source::rollup(dimensions, only))
}
