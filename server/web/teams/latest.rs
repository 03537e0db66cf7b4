//! `/teams`, `/teams/vision`: where one begins.

use super::super::default_month::{in_one_currency, latest};
use super::super::error::Result;
use super::super::extract::{Pairs, Reading};
use super::super::paths;
use super::super::question::Asked;
use super::super::respond;
use super::{TAKES, seen};
use crate::accounts::Viewer;
use crate::allocation;
use crate::ledger;
use crate::period::BillingMonth;
use crate::report;

/// A lead of one team begins there, everybody else with all teams.
pub async fn any(_: paths::Teams, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: pairs, app, mut db, .. } = reading;
    let asked = Asked::read_only(pairs, TAKES)?;
    let viewer = person.viewer();
    let Some((month, asked)) = latest(&mut db, &app.answers, asked, &viewer).await? else {
        return Ok(respond::see_other(paths::Overview));
    };
    let period = month.into();
    if let Viewer::Teams(theirs) = &viewer
        && let [only] = theirs.as_slice()
    {
        let sequence = ledger::sequence(&mut db).await?;
        let configuration = app.answers.configuration(&mut db, sequence).await?;
        let handle = allocation::handle_of(only);
        if let Some(who) = report::seen_team(&configuration, &configuration, &viewer, &handle, period) {
            return Ok(respond::see_other(asked.link(paths::Team { team: who.team, period })));
        }
    }
    Ok(respond::see_other(asked.link(paths::Chargeback { period })))
}

/// A team in the latest month that has it.
pub async fn of_team(path: paths::AnyTeam, reading: Reading<Pairs>) -> Result {
    let Reading { now, person, query: pairs, app, mut db, .. } = reading;
    let asked = Asked::read_only(pairs, TAKES)?;
    let viewer = person.viewer();
    let month = app.answers.latest_month(&mut db, &viewer).await?;
    let month = month.unwrap_or_else(|| BillingMonth::of(now.date_naive()));
    let who = seen(&mut db, &app.answers, &viewer, &path.team, month.into(), asked.sequence).await?;
    let asked = in_one_currency(&mut db, &app.answers, asked, who.month, &viewer).await?;
    Ok(respond::see_other(asked.link(paths::Team { team: who.team, period: who.month.into() })))
}
