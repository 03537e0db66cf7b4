//! What a single cell could be, before anybody has said how a file writes amounts, dates and currencies.

use crate::billing::date_order::DateOrder;
use crate::billing::mapping::dates::{self, Orders, When};
use crate::billing::mapping::document::Decimals;
use crate::billing::mapping::numbers::{self, NoAmount};
use crate::money::{Currency, Decimal};

/// Whether a cell says that there is nothing.
pub(in crate::billing::mapping) fn is_blank(cell: &str) -> bool {
    matches!(cell.trim(), "" | "-" | "–" | "—") || cell.trim().eq_ignore_ascii_case("null")
}

/// The amount in a cell, in whatever currency.
pub(super) fn amount(cell: &str, decimals: Decimals) -> Option<Decimal> {
    match numbers::amount(cell, decimals, "") {
        Ok(amount) => amount,
        Err(NoAmount::Unreadable) => None,
        Err(NoAmount::OtherCurrency(named)) => {
            numbers::amount(cell, decimals, &code_of(&named)).ok().flatten()
        }
    }
}

/// The same with a point or a comma before its decimals, as far as either can be read.
pub(super) fn readings(cell: &str) -> [Option<Decimal>; 2] {
    [Decimals::Point, Decimals::Comma].map(|decimals| amount(cell, decimals))
}

/// What a cell says of time, in one order of dates with slashes or the other.
pub(super) fn time(cell: &str) -> Option<When> {
    let orders = [DateOrder::DayFirst, DateOrder::MonthFirst].map(Orders::of_slashes);
    orders.into_iter().find_map(|orders| dates::read(cell, orders))
}

/// Whether a cell is data, and so no name of a column.
pub(in crate::billing::mapping) fn is_number_or_time(cell: &str) -> bool {
    readings(cell).iter().any(Option::is_some) || time(cell).is_some()
}

/// The currency that an amount names; `None` where it names none.
pub(super) fn currency(cell: &str) -> Option<Named> {
    let Err(NoAmount::OtherCurrency(named)) = [Decimals::Point, Decimals::Comma]
        .iter()
        .map(|decimals| numbers::amount(cell, *decimals, ""))
        .find(|read| matches!(read, Err(NoAmount::OtherCurrency(_))))?
    else {
        return None;
    };
    readings(cell).iter().any(Option::is_some).then(|| Named::of(&named))
}

/// How a currency is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    Code(String),
    /// By a sign that several have equally often.
    Sign(String),
}

impl Named {
    /// Of `€`, `US$`, `chf`.
    pub fn of(text: &str) -> Self {
        if text.contains(['¥', '￥']) && !text.contains(char::is_alphabetic) {
            return Self::Sign(text.to_owned());
        }
        Self::Code(code_of(text))
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Code(text) | Self::Sign(text) => text,
        }
    }
}

/// The code of a sign or of letters: of a sign that several have, that of the most common.
fn code_of(named: &str) -> String {
    let letters: String = named.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_uppercase();
    let is_code = Currency::parse(&letters).is_some_and(|code| code.is_standard());
    let of_sign = named.chars().find_map(|sign| match sign {
        '$' => Some(dollars(&letters)),
        '€' => Some("EUR"),
        '£' => Some("GBP"),
        '¥' | '￥' => Some(if letters == "CN" { "CNY" } else { "JPY" }),
        '₹' => Some("INR"),
        '₩' => Some("KRW"),
        _ => None,
    });
    of_sign.filter(|_| !is_code).map_or(letters, str::to_owned)
}

/// Whose dollars are written with these letters before or behind the sign.
fn dollars(letters: &str) -> &'static str {
    match letters {
        "C" | "CA" | "CAN" => "CAD",
        "A" | "AU" => "AUD",
        "NZ" => "NZD",
        "S" | "SG" => "SGD",
        "HK" => "HKD",
        "NT" => "TWD",
        "MX" => "MXN",
        "R" => "BRL",
        _ => "USD",
    }
}

/// A cell for a sentence: in quotes, and no longer than one reads.
pub(super) fn quoted(cell: &str) -> String {
    const SHOWN: usize = 60;
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = cell.trim().chars().take(SHOWN).map(printable).collect();
    if cell.trim().chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    format!("“{short}”")
}

/// An amount for a sentence, with its decimals but at least two.
pub(super) fn written(amount: Decimal) -> String {
    crate::money::written(amount, amount.normalize().scale().clamp(2, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_whatever_currency() {
        for (cell, point, comma) in [
            ("$1,234.50", Some("1234.50"), None),
            ("1.234,50 €", None, Some("1234.50")),
            ("1.234", Some("1.234"), Some("1234")),
            ("12 CHF", Some("12"), Some("12")),
            ("US$ 5", Some("5"), Some("5")),
            ("5 hours", None, None),
            ("$", None, None),
            ("", None, None),
        ] {
            let read = readings(cell).map(|amount| amount.map(|it| it.to_string()));
            assert_eq!(read, [point, comma].map(|it| it.map(str::to_owned)), "{cell}");
        }
    }

    #[test]
    fn amounts_name_their_currency() {
        let code = |code: &str| Some(Named::Code(code.to_owned()));
        for (cell, expected) in [
            ("$5", code("USD")),
            ("C$5", code("CAD")),
            ("12,50 €", code("EUR")),
            ("chf 5", code("CHF")),
            ("¥5", Some(Named::Sign("¥".to_owned()))),
            ("5", None),
            ("5 pieces", None),
            ("USD", None),
        ] {
            assert_eq!(currency(cell), expected, "{cell}");
        }
    }
}
