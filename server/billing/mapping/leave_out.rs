//! Rows that are no charges, and what a file's own totals say.

use super::document::{Decimals, LeaveOut, Mapping};
use super::suggest::totals::is_tax;
use super::{document, numbers};
use crate::billing::header::Header;
use crate::billing::row::Row;
use crate::money::Decimal;

/// The rules of a mapping, with the places of their columns.
pub(super) struct Rules(Vec<Rule>);

struct Rule {
    column: usize,
    /// In lower case.
    is: String,
    is_start: bool,
    is_total: bool,
}

impl Rules {
    pub fn new(mapping: &Mapping, header: &Header) -> Self {
        let rule = |rows: &LeaveOut| {
            let is = rows.is.trim().to_lowercase();
            let (is, is_start) =
                is.strip_suffix('*').map_or((is.clone(), false), |start| (start.to_owned(), true));
            Some(Rule {
                column: document::find(header, &rows.column)?,
                is,
                is_start,
                is_total: rows.is_total,
            })
        };
        Self(mapping.leave_out.iter().filter_map(rule).collect())
    }

    /// What a row is that is no charge.
    pub fn find(&self, row: &Row<'_>) -> Option<LeftOut> {
        self.0.iter().find_map(|rule| {
            let cell = String::from_utf8_lossy(row.word(Some(rule.column))).trim().to_lowercase();
            let is_it = if rule.is_start { cell.starts_with(&rule.is) } else { cell == rule.is };
            is_it.then(|| match (rule.is_total, is_tax(&cell)) {
                (true, _) => LeftOut::Total,
                (false, true) => LeftOut::Tax,
                (false, false) => LeftOut::Other,
            })
        })
    }
}

/// What a row is that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// It states the sum of those before it.
    Total,
    /// It says that it is tax.
    Tax,
    Other,
}

/// What the rows cost so far, beside what the file says that they do.
#[derive(Default)]
pub(super) struct Totals {
    sum: Decimal,
    rows: u64,
    /// The last total of the file, and the sum of the rows before it.
    stated: Option<(Decimal, Decimal)>,
    last: Decimal,
    /// Of lines of tax that are left out, how many have an amount.
    taxes: u64,
    tax: Decimal,
    /// Rows in succession that cost more than the one before.
    rising: u64,
}

impl Totals {
    pub fn add(&mut self, cost: Decimal) {
        self.rising = if self.rows > 0 && cost > self.last { self.rising + 1 } else { 0 };
        self.last = cost;
        self.sum += cost;
        self.rows += 1;
    }

    /// Notes a row of totals. Of one that cannot be read, nothing.
    pub fn state(&mut self, cell: &str, decimals: Decimals, currency: &str) {
        if let Ok(Some(total)) = numbers::amount(cell, decimals, currency) {
            self.stated = Some((total, self.sum));
        }
    }

    /// Notes a line of tax that is left out. Of one without an amount, nothing.
    pub fn leave_out_tax(&mut self, cell: &str, decimals: Decimals, currency: &str) {
        if let Ok(Some(tax)) = numbers::amount(cell, decimals, currency)
            && !tax.is_zero()
            && let Ok(sum) = self.tax.checked_add(tax)
        {
            self.tax = sum;
            self.taxes += 1;
        }
    }

    /// What is to be said of them, behind the last row.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((stated, sum)) = self.stated {
            notes.push(if stated == sum {
                format!("The file’s own total, {stated}, is the sum of its rows.")
            } else {
                format!(
                    "The file’s own total is {stated}, its rows sum to {sum}: {} {}. Look for rows that are left out or \
                     count twice.",
                    (stated - sum).abs(),
                    if stated > sum { "less" } else { "more" },
                )
            });
        }
        if self.taxes > 0 {
            let (lines, tax) = (if self.taxes == 1 { "line" } else { "lines" }, self.tax);
            notes.push(format!(
                "{} {lines} of tax left out: {tax} is not counted. To count it, give it a date in the file, or a column.",
                self.taxes
            ));
        }
        if self.rising + 1 == self.rows && self.rows >= FEW {
            notes.push(
                "Each row costs more than the one before: the column of the cost may be a running total."
                    .to_owned(),
            );
        }
        notes
    }
}

/// Fewer rows may cost more each by chance.
const FEW: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(costs: &[&str], total: Option<&str>) -> Vec<String> {
        let mut totals = Totals::default();
        for cost in costs {
            totals.add(cost.parse().unwrap());
        }
        if let Some(total) = total {
            totals.state(total, Decimals::Comma, "EUR");
        }
        totals.notes()
    }

    #[test]
    fn a_total_that_is_not_the_sum_is_said_with_both_numbers() {
        assert_eq!(
            notes(&["1200.00", "34.50"], Some("1.234,50 €")),
            ["The file’s own total, 1234.50, is the sum of its rows."]
        );
        let wrong = notes(&["1200.00", "34.50"], Some("1.300,00"));
        assert!(
            wrong[0].starts_with("The file’s own total is 1300.00, its rows sum to 1234.50: 65.50 less."),
            "{wrong:?}"
        );
        assert_eq!(notes(&["1"], None), Vec::<String>::new());
    }

    #[test]
    fn taxes_that_are_left_out_are_said_with_their_sum() {
        let mut totals = Totals::default();
        for cell in ["2.879,36 €", "0", "", "19 %", "-1,00"] {
            totals.leave_out_tax(cell, Decimals::Comma, "EUR");
        }
        assert!(
            totals.notes()[0].starts_with("2 lines of tax left out: 2878.36 is not counted."),
            "{:?}",
            totals.notes()
        );
    }

    #[test]
    fn costs_that_only_rise_may_be_a_running_total() {
        let rising = ["1", "2", "4", "5", "7", "8", "9", "12"];
        assert!(notes(&rising, None)[0].contains("running total"));
        assert_eq!(notes(&rising[..7], None), Vec::<String>::new());
        assert_eq!(notes(&["1", "2", "4", "5", "7", "8", "9", "3", "12"], None), Vec::<String>::new());
    }
}
