//! Where a scenario of a page comes from, and its address with what was edited.

use std::sync::Arc;

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::edit::{Edit, Edited};
use super::ledger::{FromLedger, revision};
use super::prices::Prices;
use super::scope::seen_by;
use super::{to, to_template};
use crate::accounts::Person;
use crate::economics::comparison::Scenario;
use crate::economics::file;
use crate::economics::template::{Template, templates};
use crate::saved_scenarios::{self, Kept};
use crate::web::error::{Error, Result};
use crate::web::paths;

/// How a form names the ledger as what is kept.
pub(super) const FROM_LEDGER: &str = "ledger";

/// What a page begins with.
pub(super) enum Base {
    Template(&'static Template, Box<Scenario>),
    Kept(Box<Kept>),
    Ledger(Box<FromLedger>),
}

impl Base {
    pub(super) fn template(handle: &str) -> Result<Self> {
        let template = templates().iter().find(|it| it.handle == handle).ok_or(Error::NotFound)?;
        let scenario = file::read(template.text).map_err(|wrong| {
            let described: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            Error::Internal(anyhow::anyhow!("the template {handle}: {}", described.join("; ")))
        })?;
        Ok(Self::Template(template, Box::new(scenario)))
    }

    pub(super) async fn kept(
        db: &mut PgConnection,
        id: i64,
        version: Option<i64>,
        (person, today): (&Person, NaiveDate),
    ) -> Result<Self> {
        let reader = seen_by(db, person, today).await?;
        let kept = saved_scenarios::find(db, id, version, &reader).await?.ok_or(Error::NotFound)?;
        Ok(Self::Kept(Box::new(kept)))
    }

    pub(super) fn scenario(&self) -> &Scenario {
        match self {
            Self::Template(_, scenario) => scenario,
            Self::Kept(kept) => &kept.scenario,
            Self::Ledger(it) => &it.scenario,
        }
    }

    /// The address of its page, without what was edited.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Template(template, _) => to_template(template.handle),
            Self::Kept(kept) => to(kept.id),
            Self::Ledger(_) => paths::ScenarioNew.to_string(),
        }
    }

    /// What an address says of it besides edits: the version, where it is not the last.
    pub(super) fn version(&self) -> Option<i64> {
        match self {
            Self::Kept(kept) if kept.version != kept.last_version => Some(kept.version),
            _ => None,
        }
    }

    /// Everything that follows the path.
    pub(super) fn pairs(&self, edits: &[Edit], list: i64) -> Vec<(String, String)> {
        self.state(self.version(), edits, list)
    }

    /// What it is, and what was edited: what the ledger is asked, or a version; the revision of the list of prices, where
    /// what is there follows from that.
    pub(super) fn state(&self, version: Option<i64>, edits: &[Edit], list: i64) -> Vec<(String, String)> {
        let takes_prices =
            matches!(self, Self::Ledger(_)) || edits.iter().any(|it| matches!(it, Edit::Add(_)));
        let list = takes_prices.then(|| ("prices".to_owned(), list.to_string()));
        let asked = if let Self::Ledger(it) = self { it.pairs.as_slice() } else { &[] };
        let version = version.map(|it| ("version".to_owned(), it.to_string()));
        let edits = edits.iter().map(Edit::pair).map(|(name, value)| (name.to_owned(), value));
        asked.iter().cloned().chain(version).chain(list).chain(edits).collect()
    }

    /// An address with edits, of the page or (`.csv`) of a file.
    pub(super) fn at(&self, suffix: &str, edits: &[Edit], list: i64) -> String {
        let pairs = self.pairs(edits, list);
        let path = format!("{}{suffix}", self.path());
        if pairs.is_empty() {
            return path;
        }
        // Pointers stay readable: these characters mean nothing in a query.
        let query: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        format!("{path}?{}", query.join("&"))
    }
}

/// A value of a query, with pointers left as they are.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"/-_.=:~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// What an address, or a form that writes, says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub version: Option<i64>,
    /// The revision of the list of prices; none: the current one.
    pub list: Option<i64>,
    pub edits: Vec<Edit>,
    /// What the fields of the form say, by pointer.
    pub form: Vec<(String, String)>,
    /// What its button does.
    pub act: Option<Edit>,
    /// A rate, by its pointer, and the offer that it takes.
    pub take: Option<(String, String)>,
    /// What rates can take.
    pub prices: Arc<Prices>,
    /// Whatever else, for forms that write.
    pub rest: Vec<(String, String)>,
}

impl Said {
    pub(super) fn read(pairs: Vec<(String, String)>) -> Result<Self> {
        let mut said = Self::default();
        for (name, value) in pairs {
            if let Some(edit) = Edit::read(&name, &value) {
                said.edits.push(edit?);
            } else if name.starts_with('/') {
                said.form.push((name, value));
            } else if let Some(("do", (pointer, offer))) =
                value.strip_prefix("take:").and_then(|it| it.split_once('=')).map(|it| (name.as_str(), it))
            {
                said.take = Some((pointer.to_owned(), offer.to_owned()));
            } else if name == "do" {
                let edit = value.split_once(':').and_then(|(name, value)| Edit::read(name, value));
                let expected = || {
                    Error::BadRequest(format!("do: found “{value}”. Enter an edit such as copy:/option/0."))
                };
                said.act = Some(edit.ok_or_else(expected)??);
            } else if name == "prices" {
                said.list = Some(revision("prices", &value)?);
            } else if name == "version" {
                let expected = |_| Error::BadRequest(format!("version: found “{value}”. Enter a number."));
                said.version = Some(value.parse().map_err(expected)?);
            } else {
                said.rest.push((name, value));
            }
        }
        Ok(said)
    }

    /// A value of a form that writes.
    pub(super) fn value(&self, name: &str) -> &str {
        self.rest.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value.trim())
    }

    /// The scenario with everything that was said.
    pub(super) fn edit(&self, base: &Base) -> Result<Edited> {
        let (scenario, prices) = (base.scenario(), &self.prices);
        let edited = if self.is_form() {
            Edited::with_form(scenario, &self.edits, &self.form, self.act.clone(), prices)?
        } else {
            Edited::of(scenario, self.edits.clone(), prices)?
        };
        match &self.take {
            Some((pointer, offer)) => edited.with_offer(scenario, pointer, offer),
            None => Ok(edited),
        }
    }

    /// Whether a form says it, which has an address that says the same.
    pub(super) fn is_form(&self) -> bool {
        !self.form.is_empty() || self.act.is_some() || self.take.is_some()
    }
}
