//! The list of prices and its changes.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::Error;
use crate::web::respond::As;

#[derive(TypedPath)]
#[typed_path("/prices", rejection(Error))]
pub struct Prices;

#[derive(TypedPath)]
#[typed_path("/prices.json", rejection(Error))]
pub struct PricesJson;

#[derive(TypedPath)]
#[typed_path("/prices.csv", rejection(Error))]
pub struct PricesCsv;

/// The form of a new price, and of a file of them.
#[derive(TypedPath)]
#[typed_path("/prices/new", rejection(Error))]
pub struct NewPrice;

#[derive(TypedPath)]
#[typed_path("/prices/file", rejection(Error))]
pub struct PricesFile;

/// An offer, by its id: its readings, and the form that changes it.
#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/offers/{offer}", rejection(Error))]
pub struct PriceOffer {
    pub offer: String,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/offers/{offer}/remove", rejection(Error))]
pub struct PriceRemove {
    pub offer: String,
}

/// Who changed what of the list, when and why.
#[derive(TypedPath)]
#[typed_path("/prices/changes", rejection(Error))]
pub struct PriceChanges;

#[derive(TypedPath)]
#[typed_path("/prices/changes.json", rejection(Error))]
pub struct PriceChangesJson;

/// A change, or what a file would change.
#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}", rejection(Error))]
pub struct PriceChange {
    pub change: As<i64>,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}/propose", rejection(Error))]
pub struct PricePropose {
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}/apply", rejection(Error))]
pub struct PriceApply {
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}/discard", rejection(Error))]
pub struct PriceDiscard {
    pub change: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/prices/changes/{change}/undo", rejection(Error))]
pub struct PriceUndo {
    pub change: i64,
}
