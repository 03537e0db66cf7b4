//! Who could own a charge that is unallocated, and why. Pure.
//!
//! What is the surest comes first:
//!
//! 1. *Its account has an owner* in the configuration, and no rule asked for it.
//! 2. *Its labels name somebody*: a team, exactly or nearly (`Vison`), or a project or experiment whose team is known.
//!    A team's name that nobody has is shown, too, since the team may only be missing.
//! 3. *Its account is nearly one team's*: of what is allocated in it, four fifths or more.
//! 4. *Its resource is nearly one team's*, likewise.
//!
//! A person decides: nothing here is applied by itself.

use std::collections::BTreeMap;

use serde::Serialize;

use super::label::{Label, are_similar, normalized, normalized_key};
use super::rule::{Facts, Field};
use super::{MonthConfiguration, RuleEngine, Target};
use crate::money::Decimal;

/// Who could own it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// A name as people write it.
    pub who: String,
    /// A sentence without its point.
    pub why: String,
    #[serde(flatten)]
    pub how: How,
}

/// What would make it so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum How {
    /// A rule: what equals these values goes to this target.
    Rule { when: Vec<(Field, String)>, to: Target },
    /// A team of this name.
    Team { name: String },
}

/// Whose the rest is of what stands in the same account, or is of the same resource: what each team has of it directly.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    accounts: BTreeMap<String, BTreeMap<String, Decimal>>,
    resources: BTreeMap<String, BTreeMap<String, Decimal>>,
}

impl Neighbours {
    /// Adds what a team has in an account.
    pub fn add_account(&mut self, account: String, team: String, cost: Decimal) {
        *self.accounts.entry(account).or_default().entry(team).or_default() += cost;
    }

    /// Adds what a team has of a resource.
    pub fn add_resource(&mut self, resource: String, team: String, cost: Decimal) {
        *self.resources.entry(resource).or_default().entry(team).or_default() += cost;
    }
}

/// Everyone who could own the charges of a key, the surest first, and each way once.
pub fn suggest(
    configuration: &MonthConfiguration<'_>,
    attributor: &RuleEngine<'_>,
    facts: &Facts,
    neighbours: &Neighbours,
) -> Vec<Suggestion> {
    let name = |handle: &str| configuration.team(handle).map_or(handle, |team| team.name.as_str()).to_owned();
    let to_team = |field: Field, value: &str, handle: &str| How::Rule {
        when: vec![(field, value.to_owned())],
        to: Target::Team { team: handle.to_owned(), project: None },
    };
    let mut found: Vec<Suggestion> = Vec::new();
    let mut add = |who: String, why: String, how: How| {
        if !found.iter().any(|known| known.how == how) {
            found.push(Suggestion { who, why, how });
        }
    };

    if let Some((account, handle)) = owner_of_account(configuration, facts) {
        let how = How::Rule { when: vec![(Field::Account, account.to_owned())], to: Target::Account };
        add(name(handle), format!("account {account} is {}’s, and no rule asks for it", name(handle)), how);
    }

    for label in [Label::Team, Label::Project, Label::Experiment] {
        let Some((key, value)) = tag_of(configuration, facts, label) else { continue };
        let said = format!("its tag {key} says “{value}”");
        match named(configuration, attributor, label, value) {
            Named::Team(handle) if label != Label::Team => {
                let how = to_team(Field::Tag(key.to_owned()), value, handle);
                add(name(handle), format!("{said}, which is the name of a team"), how);
            }
            Named::Team(handle) | Named::TeamOf(handle) => {
                let how = How::Rule { when: Vec::new(), to: Target::Labels };
                add(name(handle), format!("{said}, and no rule asks for that"), how);
            }
            Named::Nearly(handle, spelling) => {
                let how = to_team(Field::Tag(key.to_owned()), value, handle);
                add(name(handle), format!("{said}, which looks like {spelling}"), how);
            }
            Named::Nobody if label == Label::Team => {
                let how = How::Team { name: value.trim().to_owned() };
                add(value.trim().to_owned(), format!("{said}, and there is no such team"), how);
            }
            Named::Nobody => {}
        }
    }

    let account = account_of(facts);
    let resource = facts.resource.as_str();
    for (what, field, value, of) in [
        ("in account", Field::Account, account, &neighbours.accounts),
        ("of resource", Field::Resource, resource, &neighbours.resources),
    ] {
        let Some((handle, share)) = of.get(value).and_then(leading) else { continue };
        if configuration.team(handle).is_some() {
            let part = part_in_words(share);
            let why = format!("{part} is allocated {what} {value} is {}’s", name(handle));
            add(name(handle), why, to_team(field, value, handle));
        }
    }
    found
}

/// A team, and something that tags may call it or what is its.
type Spelling<'a> = (&'a str, &'a str);

/// Who the value of a label means.
enum Named<'a> {
    /// A team.
    Team(&'a str),
    /// A project or an experiment of this team.
    TeamOf(&'a str),
    /// A team, and the spelling that the value looks like.
    Nearly(&'a str, &'a str),
    Nobody,
}

fn named<'a>(
    configuration: &'a MonthConfiguration<'_>,
    attributor: &'a RuleEngine<'_>,
    label: Label,
    value: &str,
) -> Named<'a> {
    if let Some(handle) = attributor.team_named(value) {
        return Named::Team(handle);
    }
    let teams =
        configuration.teams.iter().flat_map(|it| spellings(&it.handle, &it.handle, &it.name, &it.spellings));
    let (mut owned, mut near): (Vec<Spelling<'_>>, Vec<Spelling<'_>>) = (Vec::new(), teams.collect());
    if label == Label::Project {
        for it in &configuration.projects {
            let Some(team) = &it.team else { continue };
            owned.extend(spellings(team, &it.handle, &it.name, &it.spellings));
        }
        near.extend(&owned);
    }
    if label == Label::Experiment {
        for it in &configuration.experiments {
            let Some(team) = &it.team else { continue };
            owned.extend(spellings(team, &it.handle, &it.name, &it.spellings));
        }
    }
    let exactly = |(_, spelling): &&Spelling<'_>| normalized(spelling) == normalized(value);
    if let Some((handle, _)) = owned.iter().find(exactly) {
        return Named::TeamOf(handle);
    }
    match near.iter().find(|(_, spelling)| are_similar(spelling, value)) {
        Some((handle, spelling)) => Named::Nearly(handle, spelling),
        None => Named::Nobody,
    }
}

/// Everything that tags may call an entry, each with the team that it stands for.
fn spellings<'a>(
    team: &'a str,
    handle: &'a str,
    name: &'a str,
    others: &'a [String],
) -> impl Iterator<Item = Spelling<'a>> {
    [name, handle].into_iter().chain(others.iter().map(String::as_str)).map(move |it| (team, it))
}

/// The account that has an owner: the sub-account says more than the one that is billed.
fn owner_of_account<'a>(
    configuration: &'a MonthConfiguration<'_>,
    facts: &'a Facts,
) -> Option<(&'a str, &'a str)> {
    [&facts.sub_account, &facts.billing_account].into_iter().find_map(|account| {
        let mut owners = configuration.accounts.iter();
        let owner = owners.find(|owner| normalized(&owner.account) == normalized(account))?;
        Some((account.as_str(), owner.team.as_str()))
    })
}

/// The account that people mean: the sub-account where there is one.
fn account_of(facts: &Facts) -> &str {
    if facts.sub_account.is_empty() { &facts.billing_account } else { &facts.sub_account }
}

/// The tag that tells a label: its name and value as the charge has them.
fn tag_of<'a>(
    configuration: &MonthConfiguration<'_>,
    facts: &'a Facts,
    label: Label,
) -> Option<(&'a str, &'a str)> {
    configuration.keys_of(label).iter().find_map(|key| {
        let mut tags = facts.tags.iter();
        let (name, value) =
            tags.find(|(name, value)| normalized_key(name) == *key && !value.trim().is_empty())?;
        Some((name.as_str(), value.as_str()))
    })
}

/// Who has most of it, and what part; `None` where nobody has four fifths.
fn leading(costs: &BTreeMap<String, Decimal>) -> Option<(&str, Decimal)> {
    // Of credits beside costs no part is known.
    if costs.values().any(Decimal::is_negative) {
        return None;
    }
    let total: Decimal = costs.values().copied().sum();
    let (team, most) = costs.iter().max_by_key(|(_, cost)| **cost)?;
    let share = most.divide(total, 6)?;
    // Below, an account or resource is shared, and says nothing about who owns the rest.
    (share.times(5) >= Decimal::from(4)).then_some((team.as_str(), share))
}

/// `94% of what`, `everything that`. Rounded down: what is not all is 99% at most.
fn part_in_words(share: Decimal) -> String {
    if share == Decimal::from(1) {
        return "everything that".to_owned();
    }
    let percent = share.times(100).to_string();
    format!("{}% of what", percent.split('.').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{Account, Configuration, Entry, Experiment, Project, Team};

    fn configuration() -> Configuration {
        let team = |handle: &str, name: &str| {
            Entry::Team(Team { handle: handle.into(), name: name.into(), ..Team::default() })
        };
        let vision = || Some("vision".to_owned());
        let entries = [
            team("vision", "Vision"),
            team("speech", "Speech"),
            Entry::Project(Project {
                handle: "apollo".into(),
                name: "Apollo".into(),
                team: vision(),
                ..Project::default()
            }),
            Entry::Experiment(Experiment {
                handle: "exp-1".into(),
                name: "First".into(),
                team: vision(),
                ..Experiment::default()
            }),
            Entry::Account(Account { account: "1111".into(), team: "speech".into(), ..Account::default() }),
        ];
        Configuration { entries: (1..).zip(entries).collect() }
    }

    fn facts(account: &str, tags: &[(&str, &str)]) -> Facts {
        Facts {
            billing_account: "9999".into(),
            sub_account: account.into(),
            resource: "node-7".into(),
            tags: tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            ..Facts::default()
        }
    }

    fn said(facts: &Facts, neighbours: &Neighbours) -> Vec<String> {
        let configuration = configuration();
        let of_month = configuration.of_month("2026-09".parse().unwrap());
        let attributor = RuleEngine::new(&of_month).unwrap();
        let line = |it: &Suggestion| {
            let how = match &it.how {
                How::Team { name } => format!("new team {name}"),
                How::Rule { when, to } => {
                    let when: Vec<_> = when.iter().map(|(field, value)| format!("{field}={value}")).collect();
                    let to = match to {
                        Target::Team { team, .. } => format!("team:{team}"),
                        Target::Labels => "labels".to_owned(),
                        Target::Account => "account".to_owned(),
                        other => format!("{other:?}"),
                    };
                    format!("{} -> {to}", when.join(" "))
                }
            };
            format!("{}: {} [{how}]", it.who, it.why)
        };
        suggest(&of_month, &attributor, facts, neighbours).iter().map(line).collect()
    }

    #[test]
    fn each_reason_is_told_in_words_with_the_rule_that_follows() {
        let none = Neighbours::default();
        for (account, tags, expected) in [
            (
                "1111",
                &[][..],
                "Speech: account 1111 is Speech’s, and no rule asks for it [account=1111 -> account]",
            ),
            (
                "2",
                &[("Team", "vision ")],
                "Vision: its tag Team says “vision ”, and no rule asks for that [ -> labels]",
            ),
            (
                "2",
                &[("team", "Vison")],
                "Vision: its tag team says “Vison”, which looks like Vision [tag:team=Vison -> team:vision]",
            ),
            (
                "2",
                &[("project", "APOLLO")],
                "Vision: its tag project says “APOLLO”, and no rule asks for that [ -> labels]",
            ),
            (
                "2",
                &[("project", "appollo")],
                "Vision: its tag project says “appollo”, which looks like Apollo [tag:project=appollo -> team:vision]",
            ),
            (
                "2",
                &[("project", "speech")],
                "Speech: its tag project says “speech”, which is the name of a team [tag:project=speech -> team:speech]",
            ),
            (
                "2",
                &[("experiment", "exp-1")],
                "Vision: its tag experiment says “exp-1”, and no rule asks for that [ -> labels]",
            ),
            (
                "2",
                &[("team", "robotics")],
                "robotics: its tag team says “robotics”, and there is no such team [new team robotics]",
            ),
        ] {
            assert_eq!(said(&facts(account, tags), &none), [expected]);
        }
        assert!(said(&facts("2", &[("experiment", "exp-2"), ("project", "zeus")]), &none).is_empty());
    }

    #[test]
    fn an_account_or_resource_speaks_where_four_fifths_of_it_are_one_team_s() {
        let neighbours = |table: &[(&str, &str, &str, &str)]| {
            let mut found = Neighbours::default();
            for (account, resource, team, cost) in table {
                let cost = || cost.parse().unwrap();
                let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
                if let Some(account) = named(account) {
                    found.add_account(account, (*team).to_owned(), cost());
                }
                if let Some(resource) = named(resource) {
                    found.add_resource(resource, (*team).to_owned(), cost());
                }
            }
            found
        };
        let of = |table: &[(&str, &str, &str, &str)]| said(&facts("2", &[]), &neighbours(table));
        assert_eq!(
            of(&[("2", "", "vision", "94.9"), ("2", "", "speech", "5.1"), ("3", "", "speech", "900")]),
            ["Vision: 94% of what is allocated in account 2 is Vision’s [account=2 -> team:vision]"]
        );
        assert_eq!(
            of(&[("", "node-7", "speech", "3")]),
            [
                "Speech: everything that is allocated of resource node-7 is Speech’s [resource=node-7 -> team:speech]"
            ]
        );
        assert!(of(&[("2", "", "vision", "79.9"), ("2", "", "speech", "20.1")]).is_empty());
        assert!(
            of(&[("2", "", "vision", "10"), ("2", "", "speech", "-1")]).is_empty(),
            "credits hide the parts"
        );
        assert!(of(&[("2", "", "vision", "0")]).is_empty());
        assert!(of(&[("2", "", "gone", "10")]).is_empty(), "a team that there is not in this month");
    }

    #[test]
    fn the_surest_comes_first_and_each_way_once() {
        let mut neighbours = Neighbours::default();
        neighbours.add_account("1111".to_owned(), "vision".to_owned(), 10.into());
        neighbours.add_resource("node-7".to_owned(), "vision".to_owned(), 10.into());
        let found = said(&facts("1111", &[("team", "Vison"), ("project", "Vison")]), &neighbours);
        let ways: Vec<&str> = found.iter().map(|line| &line[line.find('[').unwrap()..]).collect();
        assert_eq!(
            ways,
            [
                "[account=1111 -> account]",
                "[tag:team=Vison -> team:vision]",
                "[tag:project=Vison -> team:vision]",
                "[account=1111 -> team:vision]",
                "[resource=node-7 -> team:vision]",
            ]
        );
    }
}
