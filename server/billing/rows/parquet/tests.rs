//! Columns that are put away between batches of rows: what is read is the same, and what it takes has an end.

use std::io::{self, Cursor};

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::memory::{Limits, Memory};
use super::*;

const SCHEMA: &str = "message schema {
    REQUIRED INT64 number;
    OPTIONAL BYTE_ARRAY text (UTF8);
    OPTIONAL DOUBLE amount;
    REQUIRED BYTE_ARRAY id (UTF8);
    REPEATED INT64 list;
}";
/// Rows of the two row groups.
const GROUPS: [usize; 2] = [5000, 3000];
const USUAL: Limits = Limits { at_once: 1 << 20, kept: 1 << 20, again: 0 };
/// Each column is put away whenever it was read.
const NARROW: Limits = Limits { at_once: 1 << 20, kept: 0, again: u64::MAX };

/// Seven hundred rows in each page: texts by a dictionary, numbers, amounts and ids without one, nulls among them.
fn file(version: WriterVersion) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_write_batch_size(50)
        .set_data_page_row_count_limit(700)
        .set_column_dictionary_enabled(ColumnPath::from("amount"), false)
        .set_column_dictionary_enabled(ColumnPath::from("number"), false)
        .set_column_dictionary_enabled(ColumnPath::from("id"), false)
        .set_column_encoding(ColumnPath::from("id"), Encoding::PLAIN);
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut first = 0;
    for rows in GROUPS {
        let of_group = first..first + rows;
        first += rows;
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i64> = of_group.clone().map(|row| row as i64).collect();
        put::<Int64Type>(&mut group, &numbers, None, None);
        let is_there: Vec<i16> = of_group.clone().map(|row| i16::from(row % 7 != 0)).collect();
        let with_text = of_group.clone().filter(|row| row % 7 != 0);
        let texts: Vec<ByteArray> =
            with_text.clone().map(|row| format!("t{}", row % 90).as_str().into()).collect();
        put::<ByteArrayType>(&mut group, &texts, Some(&is_there), None);
        let amounts: Vec<f64> = with_text.map(|row| f64::from(row as u32) / 2.0).collect();
        put::<DoubleType>(&mut group, &amounts, Some(&is_there), None);
        let ids: Vec<ByteArray> = of_group.clone().map(|row| format!("id-{row}").as_str().into()).collect();
        put::<ByteArrayType>(&mut group, &ids, None, None);
        // No value, one, or two.
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        for row in of_group {
            let many = row % 3;
            values.extend((0..many).map(|value| value as i64));
            definition.extend(std::iter::repeat_n(i16::from(many > 0), many.max(1)));
            repetition.extend((0..many.max(1)).map(|value| i16::from(value > 0)));
        }
        put::<Int64Type>(&mut group, &values, Some(&definition), Some(&repetition));
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, definition, repetition).unwrap();
    column.close().unwrap();
}

/// The rows behind so many, or why they cannot be read, and what they still take once they are gone.
fn read(file: &[u8], limits: Limits, skipped: u64) -> (Result<Vec<String>, String>, u64) {
    let mut rows = ParquetRows::open(Box::new(Cursor::new(file.to_vec())), Box::new(io::sink())).unwrap();
    let memory = Memory::new(limits);
    let Decoding::Unread(decoder) = &mut rows.decoding else { panic!("nothing was read yet") };
    // Of a page's rows some are read together, then more of them, then some of two pages.
    decoder.set(300, memory.clone());
    rows.skip(skipped).unwrap();
    let mut read = Vec::new();
    let end = loop {
        match rows.advance() {
            Ok(true) => {
                let record = rows.record();
                let cell = |field| String::from_utf8_lossy(&record.plain(field)).into_owned();
                read.push((0..record.len()).map(cell).collect::<Vec<_>>().join("|"));
            }
            Ok(false) => break Ok(read),
            Err(broken) => break Err(format!("{broken:?}")),
        }
    };
    drop(rows);
    (end, memory.held())
}

#[test]
fn columns_that_are_put_away_go_on_where_they_were() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let file = file(version);
        let (usual, held) = read(&file, USUAL, 0);
        let usual = usual.unwrap();
        assert_eq!((usual.len(), held), (8000, 0));
        assert_eq!(usual[8], "8|t8|4|id-8|[0,1]");
        assert_eq!(usual[5003], "5003|t53|2501.5|id-5003|[0,1]");
        for skipped in [0, 1, 699, 700, 1024, 4999, 5000, 6400, 7999, 8000] {
            for limits in [USUAL, NARROW] {
                let (rows, held) = read(&file, limits, skipped);
                assert!(rows.unwrap() == usual[skipped as usize..], "{version:?}, {limits:?}, {skipped}");
                assert_eq!(held, 0);
            }
        }
    }
}

#[test]
fn more_than_may_be_at_a_time_or_again_is_refused_with_its_column() {
    let file = file(WriterVersion::PARQUET_1_0);
    let refused = |limits| read(&file, limits, 0).0.unwrap_err();
    let said = refused(Limits { at_once: 30_000, ..USUAL });
    assert!(said.contains("at a time") && said.contains("column: Some("), "{said}");
    // What each batch of thousands of rows unpacks again is some kilobytes.
    let said = refused(Limits { again: 5_000, ..NARROW });
    assert!(said.contains("again for each thousand rows") && said.contains("column: Some("), "{said}");
}

#[test]
fn what_decodes_ends_with_the_walk_wherever_that_is() {
    let file = file(WriterVersion::PARQUET_1_0);
    for rows in [0, 1, 1024, 1025, 3000, 8000] {
        let mut walk = ParquetRows::open(Box::new(Cursor::new(file.clone())), Box::new(io::sink())).unwrap();
        let memory = Memory::new(USUAL);
        let Decoding::Unread(decoder) = &mut walk.decoding else { panic!("nothing was read yet") };
        decoder.set(1024, memory.clone());
        for _ in 0..rows {
            assert!(walk.advance().unwrap());
        }
        assert_eq!(matches!(walk.decoding, Decoding::Ahead(_)), rows > 1024, "{rows} rows");
        drop(walk);
        assert_eq!(memory.held(), 0, "{rows} rows");
    }
}

/// Batches of some 30 MB, of which only one is there at a time.
#[test]
fn long_texts_are_all_read() {
    let schema = Arc::new(parse_message_type("message schema { REQUIRED BYTE_ARRAY text (UTF8); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts: Vec<ByteArray> = (0..3500).map(|row| "x".repeat(30_000 + row % 7).as_str().into()).collect();
    put::<ByteArrayType>(&mut group, &texts, None, None);
    group.close().unwrap();
    let file = writer.into_inner().unwrap();
    let open = || ParquetRows::open(Box::new(Cursor::new(file.clone())), Box::new(io::sink())).unwrap();
    let mut rows = open();
    for row in 0..3500 {
        assert!(rows.advance().unwrap());
        assert_eq!(rows.record().raw(0).len(), 30_000 + row % 7);
    }
    assert!(!rows.advance().unwrap());
    assert!(!rows.advance().unwrap());
    assert_eq!(rows.record().len(), 0);
    // The thread waits until they are read, and ends where nobody reads them.
    let mut rows = open();
    for _ in 0..1500 {
        assert!(rows.advance().unwrap());
    }
}

#[test]
fn what_broke_off_has_no_end() {
    let mut file = file(WriterVersion::PARQUET_1_0);
    // Somewhere in the second row group.
    let damaged = file.len() * 7 / 10..file.len() * 8 / 10;
    file[damaged].fill(0xee);
    let mut rows = ParquetRows::open(Box::new(Cursor::new(file)), Box::new(io::sink())).unwrap();
    let mut read = 0;
    while matches!(rows.advance(), Ok(true)) {
        read += 1;
    }
    assert!((1..8000).contains(&read), "{read}");
    assert!(rows.advance().is_err() && rows.advance().is_err());
    assert_eq!(rows.record().len(), 0);
}

#[test]
fn files_of_one_batch_need_no_thread() {
    let schema = Arc::new(parse_message_type("message schema { REQUIRED INT64 number; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    put::<Int64Type>(&mut group, &[1, 2, 3], None, None);
    group.close().unwrap();
    let file = writer.into_inner().unwrap();
    let mut rows = ParquetRows::open(Box::new(Cursor::new(file)), Box::new(io::sink())).unwrap();
    for _ in 0..3 {
        assert!(rows.advance().unwrap());
        assert!(matches!(rows.decoding, Decoding::Begun(_)));
    }
    assert!(!rows.advance().unwrap() && matches!(rows.decoding, Decoding::Ended));
}
