//! What a period is compared with, where that is not all of the period before.

use super::compared::{DaysBefore, SameDays};
use super::denomination::Denomination;
use super::snapshot::Snapshot;
use super::sql::{Rows, Source};
use super::{Grouping, Question};
use crate::period::BillingMonth;

/// What is compared with, where it is not all of the period before: it is read by itself.
pub(super) enum ComparedPeriod<'a> {
    /// The days that the period has so far.
    SameDays(&'a SameDays),
    /// What is asked of the days before those that are asked for; of the same dates, as far as the period has come itself.
    DaysBefore(Box<DaysBefore>, Option<&'a SameDays>),
}

impl<'a> ComparedPeriod<'a> {
    pub fn of(question: &Question, snapshot: &'a Snapshot) -> Option<Self> {
        let same_days = snapshot.same_days.as_deref();
        match question.days_before() {
            Some(before) => {
                let is_of_period_before = before.last < question.period.first();
                let same_days = same_days.filter(|_| is_of_period_before);
                Some(Self::DaysBefore(Box::new(before), same_days))
            }
            None => same_days.map(Self::SameDays),
        }
    }

    /// From which month on the period before is read by itself.
    fn since(&self, question: &Question) -> BillingMonth {
        match self {
            Self::SameDays(same_days) => same_days.since,
            Self::DaysBefore(..) => question.period.previous().first(),
        }
    }

    /// What its rows have to know, days among it.
    pub fn dimensions<'q>(&'q self, question: &'q Question) -> impl Iterator<Item = &'q Grouping> + Clone {
        let asked = match self {
            Self::SameDays(_) => question,
            Self::DaysBefore(before, _) => &before.asked,
        };
        asked.dimensions().chain([&Grouping::Day])
    }

    /// The rows of it, from those that know [`Self::dimensions`].
    pub fn rows<'r>(
        &'r self,
        question: &'r Question,
        snapshot: &'r Snapshot,
        denomination: Option<&'r Denomination>,
        source: Source,
    ) -> (Rows<'r>, Option<&'r SameDays>) {
        let (asked, last, same_days) = match self {
            Self::SameDays(same_days) => (question, question.period.previous().last(), Some(*same_days)),
            Self::DaysBefore(before, same_days) => (&before.asked, before.last, *same_days),
        };
        let first = self.since(question);
        (Rows { question: asked, snapshot, source, denomination, first, last }, same_days)
    }
}

/// Up to which month the period before is compared whole, and read together with the period.
pub(super) fn whole_until(question: &Question, apart: Option<&ComparedPeriod<'_>>) -> BillingMonth {
    apart.map_or(question.period.first(), |apart| apart.since(question))
}

/// The first month of what is read together, where the period before is compared whole up to a month.
pub(super) fn first_together(question: &Question, until: BillingMonth) -> BillingMonth {
    let before = question.period.previous().first();
    if until == before { question.period.first() } else { before }
}
