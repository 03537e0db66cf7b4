//! What differs between two people to whom a page shows the same: it is rendered with blanks, which are filled in as it is
//! sent.

use std::sync::LazyLock;

use askama::filters::{Html, escape};
use chrono::DateTime;
use memchr::memmem;

use super::super::extract::Visitor;
use crate::accounts::{Person, Secret, UserId};
use crate::clock;

/// From chance, so that nobody can write a blank into a tag or a name.
static OF_PROCESS: LazyLock<Secret> = LazyLock::new(|| Secret::random(&mut clock::dice()));
static MARKS: LazyLock<[(Blank, String); 3]> = LazyLock::new(|| {
    let secret = OF_PROCESS.as_str();
    [
        (Blank::Token, OF_PROCESS.csrf()),
        (Blank::Name, format!("name-{secret}")),
        (Blank::Email, format!("e-mail-{secret}")),
    ]
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    /// Of the forms.
    Token,
    Name,
    Email,
}

/// The texts of one visitor, as they stand in HTML.
pub(super) struct Filled {
    token: String,
    name: String,
    email: String,
}

/// A visitor who sees what this person sees, and of whom nothing else is known.
pub(super) fn anybody(visitor: &Visitor, person: &Person) -> Visitor {
    let [_, (_, name), (_, email)] = &*MARKS;
    let anybody = Person {
        user_id: UserId(0),
        email: email.clone(),
        name: Some(name.clone()),
        role: person.role,
        teams: person.teams.clone(),
        sees_billing_accounts: person.sees_billing_accounts,
        created_at: DateTime::UNIX_EPOCH,
        seen_at: None,
        disabled_at: None,
        has_password: true,
    };
    Visitor {
        person: Some(anybody),
        session: None,
        visit: OF_PROCESS.clone(),
        is_new: false,
        flash: None,
        ..visitor.clone()
    }
}

/// The text up to each blank, with the blank; after the last there is none.
pub(super) fn split(text: &[u8]) -> Vec<(&[u8], Option<Blank>)> {
    let of_mark = |(blank, mark): &'static (Blank, String)| {
        memmem::find_iter(text, mark).map(|at| (at, at + mark.len(), *blank))
    };
    let mut found: Vec<_> = MARKS.iter().flat_map(of_mark).collect();
    found.sort_unstable_by_key(|(at, ..)| *at);
    let mut parts = Vec::new();
    let mut end = 0;
    for (at, after, blank) in found {
        parts.push((&text[end..at], Some(blank)));
        end = after;
    }
    parts.push((&text[end..], None));
    parts
}

impl Filled {
    pub fn of(visitor: &Visitor, person: &Person) -> Self {
        let escaped =
            |text: &str| escape(text, Html).map_or_else(|never| match never {}, |text| text.to_string());
        Self {
            token: visitor.secret().csrf(),
            name: escaped(person.display_name()),
            email: escaped(&person.email),
        }
    }

    #[cfg(test)]
    pub fn with(text: &str) -> Self {
        Self { token: text.to_owned(), name: text.to_owned(), email: text.to_owned() }
    }

    pub fn text(&self, blank: Blank) -> &[u8] {
        match blank {
            Blank::Token => self.token.as_bytes(),
            Blank::Name => self.name.as_bytes(),
            Blank::Email => self.email.as_bytes(),
        }
    }
}
