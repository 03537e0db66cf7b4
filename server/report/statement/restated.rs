//! What was final as something else: a month of a statement that a later bill, rule or rate has changed.

use serde::Serialize;
use sqlx::PgConnection;

use super::month_in_cents;
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::as_of::Error;
use crate::report::standing::final_since;
use crate::report::team::{SeenTeam, seen_team};
use crate::report::{Answers, Question};

/// A month that was final as something else. The difference is what it is now without what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restated {
    pub month: BillingMonth,
    /// The first step of the ledger at which every bill of the month was there and final, or the first after it at
    /// which the team was charged something.
    pub sequence: i64,
    pub was: Decimal,
    pub now: Decimal,
    pub difference: Decimal,
}

/// Compares a month of a team, in cents, with what it was when it was final first.
pub(super) async fn find(
    db: &mut PgConnection,
    answers: &Answers,
    who: &SeenTeam,
    of_month: &Question,
    viewer: &Viewer,
    sequence: i64,
) -> Result<Option<Restated>, Error> {
    let month = of_month.period.first();
    let Some(since) = final_since(db, month, sequence).await? else { return Ok(None) };
    // With the teams that were inside it in this month, whichever are in the last of a longer period.
    let now = stated_at(db, answers, who, of_month, viewer, sequence).await?;
    let mut was = stated_at(db, answers, who, of_month, viewer, since).await?;
    let mut first = since;
    if was.is_zero() && !now.is_zero() {
        // Nothing was stated then; halving the steps finds one at which something was, and before which it was not.
        let steps = steps_that_matter(db, month, since, sequence).await?;
        let (mut nothing, mut something) = (0, steps.len());
        while nothing < something {
            let between = nothing.midpoint(something);
            if stated_at(db, answers, who, of_month, viewer, steps[between]).await?.is_zero() {
                nothing = between + 1;
            } else {
                something = between;
            }
        }
        first = steps.get(something).copied().unwrap_or(sequence);
        was = stated_at(db, answers, who, of_month, viewer, first).await?;
    }
    Ok((was != now).then(|| Restated { month, sequence: first, was, now, difference: now - was }))
}

/// The steps after one and up to another that can have changed what anybody is charged in a month: the book's, those of
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

/// What the statement of a team, and those inside it then, said of a month as of a step.
async fn stated_at(
    db: &mut PgConnection,
    answers: &Answers,
    who: &SeenTeam,
    of_month: &Question,
    viewer: &Viewer,
    step: i64,
) -> Result<Decimal, Error> {
    let book = answers.book(db, step).await?;
    let Some(then) = seen_team(&book, viewer, &who.team, of_month.period) else { return Ok(Decimal::ZERO) };
    let asked = Question { sequence: Some(step), ..of_month.clone() };
    let cents = month_in_cents(db, answers, &asked).await?;
    let charged = then.in_month(of_month.period.first()).iter();
    Ok(charged.filter_map(|team| cents.get(&Some(team.clone()))).map(|cents| cents.total).sum())
}
