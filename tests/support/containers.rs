//! The rows of a CSV in other containers.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::{Map, Value};

/// The rows of a CSV whose rows are whole; `None` of others, which no JSON is like.
pub fn objects(text: &[u8]) -> Option<Vec<Map<String, Value>>> {
    let mut reader = ::csv::Reader::from_reader(text);
    let names = reader.headers().unwrap().clone();
    let mut objects = Vec::new();
    for record in reader.records() {
        let record = record.ok()?;
        if record.iter().eq(names.iter()) || record.iter().all(|cell| cell.trim().is_empty()) {
            return None;
        }
        let cell = |text: &str| match text {
            "" => Value::Null,
            _ => Value::String(text.to_owned()),
        };
        objects.push(names.iter().zip(&record).map(|(name, text)| (name.to_owned(), cell(text))).collect());
    }
    Some(objects)
}

pub fn lines(objects: &[Map<String, Value>]) -> String {
    objects.iter().map(|object| serde_json::to_string(object).unwrap() + "\n").collect()
}

pub fn list(objects: &[Map<String, Value>]) -> String {
    serde_json::to_string_pretty(objects).unwrap()
}

/// As BigQuery writes it: without what is null, and the others in an order of their own.
pub fn omitted(objects: &[Map<String, Value>]) -> String {
    let line = |object: &Map<String, Value>| {
        let kept = object.iter().rev().filter(|(_, value)| !value.is_null());
        let kept: Map<_, _> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        serde_json::to_string(&kept).unwrap()
    };
    objects.iter().map(line).collect::<Vec<_>>().join("\r\n")
}

/// All cells as texts, in three row groups.
pub fn parquet(objects: &[Map<String, Value>], compression: Compression) -> Vec<u8> {
    let names: Vec<String> = objects[0].keys().cloned().collect();
    parquet_of(&names, objects, compression)
}

/// The same of these columns, also where there is no row.
pub fn parquet_of(names: &[String], objects: &[Map<String, Value>], compression: Compression) -> Vec<u8> {
    let text = |name: &String| {
        let field = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(ConvertedType::UTF8);
        Arc::new(field.build().unwrap())
    };
    let fields = names.iter().map(text).collect();
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in objects.chunks(objects.len().div_ceil(3).max(1)) {
        let mut group = writer.next_row_group().unwrap();
        for name in names {
            let cells: Vec<Option<&str>> = rows.iter().map(|row| row[name].as_str()).collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<ByteArray> = cells.iter().flatten().map(|text| ByteArray::from(*text)).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// What a Parquet file says of itself.
pub fn metadata(file: &[u8]) -> ParquetMetaData {
    let end = file.len() - 8;
    ParquetMetaDataReader::decode_metadata(&file[end - footer_length(file)..end]).unwrap()
}

pub fn footer_length(file: &[u8]) -> usize {
    u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize
}

/// The file with zeros where the second row group holds the values of a column.
pub fn with_damaged_second_group(mut file: Vec<u8>, column: usize) -> Vec<u8> {
    let (at, length) = metadata(&file).row_group(1).column(column).byte_range();
    file[at as usize..(at + length) as usize].fill(0);
    file
}

/// Lines of nested records as a CSV, as a spreadsheet or a data frame has them: no record in a record, lists in a cell.
pub fn flattened(lines: &str, separator: &str, list: impl Fn(&Value) -> String) -> Vec<u8> {
    let flat = |line: &str| -> Map<String, Value> {
        let row: Map<String, Value> = serde_json::from_str(line).unwrap();
        let of = |(name, value): (String, Value)| match value {
            Value::Object(fields) => {
                let path = |(field, value)| (format!("{name}{separator}{field}"), value);
                fields.into_iter().map(path).collect()
            }
            value => vec![(name, value)],
        };
        row.into_iter().flat_map(of).collect()
    };
    let rows: Vec<_> = lines.lines().map(flat).collect();
    let mut names: Vec<&String> = Vec::new();
    for name in rows.iter().flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut csv = ::csv::Writer::from_writer(Vec::new());
    csv.write_record(&names).unwrap();
    for row in &rows {
        let cell = |name: &&String| match row.get(*name).unwrap_or(&Value::Null) {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            value @ Value::Array(_) => list(value),
            value => value.to_string(),
        };
        csv.write_record(names.iter().map(cell)).unwrap();
    }
    csv.into_inner().unwrap()
}
