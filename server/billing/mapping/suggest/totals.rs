//! Lines that are no charges: totals, subtotals and the tax between them.

use super::cells;
use super::names;
use crate::billing::mapping::sample::Sample;

/// A line that reads like a total, by the words that a cell begins with.
pub(super) struct Line {
    pub row: usize,
    pub column: usize,
    pub kind: Kind,
    /// It holds nothing but such words.
    is_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of all rows.
    Total,
    /// Of some rows, or of all without the tax or with it.
    Other,
    Tax,
}

const KINDS: [(Kind, &[&str]); 3] = [
    (
        Kind::Other,
        &[
            "subtotal",
            "sub total",
            "sub totals",
            "subtotals",
            "zwischensumme",
            "total net",
            "total netto",
            "summe netto",
            "gesamt netto",
            "gesamtbetrag netto",
            "net total",
            "net",
            "netto",
            "nettobetrag",
            "nettosumme",
            "total ht",
            "sous total",
            "balance",
            "saldo",
            "total excl",
            "total before tax",
            "balance due",
            "gross",
            "brutto",
            "bruttobetrag",
            "bruttosumme",
            "total ttc",
            "total incl",
            "summe brutto",
            "gesamt brutto",
            "base imponible",
        ],
    ),
    (
        Kind::Total,
        &[
            "total",
            "totals",
            "grand total",
            "sum",
            "summe",
            "gesamt",
            "gesamtsumme",
            "gesamtbetrag",
            "amount due",
            "total due",
            "invoice total",
            "rechnungsbetrag",
            "endbetrag",
            "zahlbetrag",
            "zu zahlen",
            "montant total",
            "montant du",
            "importe total",
            "suma",
            "total a pagar",
        ],
    ),
    (
        Kind::Tax,
        &[
            "vat",
            "tax",
            "sales tax",
            "gst",
            "ust",
            "mwst",
            "umsatzsteuer",
            "mehrwertsteuer",
            "tva",
            "iva",
            "taxes",
            "total tax",
            "total vat",
            "total tva",
        ],
    ),
];

/// Words before those: `zzgl. 19 % MwSt.`
const BEFORE: [&str; 9] = ["zzgl", "plus", "inkl", "incl", "davon", "including", "add", "dont", "percent"];
/// Words that may stand behind and mean nothing more.
const BEHIND: [&str; 16] = [
    "due", "amount", "netto", "brutto", "net", "gross", "usd", "eur", "gbp", "chf", "excl", "incl", "vat",
    "tax", "percent", "mwst",
];

/// The rows of a sample: those of charges, and those that only look like them.
pub(super) struct Lines<'a> {
    pub charges: Vec<usize>,
    pub totals: Vec<Line>,
    /// What lines of a single text say: remarks above or below the charges.
    pub remarks: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    /// By words alone: what they leave out may be a charge that is called so.
    pub fn read(sample: &'a Sample) -> Self {
        let usual = usual_cells(sample);
        let mut lines = Self { charges: Vec::new(), totals: Vec::new(), remarks: Vec::new() };
        for (row, cells) in sample.rows.iter().enumerate() {
            if let Some(line) = Line::read(row, cells, usual) {
                lines.totals.push(line);
            } else if let Some(remark) = remark(cells).filter(|_| usual > 2) {
                lines.remarks.push(remark);
            } else {
                lines.charges.push(row);
            }
        }
        if lines.charges.is_empty() {
            let charges = (0..sample.rows.len()).collect();
            return Self { charges, totals: Vec::new(), remarks: Vec::new() };
        }
        lines
    }

    /// Takes back as charges what has a date, or, where the file has none, as many cells as other rows: `VAT registration` on
    /// its own day is a charge. What says `Total` and nothing else stays one.
    #[must_use]
    pub fn with_times(mut self, sample: &Sample, times: &[usize]) -> Self {
        let usual = usual_cells(sample);
        let (totals, charges): (Vec<Line>, Vec<Line>) = self.totals.into_iter().partition(|line| {
            let cells = &sample.rows[line.row];
            let has_time =
                times.iter().any(|at| cells.get(*at).is_some_and(|cell| cells::time(cell).is_some()));
            let is_sure = line.is_whole && line.kind != Kind::Tax;
            is_sure || !has_time && (!times.is_empty() || is_sparse(cells, usual))
        });
        self.totals = totals;
        self.charges.extend(charges.iter().map(|line| line.row));
        self.charges.sort_unstable();
        self
    }
}

/// What a row says that has one cell, and in it a text.
fn remark(row: &[String]) -> Option<&str> {
    let mut texts = row.iter().filter(|cell| !cells::is_blank(cell));
    let only = texts.next().filter(|_| texts.next().is_none())?;
    (!cells::is_number_or_time(only)).then_some(only.as_str())
}

/// How many cells most rows fill.
fn usual_cells(sample: &Sample) -> usize {
    let mut filled: Vec<usize> = sample.rows.iter().map(|row| filled(row)).collect();
    filled.sort_unstable();
    // Totals have less.
    filled.get(filled.len() * 3 / 4).copied().unwrap_or_default()
}

fn filled(row: &[String]) -> usize {
    row.iter().filter(|cell| !cells::is_blank(cell)).count()
}

fn is_sparse(row: &[String], usual: usize) -> bool {
    filled(row) * 4 < usual * 3
}

impl Line {
    /// By the first cell that holds something; in a row of few cells, by any of them.
    fn read(row: usize, cells: &[String], usual: usize) -> Option<Self> {
        let mut texts = cells.iter().enumerate().filter(|(_, cell)| !cells::is_blank(cell));
        let line = |(column, cell): (usize, &String)| {
            let (kind, is_whole) = kind(cell)?;
            Some(Self { row, column, kind, is_whole })
        };
        let first = texts.next().and_then(line);
        first
            .or_else(|| texts.find_map(line).filter(|line| line.kind != Kind::Tax && is_sparse(cells, usual)))
    }
}

/// Whether a text says that its line is tax.
pub(in crate::billing::mapping) fn is_tax(cell: &str) -> bool {
    matches!(kind(cell), Some((Kind::Tax, _)))
}

/// What a text says that it is, by the words that it begins with; and whether these are all.
fn kind(cell: &str) -> Option<(Kind, bool)> {
    const LONGEST: usize = 200;
    let short: String = cell.chars().take(LONGEST).collect();
    // `Sub-total` is one word, and a sentence of many is none.
    let words = names::words(&short);
    let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
    let before = words.iter().take_while(|word| BEFORE.contains(&word.as_str()) || is_number(word)).count();
    let words = &words[before..];
    let fits = |phrase: &&&str| {
        let length = phrase.split(' ').count();
        words.len() >= length && phrase.split(' ').zip(words).all(|(one, other)| one == other)
    };
    let of_kind = |(kind, phrases): &(Kind, &[&str])| {
        let longest =
            phrases.iter().filter(|phrase| fits(phrase)).map(|phrase| phrase.split(' ').count()).max()?;
        Some((*kind, longest))
    };
    // The first of equals.
    let (kind, length) =
        KINDS.iter().filter_map(of_kind).reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let rest = &words[length..];
    let is_whole = rest.iter().all(|word| BEHIND.contains(&word.as_str()) || is_number(word));
    (before == 0 || kind == Kind::Tax).then_some((kind, is_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_totals_by_the_words_that_they_begin_with() {
        for (cell, expected) in [
            ("Total", Some((Kind::Total, true))),
            ("TOTAL DUE:", Some((Kind::Total, true))),
            ("Sub-total", Some((Kind::Other, true))),
            ("Summe netto", Some((Kind::Other, true))),
            ("Gesamtbetrag", Some((Kind::Total, true))),
            ("USt. 19 %", Some((Kind::Tax, true))),
            ("zzgl. 19% MwSt.", Some((Kind::Tax, true))),
            ("TVA 20 %", Some((Kind::Tax, true))),
            ("Total for invoice INV-1", Some((Kind::Total, false))),
            ("Total Memory Upgrade", Some((Kind::Total, false))),
            ("Summer sale", None),
            ("Nettetal", None),
            ("2026-09-01", None),
            ("19", None),
            ("plus", None),
            ("", None),
        ] {
            assert_eq!(kind(cell), expected, "{cell}");
            assert_eq!(is_tax(cell), matches!(expected, Some((Kind::Tax, _))), "{cell}");
        }
    }
}
