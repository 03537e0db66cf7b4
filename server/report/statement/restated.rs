//! What was final as something else: a month of a statement that a later bill, rule or rate has changed.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use super::month_in_cents;
use crate::accounts::Viewer;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report::as_of::Error;
use crate::report::completeness::final_since;
use crate::report::events::{Event, EventOf, events_at};
use crate::report::seen_team::{SeenTeam, seen_team};
use crate::report::{Answers, Grouping, Question};

/// What a team is charged in a month, as a question of that month alone asks for it and a viewer sees it.
pub(super) struct MonthOfTeam<'a> {
    pub answers: &'a Answers,
    pub who: &'a SeenTeam,
    pub question: &'a Question,
    pub viewer: &'a Viewer,
    pub sequence: i64,
}

/// A month that was final as something else. The difference is what it is now without what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restated {
    pub month: BillingMonth,
    /// The first version of the ledger at which every bill of the month was there and final, or the first after it at
    /// which the team was charged something.
    pub sequence: i64,
    pub was: Decimal,
    pub now: Decimal,
    pub difference: Decimal,
    /// The steps since then at which it became something else, the latest first; empty where that is not shown.
    pub causes: Vec<Cause>,
}

/// A version of the ledger that changed what a statement says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    pub sequence: i64,
    pub at: DateTime<Utc>,
    /// `a bill`, `the allocation`: what everybody may know of it.
    pub what: &'static str,
    pub is_undo: bool,
    /// What it was exactly, and where one sees more of it, for who sees everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<i64>,
    /// Why the change was applied or undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The months of a question that were final as something else, without the causes.
pub(in crate::report) async fn months(
    db: &mut PgConnection,
    answers: &Answers,
    who: &SeenTeam,
    question: &Question,
    viewer: &Viewer,
    sequence: i64,
) -> Result<Vec<Restated>, Error> {
    let mut found = Vec::new();
    for month in question.period.months() {
        let of_month = Question { period: month.into(), filters: Vec::new(), ..question.clone() };
        let it = MonthOfTeam { answers, who, question: &of_month, viewer, sequence };
        found.extend(it.restated(db).await?);
    }
    Ok(found)
}

impl MonthOfTeam<'_> {
    /// Compares it, in cents, with what it was when it was final first.
    pub async fn restated(&self, db: &mut PgConnection) -> Result<Option<Restated>, Error> {
        let month = self.question.period.first();
        let Some(since) = final_since(db, month, self.sequence).await? else { return Ok(None) };
        // With the teams that were inside it in this month, whichever are in the last of a longer period.
        let now = self.stated_at(db, self.sequence).await?.unwrap_or_default();
        // What had no rate then was not stated, in this currency: a rate that was entered later restates nothing.
        let lacked = self.without_rate(db, since).await?;
        let lacks = self.without_rate(db, self.sequence).await?;
        let mut was = None;
        if lacked.iter().all(|currency| lacks.contains(currency)) {
            was = self.stated_at(db, since).await?;
        }
        let mut first = since;
        if was.is_none() && !now.is_zero() {
            // Nothing was stated then; halving the steps finds one at which something was, and before which it was not.
            let steps = steps_that_matter(db, month, since, self.sequence).await?;
            let (mut nothing, mut something) = (0, steps.len());
            while nothing < something {
                let between = nothing.midpoint(something);
                let then = self.stated_at(db, steps[between]).await?;
                let lacked = self.without_rate(db, steps[between]).await?;
                let is_short = lacked.iter().any(|currency| !lacks.contains(currency));
                if is_short || then.unwrap_or_default().is_zero() {
                    nothing = between + 1;
                } else {
                    something = between;
                }
            }
            first = steps.get(something).copied().unwrap_or(self.sequence);
            was = self.stated_at(db, first).await?;
        }
        let was = was.unwrap_or(now);
        let (difference, causes) = (now - was, Vec::new());
        Ok((was != now).then_some(Restated { month, sequence: first, was, now, difference, causes }))
    }

    /// Looks for the steps by which it became what it is. Where it is the same before and after many, none of them counts as
    /// a cause.
    pub async fn with_causes(&self, db: &mut PgConnection, restated: Restated) -> Result<Restated, Error> {
        let steps = steps_that_matter(db, restated.month, restated.sequence, self.sequence).await?;
        let mut changed = Vec::new();
        // Stretches of steps with what was stated before the first of them, and at the last.
        let mut open = vec![(0, steps.len(), restated.was, restated.now)];
        while let Some((first, end, before, after)) = open.pop() {
            if before == after || first == end {
                continue;
            }
            if end - first == 1 {
                changed.push(steps[first]);
                continue;
            }
            let middle = first.midpoint(end);
            let between = self.stated_at(db, steps[middle - 1]).await?;
            let between = between.unwrap_or_default();
            open.extend([(first, middle, before, between), (middle, end, between, after)]);
        }
        let events = without_effect(events_at(db, &changed).await?);
        let causes = events.into_iter().map(|event| Cause::of(event, self.viewer)).collect();
        Ok(Restated { causes, ..restated })
    }

    /// What the statement of the team, and those inside it then, said as of a step. `None` where there was none: no such
    /// team, or nobody who was charged anything, because the rules were still to come.
    async fn stated_at(&self, db: &mut PgConnection, step: i64) -> Result<Option<Decimal>, Error> {
        let configuration = self.answers.configuration(db, step).await?;
        // Its total alone is shown, as it was.
        let Some(then) =
            seen_team(&configuration, &configuration, self.viewer, &self.who.team, self.question.period)
        else {
            return Ok(None);
        };
        let teams = then.in_month(self.question.period.first());
        if teams.is_empty() {
            return Ok(None);
        }
        let asked = Question { sequence: Some(step), ..self.question.clone() };
        let cents = month_in_cents(db, self.answers, &asked).await?;
        let is_anybody_charged = cents.iter().any(|(team, cents)| team.is_some() && !cents.total.is_zero());
        let charged = teams.iter().filter_map(|team| cents.get(&Some(team.clone())));
        Ok(is_anybody_charged.then(|| charged.map(|cents| cents.total).sum()))
    }

    /// The currencies that no rate converts as of a step.
    async fn without_rate(&self, db: &mut PgConnection, step: i64) -> Result<Vec<Currency>, Error> {
        let asked = Question { sequence: Some(step), ..self.question.of_organization().by(Grouping::Team) };
        let unconverted = self.answers.spend(db, &asked).await?.unconverted;
        Ok(unconverted.into_iter().map(|left_out| left_out.cost.currency).collect())
    }
}

/// Leaves out what was undone among the same events, and its undo.
fn without_effect(mut events: Vec<Event>) -> Vec<Event> {
    let subject = |event: &Event| (event.of.change().map(|change| change.id), event.of.delivery());
    let undone: Vec<_> = events.iter().filter(|event| event.is_undo).map(subject).collect();
    let is_there =
        |of: &(Option<i64>, Option<i64>)| events.iter().any(|event| !event.is_undo && subject(event) == *of);
    let gone: Vec<_> = undone.into_iter().filter(|of| *of != (None, None) && is_there(of)).collect();
    events.retain(|event| !gone.contains(&subject(event)));
    events
}

impl Cause {
    fn of(event: Event, viewer: &Viewer) -> Self {
        let of_all = |what| Self {
            // They were asked for by their steps.
            sequence: event.sequence.unwrap_or_default(),
            at: event.at,
            what,
            is_undo: event.is_undo,
            ..Self::default()
        };
        let is_told = *viewer == Viewer::Everything;
        let reason = event.reason().map(str::to_owned);
        match event.of {
            EventOf::Delivery { delivery, files, .. } if is_told => {
                Self { title: Some(files.join(", ")), delivery: Some(delivery), ..of_all("a bill") }
            }
            EventOf::Change { change } if is_told => Self {
                title: Some(change.summary),
                change: Some(change.id),
                reason,
                ..of_all("the allocation")
            },
            EventOf::Delivery { .. } => of_all("a bill"),
            EventOf::Change { .. } => of_all("the allocation"),
            EventOf::Rates => of_all("exchange rates"),
            EventOf::Usage => of_all("usage"),
            EventOf::Quantities => of_all("quantities"),
            EventOf::ReportingCurrency => of_all("the reporting currency"),
        }
    }
}

/// The steps after one and up to another that can have changed what anybody is charged in a month: the configuration's, those of
/// rates, and those of its own bills.
async fn steps_that_matter(
    db: &mut PgConnection,
    month: BillingMonth,
    since: i64,
    until: i64,
) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar!(
        "select l.sequence
         from ledger_log l
         where l.sequence > $2 and l.sequence <= $3 and (
             l.delivery_id is null or l.delivery_id in (
                 select ds.delivery_id
                 from delivery_scopes ds
                 join scopes s using (scope_id)
                 where s.billing_month = $1
             )
         )
         order by 1",
        month.first_day(),
        since,
        until,
    )
    .fetch_all(db)
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_undone_is_no_cause() {
        let event = |sequence: i64, is_undo: bool, of: EventOf| Event {
            at: DateTime::UNIX_EPOCH,
            by: String::new(),
            sequence: Some(sequence),
            is_undo,
            of,
        };
        let bill = |delivery: i64| EventOf::Delivery { delivery, files: Vec::new(), is_undone: false };
        let left = |events: Vec<Event>| -> Vec<i64> {
            without_effect(events).iter().filter_map(|event| event.sequence).collect()
        };
        let both = vec![
            event(9, false, EventOf::Rates),
            event(8, true, bill(1)),
            event(7, false, bill(2)),
            event(6, false, bill(1)),
        ];
        assert_eq!(left(both), [9, 7]);
        // What was there before is undone with effect.
        assert_eq!(left(vec![event(8, true, bill(1)), event(7, true, EventOf::Rates)]), [8, 7]);
    }
}
