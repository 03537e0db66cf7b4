//! Rows in no order: as AWS's writers leave them, each of which goes through the month by itself.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};

use super::random::Random;
use super::table::Cells;

/// Writers whose rows come one writer after the other.
const WRITERS: usize = 64;

/// Gives each row to one of many writers.
pub(crate) struct Scatter {
    random: Random,
    writers: Vec<BufWriter<File>>,
}

impl Scatter {
    /// What is written waits in temporary files.
    pub(crate) fn new(seed: u64) -> io::Result<Self> {
        let writers = (0..WRITERS).map(|_| tempfile::tempfile().map(BufWriter::new));
        Ok(Self { random: Random::new(seed), writers: writers.collect::<io::Result<_>>()? })
    }

    pub(crate) fn write(&mut self, cells: &Cells) -> io::Result<()> {
        let writer = self.random.below(WRITERS as u64) as usize;
        cells.write(&mut self.writers[writer])
    }

    /// Hands on the rows of all writers, one writer after the other.
    pub(crate) fn finish(self, mut row: impl FnMut(&Cells) -> io::Result<()>) -> io::Result<()> {
        let mut cells = Cells::default();
        for writer in self.writers {
            let mut file = writer.into_inner()?;
            file.rewind()?;
            let mut file = BufReader::with_capacity(1 << 16, file);
            while cells.read(&mut file)? {
                row(&cells)?;
            }
        }
        Ok(())
    }
}
