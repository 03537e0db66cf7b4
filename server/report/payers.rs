//! Who pays, taken out of the groups of an answer whose reader may not see it: row by row, as of single charges, so that
//! values that differ by it alone are one group.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::sql::{Column, Rows};
use super::{Grouping, Question};
use crate::ledger::Payer;

/// Who pays for the rows of a question, where that is to be hidden in what it groups by.
pub(super) struct Payers<'a> {
    question: &'a Question,
    is_needed: bool,
    /// By billing account and sub-account.
    known: HashMap<(String, String), Option<Payer>>,
}

impl<'a> Payers<'a> {
    pub fn of(question: &'a Question) -> Self {
        Self { question, is_needed: question.hides_payers_in_groups(), known: HashMap::new() }
    }

    /// What rows are summed by for it. Only rows that know resources and tags are asked, and those know their key.
    pub fn columns(&self) -> &'static [Column<'static>] {
        const COLUMNS: &[Column<'static>] = &[
            Column::Sql("billing_account", "k.billing_account"),
            Column::Sql("sub_account", "k.sub_account"),
        ];
        if self.is_needed { COLUMNS } else { &[] }
    }

    /// `, …`: the same columns, at the third and fourth place of a query.
    pub fn push(&self, query: &mut QueryBuilder<Postgres>, rows: &Rows<'_>) {
        if self.is_needed {
            for name in ["billing_account", "sub_account"] {
                query.push(format!(", {} as {name}", rows.visible(name)));
            }
        }
    }

    /// A value of a row without who pays for it.
    pub fn hide(
        &mut self,
        row: &PgRow,
        dimension: &Grouping,
        value: Option<String>,
    ) -> sqlx::Result<Option<String>> {
        let Some(value) = value else { return Ok(None) };
        if !self.question.hides_payers_in(dimension) {
            return Ok(Some(value));
        }
        let accounts: (String, String) = (row.try_get("billing_account")?, row.try_get("sub_account")?);
        let payer = self.known.entry(accounts).or_insert_with_key(|(billing_account, sub_account)| {
            Payer::of(billing_account, sub_account, None)
        });
        Ok(Some(match payer {
            Some(payer) => payer.hide(&value),
            None => value,
        }))
    }
}
