//! Machines of one's own.

use serde::{Deserialize, Serialize};

use crate::economics::owning::Owning;
use crate::economics::price_path::Refresh;

/// Machines of one's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Owned {
    pub gpus: Gpus,
    /// What they are and cost. How many there are, how much they are used and what money costs follow from the scenario.
    pub machines: Owning,
    /// What is bought when their life ends before the months do. 1 and 1: the same again.
    pub refresh: Refresh,
}

/// How many are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Gpus {
    #[default]
    #[serde(with = "best")]
    Best,
    Number(u32),
}

/// `"best"`: as many as cost least.
mod best {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("best")
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "best" => Ok(()),
            found => Err(de::Error::custom(format!("expected a number or \"best\", found {found:?}"))),
        }
    }
}
