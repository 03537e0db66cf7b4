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
        let (mut nothing, mut something) = (since, sequence);
        while something - nothing > 1 {
            let between = nothing.midpoint(something);
            if stated_at(db, answers, who, of_month, viewer, between).await?.is_zero() {
                nothing = between;
            } else {
                something = between;
            }
        }
        first = something;
        was = stated_at(db, answers, who, of_month, viewer, first).await?;
    }
    Ok((was != now).then(|| Restated { month, sequence: first, was, now, difference: now - was }))
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
