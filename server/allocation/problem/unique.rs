//! What means two things at once.

use std::collections::{BTreeSet, HashMap};

use super::super::configuration::{Configuration, MonthConfiguration};
use super::super::entry::Entry;
use super::super::label::{Label, normalized};
use super::Found;
use crate::changes::Entry as _;
use crate::period::BillingMonth;

/// Handles, spellings and accounts that mean two things in one month.
pub(super) fn check(configuration: &MonthConfiguration<'_>, found: &mut Found) {
    let mut teams = Spellings::new(Label::Team);
    for team in &configuration.teams {
        teams.add(&team.handle, &team.name, &team.spellings, configuration.month, found);
    }
    let mut projects = Spellings::new(Label::Project);
    for project in &configuration.projects {
        projects.add(&project.handle, &project.name, &project.spellings, configuration.month, found);
    }
    let mut centres = Spellings::new(Label::CostCentre);
    for centre in &configuration.cost_centres {
        centres.add(&centre.handle, &centre.name, &centre.spellings, configuration.month, found);
    }
    let mut experiments = Spellings::new(Label::Experiment);
    for experiment in &configuration.experiments {
        experiments.add(
            &experiment.handle,
            &experiment.name,
            &experiment.spellings,
            configuration.month,
            found,
        );
    }
    let mut accounts = HashMap::new();
    for account in &configuration.accounts {
        if let Some(other) = accounts.insert(normalized(&account.account), &account.team) {
            let message = format!("two teams are entered: {other} and {}", account.team);
            found.add_in(format!("account {}", account.account), message, configuration.month);
        }
    }
    let mut pools = BTreeSet::new();
    for pool in configuration.pools.iter().filter(|pool| !pools.insert(&pool.handle)) {
        found.add_in(format!("shared costs {}", pool.name), "this handle is used twice", configuration.month);
    }
}

/// What means what, of one kind of entry in a month.
struct Spellings {
    label: Label,
    handles: BTreeSet<String>,
    meaning: HashMap<String, String>,
}

impl Spellings {
    fn new(label: Label) -> Self {
        Self { label, handles: BTreeSet::new(), meaning: HashMap::new() }
    }

    fn add(
        &mut self,
        handle: &str,
        name: &str,
        spellings: &[String],
        month: BillingMonth,
        found: &mut Found,
    ) {
        let kind = self.label.name().to_lowercase();
        if !self.handles.insert(handle.to_owned()) {
            found.add_in(format!("{kind} {name}"), format!("there are two {handle}"), month);
            return;
        }
        for spelling in spellings.iter().map(String::as_str).chain([handle, name]) {
            if normalized(spelling).is_empty() {
                found.add(format!("{kind} {name}"), "remove the empty spelling");
                continue;
            }
            let other = self.meaning.insert(normalized(spelling), handle.to_owned());
            if let Some(other) = other.filter(|other| other != handle) {
                let message = format!("{spelling:?} means {other} and {handle}");
                found.add_in(format!("{kind} {name}"), message, month);
            }
        }
    }
}

/// Meanings and values, which hold for all months.
pub(super) fn check_labels(configuration: &Configuration, found: &mut Found) {
    let mut meanings = BTreeSet::new();
    let mut spellings: HashMap<(Label, String), &str> = HashMap::new();
    for entry in configuration.entries.values() {
        match entry {
            Entry::Meaning(it) if !meanings.insert(it.label) => {
                found.add(entry.title(), "entered twice");
            }
            Entry::Value(it) => {
                for spelling in it.spellings.iter().chain([&it.value]) {
                    let other = spellings.insert((it.label, normalized(spelling)), &it.value);
                    if let Some(other) = other.filter(|other| *other != it.value) {
                        found.add(entry.title(), format!("{spelling:?} means {other} and {}", it.value));
                    }
                }
            }
            _ => {}
        }
    }
}
