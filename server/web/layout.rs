//! What every page carries: who is signed in, where one can go, the forms' token, a message.

use super::extract::Visitor;
use super::extract::cookie::Flash;
use super::{Access, paths};
use crate::accounts::Person;
use crate::changes::Kind;

/// The main ways through the site. A page for everyone to find is one line here.
fn ways() -> [(&'static str, String, Access); 13] {
    [
        ("Overview", paths::Overview.to_string(), Access::SignedIn),
        ("Spend", paths::AnyPeriod.to_string(), Access::SignedIn),
        ("Teams", paths::Teams.to_string(), Access::SignedIn),
        ("Experiments", paths::AnyExperiments.to_string(), Access::SignedIn),
        ("Jobs", paths::AnyJobs.to_string(), Access::SignedIn),
        ("Budgets", paths::Budgets.to_string(), Access::SignedIn),
        ("Allocation", paths::Rules.to_string(), Access::Finance),
        ("Clusters", paths::Clusters.to_string(), Access::Finance),
        ("Scenarios", paths::Scenarios.to_string(), Access::SignedIn),
        ("Imports", paths::Imports.to_string(), Access::Finance),
        ("Invoices", paths::AnyInvoices.to_string(), Access::Finance),
        ("Exchange rates", paths::Rates.to_string(), Access::Finance),
        ("People", paths::People.to_string(), Access::Admin),
    ]
}

/// The frame around a page. Handlers take it as an extractor and give it to their page.
pub struct Layout {
    pub person: Option<Person>,
    /// Every form that writes sends it as `csrf`.
    pub csrf: String,
    /// What the last action had to say.
    pub flash: Option<Flash>,
    /// The figures are invented.
    pub is_demonstration: bool,
    /// `None` follows the system.
    pub theme: Option<&'static str>,
    path: String,
}

/// One way, as the navigation shows it.
pub struct Way {
    pub label: &'static str,
    pub href: String,
    pub is_current: bool,
}

impl Layout {
    pub fn new(visitor: &Visitor, path: &str) -> Self {
        Self {
            person: visitor.person.clone(),
            csrf: visitor.secret().csrf(),
            flash: visitor.flash.clone(),
            is_demonstration: visitor.is_demonstration,
            theme: visitor.theme,
            path: path.to_owned(),
        }
    }

    /// Whether whoever looks at the page may use routes of this access: to show or leave out what leads there.
    pub fn may(&self, access: Access) -> bool {
        access.admits(self.person.as_ref().map(|person| person.role))
    }

    /// Where the last action is undone, for who may.
    pub fn undo(&self) -> Option<String> {
        let change = self.flash.as_ref()?.change.filter(|_| self.may(Access::Admin))?;
        Some(paths::ChangeUndo { kind: Kind::Allocation, change }.to_string())
    }

    /// The page of the change that the last action made, for who may look at it.
    pub fn last_change(&self) -> Option<String> {
        let change = self.flash.as_ref()?.change.filter(|_| self.may(Access::Finance))?;
        Some(paths::Change { change }.to_string())
    }

    pub fn nav(&self) -> Vec<Way> {
        ways()
            .into_iter()
            .filter(|(_, _, access)| self.person.is_some() && self.may(*access))
            .map(|(label, href, _)| Way { label, is_current: self.is_way(&href), href })
            .collect()
    }

    /// Charges are what spend is made of, and variance is why it changed; of teams there is a list of all; the
    /// allocation has parts, and scenarios compare prices.
    fn is_way(&self, href: &str) -> bool {
        let below: &[&str] = match href {
            "/spend" => &["/variance", "/charges", "/tokens"],
            "/teams" => &["/chargeback"],
            "/rules" => {
                &["/unallocated", "/shared-costs", "/organization", "/labels", "/quantities", "/changes"]
            }
            "/clusters" => &["/asset-register"],
            "/imports" => &["/adjustments", "/catalog", "/mappings", "/rate-cards", "/usage"],
            "/scenarios" => &["/prices"],
            "/people" => &["/audit"],
            _ => &[],
        };
        self.is_at(href) || below.iter().any(|below| self.is_at(below))
    }

    /// Whether the page is the one at `href`, or below it.
    pub fn is_at(&self, href: &str) -> bool {
        let below = self.path.strip_prefix(href);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Where one is in a long table.
#[derive(Clone, Debug)]
pub struct Pages {
    /// From 1.
    pub page: u64,
    pub count: u64,
    /// The address up to the page's number: `/charges?team=nlp&page=`.
    pub href: String,
}

impl Pages {
    /// `first`: the address of the first page.
    pub fn of(page: u64, rows: u64, rows_a_page: u64, first: &str) -> Self {
        let joint = if first.contains('?') { '&' } else { '?' };
        Self { page, count: rows.div_ceil(rows_a_page).max(1), href: format!("{first}{joint}page=") }
    }

    pub fn previous(&self) -> Option<String> {
        (self.page > 1).then(|| format!("{}{}", self.href, self.page - 1))
    }

    pub fn next(&self) -> Option<String> {
        (self.page < self.count).then(|| format!("{}{}", self.href, self.page + 1))
    }
}
