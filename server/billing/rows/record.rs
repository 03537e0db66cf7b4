//! One row as a source hands it out: its fields, side by side.

use std::borrow::Cow;
use std::ops::Range;

/// Between the fields of a row that is no line of a CSV: a byte that no text in UTF-8 holds, so that fields side by side are
/// the same only where each of them is.
pub(super) const SEPARATOR: u8 = 0xff;
/// A longer field rejects its row.
pub const MAX_FIELD: usize = 1 << 20;

/// One record: its bytes and where its fields end.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    bytes: &'a [u8],
    ends: &'a [u32],
}

impl<'a> Record<'a> {
    pub(super) fn new(bytes: &'a [u8], ends: &'a [u32]) -> Self {
        Self { bytes, ends }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where the field is within [`Self::bytes`], quotes included. Empty beyond the last field.
    pub fn range(&self, field: usize) -> Range<usize> {
        let Some(end) = self.ends.get(field) else { return 0..0 };
        let start = if field == 0 { 0 } else { self.ends[field - 1] as usize + 1 };
        start..*end as usize
    }

    /// Fields that follow one another, as the file writes them; as many of them as there are.
    pub fn span(&self, fields: &Range<usize>) -> &'a [u8] {
        let last = fields.end.min(self.ends.len());
        if fields.start >= last {
            return &[];
        }
        &self.bytes[self.range(fields.start).start..self.ends[last - 1] as usize]
    }

    /// As the file writes it, quotes included. Empty beyond the last field.
    pub fn raw(&self, field: usize) -> &'a [u8] {
        &self.bytes[self.range(field)]
    }

    /// The whole line, without its line break.
    pub fn line(&self) -> &'a [u8] {
        let end = self.ends.last().map_or(0, |end| *end as usize);
        &self.bytes[..end]
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
        self.ends.len() == 1 && self.raw(0).iter().all(u8::is_ascii_whitespace)
    }

    /// True where no field holds anything.
    pub fn is_empty(&self) -> bool {
        self.bytes.iter().all(|byte| matches!(*byte, b',' | b'"' | SEPARATOR) || byte.is_ascii_whitespace())
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
