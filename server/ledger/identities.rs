//! The identities of a delivery's rows, sorted on the disk: so are those found that more than one row has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::billing::Identity;

/// Identities that are sorted in memory at once; beyond, they are sorted on the disk. 2 MiB.
const RUN: usize = 1 << 18;
/// Of a run, so many are read at once.
const WINDOW: usize = 1 << 12;
const WIDTH: usize = size_of::<Identity>();
/// More that repeat are not distinguished ([`Repeated::is_full`]).
const MOST_REPEATED: usize = 1 << 20;

/// The identities of a delivery's rows, in memory of a fixed size.
#[derive(Default)]
pub struct Identities {
    folder: PathBuf,
    run: Vec<Identity>,
    spilled: Option<File>,
    /// Lengths of the runs in the file, one after the other.
    runs: Vec<usize>,
}

/// Where a row stands: the number of its file, and its own.
pub type Place = (i16, u64);

/// Identities that more than one row has, and where the first of them stands, in which section.
#[derive(Debug, Default)]
pub struct Repeated {
    identities: Vec<Identity>,
    first: Vec<Option<(Place, u32)>>,
}

impl Identities {
    /// What does not fit into memory is written into this folder, without a name.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, run: Vec::new(), spilled: None, runs: Vec::new() }
    }

    pub fn push(&mut self, identity: Identity) -> io::Result<()> {
        self.run.push(identity);
        if self.run.len() == RUN { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.run.sort_unstable();
        let bytes: Vec<u8> = self.run.iter().flat_map(|identity| identity.to_le_bytes()).collect();
        let file = match &mut self.spilled {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        file.write_all(&bytes)?;
        self.runs.push(self.run.len());
        self.run.clear();
        Ok(())
    }

    /// Hands each identity out once, in their order, and answers those that came more than once.
    pub fn finish<E: From<io::Error>>(
        mut self,
        mut take: impl FnMut(Identity) -> Result<(), E>,
    ) -> Result<Repeated, E> {
        let mut repeated = Repeated::default();
        let mut before = None;
        let mut next = |identity| {
            if before.replace(identity) != Some(identity) {
                return take(identity);
            }
            repeated.add(identity);
            Ok(())
        };
        if self.spilled.is_none() {
            self.run.sort_unstable();
            self.run.drain(..).try_for_each(next)?;
        } else {
            self.spill()?;
            let mut merged = self.merge()?;
            while let Some(identity) = merged.next()? {
                next(identity)?;
            }
        }
        repeated.first = vec![None; repeated.identities.len()];
        Ok(repeated)
    }

    fn merge(&mut self) -> io::Result<Merge<'_>> {
        let mut merge = Merge { file: self.spilled.as_ref(), runs: Vec::new(), heads: BinaryHeap::new() };
        let mut begin = 0;
        for length in &self.runs {
            merge.runs.push(Run { at: begin, left: *length, window: Vec::new() });
            begin += length;
        }
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }
}

/// Sorted runs as one.
struct Merge<'f> {
    file: Option<&'f File>,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(Identity, usize)>>,
}

/// What is left of a run: from a place in the file on, and in memory the other way round.
struct Run {
    at: usize,
    left: usize,
    window: Vec<Identity>,
}

impl Merge<'_> {
    fn next(&mut self) -> io::Result<Option<Identity>> {
        let Some(Reverse((identity, run))) = self.heads.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(identity))
    }

    fn advance(&mut self, number: usize) -> io::Result<()> {
        let (Some(file), Some(run)) = (self.file, self.runs.get_mut(number)) else { return Ok(()) };
        if run.window.is_empty() {
            let count = run.left.min(WINDOW);
            let mut bytes = vec![0; count * WIDTH];
            file.read_exact_at(&mut bytes, (run.at * WIDTH) as u64)?;
            let (words, _) = bytes.as_chunks::<WIDTH>();
            run.window = words.iter().rev().map(|word| Identity::from_le_bytes(*word)).collect();
            run.at += count;
            run.left -= count;
        }
        if let Some(identity) = run.window.pop() {
            self.heads.push(Reverse((identity, number)));
        }
        Ok(())
    }
}

impl Repeated {
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// Whether there may be more than it knows.
    pub fn is_full(&self) -> bool {
        self.identities.len() == MOST_REPEATED
    }

    fn add(&mut self, identity: Identity) {
        if self.identities.last() != Some(&identity) && self.identities.len() < MOST_REPEATED {
            self.identities.push(identity);
        }
    }

    /// Where the first row of this identity stands, for all rows after that one.
    pub fn meet(&mut self, identity: Identity, place: Place, section: u32) -> Option<(Place, u32)> {
        let at = self.identities.binary_search(&identity).ok()?;
        let first = self.first[at];
        self.first[at] = first.or(Some((place, section)));
        first
    }

    /// Forgets where rows stand, as for another file whose rows repeat none of those before it.
    pub fn begin_again(&mut self) {
        self.first.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(identities: impl IntoIterator<Item = Identity>) -> (Vec<Identity>, Repeated) {
        let folder = tempfile::tempdir().unwrap();
        let mut all = Identities::new(folder.path().to_owned());
        for identity in identities {
            all.push(identity).unwrap();
        }
        let mut once = Vec::new();
        let repeated = all.finish(|identity| {
            once.push(identity);
            io::Result::Ok(())
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        (once, repeated.unwrap())
    }

    #[test]
    fn each_comes_once_and_in_order_whether_they_fit_into_memory_or_not() {
        for count in [0, 1, 1000, RUN as Identity, 3 * RUN as Identity + 5] {
            let scattered = |n: Identity| (n * 7_919) % 1_000_003 + (n / 1_000_003) * 1_000_003;
            let (once, repeated) = finished((0..count).map(scattered));
            assert_eq!(once.len() as Identity, count);
            assert!(once.is_sorted() && repeated.is_empty());
        }
    }

    #[test]
    fn what_repeats_is_found_across_runs_and_met_from_the_second_time_on() {
        let count = 2 * RUN as Identity;
        let (once, mut repeated) = finished((0..count).chain([5, 5, count - 1]));
        assert_eq!(once.len() as Identity, count);
        assert_eq!(repeated.identities, [5, count - 1]);
        assert_eq!(repeated.meet(5, (0, 6), 0), None);
        assert_eq!(repeated.meet(4, (0, 5), 0), None);
        assert_eq!(repeated.meet(5, (1, 9), 1), Some(((0, 6), 0)));
        assert_eq!(repeated.meet(5, (1, 10), 1), Some(((0, 6), 0)));
    }
}
