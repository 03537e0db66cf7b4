//! Rows for `COPY … FROM STDIN (FORMAT binary)`, the fastest way in: nothing is printed or parsed as text.
//!
//! Layout from the PostgreSQL manual, "COPY, Binary Format": a header, per row a count of fields, per
//! field a length and the type's binary form, a trailer of -1.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serializer as _;
use sqlx::PgConnection;
use sqlx::postgres::PgCopyIn;
use uuid::Uuid;

use crate::money::Decimal;

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: [u8; 2] = (-1i16).to_be_bytes();
const NULL: [u8; 4] = (-1i32).to_be_bytes();
/// Dates and timestamps count from 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;
const NUMERIC_OID: u32 = 1700;
const JSONB_VERSION: u8 = 1;

/// A block of rows for one table, complete in itself.
#[derive(Debug)]
pub struct CopyRows {
    bytes: Vec<u8>,
    rows: usize,
    /// Sort key and start of each row, where rows are to be sorted.
    order: Vec<(u128, u32)>,
}

impl CopyRows {
    pub fn with_capacity(bytes: usize) -> Self {
        let mut buffer = Vec::with_capacity(bytes + 64);
        buffer.extend_from_slice(HEADER);
        Self { bytes: buffer, rows: 0, order: Vec::new() }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Size so far, in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Begins a row; exactly `fields` values follow, in the order of the statement's columns.
    pub fn row(&mut self, fields: i16) -> &mut Self {
        self.rows += 1;
        self.bytes.extend_from_slice(&fields.to_be_bytes());
        self
    }

    /// As [`Self::row`], in a block whose rows are sent in the order of their sort keys: in the order of the
    /// table's index, so that its pages are met one after the other. All rows of the block or none.
    pub fn sorted_row(&mut self, fields: i16, sort_key: u128) -> &mut Self {
        self.order.push((sort_key, self.bytes.len() as u32));
        self.row(fields)
    }

    pub fn null(&mut self) -> &mut Self {
        self.bytes.extend_from_slice(&NULL);
        self
    }

    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.fixed(&[u8::from(value)])
    }

    pub fn smallint(&mut self, value: i16) -> &mut Self {
        self.fixed(&value.to_be_bytes())
    }

    pub fn integer(&mut self, value: i32) -> &mut Self {
        self.fixed(&value.to_be_bytes())
    }

    pub fn bigint(&mut self, value: i64) -> &mut Self {
        self.fixed(&value.to_be_bytes())
    }

    pub fn uuid(&mut self, value: Uuid) -> &mut Self {
        self.fixed(value.as_bytes())
    }

    pub fn date(&mut self, value: NaiveDate) -> &mut Self {
        self.integer(value.to_epoch_days() - EPOCH_DAYS)
    }

    pub fn timestamptz(&mut self, value: DateTime<Utc>) -> &mut Self {
        self.bigint(value.timestamp_micros() - EPOCH_MICROS)
    }

    pub fn text(&mut self, value: &str) -> &mut Self {
        self.fixed(value.as_bytes())
    }

    /// Empty text is null.
    pub fn text_or_null(&mut self, value: &str) -> &mut Self {
        if value.is_empty() { self.null() } else { self.text(value) }
    }

    /// A `jsonb` object of texts.
    pub fn json<'a>(&mut self, fields: impl Iterator<Item = (&'a str, &'a str)>) -> &mut Self {
        self.sized(|bytes| {
            bytes.push(JSONB_VERSION);
            // Texts always can be written, and to memory.
            let _ = serde_json::Serializer::new(bytes).collect_map(fields);
        })
    }

    pub fn numeric(&mut self, value: &Decimal) -> &mut Self {
        self.sized(|bytes| value.write_numeric(bytes))
    }

    pub fn numeric_or_null(&mut self, value: Option<&Decimal>) -> &mut Self {
        match value {
            Some(value) => self.numeric(value),
            None => self.null(),
        }
    }

    /// `numeric[]`, one dimension, no nulls; the first value has this index.
    pub fn numerics(&mut self, first: i32, values: &[Decimal]) -> &mut Self {
        self.sized(|bytes| {
            bytes.extend_from_slice(&i32::from(!values.is_empty()).to_be_bytes());
            bytes.extend_from_slice(&0i32.to_be_bytes());
            bytes.extend_from_slice(&NUMERIC_OID.to_be_bytes());
            if values.is_empty() {
                return;
            }
            bytes.extend_from_slice(&(values.len() as i32).to_be_bytes());
            bytes.extend_from_slice(&first.to_be_bytes());
            for value in values {
                sized(bytes, |bytes| value.write_numeric(bytes));
            }
        })
    }

    fn fixed(&mut self, value: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(&(value.len() as i32).to_be_bytes());
        self.bytes.extend_from_slice(value);
        self
    }

    fn sized(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        sized(&mut self.bytes, write);
        self
    }

    /// The header and the rows.
    fn finish(self) -> Vec<u8> {
        if self.order.is_empty() { self.bytes } else { self.sorted() }
    }

    fn sorted(self) -> Vec<u8> {
        let Self { bytes, order, .. } = self;
        let ends: Vec<u32> =
            order.iter().skip(1).map(|(_, start)| *start).chain([bytes.len() as u32]).collect();
        let mut ranges: Vec<_> = order.into_iter().zip(ends).collect();
        ranges.sort_unstable();
        let mut sorted = Vec::with_capacity(bytes.len());
        sorted.extend_from_slice(HEADER);
        for ((_, start), end) in ranges {
            sorted.extend_from_slice(&bytes[start as usize..end as usize]);
        }
        sorted
    }
}

/// Writes a value behind its length, which is known only afterwards.
fn sized(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    write(bytes);
    let length = (bytes.len() - at - 4) as i32;
    bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Sends a block: one statement, one commit. `statement` is `copy table (columns) from stdin (format binary)`.
pub async fn send(db: &mut PgConnection, statement: &str, rows: CopyRows) -> sqlx::Result<u64> {
    Copying::begin(db, statement, rows).await?.end().await
}

/// A statement that takes blocks one after the other.
pub struct Copying<'c>(PgCopyIn<&'c mut PgConnection>);

impl<'c> Copying<'c> {
    /// As [`send`], with more to come.
    pub async fn begin(db: &'c mut PgConnection, statement: &str, rows: CopyRows) -> sqlx::Result<Self> {
        let mut copy = db.copy_in_raw(statement).await?;
        copy.send(rows.finish()).await?;
        Ok(Self(copy))
    }

    /// Sends another block of the same columns.
    pub async fn send(&mut self, rows: CopyRows) -> sqlx::Result<()> {
        // One header is enough.
        self.0.send(&rows.finish()[HEADER.len()..]).await?;
        Ok(())
    }

    /// Ends the statement. Answers how many rows it took; an error may be of any of its blocks.
    pub async fn end(mut self) -> sqlx::Result<u64> {
        self.0.send(&TRAILER[..]).await?;
        self.0.finish().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_rows_go_out_in_the_order_of_their_keys() {
        let block = |keys: &[i64]| {
            let mut rows = CopyRows::with_capacity(64);
            for key in keys {
                // Of different lengths, so that a wrong boundary shows.
                rows.sorted_row(2, *key as u128).bigint(*key).text(&"x".repeat(*key as usize));
            }
            rows.finish()
        };
        assert_eq!(block(&[3, 1, 2, 7]), block(&[1, 2, 3, 7]));
    }
}
