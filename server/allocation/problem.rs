//! What is wrong with a book. One that has a problem is not kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::book::{Book, MonthBook};
use super::entry::{Budget, BudgetOf, Entry, Pool, Recipient, Split, Target};
use super::label::{Label, handle_of, normalized};
use super::rule::{Condition, Test, pattern};
use crate::money::Decimal;
use crate::period::BillingMonth;

/// A sentence for whoever wrote it, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// `rule Support`.
    pub of: String,
    pub message: String,
}

/// More characters than this make no name, pattern or spelling.
const LONGEST: usize = 300;

/// Everything that is wrong, each thing once.
pub fn problems(book: &Book) -> Vec<Problem> {
    let mut found = Found(BTreeMap::new());
    for entry in book.entries.values() {
        alone(entry, &mut found);
    }
    for month in book.turning_points() {
        together(&book.of_month(month), &mut found);
    }
    labels_once(book, &mut found);
    for (_, budget) in book.budgets() {
        of_budget(book, budget, &mut found);
    }
    let problem = |((of, message), month): ((String, String), Option<BillingMonth>)| match month {
        Some(month) => Problem { of, message: format!("{message} in {month}") },
        None => Problem { of, message },
    };
    found.0.into_iter().map(problem).collect()
}

/// Of what is wrong in several months, the first is named.
struct Found(BTreeMap<(String, String), Option<BillingMonth>>);

impl Found {
    fn add_in(&mut self, of: impl Into<String>, message: impl Into<String>, month: BillingMonth) {
        self.0.entry((of.into(), message.into())).or_insert(Some(month));
    }

    fn add(&mut self, of: impl Into<String>, message: impl Into<String>) {
        self.0.entry((of.into(), message.into())).or_insert(None);
    }
}

/// What can be seen of an entry by itself.
fn alone(entry: &Entry, found: &mut Found) {
    let title = entry.title();
    if entry.months().are_none() {
        found.add(&title, format!("its months end before they begin ({})", entry.months().in_words()));
    }
    let named = match entry {
        Entry::Team(it) => Some((&it.handle, &it.name)),
        Entry::Project(it) => Some((&it.handle, &it.name)),
        Entry::CostCentre(it) => Some((&it.handle, &it.name)),
        Entry::Pool(it) => Some((&it.handle, &it.name)),
        _ => None,
    };
    if let Some((handle, name)) = named {
        if name.trim().is_empty() {
            found.add(&title, "it has no name");
        }
        if handle.is_empty() || *handle != handle_of(handle) {
            found.add(
                &title,
                format!("{handle:?} cannot stand in an address; letters, digits and - between them can"),
            );
        }
        if name.chars().count() > LONGEST || handle.chars().count() > LONGEST {
            found.add(&title, format!("its name is longer than {LONGEST} characters"));
        }
    }
    match entry {
        Entry::Experiment(it) if normalized(&it.handle).is_empty() || it.handle != normalized(&it.handle) => {
            found.add(&title, format!("{:?} is no label in the spelling that is compared", it.handle));
        }
        Entry::Account(it) if it.account.trim().is_empty() => found.add(&title, "it names no account"),
        Entry::Meaning(it) if it.keys.iter().all(|key| key.trim().is_empty()) => {
            found.add(&title, "it names no tag");
        }
        Entry::Value(it) if it.value.trim().is_empty() => found.add(&title, "it has no value"),
        Entry::Rule(rule) => {
            if rule.name.trim().is_empty() {
                found.add("a rule", "it has no name");
            }
            for condition in &rule.when {
                of_condition(&title, condition, found);
            }
            if let Target::Tag { key } = &rule.to
                && key.trim().is_empty()
            {
                found.add(&title, "it names no tag");
            }
        }
        Entry::Pool(pool) => of_pool(&title, pool, found),
        _ => {}
    }
}

fn of_condition(title: &str, condition: &Condition, found: &mut Found) {
    match &condition.test {
        Test::Is(values) | Test::StartsWith(values) => {
            if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
                let message = format!(
                    "{} is compared with nothing; say “is missing” for what has no value",
                    condition.field.name()
                );
                found.add(title, message);
            }
        }
        Test::Matches(text) => {
            if text.is_empty() {
                found.add(title, format!("{} has no pattern to match", condition.field.name()));
            } else if let Err(error) = pattern(text) {
                found.add(title, error.to_string());
            }
        }
        Test::Missing => {}
    }
}

fn of_pool(title: &str, pool: &Pool, found: &mut Found) {
    if let Split::Fixed { shares } = &pool.split {
        let one = Decimal::from(1);
        let sum: Decimal = shares.iter().map(|it| it.share).sum();
        if shares.is_empty() {
            found.add(title, "its fixed shares are not given");
        } else if sum != one {
            found.add(title, format!("its shares sum to {}, not to 1", sum.normalize()));
        }
        if shares.iter().any(|it| it.share.is_negative() || it.share.is_zero()) {
            found.add(title, "a share is not above zero");
        }
        if shares.iter().any(|it| it.share.scale() > super::split::PLACES) {
            found
                .add(title, format!("a share has more than {} digits after the point", super::split::PLACES));
        }
        let mut recipients = BTreeSet::new();
        for share in shares {
            if !recipients.insert(&share.to) {
                let (Recipient::Team(name) | Recipient::Pool(name)) = &share.to;
                found.add(title, format!("{name} has two shares"));
            }
        }
    }
    if let Split::Quantity { unit } = &pool.split
        && unit.trim().is_empty()
    {
        found.add(title, "the unit of its quantity is not given");
    }
    let hands_to_pools =
        matches!(pool.split, Split::Quantity { .. } | Split::WhoUsedIt) && !pool.pools.is_empty();
    if hands_to_pools {
        found.add(title, "pools have neither entered quantities nor use, so none can take part in it");
    }
    for team in &pool.among {
        if pool.without.contains(team) {
            found.add(title, format!("team {team} takes part and is excluded"));
        }
    }
}

/// What can be seen of a month only.
fn together(book: &MonthBook<'_>, found: &mut Found) {
    let month = book.month;
    unique(book, found);
    let has_team = |handle: &str| book.team(handle).is_some();
    for team in &book.teams {
        let title = format!("team {}", team.name);
        if let Some(parent) = &team.parent {
            if !has_team(parent) {
                found.add_in(&title, format!("it is part of {parent}, and there is no such team"), month);
            } else if let Some(path) = circle(book, &team.handle) {
                found.add(&title, format!("it is a part of itself: {path}"));
            }
        }
        if let Some(centre) = &team.cost_centre
            && book.cost_centre(centre).is_none()
        {
            found.add_in(&title, format!("there is no cost centre {centre}"), month);
        }
    }
    for project in &book.projects {
        let title = format!("project {}", project.name);
        if let Some(team) = project.team.as_deref().filter(|team| !has_team(team)) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        if let Some(centre) = project.cost_centre.as_deref().filter(|it| book.cost_centre(it).is_none()) {
            found.add_in(&title, format!("there is no cost centre {centre}"), month);
        }
    }
    for experiment in &book.experiments {
        let title = format!("experiment {}", experiment.name);
        if let Some(team) = experiment.team.as_deref().filter(|team| !has_team(team)) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        if let Some(project) = experiment.project.as_deref().filter(|it| book.project(it).is_none()) {
            found.add_in(&title, format!("there is no project {project}"), month);
        }
    }
    for account in book.accounts.iter().filter(|account| !has_team(&account.team)) {
        found.add_in(
            format!("account {}", account.account),
            format!("there is no team {}", account.team),
            month,
        );
    }
    for (_, rule) in &book.rules {
        let title = format!("rule {}", rule.name);
        match &rule.to {
            Target::Team { team, project } => {
                if !has_team(team) {
                    found.add_in(
                        &title,
                        format!("it gives to team {team}, and there is no such team"),
                        month,
                    );
                }
                if let Some(project) = project.as_deref().filter(|it| book.project(it).is_none()) {
                    found.add_in(
                        &title,
                        format!("it gives to project {project}, and there is no such project"),
                        month,
                    );
                }
            }
            Target::Pool { pool } if book.pool(pool).is_none() => {
                found.add_in(&title, format!("it gives to pool {pool}, and there is no such pool"), month);
            }
            _ => {}
        }
    }
    for pool in &book.pools {
        let title = format!("pool {}", pool.name);
        for team in pool.among.iter().chain(&pool.without).filter(|team| !has_team(team)) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        for recipient in recipients(pool) {
            match recipient {
                Recipient::Team(team) if !has_team(&team) => {
                    found.add_in(&title, format!("there is no team {team}"), month);
                }
                Recipient::Pool(other) if book.pool(&other).is_none() => {
                    found.add_in(&title, format!("there is no pool {other}"), month);
                }
                _ => {}
            }
        }
        for path in paths_of_pools(book, &pool.handle) {
            let route = path.join(" → ");
            if path.first() == path.last() && path.len() > 1 {
                found.add(&title, format!("it comes back to itself: {route}"));
            } else if path.len() > 2 {
                found
                    .add(&title, format!("it takes more than two steps to reach the teams: {route} → teams"));
            }
        }
        for other in pools_of(pool) {
            let by_use = book.pool(&other).is_some_and(|other| other.split == Split::WhoUsedIt);
            if by_use {
                found.add(&title, format!("pool {other} is divided by who used it, so it cannot take part"));
            }
        }
    }
}

/// Handles, spellings and accounts that mean two things in one month.
fn unique(book: &MonthBook<'_>, found: &mut Found) {
    let mut teams = Spellings::new(Label::Team);
    for team in &book.teams {
        teams.add(&team.handle, &team.name, &team.spellings, book.month, found);
    }
    let mut projects = Spellings::new(Label::Project);
    for project in &book.projects {
        projects.add(&project.handle, &project.name, &project.spellings, book.month, found);
    }
    let mut centres = Spellings::new(Label::CostCentre);
    for centre in &book.cost_centres {
        centres.add(&centre.handle, &centre.name, &centre.spellings, book.month, found);
    }
    let mut experiments = Spellings::new(Label::Experiment);
    for experiment in &book.experiments {
        experiments.add(&experiment.handle, &experiment.name, &experiment.spellings, book.month, found);
    }
    let mut accounts = HashMap::new();
    for account in &book.accounts {
        if let Some(other) = accounts.insert(normalized(&account.account), &account.team) {
            let message = format!("it belongs to {other} and to {}", account.team);
            found.add_in(format!("account {}", account.account), message, book.month);
        }
    }
    let mut pools = BTreeSet::new();
    for pool in book.pools.iter().filter(|pool| !pools.insert(&pool.handle)) {
        found.add_in(format!("pool {}", pool.name), "there are two of it", book.month);
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
                found.add(format!("{kind} {name}"), "one of its spellings is empty");
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

/// The way from a team back to it.
fn circle(book: &MonthBook<'_>, handle: &str) -> Option<String> {
    let mut path = vec![handle];
    let mut at = book.team(handle)?;
    while let Some(parent) = &at.parent {
        path.push(parent);
        if parent == handle {
            return Some(path.join(" → "));
        }
        // A circle that it only leads to is told by those that are in it.
        if path.len() > book.teams.len() {
            return None;
        }
        at = book.team(parent)?;
    }
    None
}

fn recipients(pool: &Pool) -> Vec<Recipient> {
    let fixed = match &pool.split {
        Split::Fixed { shares } => shares.iter().map(|it| it.to.clone()).collect(),
        _ => Vec::new(),
    };
    pool.pools.iter().map(|pool| Recipient::Pool(pool.clone())).chain(fixed).collect()
}

fn pools_of(pool: &Pool) -> Vec<String> {
    let pools = recipients(pool).into_iter().filter_map(|recipient| match recipient {
        Recipient::Pool(pool) => Some(pool),
        Recipient::Team(_) => None,
    });
    pools.collect()
}

/// From a pool over those that it hands on to, until there is none, or it comes back to where it began.
fn paths_of_pools(book: &MonthBook<'_>, start: &str) -> Vec<Vec<String>> {
    let mut complete = Vec::new();
    let mut open = vec![vec![start.to_owned()]];
    while let Some(path) = open.pop() {
        let next = path.last().and_then(|last| book.pool(last)).map(pools_of).unwrap_or_default();
        if next.is_empty() {
            complete.push(path);
            continue;
        }
        for pool in next {
            let comes_back = pool == start;
            // Another pool's circle is that pool's problem.
            let is_elsewhere = !comes_back && path.contains(&pool);
            let longer: Vec<String> = path.iter().cloned().chain([pool]).collect();
            if comes_back || longer.len() > 3 {
                complete.push(longer);
            } else if !is_elsewhere {
                open.push(longer);
            }
        }
    }
    complete
}

/// Meanings and values, which hold for all months.
fn labels_once(book: &Book, found: &mut Found) {
    let mut meanings = BTreeSet::new();
    let mut spellings: HashMap<(Label, String), &str> = HashMap::new();
    for entry in book.entries.values() {
        match entry {
            Entry::Meaning(it) if !meanings.insert(it.label) => {
                found.add(entry.title(), "it stands there twice");
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

fn of_budget(book: &Book, budget: &Budget, found: &mut Found) {
    let title = format!("budget of {}", budget.of.in_words());
    let exists = book.entries.values().any(|entry| match (&budget.of, entry) {
        (BudgetOf::Team(handle), Entry::Team(it)) => it.handle == *handle,
        (BudgetOf::Project(handle), Entry::Project(it)) => it.handle == *handle,
        (BudgetOf::CostCentre(handle), Entry::CostCentre(it)) => it.handle == *handle,
        _ => false,
    });
    if !exists {
        found.add(&title, format!("there is no {}", budget.of.in_words()));
    }
    if budget.amount.is_negative() || budget.amount.is_zero() {
        found.add(&title, "its amount is not above zero");
    }
    if !budget.currency.is_money() {
        found.add(&title, format!("{} is no currency", budget.currency));
    }
    if budget.months.first.is_none() {
        found.add(&title, "it does not say from which month on it holds");
    }
    if budget.thresholds.iter().any(|percent| *percent == 0 || *percent > 1000) {
        found.add(&title, "a threshold is not between 1 and 1000 percent");
    }
    let others =
        book.budgets().filter(|(_, other)| other.of == budget.of && other.months.overlap(budget.months));
    if others.count() > 1 {
        found.add(&title, "two of its budgets hold for the same months");
    }
}
