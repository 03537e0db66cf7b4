//! What is loaded under a delivery, before and after.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::original::Sha256;
use super::reading::Reading;
use crate::billing::{Columns, Format, Statement};

/// A file to import: what people call it, and where its bytes are.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub name: String,
    pub path: PathBuf,
    pub stated: Stated,
    /// Which of its costs are taken, where another file of the delivery has the other ones.
    pub half: Statement,
    /// Where it is kept already: then it has no path.
    pub kept: Option<Kept>,
    /// The import that it was taken from, to complete another half of its month.
    pub taken_from: Option<i64>,
}

/// A file that is kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub sha256: Sha256,
    pub received_bytes: u64,
    pub content_bytes: u64,
}

/// What is known of a file beforehand: by its manifest, and which costs its rows state.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    pub rows: Option<u64>,
    pub statement: Option<Statement>,
    /// None where nothing is known of them.
    pub columns: Arc<[String]>,
}

impl Source {
    /// A file of which no manifest says anything.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), path: path.into(), ..Self::default() }
    }

    pub(super) fn of_kept(name: String, kept: Kept) -> Self {
        Self { name, kept: Some(kept), ..Self::default() }
    }

    /// The same, as a file of another import.
    pub(super) fn taken_from(self, delivery: i64) -> Self {
        Self { taken_from: Some(delivery), ..self }
    }

    /// The same, whose rows state these costs.
    pub(super) fn stating(self, statement: Statement) -> Self {
        Self { stated: Stated { statement: Some(statement), ..self.stated }, ..self }
    }

    /// The same, of which these costs are taken.
    pub(super) fn read_as(self, half: Statement) -> Self {
        Self { half, ..self }
    }

    /// What was loaded of it.
    pub(super) fn loaded(&self, kept: Kept) -> LoadedFile {
        let Kept { sha256, received_bytes, content_bytes } = kept;
        let (name, states, half, taken_from) = (self.name.clone(), self.states(), self.half, self.taken_from);
        LoadedFile { name, states, half, taken_from, sha256, received_bytes, content_bytes }
    }

    /// The same of a file that was kept before.
    pub(super) fn already_kept(&self) -> io::Result<LoadedFile> {
        let kept = self.kept.ok_or_else(|| io::Error::other("the original was not written"))?;
        Ok(self.loaded(kept))
    }

    /// Which costs it states.
    pub(super) fn states(&self) -> Statement {
        match self.half {
            Statement::Whole => self.stated.statement.unwrap_or_default(),
            half => half,
        }
    }
}

/// What was loaded under a delivery.
pub struct Loaded {
    pub reading: Reading,
    pub format: Arc<dyn Format>,
    pub files: Vec<LoadedFile>,
    /// How the delivery adds up: `None` states whole months, a slice is named after its file.
    pub slice: Option<String>,
    pub columns: Columns,
    /// What was odd about the rows and harmed no figure.
    pub remarks: Vec<String>,
    /// Of the notes on its files, those by which figures may be wrong.
    pub doubts: Vec<String>,
}

pub struct LoadedFile {
    pub name: String,
    /// Which costs it states, and which of them were taken.
    pub states: Statement,
    pub half: Statement,
    /// The import that it was taken from.
    pub taken_from: Option<i64>,
    pub sha256: Sha256,
    pub received_bytes: u64,
    pub content_bytes: u64,
}

impl LoadedFile {
    /// Where it is kept.
    pub fn kept(&self) -> Kept {
        let Self { sha256, received_bytes, content_bytes, .. } = *self;
        Kept { sha256, received_bytes, content_bytes }
    }
}
