//! One input, read from several places at once: a file whose dates can only be understood by all of its rows is read once
//! more while its rows are handed out.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A reader of a shared input. Each clone has a place of its own.
pub(super) struct Shared<R> {
    input: Arc<Mutex<Input<R>>>,
    at: u64,
}

struct Input<R> {
    of: R,
    at: u64,
}

impl<R> Shared<R> {
    /// `input` stands at its beginning.
    pub fn new(of: R) -> Self {
        Self { input: Arc::new(Mutex::new(Input { of, at: 0 })), at: 0 }
    }

    /// The same input from its beginning.
    pub fn again(&self) -> Self {
        Self { input: Arc::clone(&self.input), at: 0 }
    }

    fn input(&self) -> MutexGuard<'_, Input<R>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Read + Seek> Read for Shared<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if input.at != self.at {
            input.at = input.of.seek(SeekFrom::Start(self.at))?;
        }
        let read = input.of.read(buffer)? as u64;
        input.at += read;
        self.at += read;
        Ok(read as usize)
    }
}

impl<R: Seek> Seek for Shared<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let out_of_it = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning");
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.checked_add_signed(by).ok_or_else(out_of_it)?,
            SeekFrom::End(_) => {
                let mut input = self.input();
                input.at = input.of.seek(to)?;
                input.at
            }
        };
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn readers_of_one_input_do_not_disturb_each_other() {
        let mut first = Shared::new(Cursor::new(b"0123456789".to_vec()));
        let mut buffer = [0; 4];
        first.read_exact(&mut buffer).unwrap();
        let mut second = first.again();
        let mut whole = String::new();
        second.read_to_string(&mut whole).unwrap();
        assert_eq!(whole, "0123456789");
        let mut rest = String::new();
        first.read_to_string(&mut rest).unwrap();
        assert_eq!((&buffer, rest.as_str()), (b"0123", "456789"));
        assert_eq!(first.seek(SeekFrom::End(-2)).unwrap(), 8);
        assert_eq!(first.seek(SeekFrom::Current(-7)).unwrap(), 1);
        assert!(first.seek(SeekFrom::Current(-2)).is_err());
        first.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"1234");
    }
}
