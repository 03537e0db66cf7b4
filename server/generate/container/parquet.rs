//! Rows as Parquet, snappy: texts, doubles, timestamps, records as structs, maps and lists of structs as such.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::value::RawValue;

use super::{Destination, WriteRows};
use crate::generate::table::{Cells, Column, Member, Shape, Table, Ticks};

/// Rows of a group, and bytes of its cells, at which it is written.
const MAX_ROWS: usize = 100_000;
const MAX_BYTES: usize = 64 << 20;
/// Values that are handed to the writer at once.
const BATCH: usize = 1024;

pub(super) struct Parquet<'a> {
    writer: SerializedFileWriter<Destination<'a>>,
    columns: Vec<Column>,
    /// In the order of the schema; a column has one, a map two, a list one for each member.
    leaves: Vec<Leaf>,
    rows: usize,
    bytes: usize,
}

/// The values of a column of the file that are not written yet.
struct Leaf {
    values: Values,
    definition: Vec<i16>,
    /// Of what is repeated.
    repetition: Vec<i16>,
    is_repeated: bool,
}

enum Values {
    Text { bytes: Vec<u8>, ends: Vec<usize> },
    Double(Vec<f64>),
    Time(Vec<i64>, Ticks),
}

impl<'a> Parquet<'a> {
    pub(super) fn begin(table: &Table, out: Destination<'a>) -> io::Result<Self> {
        // The names of columns with slashes and points are theirs alone.
        let columns = table.columns.clone();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("gpuledger".to_owned());
        let writer = schema(&columns)
            .and_then(|schema| SerializedFileWriter::new(out, schema, Arc::new(properties.build())))
            .map_err(io::Error::other)?;
        let leaves = columns.iter().flat_map(|column| leaves(column.shape)).collect();
        Ok(Self { writer, columns, leaves, rows: 0, bytes: 0 })
    }

    fn take(&mut self, cells: &Cells) -> Result<()> {
        let cells: Vec<&[u8]> = cells.iter().collect();
        let mut leaves = self.leaves.iter_mut();
        let mut at = 0;
        while at < self.columns.len() {
            let group = self.columns[at].group;
            let of_group = self.columns[at..].iter().take_while(|column| column.group == group);
            let until = if group.is_empty() { at + 1 } else { at + of_group.count() };
            let is_there = cells[at..until].iter().any(|cell| !cell.is_empty());
            let above = i16::from(!group.is_empty() && is_there);
            for (column, cell) in self.columns[at..until].iter().zip(&cells[at..until]) {
                self.bytes += cell.len();
                // A record that is not there has nothing in it, not even an empty list.
                let is_nowhere = !group.is_empty() && !is_there;
                take_cell(column.shape, cell, above, is_nowhere, &mut leaves)
                    .ok_or_else(|| wrong(column, cell))?;
            }
            at = until;
        }
        self.rows += 1;
        if self.rows >= MAX_ROWS || self.bytes >= MAX_BYTES { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for leaf in &mut self.leaves {
            if let Some(column) = group.next_column()? {
                leaf.write(column)?;
            }
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl WriteRows for Parquet<'_> {
    fn row(&mut self, cells: &Cells) -> io::Result<()> {
        self.take(cells).map_err(io::Error::other)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(io::Error::other)?;
        }
        let mut out = self.writer.into_inner().map_err(io::Error::other)?;
        out.flush()
    }
}

fn wrong(column: &Column, cell: &[u8]) -> ParquetError {
    let found = String::from_utf8_lossy(cell);
    ParquetError::General(format!("{}: {found} is not {:?}", column.path(), column.shape))
}

fn schema(columns: &[Column]) -> Result<TypePtr> {
    let mut fields: Vec<TypePtr> = Vec::new();
    let mut at = 0;
    while at < columns.len() {
        let group = columns[at].group;
        if group.is_empty() {
            fields.push(field(&columns[at])?);
            at += 1;
            continue;
        }
        let of_group: Vec<TypePtr> = columns[at..]
            .iter()
            .take_while(|column| column.group == group)
            .map(field)
            .collect::<Result<_>>()?;
        at += of_group.len();
        fields.push(record(group, Repetition::OPTIONAL, None, of_group)?);
    }
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

fn field(column: &Column) -> Result<TypePtr> {
    let name = &column.name;
    match column.shape {
        Shape::Text | Shape::Json => text(name, Repetition::OPTIONAL),
        Shape::Number => plain(name, Physical::DOUBLE, None, Repetition::OPTIONAL),
        Shape::Time(ticks) => {
            let unit = match ticks {
                Ticks::Milliseconds => TimeUnit::MILLIS,
                Ticks::Microseconds => TimeUnit::MICROS,
            };
            plain(name, Physical::INT64, Some(LogicalType::timestamp(true, unit)), Repetition::OPTIONAL)
        }
        Shape::Map => {
            let entry = vec![text("key", Repetition::REQUIRED)?, text("value", Repetition::OPTIONAL)?];
            let entries = record("key_value", Repetition::REPEATED, None, entry)?;
            record(name, Repetition::OPTIONAL, Some(LogicalType::Map), vec![entries])
        }
        Shape::List(members) => {
            let member = |(name, member): &(&str, Member)| match member {
                Member::Text => text(name, Repetition::OPTIONAL),
                Member::Number => plain(name, Physical::DOUBLE, None, Repetition::OPTIONAL),
            };
            let members = members.iter().map(member).collect::<Result<_>>()?;
            let element = record("element", Repetition::REQUIRED, None, members)?;
            let list = record("list", Repetition::REPEATED, None, vec![element])?;
            record(name, Repetition::OPTIONAL, Some(LogicalType::List), vec![list])
        }
    }
}

fn text(name: &str, repetition: Repetition) -> Result<TypePtr> {
    plain(name, Physical::BYTE_ARRAY, Some(LogicalType::String), repetition)
}

fn plain(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<TypePtr> {
    let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    Ok(Arc::new(field.with_logical_type(logical).build()?))
}

fn record(
    name: &str,
    repetition: Repetition,
    logical: Option<LogicalType>,
    fields: Vec<TypePtr>,
) -> Result<TypePtr> {
    let group = Type::group_type_builder(name).with_repetition(repetition).with_logical_type(logical);
    Ok(Arc::new(group.with_fields(fields).build()?))
}

fn leaves(shape: Shape) -> Vec<Leaf> {
    let texts = || Values::Text { bytes: Vec::new(), ends: Vec::new() };
    let once = |values| vec![Leaf::new(values, false)];
    match shape {
        Shape::Text | Shape::Json => once(texts()),
        Shape::Number => once(Values::Double(Vec::new())),
        Shape::Time(ticks) => once(Values::Time(Vec::new(), ticks)),
        Shape::Map => vec![Leaf::new(texts(), true), Leaf::new(texts(), true)],
        Shape::List(members) => members
            .iter()
            .map(|(_, member)| match member {
                Member::Text => Leaf::new(texts(), true),
                Member::Number => Leaf::new(Values::Double(Vec::new()), true),
            })
            .collect(),
    }
}

/// Adds a cell to the leaves of its column. `above` is the definition level of its record where that is there. `None` for a
/// cell that is not of its shape.
fn take_cell<'l>(
    shape: Shape,
    cell: &[u8],
    above: i16,
    is_nowhere: bool,
    leaves: &mut impl Iterator<Item = &'l mut Leaf>,
) -> Option<()> {
    match shape {
        Shape::Text | Shape::Json | Shape::Number | Shape::Time(_) => {
            let leaf = leaves.next()?;
            if cell.is_empty() {
                leaf.level(above, 0);
                return Some(());
            }
            leaf.value(cell, above + 1, 0)
        }
        Shape::Map => {
            let (keys, values) = (leaves.next()?, leaves.next()?);
            if cell.is_empty() {
                keys.level(above, 0);
                values.level(above, 0);
                return Some(());
            }
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(cell).ok()?;
            if object.is_empty() {
                keys.level(above + 1, 0);
                values.level(above + 1, 0);
            }
            for (at, (key, value)) in object.iter().enumerate() {
                let repetition = i16::from(at > 0);
                keys.value(key.as_bytes(), above + 2, repetition)?;
                values.value(value.as_str()?.as_bytes(), above + 3, repetition)?;
            }
            Some(())
        }
        Shape::List(members) => {
            // Lists are never null where they can be, but empty.
            let list: Vec<BTreeMap<String, &RawValue>> =
                if cell.is_empty() { Vec::new() } else { serde_json::from_slice(cell).ok()? };
            for (name, _) in members {
                let leaf = leaves.next()?;
                if list.is_empty() {
                    leaf.level(if is_nowhere { 0 } else { above + 1 }, 0);
                }
                for (at, object) in list.iter().enumerate() {
                    let repetition = i16::from(at > 0);
                    match object.get(*name).map(|value| value.get()) {
                        None | Some("null") => leaf.level(above + 2, repetition),
                        Some(text) if text.starts_with('"') => {
                            let text: String = serde_json::from_str(text).ok()?;
                            leaf.value(text.as_bytes(), above + 3, repetition)?;
                        }
                        Some(number) => leaf.value(number.as_bytes(), above + 3, repetition)?,
                    }
                }
            }
            Some(())
        }
    }
}

impl Leaf {
    fn new(values: Values, is_repeated: bool) -> Self {
        Self { values, definition: Vec::new(), repetition: Vec::new(), is_repeated }
    }

    fn level(&mut self, definition: i16, repetition: i16) {
        self.definition.push(definition);
        if self.is_repeated {
            self.repetition.push(repetition);
        }
    }

    fn value(&mut self, cell: &[u8], definition: i16, repetition: i16) -> Option<()> {
        match &mut self.values {
            Values::Text { bytes, ends } => {
                bytes.extend_from_slice(cell);
                ends.push(bytes.len());
            }
            Values::Double(values) => values.push(std::str::from_utf8(cell).ok()?.parse().ok()?),
            Values::Time(values, ticks) => values.push(time(std::str::from_utf8(cell).ok()?, *ticks)?),
        }
        self.level(definition, repetition);
        Some(())
    }

    /// Writes all of it, and is empty then.
    fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<()> {
        let repetition = self.is_repeated.then_some(&*self.repetition);
        match &mut self.values {
            Values::Text { bytes, ends } => {
                let whole = bytes::Bytes::from(std::mem::take(bytes));
                let mut start = 0;
                let texts = ends.drain(..).map(|end| {
                    let text = ByteArray::from(whole.slice(start..end));
                    start = end;
                    text
                });
                write_batches::<ByteArrayType>(&mut column, texts, &self.definition, repetition)?;
            }
            Values::Double(values) => {
                write_batches::<DoubleType>(&mut column, values.drain(..), &self.definition, repetition)?;
            }
            Values::Time(values, _) => {
                write_batches::<Int64Type>(&mut column, values.drain(..), &self.definition, repetition)?;
            }
        }
        self.definition.clear();
        self.repetition.clear();
        column.close()
    }
}

/// Hands values and their levels on, some rows at a time. Each level that is the column's highest has a value.
fn write_batches<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    mut values: impl Iterator<Item = T::T>,
    definition: &[i16],
    repetition: Option<&[i16]>,
) -> Result<()> {
    let writer = column.typed::<T>();
    let highest = writer.get_descriptor().max_def_level();
    let mut start = 0;
    let mut batch = Vec::with_capacity(BATCH);
    while start < definition.len() {
        let mut end = (start + BATCH).min(definition.len());
        // A row is written whole.
        while repetition.is_some_and(|levels| levels.get(end).is_some_and(|level| *level > 0)) {
            end += 1;
        }
        let levels = &definition[start..end];
        batch.clear();
        batch.extend(values.by_ref().take(levels.iter().filter(|level| **level == highest).count()));
        writer.write_batch(&batch, Some(levels), repetition.map(|levels| &levels[start..end]))?;
        start = end;
    }
    Ok(())
}

/// A moment or day in ticks since 1970.
fn time(text: &str, ticks: Ticks) -> Option<i64> {
    let moment = if let Some(moment) = text.get(..19) {
        NaiveDateTime::parse_from_str(&moment.replace('T', " "), "%Y-%m-%d %H:%M:%S").ok()?
    } else {
        let day = NaiveDate::parse_from_str(text, "%m/%d/%Y");
        day.or_else(|_| NaiveDate::parse_from_str(text, "%Y-%m-%d")).ok()?.and_hms_opt(0, 0, 0)?
    };
    Some(match ticks {
        Ticks::Milliseconds => moment.and_utc().timestamp_millis(),
        Ticks::Microseconds => moment.and_utc().timestamp_micros(),
    })
}
