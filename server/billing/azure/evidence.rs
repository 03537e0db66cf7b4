//! Whether a file states actual or amortized cost. Azure writes both with the same columns, and no cell says which it is.

use crate::billing::statement::Statement;

/// What of commitments a file's rows show so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Reservations or savings plans were bought: only actual cost has such rows.
    has_purchases: bool,
    /// Usage that a commitment covers, if there is some.
    covered_usage: Option<CoveredUsage>,
    /// What nobody used has rows: only amortized cost has them.
    has_unused: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CoveredUsage {
    /// All of it is there for nothing.
    Free,
    /// It costs its part of the commitment; some may have been free.
    Paid,
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
            Shows::FreeUsage => {
                self.covered_usage.get_or_insert(CoveredUsage::Free);
            }
            Shows::PaidUsage => self.covered_usage = Some(CoveredUsage::Paid),
            Shows::Unused => self.has_unused = true,
        }
        !before && self.contradicts()
    }

    fn contradicts(self) -> bool {
        self.has_purchases && self.is_amortized()
    }

    fn is_amortized(self) -> bool {
        self.has_unused || self.covered_usage == Some(CoveredUsage::Paid)
    }

    /// Whether these rows cannot be of a file that states these costs.
    pub fn denies(self, stated: Statement) -> bool {
        let rows = self.statement();
        stated != Statement::Whole && rows != Statement::Whole && rows != stated && !self.contradicts()
    }

    /// Without a row of a commitment both costs are the same. Purchases decide where rows contradict each other: a purchase
    /// that was dropped would be missing from what is billed.
    pub fn statement(self) -> Statement {
        if self.has_purchases {
            Statement::Billed
        } else if self.is_amortized() {
            Statement::Effective
        } else if self.covered_usage.is_some() {
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
    fn rows_of_one_export_deny_the_other() {
        use Shows::{FreeUsage, PaidUsage, Purchase, Unused};
        for (rows, denied) in [
            (&[][..], None),
            (&[Purchase], Some(Statement::Effective)),
            (&[FreeUsage], Some(Statement::Effective)),
            (&[PaidUsage], Some(Statement::Billed)),
            (&[Unused], Some(Statement::Billed)),
            // Rows that contradict each other deny nothing.
            (&[Unused, Purchase], None),
        ] {
            let mut evidence = Evidence::default();
            for row in rows {
                evidence.add(*row);
            }
            for stated in [Statement::Billed, Statement::Effective] {
                assert_eq!(evidence.denies(stated), Some(stated) == denied, "{rows:?} {stated:?}");
            }
        }
    }

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
