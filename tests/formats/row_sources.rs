//! One export in every container: the same rows are the same charges, whatever they came in.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use gpuledger::billing::{self, Charge};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::{Reading, read, read_path};
use crate::support::containers;

/// Each of our own FOCUS and Azure exports as JSON, in three manners of writing it, and as Parquet.
#[test]
fn an_export_as_json_is_the_export_as_csv() {
    let exports = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports");
    let mut tried = 0;
    let cases = ["focus", "azure-usage"].map(|format| fs::read_dir(exports.join(format)).unwrap());
    for case in cases.into_iter().flatten() {
        let path = case.unwrap().path().join("input.csv");
        let Some(objects) = containers::objects(&fs::read(&path).unwrap()) else { continue };
        let of_csv = read_path(&path).unwrap();
        for (manner, text) in [
            ("lines", containers::lines(&objects)),
            ("a list", containers::list(&objects)),
            ("lines without what is null", containers::omitted(&objects)),
        ] {
            let of_json =
                read(billing::open("bill.json", Cursor::new(text), &billing::ReadAs::any()).unwrap())
                    .unwrap();
            assert_same(&of_csv, &of_json, &format!("{} as {manner}", path.display()));
        }
        for (packed, compression) in [
            ("not packed", Compression::UNCOMPRESSED),
            ("snappy", Compression::SNAPPY),
            ("zstd", Compression::ZSTD(ZstdLevel::default())),
        ] {
            let file = containers::parquet(&objects, compression);
            let of_parquet =
                read(billing::open("bill.parquet", Cursor::new(file), &billing::ReadAs::any()).unwrap())
                    .unwrap();
            assert_same(&of_csv, &of_parquet, &format!("{} as Parquet, {packed}", path.display()));
        }
        tried += 1;
    }
    assert!(tried > 3, "fixtures are found");
}

/// The types that engines write, which a CSV has as text: numbers, decimals, times, a map, a struct, a list of structs.
#[test]
fn typed_columns_of_parquet_are_read_as_their_texts() {
    let file = typed(1000);
    let mut export = billing::open("bill.parquet", Cursor::new(file), &billing::ReadAs::any()).unwrap();
    assert_eq!(
        export.columns().names,
        [
            "BilledCost",
            "EffectiveCost",
            "BillingAccountId",
            "BillingCurrency",
            "BillingPeriodStart",
            "ChargePeriodStart",
            "ChargePeriodEnd",
            "ChargeCategory",
            "ProviderName",
            "Tags",
            "x_Project.id",
            "x_Credits",
        ]
    );
    let mut charge = Charge::default();
    let mut charges = Vec::new();
    while let Some(step) = export.next(&mut charge).unwrap() {
        assert_eq!(step, billing::Step::Charge);
        charges.push(charge.clone());
    }
    assert_eq!(charges.len(), 3000);
    assert_eq!(charges[0].billed_cost.to_string(), "0.1");
    assert_eq!(charges[2998].billed_cost.to_string(), "299.90000000000003");
    assert_eq!(charges[2999].effective_cost.to_string(), "29.99");
    assert_eq!(charges[7].period.start.to_rfc3339(), "2026-09-01T07:00:00+00:00");
    let tags: Vec<_> = charges[1].tags.iter().collect();
    assert_eq!(tags, [("env", "pro\"d"), ("team", "t1")]);
    assert!(charges[2].tags.is_empty());

    let mut row =
        billing::open_at("bill.parquet", Cursor::new(typed(1000)), 2500, &billing::ReadAs::any()).unwrap();
    assert_eq!(row.next(&mut charge).unwrap(), Some(billing::Step::Charge));
    assert_eq!((row.row(), charge.billed_cost), (2500, charges[2499].billed_cost));
    let original = row.original();
    assert_eq!(original[10], ("x_Project.id".to_owned(), "p2499".to_owned()));
    let credits = r#"[{"name":"c","amount":-0.5},{"name":null,"amount":1.25}]"#;
    assert_eq!(original[11], ("x_Credits".to_owned(), credits.to_owned()));
}

fn assert_same(left: &Reading, right: &Reading, of: &str) {
    assert_eq!((&left.format, left.rows), (&right.format, right.rows), "{of}");
    let plain = |charges: &[Charge]| -> Vec<Charge> {
        charges.iter().cloned().map(|charge| Charge { key_cells: Vec::new(), ..charge }).collect()
    };
    for (at, (left, right)) in plain(&left.charges).iter().zip(plain(&right.charges)).enumerate() {
        assert_eq!(format!("{left:?}"), format!("{right:?}"), "{of}, charge {at}");
    }
    assert_eq!(left.charges.len(), right.charges.len(), "{of}");
    assert_eq!(left.rejected, right.rejected, "{of}");
    assert_eq!(left.remarks, right.remarks, "{of}");
}

const TYPED: &str = "message schema {
    REQUIRED DOUBLE BilledCost;
    REQUIRED INT64 EffectiveCost (DECIMAL(18,2));
    REQUIRED BYTE_ARRAY BillingAccountId (UTF8);
    REQUIRED BYTE_ARRAY BillingCurrency (UTF8);
    REQUIRED INT64 BillingPeriodStart (TIMESTAMP(MILLIS,true));
    REQUIRED INT64 ChargePeriodStart (TIMESTAMP(MICROS,true));
    OPTIONAL INT64 ChargePeriodEnd (TIMESTAMP(NANOS,true));
    REQUIRED BYTE_ARRAY ChargeCategory (UTF8);
    REQUIRED BYTE_ARRAY ProviderName (UTF8);
    OPTIONAL group Tags (MAP) {
        REPEATED group key_value {
            REQUIRED BYTE_ARRAY key (UTF8);
            OPTIONAL BYTE_ARRAY value (UTF8);
        }
    }
    OPTIONAL group x_Project { OPTIONAL BYTE_ARRAY id (UTF8); }
    OPTIONAL group x_Credits (LIST) {
        REPEATED group list {
            OPTIONAL group element {
                OPTIONAL BYTE_ARRAY name (UTF8);
                OPTIONAL DOUBLE amount;
            }
        }
    }
}";

/// Three groups of so many rows. Of the maps, one in three is null, and one is empty.
fn typed(of_group: usize) -> Vec<u8> {
    const SEPTEMBER: i64 = 1_788_220_800;
    let schema = Arc::new(parse_message_type(TYPED).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for group in 0..3 {
        let rows = (group * of_group) as i64..((group + 1) * of_group) as i64;
        let each = |of: &dyn Fn(i64) -> i64| -> Vec<i64> { rows.clone().map(of).collect() };
        let same = |text: &str| vec![ByteArray::from(text); of_group];
        let mut group = writer.next_row_group().unwrap();
        let costs: Vec<f64> =
            rows.clone().map(|row| 0.1 * f64::from(i32::try_from(row + 1).unwrap())).collect();
        put(&mut group, &mut |column| write::<DoubleType>(column, &costs, None, None));
        put(&mut group, &mut |column| write::<Int64Type>(column, &each(&|row| row), None, None));
        for text in ["a", "USD"] {
            put(&mut group, &mut |column| write::<ByteArrayType>(column, &same(text), None, None));
        }
        put(&mut group, &mut |column| write::<Int64Type>(column, &each(&|_| SEPTEMBER * 1000), None, None));
        let hour = |row: i64| SEPTEMBER + row % 720 * 3600;
        put(&mut group, &mut |column| {
            write::<Int64Type>(column, &each(&|row| hour(row) * 1_000_000), None, None);
        });
        let ends = each(&|row| (hour(row) + 3600) * 1_000_000_000);
        put(&mut group, &mut |column| write::<Int64Type>(column, &ends, Some(&vec![1; of_group]), None));
        for text in ["Usage", "P"] {
            put(&mut group, &mut |column| write::<ByteArrayType>(column, &same(text), None, None));
        }
        tags(&rows, &mut group);
        let projects: Vec<ByteArray> = rows.clone().map(|row| format!("p{row}").as_str().into()).collect();
        put(&mut group, &mut |column| {
            write::<ByteArrayType>(column, &projects, Some(&vec![2; of_group]), None);
        });
        let (names, amounts) = (vec![ByteArray::from("c"); of_group], [-0.5, 1.25].repeat(of_group));
        let repetition = [0, 1].repeat(of_group);
        put(&mut group, &mut |column| {
            write::<ByteArrayType>(column, &names, Some(&[4, 3].repeat(of_group)), Some(&repetition));
        });
        put(&mut group, &mut |column| {
            write::<DoubleType>(column, &amounts, Some(&vec![4; 2 * of_group]), Some(&repetition));
        });
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Writes the next column of a row group.
fn put(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    write: &mut dyn FnMut(&mut SerializedColumnWriter<'_>),
) {
    let mut column = group.next_column().unwrap().unwrap();
    write(&mut column);
    column.close().unwrap();
}

/// Of three rows the first has an empty map, the second two tags, the third none.
fn tags(rows: &std::ops::Range<i64>, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let (mut of_keys, mut of_values, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows.clone() {
        match row % 3 {
            1 => {
                keys.extend(["team", "env"].map(ByteArray::from));
                values.extend([format!("t{row}").as_str(), "pro\"d"].map(ByteArray::from));
                of_keys.extend([2, 2]);
                of_values.extend([3, 3]);
                repetition.extend([0, 1]);
            }
            of_none => {
                let level = i16::from(of_none == 0);
                of_keys.push(level);
                of_values.push(level);
                repetition.push(0);
            }
        }
    }
    put(group, &mut |column| write::<ByteArrayType>(column, &keys, Some(&of_keys), Some(&repetition)));
    put(group, &mut |column| write::<ByteArrayType>(column, &values, Some(&of_values), Some(&repetition)));
}

fn write<T: parquet::data_type::DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    column.typed::<T>().write_batch(values, definition, repetition).unwrap();
}

/// A file that was cut off anywhere, or of which any byte is another, is read or refused, and never the end of the program.
#[test]
fn damaged_parquet_is_refused_in_words() {
    let whole = typed(30);
    let mut refused = 0;
    let mut attempt = |file: Vec<u8>, what: String| {
        let read = billing::open("bill.parquet", Cursor::new(file), &billing::ReadAs::any()).and_then(read);
        if let Err(refusal) = read {
            assert!(!refusal.found.is_empty() && refusal.found.len() < 1000, "{what}: {refusal}");
            refused += 1;
        }
    };
    for length in (4..whole.len()).step_by(whole.len() / 40) {
        attempt(whole[..length].to_vec(), format!("the first {length} bytes"));
    }
    for at in (4..whole.len()).step_by(whole.len() / 300).chain(whole.len() - 600..whole.len()) {
        let mut file = whole.clone();
        file[at] ^= 0x15;
        attempt(file, format!("another byte at {at}"));
    }
    assert!(refused > 100, "{refused}");
}
