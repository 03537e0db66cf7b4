//! What was charged and what was credited, apart: beside each other, a credit of 100 hides a charge of 100. A key is a credit
//! where its total in a month, billed or effective, is below zero; of single days it is decided by day, and of what only
//! charges know, by charge.

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::Grouping;
use super::cache::Ask;
use super::denominate::denominate;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, Source, source_of};
use crate::cache::SizeInCache;
use crate::money::Decimal;

const PLACES: u8 = 6;

/// Totals of keys in a month, above zero and below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChargesAndCredits {
    pub charges: Decimal,
    /// Below zero, or zero.
    pub credits: Decimal,
}

/// Of everything, and of what is unallocated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MonthChargesAndCredits {
    pub all: ChargesAndCredits,
    pub unallocated: ChargesAndCredits,
}

impl ChargesAndCredits {
    /// Everything counted for what it is, charged or credited.
    pub fn size(&self) -> Decimal {
        self.charges + self.credits.abs()
    }

    /// The part that a charge is of the charges, or a credit of the credits.
    pub fn share(&self, cost: Decimal) -> Decimal {
        let whole = if cost.is_negative() { self.credits } else { self.charges };
        cost.divide(whole, PLACES).unwrap_or_default()
    }

    pub fn add(&mut self, cost: Decimal) {
        if cost.is_negative() {
            self.credits += cost;
        } else {
            self.charges += cost;
        }
    }
}

impl std::ops::AddAssign for ChargesAndCredits {
    fn add_assign(&mut self, other: Self) {
        self.charges += other.charges;
        self.credits += other.credits;
    }
}

impl MonthChargesAndCredits {
    /// The part of all that somebody owns; `None` where there is nothing.
    pub fn covered(&self) -> Option<Decimal> {
        let (all, unallocated) = (self.all.size(), self.unallocated.size());
        (all - unallocated).divide(all, PLACES)
    }
}

impl std::ops::AddAssign for MonthChargesAndCredits {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.unallocated += other.unallocated;
    }
}

impl SizeInCache for MonthChargesAndCredits {}

/// Sums a month of a question by team.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ChargedAndCredited;

impl Ask for ChargedAndCredited {
    type Answer = MonthChargesAndCredits;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<MonthChargesAndCredits> {
        let AsOf { question, snapshot, .. } = asked;
        let Some(denomination) = denominate(db, asked).await?.denomination else {
            return Ok(MonthChargesAndCredits::default());
        };
        // What has no key has no sign of its own.
        let source = match source_of(db, (question.dimensions(), &question.viewer), snapshot).await? {
            Source::ChargedDays | Source::AttributedDays | Source::TotalDays => Source::Days,
            Source::Totals => Source::Months,
            source => source,
        };
        let rows = Rows::of_period(question, snapshot, source, Some(&denomination));
        let mut query = QueryBuilder::<Postgres>::new("select c.is_credit, ");
        query.push(format!(
            "{} is null as is_nobodys, sum({}) as cost",
            rows.value("team", &Grouping::Team),
            rows.amount("cost")
        ));
        let columns = [Column::Sql("is_credit", source.is_credit()), Column::Value("team", &Grouping::Team)];
        rows.push(&mut query, &[Measure::Cost], &columns);
        query.push(" group by 1, 2");
        let mut found = MonthChargesAndCredits::default();
        for row in query.build().fetch_all(db).await? {
            let cost: Decimal = row.try_get("cost")?;
            let is_credit: bool = row.try_get("is_credit")?;
            let (charges, credits) = if is_credit { (Decimal::ZERO, cost) } else { (cost, Decimal::ZERO) };
            let amounts = ChargesAndCredits { charges, credits };
            found.all += amounts;
            if row.try_get("is_nobodys")? {
                found.unallocated += amounts;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_that_nobody_owns_hides_no_charge() {
        let amounts = |charges: i64, credits: i64| ChargesAndCredits {
            charges: charges.into(),
            credits: credits.into(),
        };
        let month = MonthChargesAndCredits { all: amounts(300, -100), unallocated: amounts(100, -100) };
        assert_eq!(month.covered().unwrap().to_string(), "0.500000");
        assert_eq!(month.unallocated.share(25.into()).to_string(), "0.250000");
        assert_eq!(month.unallocated.share((-25).into()).to_string(), "0.250000");
        assert_eq!(MonthChargesAndCredits::default().covered(), None);
        assert!(amounts(0, -1).share(Decimal::ZERO).is_zero());
    }
}
