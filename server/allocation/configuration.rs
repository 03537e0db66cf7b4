//! The allocation configuration: every entry, as it stands at a version of the ledger; and what of it holds in a month.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{
    Account, Budget, BudgetOf, CostCentre, Entry, Experiment, Meaning, Months, Project, Rule, SharedCostPool,
    Team, Value,
};
use super::label::{Label, normalized_key};
use crate::changes::NumberedEdit;
use crate::period::BillingMonth;

/// Everything that was written down, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub entries: BTreeMap<i64, Entry>,
}

/// What a change of the configuration is made of.
pub type Edit = NumberedEdit<Entry>;

impl Edit {
    /// Makes an entry read `after` from a month on, and leaves the months before as they are: those get an entry of
    /// their own, which keeps its number, and what is new gets `new_id`. All its months where it begins no earlier; what
    /// had ended before stays ended.
    pub fn since(month: BillingMonth, id: i64, before: &Entry, after: Entry, new_id: i64) -> Vec<Self> {
        let first = before.months().first;
        if first.is_some_and(|first| first >= month) {
            return vec![Self { id, before: Some(before.clone()), after: Some(after) }];
        }
        let end = month.previous();
        let until = Months { first, last: before.months().last.filter(|last| *last < end).or(Some(end)) };
        let from = Months { first: Some(month), last: after.months().last };
        vec![
            Self { id, before: Some(before.clone()), after: Some(before.clone().during(until)) },
            Self { id: new_id, before: None, after: Some(after.during(from)) },
        ]
    }
}

/// What holds in a month.
#[derive(Clone, Debug)]
pub struct MonthConfiguration<'a> {
    pub month: BillingMonth,
    pub teams: Vec<&'a Team>,
    pub projects: Vec<&'a Project>,
    pub cost_centres: Vec<&'a CostCentre>,
    pub experiments: Vec<&'a Experiment>,
    pub accounts: Vec<&'a Account>,
    pub meanings: Vec<&'a Meaning>,
    pub values: Vec<&'a Value>,
    /// In the order in which they are asked.
    pub rules: Vec<(i64, &'a Rule)>,
    pub pools: Vec<&'a SharedCostPool>,
}

impl Configuration {
    pub fn of_month(&self, month: BillingMonth) -> MonthConfiguration<'_> {
        let mut of_month = MonthConfiguration {
            month,
            teams: Vec::new(),
            projects: Vec::new(),
            cost_centres: Vec::new(),
            experiments: Vec::new(),
            accounts: Vec::new(),
            meanings: Vec::new(),
            values: Vec::new(),
            rules: Vec::new(),
            pools: Vec::new(),
        };
        for (id, entry) in self.entries.iter().filter(|(_, entry)| entry.months().contain(month)) {
            match entry {
                Entry::Team(team) => of_month.teams.push(team),
                Entry::Project(project) => of_month.projects.push(project),
                Entry::CostCentre(centre) => of_month.cost_centres.push(centre),
                Entry::Experiment(experiment) => of_month.experiments.push(experiment),
                Entry::Account(account) => of_month.accounts.push(account),
                Entry::Meaning(meaning) => of_month.meanings.push(meaning),
                Entry::Value(value) => of_month.values.push(value),
                Entry::Rule(rule) => of_month.rules.push((*id, rule)),
                Entry::Pool(pool) => of_month.pools.push(pool),
                Entry::Budget(_) => {}
            }
        }
        of_month.rules.sort_by_key(|(id, rule)| (rule.place, *id));
        of_month
    }

    /// One month of every stretch in which the configuration stays the same: before anything begins, and from each month on
    /// in which something begins or has ended.
    pub fn months_of_change(&self) -> Vec<BillingMonth> {
        let mut months = BTreeSet::new();
        for entry in self.entries.values() {
            let valid = entry.months();
            months.extend(valid.first);
            months.extend(valid.last.map(BillingMonth::next));
        }
        let before =
            months.first().map_or(BillingMonth::of(chrono::NaiveDate::default()), |first| first.previous());
        std::iter::once(before).chain(months).collect()
    }

    /// Whether anyone can be charged at all.
    pub fn has_teams(&self) -> bool {
        self.entries.values().any(|entry| matches!(entry, Entry::Team(_)))
    }

    /// Handles of all teams, with what people call them.
    pub fn teams(&self) -> BTreeMap<&str, &str> {
        let teams = self.entries.values().filter_map(|entry| match entry {
            Entry::Team(team) => Some((team.handle.as_str(), team.name.as_str())),
            _ => None,
        });
        teams.collect()
    }

    /// Entries of a kind, with their numbers.
    pub fn rules(&self) -> Vec<(i64, &Rule)> {
        let mut rules: Vec<(i64, &Rule)> = self
            .entries
            .iter()
            .filter_map(|(id, entry)| match entry {
                Entry::Rule(rule) => Some((*id, rule)),
                _ => None,
            })
            .collect();
        rules.sort_by_key(|(id, rule)| (rule.place, *id));
        rules
    }

    pub fn pools(&self) -> impl Iterator<Item = (i64, &SharedCostPool)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Pool(pool) => Some((*id, pool)),
            _ => None,
        })
    }

    /// What people call the owner of a budget: as the latest of its entries does.
    pub fn owner_name(&self, of: &BudgetOf) -> String {
        let name = |entry: &Entry| match (of, entry) {
            (BudgetOf::Team(handle), Entry::Team(it)) if it.handle == *handle => Some(it.name.clone()),
            (BudgetOf::Project(handle), Entry::Project(it)) if it.handle == *handle => Some(it.name.clone()),
            (BudgetOf::CostCentre(handle), Entry::CostCentre(it)) if it.handle == *handle => {
                Some(it.name.clone())
            }
            _ => None,
        };
        let named = self.entries.values().filter_map(|entry| Some((entry.months().first, name(entry)?)));
        let (BudgetOf::Team(handle) | BudgetOf::Project(handle) | BudgetOf::CostCentre(handle)) = of;
        named.max_by_key(|(first, _)| *first).map_or_else(|| handle.clone(), |(_, name)| name)
    }

    /// What people call a team; its handle where it has no entry.
    pub fn team_name(&self, handle: &str) -> String {
        self.owner_name(&BudgetOf::Team(handle.to_owned()))
    }

    /// What people call a pool: as the latest of its entries does.
    pub fn pool_name(&self, handle: &str) -> String {
        let named = self.pools().filter(|(_, pool)| pool.handle == handle);
        let latest = named.max_by_key(|(_, pool)| pool.months.first);
        latest.map_or_else(|| handle.to_owned(), |(_, pool)| pool.name.clone())
    }

    /// What people call an experiment; its label where it has no entry.
    pub fn experiment_name(&self, handle: &str) -> String {
        let named = self.entries.values().filter_map(|entry| match entry {
            Entry::Experiment(it) if it.handle == handle => Some((it.months.first, &it.name)),
            _ => None,
        });
        named.max_by_key(|(first, _)| *first).map_or_else(|| handle.to_owned(), |(_, name)| name.clone())
    }

    pub fn budgets(&self) -> impl Iterator<Item = (i64, &Budget)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Budget(budget) => Some((*id, budget)),
            _ => None,
        })
    }
}

impl MonthConfiguration<'_> {
    pub fn team(&self, handle: &str) -> Option<&Team> {
        self.teams.iter().copied().find(|team| team.handle == handle)
    }

    pub fn project(&self, handle: &str) -> Option<&Project> {
        self.projects.iter().copied().find(|project| project.handle == handle)
    }

    pub fn cost_centre(&self, handle: &str) -> Option<&CostCentre> {
        self.cost_centres.iter().copied().find(|centre| centre.handle == handle)
    }

    pub fn pool(&self, handle: &str) -> Option<&SharedCostPool> {
        self.pools.iter().copied().find(|pool| pool.handle == handle)
    }

    /// The tag keys, normalized, that tell a label: the first that a charge has.
    pub fn keys_of(&self, label: Label) -> Vec<String> {
        match self.meanings.iter().find(|meaning| meaning.label == label) {
            Some(meaning) => meaning.keys.iter().map(|key| normalized_key(key)).collect(),
            None => label.usual_keys().iter().map(|key| normalized_key(key)).collect(),
        }
    }

    /// A team and all inside it, in the order of the configuration; nothing where there is no such team.
    pub fn with_teams_inside(&self, handle: &str) -> Vec<&str> {
        let mut found: Vec<&str> = self.team(handle).map(|team| team.handle.as_str()).into_iter().collect();
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let inside = self.teams.iter().filter(|team| team.parent.as_deref() == Some(parent));
            for team in inside {
                if !found.contains(&team.handle.as_str()) {
                    found.push(&team.handle);
                }
            }
            at += 1;
        }
        found
    }

    /// Whether other teams are inside this one.
    pub fn has_teams_inside(&self, handle: &str) -> bool {
        self.teams.iter().any(|team| team.parent.as_deref() == Some(handle))
    }

    /// Where finance books what a team spends: its own cost centre, else that of the team it is a part of.
    pub fn cost_centre_of(&self, handle: &str) -> Option<&str> {
        let mut team = self.team(handle)?;
        // As many steps as there are teams: a circle is refused, but must not hang what looks for it.
        for _ in 0..self.teams.len() {
            if let Some(centre) = &team.cost_centre {
                return Some(centre);
            }
            team = self.team(team.parent.as_deref()?)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_had_ended_stays_ended_where_it_begins_anew() {
        let team = |first: Option<&str>, last: Option<&str>| {
            let month = |text: &str| text.parse::<BillingMonth>().unwrap();
            Entry::Team(Team {
                handle: "vision".into(),
                months: Months { first: first.map(month), last: last.map(month) },
                ..Team::default()
            })
        };
        let june = "2026-06".parse().unwrap();
        let edits = |before: Entry| {
            let edits = Edit::since(june, 1, &before, team(None, None), 2);
            edits.into_iter().map(|edit| (edit.id, edit.after.unwrap())).collect::<Vec<_>>()
        };
        let anew = (2, team(Some("2026-06"), None));
        assert_eq!(edits(team(None, None)), [(1, team(None, Some("2026-05"))), anew.clone()]);
        assert_eq!(edits(team(None, Some("2026-03"))), [(1, team(None, Some("2026-03"))), anew.clone()]);
        assert_eq!(edits(team(None, Some("2026-08"))), [(1, team(None, Some("2026-05"))), anew]);
        assert_eq!(edits(team(Some("2026-06"), None)), [(1, team(None, None))]);
    }
}
