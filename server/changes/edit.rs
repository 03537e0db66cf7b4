//! What a change is made of: entries as they were and as they will be.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What stands in a document under a key.
pub trait Entry: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + Unpin + 'static {
    /// What it is, for a person: `team Vision`.
    fn title(&self) -> String;
}

/// An entry as it was and as it will be; `None` where there is none.
pub trait Edit: Clone + Serialize + DeserializeOwned + Send + Sync + Unpin + 'static {
    /// What distinguishes the entry from others.
    type Key: Clone + Ord + Display + FromStr + Send + Sync + 'static;
    type Entry: Entry;

    fn key(&self) -> Self::Key;
    fn before(&self) -> Option<&Self::Entry>;
    fn after(&self) -> Option<&Self::Entry>;

    /// The same backwards.
    #[must_use]
    fn undone(self) -> Self;

    /// What it is about.
    fn title(&self) -> String {
        self.after().or(self.before()).map(Entry::title).unwrap_or_default()
    }
}

/// An edit of an entry that has a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberedEdit<E> {
    pub id: i64,
    pub before: Option<E>,
    pub after: Option<E>,
}

impl<E: Entry> Edit for NumberedEdit<E> {
    type Key = i64;
    type Entry = E;

    fn key(&self) -> i64 {
        self.id
    }

    fn before(&self) -> Option<&E> {
        self.before.as_ref()
    }

    fn after(&self) -> Option<&E> {
        self.after.as_ref()
    }

    fn undone(self) -> Self {
        Self { id: self.id, before: self.after, after: self.before }
    }
}
