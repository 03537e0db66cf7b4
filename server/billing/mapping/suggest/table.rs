//! The rows of charges, column by column: what each is called, and what it holds.

use std::collections::HashSet;

use super::cells;
use super::names::{self, Meaning, Role};
use crate::billing::mapping::document::Decimals;
use crate::billing::mapping::sample::Sample;
use crate::money::Decimal;

pub(super) struct Table<'a> {
    pub columns: Vec<Column<'a>>,
    pub rows: usize,
}

pub(super) struct Column<'a> {
    pub name: &'a str,
    /// What its name says, the most likely first. Nothing of a column that a mapping cannot name: without a name, or with that
    /// of a column before it.
    pub meanings: Vec<Meaning>,
    pub is_nameable: bool,
    /// Without blanks around them.
    pub cells: Vec<&'a str>,
    /// Read with the decimal mark that was decided on.
    pub amounts: Vec<Option<Decimal>>,
    /// With either mark.
    pub is_amounts: bool,
    pub is_times: bool,
}

impl<'a> Table<'a> {
    /// Of some rows of a sample.
    pub fn new(sample: &'a Sample, rows: &[usize], decimals: Decimals) -> Self {
        let mut named = HashSet::new();
        let columns = sample.names.iter().enumerate().map(|(at, name)| {
            let is_nameable = !name.trim().is_empty() && named.insert(name.as_str());
            Column::new((sample, at, rows), is_nameable, decimals)
        });
        Self { columns: columns.collect(), rows: rows.len() }
    }

    /// The first meaning of a role in each column that has one, the best column first.
    pub fn of_role(&self, role: Role) -> Vec<usize> {
        let order = |at: &usize| {
            let meanings = &self.columns[*at].meanings;
            let place = meanings.iter().position(|meaning| meaning.role == role)?;
            Some((place, meanings[place].order))
        };
        let mut of_role: Vec<usize> = (0..self.columns.len()).filter(|at| order(at).is_some()).collect();
        of_role.sort_by_key(|at| order(at));
        of_role
    }
}

impl<'a> Column<'a> {
    fn new((sample, at, rows): (&'a Sample, usize, &[usize]), is_nameable: bool, decimals: Decimals) -> Self {
        let name = sample.names[at].as_str();
        let cell =
            |row: &usize| sample.rows.get(*row).and_then(|row| row.get(at)).map_or("", |cell| cell.trim());
        let cells: Vec<&str> = rows.iter().map(cell).collect();
        let mut column = Self {
            name,
            meanings: if is_nameable { names::meanings(name) } else { Vec::new() },
            is_nameable,
            amounts: cells.iter().map(|cell| cells::amount(cell, decimals)).collect(),
            cells,
            is_amounts: false,
            is_times: false,
        };
        let holds_times = column.are_mostly(|cell| cells::time(cell).is_some());
        // `12.2026` is a month, and an amount with four decimals: the name says which.
        let holds_amounts = column.are_mostly(|cell| cells::readings(cell).iter().any(Option::is_some));
        column.is_times = holds_times && (column.is_named_time() || !holds_amounts);
        column.is_amounts = !column.is_times && holds_amounts;
        column
    }

    pub fn has(&self, role: Role) -> bool {
        self.meanings.iter().any(|meaning| meaning.role == role)
    }

    fn is_named_time(&self) -> bool {
        use Role::{Date, End, Hour, IssueDate, Month, Period, Start, Week};
        [Start, End, Period, Date, Week, Month, Hour, IssueDate].into_iter().any(|role| self.has(role))
    }

    /// The cells that hold something.
    pub fn filled(&self) -> impl Iterator<Item = &'a str> {
        self.cells.iter().copied().filter(|cell| !cells::is_blank(cell))
    }

    pub fn is_empty(&self) -> bool {
        self.filled().next().is_none()
    }

    /// Whether four of five cells are such, and there are any.
    pub fn are_mostly(&self, is: impl Fn(&str) -> bool) -> bool {
        let (mut filled, mut such) = (0, 0);
        for cell in self.filled() {
            filled += 1;
            such += usize::from(is(cell));
        }
        filled > 0 && such * 5 >= filled * 4
    }

    /// Cells that hold something else: how many, and the first.
    pub fn others(&self, is: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        let mut others = self.filled().filter(|cell| !is(cell));
        let first = others.next()?;
        Some((others.count() + 1, first))
    }

    pub fn quoted(&self) -> String {
        cells::quoted(self.name)
    }
}
