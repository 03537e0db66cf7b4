//! `/changes`: what people changed, and what they decide about it.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::super::error::Error;
use crate::changes::Kind;

#[derive(TypedPath)]
#[typed_path("/changes", rejection(Error))]
pub struct Changes;

#[derive(TypedPath)]
#[typed_path("/asset-register/changes", rejection(Error))]
pub struct AssetRegisterChanges;

#[derive(TypedPath)]
#[typed_path("/prices/changes", rejection(Error))]
pub struct PriceChanges;

/// A change of the allocation.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/changes/{change}", rejection(Error))]
pub struct Change {
    pub change: i64,
}

#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/asset-register/changes/{change}", rejection(Error))]
pub struct AssetRegisterChange {
    pub change: i64,
}

/// A change of the prices, or what a file would change.
#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}", rejection(Error))]
pub struct PriceChange {
    pub change: i64,
}

/// Hands a draft to whoever decides.
#[derive(TypedPath, Deserialize)]
#[typed_path("/changes/{kind}/{change}/propose", rejection(Error))]
pub struct ChangePropose {
    pub kind: Kind,
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/changes/{kind}/{change}/apply", rejection(Error))]
pub struct ChangeApply {
    pub kind: Kind,
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/changes/{kind}/{change}/discard", rejection(Error))]
pub struct ChangeDiscard {
    pub kind: Kind,
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/changes/{kind}/{change}/undo", rejection(Error))]
pub struct ChangeUndo {
    pub kind: Kind,
    pub change: i64,
}

/// Undoes what meters were said to read.
#[derive(TypedPath, Deserialize)]
#[typed_path("/changes/readings/{change}/undo", rejection(Error))]
pub struct ReadingsUndo {
    pub change: i64,
}
