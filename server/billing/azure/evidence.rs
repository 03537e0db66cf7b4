//! Whether a file states actual or amortized cost. Azure writes both with the same columns, and no cell says which it is.

use crate::billing::statement::Statement;

/// What of commitments a file's rows show so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Reservations or savings plans were bought: only actual cost has such rows.
    has_purchases: bool,
    /// Usage that a commitment covers is there for nothing.
    has_free_usage: bool,
    /// Or it costs its part of the commitment.
    has_paid_usage: bool,
    /// What nobody used has rows: only amortized cost has them.
    has_unused: bool,
}

/// A row that has to do with a commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Purchase,
    FreeUsage,
    PaidUsage,
    Unused,
}

impl Evidence {
    /// Notes a row. True where it is the first that does not fit those before it.
    pub fn add(&mut self, row: Shows) -> bool {
        let before = self.contradicts();
        match row {
            Shows::Purchase => self.has_purchases = true,
            Shows::FreeUsage => self.has_free_usage = true,
            Shows::PaidUsage => self.has_paid_usage = true,
            Shows::Unused => self.has_unused = true,
        }
        !before && self.contradicts()
    }

    fn contradicts(self) -> bool {
        self.has_purchases && (self.has_paid_usage || self.has_unused)
    }

    /// Without a row of a commitment both costs are the same. Purchases decide where rows contradict each other: a purchase
    /// that was dropped would be missing from what is billed.
    pub fn statement(self) -> Statement {
        if self.has_purchases {
            Statement::Billed
        } else if self.has_unused || self.has_paid_usage {
            Statement::Effective
        } else if self.has_free_usage {
            Statement::Billed
        } else {
            Statement::Whole
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_commitments_tell_actual_from_amortized_cost() {
        use Shows::{FreeUsage, PaidUsage, Purchase, Unused};
        for (rows, statement) in [
            (&[][..], Statement::Whole),
            (&[Purchase], Statement::Billed),
            (&[FreeUsage], Statement::Billed),
            (&[FreeUsage, Purchase], Statement::Billed),
            (&[PaidUsage], Statement::Effective),
            (&[Unused], Statement::Effective),
            // A reservation may have been free.
            (&[FreeUsage, PaidUsage], Statement::Effective),
            (&[Unused, Purchase], Statement::Billed),
        ] {
            let mut evidence = Evidence::default();
            for row in rows {
                evidence.add(*row);
            }
            assert_eq!(evidence.statement(), statement, "{rows:?}");
        }
    }

    #[test]
    fn contradiction_is_said_once() {
        let mut evidence = Evidence::default();
        let said =
            [Shows::Unused, Shows::Purchase, Shows::Purchase, Shows::PaidUsage].map(|row| evidence.add(row));
        assert_eq!(said, [false, true, false, false]);
    }
}
