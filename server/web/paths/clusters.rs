//! On-premises clusters and the asset register of what they cost.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::Error;
use crate::onprem::Kind;
use crate::period::BillingMonth;

#[derive(TypedPath)]
#[typed_path("/clusters", rejection(Error))]
pub struct Clusters;

/// The form of a new cluster.
#[derive(TypedPath)]
#[typed_path("/clusters/new", rejection(Error))]
pub struct NewCluster;

/// What would come of that form: the figure beside it.
#[derive(TypedPath)]
#[typed_path("/clusters/new/figure", rejection(Error))]
pub struct NewClusterFigure;

#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/clusters/{cluster}", rejection(Error))]
pub struct Cluster {
    pub cluster: String,
}

/// What a cluster is charged in a month, line by line.
#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/clusters/{cluster}/{month}", rejection(Error))]
pub struct ClusterMonth {
    pub cluster: String,
    pub month: BillingMonth,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/clusters/{cluster}/publish", rejection(Error))]
pub struct ClusterPublish {
    pub cluster: String,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/clusters/{cluster}/readings", rejection(Error))]
pub struct ClusterReadings {
    pub cluster: String,
}

/// Everything of a kind that was entered.
#[derive(TypedPath, Deserialize)]
#[typed_path("/asset-register/{kind}", rejection(Error))]
pub struct AssetRegister {
    pub kind: Kind,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/asset-register/{kind}/file", rejection(Error))]
pub struct AssetRegisterFile {
    pub kind: Kind,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/asset-register/{kind}/new", rejection(Error))]
pub struct AssetRegisterNew {
    pub kind: Kind,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/asset-register/entries/{entry}", rejection(Error))]
pub struct AssetRegisterEntry {
    pub entry: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/asset-register/entries/{entry}/remove", rejection(Error))]
pub struct AssetRegisterRemove {
    pub entry: i64,
}
