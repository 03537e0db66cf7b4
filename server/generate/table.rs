//! What a format's rows look like, whatever container they are written in: columns, and the cells of a row.

use std::borrow::Cow;

use super::amount::Amount;

/// The columns of a format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// Whether a CSV of it begins with a byte order mark.
    pub(crate) has_mark: bool,
    pub(crate) empty_in_json: EmptyInJson,
}

/// What a line of JSON says of a cell without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EmptyInJson {
    /// Nothing, as BigQuery writes it.
    Omitted,
    /// `null`, as FOCUS wants it.
    Null,
    /// `""`: every row names every column, for formats that have no JSON of their own.
    #[default]
    Text,
}

/// A column of a format.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The record that it is a part of (`project` of `project.id`); empty for none. Columns of a record stand side by side.
    pub(crate) group: &'static str,
    pub(crate) name: Cow<'static, str>,
    pub(crate) shape: Shape,
}

/// What the cells of a column hold, always as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    /// A number: a double in Parquet.
    Number,
    /// A moment, or a day: `2026-09-01T00:00:00Z`, `2026-09-01 00:00:00 UTC`, `09/01/2026`. In Parquet so many ticks since 1970.
    Time(Ticks),
    /// JSON: an object, and in Parquet text.
    Json,
    /// A JSON object of texts.
    Map,
    /// A JSON list of objects with these members.
    List(&'static [(&'static str, Member)]),
}

/// The unit of a time in Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    Milliseconds,
    Microseconds,
}

/// A member of the objects in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Text,
    Number,
}

impl Column {
    pub(crate) const fn new(name: &'static str, shape: Shape) -> Self {
        Self { group: "", name: Cow::Borrowed(name), shape }
    }

    /// Its name where records are flat: `project.id`.
    pub(crate) fn path(&self) -> Cow<'_, str> {
        if self.group.is_empty() {
            Cow::Borrowed(&self.name)
        } else {
            Cow::Owned(format!("{}.{}", self.group, self.name))
        }
    }
}

/// The cells of one row, as plain text, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Cells {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The next cell, written by `write`.
    pub(crate) fn with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len() as u32);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.with(|out| out.extend_from_slice(text.as_bytes()));
    }

    pub(crate) fn amount(&mut self, amount: Amount) {
        self.with(|out| amount.write(out));
    }

    /// So many cells without a value.
    pub(crate) fn empty(&mut self, count: usize) {
        self.ends.extend(std::iter::repeat_n(self.bytes.len() as u32, count));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start as usize..*end as usize])
    }

    /// The row as bytes that [`Self::read`] reads back.
    pub(crate) fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        out.write_all(&(self.ends.len() as u32).to_le_bytes())?;
        for end in &self.ends {
            out.write_all(&end.to_le_bytes())?;
        }
        out.write_all(&self.bytes)
    }

    /// The next row of what [`Self::write`] wrote; false at its end.
    pub(crate) fn read(&mut self, input: &mut impl std::io::BufRead) -> std::io::Result<bool> {
        self.clear();
        if input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let count = number(input)?;
        for _ in 0..count {
            self.ends.push(number(input)?);
        }
        self.bytes.resize(self.ends.last().copied().unwrap_or(0) as usize, 0);
        input.read_exact(&mut self.bytes)?;
        Ok(true)
    }
}

fn number(input: &mut impl std::io::Read) -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// A JSON object in a cell, as it is written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        write_json_text(self.out, value);
    }

    /// A value that is written as it stands in JSON.
    pub(crate) fn with(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.name(name);
        write(self.out);
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }

    fn name(&mut self, name: &str) {
        if !self.is_first {
            self.out.extend_from_slice(b", ");
        }
        self.is_first = false;
        write_json_text(self.out, name);
        self.out.extend_from_slice(b": ");
    }
}

/// A text in JSON, with its quotes.
pub(crate) fn write_json_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_json_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// What stands between the quotes of a text in JSON.
pub(crate) fn write_json_escaped(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}
