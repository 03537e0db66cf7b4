//! Sorting what does not fit into memory: runs of records, each sorted, lie one after the other in a file without a name
//! and are merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// Bytes of each run that are read at once.
const WINDOW: usize = 32 << 10;

/// What is sorted on the disk.
pub trait Record: Sized {
    /// By what it is sorted. Records of one key come one after the other.
    type Key: Ord;

    fn key(&self) -> Self::Key;
    fn write(&self, out: &mut impl Write) -> io::Result<()>;
    /// What [`Self::write`] wrote.
    fn read(from: &mut impl Read) -> io::Result<Self>;
}

/// Runs on the disk.
#[derive(Default)]
pub struct Runs {
    folder: PathBuf,
    file: Option<File>,
    /// Where each run ends in the file.
    ends: Vec<u64>,
}

impl Runs {
    /// In this folder. Nothing of it is left there, however the process ends.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: None, ends: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Writes records that are sorted by their keys.
    pub fn push<R: Record>(&mut self, sorted: impl IntoIterator<Item = R>) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        let mut out = BufWriter::with_capacity(1 << 18, &mut *file);
        sorted.into_iter().try_for_each(|record| record.write(&mut out))?;
        out.flush()?;
        drop(out);
        self.ends.push(file.stream_position()?);
        Ok(())
    }

    /// All records in the order of their keys.
    pub fn merge<R: Record>(&self) -> io::Result<Merge<'_, R>> {
        let mut merge = Merge { runs: Vec::new(), heads: Vec::new(), next: BinaryHeap::new() };
        let mut at = 0;
        for end in &self.ends {
            let run = Run { file: self.file.as_ref(), at, end: *end };
            merge.runs.push(BufReader::with_capacity(WINDOW, run));
            merge.heads.push(None);
            merge.advance(merge.heads.len() - 1)?;
            at = *end;
        }
        Ok(merge)
    }
}

/// Runs as one.
pub struct Merge<'f, R: Record> {
    runs: Vec<BufReader<Run<'f>>>,
    /// The next record of each run.
    heads: Vec<Option<R>>,
    next: BinaryHeap<Reverse<(R::Key, usize)>>,
}

/// What is left of a run.
struct Run<'f> {
    file: Option<&'f File>,
    at: u64,
    end: u64,
}

impl<R: Record> Merge<'_, R> {
    fn advance(&mut self, run: usize) -> io::Result<()> {
        use std::io::BufRead as _;
        if self.runs[run].fill_buf()?.is_empty() {
            return Ok(());
        }
        let record = R::read(&mut self.runs[run])?;
        self.next.push(Reverse((record.key(), run)));
        self.heads[run] = Some(record);
        Ok(())
    }
}

impl<R: Record> Iterator for Merge<'_, R> {
    type Item = io::Result<R>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, run)) = self.next.pop()?;
        let record = self.heads[run].take()?;
        Some(self.advance(run).map(|()| record))
    }
}

impl Read for Run<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(file) = self.file else { return Ok(0) };
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = file.read_at(&mut buffer[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Word(u64, String);

    impl Record for Word {
        type Key = u64;

        fn key(&self) -> u64 {
            self.0
        }

        fn write(&self, out: &mut impl Write) -> io::Result<()> {
            out.write_all(&self.0.to_le_bytes())?;
            out.write_all(&(self.1.len() as u16).to_le_bytes())?;
            out.write_all(self.1.as_bytes())
        }

        fn read(from: &mut impl Read) -> io::Result<Self> {
            let (mut key, mut length) = ([0; 8], [0; 2]);
            from.read_exact(&mut key)?;
            from.read_exact(&mut length)?;
            let mut text = vec![0; u16::from_le_bytes(length).into()];
            from.read_exact(&mut text)?;
            Ok(Self(u64::from_le_bytes(key), String::from_utf8(text).unwrap()))
        }
    }

    #[test]
    fn records_of_any_length_come_in_order_whatever_the_number_of_runs() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 30] {
            let mut runs = Runs::new(folder.path().to_owned());
            // Longer than the window that is read at once, and empty ones.
            let word = |run: u64, at: u64| Word(at * 31 + run * 7, "x".repeat((at * 611 % 40_000) as usize));
            for run in 0..count {
                runs.push((0..50).map(|at| word(run, at))).unwrap();
            }
            let merged: Vec<Word> = runs.merge().unwrap().collect::<io::Result<_>>().unwrap();
            let mut expected: Vec<Word> =
                (0..count).flat_map(|run| (0..50).map(move |at| word(run, at))).collect();
            expected.sort_by_key(|word| word.0);
            assert!(merged.iter().map(|word| word.0).is_sorted());
            assert_eq!(merged.len(), expected.len());
            let bytes = |words: &[Word]| words.iter().map(|word| word.1.len()).sum::<usize>();
            assert_eq!(bytes(&merged), bytes(&expected));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    }
}
