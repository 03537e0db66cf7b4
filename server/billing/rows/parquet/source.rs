//! A file that is read from many places: one column after the other.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

/// What can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadSeek for R {}

pub(super) struct Source {
    input: Mutex<Box<dyn ReadSeek>>,
    length: u64,
}

impl Source {
    pub fn new(mut input: Box<dyn ReadSeek>) -> io::Result<Self> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Self { input: Mutex::new(input), length })
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// So many bytes from a place on; an error where there are fewer.
    pub fn read(&self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        if at.checked_add(bytes as u64).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.seek(SeekFrom::Start(at))?;
        let mut read = vec![0; bytes];
        input.read_exact(&mut read)?;
        Ok(read)
    }
}
