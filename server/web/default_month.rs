//! Where one begins who names no period: with the latest month, in one currency.

use sqlx::PgConnection;

use super::error::Result;
use super::question::Asked;
use crate::accounts::Viewer;
use crate::exchange;
use crate::period::BillingMonth;
use crate::report::Answers;

/// The latest month that the viewer sees, and what is asked of it. `None` while there is none: the overview says what
/// to do then.
pub async fn latest(
    db: &mut PgConnection,
    answers: &Answers,
    asked: Asked,
    viewer: &Viewer,
) -> Result<Option<(BillingMonth, Asked)>> {
    let Some(month) = answers.latest_month(db, viewer).await? else { return Ok(None) };
    Ok(Some((month, in_one_currency(db, answers, asked, month, viewer).await?)))
}

/// Of several currencies one sees everything in the reporting currency, where nothing else was asked for.
pub async fn in_one_currency(
    db: &mut PgConnection,
    answers: &Answers,
    mut asked: Asked,
    month: BillingMonth,
    viewer: &Viewer,
) -> Result<Asked> {
    if asked.currency.is_none() && asked.convert_into.is_none() {
        let spend = answers.spend(db, &asked.question(month.into(), viewer.clone())).await?;
        if !spend.other_currencies.is_empty() {
            asked.convert_into = exchange::reporting_currency(db).await?;
        }
    }
    Ok(asked)
}
