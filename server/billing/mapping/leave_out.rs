//! Rows that are no charges, and what a file's own totals say.

use std::collections::BTreeMap;

use super::document::{Decimals, LeaveOut, Mapping};
use super::suggest::totals::is_tax;
use super::{document, numbers};
use crate::billing::header::Header;
use crate::billing::listed;
use crate::billing::row::{Note, Row};
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

/// What the rows cost so far, beside what the file says that they do. Cost and tax, and each currency, by themselves. Of rows
/// without cost their quantities, and each unit by itself.
#[derive(Default)]
pub(super) struct Totals {
    /// Whether quantities are summed, in units in place of currencies.
    are_of_quantities: bool,
    by_currency: BTreeMap<String, Sums>,
    /// The last total that names no currency, where the rows before it have several: what it says, and these.
    unnamed: Option<(String, Vec<String>)>,
    rows: u64,
    last: Decimal,
    /// Rows in succession that cost more than the one before.
    rising: u64,
}

/// What sums in one currency.
#[derive(Default)]
struct Sums {
    before: Costs,
    /// The last total of the file in each column, and the sums of the rows before it.
    cost_total: Option<(Decimal, Costs)>,
    tax_total: Option<(Decimal, Costs)>,
    /// Of lines of tax that are left out, how many have an amount, and their sum.
    taxes: u64,
    tax: Decimal,
    /// Credits without a minus sign, and what they take off.
    credits: u64,
    credit: Decimal,
}

/// The sums of both columns.
#[derive(Clone, Copy, Default)]
struct Costs {
    cost: Decimal,
    tax: Decimal,
}

impl Totals {
    /// Those of the quantities of rows that lack their cost.
    pub fn of_quantities() -> Self {
        Self { are_of_quantities: true, ..Self::default() }
    }

    pub fn add(&mut self, currency: &str, cost: Decimal, tax: Decimal) {
        self.rising = if self.rows > 0 && cost > self.last { self.rising + 1 } else { 0 };
        self.last = cost;
        self.rows += 1;
        let before = &mut self.sums(currency).before;
        before.cost += cost;
        before.tax += tax;
    }

    /// Notes a credit that has no minus sign, and takes this off.
    pub fn take_off(&mut self, currency: &str, amount: Decimal) {
        let sums = self.sums(currency);
        sums.credits += 1;
        sums.credit += amount;
    }

    /// Notes a row of totals: its cells of cost and tax. Of those that cannot be read, nothing.
    pub fn state(&mut self, [cost, tax]: [&str; 2], decimals: Decimals, currency: &str) {
        for (cell, is_tax) in [(cost, false), (tax, true)] {
            let read = self.read(cell, decimals, currency);
            if let [(currency, total)] = read.as_slice() {
                let sums = self.sums(currency);
                let stated = Some((*total, sums.before));
                if is_tax { sums.tax_total = stated } else { sums.cost_total = stated }
            } else if !read.is_empty() {
                let several = read.into_iter().map(|(currency, _)| currency).collect();
                self.unnamed = Some((cell.trim().to_owned(), several));
            }
        }
    }

    /// Notes a line of tax that is left out. Of one without an amount, nothing.
    pub fn leave_out_tax(&mut self, cell: &str, decimals: Decimals, currency: &str) {
        let read = self.read(cell, decimals, currency);
        let Some((of_first, tax)) = read.first().filter(|(_, tax)| !tax.is_zero()) else { return };
        // What could be of several currencies is added to none of them.
        let currency = if read.len() == 1 { of_first } else { "" };
        let sums = self.sums(currency);
        if let Ok(sum) = sums.tax.checked_add(*tax) {
            sums.tax = sum;
            sums.taxes += 1;
        }
    }

    fn sums(&mut self, currency: &str) -> &mut Sums {
        self.by_currency.entry(currency.to_owned()).or_default()
    }

    /// What a cell says in the currency of its row; where it names none, in each of the rows so far that the cell agrees with.
    fn read(&self, cell: &str, decimals: Decimals, currency: &str) -> Vec<(String, Decimal)> {
        let known: Vec<&str> = match currency {
            "" if self.by_currency.is_empty() => vec![""],
            "" => self.by_currency.keys().map(String::as_str).take(MOST_CURRENCIES).collect(),
            named => vec![named],
        };
        let read = |currency: &str| {
            let currency = if self.are_of_quantities { "" } else { currency };
            numbers::amount(cell, decimals, currency).ok().flatten()
        };
        known.into_iter().filter_map(|currency| Some((currency.to_owned(), read(currency)?))).collect()
    }

    /// What is to be said of them, behind the last row.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let are_several = self.by_currency.len() > 1;
        let said =
            |sums: &&Sums| sums.cost_total.or(sums.tax_total).is_some() || sums.taxes + sums.credits > 0;
        for (currency, sums) in self.by_currency.iter().filter(|(_, sums)| said(sums)).take(MOST_CURRENCIES) {
            let of =
                if are_several && !currency.is_empty() { format!(" in {currency}") } else { String::new() };
            notes.extend(sums.cost_total.map(|(total, sums)| cost_note(&of, total, sums)));
            notes.extend(sums.tax_total.map(|(total, sums)| tax_note(&of, total, sums)));
            if sums.taxes > 0 {
                let (lines, tax) = (if sums.taxes == 1 { "line" } else { "lines" }, sums.tax);
                notes.push(Note::new(format!(
                    "{} {lines} of tax{of} left out: {tax} is not counted. To count it, give it a date in the file, or a column.",
                    sums.taxes
                )));
            }
            if sums.credits > 0 {
                let (credits, were) = if sums.credits == 1 { ("credit", "was") } else { ("credits", "were") };
                notes.push(Note::new(format!(
                    "{} {credits} without a minus sign {were} taken off the cost: {} {currency}. If they are no credits, state another \
                     category for their words.",
                    sums.credits, sums.credit
                )));
            }
        }
        if let Some((total, several)) = &self.unnamed {
            let several = listed(several.iter().map(String::as_str), 5);
            let kind = if self.are_of_quantities { "unit" } else { "currency" };
            notes.push(Note::new(format!(
                "The file’s own total, {total}, names no {kind}, and its rows have several ({several}): it is compared with none of \
                 their sums."
            )));
        }
        if self.rising + 1 == self.rows && self.rows >= FEW {
            let what = if self.are_of_quantities {
                "Each row has more than the one before: the column of the quantity"
            } else {
                "Each row costs more than the one before: the column of the cost"
            };
            notes.push(Note::doubt(format!("{what} may be a running total.")));
        }
        notes
    }
}

/// A total in the column of the cost, which may have the tax of a column of its own in it.
fn cost_note(of: &str, total: Decimal, sums: Costs) -> Note {
    let (shown, with_tax) = (shown(total), sums.cost + sums.tax);
    if is_sum(total, sums.cost) {
        Note::new(format!("The file’s own total{of}, {shown}, is the sum of its rows."))
    } else if sums.tax.is_zero() {
        let off = off(total, sums.cost);
        let cost = sums.cost;
        Note::doubt(format!("The file’s own total{of} is {shown}, its rows sum to {cost}: {off} {LOOK}"))
    } else if is_sum(total, with_tax) {
        Note::new(format!("The file’s own total{of}, {shown}, is the sum of its rows with their tax."))
    } else {
        let cost = sums.cost;
        Note::doubt(format!(
            "The file’s own total{of} is {shown}, its rows sum to {cost} without tax and {with_tax} with it. {LOOK}"
        ))
    }
}

fn tax_note(of: &str, total: Decimal, sums: Costs) -> Note {
    let shown = shown(total);
    if is_sum(total, sums.tax) {
        return Note::new(format!("The file’s own total of tax{of}, {shown}, is the sum of its rows."));
    }
    let off = off(total, sums.tax);
    Note::doubt(format!(
        "The file’s own total of tax{of} is {shown}, the tax of its rows sums to {}: {off} {LOOK}",
        sums.tax
    ))
}

const LOOK: &str = "Look for rows that are left out or count twice.";

fn off(total: Decimal, sum: Decimal) -> String {
    format!("{} {}.", (total - sum).abs(), if total > sum { "less" } else { "more" })
}

/// Whether a total is the sum, as exactly as it is printed: rows may have more digits, and are rounded once, as a sum. What each
/// row is off by is no excuse.
fn is_sum(total: Decimal, sum: Decimal) -> bool {
    let half = Decimal::new(5, places(total).saturating_add(1));
    (total - sum).abs() <= half
}

/// Without the digits that are no more than noise.
fn shown(total: Decimal) -> Decimal {
    if total.scale() > places(total) { total.round(places(total)).normalize() } else { total }
}

/// The decimals of a total that mean something: those that are printed, but at least cents, since a spreadsheet drops zeros at the
/// end. Floats have 15 digits, of which the last few are noise where many were added.
fn places(total: Decimal) -> u8 {
    const EXACT: usize = 12;
    let text = total.abs().to_string();
    let whole = text.split('.').next().unwrap_or_default().trim_start_matches('0').len();
    let exact = EXACT.saturating_sub(whole) as u8;
    exact.clamp(CENTS, total.scale().max(CENTS))
}

const CENTS: u8 = 2;

/// Currencies of a file of which there is something to say: one of more has names of another kind in their column.
const MOST_CURRENCIES: usize = 20;
/// Fewer rows may cost more each by chance.
const FEW: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(costs: &[&str], total: Option<&str>) -> Vec<String> {
        let mut totals = Totals::default();
        for cost in costs {
            totals.add("EUR", cost.parse().unwrap(), Decimal::ZERO);
        }
        if let Some(total) = total {
            totals.state([total, ""], Decimals::Comma, "EUR");
        }
        totals.notes().into_iter().map(|note| note.text).collect()
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
    fn only_what_may_make_figures_wrong_is_a_doubt() {
        let is_doubt = |costs: &[i128], stated: &str| -> Vec<bool> {
            let mut totals = Totals::default();
            for cost in costs {
                totals.add("EUR", Decimal::new(*cost, 0), Decimal::ZERO);
            }
            totals.state([stated, ""], Decimals::Point, "EUR");
            totals.leave_out_tax("19.00", Decimals::Point, "EUR");
            totals.notes().into_iter().map(|note| note.is_doubt).collect()
        };
        assert_eq!(is_doubt(&[70, 30], "100"), [false, false]);
        assert_eq!(is_doubt(&[70, 30], "101"), [true, false]);
        assert_eq!(is_doubt(&[1, 2, 3, 4, 5, 6, 7, 8], "36"), [false, false, true]);
    }

    #[test]
    fn a_total_is_as_exact_as_it_is_printed() {
        for (total, places) in [
            ("1234.5", 2),
            ("1234", 2),
            ("0.123456", 6),
            ("123456789012.345", 2),
            ("10000.0000000001", 7),
            ("0.30000000000000004", 12),
            ("1234.6600000000001", 8),
            ("-98765432.10000001", 4),
            ("12345678901234567.89", 2),
        ] {
            assert_eq!(super::places(total.parse().unwrap()), places, "{total}");
        }
    }

    #[test]
    fn taxes_that_are_left_out_are_said_with_their_sum() {
        let mut totals = Totals::default();
        for cell in ["2.879,36 €", "0", "", "19 %", "-1,00"] {
            totals.leave_out_tax(cell, Decimals::Comma, "EUR");
        }
        assert!(
            totals.notes()[0].text.starts_with("2 lines of tax left out: 2878.36 is not counted."),
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
