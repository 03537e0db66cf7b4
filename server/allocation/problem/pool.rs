//! What is wrong with how a pool is divided, and where it hands on to.

use std::collections::{BTreeSet, VecDeque};

use super::super::configuration::MonthConfiguration;
use super::super::entry::{Hours, Recipient, SharedCostPool, Split};
use super::super::split::PLACES;
use super::Found;
use crate::money::Decimal;

/// From a pool over one that takes part in it to the teams.
const STEPS: usize = 2;

/// What can be seen of a pool by itself.
pub(super) fn check_alone(title: &str, pool: &SharedCostPool, found: &mut Found) {
    if let Split::Fixed { shares } = &pool.split {
        let one = Decimal::from(1);
        let sum: Decimal = shares.iter().map(|it| it.share).sum();
        if shares.is_empty() {
            found.add(title, "enter fixed shares");
        } else if sum != one {
            found.add(title, format!("the shares total {}; enter shares that total 100%", percent(sum)));
        }
        if shares.iter().any(|it| it.share.is_negative() || it.share.is_zero()) {
            found.add(title, "enter shares above zero");
        }
        if shares.iter().any(|it| it.share.scale() > PLACES) {
            let places = PLACES.saturating_sub(2);
            found.add(title, format!("enter percentages with at most {places} decimals"));
        }
        let mut recipients = BTreeSet::new();
        for share in shares {
            if !recipients.insert(&share.to) {
                let (Recipient::Team(name) | Recipient::Pool(name)) = &share.to;
                found.add(title, format!("{name} has two shares"));
            }
        }
        let has_share = |recipient: &Recipient| recipients.contains(recipient);
        for team in pool.without.iter().filter(|team| has_share(&Recipient::Team((*team).clone()))) {
            found.add(title, format!("team {team} is excluded and has a share"));
        }
        for team in pool.among.iter().filter(|team| !has_share(&Recipient::Team((*team).clone()))) {
            found.add(title, format!("team {team} takes part and has no share"));
        }
        for other in pool.pools.iter().filter(|other| !has_share(&Recipient::Pool((*other).clone()))) {
            found.add(title, format!("shared costs {other} take part and have no share"));
        }
    }
    if let Split::Quantity { unit } = &pool.split
        && unit.trim().is_empty()
    {
        found.add(title, "enter the unit of the quantity");
    }
    if let Split::AcceleratorHours(Hours { account: Some(account), .. }) = &pool.split
        && account.trim().is_empty()
    {
        found.add(title, "enter the account whose hours count");
    }
    let hands_to_pools =
        matches!(pool.split, Split::Quantity { .. } | Split::WhoUsedIt) && !pool.pools.is_empty();
    if hands_to_pools {
        found.add(title, "divided by a quantity or usage, other shared costs cannot take part");
    }
    for team in &pool.among {
        if pool.without.contains(team) {
            found.add(title, format!("team {team} takes part and is excluded"));
        }
    }
}

/// What can be seen of pools in a month only.
pub(super) fn check(configuration: &MonthConfiguration<'_>, found: &mut Found) {
    let month = configuration.month;
    for pool in &configuration.pools {
        let title = format!("shared costs {}", pool.name);
        let teams = pool.among.iter().chain(&pool.without);
        for team in teams.filter(|team| configuration.team(team).is_none()) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        for recipient in recipients(pool) {
            match recipient {
                Recipient::Team(team) if configuration.team(&team).is_none() => {
                    found.add_in(&title, format!("there is no team {team}"), month);
                }
                Recipient::Pool(other) if configuration.pool(&other).is_none() => {
                    found.add_in(&title, format!("there are no shared costs {other}"), month);
                }
                _ => {}
            }
        }
        for other in pools_of(pool) {
            if let Some(other) = configuration.pool(&other).filter(|other| other.split == Split::WhoUsedIt) {
                let name = &other.name;
                found.add(
                    &title,
                    format!("shared costs {name} are divided by who used them, so they cannot take part"),
                );
            }
        }
    }
    check_ways(configuration, found);
}

/// Loops first: what goes round has no number of steps.
fn check_ways(configuration: &MonthConfiguration<'_>, found: &mut Found) {
    let named = |path: &[&str]| {
        let names =
            path.iter().map(|handle| configuration.pool(handle).map_or(*handle, |pool| pool.name.as_str()));
        names.collect::<Vec<_>>().join(" → ")
    };
    let mut has_loop = false;
    for pool in &configuration.pools {
        if let Some(path) = loop_of(configuration, &pool.handle) {
            has_loop = true;
            found.add(
                format!("shared costs {}", pool.name),
                format!("a loop of shared costs is not allowed: {}", named(&path)),
            );
        }
    }
    if has_loop {
        return;
    }
    for pool in &configuration.pools {
        let path = longest(configuration, &pool.handle, STEPS);
        if path.len() > STEPS {
            let message = format!("at most two levels of shared costs are allowed: {} → teams", named(&path));
            found.add(format!("shared costs {}", pool.name), message);
        }
    }
}

/// The shortest way from a pool back to it.
fn loop_of<'a>(configuration: &MonthConfiguration<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([vec![start]]);
    while let Some(path) = open.pop_front() {
        for next in next_of(configuration, path.last()?) {
            let longer: Vec<&str> = path.iter().copied().chain([next]).collect();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                open.push_back(longer);
            }
        }
    }
    None
}

/// The longest way that a pool's costs go over others, as far as one needs to look.
fn longest<'a>(configuration: &MonthConfiguration<'a>, start: &'a str, left: usize) -> Vec<&'a str> {
    let next = if left == 0 { Vec::new() } else { next_of(configuration, start) };
    let ways = next.into_iter().map(|next| longest(configuration, next, left - 1));
    let rest = ways.max_by_key(Vec::len).unwrap_or_default();
    std::iter::once(start).chain(rest).collect()
}

/// The pools that take part in one.
fn next_of<'a>(configuration: &MonthConfiguration<'a>, handle: &str) -> Vec<&'a str> {
    let pool = configuration.pools.iter().copied().find(|pool| pool.handle == handle);
    let fixed = pool.into_iter().flat_map(|pool| match &pool.split {
        Split::Fixed { shares } => shares.as_slice(),
        _ => &[],
    });
    let fixed = fixed.filter_map(|it| match &it.to {
        Recipient::Pool(pool) => Some(pool.as_str()),
        Recipient::Team(_) => None,
    });
    let mut next: Vec<&str> =
        pool.into_iter().flat_map(|pool| &pool.pools).map(String::as_str).chain(fixed).collect();
    next.sort_unstable();
    next.dedup();
    next
}

fn recipients(pool: &SharedCostPool) -> Vec<Recipient> {
    let fixed = match &pool.split {
        Split::Fixed { shares } => shares.iter().map(|it| it.to.clone()).collect(),
        _ => Vec::new(),
    };
    pool.pools.iter().map(|pool| Recipient::Pool(pool.clone())).chain(fixed).collect()
}

fn pools_of(pool: &SharedCostPool) -> Vec<String> {
    let pools = recipients(pool).into_iter().filter_map(|recipient| match recipient {
        Recipient::Pool(pool) => Some(pool),
        Recipient::Team(_) => None,
    });
    pools.collect()
}

/// `99%` of 0.99.
fn percent(share: Decimal) -> String {
    format!("{}%", share.times(100).normalize())
}
