//! Whether a point or a comma stands before decimals, by what the amounts themselves prove.

use super::cells::{self, quoted};
use super::names::Role;
use super::table::{Column, Table};
use crate::billing::mapping::document::Decimals;

/// What amounts prove, the first cell of each.
#[derive(Default)]
struct Evidence<'a> {
    point: Option<&'a str>,
    comma: Option<&'a str>,
    points: usize,
    commas: usize,
    /// One that is another amount in either reading.
    open: Option<&'a str>,
}

impl<'a> Evidence<'a> {
    /// Of cells that are amounts and no times.
    fn of(columns: &[&Column<'a>]) -> Self {
        let mut found = Self::default();
        for cell in columns.iter().flat_map(|column| column.filled()) {
            match cells::readings(cell) {
                [Some(point), Some(comma)] if point == comma => {}
                // Nobody groups thousands behind a zero.
                [Some(_), Some(_)] if is_small(cell, '.') => found.take(cell, Decimals::Point),
                [Some(_), Some(_)] if is_small(cell, ',') => found.take(cell, Decimals::Comma),
                [Some(_), Some(_)] => found.open = found.open.or(Some(cell)),
                [Some(_), None] => found.take(cell, Decimals::Point),
                [None, Some(_)] => found.take(cell, Decimals::Comma),
                [None, None] => {}
            }
        }
        found
    }

    fn take(&mut self, cell: &'a str, proves: Decimals) {
        let (first, count) = match proves {
            Decimals::Point => (&mut self.point, &mut self.points),
            Decimals::Comma => (&mut self.comma, &mut self.commas),
        };
        first.get_or_insert(cell);
        *count += 1;
    }

    fn is_empty(&self) -> bool {
        self.points + self.commas == 0 && self.open.is_none()
    }
}

/// Whether an amount is `0` before a mark: `-0.125`.
fn is_small(cell: &str, mark: char) -> bool {
    let whole = cell.split(mark).next().unwrap_or_default();
    cell.contains(mark) && whole.trim_start_matches(|c: char| !c.is_ascii_digit()) == "0"
}

/// What stands before decimals, and what to ask where that is not proven. Columns that are named as money come first: a version
/// such as `1.5` elsewhere proves nothing about amounts.
pub(super) fn decide(table: &Table<'_>) -> (Option<Decimals>, Option<String>) {
    use Role::{Amount, Deduction, Gross, Net, Price, RunningTotal, Tax, Total, UnitPrice};
    let is_money = |column: &&Column<'_>| {
        [Amount, Net, Gross, Total, Tax, UnitPrice, Price, Deduction, RunningTotal]
            .iter()
            .any(|it| column.has(*it))
            || column.filled().any(|cell| cells::currency(cell).is_some())
    };
    let amounts: Vec<&Column<'_>> = table.columns.iter().filter(|column| column.is_amounts).collect();
    let money: Vec<&Column<'_>> = amounts.iter().copied().filter(is_money).collect();
    let of_money = Evidence::of(&money);
    let found = if of_money.points + of_money.commas > 0 { of_money } else { Evidence::of(&amounts) };
    match (found.point, found.comma, found.open) {
        _ if found.is_empty() => (Some(Decimals::Point), None),
        (Some(_), None, _) => (Some(Decimals::Point), None),
        (None, Some(_), _) => (Some(Decimals::Comma), None),
        (Some(point), Some(comma), _) => {
            let decimals = if found.commas > found.points { Decimals::Comma } else { Decimals::Point };
            let question = format!(
                "Amounts are written in two ways, {} and {}: choose what stands before decimals; the others are rejected.",
                quoted(point),
                quoted(comma)
            );
            (Some(decimals), Some(question))
        }
        (None, None, open) => (None, open.map(two_readings)),
    }
}

fn two_readings(cell: &str) -> String {
    let [point, comma] = cells::readings(cell).map(Option::unwrap_or_default);
    format!(
        "{} can be {} or {}: choose what stands before decimals.",
        quoted(cell),
        cells::written(point),
        cells::written(comma)
    )
}
