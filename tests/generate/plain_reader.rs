//! Rows out of each container by other means than the product's own reader: plain CSV, JSON and Parquet records.

use std::collections::BTreeMap;

use bytes::Bytes;
use gpuledger::generate::Container;
use gpuledger::money::Decimal;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::value::RawValue;

/// Cells with a value, by the letters and digits of their path; lists and maps are JSON.
pub type Cells = BTreeMap<String, String>;

pub fn rows(container: Container, bytes: &[u8]) -> Vec<Cells> {
    match container {
        Container::Csv => of_csv(bytes),
        Container::Json => bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| {
                let mut cells = Cells::new();
                of_object(std::str::from_utf8(line).unwrap(), "", &mut cells);
                cells
            })
            .collect(),
        Container::Parquet => {
            let file = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).unwrap();
            file.get_row_iter(None)
                .unwrap()
                .map(|row| {
                    let mut cells = Cells::new();
                    of_record(&row.unwrap(), "", &mut cells);
                    cells
                })
                .collect()
        }
    }
}

/// The number in a cell; 0 where there is none.
pub fn number(cells: &Cells, key: &str) -> Decimal {
    let text = cells.get(key).map_or("0", String::as_str);
    text.parse().unwrap_or_else(|_| panic!("{key}: {text}"))
}

/// The objects of a list, their values as texts.
pub fn list(cells: &Cells, key: &str) -> Vec<BTreeMap<String, String>> {
    let Some(text) = cells.get(key) else { return Vec::new() };
    let objects: Vec<BTreeMap<String, Box<RawValue>>> = serde_json::from_str(text).unwrap();
    let plain = |object: BTreeMap<String, Box<RawValue>>| {
        object.into_iter().map(|(name, value)| (name, text_of(value.get()))).collect()
    };
    objects.into_iter().map(plain).collect()
}

fn of_csv(bytes: &[u8]) -> Vec<Cells> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::Reader::from_reader(bytes);
    let names: Vec<String> = reader.headers().unwrap().iter().map(key).collect();
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            let cells = names.iter().cloned().zip(record.iter().map(str::to_owned));
            cells.filter(|(_, text)| !text.is_empty()).collect()
        })
        .collect()
}

fn of_object(text: &str, before: &str, cells: &mut Cells) {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
    for (name, value) in members {
        let path = format!("{before}{}", key(&name));
        match value.get() {
            "null" | "\"\"" => {}
            record if record.starts_with('{') && !is_map(&path) => of_object(record, &path, cells),
            value => drop(cells.insert(path, text_of(value))),
        }
    }
}

fn of_record(row: &Row, before: &str, cells: &mut Cells) {
    for (name, field) in row.get_column_iter() {
        let path = format!("{before}{}", key(name));
        match field {
            Field::Null => {}
            Field::Group(record) => of_record(record, &path, cells),
            field => drop(cells.insert(path, of_field(field))),
        }
    }
}

fn of_field(field: &Field) -> String {
    let json = |field: &Field| match field {
        Field::Str(text) => serde_json::to_string(text).unwrap(),
        Field::Null => "null".to_owned(),
        other => of_field(other),
    };
    match field {
        Field::Str(text) => text.clone(),
        Field::Double(number) => format!("{number}"),
        Field::TimestampMillis(moment) => time(moment * 1000),
        Field::TimestampMicros(moment) => time(*moment),
        Field::MapInternal(map) => {
            let entries = map.entries().iter().map(|(key, value)| format!("{}: {}", json(key), json(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Field::ListInternal(list) => {
            let elements = list.elements().iter().map(|element| {
                let Field::Group(element) = element else { panic!("{element:?}") };
                let members =
                    element.get_column_iter().map(|(name, value)| format!("\"{name}\": {}", json(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            });
            format!("[{}]", elements.collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?}"),
    }
}

fn time(microseconds: i64) -> String {
    chrono::DateTime::from_timestamp_micros(microseconds).unwrap().format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn text_of(value: &str) -> String {
    if value.starts_with('"') { serde_json::from_str(value).unwrap() } else { value.to_owned() }
}

fn is_map(path: &str) -> bool {
    ["tags", "resourcetags", "product", "costcategory", "discount", "skupricedetails"].contains(&path)
}

fn key(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
