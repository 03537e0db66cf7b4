//! Lines of a text, each of bounded length.

use std::io::{BufRead as _, BufReader, Read};

use super::reading::unreadable;
use crate::billing::Refusal;

/// No line of an export is longer: that of the largest job has some thousand bytes.
const LONGEST: u64 = 1 << 20;

pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// What the file should be.
    expected: &'static str,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R, expected: &'static str) -> Self {
        Self { input: BufReader::with_capacity(256 << 10, input), line: Vec::new(), expected }
    }

    /// The next that is not blank. Bytes that are no UTF-8 are replaced.
    pub fn next(&mut self) -> Result<Option<String>, Refusal> {
        loop {
            self.line.clear();
            let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
            if read.map_err(|error| unreadable(&error))? == 0 {
                return Ok(None);
            }
            if self.line.len() as u64 == LONGEST && !self.line.ends_with(b"\n") {
                return Err(Refusal::new(format!("a line of more than {LONGEST} bytes"), self.expected));
            }
            let text = String::from_utf8_lossy(&self.line);
            let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
            if !text.trim().is_empty() {
                return Ok(Some(text.to_owned()));
            }
        }
    }
}
