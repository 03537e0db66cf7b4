//! Split cost allocation: rows of pods and tasks (EKS, ECS) that say whose an EC2 machine was, beside the machine's own row.
//!
//! A pod's rows state no billed cost of their own but `SplitLineItem/SplitCost` + `UnusedCost`, which are parts of the
//! amortized cost of the machine that `ParentResourceId` names, in the same hour; the machine's own row remains. Both
//! would count it twice. So the parts take the place of as much of the machine's effective cost: each becomes a charge like
//! the machine's, with the pod's tags, and the machine keeps what no part took. Effective cost is moved, never made: what the
//! rows of an hour have together is what the machine had. Billed cost stays where it is billed. List and contracted cost are
//! divided as the effective cost is, to twelve places, and so is the machine's time: where an hour has rows of accelerators
//! among its parts by their cost (all of the time where the parts are nearly all of the cost), else by that of all. The last part takes what rounding leaves.
//!
//! A part is skipped, and its cost stays with the machine, where the import has no row of its machine for the hour, or several
//! (a savings plan that covers half of it), or where the parts are more than the machine cost. To know that, all files of the
//! import are looked through twice when the first of these rows is met: for parts, then for machines that have some. Nothing is
//! divided where rows stand twice in the files: of those only one counts.
//!
//! Source: AWS, *Understanding split cost allocation data* and the `SplitLineItem` columns of the data dictionary.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::billing::charge::{Charge, ChargeKey};
use crate::billing::header::Header;
use crate::billing::row::{Column, Problem, Row};
use crate::money::Decimal;

/// Hours of divided machines that are remembered, which takes 60 MB: a month of 150 machines. Parts of others stay with them.
const MOST_HOURS: usize = 110_000;
/// Keys that they have, and bytes of what one is made of: a file that has more is none of AWS's.
const MOST_KEYS: usize = 10_000;
const LONGEST_KEY: usize = 2000;
/// Bytes of a machine's id and of a time.
const LONGEST_PLACE: usize = 200;
/// Places of what is divided.
const PLACES: u8 = 12;
/// By how much parts may differ from their machine, of a hundred: AWS rounds each.
const TOLERANCE: i64 = 1;

pub(super) const ALONE: &str = "split cost allocation: the instance's own row carries the cost";
const MANY: &str = "split cost allocation: more than 110,000 hours of instances have parts, which is more than are divided; \
                    the instance's own row carries the cost";
const SEVERAL: &str = "split cost allocation: several rows of the instance carry the cost of the hour";
const TOO_MUCH: &str =
    "split cost allocation: the parts are more than the instance cost, whose own row carries it";

/// Where a row says whose part it is.
pub(super) struct SplitColumns {
    pub parent: Column,
    costs: [Column; 2],
}

impl SplitColumns {
    pub fn new(header: &Header) -> Self {
        Self {
            parent: header.find("splitlineitemparentresourceid"),
            costs: [header.find("splitlineitemsplitcost"), header.find("splitlineitemunusedcost")],
        }
    }

    /// Whether the file has parts that could take a machine's place.
    pub fn are_stated(&self) -> bool {
        self.parent.is_some() && self.costs[0].is_some()
    }

    /// The cost of a part; `None` where the row states none.
    pub fn cost(&self, row: &Row<'_>) -> Result<Option<Decimal>, Problem> {
        let [split, unused] = self.costs;
        let unused = row.amount(unused)?.unwrap_or_default();
        Ok(row.amount(split)?.map(|split| split + unused))
    }
}

/// What is divided of a machine's hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    pub effective: Decimal,
    pub list: Decimal,
    pub contracted: Decimal,
    pub quantity: Decimal,
    pub is_metered: bool,
}

impl Whole {
    pub fn of(charge: &Charge) -> Self {
        Self {
            effective: charge.effective_cost,
            list: charge.list_cost,
            contracted: charge.contracted_cost,
            quantity: charge.consumed_quantity.unwrap_or_default(),
            is_metered: charge.is_metered,
        }
    }

    fn give(&self, charge: &mut Charge) {
        charge.effective_cost = self.effective;
        charge.list_cost = self.list.normalize();
        charge.contracted_cost = self.contracted.normalize();
        charge.consumed_quantity = Some(self.quantity.normalize());
        charge.is_metered = self.is_metered && !self.quantity.is_zero();
    }

    fn less(mut self, part: &Self) -> Self {
        self.effective -= part.effective;
        self.list -= part.list;
        self.contracted -= part.contracted;
        self.quantity -= part.quantity;
        self
    }

    fn more(mut self, part: &Self) -> Self {
        self.effective += part.effective;
        self.list += part.list;
        self.contracted += part.contracted;
        self.quantity += part.quantity;
        self
    }
}

/// A machine's own row.
struct Own {
    whole: Whole,
    /// Which of the keys it has.
    key: u32,
    /// Which of the machines it is: parts may name it by its ARN.
    machine: u32,
}

/// A machine's hour and its parts.
#[derive(Default)]
struct Hour {
    own: Option<Own>,
    is_several: bool,
    parts: Parts,
    /// Of these, those of accelerators.
    accelerators: Parts,
    /// What parts that were read have taken, while there are others.
    given: Option<Box<Whole>>,
}

/// Parts that were not read yet, and the cost of all.
#[derive(Default)]
struct Parts {
    left: u32,
    cost: Decimal,
}

impl Parts {
    fn add(&mut self, cost: Decimal) {
        self.left += 1;
        self.cost += cost;
    }
}

/// A machine and the start of an hour, as the file writes them.
type Place = (Box<[u8]>, Box<[u8]>);

/// Ids of machines stand at the end of their ARNs.
fn place(machine: &[u8], start: &[u8]) -> Place {
    let id = machine.rsplit(|byte| *byte == b'/').next().unwrap_or(machine);
    (id.into(), start.into())
}

/// Machines that were divided, by hour.
#[derive(Default)]
pub(super) struct SplitCosts {
    hours: FxHashMap<Place, Hour>,
    /// There are more hours than are remembered.
    is_full: bool,
    /// Those of machines, which a number stands for.
    keys: IndexSet<ChargeKey>,
    /// Machines as their own rows name them.
    machines: IndexSet<Box<str>>,
    /// Of the row that was read last, if it is a part.
    current: Option<u32>,
}

/// What becomes of a part.
pub(super) enum Part {
    /// It was filled in.
    Taken,
    Skipped(&'static str),
}

impl SplitCosts {
    /// Learns that a row is a part, before any row is read.
    pub fn learn_part(&mut self, machine: &[u8], start: &[u8], is_accelerator: bool, cost: Decimal) {
        let place = place(machine, start);
        let has_room = self.hours.len() < MOST_HOURS && machine.len() + start.len() <= LONGEST_PLACE;
        if !has_room && !self.hours.contains_key(&place) {
            self.is_full = true;
            return;
        }
        let hour = self.hours.entry(place).or_default();
        hour.parts.add(cost);
        if is_accelerator {
            hour.accelerators.add(cost);
        }
    }

    /// Learns that a row is a machine's own, once all parts are known.
    pub fn learn_own(&mut self, machine: &[u8], start: &[u8], charge: &Charge) {
        let Some(hour) = self.hours.get_mut(&place(machine, start)) else { return };
        let number = match self.keys.get_index_of(&charge.key) {
            Some(known) => known,
            None if self.keys.len() < MOST_KEYS && bytes(&charge.key) <= LONGEST_KEY => {
                self.keys.insert_full(charge.key.clone()).0
            }
            None => {
                self.is_full = true;
                return;
            }
        };
        hour.is_several |= hour.own.is_some();
        let machine = match self.machines.get_index_of(charge.resource_id.as_str()) {
            Some(known) => known,
            None => self.machines.insert_full(charge.resource_id.as_str().into()).0,
        };
        hour.own = Some(Own { whole: Whole::of(charge), key: number as u32, machine: machine as u32 });
    }

    /// Whether there are parts.
    pub fn has_any(&self) -> bool {
        !self.hours.is_empty()
    }

    /// Whether something is a part of a machine in an hour.
    pub fn has_parts(&self, machine: &[u8], start: &[u8]) -> bool {
        self.hours.contains_key(&place(machine, start))
    }

    /// Begins a row: it is no part yet.
    pub fn begin(&mut self) {
        self.current = None;
    }

    /// Takes from a machine's own row what its parts have.
    pub fn own(&self, machine: &[u8], start: &[u8], charge: &mut Charge) -> bool {
        if self.hours.is_empty() {
            return false;
        }
        let Some(hour) = self.hours.get(&place(machine, start)) else { return false };
        let Some(whole) = hour.divided() else { return false };
        whole.less(&hour.all_parts(&whole)).give(charge);
        true
    }

    /// Fills in a part.
    pub fn part(
        &mut self,
        machine: &[u8],
        start: &[u8],
        (is_accelerator, cost): (bool, Decimal),
        charge: &mut Charge,
    ) -> Part {
        let alone = if self.is_full { MANY } else { ALONE };
        let Some(hour) = self.hours.get_mut(&place(machine, start)) else {
            return Part::Skipped(alone);
        };
        let Some(whole) = hour.divided() else {
            return Part::Skipped(match (hour.is_several, hour.own.is_some()) {
                (true, _) => SEVERAL,
                (false, true) => TOO_MUCH,
                (false, false) => alone,
            });
        };
        let part = hour.take(&whole, is_accelerator, cost);
        part.give(charge);
        self.current = hour.own.as_ref().map(|own| own.key);
        if let Some(own) = &hour.own {
            // What its key follows from, beside the cells of its own.
            charge.key_cells.extend_from_slice(&own.key.to_be_bytes());
            if let Some(machine) = self.machines.get_index(own.machine as usize) {
                charge.resource_id.clear();
                charge.resource_id.push_str(machine);
            }
        }
        Part::Taken
    }

    /// The key of the machine that the row that was read last is a part of.
    pub fn key(&self) -> Option<&ChargeKey> {
        self.keys.get_index(self.current? as usize)
    }
}

impl Hour {
    /// The machine's own row, if its parts take its place.
    fn divided(&self) -> Option<Whole> {
        let Own { whole, .. } = self.own.as_ref().filter(|_| !self.is_several)?;
        let is_positive = |cost: &Decimal| !cost.is_negative() && !cost.is_zero();
        let most = whole.effective.times(100 + TOLERANCE);
        let fits = is_positive(&whole.effective)
            && is_positive(&self.parts.cost)
            && self.parts.cost.times(100) <= most;
        fits.then_some(*whole)
    }

    /// Whether time is divided among the rows of accelerators, which hold all of the machine's.
    fn is_by_accelerator(&self) -> bool {
        !self.accelerators.cost.is_negative() && !self.accelerators.cost.is_zero()
    }

    /// What all parts have together.
    fn all_parts(&self, whole: &Whole) -> Whole {
        let Whole { effective, list, contracted, quantity, is_metered } = *whole;
        let cost = self.parts.cost;
        // Where a part of the cost is missing, so are rows of accelerators: in another file of the report.
        let is_whole = cost.times(100) >= effective.times(100 - TOLERANCE);
        let time =
            if self.is_by_accelerator() && is_whole { quantity } else { share(quantity, cost, effective) };
        Whole {
            effective: cost,
            list: share(list, cost, effective),
            contracted: share(contracted, cost, effective),
            quantity: time,
            is_metered,
        }
    }

    /// What a part of this cost has; the last one takes what is left of all parts.
    fn take(&mut self, whole: &Whole, is_accelerator: bool, cost: Decimal) -> Whole {
        let all = self.all_parts(whole);
        let by_accelerator = self.is_by_accelerator();
        let has_time = is_accelerator || !by_accelerator;
        let of_time = if by_accelerator { self.accelerators.cost } else { self.parts.cost };
        self.parts.left = self.parts.left.saturating_sub(1);
        if is_accelerator {
            self.accelerators.left = self.accelerators.left.saturating_sub(1);
        }
        let given = self.given.take().map_or_else(Whole::default, |given| *given);
        let rest = all.less(&given);
        let is_last = self.parts.left == 0;
        let is_last_of_time = if by_accelerator { self.accelerators.left == 0 } else { is_last };
        let of_all = |amount: Decimal| share(amount, cost, all.effective);
        let part = Whole {
            effective: cost,
            list: if is_last { rest.list } else { of_all(all.list) },
            contracted: if is_last { rest.contracted } else { of_all(all.contracted) },
            quantity: match (has_time, is_last_of_time) {
                (false, _) => Decimal::ZERO,
                (true, true) => rest.quantity,
                (true, false) => share(all.quantity, cost, of_time),
            },
            is_metered: whole.is_metered,
        };
        self.given = (!is_last).then(|| Box::new(given.more(&part)));
        part
    }
}

/// Of the texts of a key.
fn bytes(key: &ChargeKey) -> usize {
    [
        &key.provider,
        &key.billing_account,
        &key.sub_account,
        &key.service,
        &key.service_category,
        &key.sku,
        &key.region,
        &key.instance_type,
        &key.meter,
        &key.stated_accelerators,
        &key.commitment_discount_id,
        &key.unit,
        &key.currency,
    ]
    .iter()
    .map(|text| text.len())
    .sum()
}

/// `amount` × `part` / `of`, of 30 significant digits each, whose product has room.
fn share(amount: Decimal, part: Decimal, of: Decimal) -> Decimal {
    let product = amount.significant(30).multiply(part.significant(30));
    product.divide(of, PLACES).unwrap_or(Decimal::ZERO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn machine(effective: Decimal, quantity: i64) -> Charge {
        Charge {
            resource_id: "i-1".to_owned(),
            effective_cost: effective,
            list_cost: effective.times(3),
            contracted_cost: effective.times(2),
            consumed_quantity: Some(quantity.into()),
            is_metered: true,
            ..Charge::default()
        }
    }

    fn sums(charges: &[Charge]) -> [Decimal; 4] {
        let sum = |of: fn(&Charge) -> Decimal| charges.iter().map(of).sum();
        [
            sum(|charge| charge.effective_cost),
            sum(|charge| charge.list_cost),
            sum(|charge| charge.contracted_cost),
            sum(|charge| charge.consumed_quantity.unwrap_or_default()),
        ]
    }

    #[test]
    fn parts_of_a_machine_that_cost_more_than_it_stay_with_it() {
        for (part, taken) in [("10", true), ("10.1", true), ("10.2", false), ("0", false)] {
            let mut split = SplitCosts::default();
            let cost: Decimal = part.parse().unwrap();
            split.learn_part(b"i-1", b"04:00", false, cost);
            split.learn_own(b"i-1", b"04:00", &machine(10.into(), 1));
            let mut own = machine(10.into(), 1);
            assert_eq!(split.own(b"i-1", b"04:00", &mut own), taken, "{part}");
            let is_taken =
                matches!(split.part(b"i-1", b"04:00", (false, cost), &mut Charge::default()), Part::Taken);
            assert_eq!(is_taken, taken, "{part}");
        }
    }

    proptest! {
        #[test]
        fn a_machine_and_its_parts_have_together_what_the_machine_had(
            parts in prop::collection::vec((any::<bool>(), 0..1_000_000_007i64), 1..12),
            quantity in 1..5i64,
            unused in 0..1_000_000i64,
        ) {
            let cost = |amount: i64| Decimal::new(amount.into(), 11);
            let whole: i64 = parts.iter().map(|(_, amount)| amount).sum::<i64>() + unused + 1;
            let before = machine(cost(whole), quantity);
            let mut split = SplitCosts::default();
            for (is_accelerator, amount) in &parts {
                split.learn_part(b"i-1", b"04:00", *is_accelerator, cost(*amount));
            }
            split.learn_own(b"arn:aws:ec2:us-west-2:1:instance/i-1", b"04:00", &before);
            let mut own = before.clone();
            let is_divided = split.own(b"i-1", b"04:00", &mut own);
            let mut charges = vec![own];
            for (is_accelerator, amount) in &parts {
                let mut charge = Charge::default();
                match split.part(b"i-1", b"04:00", (*is_accelerator, cost(*amount)), &mut charge) {
                    Part::Taken => {
                        prop_assert_eq!(&charge.resource_id, "i-1", "one machine, however its parts name it");
                        charges.push(charge);
                    }
                    Part::Skipped(_) => prop_assert!(!is_divided),
                }
            }
            prop_assert_eq!(sums(&charges), sums(&[before]));
            prop_assert!(charges.iter().all(|charge| !charge.effective_cost.is_negative()));
        }
    }
}
