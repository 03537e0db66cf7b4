//! What the amounts of an answer are counted in: one currency alone, or several converted into one.

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::exchange::Used;
use crate::money::{Currency, Money};
use crate::period::BillingMonth;

/// How amounts become amounts of one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denomination {
    /// Only charges in this currency, as they are.
    Only(Currency),
    /// Each month's charges at that month's rate, which is 1 for the currency itself; of one currency where only
    /// that was asked for.
    Into { into: Currency, rates: Vec<Used>, only: Option<Currency> },
}

/// What no rate converts: it is in no converted figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unconverted {
    pub month: BillingMonth,
    pub cost: Money,
}

impl Unconverted {
    /// Of a row of `billing_month`, `currency` and `cost`.
    pub(super) fn read(row: &PgRow) -> sqlx::Result<Self> {
        let currency = Currency::exactly(row.try_get("currency")?);
        Ok(Self {
            month: BillingMonth::of(row.try_get("billing_month")?),
            cost: Money { amount: row.try_get("cost")?, currency },
        })
    }
}

impl Denomination {
    pub fn currency(&self) -> &Currency {
        match self {
            Self::Only(currency) | Self::Into { into: currency, .. } => currency,
        }
    }

    /// The rates of other currencies than its own.
    pub fn used(&self) -> Vec<Used> {
        match self {
            Self::Only(_) => Vec::new(),
            Self::Into { into, rates, .. } => {
                rates.iter().filter(|used| used.currency != *into).cloned().collect()
            }
        }
    }

    /// An amount in the currency of the answer.
    pub fn converted(&self, amount: &str) -> String {
        match self {
            Self::Only(_) => amount.to_owned(),
            Self::Into { .. } => format!("trim_scale(round({amount} * r.rate, {PLACES}))"),
        }
    }

    /// `join …` after the rows and keys: rows without a rate fall out, and are reported by [`left_out`](super::denominate::left_out).
    pub fn push_join(&self, query: &mut QueryBuilder<Postgres>) {
        let Self::Into { rates, .. } = self else { return };
        query.push(" join (values ");
        for (i, used) in rates.iter().enumerate() {
            query.push(if i == 0 { "(" } else { ", (" });
            query.push_bind(used.month.first_day());
            query.push("::date, ");
            query.push_bind(used.currency.as_str().to_owned());
            query.push("::text, ");
            query.push_bind(used.rate);
            query.push("::numeric)");
        }
        query.push(
            ") r (billing_month, currency, rate) on r.billing_month = c.billing_month and r.currency = c.currency",
        );
    }

    /// `and …`: the rows that it counts, by the column of their currency.
    pub fn push_where(&self, query: &mut QueryBuilder<Postgres>, column: &str) {
        if let Self::Only(currency) | Self::Into { only: Some(currency), .. } = self {
            query.push(format!(" and {column} = "));
            query.push_bind(currency.as_str().to_owned());
        }
    }
}

/// Places of an amount at a rate, in SQL: those of an amount and of a share (40 and 12). What the rate would add behind them
/// is rounded, so that the longest amounts have room in a [`Decimal`](crate::money::Decimal), and so have their sums. Rounding
/// writes as many places for the shortest amount, too: they are trimmed, or nothing would have room beside it.
pub(super) const PLACES: u8 = 52;
