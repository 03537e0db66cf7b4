//! Rollups: what pages read, summed while the file is read.
//!
//! Sums are kept per key and day until they fill [`LIMIT`], then written as one *part*; readers add the
//! parts up, so memory stays bounded whatever the file's size and number of keys.

use chrono::NaiveDate;
use rustc_hash::FxHashMap;
use uuid::Uuid;

use crate::billing::Charge;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::store::CopyRows;

use super::key::Keyed;

/// Bytes of sums held before a part is written.
const LIMIT: usize = 48 << 20;
const HOURS: usize = 24;

/// The four costs of FOCUS, summed, and what was metered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub charges: i64,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub list_cost: Decimal,
    pub contracted_cost: Decimal,
    pub metered_quantity: Decimal,
}

impl Sums {
    pub fn add(&mut self, charge: &Charge) {
        self.charges += 1;
        self.billed_cost += charge.billed_cost;
        self.effective_cost += charge.effective_cost;
        self.list_cost += charge.list_cost;
        self.contracted_cost += charge.contracted_cost;
        self.metered_quantity += metered(charge);
    }

    fn merge(&mut self, other: &Self) {
        self.charges += other.charges;
        self.billed_cost += other.billed_cost;
        self.effective_cost += other.effective_cost;
        self.list_cost += other.list_cost;
        self.contracted_cost += other.contracted_cost;
        self.metered_quantity += other.metered_quantity;
    }

    fn write(&self, rows: &mut CopyRows) {
        rows.bigint(self.charges)
            .numeric(&self.billed_cost)
            .numeric(&self.effective_cost)
            .numeric(&self.list_cost)
            .numeric(&self.contracted_cost)
            .numeric(&self.metered_quantity);
    }
}

/// The quantity that counts as usage paid for; zero where the charge is none.
fn metered(charge: &Charge) -> Decimal {
    charge.consumed_quantity.filter(|_| charge.is_metered).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Cell {
    charge_key_id: u128,
    scope_id: i64,
    day: NaiveDate,
    month: BillingMonth,
    is_whole_period: bool,
}

#[derive(Default)]
struct Day {
    sums: Sums,
    hours: Option<Box<[Decimal; HOURS]>>,
}

/// Sums of one delivery, growing.
pub struct Rollup {
    delivery_id: i64,
    part: i32,
    cells: FxHashMap<Cell, Day>,
    bytes: usize,
}

/// The rows of one part for one month.
pub struct Part {
    pub month: BillingMonth,
    pub daily: CopyRows,
    pub monthly: CopyRows,
}

pub const DAILY_COLUMNS: &str = "billing_month, charge_key_id, delivery_id, scope_id, day, part, is_whole_period, \
     charges, billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity, hourly_quantity";
pub const MONTHLY_COLUMNS: &str = "billing_month, charge_key_id, delivery_id, scope_id, part, \
     charges, billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity";

impl Rollup {
    pub fn new(delivery_id: i64) -> Self {
        Self { delivery_id, part: 0, cells: FxHashMap::default(), bytes: 0 }
    }

    /// Adds a charge. True when its key and day are new to this part: the moment to note what the
    /// delivery covers, without doing so for every row.
    pub fn add(&mut self, charge: &Charge, keyed: &Keyed, scope_id: i64, month: BillingMonth) -> bool {
        let cell = Cell {
            charge_key_id: keyed.charge_key_id.as_u128(),
            scope_id,
            day: charge.period.day(),
            month,
            is_whole_period: charge.period.is_longer_than_a_day(),
        };
        let mut is_new = false;
        let day = self.cells.entry(cell).or_insert_with(|| {
            is_new = true;
            Day { sums: Sums::default(), hours: keyed.accelerator.map(|_| Box::default()) }
        });
        day.sums.add(charge);
        if let Some(hours) = &mut day.hours {
            add_hours(hours, charge);
        }
        if is_new {
            self.bytes += size_of::<(Cell, Day)>() * 8 / 7
                + day.hours.as_ref().map_or(0, |_| size_of::<[Decimal; HOURS]>() + 16);
        }
        is_new
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= LIMIT
    }

    /// Takes what was summed so far, as the rows of a part. Keys in id order, so that they load fast.
    pub fn take_part(&mut self) -> Vec<Part> {
        let mut cells: Vec<(Cell, Day)> = self.cells.drain().collect();
        self.bytes = 0;
        cells.sort_unstable_by_key(|(cell, _)| {
            (cell.month, cell.charge_key_id, cell.day, cell.is_whole_period)
        });
        let mut parts: Vec<Part> = Vec::new();
        for chunk in cells.chunk_by(|(a, _), (b, _)| a.month == b.month) {
            let month = chunk[0].0.month;
            let mut daily = CopyRows::with_capacity(chunk.len() * 160);
            let mut monthly = CopyRows::with_capacity(chunk.len() * 16);
            for days in chunk.chunk_by(|(a, _), (b, _)| a.charge_key_id == b.charge_key_id) {
                let mut total = Sums::default();
                for (cell, day) in days {
                    total.merge(&day.sums);
                    self.write_day(cell, day, &mut daily);
                }
                self.write_month(&days[0].0, &total, &mut monthly);
            }
            parts.push(Part { month, daily, monthly });
        }
        self.part += 1;
        parts
    }

    fn write_day(&self, cell: &Cell, day: &Day, rows: &mut CopyRows) {
        rows.row(14)
            .date(cell.month.first_day())
            .uuid(Uuid::from_u128(cell.charge_key_id))
            .bigint(self.delivery_id)
            .bigint(cell.scope_id)
            .date(cell.day)
            .integer(self.part)
            .bool(cell.is_whole_period);
        day.sums.write(rows);
        match &day.hours {
            Some(hours) => rows.numerics(hours.as_slice()),
            None => rows.null(),
        };
    }

    fn write_month(&self, cell: &Cell, total: &Sums, rows: &mut CopyRows) {
        rows.row(11)
            .date(cell.month.first_day())
            .uuid(Uuid::from_u128(cell.charge_key_id))
            .bigint(self.delivery_id)
            .bigint(cell.scope_id)
            .integer(self.part);
        total.write(rows);
    }
}

/// Spreads a metered quantity over the hours it covers, in parts that sum to it exactly.
fn add_hours(hours: &mut [Decimal; HOURS], charge: &Charge) {
    let quantity = metered(charge);
    if quantity.is_zero() {
        return;
    }
    let Some(covered) = charge.period.hours_of_day() else {
        return;
    };
    if covered.len() == 1 {
        hours[covered.start as usize] += quantity;
        return;
    }
    for (hour, share) in covered.clone().zip(quantity.split(covered.len() as u32, 6)) {
        hours[hour as usize] += share;
    }
}
