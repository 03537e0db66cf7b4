//! Parquet files that were cut off, or that say of themselves what is not so: refused before room is made for what they say, with
//! row group, rows and column.

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData};

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
