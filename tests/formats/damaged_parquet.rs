//! Parquet files that were cut off, or that say of themselves what is not so: refused before room is made for what they say, with
//! row group, rows and column.

use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use serde_json::Value;

use super::damaged::{SAMPLES, Table, read_file, refusal};
use crate::support::containers::{self, footer_length, metadata};

/// A Parquet file that says something else of the first column of its second row group than what is there.
fn lying(
    file: &[u8],
    at: usize,
    lie: impl Fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> Vec<u8> {
    relabeled(file, |group| {
        let mut columns = group.columns().to_vec();
        columns[at] = lie(columns[at].clone().into_builder()).build().unwrap();
        group.clone().into_builder().set_column_metadata(columns).build().unwrap()
    })
}

/// The same pages behind another footer, of which the second row group is another.
fn relabeled(file: &[u8], lie: impl Fn(&RowGroupMetaData) -> RowGroupMetaData) -> Vec<u8> {
    let metadata = metadata(file);
    let mut groups = metadata.row_groups().to_vec();
    groups[1] = lie(&groups[1]);
    let metadata = metadata.into_builder().set_row_groups(groups).build();
    let mut bytes = file[..file.len() - 8 - footer_length(file)].to_vec();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

/// Where a column's dictionary begins, and where in its header its size is: behind the kind of the page.
fn size_of_dictionary(file: &[u8], column: usize) -> usize {
    let at = metadata(file).row_group(1).column(column).dictionary_page_offset().unwrap() as usize;
    assert_eq!(file[at..at + 3], [0x15, 0x04, 0x15], "a dictionary, and its size");
    at + 3
}

#[test]
fn parquet_that_lies_about_its_sizes_is_refused_with_row_group_row_and_column() {
    for sample in &SAMPLES {
        let mut whole = Table::of(sample);
        whole.rows = (0..1500).map(|row| whole.rows[row % whole.rows.len()].clone()).collect();
        let objects = containers::objects(&whole.csv()).unwrap();
        let file = containers::parquet(&objects, Compression::UNCOMPRESSED);
        assert_eq!(read_file("bill.parquet", file.clone()).unwrap().rows, 1500);
        let at = whole.at(sample.cost);
        let end = file.len() as i64;
        let mut fat = file.clone();
        let size = size_of_dictionary(&file, at);
        // The same number of bytes, and the largest size that they can state.
        let bytes = file[size..].iter().position(|byte| byte & 0x80 == 0).unwrap();
        fat[size..size + bytes].fill(0xff);
        fat[size + bytes] = 0x7e;
        let cut = |length: usize| file[..length].to_vec();
        let too_few =
            "a column of fewer rows than the row group says, in row group 2, within the rows 501 to";
        let cases: [(&str, Vec<u8>, &str); 7] = [
            (
                "cut in the middle",
                cut(file.len() / 2),
                "found a Parquet file without its end: it was cut off",
            ),
            (
                "without its last byte",
                cut(file.len() - 1),
                "found a Parquet file without its end: it was cut off",
            ),
            (
                "a column behind the end",
                lying(&file, at, |column| column.set_dictionary_page_offset(None).set_data_page_offset(end)),
                "found a column that lies beyond the end of the file, in row group 2",
            ),
            (
                "a column of a terabyte",
                lying(&file, at, |column| column.set_total_compressed_size(1 << 40)),
                "found a column that lies beyond the end of the file, in row group 2",
            ),
            (
                "a column of ten bytes",
                lying(&file, at, |column| column.set_total_compressed_size(10)),
                "found a page",
            ),
            (
                "a row group of more rows than it has",
                relabeled(&file, |group| group.clone().into_builder().set_num_rows(1 << 40).build().unwrap()),
                too_few,
            ),
            ("a dictionary of another size", fat, "found a page"),
        ];
        for (what, content, found) in cases {
            let said = refusal("bill.parquet", content);
            let of = format!("{}, {what}: {said}", sample.format);
            assert!(
                said.contains(found) && said.contains("; expected a Parquet file as the provider wrote it"),
                "{of}"
            );
            let is_cut = what.contains("cut in") || what.contains("last byte");
            let place = if is_cut { "bill.parquet: found" } else { "bill.parquet: row 501, column " };
            assert!(said.starts_with(place), "{of}");
            if !is_cut && !what.contains("more rows") {
                assert!(said.contains(&format!("column {}: found", sample.cost)), "{of}");
            }
        }
    }
}

/// A dictionary that states a hundred megabytes, in a file of one, and one of as many values as a header can state.
#[test]
fn gigantic_dictionary_is_refused_before_room_is_made_for_it() {
    let sample = &SAMPLES[2];
    let mut whole = Table::of(sample);
    let first = whole.rows[0].clone();
    let resource = whole.at("ResourceId");
    whole.rows = (0..1500).map(|_| first.clone()).collect();
    for (row, cells) in whole.rows.iter_mut().enumerate() {
        cells[resource] = format!("{row:04}").repeat(900);
    }
    let objects = containers::objects(&whole.csv()).unwrap();
    let file = containers::parquet(&objects, Compression::UNCOMPRESSED);
    assert_eq!(read_file("bill.parquet", file.clone()).unwrap().charges.len(), 1500);
    let size = size_of_dictionary(&file, resource);
    let bytes = file[size..].iter().position(|byte| byte & 0x80 == 0).unwrap();
    assert_eq!(bytes, 3, "a megabyte or more");
    let mut gigantic = file.clone();
    gigantic[size..size + 3].fill(0xff);
    gigantic[size + 3] = 0x7e;
    let said = refusal("bill.parquet", gigantic);
    assert_eq!(
        said,
        "bill.parquet: row 501, column ResourceId: found a page of more than 32 MB, in row group 2, within the rows 501 to \
         1000; expected a Parquet file as the provider wrote it; transfer it again, or export it as CSV"
    );
}

/// Bytes of the largest page that is read.
const LARGEST: usize = 32 << 20;

/// An AWS report with so many columns of tags besides its own.
fn wide(rows: usize, tags: usize, text: impl Fn(usize, usize) -> String) -> Vec<u8> {
    let mut whole = Table::of(&SAMPLES[0]);
    whole.rows = (0..rows).map(|row| whole.rows[row % whole.rows.len()].clone()).collect();
    let mut objects = containers::objects(&whole.csv()).unwrap();
    for (row, object) in objects.iter_mut().enumerate() {
        let cell = |tag| (format!("resourceTags/user:t{tag}"), Value::String(text(row, tag)));
        object.extend((0..tags).map(cell));
    }
    containers::parquet(&objects, Compression::SNAPPY)
}

/// The same file, in whose second row group all these columns have the same pages.
fn with_tags(file: &[u8], dictionary: &[u8], data: &[u8]) -> Vec<u8> {
    let end = file.len() - 8 - footer_length(file);
    let relabeled = relabeled(file, |group| {
        let relabel = |column: &ColumnChunkMetaData| {
            if !column.column_path().string().starts_with("resourceTags/user:t") {
                return column.clone();
            }
            let column = column.clone().into_builder();
            column
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_dictionary_page_offset(Some(end as i64))
                .set_data_page_offset((end + dictionary.len()) as i64)
                .set_total_compressed_size((dictionary.len() + data.len()) as i64)
                .build()
                .unwrap()
        };
        let columns = group.columns().iter().map(relabel).collect();
        group.clone().into_builder().set_column_metadata(columns).build().unwrap()
    });
    [&file[..end], dictionary, data, &relabeled[end..]].concat()
}

/// A dictionary of so many values and [`LARGEST`] bytes, which zstd packs into one or two kilobytes: zeros behind the length of
/// the first value.
fn dictionary_of_zeros(values: usize, first: usize) -> Vec<u8> {
    // A frame that states its size in four bytes.
    let mut packed = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    packed.extend((LARGEST as u32).to_le_bytes());
    let mut block = |kind: usize, size: usize, is_last: bool, content: &[u8]| {
        let header = size << 3 | kind << 1 | usize::from(is_last);
        packed.extend(&header.to_le_bytes()[..3]);
        packed.extend(content);
    };
    block(0, 4, false, &(first as u32).to_le_bytes());
    let mut left = LARGEST - 4;
    while left > 0 {
        // One byte many times.
        let size = left.min(128 << 10);
        left -= size;
        block(1, size, left == 0, &[0]);
    }
    page(2, LARGEST, &[values, 0], &packed)
}

/// A page of rows without a value.
fn rows_without_values(rows: usize) -> Vec<u8> {
    // The level 0, so many times, and behind it an index of one bit.
    let mut levels = Vec::new();
    varint(rows << 1, &mut levels);
    levels.push(0);
    let content = [&(levels.len() as u32).to_le_bytes()[..], &levels, &[1, 2, 0]].concat();
    page(0, content.len(), &[rows, 8, 3, 3], &zstd::bulk::compress(&content, 1).unwrap())
}

/// A page: its header in Thrift's compact protocol, and what stands behind it.
fn page(kind: usize, unpacked: usize, stated: &[usize], packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |number: usize, bytes: &mut Vec<u8>| {
        bytes.push(0x15);
        varint(number << 1, bytes);
    };
    for of_page in [kind, unpacked, packed.len()] {
        number(of_page, &mut bytes);
    }
    // Field 5 of a page of data, field 7 of a dictionary.
    bytes.push(if kind == 0 { 0x2c } else { 0x4c });
    for of_kind in stated {
        number(*of_kind, &mut bytes);
    }
    bytes.extend([0, 0]);
    [&bytes, packed].concat()
}

fn varint(number: usize, bytes: &mut Vec<u8>) {
    let mut rest = number;
    while rest > 127 {
        bytes.push(rest as u8 | 128);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Two dozen columns whose dictionaries of 32 MB take a kilobyte of the file: three quarters of a gigabyte, if all were kept.
#[test]
fn dictionaries_that_are_large_together_are_unpacked_one_by_one_but_not_forever() {
    let dictionary = dictionary_of_zeros(1, LARGEST - 4);
    let of = |rows: usize| {
        with_tags(&wide(3 * rows, 24, |_, _| "x".to_owned()), &dictionary, &rows_without_values(rows))
    };
    let reading = read_file("bill.parquet", of(100)).unwrap();
    assert_eq!((reading.rows, reading.rejected.len()), (300, 0));
    let said = refusal("bill.parquet", of(1500));
    assert!(said.starts_with("bill.parquet: row 2525, column resourceTags/user:t"), "{said}");
    assert!(
        said.ends_with(
            ": found dictionaries and pages of more than 56 MB, too many to be unpacked again for each thousand rows, in row \
             group 2, within the rows 2525 to 3000; expected a Parquet file as the provider wrote it; transfer it again, or \
             export it as CSV"
        ),
        "{said}"
    );
}

/// An empty text takes four bytes of a dictionary, and eight times as many as a slice of it.
#[test]
fn dictionary_of_millions_of_empty_texts_is_refused_before_they_are_slices() {
    let dictionary = dictionary_of_zeros(LARGEST / 4, 0);
    let file = wide(300, 1, |_, _| "x".to_owned());
    let said = refusal("bill.parquet", with_tags(&file, &dictionary, &rows_without_values(100)));
    assert_eq!(
        said,
        "bill.parquet: row 101, column resourceTags/user:t0: found dictionaries and pages of more than 112 MB at a time, in row \
         group 2, within the rows 101 to 200; expected a Parquet file as the provider wrote it; transfer it again, or export \
         it as CSV"
    );
}

#[test]
fn report_with_hundreds_of_columns_of_tags_is_read() {
    let file = wide(600, 300, |row, tag| format!("value-{}", (7 * row + tag) % 50));
    let reading = read_file("bill.parquet", file).unwrap();
    assert_eq!((reading.rows, reading.rejected.len()), (600, 0));
    let tags: Vec<(&str, &str)> = reading.charges[0].tags.iter().collect();
    assert_eq!(tags.len(), 301, "its own, and those besides");
    assert!(tags.contains(&("t0", "value-0")) && tags.contains(&("t299", "value-49")), "{tags:?}");
}
