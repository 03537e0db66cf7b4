//! What teams are charged, in cents: the one rounding of every page and file that says it.
//!
//! The total of a month, rounded, is distributed over all teams and what is unallocated by largest remainder, in the
//! order of their handles; the cents of each over what is direct and what is shared. Of several months it is the sum of
//! theirs.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use crate::accounts::Viewer;
use crate::allocation::Configuration;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::as_of::{Error, as_of};
use crate::report::{Answers, Grouping, Question};

pub(super) const PLACES: u8 = 2;

/// What somebody is charged, in cents: what is direct and what is shared sum to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cents {
    /// The total before it was rounded.
    #[serde(skip)]
    pub exact: Decimal,
    pub total: Decimal,
    pub direct: Decimal,
    pub shared: Decimal,
}

impl Cents {
    fn of(direct: Decimal, shared: Decimal, total: Decimal) -> Self {
        let parts = Decimal::round_parts_to(&[direct, shared], total, PLACES);
        Self { exact: direct + shared, total, direct: parts[0], shared: parts[1] }
    }
}

impl std::ops::AddAssign for Cents {
    fn add_assign(&mut self, other: Self) {
        self.exact += other.exact;
        self.total += other.total;
        self.direct += other.direct;
        self.shared += other.shared;
    }
}

impl std::iter::Sum for Cents {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, next| {
            sum += next;
            sum
        })
    }
}

/// Every team's cents of a month and, under no name, what is unallocated: they sum to the month's total, rounded. The
/// question says in which currency, and as of which step.
pub async fn month_in_cents(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
) -> Result<BTreeMap<Option<String>, Cents>, Error> {
    // Which cent goes where depends on all of them, whoever asks.
    let everyone = question.of_organization().by(Grouping::Team);
    let mut groups = answers.spend(db, &everyone).await?.groups;
    groups.sort_by(|a, b| (a.key.is_none(), &a.key).cmp(&(b.key.is_none(), &b.key)));
    let direct = answers.spend(db, &everyone.direct()).await?.groups;
    let direct: BTreeMap<_, _> = direct.into_iter().map(|group| (group.key, group.cost.amount)).collect();
    let exact: Vec<Decimal> = groups.iter().map(|group| group.cost.amount).collect();
    let totals = Decimal::round_parts(&exact, PLACES);
    let in_cents = groups.into_iter().zip(totals).map(|(group, total)| {
        let own = direct.get(&group.key).copied().unwrap_or_default();
        (group.key, Cents::of(own, group.cost.amount - own, total))
    });
    Ok(in_cents.collect())
}

/// The same of each month of a period, of the teams alone that the question is about in it.
pub async fn months_in_cents(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    configuration: &Configuration,
) -> Result<Vec<(BillingMonth, BTreeMap<Option<String>, Cents>)>, Error> {
    let (first, last) = (question.period.first(), question.period.last());
    let sequence = as_of(db, question.sequence).await?;
    let seen = answers.teams(db, question, configuration, (first, last), sequence).await?;
    let mut months = Vec::new();
    for month in question.period.months() {
        let asked = Question { period: month.into(), ..question.clone() };
        let mut of_month = month_in_cents(db, answers, &asked).await?;
        if question.viewer != Viewer::Everything {
            of_month
                .retain(|team, _| seen.iter().any(|(it, seen)| *it == month && Some(seen) == team.as_ref()));
        }
        months.push((month, of_month));
    }
    Ok(months)
}
