//! Scenarios: where work should run.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use axum_extra::routing::TypedPath;
use serde::{Deserialize, Deserializer, de};

use super::Error;

#[derive(TypedPath)]
#[typed_path("/scenarios", rejection(Error))]
pub struct Scenarios;

#[derive(TypedPath)]
#[typed_path("/scenarios.json", rejection(Error))]
pub struct ScenariosJson;

#[derive(TypedPath)]
#[typed_path("/scenarios.csv", rejection(Error))]
pub struct ScenariosCsv;

/// A scenario from a file.
#[derive(TypedPath)]
#[typed_path("/scenarios/file", rejection(Error))]
pub struct ScenariosFile;

/// One to begin with.
#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/templates/{template}", rejection(Error))]
pub struct ScenarioTemplate {
    pub template: In<String>,
}

/// Figures that people may have read, and what is right.
#[derive(TypedPath)]
#[typed_path("/scenarios/claims", rejection(Error))]
pub struct Claims;

#[derive(TypedPath)]
#[typed_path("/scenarios/claims.json", rejection(Error))]
pub struct ClaimsJson;

/// One formula at a time.
#[derive(TypedPath)]
#[typed_path("/scenarios/calculators", rejection(Error))]
pub struct Calculators;

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/calculators/{calculator}", rejection(Error))]
pub struct Calculator {
    pub calculator: In<String>,
}
/// One of what the ledger says was used and paid.
#[derive(TypedPath)]
#[typed_path("/scenarios/new", rejection(Error))]
pub struct ScenarioNew;

#[derive(TypedPath)]
#[typed_path("/scenarios/new.json", rejection(Error))]
pub struct ScenarioNewJson;

#[derive(TypedPath)]
#[typed_path("/scenarios/new.csv", rejection(Error))]
pub struct ScenarioNewCsv;

#[derive(TypedPath)]
#[typed_path("/scenarios/new.toml", rejection(Error))]
pub struct ScenarioNewToml;

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}", rejection(Error))]
pub struct Scenario {
    pub scenario: In<i64>,
}

/// Its versions, and two of them side by side.
#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/versions", rejection(Error))]
pub struct ScenarioVersions {
    pub scenario: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/scenarios/{scenario}/versions.json", rejection(Error))]
pub struct ScenarioVersionsJson {
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

/// The last part of an address with the file that it is wanted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct In<T> {
    pub value: T,
    pub file: Option<ScenarioFile>,
}

/// What a scenario is handed out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioFile {
    Json,
    Csv,
    /// What is entered, as `gpuledger scenario` reads it.
    Toml,
}

impl<T> In<T> {
    pub fn page(value: T) -> Self {
        Self { value, file: None }
    }
}

/// The page's address, to which a suffix can be appended.
impl<T: fmt::Display> fmt::Display for In<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: FromStr> FromStr for In<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        let suffixes =
            [(".json", ScenarioFile::Json), (".csv", ScenarioFile::Csv), (".toml", ScenarioFile::Toml)];
        let found = suffixes.iter().find_map(|(suffix, file)| Some((text.strip_suffix(suffix)?, *file)));
        Ok(match found {
            Some((text, file)) => Self { value: text.parse()?, file: Some(file) },
            None => Self::page(text.parse()?),
        })
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for In<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|error| de::Error::custom(format!("“{text}”: {error}")))
    }
}
