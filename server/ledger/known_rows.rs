//! Where charges belong that look like others: a file of millions of rows has some ten thousand keys.
//!
//! The key of a charge, its tags and its scope follow from the cells that a format reads keys from and from the month; of
//! machines with accelerators from the machine, too. So they are read and derived once for each of these, and most rows only
//! have amounts and times of their own.

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_128;
use uuid::Uuid;

use super::key::Keyed;
use crate::billing::Charge;

/// Where a charge belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    pub charge_key_id: Uuid,
    pub plain_key_id: Uuid,
    pub tag_set_id: Option<Uuid>,
    /// Whether the key bears accelerators: then it says which machine it is, where there is one.
    pub bears_accelerators: bool,
    pub scope_id: i64,
    /// Which of the delivery's totals it adds to.
    pub total: u32,
}

impl Destination {
    pub fn of(keyed: &Keyed, scope_id: i64, total: u32) -> Self {
        let Keyed { charge_key_id, plain_key_id, accelerator, unrecognized: _, tag_set_id } = *keyed;
        let bears_accelerators = accelerator.is_some();
        Self { charge_key_id, plain_key_id, tag_set_id, bears_accelerators, scope_id, total }
    }
}

/// The places that are known of a file.
pub struct KnownRows {
    /// By a hash of what they follow from.
    places: FxHashMap<u128, Known>,
    /// Of that hash. Without knowing it, nobody can write two rows that have the same.
    seed: u64,
    /// Rows that were found since it was emptied.
    found: usize,
    /// Hardly any row was found: each has cells of its own.
    is_given_up: bool,
}

struct Known {
    destination: Destination,
    /// The hash of its machine: most of these cells belong to one.
    machine: [u8; 16],
}

/// As many have room in a map of 2¹⁹ places, which takes 50 MB.
const MOST: usize = (1 << 19) / 8 * 7;

impl Default for KnownRows {
    fn default() -> Self {
        Self { places: FxHashMap::default(), seed: rand::random(), found: 0, is_given_up: false }
    }
}

impl KnownRows {
    /// Forgets those of the file before, whose cells were perhaps of other columns.
    pub fn begin_file(&mut self) {
        self.places.clear();
        self.found = 0;
        self.is_given_up = false;
    }

    /// Where a charge belongs of which all but key and tags was read.
    pub fn find(&mut self, charge: &Charge) -> Option<Destination> {
        // What a charge costs that lacks its cost follows from its key.
        if self.places.is_empty() || charge.key_cells.is_empty() || charge.lacks_cost {
            return None;
        }
        let cells = self.cells(charge);
        let mut known = self.places.get(&cells)?;
        if known.destination.bears_accelerators {
            let machine = self.machine(charge);
            if machine.to_ne_bytes() != known.machine {
                known = self.places.get(&(cells ^ machine))?;
            }
        }
        self.found += 1;
        Some(known.destination)
    }

    /// Keeps where a charge belongs of which everything was read.
    pub fn keep(&mut self, charge: &Charge, destination: Destination) {
        if self.is_given_up || charge.key_cells.is_empty() {
            return;
        }
        if self.places.len() >= MOST {
            if self.found < MOST {
                self.is_given_up = true;
                self.places = FxHashMap::default();
                return;
            }
            self.found = 0;
            self.places.clear();
        }
        let cells = self.cells(charge);
        let machine = if destination.bears_accelerators { self.machine(charge) } else { 0 };
        let known = Known { destination, machine: machine.to_ne_bytes() };
        let at = if self.places.contains_key(&cells) { cells ^ machine } else { cells };
        self.places.insert(at, known);
    }

    fn cells(&self, charge: &Charge) -> u128 {
        let month = charge.billing_month().first_day().to_epoch_days() as u64;
        XxHash3_128::oneshot_with_seed(self.seed ^ month, &charge.key_cells)
    }

    fn machine(&self, charge: &Charge) -> u128 {
        XxHash3_128::oneshot_with_seed(self.seed, charge.resource_id.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::key::Keyer;
    use super::super::noise::NoisyTags;
    use serde_json::Value;

    use super::*;
    use crate::billing::{self, Step};

    const CUR: &str = "identity/LineItemId,bill/PayerAccountId,bill/BillingPeriodStartDate,lineItem/LineItemType,\
                       lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/UsageType,lineItem/ResourceId,\
                       lineItem/UsageAmount,lineItem/CurrencyCode,lineItem/UnblendedCost,product/instanceType,pricing/unit,\
                       resourceTags/user:team,resourceTags/user:Name\n";
    const FOCUS: &str = "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,\
                         ChargePeriodEnd,ChargeCategory,ProviderName,ResourceId,ConsumedQuantity,ConsumedUnit,\
                         ChargeDescription,SkuMeter,Tags\n";

    /// Few values for each cell, so that many rows share them; some are no text, no tags or no amount.
    fn row() -> impl Strategy<Value = [usize; 8]> {
        proptest::array::uniform8(0usize..4)
    }

    fn cur([month, kind, machine, resource, team, name, account, odd]: [usize; 8]) -> Vec<u8> {
        let month = ["2026-08", "2026-08", "2026-08", "2026-09"][month];
        let kind = ["Usage", "Usage", "Tax", "DiscountedUsage"][kind];
        let machine = ["p5.48xlarge", "p5.48xlarge", "m5.large", ""][machine];
        let resource = ["i-1", "i-2", "i-3", ""][resource];
        let team = ["", "vision", "\"say \"\"hi\"\"\"", " vision"][team];
        let name = ["", "node 1", "node 2", "node 3"][name];
        let account = ["123456789012", "123456789012", "210987654321", "12"][account];
        let cost = ["1.5", "0", "-2", "dear"][odd];
        // Some end too early.
        let rest = if odd == 1 && name.is_empty() { "" } else { &format!(",{machine},Hrs,{team},{name}") };
        format!(
            "row,{account},{month}-01T00:00:00Z,{kind},{month}-02T00:00:00Z,{month}-02T01:00:00Z,BoxUsage:{machine},{resource},\
             1,USD,{cost}{rest}\n"
        )
        .into_bytes()
    }

    fn focus(row: [usize; 8]) -> Vec<u8> {
        focus_at(row, |month, day| format!("2026-{month:02}-{day:02}T00:00:00Z"))
    }

    /// As spreadsheets write dates, which the days prove.
    fn focus_with_slashes(row: [usize; 8]) -> Vec<u8> {
        focus_at(row, |month, day| format!("{month}/{day}/2026 00:00"))
    }

    fn focus_at(
        [month, kind, machine, resource, team, name, account, odd]: [usize; 8],
        at: fn(usize, usize) -> String,
    ) -> Vec<u8> {
        let month = [8, 8, 8, 9][month];
        let (begins, starts, ends) = (at(month, 1), at(month, 13), at(month, 14));
        let kind = ["Usage", "Usage", "Tax", "Purchase"][kind];
        let machine = ["H100 SXM", "H100 SXM", "Storage", ""][machine];
        let resource = ["Node-1", "node-1", "node-2", ""][resource];
        let team = ["", "vision", "speech", "x\"\"\"\"y"][team];
        let name = ["node 1", "node 2", "node 3", ""][name];
        let provider = ["NeoCloud", "NeoCloud", "Microsoft", ""][account];
        let mut row = format!(
            "1,1,acme,USD,{begins},{starts},{ends},{kind},{provider},{resource},1,GPU-Hours,{machine} ,{machine},"
        )
        .into_bytes();
        let tags = format!("\"{{\"\"team\"\":\"\"{team}\"\",\"\"Name\"\":\"\"{name}\"\"}}\"\n");
        row.extend_from_slice([tags.as_bytes(), b"no tags\n", b"\n", b"\xff\n"][odd]);
        row
    }

    /// What a row becomes, in one way and in the other.
    fn same(file: &[u8]) -> Result<usize, TestCaseError> {
        let open = || billing::open("bill.csv", Cursor::new(file.to_vec()), &billing::ReadAs::any()).unwrap();
        let (mut whole, mut short) = (open(), open());
        let noisy = || NoisyTags::exactly(vec!["Name".to_owned()]);
        let (mut keyer, mut keyer_of_new) =
            (Keyer::new(Arc::default(), noisy()), Keyer::new(Arc::default(), noisy()));
        let mut known_rows = KnownRows::default();
        let (mut charge, mut of_its_own) = (Charge::default(), Charge::default());
        let mut found = 0;
        while let Some(step) = whole.next(&mut charge).unwrap() {
            let mut known = None;
            let find = |charge: &Charge| {
                known = known_rows.find(charge);
                known.is_some()
            };
            let step_of_short = short.next_unless_known(&mut of_its_own, find).unwrap();
            prop_assert_eq!(Some(&step), step_of_short.as_ref());
            if step != Step::Charge {
                continue;
            }
            let destination = Destination::of(&keyer.key(&charge), 1, 2);
            if let Some(known) = known {
                found += 1;
                prop_assert_eq!(known, destination);
            } else {
                let new = Destination::of(&keyer_of_new.key(&of_its_own), 1, 2);
                prop_assert_eq!(new, destination);
                known_rows.keep(&of_its_own, new);
                prop_assert_eq!(&charge.key, &of_its_own.key);
                prop_assert_eq!(&charge.tags, &of_its_own.tags);
            }
            of_its_own.key.clone_from(&charge.key);
            of_its_own.tags.clone_from(&charge.tags);
            of_its_own.key_cells.clone_from(&charge.key_cells);
            prop_assert_eq!(format!("{charge:?}"), format!("{of_its_own:?}"));
        }
        prop_assert_eq!(format!("{:?}", whole.remarks()), format!("{:?}", short.remarks()));
        Ok(found)
    }

    proptest! {
        #[test]
        fn rows_whose_keys_are_known_become_the_same_charges(rows in prop::collection::vec(row(), 0..60)) {
            for (header, write) in [(CUR, cur as fn(_) -> _), (FOCUS, focus), (FOCUS, focus_with_slashes)] {
                let rows = rows.iter().flat_map(|row| write(*row));
                same(&header.bytes().chain(rows).collect::<Vec<u8>>())?;
            }
        }
    }

    /// A file with all of its rows once more.
    fn repeated(file: &[u8]) -> Vec<u8> {
        match serde_json::from_slice(file) {
            Ok(Value::Array(rows)) => serde_json::to_vec(&[&rows[..], &rows].concat()).unwrap(),
            Ok(Value::Object(mut members)) => {
                for member in members.values_mut() {
                    match member {
                        Value::Array(rows) => rows.extend_from_within(..),
                        // Rows may be a list in a member of a member.
                        Value::Object(inner) => {
                            for rows in inner.values_mut().filter_map(Value::as_array_mut) {
                                rows.extend_from_within(..);
                            }
                        }
                        _ => {}
                    }
                }
                serde_json::to_vec(&members).unwrap()
            }
            _ => [file, file].concat(),
        }
    }

    #[test]
    fn rows_of_every_format_become_the_same_charges_when_their_file_repeats_itself() {
        let exports = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports");
        let inside = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let cases: Vec<PathBuf> = inside(&exports).iter().flat_map(|format| inside(format)).collect();
        for path in cases.iter().flat_map(|case| inside(case)) {
            let file = std::fs::read(&path).unwrap();
            // What lacks its cost is never known: what it costs follows from its key.
            let lacks_cost = ["focus-usage", "fireworks-metrics"];
            if lacks_cost.iter().any(|format| path.to_string_lossy().contains(format)) {
                assert_eq!(same(&repeated(&file)).unwrap(), 0);
                continue;
            }
            let once = same(&file).unwrap();
            let twice = same(&repeated(&file)).unwrap();
            assert!(twice > 2 * once, "{}: {twice} rows are known, {once} in one file", path.display());
        }
    }

    #[test]
    fn most_rows_of_a_fleet_are_known() {
        let rows = (0..4000).flat_map(|row: usize| cur([0, 0, 0, row % 3, row / 7 % 2, 0, 0, 0]));
        let file: Vec<u8> = CUR.bytes().chain(rows).collect();
        assert_eq!(same(&file).unwrap(), 4000 - 6);
    }

    #[test]
    fn rows_that_have_all_cells_of_their_own_are_given_up() {
        let mut known_rows = KnownRows::default();
        let charge = |row: usize| Charge { key_cells: row.to_le_bytes().to_vec(), ..Charge::default() };
        let destination = Destination {
            charge_key_id: Uuid::nil(),
            plain_key_id: Uuid::nil(),
            tag_set_id: None,
            bears_accelerators: false,
            scope_id: 1,
            total: 0,
        };
        for row in 0..=MOST {
            assert_eq!(known_rows.find(&charge(row)), None);
            known_rows.keep(&charge(row), destination);
        }
        known_rows.keep(&charge(0), destination);
        assert!(known_rows.is_given_up);
        assert_eq!(known_rows.places.capacity(), 0);
        known_rows.begin_file();
        known_rows.keep(&charge(0), destination);
        assert_eq!(known_rows.find(&charge(0)), Some(destination));
    }
}
