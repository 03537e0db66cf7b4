//! Corrected rows: rejected rows that people exported, corrected and imported. Each says which row it stands for, so that it
//! adds to the delivery of that row, and the row is missing no longer.

use std::fmt;
use std::str::FromStr;

use sqlx::PgConnection;

/// The column that stands beside the rejected rows which people download to correct. Each cell is a [`Mark`].
pub const CORRECTED: &str = "gpuledger/Row";

/// Names a rejected row: `delivery-12/file-0/row-4711`. In words, since spreadsheets take `12/1/47` for a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub delivery: i64,
    pub file: i16,
    pub row: i64,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delivery-{}/file-{}/row-{}", self.delivery, self.file, self.row)
    }
}

/// It names no row.
#[derive(Debug)]
pub struct NoMark;

impl FromStr for Mark {
    type Err = NoMark;

    fn from_str(text: &str) -> Result<Self, NoMark> {
        let mut parts = text.trim().splitn(3, '/');
        let mut part = |name: &str| parts.next().and_then(|part| part.strip_prefix(name)).ok_or(NoMark);
        Ok(Self {
            delivery: part("delivery-")?.parse().map_err(|_| NoMark)?,
            file: part("file-")?.parse().map_err(|_| NoMark)?,
            row: part("row-")?.parse().map_err(|_| NoMark)?,
        })
    }
}

impl Mark {
    /// Of a cell as the file has it.
    pub fn read(cell: &[u8]) -> Option<Self> {
        std::str::from_utf8(cell).ok()?.parse().ok()
    }
}

/// Why a delivery of corrected rows should not simply add to those it corrects; `None` where it completes them and does
/// nothing else. Ask with the ledger locked, so that nobody corrects the same rows meanwhile.
pub async fn doubt(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<&'static str>> {
    let found = sqlx::query_file!("server/ledger/correction_doubts.sql", delivery_id).fetch_one(db).await?;
    let doubts = [
        (found.has_others, "not every row says in its last columns which rejected row it corrects"),
        (found.names_twice, "two of its rows correct the same one"),
        (found.is_corrected, "some of them were corrected before and would count twice"),
        (found.is_over, "the import whose rows they were is not active"),
        (found.meets_others, "another import than theirs is active for their account and month"),
    ];
    Ok(doubts.into_iter().find_map(|(applies, sentence)| applies.then_some(sentence)))
}

/// The deliveries whose rejected rows this one corrects.
pub async fn corrects(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select distinct corrects_delivery_id from corrected_rejections where delivery_id = $1 order by 1",
        delivery_id,
    )
    .fetch_all(db)
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_is_written() {
        let mark = Mark { delivery: 12, file: 0, row: 4711 };
        assert_eq!(mark.to_string(), "delivery-12/file-0/row-4711");
        assert_eq!(Mark::read(b" delivery-12/file-0/row-4711 "), Some(mark));
        for text in [
            "",
            "4711",
            "12/0/4711",
            "delivery-12/file-0",
            "delivery-12/file-0/row-1/2",
            "delivery-x/file-0/row-1",
        ] {
            assert_eq!(Mark::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Mark::read(b"\xff"), None);
    }
}
