//! The footer: what a file says of itself, believed only as far as it is possible.

use parquet::errors::Result;
use parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};

use super::compact::{Compact, STRUCT, Unreadable};
use super::pages::refused;
use super::source::Source;

/// Bytes of a footer: a file of a hundred row groups of 150 columns states some three million.
const MAX_FOOTER: usize = 8 << 20;
/// Groups within one another.
const MAX_DEPTH: usize = 32;
/// Columns of values.
const MAX_LEAVES: usize = 10_000;
const MAX_ROW_GROUPS: u64 = 20_000;
/// Columns of all row groups: each takes half a kilobyte once it is read, and could be stated in twenty bytes. With a name and its
/// places one has eighty, so that a footer of 8 MB has room for no more.
const MAX_CHUNKS: u64 = 120_000;
/// Names and values of no meaning to us; engines write a handful.
const MAX_NOTES: u64 = 10_000;

const MAGIC: &[u8] = b"PAR1";
const TRUNCATED: &str = "a Parquet file without its end: it was cut off";

/// Reads what the file says of its columns and row groups.
pub(super) fn read(source: &Source) -> Result<ParquetMetaData> {
    let length = source.length();
    let tail = match length.checked_sub(8) {
        Some(at) if at >= 4 => source.read(at, 8)?,
        _ => return Err(refused(TRUNCATED)),
    };
    let (size, magic) = tail.split_at(4);
    match magic {
        MAGIC => {}
        b"PARE" => return Err(refused("an encrypted Parquet file")),
        _ => return Err(refused(TRUNCATED)),
    }
    let size = size.iter().rev().fold(0usize, |size, byte| size << 8 | usize::from(*byte));
    if size > MAX_FOOTER {
        return Err(refused("a Parquet file with a footer of more than 8 MB"));
    }
    let at = (length - 8).checked_sub(size as u64).filter(|at| *at >= 4).ok_or_else(|| refused(TRUNCATED))?;
    let footer = source.read(at, size)?;
    check(&footer)?;
    let metadata = ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&without_statistics()))?;
    for group in metadata.row_groups() {
        if group.num_rows() < 0
            || group.num_columns() != metadata.file_metadata().schema_descr().num_columns()
        {
            return Err(refused("a row group of other columns than the file"));
        }
    }
    Ok(metadata)
}

/// Nobody asks for statistics, and a byte of them can become eight.
fn without_statistics() -> ParquetMetaDataOptions {
    ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

/// Looks at what would be made room for.
fn check(footer: &[u8]) -> Result<()> {
    let mut compact = Compact::new(footer);
    let mut tree = Tree::default();
    let (mut groups, mut chunks, mut notes) = (0, 0, 0);
    let read = compact.fields(|compact, id, kind| {
        match id {
            2 => {
                compact.structs(kind, |compact| {
                    let mut children = 0;
                    compact.fields(|compact, id, kind| {
                        match id {
                            5 => children = compact.number(kind)?,
                            _ => compact.skip(kind, 0)?,
                        }
                        Ok(())
                    })?;
                    tree.add(children);
                    Ok(())
                })?;
            }
            4 => {
                groups = compact.structs(kind, |compact| {
                    compact.fields(|compact, id, kind| {
                        match id {
                            1 => chunks += compact.structs(kind, |compact| compact.skip(STRUCT, 0))?,
                            _ => compact.skip(kind, 0)?,
                        }
                        Ok(())
                    })
                })?;
            }
            5 => notes = compact.structs(kind, |compact| compact.skip(STRUCT, 0))?,
            _ => compact.skip(kind, 0)?,
        }
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(Unreadable::Short | Unreadable::Damaged) => {
            return Err(refused("a Parquet file with a damaged footer"));
        }
    }
    if tree.is_impossible || !tree.open.is_empty() {
        return Err(refused("a Parquet file whose schema contradicts itself"));
    }
    if tree.elements > MAX_LEAVES {
        return Err(refused("a Parquet file of more than 10,000 columns"));
    }
    if groups > MAX_ROW_GROUPS {
        return Err(refused("a Parquet file of more than 20,000 row groups"));
    }
    if chunks > MAX_CHUNKS {
        return Err(refused("a Parquet file of more than 120,000 columns, those of each row group counted"));
    }
    if notes > MAX_NOTES {
        return Err(refused("a Parquet file with more than 10,000 notes of its writer"));
    }
    Ok(())
}

/// The schema, which is written as a list: each element says how many of those behind it are its own.
#[derive(Default)]
struct Tree {
    elements: usize,
    /// How many are still to come, of each group that is not complete.
    open: Vec<i64>,
    is_impossible: bool,
}

impl Tree {
    fn add(&mut self, children: i64) {
        let is_root = self.elements == 0;
        self.elements += 1;
        match self.open.last_mut() {
            Some(left) => *left -= 1,
            None => self.is_impossible |= !is_root,
        }
        if !(0..=MAX_LEAVES as i64).contains(&children) || self.open.len() > MAX_DEPTH {
            self.is_impossible = true;
        } else if children > 0 {
            self.open.push(children);
        }
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of so many structs without fields: its number among the fields, its length, the structs.
    fn list(field: u8, length: usize) -> Vec<u8> {
        let mut bytes = vec![field << 4 | 9, 0xfc];
        let mut rest = length;
        while rest > 127 {
            bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes.resize(bytes.len() + length, 0);
        bytes
    }

    #[test]
    fn a_footer_of_many_small_things_is_refused_before_they_become_large() {
        let said = |footer: Vec<u8>| check(&footer).err().map(|error| error.to_string()).unwrap_or_default();
        // A row group is a struct whose first field are its columns.
        let group = |columns| [&[0x49, 0x1c][..], &list(1, columns), &[0, 0]].concat();
        assert_eq!(said(group(120_000)), "");
        assert!(said(group(120_001)).contains("more than 120,000 columns"), "{}", said(group(120_001)));
        let notes = |many| [list(5, many), vec![0]].concat();
        assert_eq!(said(notes(10_000)), "");
        assert!(said(notes(10_001)).contains("more than 10,000 notes"), "{}", said(notes(10_001)));
        assert!(said([list(4, 20_001), vec![0]].concat()).contains("more than 20,000 row groups"));
    }
}
