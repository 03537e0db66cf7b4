//! What is loaded under a delivery, before and after.

use std::path::PathBuf;

use super::original::Sha256;
use super::read::Reading;
use crate::billing::{Columns, Format, Statement};

/// A file to import: what people call it, and where its bytes are.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub name: String,
    pub path: PathBuf,
    pub stated: Stated,
}

/// What a manifest says of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stated {
    pub rows: Option<u64>,
    pub statement: Option<Statement>,
}

impl Source {
    /// A file of which no manifest says anything.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), path: path.into(), stated: Stated::default() }
    }
}

/// What was loaded under a delivery.
pub struct Loaded {
    pub reading: Reading,
    pub format: &'static dyn Format,
    pub files: Vec<LoadedFile>,
    /// How the delivery adds up: `None` states whole months, a slice is named after its file.
    pub slice: Option<String>,
    pub columns: Columns,
    /// What was odd about the rows and harmed no figure.
    pub remarks: Vec<String>,
}

pub struct LoadedFile {
    pub name: String,
    pub sha256: Sha256,
    pub received_bytes: u64,
    pub content_bytes: u64,
}
