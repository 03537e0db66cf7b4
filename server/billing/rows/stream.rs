//! The bytes of a file as they come: those of the current row stay in memory, what is before them does not.

use std::io::{self, Read, Write};

use super::{Broken, MAX_RECORD};

/// Bytes asked of the input at once, and the usual size of the buffer.
pub(super) const CHUNK: usize = 512 << 10;
/// Bytes beyond what was filled that readers may look at in blocks.
const MARGIN: usize = 64;

/// A stream of bytes, buffered from the start of the current row on. Every byte that is read also goes to the sink.
pub(super) struct Stream {
    input: Box<dyn Read + Send>,
    sink: Box<dyn Write + Send>,
    pub buffer: Vec<u8>,
    pub filled: usize,
    pub at_end: bool,
    /// An error of the input that is shown once everything before it was read.
    failure: Option<io::Error>,
    /// Start of the current row in `buffer`.
    pub start: usize,
    /// Bytes of the stream before `buffer`.
    discarded: u64,
}

impl Stream {
    pub fn new(input: Box<dyn Read + Send>, sink: Box<dyn Write + Send>) -> Self {
        Self {
            input,
            sink,
            buffer: vec![0; CHUNK + MARGIN],
            filled: 0,
            at_end: false,
            failure: None,
            start: 0,
            discarded: 0,
        }
    }

    /// The first bytes, for recognizing what they are. Call before the first row.
    pub fn peek(&mut self) -> Result<&[u8], Broken> {
        if self.filled == 0 {
            self.refill()?;
        }
        Ok(&self.buffer[..self.filled])
    }

    /// Offset of the current row.
    pub fn position(&self) -> u64 {
        self.discarded + self.start as u64
    }

    /// Whether the current row has more bytes than any row may have.
    pub fn is_too_long(&self) -> bool {
        self.filled - self.start > MAX_RECORD
    }

    /// Reads more, keeping the current row, which moves to the front. Answers by how much.
    pub fn refill(&mut self) -> Result<usize, Broken> {
        let moved = self.start;
        self.buffer.copy_within(self.start..self.filled, 0);
        self.discarded += self.start as u64;
        self.filled -= self.start;
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
        // A whole chunk, or the end: many short reads would move the row as often.
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
        Ok(moved)
    }
}
