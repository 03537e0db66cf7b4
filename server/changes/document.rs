//! A document of entries in PostgreSQL. An entry is never changed: another closes its interval of versions, so the document as of
//! any version can be asked.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Edit, Kind, NumberedEdit, Problem};

pub type KeyOf<D> = <<D as Document>::Edit as Edit>::Key;
pub type EntryOf<D> = <<D as Document>::Edit as Edit>::Entry;

/// A set of entries that people change.
///
/// It is what three rooms need and no more: what its entries are, and what is wrong with it.
pub trait Document: Clone + Send + Sync + 'static {
    const KIND: Kind;
    type Edit: Edit;

    fn of(entries: BTreeMap<KeyOf<Self>, EntryOf<Self>>) -> Self;
    fn entries(&self) -> &BTreeMap<KeyOf<Self>, EntryOf<Self>>;
    fn entries_mut(&mut self) -> &mut BTreeMap<KeyOf<Self>, EntryOf<Self>>;

    /// What is wrong with it.
    fn problems(&self) -> Vec<Problem>;

    /// What keeps these edits from being made besides, as the database knows.
    fn obstacles(
        _db: &mut PgConnection,
        _edits: &[Self::Edit],
    ) -> impl Future<Output = sqlx::Result<Vec<Problem>>> + Send {
        async { Ok(Vec::new()) }
    }

    /// Takes back what else was written with an applied change, from another version on. False where something later stands
    /// upon it.
    fn take_back(
        _db: &mut PgConnection,
        _applied: i64,
        _version: i64,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send {
        async { Ok(true) }
    }

    /// With these edits made.
    #[must_use]
    fn edited(&self, edits: &[Self::Edit]) -> Self {
        let mut document = self.clone();
        let entries = document.entries_mut();
        for edit in edits {
            match edit.after() {
                Some(entry) => entries.insert(edit.key(), entry.clone()),
                None => entries.remove(&edit.key()),
            };
        }
        document
    }

    /// What of these edits is not as it was when they were made.
    fn conflicts(&self, edits: &[Self::Edit]) -> Vec<String> {
        let is_in_conflict = |edit: &&Self::Edit| self.entries().get(&edit.key()) != edit.before();
        edits.iter().filter(is_in_conflict).map(Edit::title).collect()
    }

    /// As it stood at a version.
    fn as_of(db: &mut PgConnection, version: i64) -> impl Future<Output = sqlx::Result<Self>> + Send {
        async move {
            let rows = sqlx::query_as!(
                Row::<EntryOf<Self>>,
                r#"select entry, content as "content: Json<EntryOf<Self>>"
                   from document_entries
                   where kind = $1 and from_version <= $2 and (until_version is null or until_version > $2)"#,
                Self::KIND as Kind,
                version,
            )
            .fetch_all(db)
            .await?;
            let entry = |key: String, content: EntryOf<Self>| {
                let key = key.parse().map_err(|_| unreadable(&key))?;
                Ok((key, content))
            };
            let entries = rows.into_iter().map(|row| entry(row.entry, row.content.0));
            Ok(Self::of(entries.collect::<sqlx::Result<_>>()?))
        }
    }

    /// As it stands, with its version.
    fn current(db: &mut PgConnection) -> impl Future<Output = sqlx::Result<(i64, Self)>> + Send {
        async {
            let version = Self::KIND.version(&mut *db).await?;
            Ok((version, Self::as_of(db, version).await?))
        }
    }
}

/// An entry as the database has it.
struct Row<E> {
    entry: String,
    content: Json<E>,
}

fn unreadable(key: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("no key of an entry: {key}").into())
}

/// Makes edits from a version on.
pub(super) async fn write<D: Document>(
    db: &mut PgConnection,
    edits: &[D::Edit],
    version: i64,
) -> sqlx::Result<()> {
    let touched: Vec<String> = edits.iter().map(|edit| edit.key().to_string()).collect();
    sqlx::query!(
        "update document_entries set until_version = $3
         where kind = $1 and entry = any($2) and until_version is null",
        D::KIND as Kind,
        &touched,
        version,
    )
    .execute(&mut *db)
    .await?;
    let new = edits.iter().filter_map(|edit| Some((edit.key().to_string(), Json(edit.after()?))));
    let (keys, contents): (Vec<String>, Vec<Json<&EntryOf<D>>>) = new.unzip();
    sqlx::query!(
        "insert into document_entries (kind, entry, from_version, content)
         select $1, entry, $4, content from unnest($2::text[], $3::jsonb[]) as new (entry, content)",
        D::KIND as Kind,
        &keys,
        &contents as _,
        version,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Numbers for entries that are about to be written.
pub async fn entry_ids(db: &mut PgConnection, count: usize) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        r#"select nextval('document_entry_ids') as "id!" from generate_series(1, $1)"#,
        i32::try_from(count).unwrap_or(i32::MAX),
    )
    .fetch_all(db)
    .await
}

/// Edits that add these entries, each with a number of its own.
pub async fn additions<E>(db: &mut PgConnection, entries: Vec<E>) -> sqlx::Result<Vec<NumberedEdit<E>>> {
    let ids = entry_ids(db, entries.len()).await?;
    let additions = ids.into_iter().zip(entries);
    Ok(additions.map(|(id, entry)| NumberedEdit { id, before: None, after: Some(entry) }).collect())
}
