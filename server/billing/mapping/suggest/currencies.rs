//! The currency of all rows, where no column says it.

use std::collections::BTreeSet;

use super::cells::{self, Named};
use super::names::Role;
use super::table::{Column, Table};
use crate::money::Currency;

/// Codes that stand in names and titles and are no words there.
const CODES: [&str; 24] = [
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "KRW", "SEK",
    "NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "AED",
];

/// The currency, and what to ask where amounts name several. The signs of amounts come first, since a mapping compares them with
/// it; then the names of the columns that are paid, then those of any column, then the lines above the header.
pub(super) fn find(table: &Table<'_>, paid: &[usize], above: &[String]) -> (Option<String>, Option<String>) {
    let paid: Vec<&Column<'_>> = paid.iter().map(|at| &table.columns[*at]).collect();
    let of_amounts = |columns: &[&Column<'_>]| -> BTreeSet<Named> {
        columns.iter().flat_map(|column| column.filled()).filter_map(cells::currency).collect()
    };
    let signs = of_amounts(&paid);
    if signs.len() > 1 {
        let names: Vec<&str> = signs.iter().map(Named::text).collect();
        let question = format!(
            "Amounts are in several currencies ({}), and no column says which: only one can be read.",
            names.join(", ")
        );
        return (None, Some(question));
    }
    match signs.into_iter().next() {
        Some(Named::Code(code)) => return (Some(code), None),
        Some(Named::Sign(sign)) => {
            let question = format!("{sign} is the sign of JPY and CNY: enter the currency.");
            return (None, Some(question));
        }
        None => {}
    }
    let amounts: Vec<&Column<'_>> = table.columns.iter().filter(|column| column.is_amounts).collect();
    let of_prices = || match of_amounts(&amounts).into_iter().collect::<Vec<_>>().as_slice() {
        [Named::Code(code)] => Some(code.clone()),
        _ => None,
    };
    let of_names = |columns: &[&Column<'_>]| only(columns.iter().flat_map(|column| codes_in(column.name)));
    let found = of_names(&paid)
        .or_else(of_prices)
        .or_else(|| of_names(&amounts))
        .or_else(|| of_column(table))
        .or_else(|| only(above.iter().flat_map(|line| codes_in(line))));
    (found, None)
}

/// What a column of currencies means that holds no codes: `€`.
fn of_column(table: &Table<'_>) -> Option<String> {
    let columns = table.of_role(Role::Currency);
    let cells = columns.iter().flat_map(|at| table.columns[*at].filled());
    let has_sign = |cell: &str| cell.contains(['$', '€', '£', '₹', '₩']);
    only(cells.flat_map(|cell| match Named::of(cell) {
        Named::Code(code) if has_sign(cell) => vec![code],
        _ => codes_in(cell),
    }))
}

/// The one of several that are the same.
fn only(codes: impl Iterator<Item = String>) -> Option<String> {
    let codes: BTreeSet<String> = codes.collect();
    codes.first().filter(|_| codes.len() == 1).cloned()
}

/// Codes and signs in a text: `Net (USD)`, `cost_usd`, `Betrag €`.
fn codes_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphabetic() && !matches!(c, '$' | '€' | '£'));
    let code = |word: &str| {
        if word.contains(['$', '€', '£']) {
            return match Named::of(word) {
                Named::Code(code) => Currency::parse(&code).filter(Currency::is_standard).map(|_| code),
                Named::Sign(_) => None,
            };
        }
        // `sek` is a second more often than a currency.
        let is_common = ["usd", "eur", "gbp", "chf"].contains(&word.to_lowercase().as_str());
        CODES
            .iter()
            .find(|code| word == **code || is_common && word.eq_ignore_ascii_case(code))
            .map(ToString::to_string)
    };
    words.filter(|word| !word.is_empty()).filter_map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_in_names_of_columns() {
        for (name, expected) in [
            ("Net (USD)", &["USD"][..]),
            ("cost_usd", &["USD"]),
            ("Betrag €", &["EUR"]),
            ("Amount in CHF", &["CHF"]),
            ("Cost US$", &["USD"]),
            ("Dauer (Sek)", &[]),
            ("All", &[]),
        ] {
            assert_eq!(codes_in(name), expected, "{name}");
        }
    }
}
