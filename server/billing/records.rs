//! CSV records out of a stream: RFC 4180 quotes, CRLF, embedded newlines; bounded memory, and no
//! allocation per row.
//!
//! Sixty-four bytes at a time are turned into a bit mask of commas, quotes and newlines; the walk over
//! its bits is all the work there is per field. Only the fields that a format asks for are ever read.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::ops::Range;

use super::formula_guard;

/// A record longer than this ends the reading: most likely a quote that was never closed.
pub(super) const MAX_RECORD: usize = 16 << 20;
/// A longer field rejects its row.
pub(super) const MAX_FIELD: usize = 1 << 20;
/// Bytes asked of the input at once, and the usual size of the buffer.
const CHUNK: usize = 512 << 10;
const BLOCK: usize = 64;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why no further record can be had.
#[derive(Debug)]
pub(super) enum Broken {
    Input(io::Error),
    Sink(io::Error),
    /// The record is longer than [`MAX_RECORD`]; `field` is where it grew, and whether inside quotes.
    TooLong {
        field: usize,
        quoted: bool,
    },
    /// The input ended inside quotes that opened in `field`.
    OpenQuote {
        field: usize,
    },
}

/// A walk over the records of a stream of bytes. Every byte that is read also goes to the sink.
pub(super) struct Records {
    input: Box<dyn Read + Send>,
    sink: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    filled: usize,
    at_end: bool,
    /// An error of the input that is shown once everything before it was read.
    failure: Option<io::Error>,
    /// Start of the current record in `buffer`, and of the next one.
    start: usize,
    next: usize,
    /// Bytes of the stream before `buffer`.
    discarded: u64,
    /// Structural bytes of the current block that were not yet looked at, and where the block begins.
    bits: u64,
    block: usize,
    /// End of the block: where the next one begins.
    scanned: usize,
    /// End of each field of the current record, from the record's start.
    ends: Vec<u32>,
}

impl Records {
    pub fn new(input: Box<dyn Read + Send>, sink: Box<dyn Write + Send>) -> Self {
        Self {
            input,
            sink,
            buffer: vec![0; CHUNK + BLOCK],
            filled: 0,
            at_end: false,
            failure: None,
            start: 0,
            next: 0,
            discarded: 0,
            bits: 0,
            block: 0,
            scanned: 0,
            ends: Vec::with_capacity(256),
        }
    }

    /// The first bytes of the stream, for recognizing what it is. Call before the first record.
    pub fn peek(&mut self) -> Result<&[u8], Broken> {
        if self.filled == 0 {
            self.refill()?;
        }
        Ok(&self.buffer[..self.filled])
    }

    /// Leaves out the first bytes of the stream: a byte order mark.
    pub fn skip(&mut self, bytes: usize) {
        self.next = bytes;
        self.scanned = bytes;
    }

    /// Moves to the next record; false at the end.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        self.start = self.next;
        self.ends.clear();
        let mut field_start = self.start;
        let mut opened_by_quote = false;
        let mut inside = false;
        loop {
            // Locals, so that the loop runs in registers.
            let (mut bits, block, start) = (self.bits, self.block, self.start);
            let buffer = self.buffer.as_slice();
            let mut ended = None;
            while bits != 0 {
                let at = block + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let byte = buffer[at];
                if byte == b'"' {
                    if at == field_start {
                        opened_by_quote = true;
                        inside = true;
                    } else {
                        // A doubled quote closes and opens again; one in the middle of a bare field is text.
                        inside ^= opened_by_quote;
                    }
                } else if inside {
                    // Commas and newlines within quotes are text.
                } else if byte == b',' {
                    self.ends.push((at - start) as u32);
                    field_start = at + 1;
                    opened_by_quote = false;
                } else {
                    ended = Some(at);
                    break;
                }
            }
            self.bits = bits;
            if let Some(at) = ended {
                self.end_record(at);
                self.next = at + 1;
                return Ok(true);
            }
            let left = self.filled - self.scanned;
            if left >= BLOCK {
                self.scan(BLOCK);
            } else if !self.at_end {
                let moved = self.start;
                if self.filled - self.start > MAX_RECORD {
                    return Err(Broken::TooLong { field: self.ends.len(), quoted: inside });
                }
                self.refill()?;
                field_start -= moved;
            } else if left > 0 {
                self.scan(left);
            } else if self.start == self.filled {
                return Ok(false);
            } else if inside {
                return Err(Broken::OpenQuote { field: self.ends.len() });
            } else {
                self.end_record(self.filled);
                self.next = self.filled;
                return Ok(true);
            }
        }
    }

    fn end_record(&mut self, at: usize) {
        let bare = if at > self.start && self.buffer[at - 1] == b'\r' { at - 1 } else { at };
        let last = self.ends.last().map_or(self.start, |end| self.start + *end as usize + 1);
        self.ends.push((bare.max(last) - self.start) as u32);
    }

    /// Looks at the next `length` bytes, at most a block.
    fn scan(&mut self, length: usize) {
        let mut block = [0u8; BLOCK];
        block[..length].copy_from_slice(&self.buffer[self.scanned..self.scanned + length]);
        self.bits = structural(&block);
        self.block = self.scanned;
        self.scanned += length;
    }

    /// Reads more, keeping the current record, which moves to the front.
    fn refill(&mut self) -> Result<(), Broken> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.discarded += self.start as u64;
        self.filled -= self.start;
        self.scanned -= self.start;
        self.next -= self.start.min(self.next);
        self.start = 0;
        if self.buffer.len() - self.filled < CHUNK {
            self.buffer.resize((self.buffer.len() * 2).max(self.filled + CHUNK), 0);
        } else if self.buffer.len() > 4 * CHUNK && self.filled < CHUNK {
            self.buffer.truncate(2 * CHUNK);
            self.buffer.shrink_to_fit();
        }
        if let Some(error) = self.failure.take() {
            return Err(Broken::Input(error));
        }
        // A whole chunk, or the end: many short reads would move the record as often.
        let (before, target) = (self.filled, self.filled + CHUNK);
        while self.filled < target {
            match self.input.read(&mut self.buffer[self.filled..target]) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(read) => {
                    let fresh = &self.buffer[self.filled..self.filled + read];
                    self.sink.write_all(fresh).map_err(Broken::Sink)?;
                    self.filled += read;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What came before it is read first, so that the row where it broke off is known.
                Err(error) if self.filled > before => {
                    self.failure = Some(error);
                    break;
                }
                Err(error) => return Err(Broken::Input(error)),
            }
        }
        Ok(())
    }

    /// Takes the apostrophes away that stand before formulas in the current record.
    pub fn unescape(&mut self) {
        let bytes = &mut self.buffer[self.start..self.next];
        // What is left of the record stands before `kept`, and what was not looked at yet from `rest` on: each byte
        // moves once, however many apostrophes stand before it.
        let (mut kept, mut rest, mut from) = (0, 0, 0);
        for end in &mut self.ends {
            let (quote, cell) = match &bytes[from..*end as usize] {
                [b'"', cell @ .., b'"'] => (1, cell),
                cell => (0, cell),
            };
            let apostrophe = from + quote;
            from = *end as usize + 1;
            if formula_guard::is_escaped(cell) {
                bytes.copy_within(rest..apostrophe, kept);
                kept += apostrophe - rest;
                rest = apostrophe + 1;
            }
            *end -= (rest - kept) as u32;
        }
        if rest > kept {
            // Bytes are left over behind the line: once more its line break, or spaces where it has none.
            let filler = if bytes.ends_with(b"\n") { b'\n' } else { b' ' };
            bytes.copy_within(rest.., kept);
            let left = bytes.len() - (rest - kept);
            bytes[left..].fill(filler);
        }
    }

    /// Whether the stream ended where a newline was to be expected after the current record.
    pub fn is_unterminated(&self) -> bool {
        self.at_end && self.next == self.filled && self.next > 0 && self.buffer[self.next - 1] != b'\n'
    }

    /// Offset of the current record in the stream.
    pub fn position(&self) -> u64 {
        self.discarded + self.start as u64
    }

    pub fn record(&self) -> Record<'_> {
        Record { bytes: &self.buffer[self.start..self.next], ends: &self.ends }
    }
}

/// One record: its bytes and where its fields end.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    bytes: &'a [u8],
    ends: &'a [u32],
}

impl<'a> Record<'a> {
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
        self.bytes.iter().all(|byte| matches!(byte, b',' | b'"') || byte.is_ascii_whitespace())
    }

    /// The first field that is longer than [`MAX_FIELD`].
    pub fn oversized(&self) -> Option<usize> {
        if self.bytes.len() <= MAX_FIELD {
            return None;
        }
        (0..self.len()).find(|field| self.raw(*field).len() > MAX_FIELD)
    }
}

/// The values of the first record in `bytes`, as text.
pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    let mut records = Records::new(Box::new(io::Cursor::new(bytes.to_vec())), Box::new(io::sink()));
    if bytes.starts_with(BYTE_ORDER_MARK) {
        records.skip(BYTE_ORDER_MARK.len());
    }
    if matches!(records.advance(), Err(_) | Ok(false)) {
        return Vec::new();
    }
    let record = records.record();
    (0..record.len()).map(|field| String::from_utf8_lossy(&record.plain(field)).into_owned()).collect()
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

/// As a factor it gathers the low bits of eight bytes in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// Bit i is set where byte i is a comma, a quote or a newline.
#[inline]
fn structural(block: &[u8; BLOCK]) -> u64 {
    let mut hits = [0u8; BLOCK];
    for (hit, byte) in hits.iter_mut().zip(block) {
        *hit = u8::from(*byte == b',') | u8::from(*byte == b'"') | u8::from(*byte == b'\n');
    }
    let mut mask = 0;
    for (i, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (i * 8);
    }
    mask
}
