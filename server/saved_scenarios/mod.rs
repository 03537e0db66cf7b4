//! Scenarios that people keep: documents of [`crate::economics`] with versions, owners and those they are shown to.
//!
//! - A version is never changed; what is saved is the next one, and to restore one is to save it again. Whoever saves
//!   says which version was the last when they began: what somebody else saved meanwhile is not covered unseen.
//! - A scenario is seen by who sees everything, by its owner, and by leads it is shared with: one by their address, or
//!   those of a team and of the teams that it is inside, by its handle ([`Reader`]). It is changed by who sees everything
//!   and by its owner.
//! - What was removed is on no list, and is there to be brought back.

mod find;
mod save;

pub use find::{Kept, Line, Version, find, list, shared_with, versions};
pub use save::{MOST_SHARES, Saved, Shared, bring_back, create, remove, save, share, unshare};

use serde::Serialize;

use crate::accounts::{Person, Role, UserId};
use crate::economics::comparison::Comparison;
use crate::money::Decimal;

/// What a scenario amounts to, in a line of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The option that costs least of those that do the work; none where none does.
    pub cheapest: Option<String>,
    /// What a productive hour of it costs; none where there are no such hours.
    pub cost_per_hour: Option<Decimal>,
}

impl Headline {
    pub fn of(compared: &Comparison) -> Self {
        let cheapest = compared.cheapest.and_then(|at| compared.options.get(at));
        Self {
            cheapest: cheapest.map(|it| it.name.clone()),
            cost_per_hour: cheapest.and_then(|it| it.per_productive_hour),
        }
    }
}

/// Whom a scenario is shown to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum Share {
    /// Its leads and those of the teams around it, by its handle; by its normalized name where no configuration has it.
    Team(String),
    /// A lead, by their address.
    Person(String),
}

impl Share {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Team(name) => ("team", name),
            Self::Person(name) => ("person", name),
        }
    }

    pub fn name(&self) -> &str {
        self.parts().1
    }
}

/// Who reads scenarios, which is not who may do anything else.
#[derive(Clone, Debug)]
pub struct Reader {
    user_id: UserId,
    email: String,
    sees_all: bool,
    teams: Vec<String>,
}

impl Reader {
    /// Somebody, with the teams, by their handles, of which they read what is shared: their own and those inside.
    pub fn new(person: &Person, teams: Vec<String>) -> Self {
        Self {
            user_id: person.user_id,
            email: person.email.clone(),
            sees_all: matches!(person.role, Role::Admin | Role::Finance),
            teams,
        }
    }

    /// Whether what is shared with a team is shown to them.
    pub fn is_of(&self, team: &str) -> bool {
        self.teams.iter().any(|it| it == team)
    }
}

/// Whether someone may change a scenario of this owner.
pub fn may_change(person: &Person, owner: UserId) -> bool {
    person.user_id == owner || matches!(person.role, Role::Admin | Role::Finance)
}
