//! The list of prices and its changes.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::Error;

#[derive(TypedPath)]
#[typed_path("/prices", rejection(Error))]
pub struct Prices;

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
