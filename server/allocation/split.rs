//! How pools of shared costs are divided: from weights to shares that sum to exactly 1.
//!
//! A share is a decimal number of [`PLACES`] digits, so an amount times its share is exact and the parts of an amount
//! sum to it, whatever pages group it by. What is left over by cutting goes, a unit each, to those that lost most.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::configuration::MonthConfiguration;
use super::entry::{Hours, Recipient, SharedCostPool, Split};
use super::label::normalized;
use crate::accelerator::accelerator_hours;
use crate::money::Decimal;

/// Digits of a share after the point. Of an amount of a billion, the last is a thousandth of a cent.
pub const PLACES: u8 = 12;

/// Decimals of the accelerator-hours that weigh.
const HOURS_PLACES: u8 = 6;

/// What a month's pools are divided by. Keys are handles of teams; what a team has none of is nothing.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// Effective cost of what is a team's own, in the reporting currency.
    pub cost: BTreeMap<String, Decimal>,
    /// The same of a pool.
    pub pool_cost: BTreeMap<String, Decimal>,
    /// Accelerator time of what is a team's own, or went to a pool.
    pub time: BTreeMap<Recipient, Vec<Time>>,
    /// By what was used (a commitment, a billing account), then by team.
    pub use_of: BTreeMap<String, BTreeMap<String, Decimal>>,
    /// By unit, then by team.
    pub quantities: BTreeMap<String, BTreeMap<String, Decimal>>,
    /// What the charges of pools that are divided by who used what belong to.
    pub parts: BTreeSet<(String, String)>,
}

/// Accelerator time of one kind in one account.
#[derive(Clone, Debug)]
pub struct Time {
    /// Of machines of the organization's own; else it was paid for.
    pub is_owned: bool,
    pub billing_account: String,
    pub sub_account: String,
    pub part_seconds: Decimal,
}

/// How a pool, or a part of one, was divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divided {
    pub pool: String,
    /// Of what: a commitment or a billing account; empty for a whole pool.
    pub part: String,
    /// By weight, to whom the pool's rules say. Empty where it could not be divided.
    pub first: Vec<Portion>,
    /// What each team gets in the end, also by way of other pools. A share without a team is unallocated. They sum to
    /// exactly 1.
    pub shares: Vec<TeamShare>,
    /// Why it is unallocated, or a part of it.
    pub undivided: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    pub to: Recipient,
    pub weight: Decimal,
    pub share: Decimal,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamShare {
    /// Empty: nobody.
    pub team: String,
    pub share: Decimal,
}

/// Divides all pools of a month.
pub fn divide(configuration: &MonthConfiguration<'_>, weights: &Weights) -> Vec<Divided> {
    let mut parts: Vec<(&SharedCostPool, String)> = Vec::new();
    for pool in &configuration.pools {
        if pool.split == Split::WhoUsedIt {
            let of_pool = weights.parts.iter().filter(|(handle, _)| *handle == pool.handle);
            parts.extend(of_pool.map(|(_, part)| (*pool, part.clone())));
        } else {
            parts.push((pool, String::new()));
        }
    }
    let first: Vec<FirstStep<'_>> = parts
        .into_iter()
        .map(|(pool, part)| FirstStep { pool, portions: portions(configuration, pool, &part, weights), part })
        .collect();
    first.iter().map(|step| step.divided(&first)).collect()
}

/// A pool, or a part of one, divided among those that take part, pools among them; or why it cannot be.
struct FirstStep<'a> {
    pool: &'a SharedCostPool,
    part: String,
    portions: Result<Vec<Portion>, String>,
}

impl FirstStep<'_> {
    /// What each team gets in the end, where the pools that take part hand on what they get.
    fn divided(&self, steps: &[Self]) -> Divided {
        let portions = self.portions.as_deref().unwrap_or_default();
        let mut undivided = self.portions.as_ref().err().cloned();
        let mut shares: BTreeMap<&str, Decimal> = BTreeMap::new();
        if portions.is_empty() {
            shares.insert("", Decimal::from(1));
        }
        for portion in portions {
            let by_way_of = match &portion.to {
                Recipient::Team(team) => {
                    *shares.entry(team).or_default() += portion.share;
                    continue;
                }
                Recipient::Pool(pool) => pool,
            };
            let next = steps.iter().find(|step| step.pool.handle == *by_way_of);
            let Some(next) = next.and_then(|step| step.portions.as_deref().ok()) else {
                *shares.entry("").or_default() += portion.share;
                undivided =
                    Some(format!("the shared costs {by_way_of}, which take part, could not be divided"));
                continue;
            };
            for onward in next {
                // Two steps are allowed; a configuration that has more is not kept.
                let team = match &onward.to {
                    Recipient::Team(team) => team.as_str(),
                    Recipient::Pool(_) => "",
                };
                *shares.entry(team).or_default() += portion.share.multiply(onward.share);
            }
        }
        let exact: Vec<Decimal> = shares.values().copied().collect();
        let rounded = Decimal::round_parts(&exact, PLACES);
        let shares =
            shares.keys().zip(rounded).map(|(team, share)| TeamShare { team: (*team).to_owned(), share });
        Divided {
            pool: self.pool.handle.clone(),
            part: self.part.clone(),
            first: portions.to_vec(),
            shares: shares.collect(),
            undivided,
        }
    }
}

/// Who gets how much of a pool; the reason where nobody can.
fn portions(
    configuration: &MonthConfiguration<'_>,
    pool: &SharedCostPool,
    part: &str,
    weights: &Weights,
) -> Result<Vec<Portion>, String> {
    if let Split::Fixed { shares } = &pool.split {
        let portions =
            shares.iter().map(|it| Portion { to: it.to.clone(), weight: it.share, share: it.share });
        return Ok(portions.collect());
    }
    let one = Decimal::from(1);
    let takes_part = |team: &str| {
        (pool.among.is_empty() || pool.among.iter().any(|named| named == team))
            && !pool.without.iter().any(|excluded| excluded == team)
    };
    let of = |weights: Option<&BTreeMap<String, Decimal>>, handle: &str| {
        weights.and_then(|weights| weights.get(handle)).copied().unwrap_or_default()
    };
    let weight = |to: &Recipient| match (&pool.split, to) {
        (Split::Evenly, Recipient::Team(team))
            if pool.among.is_empty() && configuration.has_teams_inside(team) =>
        {
            Decimal::ZERO
        }
        (Split::Evenly, _) => one,
        (Split::DirectCost, Recipient::Team(team)) => of(Some(&weights.cost), team),
        (Split::DirectCost, Recipient::Pool(pool)) => of(Some(&weights.pool_cost), pool),
        (Split::AcceleratorHours(hours), to) => hours_of(hours, weights.time.get(to)),
        (Split::Quantity { unit }, Recipient::Team(team)) => {
            of(weights.quantities.get(&normalized(unit)), team)
        }
        (Split::WhoUsedIt, Recipient::Team(team)) => of(weights.use_of.get(part), team),
        _ => Decimal::ZERO,
    };
    let teams = configuration.teams.iter().filter(|team| takes_part(&team.handle));
    let teams = teams.map(|team| Recipient::Team(team.handle.clone()));
    let pools = pool.pools.iter().map(|handle| Recipient::Pool(handle.clone()));
    // Whoever has more credits than costs has no part in what the others cost.
    let mut taking: Vec<(Recipient, Decimal)> = teams
        .chain(pools)
        .map(|to| (to.clone(), weight(&to)))
        .filter(|(_, weight)| !weight.is_negative() && !weight.is_zero())
        .collect();
    taking.sort();
    let amounts: Vec<Decimal> = taking.iter().map(|(_, weight)| *weight).collect();
    let shares = one.apportion(&amounts, PLACES).ok_or_else(|| nobody(&pool.split))?;
    Ok(taking.into_iter().zip(shares).map(|((to, weight), share)| Portion { to, weight, share }).collect())
}

/// Of somebody's accelerator time the hours that weigh.
fn hours_of(hours: &Hours, time: Option<&Vec<Time>>) -> Decimal {
    let account = hours.account.as_deref().map(normalized);
    let weighs = |time: &&Time| {
        let is_in = |account: &String| {
            [&time.sub_account, &time.billing_account].iter().any(|it| normalized(it) == *account)
        };
        hours.of.has(time.is_owned) && account.as_ref().is_none_or(is_in)
    };
    let part_seconds = time.into_iter().flatten().filter(weighs).map(|time| time.part_seconds).sum();
    accelerator_hours(part_seconds, HOURS_PLACES)
}

/// Why a pool could not be divided.
fn nobody(split: &Split) -> String {
    match split {
        Split::Evenly | Split::Fixed { .. } => "no team takes part".to_owned(),
        Split::DirectCost => "no team that takes part has direct costs".to_owned(),
        Split::AcceleratorHours(hours) => {
            let account = hours.account.as_ref().map(|account| format!(" of {account}")).unwrap_or_default();
            format!("no team that takes part has {}{account}", hours.of.on_page())
        }
        Split::Quantity { .. } => "no quantity was entered for a team that takes part".to_owned(),
        Split::WhoUsedIt => "no team that takes part has usage of it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::accelerator::PARTS;
    use crate::allocation::configuration::Configuration;
    use crate::allocation::entry::{Entry, FixedShare, HoursOf, Months, Team};

    fn pool(handle: &str, split: Split) -> SharedCostPool {
        SharedCostPool {
            handle: handle.into(),
            name: handle.into(),
            split,
            among: Vec::new(),
            without: Vec::new(),
            pools: Vec::new(),
            months: Months::default(),
        }
    }

    fn configuration(teams: &[&str], pools: Vec<SharedCostPool>) -> Configuration {
        let teams = teams.iter().map(|&handle| {
            Entry::Team(Team { handle: handle.into(), name: handle.into(), ..Team::default() })
        });
        let entries = teams.chain(pools.into_iter().map(Entry::Pool));
        Configuration { entries: (1..).zip(entries).collect() }
    }

    fn shares(divided: &[Divided], pool: &str) -> Vec<(String, String)> {
        let found = divided.iter().find(|it| it.pool == pool).unwrap();
        found.shares.iter().map(|it| (it.team.clone(), it.share.normalize().to_string())).collect()
    }

    fn strings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn three_teams_share_evenly_to_the_last_unit() {
        let configuration = configuration(&["a", "b", "c"], vec![pool("tax", Split::Evenly)]);
        let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &Weights::default());
        let expected = [("a", "0.333333333334"), ("b", "0.333333333333"), ("c", "0.333333333333")];
        assert_eq!(shares(&divided, "tax"), strings(&expected));
    }

    #[test]
    fn a_pool_hands_on_what_it_gets_from_another() {
        let network = SharedCostPool { without: vec!["b".into()], ..pool("network", Split::Evenly) };
        let support = SharedCostPool { pools: vec!["network".into()], ..pool("support", Split::DirectCost) };
        let configuration = configuration(&["a", "b", "c"], vec![network, support]);
        let weights = Weights {
            cost: [("a".into(), 60.into()), ("b".into(), 20.into()), ("c".into(), (-5).into())].into(),
            pool_cost: [("network".into(), 20.into())].into(),
            ..Weights::default()
        };
        let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &weights);
        // Of support, a has 60 of 100 and half of the network's 20; c is in credit and has only its half.
        assert_eq!(shares(&divided, "support"), strings(&[("a", "0.7"), ("b", "0.2"), ("c", "0.1")]));
        assert_eq!(shares(&divided, "network"), strings(&[("a", "0.5"), ("c", "0.5")]));
    }

    #[test]
    fn what_nobody_used_stays_unallocated_and_says_why() {
        let mut of_credits = Weights::default();
        for part in ["commitment:ri-1", "commitment:ri-2"] {
            of_credits.parts.insert(("unused".into(), part.into()));
        }
        of_credits
            .use_of
            .insert("commitment:ri-1".into(), [("a".into(), 3.into()), ("b".into(), 1.into())].into());
        let configuration = configuration(&["a", "b"], vec![pool("unused", Split::WhoUsedIt)]);
        let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &of_credits);
        assert_eq!(divided.len(), 2);
        assert_eq!(shares(&divided, "unused"), strings(&[("a", "0.75"), ("b", "0.25")]));
        assert_eq!(divided[1].shares, [TeamShare { team: String::new(), share: 1.into() }]);
        assert_eq!(divided[1].undivided.as_deref(), Some("no team that takes part has usage of it"));
    }

    #[test]
    fn fixed_shares_are_as_they_were_written() {
        let share = |team: &str, share: &str| FixedShare {
            to: Recipient::Team(team.into()),
            share: share.parse().unwrap(),
        };
        let split = Split::Fixed { shares: vec![share("a", "0.35"), share("b", "0.65")] };
        let configuration = configuration(&["a", "b", "c"], vec![pool("node-7", split)]);
        let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &Weights::default());
        assert_eq!(shares(&divided, "node-7"), strings(&[("a", "0.35"), ("b", "0.65")]));
    }

    /// So many hours of whole accelerators.
    fn time(is_owned: bool, account: &str, hours: i64) -> Time {
        Time {
            is_owned,
            billing_account: account.into(),
            sub_account: String::new(),
            part_seconds: Decimal::from(hours * 3600 * PARTS),
        }
    }

    #[test]
    fn hours_weigh_by_whether_they_are_owned_and_whose_account_they_are_in() {
        let weights = Weights {
            time: [
                (Recipient::Team("a".into()), vec![time(true, "east", 60), time(false, "acme", 20)]),
                (Recipient::Team("b".into()), vec![time(true, "west", 20)]),
                (Recipient::Team("c".into()), vec![time(false, "acme", 100)]),
            ]
            .into(),
            ..Weights::default()
        };
        for (of, account, expected) in [
            (HoursOf::All, None, Ok(&[("a", "0.4"), ("b", "0.1"), ("c", "0.5")][..])),
            (HoursOf::Owned, None, Ok(&[("a", "0.75"), ("b", "0.25")])),
            (HoursOf::PaidFor, None, Ok(&[("a", "0.166666666667"), ("c", "0.833333333333")])),
            (HoursOf::Owned, Some("West "), Ok(&[("b", "1")])),
            (HoursOf::All, Some("acme"), Ok(&[("a", "0.166666666667"), ("c", "0.833333333333")])),
            (HoursOf::Owned, Some("acme"), Err("no team that takes part has on-prem GPU-hours of acme")),
        ] {
            let hours = Hours { of, account: account.map(str::to_owned) };
            let configuration =
                configuration(&["a", "b", "c"], vec![pool("racks", Split::AcceleratorHours(hours))]);
            let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &weights);
            match expected {
                Ok(expected) => {
                    assert_eq!(shares(&divided, "racks"), strings(expected), "{of:?} {account:?}");
                }
                Err(why) => assert_eq!(divided[0].undivided.as_deref(), Some(why)),
            }
        }
    }

    #[test]
    fn a_pool_takes_part_by_hours_too() {
        let racks = pool("racks", Split::AcceleratorHours(Hours { of: HoursOf::Owned, account: None }));
        let racks = SharedCostPool { pools: vec!["platform".into()], ..racks };
        let configuration = configuration(&["a", "b"], vec![racks, pool("platform", Split::Evenly)]);
        let weights = Weights {
            time: [
                (Recipient::Team("a".into()), vec![time(true, "east", 30), time(false, "acme", 70)]),
                (Recipient::Pool("platform".into()), vec![time(true, "east", 10), time(false, "acme", 5)]),
            ]
            .into(),
            ..Weights::default()
        };
        let divided = divide(&configuration.of_month("2026-09".parse().unwrap()), &weights);
        assert_eq!(shares(&divided, "racks"), strings(&[("a", "0.875"), ("b", "0.125")]));
    }

    proptest! {
        #[test]
        fn shares_of_anything_sum_to_exactly_one(
            costs in proptest::collection::vec(-1_000_000_000_000i64..1_000_000_000_000_000, 1..30),
            scale in 0u8..20,
            network in 0i64..1_000_000_000,
            excluded in proptest::collection::vec(any::<bool>(), 30),
        ) {
            let names: Vec<String> = (0..costs.len()).map(|i| format!("t{i:02}")).collect();
            let handles: Vec<&str> = names.iter().map(String::as_str).collect();
            let without: Vec<String> =
                names.iter().zip(&excluded).filter(|(_, is_out)| **is_out).map(|(name, _)| name.clone()).collect();
            let even = SharedCostPool { without: without.clone(), ..pool("network", Split::Evenly) };
            let weighted = SharedCostPool { without, pools: vec!["network".into()], ..pool("support", Split::DirectCost) };
            let configuration = configuration(&handles, vec![even, weighted]);
            let weights = Weights {
                cost: names.iter().cloned().zip(costs.iter().map(|cost| Decimal::new(i128::from(*cost), scale))).collect(),
                pool_cost: [("network".to_owned(), Decimal::new(i128::from(network), scale))].into(),
                ..Weights::default()
            };
            for divided in divide(&configuration.of_month("2026-09".parse().unwrap()), &weights) {
                let sum: Decimal = divided.shares.iter().map(|it| it.share).sum();
                prop_assert_eq!(sum, Decimal::from(1));
                prop_assert!(divided.shares.iter().all(|it| !it.share.is_negative()));
            }
        }
    }
}
