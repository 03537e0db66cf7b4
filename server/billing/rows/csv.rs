//! CSV records out of a stream: RFC 4180 quotes, CRLF, embedded newlines; bounded memory, and no
//! allocation per row.
//!
//! Sixty-four bytes at a time are turned into a bit mask of separators, quotes and newlines; the walk over
//! its bits is all the work there is per field. Only the fields that a format asks for are ever read.

use super::Broken;
use super::record::Record;
use super::stream::Stream;
use crate::billing::formula_guard;

const BLOCK: usize = 64;

/// A walk over the records of a stream of bytes.
pub(in crate::billing) struct CsvRows {
    stream: Stream,
    /// Between fields.
    separator: u8,
    /// Start of the next record in the stream's buffer.
    next: usize,
    /// Structural bytes of the current block that were not yet looked at, and where the block begins.
    bits: u64,
    block: usize,
    /// End of the block: where the next one begins.
    scanned: usize,
    /// End of each field of the current record, from the record's start.
    ends: Vec<u32>,
}

impl CsvRows {
    /// The records of `stream` from `start` on, where its byte order mark ends.
    pub(super) fn new(stream: Stream, start: usize, separator: u8) -> Self {
        let ends = Vec::with_capacity(256);
        Self { stream, separator, next: start, bits: 0, block: 0, scanned: start, ends }
    }

    /// The same, of other bytes.
    pub(super) fn continued(self, stream: Stream) -> Self {
        Self::new(stream, 0, self.separator)
    }

    /// Moves to the next record; false at the end.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        self.stream.start = self.next;
        self.ends.clear();
        let mut field_start = self.stream.start;
        let mut opened_by_quote = false;
        let mut inside = false;
        loop {
            // Locals, so that the loop runs in registers.
            let (mut bits, block, start, separator) =
                (self.bits, self.block, self.stream.start, self.separator);
            let buffer = self.stream.buffer.as_slice();
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
                    // Separators and newlines within quotes are text.
                } else if byte == separator {
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
            let left = self.stream.filled - self.scanned;
            if left >= BLOCK {
                self.scan(BLOCK);
            } else if !self.stream.at_end {
                if self.stream.is_too_long() {
                    return Err(Broken::TooLong { field: self.ends.len(), quoted: inside });
                }
                field_start -= self.refill()?;
            } else if left > 0 {
                self.scan(left);
            } else if self.stream.start == self.stream.filled {
                return Ok(false);
            } else if inside {
                return Err(Broken::OpenQuote { field: self.ends.len() });
            } else {
                self.end_record(self.stream.filled);
                self.next = self.stream.filled;
                return Ok(true);
            }
        }
    }

    fn end_record(&mut self, at: usize) {
        let bare = if at > self.stream.start && self.stream.buffer[at - 1] == b'\r' { at - 1 } else { at };
        let last = self.ends.last().map_or(self.stream.start, |end| self.stream.start + *end as usize + 1);
        self.ends.push((bare.max(last) - self.stream.start) as u32);
    }

    /// Looks at the next `length` bytes, at most a block.
    fn scan(&mut self, length: usize) {
        let mut block = [0u8; BLOCK];
        block[..length].copy_from_slice(&self.stream.buffer[self.scanned..self.scanned + length]);
        self.bits = structural(&block, self.separator);
        self.block = self.scanned;
        self.scanned += length;
    }

    /// Reads more; answers by how much the current record has moved to the front.
    fn refill(&mut self) -> Result<usize, Broken> {
        let moved = self.stream.refill()?;
        self.scanned -= moved;
        self.next -= moved.min(self.next);
        Ok(moved)
    }

    /// Takes the apostrophes away that stand before formulas in the current record.
    pub fn unescape(&mut self) {
        let bytes = &mut self.stream.buffer[self.stream.start..self.next];
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
        self.stream.at_end
            && self.next == self.stream.filled
            && self.next > 0
            && self.stream.buffer[self.next - 1] != b'\n'
    }

    pub fn position(&self) -> u64 {
        self.stream.position()
    }

    pub fn record(&self) -> Record<'_> {
        Record::of_line(&self.stream.buffer[self.stream.start..self.next], &self.ends)
    }
}

/// As a factor it gathers the low bits of eight bytes in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// Bit i is set where byte i is a separator, a quote or a newline.
#[inline]
fn structural(block: &[u8; BLOCK], separator: u8) -> u64 {
    let mut hits = [0u8; BLOCK];
    for (hit, byte) in hits.iter_mut().zip(block) {
        *hit = u8::from(*byte == separator) | u8::from(*byte == b'"') | u8::from(*byte == b'\n');
    }
    let mut mask = 0;
    for (i, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (i * 8);
    }
    mask
}
