//! Scenarios: where work should run.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::Error;

#[derive(TypedPath)]
#[typed_path("/scenarios", rejection(Error))]
pub struct Scenarios;

/// A scenario from a file.
#[derive(TypedPath)]
#[typed_path("/scenarios/file", rejection(Error))]
pub struct ScenariosFile;

/// One to begin with.
#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/templates/{template}", rejection(Error))]
pub struct ScenarioTemplate {
    pub template: String,
}

/// Figures that people may have read, and what is right.
#[derive(TypedPath)]
#[typed_path("/scenarios/claims", rejection(Error))]
pub struct Claims;

/// One formula at a time.
#[derive(TypedPath)]
#[typed_path("/scenarios/calculators", rejection(Error))]
pub struct Calculators;

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/calculators/{calculator}", rejection(Error))]
pub struct Calculator {
    pub calculator: String,
}

/// One of what the ledger says was used and paid.
#[derive(TypedPath)]
#[typed_path("/scenarios/new", rejection(Error))]
pub struct ScenarioNew;

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}", rejection(Error))]
pub struct Scenario {
    pub scenario: i64,
}

/// Its versions, and two of them side by side.
#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/versions", rejection(Error))]
pub struct ScenarioVersions {
    pub scenario: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/share", rejection(Error))]
pub struct ScenarioShare {
    pub scenario: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/unshare", rejection(Error))]
pub struct ScenarioUnshare {
    pub scenario: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/remove", rejection(Error))]
pub struct ScenarioRemove {
    pub scenario: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/bring-back", rejection(Error))]
pub struct ScenarioBringBack {
    pub scenario: i64,
}
