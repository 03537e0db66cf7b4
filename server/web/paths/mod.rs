//! Every URL. Routes are built from these, and links are printed with them.

use axum_extra::routing::TypedPath;
use serde::Serialize;

/// Addresses as a table: each with the type that is made of it, and what its parts hold. What stands above a line (what the
/// address is, what can be derived beside `Clone`) stands above its type.
macro_rules! paths {
    ($($(#[$above:meta])* $address:literal => $name:ident $({ $($part:ident: $type:ty),+ })?;)+) => {
        $(path! {
            $(#[$above])*
            #[typed_path($address, rejection(crate::web::Error))]
            $name $({ $(pub $part: $type),+ })?
        })+
    };
}

/// One line of the table: with parts or without.
macro_rules! path {
    ($(#[$above:meta])* $name:ident) => {
        #[derive(Clone, axum_extra::routing::TypedPath)]
        $(#[$above])*
        pub struct $name;
    };
    ($(#[$above:meta])* $name:ident { $($parts:tt)+ }) => {
        #[derive(Clone, axum_extra::routing::TypedPath, serde::Deserialize)]
        $(#[$above])*
        pub struct $name { $($parts)+ }
    };
}

mod adjustments;
mod allocation;
mod catalog;
mod changes;
mod clusters;
mod imports;
mod mappings;
mod people;
mod prices;
mod rate_cards;
mod scenarios;
mod spend;
mod teams;
mod usage;

pub use adjustments::*;
pub use allocation::*;
pub use catalog::*;
pub use changes::*;
pub use clusters::*;
pub use imports::*;
pub use mappings::*;
pub use people::*;
pub use prices::*;
pub use rate_cards::*;
pub use scenarios::*;
pub use spend::*;
pub use teams::*;
pub use usage::*;

paths! {
    "/" => Home;
    "/assets/{file}" => Asset { file: String };
    "/healthz" => Health;
    "/readyz" => Ready;
    "/metrics" => Metrics;
}

/// A path with its question: `/sign-in?next=%2Faccount`.
pub fn with_query(path: impl TypedPath, query: &impl Serialize) -> String {
    path.with_query_params(query).to_string().replacen("?&", "?", 1)
}
