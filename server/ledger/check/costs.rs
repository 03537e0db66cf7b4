//! The cost column of a file, read as plain CSV, JSON or Parquet by a reader that shares no code with [`crate::billing`].

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};

use serde_json::StreamDeserializer;
use serde_json::de::IoRead;
use serde_json::value::RawValue;

use super::parquet_costs;
use crate::money::Decimal;

/// The columns that hold what was billed, in letters and digits only; where a file has several, the first of these. The last
/// three are Azure's.
const COST_COLUMNS: [&str; 5] =
    ["lineitemunblendedcost", "billedcost", "costinbillingcurrency", "cost", "pretaxcost"];

/// The cost column of a file.
pub(super) enum Costs<R: Read> {
    Csv(Table<R>),
    /// An object on each line.
    Lines(io::Lines<BufReader<R>>, String),
    /// Objects one after the other.
    Elements(Box<StreamDeserializer<'static, IoRead<Elements<BufReader<R>>>, Object>>, String),
    Parquet(parquet_costs::Column, String),
}

type Object = HashMap<String, Box<RawValue>>;

/// A plain CSV.
pub(super) struct Table<R> {
    reader: csv::Reader<BufReader<R>>,
    record: csv::ByteRecord,
    /// `None` of a file without a line.
    column: Option<usize>,
}

impl<R: Read + Seek + Send + 'static> Costs<R> {
    pub fn open(mut content: R) -> io::Result<Self> {
        let mut magic = Vec::new();
        content.by_ref().take(4).read_to_end(&mut magic)?;
        content.rewind()?;
        if magic == b"PAR1" {
            return Ok(Self::Parquet(parquet_costs::Column::open(content, column_of)?, String::new()));
        }
        let mut content = BufReader::with_capacity(1 << 20, content);
        if content.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            content.consume(3);
        }
        let start = content.fill_buf()?.trim_ascii_start();
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        match start {
            [b'{', ..] if serde_json::from_slice::<Object>(line).is_ok() => {
                Ok(Self::Lines(content.lines(), String::new()))
            }
            [b'{' | b'[', ..] => {
                let elements = serde_json::Deserializer::from_reader(Elements::of(content));
                Ok(Self::Elements(Box::new(elements.into_iter()), String::new()))
            }
            _ => Table::open(content).map(Self::Csv),
        }
    }

    /// What the next row holds; `None` behind the last. A header that is repeated costs nothing.
    pub fn next(&mut self) -> io::Result<Option<Cost<'_>>> {
        match self {
            Self::Csv(table) => table.next(),
            Self::Lines(lines, cost) => {
                let line = loop {
                    match lines.next().transpose()? {
                        None => return Ok(None),
                        Some(line) if line.trim().is_empty() => {}
                        Some(line) => break line,
                    }
                };
                // A line that is no object is a rejected row.
                *cost = serde_json::from_str(&line).map_or_else(|_| line.clone(), |object| cost_of(&object));
                Ok(Some(Cost(cost.as_bytes())))
            }
            Self::Elements(elements, cost) => {
                let Some(object) = elements.next().transpose()? else { return Ok(None) };
                *cost = cost_of(&object);
                Ok(Some(Cost(cost.as_bytes())))
            }
            Self::Parquet(column, cost) => {
                let Some(text) = column.next()? else { return Ok(None) };
                *cost = text;
                Ok(Some(Cost(cost.as_bytes())))
            }
        }
    }
}

impl<R: Read> Table<R> {
    fn open(content: BufReader<R>) -> io::Result<Self> {
        // A carriage return alone ends no row, as for whoever imports.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(content);
        let mut record = csv::ByteRecord::new();
        let is_empty = !reader.read_byte_record(&mut record)?;
        let column = column_of(&record.iter().collect::<Vec<_>>());
        if column.is_none() && !is_empty {
            return Err(io::Error::other("the original has no cost column"));
        }
        Ok(Self { reader, record, column })
    }

    fn next(&mut self) -> io::Result<Option<Cost<'_>>> {
        let Some(column) = self.column else { return Ok(None) };
        loop {
            if !self.reader.read_byte_record(&mut self.record)? {
                return Ok(None);
            }
            // A line of spaces is no row.
            if self.record.len() > 1 || self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                break;
            }
        }
        Ok(Some(Cost(self.record.get(column).unwrap_or_default())))
    }
}

/// The elements of a list without its brackets and the commas between them.
pub(super) struct Elements<R> {
    content: R,
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// Of what the content begins with: an object belongs to no list.
    outermost: usize,
}

impl<R: BufRead> Elements<R> {
    fn of(mut content: R) -> Self {
        let is_list = content.fill_buf().is_ok_and(|start| start.trim_ascii_start().starts_with(b"["));
        Self { content, depth: 0, is_text: false, is_escaped: false, outermost: usize::from(is_list) }
    }
}

impl<R: Read> Read for Elements<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(into)?;
        for byte in &mut into[..read] {
            if self.is_text {
                let ends = *byte == b'"' && !self.is_escaped;
                self.is_escaped = *byte == b'\\' && !self.is_escaped;
                self.is_text = !ends;
                continue;
            }
            let before = self.depth;
            match *byte {
                b'"' => self.is_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            let is_of_list = before.min(self.depth) < self.outermost && matches!(*byte, b'[' | b']')
                || before == self.outermost && *byte == b',';
            if is_of_list {
                *byte = b' ';
            }
        }
        Ok(read)
    }
}

/// What an object holds where it says what was billed; nothing where it does not say it.
fn cost_of(object: &Object) -> String {
    let rank = |name: &str| rank(name.as_bytes());
    let cost =
        object.iter().filter_map(|(name, value)| Some((rank(name)?, value))).min_by_key(|(rank, _)| *rank);
    cost.map_or_else(String::new, |(_, value)| value.get().trim_matches('"').to_owned())
}

/// Where the cost column is among names.
fn column_of(names: &[&[u8]]) -> Option<usize> {
    let ranked = names.iter().enumerate().filter_map(|(at, name)| Some((rank(name)?, at)));
    ranked.min().map(|(_, at)| at)
}

/// A cell of the cost column.
pub(super) struct Cost<'a>(&'a [u8]);

impl Cost<'_> {
    pub fn amount(&self) -> io::Result<Decimal> {
        if is_cost(self.0) { Ok(Decimal::ZERO) } else { amount(self.0) }
    }
}

fn is_cost(name: &[u8]) -> bool {
    rank(name).is_some()
}

/// Which of the columns a name is. A translated one has Azure's own in parentheses behind it.
fn rank(name: &[u8]) -> Option<usize> {
    let name = name
        .trim_ascii()
        .strip_suffix(b")")
        .map_or(name, |name| name.iter().rposition(|byte| *byte == b'(').map_or(name, |at| &name[at..]));
    let name = letters(name);
    COST_COLUMNS.iter().position(|column| *column == name)
}

fn letters(name: &[u8]) -> String {
    String::from_utf8_lossy(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase()
}

/// Currency signs, separators of thousands and spaces are decoration; no text at all is nothing.
fn amount(cell: &[u8]) -> io::Result<Decimal> {
    let plain: Vec<u8> =
        cell.iter().copied().filter(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).collect();
    if plain.is_empty() || cell.eq_ignore_ascii_case(b"null") {
        return Ok(Decimal::ZERO);
    }
    Decimal::parse(&plain)
        .map_err(|_| io::Error::other(format!("no amount: {}", String::from_utf8_lossy(cell))))
}
