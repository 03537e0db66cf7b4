//! Who a charge key belongs to in a month: the pure half of every mapping.

use std::collections::HashMap;

use serde::Serialize;
use uuid::Uuid;

use super::configuration::MonthConfiguration;
use super::entry::{Account, CostCentre, Experiment, Meaning, Months, Project, Split, Target, Team, Value};
use super::label::{Label, normalized, normalized_key};
use super::rule::{Compiled, Facts, PatternError};
use crate::billing::usage_tags::is_usage_tag;

/// What a key is attributed to. Empty text means "none"; without a team and a pool it is unallocated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Attribution {
    pub team: String,
    pub project: String,
    pub experiment: String,
    pub cost_centre: String,
    pub environment: String,
    pub model_size: String,
    pub workload: String,
    pub interruptible: String,
    /// The pool of shared costs that it went to instead of a team.
    pub pool: String,
    /// Of a pool that is divided by who used what: what was used, a commitment or a billing account.
    pub pool_part: String,
    /// The number of the rule that claimed it; 0: none did.
    pub rule: i64,
}

/// Its number, what must hold, and whose the charge is then.
type CompiledRule<'a> = (i64, Vec<Compiled>, &'a Target);

/// A month of the configuration, ready to be asked of many keys.
pub struct RuleEngine<'a> {
    rules: Vec<CompiledRule<'a>>,
    keys: [Vec<String>; Label::ALL.len()],
    teams: HashMap<String, &'a Team>,
    projects: HashMap<String, &'a Project>,
    cost_centres: HashMap<String, &'a CostCentre>,
    experiments: HashMap<String, &'a Experiment>,
    accounts: HashMap<String, &'a Account>,
    values: HashMap<(Label, String), String>,
    pools_by_use: Vec<&'a str>,
    configuration: &'a MonthConfiguration<'a>,
}

/// What the labels of a key read as: handles of what there is, else nothing; of experiments, environments, model
/// sizes and workloads, which need no entry, the normalized text.
#[derive(Debug, Default)]
pub struct Labels([String; Label::ALL.len()]);

impl Labels {
    pub fn get(&self, label: Label) -> &str {
        &self.0[label as usize]
    }
}

impl<'a> RuleEngine<'a> {
    /// Fails where a rule has a pattern that is none, which a configuration that was kept has not.
    pub fn new(configuration: &'a MonthConfiguration<'a>) -> Result<Self, PatternError> {
        let mut rules = Vec::with_capacity(configuration.rules.len());
        for (id, rule) in &configuration.rules {
            let conditions = rule.when.iter().map(super::Condition::compile).collect::<Result<_, _>>()?;
            rules.push((*id, conditions, &rule.to));
        }
        let mut values = HashMap::new();
        for label in Label::ALL {
            for (value, spellings) in label.usual_values() {
                for spelling in *spellings {
                    values.insert((label, normalized(spelling)), (*value).to_owned());
                }
            }
        }
        for value in &configuration.values {
            for spelling in &value.spellings {
                values.insert((value.label, normalized(spelling)), value.value.clone());
            }
            values.insert((value.label, normalized(&value.value)), value.value.clone());
        }
        Ok(Self {
            rules,
            keys: Label::ALL.map(|label| {
                let mut keys = configuration.keys_of(label);
                // Who used a machine says more than whose it is.
                keys.sort_by_key(|key| !is_usage_tag(key));
                keys
            }),
            teams: by_spelling(&configuration.teams, |team| (&team.handle, &team.name, &team.spellings)),
            projects: by_spelling(&configuration.projects, |project| {
                (&project.handle, &project.name, &project.spellings)
            }),
            cost_centres: by_spelling(&configuration.cost_centres, |centre| {
                (&centre.handle, &centre.name, &centre.spellings)
            }),
            experiments: by_spelling(&configuration.experiments, |it| (&it.handle, &it.name, &it.spellings)),
            accounts: configuration
                .accounts
                .iter()
                .map(|account| (normalized(&account.account), *account))
                .collect(),
            values,
            pools_by_use: configuration
                .pools
                .iter()
                .filter(|pool| pool.split == Split::WhoUsedIt)
                .map(|pool| pool.handle.as_str())
                .collect(),
            configuration,
        })
    }

    /// Who a key belongs to.
    pub fn attribute(&self, facts: &Facts) -> Attribution {
        let labels = self.labels(facts);
        let mut attribution = Attribution {
            experiment: labels.get(Label::Experiment).to_owned(),
            environment: labels.get(Label::Environment).to_owned(),
            model_size: labels.get(Label::ModelSize).to_owned(),
            workload: labels.get(Label::Workload).to_owned(),
            interruptible: labels.get(Label::Interruptible).to_owned(),
            ..Attribution::default()
        };
        let experiment = self.experiments.get(&normalized(labels.get(Label::Experiment)));
        let by_experiment = experiment.and_then(|experiment| experiment.project.as_deref());
        let project =
            Some(labels.get(Label::Project)).filter(|project| !project.is_empty()).or(by_experiment);
        let project = project.filter(|handle| self.configuration.project(handle).is_some());
        project.unwrap_or_default().clone_into(&mut attribution.project);
        for (id, conditions, target) in self.rules_for(facts) {
            let holds = conditions.iter().all(|condition| condition.holds(facts, |label| labels.get(label)));
            if !holds {
                continue;
            }
            let team = match target {
                Target::Team { team, project } => {
                    if let Some(project) = project {
                        attribution.project.clone_from(project);
                    }
                    Some(team.as_str())
                }
                Target::Labels => self.team_of_labels(&labels, &attribution.project, experiment.copied()),
                Target::Tag { key } => {
                    facts.tag(&normalized_key(key)).and_then(|value| self.team_named(value))
                }
                Target::Account => self.team_of_account(facts),
                Target::Pool { pool } => {
                    return Attribution {
                        pool: pool.clone(),
                        pool_part: self.part(pool, facts),
                        rule: *id,
                        ..Attribution::default()
                    };
                }
            };
            // A rule whose target names nobody here leaves the charge to the next.
            if let Some(team) = team.filter(|team| self.configuration.team(team).is_some()) {
                team.clone_into(&mut attribution.team);
                attribution.rule = *id;
                break;
            }
        }
        attribution.cost_centre = self.cost_centre(&labels, &attribution).unwrap_or_default().to_owned();
        attribution
    }

    /// The rules in the order in which they are asked. Who used a machine says more than whose it is: rules that ask about that come
    /// first.
    fn rules_for(&self, facts: &Facts) -> impl Iterator<Item = &CompiledRule<'a>> {
        let has_usage = facts.has_usage();
        let is_of_usage =
            |(_, conditions, _): &&CompiledRule<'a>| conditions.iter().any(Compiled::is_of_usage);
        let first = self.rules.iter().filter(move |rule| has_usage && is_of_usage(rule));
        first.chain(self.rules.iter().filter(move |rule| !(has_usage && is_of_usage(rule))))
    }

    /// What the labels of a key read as.
    pub fn labels(&self, facts: &Facts) -> Labels {
        Labels(Label::ALL.map(|label| {
            let Some(text) = self.raw(facts, label) else { return String::new() };
            let text = normalized(text);
            match label {
                Label::Team => self.teams.get(&text).map(|team| team.handle.clone()).unwrap_or_default(),
                Label::Project => self.projects.get(&text).map(|it| it.handle.clone()).unwrap_or_default(),
                Label::CostCentre => {
                    self.cost_centres.get(&text).map(|it| it.handle.clone()).unwrap_or_default()
                }
                Label::Experiment => self.experiments.get(&text).map_or(text, |it| it.handle.clone()),
                Label::Environment | Label::ModelSize | Label::Workload | Label::Interruptible => {
                    self.values.get(&(label, text.clone())).cloned().unwrap_or(text)
                }
            }
        }))
    }

    /// What the tags of a key say for a label, as they say it.
    pub fn raw<'f>(&self, facts: &'f Facts, label: Label) -> Option<&'f str> {
        self.keys[label as usize].iter().find_map(|key| facts.tag(key))
    }

    /// The team that a spelling means.
    pub fn team_named(&self, spelling: &str) -> Option<&str> {
        self.teams.get(&normalized(spelling)).map(|team| team.handle.as_str())
    }

    /// Whose account it is; the sub-account says more than the one that is billed.
    pub fn team_of_account(&self, facts: &Facts) -> Option<&str> {
        let accounts = [&facts.sub_account, &facts.billing_account];
        let mut owners = accounts.into_iter().filter_map(|account| self.accounts.get(&normalized(account)));
        owners.next().map(|account| account.team.as_str())
    }

    fn team_of_labels<'s>(
        &'s self,
        labels: &'s Labels,
        project: &str,
        experiment: Option<&'s Experiment>,
    ) -> Option<&'s str> {
        let named = Some(labels.get(Label::Team)).filter(|team| !team.is_empty());
        named
            .or_else(|| self.configuration.project(project)?.team.as_deref())
            .or_else(|| experiment?.team.as_deref())
    }

    fn cost_centre<'s>(&'s self, labels: &'s Labels, attribution: &Attribution) -> Option<&'s str> {
        let named = Some(labels.get(Label::CostCentre)).filter(|centre| !centre.is_empty());
        named
            .or_else(|| self.configuration.project(&attribution.project)?.cost_centre.as_deref())
            .or_else(|| self.configuration.cost_centre_of(&attribution.team))
    }

    fn part(&self, pool: &str, facts: &Facts) -> String {
        if !self.pools_by_use.contains(&pool) {
            String::new()
        } else if facts.commitment.is_empty() {
            format!("account:{}", facts.billing_account)
        } else {
            format!("commitment:{}", facts.commitment)
        }
    }
}

/// Entries by everything that tags may call them. A handle means its own entry, whatever others are called.
fn by_spelling<'a, T>(
    entries: &[&'a T],
    names: impl Fn(&'a T) -> (&'a String, &'a String, &'a Vec<String>),
) -> HashMap<String, &'a T> {
    let mut found = HashMap::new();
    for entry in entries {
        let (_, name, spellings) = names(entry);
        for spelling in spellings.iter().chain([name]) {
            found.insert(normalized(spelling), *entry);
        }
    }
    for entry in entries {
        let (handle, ..) = names(entry);
        found.insert(normalized(handle), *entry);
    }
    found.remove("");
    found
}

/// What decides a mapping, so that equal digests stand for equal mappings: everything in the configuration that
/// [`RuleEngine`] looks at, and the version of the catalog that says which accelerator a key bears.
pub fn digest(configuration: &MonthConfiguration<'_>, catalog_version: u32) -> Uuid {
    #[derive(Serialize)]
    struct Decisive<'a> {
        /// Counted up when this file attributes differently.
        version: u32,
        catalog_version: u32,
        meanings: Vec<&'a Meaning>,
        values: Vec<&'a Value>,
        teams: Vec<Team>,
        projects: Vec<Project>,
        cost_centres: Vec<CostCentre>,
        experiments: Vec<Experiment>,
        accounts: Vec<Account>,
        rules: Vec<(i64, &'a [super::Condition], &'a Target)>,
        pools_by_use: Vec<&'a str>,
    }
    // For which other months an entry holds decides nothing in this one, nor does who works where.
    let everywhere = Months::default;
    let decisive = Decisive {
        version: 2,
        catalog_version,
        meanings: configuration.meanings.clone(),
        values: configuration.values.clone(),
        teams: configuration
            .teams
            .iter()
            .map(|&it| Team { members: Vec::new(), months: everywhere(), ..it.clone() })
            .collect(),
        projects: configuration
            .projects
            .iter()
            .map(|&it| Project { months: everywhere(), ..it.clone() })
            .collect(),
        cost_centres: configuration
            .cost_centres
            .iter()
            .map(|&it| CostCentre { months: everywhere(), ..it.clone() })
            .collect(),
        experiments: configuration
            .experiments
            .iter()
            .map(|&it| Experiment { months: everywhere(), ..it.clone() })
            .collect(),
        accounts: configuration
            .accounts
            .iter()
            .map(|&it| Account { months: everywhere(), ..it.clone() })
            .collect(),
        rules: configuration.rules.iter().map(|(id, rule)| (*id, rule.when.as_slice(), &rule.to)).collect(),
        pools_by_use: configuration
            .pools
            .iter()
            .filter(|pool| pool.split == Split::WhoUsedIt)
            .map(|pool| pool.handle.as_str())
            .collect(),
    };
    content_id(&decisive)
}

/// A number for what something says: the same for the same.
pub(super) fn content_id(content: &impl Serialize) -> Uuid {
    // Plain structs of texts and numbers always have a JSON form.
    let json = serde_json::to_vec(content).unwrap_or_default();
    let hash = blake3::hash(&json);
    let mut half = [0; 16];
    half.copy_from_slice(&hash.as_bytes()[..16]);
    Uuid::from_bytes(half)
}

impl Attribution {
    /// Its number: a hash of it.
    pub fn id(&self) -> Uuid {
        content_id(self)
    }
}
