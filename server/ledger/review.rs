//! Which uploads wait for somebody to look at them before they are published, though nothing is to decide
//! ([why](../../docs/decisions/uploads-with-rejected-rows-wait-for-review.md)).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{Connection as _, PgConnection};

use super::import::WhenUnsure;
use super::loaded::Loaded;
use super::overlap::Overlap;
use super::publish::{self, Published};
use super::settle;
use super::{correction, delivery};
use crate::enum_words::{words, written_as_str};

words! {
    /// Which uploads of a provider wait for review.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Review: as_str, label {
        Never = "never", "None";
        #[default]
        /// Those that lack rows, or whose own totals are not the sums of their rows.
        Rejected = "rejected", "Those with rejected rows or wrong totals";
        Always = "always", "All";
    }
}

written_as_str!(Review);

/// Which uploads wait, by provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviews {
    /// Of providers that have no setting of their own.
    pub others: Review,
    pub providers: BTreeMap<String, Review>,
}

impl Reviews {
    pub fn of(&self, provider: &str) -> Review {
        self.providers.get(provider).copied().unwrap_or(self.others)
    }
}

/// The settings in force.
pub async fn reviews(db: &mut PgConnection) -> sqlx::Result<Reviews> {
    let rows = sqlx::query!("select provider, review from import_reviews").fetch_all(db).await?;
    let mut providers: BTreeMap<String, Review> =
        rows.into_iter().filter_map(|row| Some((row.provider, row.review.parse().ok()?))).collect();
    let others = providers.remove("").unwrap_or_default();
    Ok(Reviews { others, providers })
}

/// Sets which uploads wait. Of a provider, `None` leaves it to the setting for all others. True where it was another one.
pub async fn set_review(
    db: &mut PgConnection,
    provider: Option<&str>,
    review: Option<Review>,
) -> sqlx::Result<bool> {
    let provider = provider.unwrap_or_default();
    let set = match review {
        Some(review) => {
            sqlx::query!(
                "insert into import_reviews as it (provider, review) values ($1, $2)
                 on conflict (provider) do update set review = excluded.review where it.review <> excluded.review",
                provider,
                review.as_str(),
            )
            .execute(db)
            .await?
        }
        None => {
            sqlx::query!("delete from import_reviews where provider = $1 and provider <> ''", provider)
                .execute(db)
                .await?
        }
    };
    Ok(set.rows_affected() > 0)
}

/// Why a delivery waits for review, if it does. What states nothing moves nothing.
pub(super) async fn reason(
    db: &mut PgConnection,
    when_unsure: WhenUnsure,
    (loaded, is_corrected): (&Loaded, bool),
) -> sqlx::Result<Option<String>> {
    if when_unsure == WhenUnsure::Discard || loaded.reading.scopes.is_empty() {
        return Ok(None);
    }
    // Of corrected rows, those that are rejected again were missing before.
    let rejected = &loaded.reading.rejected;
    let missing = if is_corrected { 0 } else { rejected.count - rejected.repeated };
    let reviews = reviews(db).await?;
    let providers = loaded.reading.scopes.values().map(|(scope, _)| scope.provider.as_str());
    let strictest = providers.max_by_key(|provider| reviews.of(provider)).unwrap_or_default();
    Ok(match (reviews.of(strictest), when_unsure) {
        (Review::Rejected | Review::Always, _) | (_, WhenUnsure::Review) if missing > 0 => {
            Some(missing_rows(missing, loaded.reading.rows_read))
        }
        (Review::Rejected | Review::Always, _) | (_, WhenUnsure::Review) if !loaded.doubts.is_empty() => {
            Some(format!(
                "{} Publish the import as it is, or discard it, correct its file or mapping, and import it again",
                loaded.doubts.join(" ")
            ))
        }
        (_, WhenUnsure::Review) => Some("its sender asked to review it before it is published".to_owned()),
        (Review::Always, _) => {
            Some(format!("all imports of {strictest} are reviewed before they are published"))
        }
        (Review::Rejected | Review::Never, _) => None,
    })
}

fn missing_rows(missing: u64, read: u64) -> String {
    let (were, they_are, them) =
        if missing == 1 { ("was", "it is", "it") } else { ("were", "they are", "them") };
    let rows = if read == 1 { "row" } else { "rows" };
    format!(
        "{missing} of {read} {rows} {were} rejected, and {they_are} missing from every figure. Publish the import without {them}, and \
         correct {them} later, or discard it and import a corrected file"
    )
}

/// What became of a delivery that somebody has reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reviewed {
    /// The ledger counts it from this version on.
    Published(i64),
    /// Something else was published meanwhile, so that it needs a decision now: it waits for that.
    Asks,
    /// Rows of it are active already.
    Overlaps(Overlap),
    /// The other half of its months was imported again meanwhile.
    OtherHalf,
    /// It was decided before.
    Already,
}

/// Publishes a delivery that waits for review, as it would have been published when it was loaded.
pub async fn publish_reviewed(
    db: &mut PgConnection,
    delivery_id: i64,
    by: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Reviewed> {
    let mut tx = db.begin().await?;
    let awaits_review = sqlx::query_scalar!(
        r#"select status = 'waiting' and awaits_review as "awaits_review!" from deliveries where delivery_id = $1"#,
        delivery_id,
    )
    .fetch_one(&mut *tx)
    .await?;
    if !awaits_review {
        return Ok(Reviewed::Already);
    }
    let published = if correction::corrects(&mut tx, delivery_id).await?.is_empty() {
        publish::publish(&mut tx, delivery_id, None, None, by, now).await?
    } else {
        publish::publish_corrected(&mut tx, delivery_id, by, now).await?
    };
    let reviewed = match published {
        Published::At(sequence) => Reviewed::Published(sequence),
        Published::Already => Reviewed::Already,
        Published::Overlaps(overlap) => Reviewed::Overlaps(overlap),
        Published::OtherHalf(_) => Reviewed::OtherHalf,
        Published::Asks(question) => {
            let is_taken = sqlx::query_scalar!(
                r#"select exists (
                       select from delivery_files where delivery_id = $1 and taken_from is not null
                   ) as "is_taken!""#,
                delivery_id,
            )
            .fetch_one(&mut *tx)
            .await?;
            let (message, suggested) = settle::asked(&question, is_taken);
            delivery::wait(&mut tx, delivery_id, &message, delivery::Awaits::Decision(suggested)).await?;
            Reviewed::Asks
        }
        Published::Doubts(doubt) => {
            let message = settle::doubted(doubt);
            delivery::wait(&mut tx, delivery_id, &message, delivery::Awaits::Decision(None)).await?;
            Reviewed::Asks
        }
    };
    tx.commit().await?;
    Ok(reviewed)
}
