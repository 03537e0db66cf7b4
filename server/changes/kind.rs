//! What a change can be of, and where its versions come from.

use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::Status;
use crate::audit::{Act, Object, Verb};
use crate::enum_words::{words, written_as_str};
use crate::ledger;

words! {
    /// A document that people change.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
    #[serde(rename_all = "kebab-case")]
    #[sqlx(type_name = "text", rename_all = "kebab-case")]
    pub enum Kind: as_str {
        Allocation = "allocation";
        AssetRegister = "asset-register";
        Prices = "prices";
        RateCards = "rate-cards";
        Adjustments = "adjustments";
    }
}

written_as_str!(Kind);

impl Kind {
    /// The version that holds now.
    pub async fn version(self, db: &mut PgConnection) -> sqlx::Result<i64> {
        match self {
            Self::Allocation => ledger::sequence(db).await,
            Self::AssetRegister | Self::Prices | Self::RateCards | Self::Adjustments => {
                sqlx::query_scalar!("select version from documents where kind = $1", self as Self)
                    .fetch_one(db)
                    .await
            }
        }
    }

    /// Locks the document, so that versions are made one after another, and answers the next. The allocation decides what
    /// pages say of the ledger, so its versions are the ledger's.
    pub(super) async fn begin(self, db: &mut PgConnection) -> sqlx::Result<i64> {
        match self {
            Self::Allocation => ledger::begin_version(db).await,
            Self::AssetRegister | Self::Prices | Self::RateCards | Self::Adjustments => {
                sqlx::query_scalar!(
                    r#"select version + 1 as "next!" from documents where kind = $1 for update"#,
                    self as Self,
                )
                .fetch_one(db)
                .await
            }
        }
    }

    /// The version that was begun holds.
    pub(super) async fn end(self, db: &mut PgConnection, version: i64, act: Act<'_>) -> sqlx::Result<()> {
        match self {
            Self::Allocation => {
                ledger::end_version(db, version, None, "allocation", &act.by.name, act.at).await
            }
            Self::AssetRegister | Self::Prices | Self::RateCards | Self::Adjustments => {
                sqlx::query!("update documents set version = $2 where kind = $1", self as Self, version)
                    .execute(db)
                    .await?;
                Ok(())
            }
        }
    }

    pub(super) fn object(self, change: i64) -> Object {
        match self {
            Self::Allocation => Object::Change(change),
            Self::AssetRegister => Object::AssetRegisterChange(change),
            Self::Prices => Object::PriceChange(change),
            Self::RateCards => Object::RateCardChange(change),
            Self::Adjustments => Object::AdjustmentChange(change),
        }
    }

    /// What somebody did that left a change so.
    pub(super) fn verb(self, status: Status) -> Verb {
        match (self, status) {
            (Self::Allocation, Status::Draft) => Verb::ChangeDrafted,
            (Self::Allocation, Status::Proposed) => Verb::ChangeProposed,
            (Self::Allocation, Status::Applied) => Verb::ChangeApplied,
            (Self::Allocation, Status::Undone) => Verb::ChangeUndone,
            (Self::Allocation, Status::Discarded) => Verb::ChangeDiscarded,
            (Self::AssetRegister, Status::Draft | Status::Proposed) => Verb::AssetRegisterProposed,
            (Self::AssetRegister, Status::Applied) => Verb::AssetRegisterChanged,
            (Self::AssetRegister, Status::Undone) => Verb::AssetRegisterUndone,
            (Self::AssetRegister, Status::Discarded) => Verb::AssetRegisterDiscarded,
            (Self::Prices, Status::Draft) => Verb::PricesImported,
            (Self::Prices, Status::Proposed) => Verb::PricesProposed,
            (Self::Prices, Status::Applied) => Verb::PricesChanged,
            (Self::Prices, Status::Undone) => Verb::PricesUndone,
            (Self::Prices, Status::Discarded) => Verb::PricesDiscarded,
            (Self::RateCards, Status::Draft) => Verb::RateCardsDrafted,
            (Self::RateCards, Status::Proposed) => Verb::RateCardsProposed,
            (Self::RateCards, Status::Applied) => Verb::RateCardsChanged,
            (Self::RateCards, Status::Undone) => Verb::RateCardsUndone,
            (Self::RateCards, Status::Discarded) => Verb::RateCardsDiscarded,
            (Self::Adjustments, Status::Draft) => Verb::AdjustmentsDrafted,
            (Self::Adjustments, Status::Proposed) => Verb::AdjustmentsProposed,
            (Self::Adjustments, Status::Applied) => Verb::AdjustmentsChanged,
            (Self::Adjustments, Status::Undone) => Verb::AdjustmentsUndone,
            (Self::Adjustments, Status::Discarded) => Verb::AdjustmentsDiscarded,
        }
    }

    /// What the trail calls a version of it.
    pub(super) fn version_name(self) -> &'static str {
        match self {
            Self::Allocation => "sequence",
            Self::AssetRegister | Self::Prices | Self::RateCards | Self::Adjustments => "revision",
        }
    }
}
