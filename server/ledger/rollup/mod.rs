//! Rollups: what pages read, summed while the file is read.
//!
//! Sums are kept per key and day. When they fill [`LIMIT`] they are written to the disk, sorted; at the end these runs are
//! merged. So there is one row a key, and one a key and day, in the order of their keys, whatever the order of the file
//! ([why](../../../docs/decisions/rollups-hold-one-row-per-charge-key.md)).
//!
//! A fleet has a key for each of its machines. What pages ask first (by service, by account, over time) needs none of that, so
//! the same is summed by *plain* keys, without machine and tags: some hundreds ([why](../../../docs/decisions/first-views-read-totals-by-plain-charge-keys.md)).
//!
//! A key without accelerators is not distinguished by resource. What it costs by resource is summed by day beside it, unless there
//! would be nearly as many sums as charges ([why](../../../docs/decisions/resource-costs-are-summed-by-day.md)).

mod amount;
mod cell;
mod entry;
mod rows;
mod sum_thread;
mod sums;

use std::hash::BuildHasher as _;
use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use self::cell::{Cell, Day, OfResource, Place};
use self::rows::Rows;
use super::runs::Runs;

pub use entry::Entry;
pub use rows::{Grain, Part};
pub use sum_thread::Beside;
pub use sums::Sums;

/// Bytes of sums held in memory.
const LIMIT: usize = 40 << 20;
/// The same of plain keys, which are summed while the others are sent.
const PLAIN_LIMIT: usize = 16 << 20;
/// The same of resources.
const RESOURCES_LIMIT: usize = 12 << 20;
/// To know about how many places there are, one in so many is remembered. A prime, as hashes are no numbers by chance.
const SAMPLED: u64 = 61;
/// Parts of resources that are merged while those of keys are sent.
const AHEAD: usize = 16;
/// Sums by resource that are no more than this are worth their room, however few charges each has.
const FEW_SUMS: u64 = 20_000;

/// That the thread which sums has ended by a panic.
fn stopped() -> io::Error {
    io::Error::other("summing stopped; the server's log says why")
}

/// Sums of one delivery, growing.
pub struct Rollup {
    delivery_id: i64,
    folder: PathBuf,
    cells: Cells<Cell>,
    resources: Cells<OfResource>,
    /// Charges of keys that are not distinguished by resource.
    of_resources: u64,
    /// Hashes of the places of resources, every [`SAMPLED`]th: there are so many times as many.
    sampled: FxHashSet<u64>,
}

impl Rollup {
    /// What does not fit into memory is written into the folder.
    pub fn new(delivery_id: i64, folder: PathBuf) -> Self {
        Self {
            delivery_id,
            cells: Cells::new(folder.clone(), LIMIT),
            resources: Cells::new(folder.clone(), RESOURCES_LIMIT),
            of_resources: 0,
            sampled: FxHashSet::default(),
            folder,
        }
    }

    /// Looks at the sums to which entries will be added. They lie all over memory: here the processor waits for several of them
    /// at once, while adding would wait for one after the other.
    fn fetch(&self, entries: &[Entry]) {
        let found = entries.iter().filter_map(|entry| self.cells.in_memory.get(&entry.cell));
        let read = |day: &Day| {
            let hour = day.hours.as_ref().and_then(|hours| hours.last()).map_or(0, |(hour, _)| *hour);
            day.sums.charges + i64::from(hour)
        };
        black_box(found.map(read).fold(0, i64::wrapping_add));
    }

    pub fn add(&mut self, mut entry: Entry) -> io::Result<()> {
        let resource = entry.resource.take();
        let new = || Day {
            plain_key_id: entry.plain_key_id,
            hours: resource.is_none().then(Vec::new),
            ..Day::default()
        };
        self.cells.add(entry.cell, new, |day| day.add(&entry))?;
        let Some(resource) = resource else { return Ok(()) };
        self.of_resources += 1;
        let place = OfResource { cell: entry.cell, resource };
        // Not the lowest bits, which tell least.
        let hash = FxBuildHasher.hash_one(&place) >> 16;
        if hash.is_multiple_of(SAMPLED) {
            self.sampled.insert(hash);
        }
        self.resources.add(place, Day::default, |sum| sum.sums.merge(&entry.sums))
    }

    /// Sends all rows, in parts of about this many bytes: those of keys, of plain keys, and of resources. Answers whether there
    /// are any of the last: where nearly every charge has a sum of its own, charges answer as fast.
    pub fn finish<E: From<io::Error>>(
        self,
        part_bytes: usize,
        mut send: impl FnMut(Part) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Self { delivery_id, folder, cells, resources, of_resources, sampled } = self;
        let sums = sampled.len() as u64 * SAMPLED;
        let has_resources = sums <= FEW_SUMS || sums <= of_resources / 2;
        thread::scope(|scope| {
            let (parts, merged) = mpsc::sync_channel(AHEAD);
            let merge_resources = move || {
                let send = |part| parts.send(part).map_err(|_| stopped());
                let mut rows = Rows::new(delivery_id, Grain::Resources, part_bytes, send);
                resources.drain(|place, day| rows.add(place, day))?;
                rows.finish()
            };
            let merging = thread::Builder::new()
                .name("merging".to_owned())
                .spawn_scoped(scope, move || if has_resources { merge_resources() } else { Ok(()) })?;
            let mut plain = Cells::new(folder, cells.limit.min(PLAIN_LIMIT));
            let mut rows = Rows::new(delivery_id, Grain::Keys, part_bytes, &mut send);
            cells.drain(|cell, day| {
                let of_plain = Cell { charge_key_id: day.plain_key_id, ..cell };
                plain.add(of_plain, Day::default, |sum| sum.sums.merge(&day.sums))?;
                rows.add(cell, day)
            })?;
            rows.finish()?;
            let mut rows = Rows::new(delivery_id, Grain::PlainKeys, part_bytes, &mut send);
            plain.drain(|cell, day| rows.add(cell, day))?;
            rows.finish()?;
            merged.into_iter().try_for_each(send)?;
            merging.join().map_err(|_| stopped())??;
            Ok(has_resources)
        })
    }
}

/// Sums by place. Those that do not fit into memory are on the disk.
struct Cells<P> {
    in_memory: FxHashMap<P, Day>,
    bytes: usize,
    limit: usize,
    runs: Runs,
}

impl<P: Place> Cells<P> {
    fn new(folder: PathBuf, limit: usize) -> Self {
        Self { in_memory: FxHashMap::default(), bytes: 0, limit, runs: Runs::new(folder) }
    }

    fn add(&mut self, place: P, new: impl FnOnce() -> Day, add: impl FnOnce(&mut Day)) -> io::Result<()> {
        let mut of_place = 0;
        let text = place.resource().map_or(0, str::len);
        let day = self.in_memory.entry(place).or_insert_with(|| {
            of_place = size_of::<(P, Day)>() * 8 / 7 + text;
            new()
        });
        let before = day.heap_bytes();
        add(day);
        // It may take less now than before.
        self.bytes = self.bytes + of_place + day.heap_bytes() - before;
        if self.bytes >= self.limit {
            let sorted = self.take_sorted();
            self.runs.push(sorted)?;
        }
        Ok(())
    }

    fn take_sorted(&mut self) -> Vec<(P, Day)> {
        self.bytes = 0;
        // Its room stays: to grow anew would move all that is in it, time and again.
        let mut places: Vec<(P, Day)> = self.in_memory.drain().collect();
        places.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        places
    }

    /// All cells in their order; one that was written several times comes as often, one after the other.
    fn drain<E: From<io::Error>>(mut self, mut each: impl FnMut(P, Day) -> Result<(), E>) -> Result<(), E> {
        let sorted = self.take_sorted();
        self.in_memory = FxHashMap::default();
        if self.runs.is_empty() {
            return sorted.into_iter().try_for_each(|(place, day)| each(place, day));
        }
        self.runs.push(sorted)?;
        for record in self.runs.merge()? {
            let (place, day) = record?;
            each(place, day)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::{DateTime, Duration, Utc};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::billing::Charge;
    use crate::ledger::known_rows::Destination;
    use crate::money::Decimal;
    use crate::period::{BillingMonth, ChargePeriod};

    fn destination(key: u128, plain_key: u128, bears_accelerators: bool) -> Destination {
        Destination {
            charge_key_id: Uuid::from_u128(key),
            plain_key_id: Uuid::from_u128(plain_key),
            tag_set_id: None,
            bears_accelerators,
            scope_id: 3,
            total: 0,
        }
    }

    /// A charge of some hours of a day, and where it belongs.
    fn charge() -> impl Strategy<Value = (Charge, Destination)> {
        (
            0u128..6,
            0i64..60,
            0i64..24,
            1i64..60,
            any::<i64>(),
            0u8..12,
            prop::option::of(0i64..1_000_000),
            0..3,
        )
            .prop_map(|(key, day, hour, hours, cost, scale, quantity, resource)| {
                let begin: DateTime<Utc> = "2026-08-01T00:00:00Z".parse().unwrap();
                let start = begin + Duration::days(day) + Duration::hours(hour);
                let amount = Decimal::new(cost.into(), scale);
                let charge = Charge {
                    billing_month: BillingMonth::of(start.date_naive()),
                    period: ChargePeriod { start, end: start + Duration::hours(hours) },
                    billed_cost: amount,
                    effective_cost: amount.times(3),
                    list_cost: -amount,
                    contracted_cost: Decimal::from(cost),
                    consumed_quantity: quantity.map(|quantity| Decimal::new(quantity.into(), 3)),
                    is_metered: key % 3 > 0,
                    resource_id: if resource > 0 { format!("volume-{resource}") } else { String::new() },
                    ..Charge::default()
                };
                (charge, destination(key, 100 + key % 2, key % 2 == 0))
            })
    }

    /// A part for each month and grain, and how many rows by day and by key it has.
    fn rolled_up(charges: &[(Charge, Destination)], limit: usize) -> (Vec<String>, Vec<(Grain, [usize; 2])>) {
        let mut rollup = Rollup::new(7, std::env::temp_dir());
        (rollup.cells.limit, rollup.resources.limit) = (limit, limit);
        for (charge, destination) in charges {
            rollup.add(Entry::of(charge, &Sums::of_charge(charge), destination)).unwrap();
        }
        let (mut parts, mut rows) = (Vec::new(), Vec::new());
        let send = |part: Part| {
            rows.push((part.grain, [part.daily.rows(), part.monthly.rows()]));
            parts.push(format!("{:?} {:?} {:?} {:?}", part.grain, part.month, part.daily, part.monthly));
            io::Result::Ok(())
        };
        assert!(rollup.finish(usize::MAX >> 8, send).unwrap());
        (parts, rows)
    }

    #[test]
    fn resources_that_charges_hardly_repeat_are_not_summed() {
        for (resources, times, is_summed) in
            [(FEW_SUMS - FEW_SUMS / 5, 1, true), (FEW_SUMS * 2, 1, false), (FEW_SUMS * 2, 3, true)]
        {
            let mut rollup = Rollup::new(7, std::env::temp_dir());
            // So that a place comes in several runs.
            rollup.resources.limit = 1 << 20;
            let destination = destination(1, 2, false);
            for resource in (0..times).flat_map(|_| 0..resources) {
                let charge = Charge { resource_id: resource.to_string(), ..Charge::default() };
                rollup.add(Entry::of(&charge, &Sums::of_charge(&charge), &destination)).unwrap();
            }
            let mut sums = 0;
            let send = |part: Part| {
                sums += if part.grain == Grain::Resources { part.daily.rows() as u64 } else { 0 };
                io::Result::Ok(())
            };
            assert_eq!(rollup.finish(1 << 20, send).unwrap(), is_summed);
            assert_eq!(sums, if is_summed { resources } else { 0 });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn rows_are_the_same_whether_sums_fit_into_memory_or_not(charges in prop::collection::vec(charge(), 0..300)) {
            let (whole, rows) = rolled_up(&charges, usize::MAX);
            for limit in [1, 5000, 40_000] {
                prop_assert_eq!(&rolled_up(&charges, limit).0, &whole);
            }
            // One row a key, and one a key and day.
            for grain in [Grain::Keys, Grain::PlainKeys, Grain::Resources] {
                let (mut keys, mut days) = (BTreeSet::new(), BTreeSet::new());
                for (charge, destination) in &charges {
                    let (id, resource) = match grain {
                        Grain::Keys => (destination.charge_key_id, ""),
                        Grain::PlainKeys => (destination.plain_key_id, ""),
                        // What bears accelerators is distinguished by its key.
                        Grain::Resources if destination.bears_accelerators => continue,
                        Grain::Resources => (destination.charge_key_id, charge.resource_id.as_str()),
                    };
                    let key = (charge.billing_month, id, resource);
                    keys.insert(key);
                    days.insert((key, charge.period.day(), charge.period.is_longer_than_a_day()));
                }
                let of_grain = || rows.iter().filter(|(of, _)| *of == grain).map(|(_, rows)| rows);
                prop_assert_eq!(of_grain().map(|rows| rows[0]).sum::<usize>(), days.len());
                let months = if grain == Grain::Resources { 0 } else { keys.len() };
                prop_assert_eq!(of_grain().map(|rows| rows[1]).sum::<usize>(), months);
            }
        }

        #[test]
        fn parts_are_cut_between_rows_and_lose_none(charges in prop::collection::vec(charge(), 1..300)) {
            let rows = |part_bytes| {
                let mut rollup = Rollup::new(7, std::env::temp_dir());
                for (charge, destination) in &charges {
                    rollup.add(Entry::of(charge, &Sums::of_charge(charge), destination)).unwrap();
                }
                let mut sums = [0, 0];
                let send = |part: Part| {
                    sums = [sums[0] + part.daily.rows(), sums[1] + part.monthly.rows()];
                    io::Result::Ok(())
                };
                rollup.finish(part_bytes, send).unwrap();
                sums
            };
            prop_assert_eq!(rows(1), rows(usize::MAX >> 8));
        }
    }
}
