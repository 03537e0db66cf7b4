//! Which rows a mapping leaves out, and which of them state sums.

use super::cells::{self, quoted, written};
use super::totals::{Kind, Line, Lines};
use crate::billing::mapping::document::{Decimals, LeaveOut};
use crate::billing::mapping::sample::Sample;
use crate::money::Decimal;

/// What lines are left out, and what to ask about them.
#[derive(Default)]
pub(super) struct Found {
    pub leave_out: Vec<LeaveOut>,
    pub questions: Vec<String>,
}

/// The amounts of the rows before a line.
#[derive(Default)]
struct Sums {
    cost: Decimal,
    tax: Decimal,
    /// Since the last line that is no charge.
    section: Decimal,
    /// On lines of tax that are left out.
    tax_lines: Decimal,
}

impl Sums {
    fn all(&self) -> Decimal {
        add(self.cost, self.tax)
    }
}

/// Sums that have no room for more digits are of no invoice.
fn add(one: Decimal, other: Decimal) -> Decimal {
    one.checked_add(other).unwrap_or(one)
}

/// Goes over all lines in order. A line states the sum of those before it where its amount in the column of the cost is the sum
/// of all that they cost, tax included: that is what a mapping compares it with. A sum of a section, or without a tax that has
/// a column of its own, is none, and nothing is wrong with it. Of any other it is asked.
pub(super) fn find(
    sample: &Sample,
    lines: &Lines<'_>,
    (cost, tax): (Option<usize>, Option<usize>),
    decimals: Decimals,
) -> Found {
    let amount = |row: usize, column: Option<usize>| {
        let cell = sample.rows[row].get(column?)?;
        cells::amount(cell, decimals)
    };
    let (mut found, mut sums) = (Found::default(), Sums::default());
    let mut totals = lines.totals.iter().peekable();
    for row in 0..sample.rows.len() {
        let Some(line) = totals.next_if(|line| line.row == row) else {
            let (cost, tax) = (amount(row, cost).unwrap_or_default(), amount(row, tax).unwrap_or_default());
            sums.cost = add(sums.cost, cost);
            sums.tax = add(sums.tax, tax);
            sums.section = add(sums.section, add(cost, tax));
            continue;
        };
        let stated = amount(row, cost);
        let is_total = found.judge(&sample.rows[row][line.column], line.kind, stated, &sums);
        if let (Kind::Tax, Some(stated), true) = (line.kind, stated, sums.tax.is_zero()) {
            sums.tax_lines = add(sums.tax_lines, stated);
        }
        sums.section = Decimal::ZERO;
        found.rule(sample, lines, line, is_total);
    }
    found
}

impl Found {
    /// Whether a line states the sum of the rows before it.
    fn judge(&mut self, cell: &str, kind: Kind, stated: Option<Decimal>, sums: &Sums) -> bool {
        let Some(stated) = stated else { return false };
        let is = |sum: Decimal| stated.checked_sub(sum).is_ok_and(|off| off.abs() <= Decimal::new(1, 2));
        if kind == Kind::Tax {
            // The sum of the column of taxes, which counts them already.
            if !sums.tax.is_zero() && is(sums.tax) {
                return false;
            }
            self.questions.push(format!(
                "The line {} ({}) is left out, so its tax is not counted. To count it, give it a date in the file, or a column.",
                quoted(cell),
                written(stated)
            ));
            return false;
        }
        let all = sums.all();
        if is(all) {
            return true;
        }
        if is(sums.cost) || is(sums.section) || is(add(all, sums.tax_lines)) {
            return false;
        }
        let (line, stated_as, all_as) = (quoted(cell), written(stated), written(all));
        let near = all.abs().checked_multiply(Decimal::new(5, 2)).unwrap_or_default();
        let is_near = stated.checked_sub(all).is_ok_and(|off| off.abs() <= near);
        let is_total = kind == Kind::Total && is_near && sums.tax_lines.is_zero();
        self.questions.push(format!(
            "The line {line} is left out as a total: it says {stated_as}, and the rows before it sum to {all_as}."
        ));
        is_total
    }

    /// Adds a rule for a line, once for all lines that read alike; these state sums only where all of them do.
    fn rule(&mut self, sample: &Sample, lines: &Lines<'_>, line: &Line, is_total: bool) {
        let column = sample.names.get(line.column).map_or("", String::as_str);
        let place = sample.names.iter().position(|name| name.as_str() == column);
        if column.trim().is_empty() || place != Some(line.column) {
            let line = quoted(&sample.rows[line.row][line.column]);
            self.questions
                .push(format!("The line {line} cannot be left out: its column has no name of its own."));
            return;
        }
        let is = pattern(sample, lines, line);
        let known = self.leave_out.iter_mut().find(|rule| rule.column == column && same(&rule.is, &is));
        match known {
            Some(rule) => rule.is_total &= is_total,
            None => self.leave_out.push(LeaveOut { column: column.to_owned(), is, is_total }),
        }
    }
}

fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// The text of a cell; of one with a number or a rate, the words before it, unless charges begin with them, too.
fn pattern(sample: &Sample, lines: &Lines<'_>, line: &Line) -> String {
    let cell = sample.rows[line.row][line.column].trim();
    let Some(number) = cell.find(|c: char| c.is_ascii_digit()) else { return cell.to_owned() };
    // `INV-2041` is a word with a number, all of which changes.
    let before = cell[..number].trim_end_matches(|c: char| !c.is_whitespace()).trim_end();
    let start = before.to_lowercase();
    let begins = |row: &usize| {
        let cell = sample.rows[*row].get(line.column);
        cell.is_some_and(|cell| cell.trim().to_lowercase().starts_with(&start))
    };
    if start.is_empty() || lines.charges.iter().any(begins) { cell.to_owned() } else { format!("{before}*") }
}
