//! One row as a source hands it out: its fields, side by side.

use std::borrow::Cow;
use std::ops::Range;

/// Between the fields of a row that is no line of a CSV: a byte that no text in UTF-8 holds, so that fields side by side are
/// the same only where each of them is.
const SEPARATOR: u8 = 0xff;
/// A longer field rejects its row.
pub const MAX_FIELD: usize = 1 << 20;

/// One record: its bytes and where its fields are.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    bytes: &'a [u8],
    fields: Fields<'a>,
}

#[derive(Clone, Copy)]
enum Fields<'a> {
    /// Side by side with a byte between them: where each ends.
    Line(&'a [u32]),
    /// Anywhere: where each begins and ends.
    Cells(&'a [(u32, u32)]),
}

impl<'a> Record<'a> {
    /// Fields side by side from the start of `bytes` on.
    pub(super) fn of_line(bytes: &'a [u8], ends: &'a [u32]) -> Self {
        Self { bytes, fields: Fields::Line(ends) }
    }

    /// Fields anywhere in `bytes`, which may hold those of other rows, too.
    pub(super) fn of_cells(bytes: &'a [u8], cells: &'a [(u32, u32)]) -> Self {
        Self { bytes, fields: Fields::Cells(cells) }
    }

    pub fn len(&self) -> usize {
        match self.fields {
            Fields::Line(ends) => ends.len(),
            Fields::Cells(cells) => cells.len(),
        }
    }

    /// As the file writes it, quotes included. Empty beyond the last field.
    pub fn raw(&self, field: usize) -> &'a [u8] {
        let (start, end) = match self.fields {
            Fields::Line(ends) => match (field, ends.get(field)) {
                (0, Some(end)) => (0, *end),
                (_, Some(end)) => (ends[field - 1] + 1, *end),
                (_, None) => (0, 0),
            },
            Fields::Cells(cells) => cells.get(field).copied().unwrap_or_default(),
        };
        &self.bytes[start as usize..end as usize]
    }

    /// Appends fields that follow one another, as the file writes them; as many of them as there are.
    pub fn append(&self, fields: Range<usize>, out: &mut Vec<u8>) {
        let last = fields.end.min(self.len());
        if fields.start >= last {
            return;
        }
        if let Fields::Line(ends) = self.fields {
            let start = if fields.start == 0 { 0 } else { ends[fields.start - 1] as usize + 1 };
            return out.extend_from_slice(&self.bytes[start..ends[last - 1] as usize]);
        }
        for field in fields.start..last {
            if field > fields.start {
                out.push(SEPARATOR);
            }
            out.extend_from_slice(self.raw(field));
        }
    }

    /// The whole line, without its line break.
    pub fn line(&self) -> Cow<'a, [u8]> {
        if let Fields::Line(ends) = self.fields {
            return Cow::Borrowed(&self.bytes[..ends.last().map_or(0, |end| *end as usize)]);
        }
        let mut line = Vec::new();
        self.append(0..self.len(), &mut line);
        Cow::Owned(line)
    }

    /// The value where doubled quotes do not matter: enclosing quotes removed, no more.
    pub fn word(&self, field: usize) -> &'a [u8] {
        match self.raw(field) {
            [b'"', inner @ .., b'"'] => inner,
            raw => raw,
        }
    }

    /// The value: quotes removed, doubled ones undone.
    pub fn plain(&self, field: usize) -> Cow<'a, [u8]> {
        match unquoted(self.raw(field)) {
            (text, false) => Cow::Borrowed(text),
            (text, true) => {
                let mut whole = Vec::with_capacity(text.len());
                undouble(text, &mut whole);
                Cow::Owned(whole)
            }
        }
    }

    /// The value, in `scratch` where quotes had to be undone.
    pub fn field_in<'b>(&self, field: usize, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match unquoted(self.raw(field)) {
            (text, false) => text,
            (text, true) => {
                scratch.clear();
                undouble(text, scratch);
                scratch
            }
        }
    }

    /// True for an empty line.
    pub fn is_blank(&self) -> bool {
        self.len() == 1 && self.raw(0).iter().all(u8::is_ascii_whitespace)
    }

    /// True where no field holds anything.
    pub fn is_empty(&self) -> bool {
        let is_nothing = |byte: &u8| matches!(*byte, b',' | b'"') || byte.is_ascii_whitespace();
        (0..self.len()).all(|field| self.raw(field).iter().all(is_nothing))
    }

    /// The first field that is longer than [`MAX_FIELD`].
    pub fn oversized(&self) -> Option<usize> {
        if self.bytes.len() <= MAX_FIELD {
            return None;
        }
        (0..self.len()).find(|field| self.raw(*field).len() > MAX_FIELD)
    }
}

/// Without the enclosing quotes, and whether doubled quotes remain inside.
fn unquoted(raw: &[u8]) -> (&[u8], bool) {
    match raw {
        [b'"', inner @ .., b'"'] => (inner, memchr::memchr(b'"', inner).is_some()),
        _ => (raw, false),
    }
}

fn undouble(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 1..];
        if let [b'"', after @ ..] = rest {
            rest = after;
        }
    }
    out.extend_from_slice(rest);
}

/// What begins and ends with quotes would pass for text in quotes: it gets quotes of its own.
pub(super) fn quote(text: &mut Vec<u8>, start: usize) {
    if !matches!(&text[start..], [b'"', .., b'"']) {
        return;
    }
    let plain = text.split_off(start);
    text.push(b'"');
    for byte in plain {
        text.extend_from_slice(if byte == b'"' { b"\"\"" } else { std::slice::from_ref(&byte) });
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_the_same_side_by_side_and_anywhere() {
        let line = Record::of_line(b"a,,\"b \"\"c\"\"\"\r\n", &[1, 2, 12]);
        let cells = Record::of_cells(b"-\"b \"\"c\"\"\"-a-", &[(11, 12), (5, 5), (1, 10)]);
        for record in [line, cells] {
            assert_eq!(record.len(), 3);
            assert_eq!(
                [0, 1, 2, 3].map(|field| record.plain(field).into_owned()),
                [&b"a"[..], b"", b"b \"c\"", b""]
            );
            assert!(!record.is_empty() && !record.is_blank() && record.oversized().is_none());
        }
        let appended = |record: &Record<'_>, fields| {
            let mut out = Vec::new();
            record.append(fields, &mut out);
            out
        };
        assert_eq!(appended(&line, 0..2), b"a,");
        assert_eq!(appended(&cells, 0..2), b"a\xff");
        assert_eq!(appended(&cells, 1..9), b"\xff\"b \"\"c\"\"\"");
        assert_eq!((appended(&line, 3..9), appended(&cells, 3..9)), (vec![], vec![]));
        assert_eq!(&*line.line(), b"a,,\"b \"\"c\"\"\"");
        assert_eq!(&*cells.line(), b"a\xff\xff\"b \"\"c\"\"\"");
        assert!(Record::of_cells(b"--", &[(0, 0), (1, 1)]).is_empty());
        assert!(Record::of_line(b",\"\"", &[0, 3]).is_empty());
    }
}
