//! The rows of a file against what the ledger holds of them: three walks in step.

use std::io::{self, Read, Seek};

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use super::costs::{CostColumns, Costs};
use crate::billing::{self, Charge, Export, Learned, Statement, Step};
use crate::ledger::key::Keyer;
use crate::ledger::usage_without_cost::Pricer;
use crate::money::Decimal;

/// Differences that are named; the others are counted.
const NAMED: usize = 20;

/// What is compared of each row: what it costs, and all that its charge says.
pub(super) const COST: &str = "cost of a row = cost of its charge";
pub(super) const CHARGE: &str = "a row read again = its charge";

/// What the ledger holds of a row.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Stored {
    row_no: i64,
    /// A row without one was rejected.
    charge_key_id: Option<Uuid>,
    tag_set_id: Option<Uuid>,
    billing_month: Option<NaiveDate>,
    charge_period_start: Option<DateTime<Utc>>,
    charge_period_end: Option<DateTime<Utc>>,
    is_metered: Option<bool>,
    billed_cost: Option<Decimal>,
    effective_cost: Option<Decimal>,
    list_cost: Option<Decimal>,
    contracted_cost: Option<Decimal>,
    consumed_quantity: Option<Decimal>,
}

/// What differs, and both sides of it.
type Difference = (String, Decimal, Decimal);

/// Something that differs, with both sides.
pub(super) struct Found {
    pub name: &'static str,
    pub what: String,
    pub left: Decimal,
    pub right: Decimal,
}

/// What came of a file.
#[derive(Default)]
pub(super) struct Compared {
    pub rows: i64,
    /// What was billed, or of a file that was read for it what is effective. Without rejected rows.
    pub cost_in_file: Decimal,
    pub cost_in_ledger: Decimal,
    /// Rows whose cost is another in the file.
    pub cost_differs: i64,
    /// Rows of which anything is another, read by the reader of imports.
    pub charge_differs: i64,
    pub found: Vec<Found>,
}

/// A file, read again as an import reads it.
pub(super) struct Again {
    export: Export,
    keyer: Keyer,
    /// Whether machines were recognized by the catalog of this version when it was loaded. Under another one a key may
    /// have its machine where it would have none today, and the other way round; all else of it is the same.
    has_this_catalog: bool,
    /// Which of its costs were taken.
    half: Statement,
    charge: Charge,
    /// The rates by which it was loaded, and how much of its months they have priced so far.
    pub pricer: Pricer,
}

impl Again {
    pub fn new(
        export: Export,
        half: Statement,
        (keyer, pricer): (Keyer, Pricer),
        has_this_catalog: bool,
    ) -> Self {
        Self { export, keyer, has_this_catalog, half, charge: Charge::default(), pricer }
    }

    /// What was learned of all files of its delivery, for the next one.
    pub fn learned(&mut self) -> Option<Learned> {
        self.export.learned()
    }

    pub fn cost_columns(&self) -> CostColumns {
        CostColumns::of(&self.export)
    }

    /// Reads the next row; `None` behind the last.
    fn next(&mut self) -> io::Result<Option<Step>> {
        self.export.next(&mut self.charge).map_err(|refusal| io::Error::other(refusal.message()))
    }

    /// What the file states of the row that was read, with the sign that its reader gave it.
    fn signed(&self, in_file: Decimal, is_charge: bool) -> Decimal {
        if is_charge && self.export.is_unsigned_credit() { -in_file } else { in_file }
    }

    /// What rates make of the charge that was read, where it lacks its cost. Of rows that were imported alone, since tiers count them.
    fn price(&mut self) -> Decimal {
        if !self.charge.lacks_cost {
            return Decimal::ZERO;
        }
        self.pricer.price(&mut self.charge);
        self.charge.billed_cost
    }

    /// Reads the next charge of the row; false where it has no more.
    fn further(&mut self) -> io::Result<bool> {
        let read = self.export.further(&mut self.charge, |_| false);
        read.map_err(|refusal| io::Error::other(refusal.message()))
    }

    /// What rates make of the charges of the row, the first of which was read, and the first thing that differs between them and those
    /// that are stored. A stored one is compared with the charge that differs least.
    fn differences(&mut self, mut stored: Vec<Stored>) -> io::Result<(Decimal, Option<Difference>)> {
        let mut priced = self.price();
        let mut found = None;
        loop {
            let differences: Vec<_> = stored.iter().map(|stored| self.difference(stored)).collect();
            if let Some(same) = differences.iter().position(Option::is_none) {
                stored.swap_remove(same);
            } else {
                let first = differences.into_iter().flatten().next();
                let missing =
                    || ("of which a charge is not in the ledger".to_owned(), 1.into(), Decimal::ZERO);
                found = found.or(first).or_else(|| Some(missing()));
            }
            if !self.further()? {
                break;
            }
            priced = sum([priced, self.price()].into_iter())?;
        }
        let too_many = || ("of which the ledger has a charge too many".to_owned(), Decimal::ZERO, 1.into());
        Ok((priced, found.or_else(|| (!stored.is_empty()).then(too_many))))
    }

    fn stated_cost(&self) -> &'static str {
        if self.half == Statement::Effective { "effective cost" } else { "billed cost" }
    }

    /// The first thing that the ledger holds otherwise of this row; `None` where it holds the same.
    fn difference(&mut self, stored: &Stored) -> Option<Difference> {
        let keyed = self.keyer.key(&self.charge);
        let charge = &self.charge;
        let costs = [
            ("billed cost", charge.billed_cost, stored.billed_cost),
            ("effective cost", charge.effective_cost, stored.effective_cost),
            ("list cost", charge.list_cost, stored.list_cost),
            ("contracted cost", charge.contracted_cost, stored.contracted_cost),
            (
                "quantity",
                charge.consumed_quantity.unwrap_or_default(),
                Some(stored.consumed_quantity.unwrap_or_default()),
            ),
        ];
        for (what, left, right) in costs {
            if Some(left) != right {
                return Some((what.to_owned(), left, right.unwrap_or_default()));
            }
        }
        let key = stored.charge_key_id.unwrap_or_default();
        let is_same_key = keyed.charge_key_id == key
            || (!self.has_this_catalog && self.keyer.other_id(charge, &keyed) == key);
        let others = [
            (!is_same_key, format!("its key is {} and not {key}", keyed.charge_key_id)),
            (keyed.tag_set_id != stored.tag_set_id, "its noisy tags are others".to_owned()),
            (
                Some(charge.billing_month().first_day()) != stored.billing_month,
                "its month is another".to_owned(),
            ),
            (
                // The database holds millionths of a second.
                [Some(charge.period.start), Some(charge.period.end)].map(micros)
                    != [stored.charge_period_start, stored.charge_period_end].map(micros),
                "its time is another".to_owned(),
            ),
            (Some(charge.is_metered) != stored.is_metered, "whether it is metered differs".to_owned()),
        ];
        let found = others.into_iter().find_map(|(differs, what)| differs.then_some(what))?;
        Some((found, 1.into(), Decimal::ZERO))
    }
}

fn sum(mut amounts: impl Iterator<Item = Decimal>) -> io::Result<Decimal> {
    amounts.try_fold(Decimal::ZERO, Decimal::checked_add).map_err(io::Error::other)
}

/// The cost that the file's cost column became.
fn stated(half: Statement, stored: &Stored) -> Decimal {
    let cost = if half == Statement::Effective { stored.effective_cost } else { stored.billed_cost };
    cost.unwrap_or_default()
}

fn micros(time: Option<DateTime<Utc>>) -> Option<i64> {
    time.map(|time| time.timestamp_micros())
}

/// Walks over the costs of a file, the file as an import reads it, and what is stored, row by row.
pub(super) fn compare(
    mut costs: Costs<impl Read + Seek + Send + 'static>,
    again: &mut Again,
    stored: impl Iterator<Item = Stored>,
) -> io::Result<Compared> {
    let mut stored = stored.peekable();
    let mut compared = Compared::default();
    while let Some(cost) = costs.next()? {
        compared.rows += 1;
        let row = compared.rows;
        let step = again.next()?.ok_or_else(|| {
            io::Error::other(format!("the reader of imports ends before row {row}, and another one does not"))
        })?;
        let is_charge = step == Step::Charge;
        let mut of_row = Vec::new();
        while let Some(next) = stored.next_if(|next| next.row_no <= row) {
            if next.row_no < row {
                compared.surplus(&next, again.half)?;
            } else {
                of_row.push(next);
            }
        }
        match of_row.first() {
            // A rejected row is none of the charges; what it would have cost is missing and said to be.
            Some(Stored { charge_key_id: None, .. }) => {}
            Some(_) => {
                let in_ledger = sum(of_row.iter().map(|charge| self::stated(again.half, charge)))?;
                let stated = again.signed(cost.amount()?, is_charge);
                let (priced, found) = if is_charge {
                    again.differences(of_row)?
                } else {
                    (Decimal::ZERO, Some(("it is no charge".to_owned(), Decimal::ZERO, 1.into())))
                };
                let in_file = sum([stated, priced].into_iter())?;
                compared.add(in_file, in_ledger)?;
                if in_file != in_ledger {
                    compared.cost_differs += 1;
                    compared.name(COST, format!("row {row}, {}", again.stated_cost()), in_file, in_ledger);
                }
                if let Some((what, left, right)) = found {
                    compared.charge_differs += 1;
                    compared.name(CHARGE, format!("row {row}, {what}"), left, right);
                }
            }
            None if matches!(step, Step::Skipped(reason) if billing::is_no_cost(reason)) => {}
            None => {
                let in_file = cost.amount()?;
                compared.add(in_file, Decimal::ZERO)?;
                if !in_file.is_zero() {
                    compared.cost_differs += 1;
                    compared.name(COST, format!("row {row}, which is no charge"), in_file, Decimal::ZERO);
                }
                if is_charge {
                    compared.charge_differs += 1;
                    let what = format!("row {row}, which is a charge and is not in the ledger");
                    compared.name(CHARGE, what, 1.into(), Decimal::ZERO);
                }
            }
        }
    }
    for next in stored {
        compared.surplus(&next, again.half)?;
    }
    Ok(compared)
}

impl Compared {
    fn add(&mut self, in_file: Decimal, in_ledger: Decimal) -> io::Result<()> {
        self.cost_in_file = sum([self.cost_in_file, in_file].into_iter())?;
        self.cost_in_ledger = sum([self.cost_in_ledger, in_ledger].into_iter())?;
        Ok(())
    }

    /// A charge that the file has no row for.
    fn surplus(&mut self, stored: &Stored, half: Statement) -> io::Result<()> {
        if stored.charge_key_id.is_some() {
            let in_ledger = self::stated(half, stored);
            self.add(Decimal::ZERO, in_ledger)?;
            self.charge_differs += 1;
            let what = format!("row {}, of which the ledger has a charge too many", stored.row_no);
            self.name(CHARGE, what, Decimal::ZERO, 1.into());
        }
        Ok(())
    }

    fn name(&mut self, name: &'static str, what: String, left: Decimal, right: Decimal) {
        if self.found.len() < NAMED {
            self.found.push(Found { name, what, left, right });
        }
    }
}
