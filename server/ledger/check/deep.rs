//! `check --deep`: the originals, read again by another reader.
//!
//! Knows one thing of a format: which column holds the billed cost. It shares no code with
//! [`crate::billing`], so a mistake there shows here.

use std::collections::HashSet;
use std::io::{self, Read};

use sqlx::PgConnection;

use super::Equation;
use crate::ledger::{Originals, Sha256};
use crate::money::Decimal;

/// Rows and billed cost of each kept file that counts, against its charges.
pub async fn check_originals(db: &mut PgConnection, originals: &Originals) -> sqlx::Result<Vec<Equation>> {
    let files = sqlx::query_file!("server/ledger/check/files.sql").fetch_all(&mut *db).await?;
    let mut equations = Vec::new();
    for file in files {
        let of = format!("delivery {}, {}", file.delivery_id, file.name);
        let Some(sha256) = file.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()) else {
            continue;
        };
        let rejected = file.rejected_rows.into_iter().map(|row| row as u64).collect();
        let originals = originals.clone();
        let read = tokio::task::spawn_blocking(move || sum(originals.content(&sha256)?, &rejected)).await;
        let (rows, billed) = match read {
            Ok(Ok(sums)) => sums,
            Ok(Err(error)) => {
                equations.push(unreadable(&of, &error));
                continue;
            }
            Err(error) => return Err(sqlx::Error::Io(io::Error::other(error))),
        };
        equations.push(Equation::new(
            "rows in the file = rows read",
            of.clone(),
            rows,
            file.rows_read.into(),
        ));
        equations.push(Equation::new(
            "billed cost in the file = billed cost of its charges",
            of,
            billed,
            file.billed_cost,
        ));
    }
    Ok(equations)
}

/// An original that cannot be read proves nothing: its equation fails, and says why.
fn unreadable(of: &str, error: &io::Error) -> Equation {
    Equation::new("originals that can be read", format!("{of}: {error}"), Decimal::ZERO, 1.into())
}

/// The columns that hold what was billed, in letters and digits only.
const COST_COLUMNS: [&str; 2] = ["lineitemunblendedcost", "billedcost"];

/// Number of rows, and the sum of the cost column without the rejected rows.
fn sum(content: impl Read, rejected: &HashSet<u64>) -> io::Result<(Decimal, Decimal)> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(content);
    let mut record = csv::ByteRecord::new();
    if !reader.read_byte_record(&mut record)? {
        return Ok((Decimal::ZERO, Decimal::ZERO));
    }
    let is_cost = |name: &[u8]| COST_COLUMNS.contains(&letters(name).as_str());
    let column =
        record.iter().position(is_cost).ok_or_else(|| io::Error::other("the original has no cost column"))?;
    let (mut rows, mut total) = (0i64, Decimal::ZERO);
    while reader.read_byte_record(&mut record)? {
        rows += 1;
        let cell = record.get(column).unwrap_or_default();
        if !rejected.contains(&(rows as u64)) && !is_cost(cell) {
            total += amount(cell)?;
        }
    }
    Ok((rows.into(), total))
}

fn letters(name: &[u8]) -> String {
    String::from_utf8_lossy(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase()
}

/// Currency signs, separators of thousands and spaces are decoration; no text at all is nothing.
fn amount(cell: &[u8]) -> io::Result<Decimal> {
    let plain: Vec<u8> =
        cell.iter().copied().filter(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).collect();
    if plain.is_empty() || cell.eq_ignore_ascii_case(b"null") {
        return Ok(Decimal::ZERO);
    }
    Decimal::parse(&plain)
        .map_err(|_| io::Error::other(format!("no amount: {}", String::from_utf8_lossy(cell))))
}
