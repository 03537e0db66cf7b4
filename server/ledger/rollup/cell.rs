//! What a rollup sums by and what it sums, in memory and on the disk.

use std::hash::Hash;
use std::io::{self, Read, Write};

use chrono::NaiveDate;
use ethnum::I256;

use super::amount::{Amount, Amounts};
use super::entry::Entry;
use crate::ledger::runs::Record;
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// By month, key and day, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub month: BillingMonth,
    pub charge_key_id: u128,
    pub day: NaiveDate,
    pub is_whole_period: bool,
    /// Follows from the key and the month.
    pub scope_id: i64,
}

/// What charges are summed by.
pub trait Place: Clone + Ord + Hash {
    fn cell(&self) -> &Cell;

    /// The resource that its charges name, where they are distinguished by it.
    fn resource(&self) -> Option<&str> {
        None
    }

    /// Writes what it has beyond its cell.
    fn write_rest(&self, out: &mut impl Write) -> io::Result<()>;
    /// Of a cell, and what [`Self::write_rest`] wrote.
    fn read_rest(cell: Cell, from: &mut impl Read) -> io::Result<Self>;
}

impl Place for Cell {
    fn cell(&self) -> &Cell {
        self
    }

    fn write_rest(&self, _: &mut impl Write) -> io::Result<()> {
        Ok(())
    }

    fn read_rest(cell: Cell, _: &mut impl Read) -> io::Result<Self> {
        Ok(cell)
    }
}

/// A part of a cell: its charges that name a resource, or none where that is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfResource {
    pub cell: Cell,
    pub resource: Box<str>,
}

impl Place for OfResource {
    fn cell(&self) -> &Cell {
        &self.cell
    }

    fn resource(&self) -> Option<&str> {
        Some(&self.resource)
    }

    fn write_rest(&self, out: &mut impl Write) -> io::Result<()> {
        // No text of a row is longer: a row is not.
        out.write_all(&(self.resource.len() as u32).to_le_bytes())?;
        out.write_all(self.resource.as_bytes())
    }

    fn read_rest(cell: Cell, from: &mut impl Read) -> io::Result<Self> {
        let mut text = vec![0; u32::from_le_bytes(read(from)?) as usize];
        from.read_exact(&mut text)?;
        let resource = String::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Self { cell, resource: resource.into() })
    }
}

/// What the charges of a cell sum to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Day {
    pub sums: Amounts,
    /// The key without its machine and tags, which follows from the key.
    pub plain_key_id: u128,
    /// What was metered in each hour of the day that has something, in their order; `None` where the key bears no
    /// accelerators.
    pub hours: Option<Vec<(u8, Amount)>>,
}

impl Day {
    /// Adds what a charge for a period sums to.
    pub fn add(&mut self, charge: &Entry) {
        self.sums.merge(&charge.sums);
        let Some(hours) = &mut self.hours else { return };
        if charge.hours.is_empty() {
            return add_hours(hours, &charge.period, charge.sums.metered_quantity());
        }
        for (hour, quantity) in &charge.hours {
            add_hour(hours, *hour, quantity);
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.sums.merge(&other.sums);
        if let (Some(hours), Some(others)) = (&mut self.hours, other.hours) {
            for (hour, quantity) in others {
                add_hour(hours, hour, &quantity);
            }
        }
    }

    /// Bytes that it takes in memory beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        // Hours of a wide quantity may be as wide.
        let hour = size_of::<(u8, Amount)>() + self.sums.metered_quantity().heap_bytes();
        let hours = self.hours.as_ref().map_or(0, |hours| hours.capacity() * hour);
        self.sums.heap_bytes() + hours
    }
}

/// Spreads a metered quantity over the hours it covers, in parts that sum to it exactly.
fn add_hours(hours: &mut Vec<(u8, Amount)>, period: &ChargePeriod, quantity: &Amount) {
    if quantity.is_zero() {
        return;
    }
    let Some(covered) = period.hours_of_day() else {
        return;
    };
    if covered.len() == 1 {
        return add_hour(hours, covered.start as u8, quantity);
    }
    for (hour, share) in covered.clone().zip(quantity.decimal().split(covered.len() as u32, 6)) {
        add_hour(hours, hour as u8, &Amount::of(&share));
    }
}

fn add_hour(hours: &mut Vec<(u8, Amount)>, hour: u8, quantity: &Amount) {
    // Files mostly go from hour to hour.
    let at = hours.iter().rposition(|(other, _)| *other <= hour);
    match at {
        Some(at) if hours[at].0 == hour => hours[at].1.add(quantity),
        Some(at) => hours.insert(at + 1, (hour, quantity.clone())),
        None => hours.insert(0, (hour, quantity.clone())),
    }
}

impl<P: Place> Record for (P, Day) {
    type Key = P;

    fn key(&self) -> P {
        self.0.clone()
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (place, Day { sums, plain_key_id, hours }) = self;
        let cell = place.cell();
        out.write_all(&cell.month.first_day().to_epoch_days().to_le_bytes())?;
        out.write_all(&cell.charge_key_id.to_le_bytes())?;
        out.write_all(&cell.day.to_epoch_days().to_le_bytes())?;
        out.write_all(&[u8::from(cell.is_whole_period)])?;
        out.write_all(&cell.scope_id.to_le_bytes())?;
        place.write_rest(out)?;
        out.write_all(&plain_key_id.to_le_bytes())?;
        out.write_all(&sums.charges.to_le_bytes())?;
        sums.amounts.iter().try_for_each(|amount| write_amount(out, amount))?;
        let Some(hours) = hours else { return out.write_all(&[NO_HOURS]) };
        out.write_all(&[hours.len() as u8])?;
        hours.iter().try_for_each(|(hour, quantity)| {
            out.write_all(&[*hour])?;
            write_amount(out, quantity)
        })
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let month = BillingMonth::of(read_day(from)?);
        let charge_key_id = u128::from_le_bytes(read(from)?);
        let day = read_day(from)?;
        let [is_whole_period] = read(from)?;
        let scope_id = i64::from_le_bytes(read(from)?);
        let cell = Cell { month, charge_key_id, day, is_whole_period: is_whole_period == 1, scope_id };
        let place = P::read_rest(cell, from)?;
        let plain_key_id = u128::from_le_bytes(read(from)?);
        let charges = i64::from_le_bytes(read(from)?);
        let mut amounts: [Amount; 5] = Default::default();
        for amount in &mut amounts {
            *amount = read_amount(from)?;
        }
        let [count] = read(from)?;
        if count == NO_HOURS {
            return Ok((place, Day { sums: Amounts { charges, amounts }, plain_key_id, hours: None }));
        }
        let mut hours = Vec::with_capacity(count.into());
        for _ in 0..count {
            let [hour] = read(from)?;
            hours.push((hour, read_amount(from)?));
        }
        Ok((place, Day { sums: Amounts { charges, amounts }, plain_key_id, hours: Some(hours) }))
    }
}

/// Instead of a number of hours.
const NO_HOURS: u8 = u8::MAX;

fn read<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_day(from: &mut impl Read) -> io::Result<NaiveDate> {
    NaiveDate::from_epoch_days(i32::from_le_bytes(read(from)?))
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Its scale, and as many bytes of the mantissa as are not its sign's.
fn write_amount(out: &mut impl Write, amount: &Amount) -> io::Result<()> {
    let value = amount.decimal();
    let bytes = value.mantissa().to_le_bytes();
    let sign = if value.is_negative() { u8::MAX } else { 0 };
    let mut length = bytes.iter().rposition(|byte| *byte != sign).map_or(0, |at| at + 1);
    // The highest bit that is written is the sign's.
    if length > 0 && bytes[length - 1] >> 7 != sign >> 7 {
        length += 1;
    }
    if length == 0 && sign != 0 {
        length = 1;
    }
    out.write_all(&[value.scale(), length as u8])?;
    out.write_all(&bytes[..length])
}

fn read_amount(from: &mut impl Read) -> io::Result<Amount> {
    let [scale, length] = read(from)?;
    let length = usize::from(length);
    let mut bytes = [0; 32];
    from.read_exact(bytes.get_mut(..length).ok_or(io::ErrorKind::InvalidData)?)?;
    if length > 0 && bytes[length - 1] >> 7 == 1 {
        bytes[length..].fill(u8::MAX);
    }
    Ok(Amount::of(&Decimal::from_parts(I256::from_le_bytes(bytes), scale)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal() -> impl Strategy<Value = Decimal> {
        let mantissa = prop_oneof![
            (any::<i128>(), 0u32..128).prop_map(|(number, shift)| I256::new(number >> shift)),
            (any::<i128>(), any::<i128>(), 0u32..100)
                .prop_map(|(high, low, shift)| I256::from_words(high, low) >> shift),
        ];
        (mantissa, 0u8..=76).prop_map(|(mantissa, scale)| Decimal::from_parts(mantissa, scale))
    }

    /// What is read of what a record writes.
    fn again<R: Record>(record: &R) -> R {
        let mut bytes = Vec::new();
        record.write(&mut bytes).unwrap();
        let mut rest = &*bytes;
        let read = R::read(&mut rest).unwrap();
        assert!(rest.is_empty());
        read
    }

    prop_compose! {
        fn day()(
            charges in any::<i64>(),
            plain_key_id in any::<u128>(),
            amounts in prop::array::uniform5(decimal()),
            hours in prop::option::of(prop::collection::btree_map(0u8..24, decimal(), 0..24)),
        ) -> Day {
            let of = |(hour, quantity)| (hour, Amount::of(&quantity));
            let hours = hours.map(|hours| hours.into_iter().map(of).collect());
            let amounts = amounts.each_ref().map(Amount::of);
            Day { sums: Amounts { charges, amounts }, plain_key_id, hours }
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(
            charge_key_id in any::<u128>(),
            days in (0i32..40_000, 0i32..40_000),
            is_whole_period in any::<bool>(),
            scope_id in any::<i64>(),
            resource in ".*",
            day in day(),
        ) {
            let date = |days| NaiveDate::from_epoch_days(days).unwrap();
            let month = BillingMonth::of(date(days.0));
            let cell = Cell { month, charge_key_id, day: date(days.1), is_whole_period, scope_id };
            let of_resource = OfResource { cell, resource: resource.into() };
            let record = (of_resource, day);
            let read = again(&record);
            prop_assert_eq!(&read, &record);
            // Equal amounts may be written with other scales.
            let scale = |amount: &Amount| (amount.decimal().mantissa(), amount.decimal().scale());
            let scales = |day: &Day| day.sums.amounts.each_ref().map(scale);
            prop_assert_eq!(scales(&read.1), scales(&record.1));
            let record = (cell, record.1);
            prop_assert_eq!(again(&record), record);
        }
    }

    #[test]
    fn hours_stand_in_their_order_whatever_the_order_of_the_file() {
        let mut hours = Vec::new();
        for (hour, quantity) in [(5, 1), (7, 2), (6, 3), (0, 4), (7, 5), (23, 6)] {
            add_hour(&mut hours, hour, &Amount::of(&Decimal::from(quantity)));
        }
        let expected = [(0, 4), (5, 1), (6, 3), (7, 7), (23, 6)];
        assert_eq!(hours, expected.map(|(hour, quantity)| (hour, Amount::of(&Decimal::from(quantity)))));
    }
}
