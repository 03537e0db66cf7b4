//! Whose scenarios a lead sees: those that are shared with their teams, and with teams inside these. Teams are distinguished
//! by their handles, since anybody may call a team as another one's handle is spelled.

use crate::changes::Document as _;
use chrono::NaiveDate;
use sqlx::PgConnection;

use crate::accounts::people::normalize_team;
use crate::accounts::{Person, Role};
use crate::allocation::{self, Configuration, MonthConfiguration, Team, handle_of};
use crate::ledger;
use crate::period::BillingMonth;
use crate::saved_scenarios::Reader;
use crate::web::error::Result;

/// Teams, as they are inside each other today.
pub(super) struct Scope {
    configuration: Configuration,
    month: BillingMonth,
}

/// A team that a scenario is to be shown to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// What it is shared with: its handle, or what it is called where no configuration has it.
    pub team: String,
    pub name: String,
    /// Whether it has a lead of its own.
    pub has_lead: bool,
    /// The names of teams with a lead that it is inside, the closest first.
    pub around: Vec<String>,
}

impl Scope {
    pub(super) async fn of_day(db: &mut PgConnection, today: NaiveDate) -> Result<Self> {
        let sequence = ledger::sequence(&mut *db).await?;
        let configuration = allocation::Configuration::as_of(db, sequence).await?;
        Ok(Self { configuration, month: BillingMonth::of(today) })
    }

    /// A lead with the teams that are inside theirs.
    pub(super) fn of(&self, lead: &Person) -> Reader {
        let month = self.configuration.of_month(self.month);
        let mut teams = Vec::new();
        for theirs in &lead.teams {
            let inside = month.with_teams_inside(&handle_of(theirs));
            if inside.is_empty() {
                teams.push(normalize_team(theirs));
            }
            teams.extend(inside.into_iter().map(str::to_owned));
        }
        teams.sort();
        teams.dedup();
        Reader::new(lead, teams)
    }

    /// What a scenario is shared with for a team of this handle, whether or not there is one: names are not looked up for
    /// who may not know which teams there are.
    pub(super) fn handle(&self, text: &str) -> String {
        if self.configuration.has_teams() { handle_of(text) } else { normalize_team(text) }
    }

    /// A team by its handle or its name, with whoever reads what is shown to it. None where there is nobody.
    pub(super) fn shown(&self, text: &str, leads: &[Person]) -> Option<Shown> {
        let month = self.configuration.of_month(self.month);
        let is_led = |handle: &str| leads.iter().flat_map(|it| &it.teams).any(|it| handle_of(it) == handle);
        let Some(team) = find(&month, text) else {
            let team = normalize_team(text);
            let has_lead = leads.iter().any(|it| self.of(it).is_of(&team));
            return has_lead.then(|| Shown { name: team.clone(), team, has_lead, around: Vec::new() });
        };
        let mut around: Vec<&Team> = Vec::new();
        let mut parent = team.parent.as_deref();
        while let Some(of_parent) = parent.and_then(|it| month.team(it)) {
            if around.contains(&of_parent) {
                break;
            }
            around.push(of_parent);
            parent = of_parent.parent.as_deref();
        }
        let led = around.into_iter().filter(|it| is_led(&it.handle)).map(|it| it.name.clone());
        let shown = Shown {
            team: team.handle.clone(),
            name: team.name.clone(),
            has_lead: is_led(&team.handle),
            around: led.collect(),
        };
        (shown.has_lead || !shown.around.is_empty()).then_some(shown)
    }
}

/// The team that has this handle, else the only one that is called so.
fn find<'a>(month: &MonthConfiguration<'a>, text: &str) -> Option<&'a Team> {
    let handle = handle_of(text);
    if let Some(team) = month.teams.iter().copied().find(|it| it.handle == handle) {
        return Some(team);
    }
    let name = normalize_team(text);
    let mut called = month.teams.iter().copied().filter(|it| normalize_team(&it.name) == name);
    called.next().filter(|_| called.next().is_none())
}

impl Shown {
    /// Whose leads read it.
    pub(super) fn sentence(&self) -> String {
        let (name, around) = (&self.name, self.around.join(" and of "));
        match (self.has_lead, self.around.is_empty()) {
            (true, true) => format!("the leads of {name}"),
            (true, false) => format!("the leads of {name} and of {around}, its parent team"),
            (false, _) => format!("the leads of {around}, the parent team of {name}, which has no lead"),
        }
    }
}

/// Somebody as scenarios are shown to them.
pub(super) async fn seen_by(db: &mut PgConnection, person: &Person, today: NaiveDate) -> Result<Reader> {
    if person.role != Role::Lead || person.teams.is_empty() {
        return Ok(Reader::new(person, Vec::new()));
    }
    Ok(Scope::of_day(db, today).await?.of(person))
}
