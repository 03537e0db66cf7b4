//! The configuration as a document that people change.

use std::collections::BTreeMap;

use super::configuration::{Configuration, Edit};
use super::entry::Entry;
use super::problem::problems;
use crate::changes::{Document, Kind, Problem};

impl Document for Configuration {
    const KIND: Kind = Kind::Allocation;
    type Edit = Edit;

    fn of(entries: BTreeMap<i64, Entry>) -> Self {
        Self { entries }
    }

    fn entries(&self) -> &BTreeMap<i64, Entry> {
        &self.entries
    }

    fn entries_mut(&mut self) -> &mut BTreeMap<i64, Entry> {
        &mut self.entries
    }

    fn problems(&self) -> Vec<Problem> {
        problems(self)
    }
}
