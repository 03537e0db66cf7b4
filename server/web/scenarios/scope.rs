//! Whose scenarios a lead sees: those that are shared with their teams, and with teams inside these.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use crate::accounts::people::normalize_team;
use crate::accounts::{Person, Role};
use crate::allocation::{self, Book, handle_of};
use crate::period::BillingMonth;
use crate::web::error::Result;
use crate::{clock, ledger};

/// Teams, as they are inside each other today.
pub(super) struct Scope {
    book: Book,
    month: BillingMonth,
}

impl Scope {
    pub(super) async fn today(db: &mut PgConnection) -> Result<Self> {
        let sequence = ledger::sequence(&mut *db).await?;
        let book = allocation::book(db, sequence).await?;
        Ok(Self { book, month: BillingMonth::of(clock::now().date_naive()) })
    }

    /// A lead with the teams that are inside theirs, by their names and handles.
    pub(super) fn of(&self, lead: &Person) -> Person {
        let month = self.book.of_month(self.month);
        let mut teams: BTreeSet<String> = lead.teams.iter().cloned().collect();
        for theirs in &lead.teams {
            for handle in month.with_teams_inside(&handle_of(theirs)) {
                teams.insert(normalize_team(handle));
                teams.extend(month.team(handle).map(|team| normalize_team(&team.name)));
            }
        }
        Person { teams: teams.into_iter().collect(), ..lead.clone() }
    }
}

/// Somebody as scenarios are shown to them.
pub(super) async fn seen_by(db: &mut PgConnection, person: &Person) -> Result<Person> {
    if person.role != Role::Lead || person.teams.is_empty() {
        return Ok(person.clone());
    }
    Ok(Scope::today(db).await?.of(person))
}
