//! The headers of pages, read by ourselves: what they state is checked before anything is made room for.

use super::compact::{Compact, TRUE, Unreadable};

/// What stands before each page of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub kind: i64,
    pub unpacked: i64,
    pub packed: i64,
    pub values: i64,
    pub encoding: i64,
    pub definition_encoding: i64,
    pub repetition_encoding: i64,
    /// Of a data page of version 2.
    pub nulls: i64,
    pub rows: i64,
    pub definition_bytes: i64,
    pub repetition_bytes: i64,
    pub is_packed: bool,
    /// Bytes of the header itself.
    pub length: usize,
}

pub(super) const DATA: i64 = 0;
pub(super) const INDEX: i64 = 1;
pub(super) const DICTIONARY: i64 = 2;
pub(super) const DATA_V2: i64 = 3;

impl PageHeader {
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut header = Self { is_packed: true, ..Self::default() };
        let mut compact = Compact::new(bytes);
        compact.fields(|compact, id, kind| {
            match id {
                1 => header.kind = compact.number(kind)?,
                2 => header.unpacked = compact.number(kind)?,
                3 => header.packed = compact.number(kind)?,
                5 => compact.inner(kind, |compact, id, kind| {
                    match id {
                        1 => header.values = compact.number(kind)?,
                        2 => header.encoding = compact.number(kind)?,
                        3 => header.definition_encoding = compact.number(kind)?,
                        4 => header.repetition_encoding = compact.number(kind)?,
                        _ => compact.skip(kind, 0)?,
                    }
                    Ok(())
                })?,
                7 => compact.inner(kind, |compact, id, kind| {
                    match id {
                        1 => header.values = compact.number(kind)?,
                        2 => header.encoding = compact.number(kind)?,
                        _ => compact.skip(kind, 0)?,
                    }
                    Ok(())
                })?,
                8 => compact.inner(kind, |compact, id, kind| {
                    match id {
                        1 => header.values = compact.number(kind)?,
                        2 => header.nulls = compact.number(kind)?,
                        3 => header.rows = compact.number(kind)?,
                        4 => header.encoding = compact.number(kind)?,
                        5 => header.definition_bytes = compact.number(kind)?,
                        6 => header.repetition_bytes = compact.number(kind)?,
                        7 => header.is_packed = kind == TRUE,
                        _ => compact.skip(kind, 0)?,
                    }
                    Ok(())
                })?,
                _ => compact.skip(kind, 0)?,
            }
            Ok(())
        })?;
        header.length = bytes.len() - compact.left();
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_to_its_last_byte_and_no_shorter() {
        // Type 0, 100 bytes, 60 packed, a data page of 25 values, dictionary, RLE twice, statistics with a minimum.
        let bytes = [
            0x15, 0, 0x15, 200, 1, 0x15, 120, 0x2c, 0x15, 50, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x18, 2, 7,
            7, 0, 0, 0,
        ];
        let header = PageHeader::read(&[&bytes[..], b"what follows"].concat()).unwrap();
        assert_eq!((header.kind, header.unpacked, header.packed, header.values), (DATA, 100, 60, 25));
        assert_eq!((header.encoding, header.definition_encoding, header.length), (8, 3, bytes.len()));
        for length in 0..bytes.len() {
            assert_eq!(PageHeader::read(&bytes[..length]), Err(Unreadable::Short), "{length}");
        }
    }

    #[test]
    fn what_no_header_is_ends_early() {
        let deep = [0x1c; 100];
        assert_eq!(PageHeader::read(&deep), Err(Unreadable::Damaged));
        assert_eq!(
            PageHeader::read(&[0x15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
            Err(Unreadable::Damaged)
        );
        // A list that says it has more elements than there are bytes.
        let list = [0x99, 0xf5, 255, 255, 255, 255, 15];
        assert_eq!(PageHeader::read(&[&list[..], &[0; 50]].concat()), Err(Unreadable::Short));
    }
}
