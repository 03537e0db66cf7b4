//! The identities of a delivery's rows, sorted on the disk: so are those found that more than one row has.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::runs::{Record, Runs};
use crate::billing::Identity;

/// Identities that are sorted in memory at once; beyond, they are sorted on the disk. 2 MiB.
const RUN: usize = 1 << 18;
const WIDTH: usize = size_of::<Identity>();
/// More that repeat are not distinguished ([`Repeated::is_full`]).
const MOST_REPEATED: usize = 1 << 20;

/// The identities of a delivery's rows, in memory of a fixed size.
#[derive(Default)]
pub struct Identities {
    run: Vec<Identity>,
    runs: Runs,
}

/// Where a row stands: the number of its file, and its own.
pub type Place = (i16, u64);

/// The first row that has an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    pub place: Place,
    /// Which of the exports in the files it is in.
    pub section: u32,
    /// A hash of all that it says.
    pub whole_row: Identity,
}

/// Identities that more than one row has, and the first of these.
#[derive(Debug, Default)]
pub struct Repeated {
    identities: Vec<Identity>,
    first: Vec<Option<First>>,
}

impl Identities {
    /// What does not fit into memory is written into this folder, without a name.
    pub fn new(folder: PathBuf) -> Self {
        Self { run: Vec::new(), runs: Runs::new(folder) }
    }

    pub fn push(&mut self, identity: Identity) -> io::Result<()> {
        self.run.push(identity);
        if self.run.len() == RUN { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.run.sort_unstable();
        self.runs.push(self.run.drain(..))
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
        if self.runs.is_empty() {
            self.run.sort_unstable();
            self.run.drain(..).try_for_each(next)?;
        } else {
            self.spill()?;
            for identity in self.runs.merge()? {
                next(identity?)?;
            }
        }
        repeated.first = vec![None; repeated.identities.len()];
        Ok(repeated)
    }
}

impl Record for Identity {
    type Key = Self;

    fn key(&self) -> Self {
        *self
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut bytes = [0; WIDTH];
        from.read_exact(&mut bytes)?;
        Ok(Self::from_le_bytes(bytes))
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

    /// Where the first row of an identity is kept that more than one has; `None` for any other.
    pub fn first(&mut self, identity: Identity) -> Option<&mut Option<First>> {
        let at = self.identities.binary_search(&identity).ok()?;
        self.first.get_mut(at)
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
    fn what_repeats_is_found_across_runs_and_its_first_row_is_kept() {
        let count = 2 * RUN as Identity;
        let (once, mut repeated) = finished((0..count).chain([5, 5, count - 1]));
        assert_eq!(once.len() as Identity, count);
        assert_eq!(repeated.identities, [5, count - 1]);
        let first = First { place: (0, 6), section: 0, whole_row: 0 };
        assert_eq!(repeated.first(5), Some(&mut None));
        *repeated.first(5).unwrap() = Some(first);
        assert_eq!(repeated.first(4), None);
        assert_eq!(repeated.first(5), Some(&mut Some(first)));
        repeated.begin_again();
        assert_eq!(repeated.first(5), Some(&mut None));
    }
}
