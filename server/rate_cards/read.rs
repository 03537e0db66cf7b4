//! A file of rates: CSV or a workbook, with the columns of the page's download.

use std::io::Cursor;

use chrono::NaiveDate;

use crate::accelerator;
use crate::billing::{self, PlainRows, ReadAs, canonical_provider, normalized_key};
use crate::entered_csv::{RefusedRow, unguarded};
use crate::money::{Currency, Decimal};
use crate::onprem::PROVIDER;
use crate::rating::Rate;

/// Rows of a file at most.
const MOST_ROWS: usize = 20_000;
/// Rejected rows that are shown.
const SHOWN: usize = 100;
/// Characters of a text.
pub const LONGEST: usize = 400;

/// The columns, and whether a file must have one.
const COLUMNS: [(&str, bool); 14] = [
    ("provider", true),
    ("billing_account", false),
    ("sku", false),
    ("accelerator", false),
    ("region", false),
    ("pricing", false),
    ("unit", true),
    ("from_quantity", false),
    ("price", true),
    ("currency", true),
    ("valid_from", true),
    ("valid_to", false),
    ("source", false),
    ("contract", false),
];

/// What a file holds.
#[derive(Debug, Default)]
pub struct Read {
    pub rows: usize,
    pub rates: Vec<Rate>,
    /// The first of them.
    pub rejected: Vec<RefusedRow>,
    pub rejected_count: usize,
}

/// Texts by the names of their columns, as a form or a row of a file has them.
pub trait Cells {
    /// Empty where there is none.
    fn cell(&self, column: &str) -> &str;
}

/// Reads a rate.
///
/// # Errors
/// The column that is wrong, and what was expected there.
pub fn rate(cells: &impl Cells) -> Result<Rate, (&'static str, String)> {
    for (column, is_needed) in COLUMNS {
        let text = cells.cell(column).trim();
        if text.chars().nth(LONGEST).is_some() {
            return Err((column, format!("Enter at most {LONGEST} characters.")));
        }
        if text.contains('\0') {
            return Err((column, "Remove the NUL character.".to_owned()));
        }
        if is_needed && text.is_empty() {
            return Err((column, needed(column).to_owned()));
        }
    }
    let text = |column: &str| cells.cell(column).trim().to_owned();
    let number = |column: &'static str| -> Result<Decimal, (&'static str, String)> {
        match cells.cell(column).trim() {
            "" => Ok(Decimal::ZERO),
            text => text.parse().map_err(|_| (column, "Enter a number such as 2.49.".to_owned())),
        }
    };
    let date = |column: &'static str| -> Result<Option<NaiveDate>, (&'static str, String)> {
        match cells.cell(column).trim() {
            "" => Ok(None),
            // A workbook has a time behind its dates.
            text => text
                .split(['T', ' '])
                .next()
                .and_then(|day| day.parse().ok())
                .map(Some)
                .ok_or_else(|| (column, "Enter a date such as 2026-09-01.".to_owned())),
        }
    };
    let accelerator = match cells.cell("accelerator").trim() {
        "" => String::new(),
        named => {
            let found = accelerator::model(named).or_else(|| accelerator::find_model(named));
            let sentence = "Enter a model of the catalog such as nvidia-h100-sxm, or leave it empty.";
            found.ok_or_else(|| ("accelerator", sentence.to_owned()))?.id.to_owned()
        }
    };
    let currency = Currency::parse(cells.cell("currency")).filter(Currency::is_standard);
    // As people write what bills of clusters call On-premises.
    let is_own = |it: &str| {
        ["on-prem", "on-premise", "on-premises", "onprem", "onpremises"]
            .contains(&normalized_key(it).as_str())
    };
    let provider = cells.cell("provider").trim();
    let provider = if is_own(provider) { PROVIDER.into() } else { canonical_provider(provider) };
    let rate = Rate {
        provider: provider.into_owned(),
        billing_account: text("billing_account"),
        sku: text("sku"),
        accelerator,
        region: text("region"),
        pricing: text("pricing"),
        unit: text("unit"),
        from_quantity: number("from_quantity")?.normalize(),
        price: number("price")?.normalize(),
        currency: currency.ok_or_else(|| ("currency", needed("currency").to_owned()))?,
        valid_from: date("valid_from")?.ok_or_else(|| ("valid_from", needed("valid_from").to_owned()))?,
        valid_to: date("valid_to")?,
        source: text("source"),
        contract: text("contract"),
    };
    match rate.problem() {
        Some(problem) => Err(problem),
        None => Ok(rate),
    }
}

fn needed(column: &str) -> &'static str {
    match column {
        "provider" => "Enter the provider as imports name it, such as CoreWeave.",
        "unit" => "Enter GPU-hour, or the unit as the bill writes it.",
        "price" => "Enter what a unit costs, such as 2.49.",
        "currency" => "Enter a currency such as USD.",
        _ => "Enter a date such as 2026-09-01.",
    }
}

/// Reads a file of rates.
///
/// # Errors
/// Why it is none, in a sentence.
pub fn read(content: Vec<u8>) -> Result<Read, String> {
    let content = billing::unpack(Cursor::new(content)).map_err(|refusal| refusal.message())?;
    let read_as = ReadAs::any();
    let mut rows =
        PlainRows::open(content, |start| read_as.layout(start)).map_err(|refusal| refusal.message())?;
    let names: Vec<String> =
        rows.names().iter().map(|name| name.trim().to_lowercase().replace([' ', '-'], "_")).collect();
    let missing =
        COLUMNS.iter().filter(|(column, is_needed)| *is_needed && !names.iter().any(|name| name == column));
    let missing: Vec<&str> = missing.map(|(column, _)| *column).collect();
    if !missing.is_empty() {
        let known: Vec<&str> = COLUMNS.iter().map(|(column, _)| *column).collect();
        return Err(format!(
            "no column {}. Columns of a rate file: {}",
            missing.join(", "),
            known.join(", ")
        ));
    }
    let mut read = Read::default();
    while rows.advance().map_err(|refusal| refusal.message())? {
        let cells: Vec<String> =
            rows.fields().map(|cell| String::from_utf8_lossy(&cell).into_owned()).collect();
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        read.rows += 1;
        if read.rows > MOST_ROWS {
            return Err(format!("more than {MOST_ROWS} rates: import them in several files"));
        }
        let row = Row { names: &names, cells: &cells };
        match rate(&row) {
            Ok(rate) => read.rates.push(rate),
            Err((column, expected)) => {
                read.rejected_count += 1;
                if read.rejected.len() < SHOWN {
                    let number = usize::try_from(rows.row()).unwrap_or(usize::MAX);
                    read.rejected.push(RefusedRow::new(number, column, row.cell(column), expected));
                }
            }
        }
    }
    if read.rows == 0 {
        return Err("it has no rates".to_owned());
    }
    Ok(read)
}

struct Row<'a> {
    names: &'a [String],
    cells: &'a [String],
}

impl Cells for Row<'_> {
    fn cell(&self, column: &str) -> &str {
        let at = self.names.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", |cell| unguarded(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    const HEADER: &str = "provider,accelerator,pricing,unit,price,currency,valid_from,valid_to";

    fn of(row: &str) -> Read {
        read(format!("{HEADER}\n{row}\n").into_bytes()).unwrap()
    }

    #[test]
    fn row_is_a_rate() {
        let read = of("coreweave,H100,Standard,GPU-hour,2.4900,usd,2026-01-01,");
        assert_eq!(read.rejected, []);
        let [rate] = read.rates.as_slice() else { panic!("{read:?}") };
        assert_eq!((rate.provider.as_str(), rate.accelerator.as_str()), ("CoreWeave", "nvidia-h100-sxm"));
        assert!(rate.price.is_written_as(&number("2.49")) && rate.valid_to.is_none());
    }

    #[test]
    fn wrong_cell_is_said_with_its_column() {
        for (row, column) in [
            (",H100,,GPU-hour,2,USD,2026-01-01,", "provider"),
            ("CoreWeave,H900,,GPU-hour,2,USD,2026-01-01,", "accelerator"),
            ("CoreWeave,,On demand,GPU-hour,2,USD,2026-01-01,", "pricing"),
            ("CoreWeave,,,GPU-hour,cheap,USD,2026-01-01,", "price"),
            ("CoreWeave,,,GPU-hour,-1,USD,2026-01-01,", "price"),
            ("CoreWeave,,,GPU-hour,2,Euro,2026-01-01,", "currency"),
            ("CoreWeave,,,GPU-hour,2,USD,01.09.2026,", "valid_from"),
            ("CoreWeave,,,GPU-hour,2,USD,2026-09-01,2026-08-31", "valid_to"),
        ] {
            let read = of(row);
            assert_eq!(
                (read.rates.len(), read.rejected_count, read.rejected[0].column.as_str()),
                (0, 1, column),
                "{row}"
            );
        }
    }

    #[test]
    fn file_without_needed_columns_is_refused() {
        let refused = read(b"supplier,price\nCoreWeave,2\n".to_vec()).unwrap_err();
        assert!(refused.contains("provider") && refused.contains("valid_from"), "{refused}");
        assert!(read(format!("{HEADER}\n").into_bytes()).is_err());
    }
}
