//! The asset register as a document that people change.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::asset_register::{AssetRegister, Edit};
use super::bill_status::active_months;
use super::entry::Entry;
use super::problem::problems;
use super::readings::take_readings_back;
use crate::changes::{Document, Edit as _, Kind, Problem};

impl Document for AssetRegister {
    const KIND: Kind = Kind::AssetRegister;
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
        problems(self).into_iter().map(|it| Problem { of: it.what, message: it.why }).collect()
    }

    /// A cluster whose published months would be out of reach cannot be removed.
    async fn obstacles(db: &mut PgConnection, edits: &[Edit]) -> sqlx::Result<Vec<Problem>> {
        let mut found = Vec::new();
        for edit in edits {
            let (Some(Entry::Cluster(it)), None) = (&edit.before, &edit.after) else { continue };
            let active = active_months(&mut *db, &it.handle).await?;
            if active > 0 {
                let message = format!(
                    "{active} of its months are active: remove its other entries from the asset register, publish the months, then \
                     remove the cluster"
                );
                found.push(Problem { of: edit.title(), message });
            }
        }
        Ok(found)
    }

    async fn take_back(db: &mut PgConnection, applied: i64, version: i64) -> sqlx::Result<bool> {
        take_readings_back(db, applied, version).await
    }
}
