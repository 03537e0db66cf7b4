//! What distinguishes the rows of an export.

use super::Export;

/// The hash of what is equal in two rows only where they are the same row. Of ten million rows two have it by chance once in
/// 180,000 files.
pub type Identity = i64;

impl Export {
    /// The identity that the format states of the last row; `None` where it states none, or the row has none.
    pub fn identity(&mut self) -> Option<Identity> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let columns = self.reader.identity();
        let has_one = columns.first().is_some_and(|first| !self.cell(*first).trim_ascii().is_empty());
        for column in columns {
            text.extend_from_slice(&self.cell(*column));
            text.push(0);
        }
        let identity = has_one.then(|| hash(&text));
        self.scratch = text;
        identity
    }

    /// Whether rows of this format have an identity of their own.
    pub fn states_identities(&self) -> bool {
        !self.reader.identity().is_empty()
    }

    /// The column that identities are named after.
    pub fn identity_column(&self) -> &str {
        self.reader.identity().first().map_or("", |column| self.header.name(*column))
    }

    /// What the last row holds in that column.
    pub fn identity_text(&self) -> String {
        let first = self.reader.identity().first();
        first.map_or_else(String::new, |column| String::from_utf8_lossy(&self.cell(*column)).into_owned())
    }

    /// Of everything that the last row holds.
    pub fn whole_row(&self) -> Identity {
        hash(&self.rows.record().line())
    }
}

fn hash(text: &[u8]) -> Identity {
    let hash = blake3::hash(text);
    // Without the sign, so that the order is that of PostgreSQL whatever reads it.
    hash.as_bytes().first_chunk().map_or(0, |first| Identity::from_le_bytes(*first) & Identity::MAX)
}
