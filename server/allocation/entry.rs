//! What an organization writes into its allocation configuration: who there is, what labels mean, and who pays for what.

use serde::{Deserialize, Serialize};

use super::label::Label;
use super::rule::Condition;
use crate::changes;
use crate::enum_words::{words, written_as_str};
use crate::money::{Currency, Decimal, Money};
use crate::period::{BillingMonth, Period};

/// The months for which an entry holds, both included; without one it is open on that side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Months {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<BillingMonth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<BillingMonth>,
}

/// Whoever is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Team {
    /// What addresses and rules call it; stays when it is renamed.
    pub handle: String,
    pub name: String,
    /// The team that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Where finance books it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_centre: Option<String>,
    /// What tags call it, besides its handle and its name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<String>,
    /// People who work in it, for whoever asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    pub months: Months,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    pub handle: String,
    pub name: String,
    /// Who pays for it, where a rule asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_centre: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<String>,
    pub months: Months,
}

/// Where finance books spend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CostCentre {
    pub handle: String,
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<String>,
    pub months: Months,
}

/// An experiment that was renamed, merged or assigned. Others need no entry: their label is their name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// A normalized label.
    pub handle: String,
    pub name: String,
    /// Labels that mean this experiment, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Who pays for it, where a rule asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    pub months: Months,
}

/// Whose account it is: a billing account or a sub-account of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Account {
    pub account: String,
    pub team: String,
    pub months: Months,
}

/// Which tags tell a label, the first that a charge has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    pub label: Label,
    pub keys: Vec<String>,
}

/// A value of a label that has no entry of its own (environment, model size, workload, interruptible), and its
/// other spellings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    pub label: Label,
    pub value: String,
    pub spellings: Vec<String>,
}

/// Who a charge belongs to. The first rule whose conditions all hold, and whose target there is, decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub name: String,
    /// Rules are asked from the lowest place to the highest.
    pub place: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    pub to: Target,
    #[serde(default)]
    pub months: Months,
}

/// Who gets what a rule selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", deny_unknown_fields)]
pub enum Target {
    /// This team; and this project, whatever the labels say.
    Team {
        team: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<String>,
    },
    /// The team that the labels name: of the team, else of the project, else of the experiment.
    Labels,
    /// The team that this tag names.
    Tag { key: String },
    /// The team whose account it is.
    Account,
    /// A pool of shared costs.
    Pool { pool: String },
}

/// Costs that several teams share, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedCostPool {
    pub handle: String,
    pub name: String,
    pub split: Split,
    /// Teams that take part; none named: as the split says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<String>,
    /// Teams that do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Pools that take part as if they were teams, and hand on what they get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    #[serde(default)]
    pub months: Months,
}

/// How a pool is divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by", deny_unknown_fields)]
pub enum Split {
    /// The same for everyone: for each team that has no teams inside it.
    Evenly,
    /// These shares, which sum to 1.
    Fixed { shares: Vec<FixedShare> },
    /// In proportion to the effective cost that is a team's own, in the reporting currency.
    DirectCost,
    /// In proportion to the accelerator-hours that are a team's own.
    AcceleratorHours(Hours),
    /// In proportion to a quantity that was entered for the month.
    Quantity { unit: String },
    /// By the policy for commitments and credits "who used it": in proportion to the effective cost of the usage that
    /// the same commitment covers; of what belongs to no commitment, of the same billing account.
    WhoUsedIt,
}

/// Which accelerator-hours weigh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hours {
    #[serde(skip_serializing_if = "HoursOf::is_all")]
    pub of: HoursOf,
    /// Only those of this sub-account or billing account, such as a cluster of one's own, whose handle it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

words! {
    /// Which hours are counted: `in_words` as data calls them, `on_page` as pages do.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum HoursOf: in_words, on_page {
        /// Paid for and owned alike.
        #[default]
        All = "accelerator-hours", "GPU-hours";
        /// Of machines that the organization owns.
        Owned = "hours owned", "on-prem GPU-hours";
        /// Of what is rented.
        PaidFor = "hours paid for", "cloud GPU-hours";
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedShare {
    /// A team, or one of the pools that take part.
    pub to: Recipient,
    pub share: Decimal,
}

/// Who gets a part of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipient {
    Team(String),
    Pool(String),
}

/// What somebody may spend in a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub of: BudgetOf,
    pub period: BudgetPeriod,
    /// Of each period that begins in these months.
    pub months: Months,
    pub amount: Decimal,
    pub currency: Currency,
    /// In percent of the amount, ascending.
    pub thresholds: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetOf {
    Team(String),
    Project(String),
    CostCentre(String),
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum BudgetPeriod: as_str {
        Month = "month";
        Quarter = "quarter";
        Year = "year";
    }
}

written_as_str!(BudgetPeriod);

/// One thing in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Entry {
    Team(Team),
    Project(Project),
    CostCentre(CostCentre),
    Experiment(Experiment),
    Account(Account),
    Meaning(Meaning),
    Value(Value),
    Rule(Rule),
    Pool(SharedCostPool),
    Budget(Budget),
}

impl Months {
    /// From a month on.
    pub fn from(first: BillingMonth) -> Self {
        Self { first: Some(first), last: None }
    }

    pub fn contain(self, month: BillingMonth) -> bool {
        self.first.is_none_or(|first| first <= month) && self.last.is_none_or(|last| month <= last)
    }

    /// Months that both contain.
    pub fn overlap(self, other: Self) -> bool {
        let is_before = |a: Self, b: Self| a.last.zip(b.first).is_some_and(|(last, first)| last < first);
        !is_before(self, other) && !is_before(other, self)
    }

    /// Whether the first is after the last.
    pub fn are_none(self) -> bool {
        self.first.zip(self.last).is_some_and(|(first, last)| first > last)
    }

    /// `from 2026-07`, `2026-01 to 2026-06`; empty for all months.
    pub fn in_words(self) -> String {
        match (self.first, self.last) {
            (None, None) => String::new(),
            (Some(first), None) => format!("from {first}"),
            (None, Some(last)) => format!("until {last}"),
            (Some(first), Some(last)) => format!("{first} to {last}"),
        }
    }
}

impl Split {
    /// For a sentence about a pool: `Divided by direct cost.`
    pub fn in_words(&self) -> String {
        match self {
            Self::Evenly => "evenly".to_owned(),
            Self::Fixed { .. } => "by fixed shares".to_owned(),
            Self::DirectCost => "by direct cost".to_owned(),
            Self::AcceleratorHours(hours) => match &hours.account {
                None => format!("by {}", hours.of.in_words()),
                Some(account) => format!("by {} of {account}", hours.of.in_words()),
            },
            Self::Quantity { unit } => format!("by {unit}"),
            Self::WhoUsedIt => "by who used it".to_owned(),
        }
    }

    /// The same as pages say it: `by on-prem GPU-hours of h100-east`.
    pub fn on_page(&self) -> String {
        match self {
            Self::AcceleratorHours(hours) => match &hours.account {
                None => format!("by {}", hours.of.on_page()),
                Some(account) => format!("by {} of {account}", hours.of.on_page()),
            },
            Self::WhoUsedIt => "by usage".to_owned(),
            other => other.in_words(),
        }
    }
}

impl HoursOf {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// Whether they are among these.
    pub fn has(self, is_owned: bool) -> bool {
        match self {
            Self::All => true,
            Self::Owned => is_owned,
            Self::PaidFor => !is_owned,
        }
    }
}

impl Entry {
    /// The months for which it holds.
    pub fn months(&self) -> Months {
        match self {
            Self::Team(team) => team.months,
            Self::Project(project) => project.months,
            Self::CostCentre(centre) => centre.months,
            Self::Experiment(experiment) => experiment.months,
            Self::Account(account) => account.months,
            Self::Rule(rule) => rule.months,
            Self::Pool(pool) => pool.months,
            Self::Budget(budget) => budget.months,
            Self::Meaning(_) | Self::Value(_) => Months::default(),
        }
    }

    /// The same for other months. What holds for all months stays.
    #[must_use]
    pub fn during(mut self, months: Months) -> Self {
        match &mut self {
            Self::Team(it) => it.months = months,
            Self::Project(it) => it.months = months,
            Self::CostCentre(it) => it.months = months,
            Self::Experiment(it) => it.months = months,
            Self::Account(it) => it.months = months,
            Self::Rule(it) => it.months = months,
            Self::Pool(it) => it.months = months,
            Self::Budget(it) => it.months = months,
            Self::Meaning(_) | Self::Value(_) => {}
        }
        self
    }

    /// The stored word of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Team(_) => "team",
            Self::Project(_) => "project",
            Self::CostCentre(_) => "cost-centre",
            Self::Experiment(_) => "experiment",
            Self::Account(_) => "account",
            Self::Meaning(_) => "meaning",
            Self::Value(_) => "value",
            Self::Rule(_) => "rule",
            Self::Pool(_) => "pool",
            Self::Budget(_) => "budget",
        }
    }
}

impl changes::Entry for Entry {
    fn title(&self) -> String {
        match self {
            Self::Team(team) => format!("team {}", team.name),
            Self::Project(project) => format!("project {}", project.name),
            Self::CostCentre(centre) => format!("cost center {}", centre.name),
            Self::Experiment(experiment) => format!("experiment {}", experiment.name),
            Self::Account(account) => format!("account {}", account.account),
            Self::Meaning(meaning) => format!("tag keys for {}", meaning.label.name().to_lowercase()),
            Self::Value(value) => format!("{} {}", value.label.name().to_lowercase(), value.value),
            Self::Rule(rule) => format!("rule {}", rule.name),
            Self::Pool(pool) => format!("shared costs {}", pool.name),
            Self::Budget(budget) => format!("budget of {}", budget.of.in_words()),
        }
    }
}

impl BudgetOf {
    pub fn in_words(&self) -> String {
        match self {
            Self::Team(handle) => format!("team {handle}"),
            Self::Project(handle) => format!("project {handle}"),
            Self::CostCentre(handle) => format!("cost center {handle}"),
        }
    }
}

impl BudgetPeriod {
    /// The period of this kind that a month lies in.
    pub fn around(self, month: BillingMonth) -> Period {
        match self {
            Self::Month => month.into(),
            Self::Quarter => Period::quarter_of(month),
            Self::Year => Period::year_of(month),
        }
    }
}

impl Budget {
    pub fn amount(&self) -> Money {
        Money { amount: self.amount, currency: self.currency.clone() }
    }

    /// Its periods that have begun by a month, the latest first.
    pub fn periods_until(&self, month: BillingMonth) -> impl Iterator<Item = Period> + use<> {
        let (months, period) = (self.months, self.period);
        let last = months.last.map_or(month, |last| last.min(month));
        let first = months.first.unwrap_or(last);
        let all = std::iter::successors(Some(period.around(last)), |period| Some(period.previous()));
        all.take_while(move |period| period.first() >= first)
            .filter(move |period| months.contain(period.first()))
    }
}
