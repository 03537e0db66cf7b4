//! What can be asked: a period, a cost, groups, filters, and who asks. Parsed once, at the edge.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::show_spaces::with_visible_ends;
use crate::accounts::Viewer;
use crate::billing::PricingCategory;
use crate::billing::usage_tags::{self, usage_tag_label};
use crate::enum_words::{words, written_as_str};
use crate::money::Currency;
use crate::period::Period;

words! {
    /// Which of the four costs of FOCUS is summed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum CostMetric: as_str, name, meaning {
        Billed = "billed", "Billed", "as invoiced";
        #[default]
        Effective = "effective", "Effective", "amortized: commitments spread over the usage they cover";
        Contracted = "contracted", "Contracted", "at negotiated prices, before commitments";
        List = "list", "List", "at public list prices";
    }
}

impl Serialize for CostMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A dimension that pages group and filter by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grouping {
    Provider,
    Account,
    Service,
    Region,
    Accelerator,
    Pricing,
    Category,
    /// FOCUS CommitmentDiscountStatus: whether what a commitment cost was used.
    CommitmentStatus,
    /// What is metered: the instance type, where there is none the meter, and where a bill names neither the SKU.
    UsageType,
    Sku,
    Resource,
    Day,
    Month,
    Team,
    Project,
    Experiment,
    CostCentre,
    Environment,
    ModelSize,
    Workload,
    /// The pool of shared costs that it went to, before that was divided among teams.
    Pool,
    /// Of a pool that is divided by who used it: what was used. Reports ask for it, addresses cannot.
    PoolPart,
    /// The rule that claimed it.
    Rule,
    Tag(String),
}

/// Keeps, or leaves out, charges whose value in a dimension is one of these; the empty text means "no value".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    pub dimension: Grouping,
    pub values: Vec<String>,
    pub leaves_out: bool,
}

/// What groups are sorted by, in the order one expects first: amounts from the largest, names from A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    pub by: SortBy,
    pub is_reversed: bool,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SortBy: as_str {
        Name = "name";
        Cost = "cost";
        Previous = "previous";
        Change = "change";
        Hours = "hours";
        /// Cost per accelerator-hour.
        Price = "price";
    }
}

written_as_str!(SortBy);

/// Groups that are remembered of a question [that asks for no more](Question::is_of_first).
pub const FIRST: usize = 1000;

/// A question to the ledger. Equal questions at the same sequence have the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    pub period: Period,
    pub by: Grouping,
    /// What each group is broken down by.
    pub then: Option<Grouping>,
    pub cost: CostMetric,
    /// Only charges in this currency. `None`, and nothing to convert into: everything in the reporting currency; where
    /// none was chosen, the most used one of the period.
    pub currency: Option<Currency>,
    /// Amounts are converted into this currency, month by month.
    pub convert_into: Option<Currency>,
    pub filters: Vec<Filter>,
    /// Keeps the groups whose label has this in it; the rest is folded into one named "other".
    pub find: Option<String>,
    /// `None`: largest first, time in its order.
    pub sort: Option<Sort>,
    /// Groups kept; the rest is folded into one named "other".
    pub limit: Option<usize>,
    /// The same within each group.
    pub limit_inside: Option<usize>,
    /// Only the [first](FIRST) groups of those are looked at.
    pub is_of_first: bool,
    /// As of which sequence of the ledger; `None`: now.
    pub sequence: Option<i64>,
    pub viewer: Viewer,
    /// Of what the viewer sees only what belongs to this team, and in each month to those that are inside it then.
    pub of_team: Option<String>,
    /// Who asks sees everything, and the viewer only says how it is shown: a step of the past keeps the teams that it had.
    pub sees_everything: bool,
    /// Who asks may not see which billing account pays: it is taken out where resources and tags name it.
    pub hides_payers: bool,
}

/// A period of more months than this is long.
const LONG: usize = 3;

/// A word that names no dimension or cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} is not valid. Use {expected}")]
pub struct ParseQuestionError {
    pub found: String,
    pub expected: &'static str,
}

impl Question {
    /// What was spent in a period, by service: the defaults of pages, files and the command line.
    pub fn of(period: Period, viewer: Viewer) -> Self {
        Self {
            period,
            by: Grouping::Service,
            then: None,
            cost: CostMetric::default(),
            currency: None,
            convert_into: None,
            filters: Vec::new(),
            find: None,
            sort: None,
            limit: None,
            limit_inside: None,
            is_of_first: false,
            sequence: None,
            viewer,
            of_team: None,
            sees_everything: false,
            hides_payers: false,
        }
    }

    /// Whether who pays is taken out of the values of a dimension.
    pub(super) fn hides_payers_in(&self, dimension: &Grouping) -> bool {
        self.hides_payers && dimension.may_name_payer()
    }

    /// The same of what it groups by.
    pub(super) fn hides_payers_in_groups(&self) -> bool {
        std::iter::once(&self.by).chain(&self.then).any(|by| self.hides_payers_in(by))
    }

    /// The same of everything that the organization pays for.
    pub(super) fn of_organization(&self) -> Self {
        Self { viewer: Viewer::Everything, of_team: None, filters: Vec::new(), ..self.clone() }
    }

    /// Everything that it groups and filters by.
    pub(super) fn dimensions(&self) -> impl Iterator<Item = &Grouping> + Clone {
        let filters = self.filters.iter().map(|filter| &filter.dimension);
        std::iter::once(&self.by).chain(&self.then).chain(filters)
    }

    /// The same without what only chooses, folds and orders groups.
    #[must_use]
    pub fn of_everything(&self) -> Self {
        Self { find: None, sort: None, limit: None, limit_inside: None, is_of_first: false, ..self.clone() }
    }

    /// It is of so many months that what is remembered of each would take the place of everything else.
    pub(super) fn is_long(&self) -> bool {
        self.period.months().nth(LONG).is_some()
    }

    /// What is summed for it: without what only chooses among groups, and without the sequence, for which the visible
    /// deliveries and the rates stand. Whether who pays is hidden matters to some groups alone.
    pub(super) fn timeless(&self) -> Self {
        let hides_payers = self.hides_payers_in_groups();
        Self { sequence: None, hides_payers, ..self.of_everything() }
    }
}

impl Filter {
    /// Keeps what has one of these values.
    pub fn keep(dimension: Grouping, values: Vec<String>) -> Self {
        Self { dimension, values, leaves_out: false }
    }

    /// Keeps what has no value.
    pub fn no_value(dimension: Grouping) -> Self {
        Self::keep(dimension, vec![String::new()])
    }

    /// Keeps what is the organization's own.
    pub fn owned() -> Self {
        Self::keep(Grouping::Pricing, vec![PricingCategory::Owned.as_str().to_owned()])
    }

    /// Leaves out what this keeps.
    #[must_use]
    pub fn left_out(self) -> Self {
        Self { leaves_out: true, ..self }
    }

    /// One filter per dimension and kind: repeated ones are alternatives. Those without values are dropped.
    pub fn merge(filters: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for Self { dimension, values, leaves_out } in filters.filter(|filter| !filter.values.is_empty()) {
            let is_same = |known: &Self| known.dimension == dimension && known.leaves_out == leaves_out;
            let at = merged.iter().position(is_same).unwrap_or_else(|| {
                merged.push(Self { dimension, values: Vec::new(), leaves_out });
                merged.len() - 1
            });
            for value in values {
                if !merged[at].values.contains(&value) {
                    merged[at].values.push(value);
                }
            }
        }
        merged
    }
}

impl CostMetric {
    /// `Effective cost`.
    pub fn label(self) -> String {
        format!("{} cost", self.name())
    }
}

impl Grouping {
    /// Every dimension that can be asked for by name.
    pub const FIXED: [Self; 22] = [
        Self::Provider,
        Self::Account,
        Self::Service,
        Self::Region,
        Self::Accelerator,
        Self::Pricing,
        Self::Category,
        Self::CommitmentStatus,
        Self::UsageType,
        Self::Sku,
        Self::Resource,
        Self::Day,
        Self::Month,
        Self::Team,
        Self::Project,
        Self::Experiment,
        Self::CostCentre,
        Self::Environment,
        Self::ModelSize,
        Self::Workload,
        Self::Pool,
        Self::Rule,
    ];

    /// Heading of a column, and how a group without value is called: `No service`.
    pub fn label(&self) -> String {
        match self {
            Self::Provider => "Provider".into(),
            Self::Account => "Account".into(),
            Self::Service => "Service".into(),
            Self::Region => "Region".into(),
            Self::Accelerator => "Accelerator".into(),
            Self::Pricing => "Pricing".into(),
            Self::Category => "Charge category".into(),
            Self::CommitmentStatus => "Commitment status".into(),
            Self::UsageType => "Usage type".into(),
            Self::Sku => "SKU".into(),
            Self::Resource => "Resource".into(),
            Self::Day => "Day".into(),
            Self::Month => "Month".into(),
            Self::Team => "Team".into(),
            Self::Project => "Project".into(),
            Self::Experiment => "Experiment".into(),
            Self::CostCentre => "Cost center".into(),
            Self::Environment => "Environment".into(),
            Self::ModelSize => "Model size".into(),
            Self::Workload => "Workload".into(),
            Self::Pool => "Shared cost".into(),
            Self::PoolPart => "Part of a shared cost".into(),
            Self::Rule => "Rule".into(),
            Self::Tag(key) => {
                usage_tag_label(key).map_or_else(|| format!("Tag {}", with_visible_ends(key)), str::to_owned)
            }
        }
    }

    /// What a group whose value is missing is called.
    pub fn missing(&self) -> String {
        match self {
            Self::Tag(key) if key == usage_tags::USE => "No GPU, or without usage data".into(),
            Self::Tag(key) => match usage_tag_label(key) {
                Some(label) => format!("No {}", label.to_lowercase()),
                None => format!("No {} tag", with_visible_ends(key)),
            },
            Self::Accelerator => "No accelerator".into(),
            Self::Sku => "No SKU".into(),
            Self::CommitmentStatus => "No commitment".into(),
            Self::Team => "Unallocated".into(),
            Self::Pool => "Not shared".into(),
            // Scripts read it.
            Self::CostCentre => "No cost centre".into(),
            other => format!("No {}", other.label().to_lowercase()),
        }
    }

    /// How a value reads on a page: FOCUS says Dynamic where people say spot.
    pub fn value_label(&self, value: Option<&str>) -> String {
        match (self, value) {
            (_, None) => self.missing(),
            (Self::Pricing, Some("Standard")) => "On demand".into(),
            (Self::Pricing, Some("Dynamic")) => "Spot".into(),
            (Self::Day, Some("outside")) => "Outside the month".into(),
            (Self::Day, Some("whole-period")) => "Whole period".into(),
            (_, Some(value)) => with_visible_ends(value),
        }
    }

    /// Several of them: `Services`.
    pub fn plural(&self) -> String {
        match self {
            Self::Category => "Charge categories".into(),
            Self::CommitmentStatus => "Commitment statuses".into(),
            Self::Pricing => "Pricing categories".into(),
            Self::Sku => "SKUs".into(),
            Self::Pool => "Shared costs".into(),
            Self::Tag(key) if usage_tag_label(key).is_none() => {
                format!("Values of tag {}", with_visible_ends(key))
            }
            other => format!("{}s", other.label()),
        }
    }

    /// Whether its values are free texts that may hold the billing account. What a provider calls its services, SKUs and
    /// regions is the same for all of its customers.
    fn may_name_payer(&self) -> bool {
        matches!(self, Self::Resource | Self::Tag(_))
    }

    /// A month may have hundreds of thousands of such groups.
    pub fn is_numerous(&self) -> bool {
        match self {
            Self::Resource => true,
            Self::Tag(key) => {
                [usage_tags::JOB, usage_tags::NAME, usage_tags::COMMENT].contains(&key.as_str())
            }
            _ => false,
        }
    }

    /// Time has an order of its own and no period before to compare a group with.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Day | Self::Month)
    }
}

/// Words of addresses for who used a machine, and the tag that says it.
const OF_USAGE: [(&str, &str); 6] = [
    ("use", usage_tags::USE),
    ("job", usage_tags::JOB),
    ("user", usage_tags::USER),
    ("node", usage_tags::NODE),
    ("queue", usage_tags::QUEUE),
    ("namespace", usage_tags::NAMESPACE),
];

/// Before the name of a pool: what takes the place of a value where its rows are not the viewer's to see.
pub const SHARED: &str = "shared:";

impl Grouping {
    /// Whether it follows from the allocation and not from the charges alone.
    pub fn is_allocated(&self) -> bool {
        matches!(
            self,
            Self::Team
                | Self::Project
                | Self::Experiment
                | Self::CostCentre
                | Self::Environment
                | Self::ModelSize
                | Self::Workload
                | Self::Pool
                | Self::PoolPart
                | Self::Rule
        )
    }

    /// Whether shared costs are divided before it is asked.
    pub(super) fn divides(&self) -> bool {
        matches!(self, Self::Team | Self::CostCentre)
    }
}

impl fmt::Display for CostMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CostMetric {
    type Err = ParseQuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|cost| cost.as_str() == text).ok_or_else(|| ParseQuestionError {
            found: text.to_owned(),
            expected: "billed, effective, contracted, list",
        })
    }
}

impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(key) => match OF_USAGE.iter().find(|(_, tag)| tag == key) {
                Some((word, _)) => f.write_str(word),
                None => write!(f, "tag:{key}"),
            },
            Self::CostCentre => f.write_str("cost-centre"),
            Self::CommitmentStatus => f.write_str("commitment-status"),
            Self::UsageType => f.write_str("usage-type"),
            Self::ModelSize => f.write_str("model-size"),
            Self::Pool => f.write_str("pool"),
            Self::PoolPart => f.write_str("pool-part"),
            other => f.write_str(&other.label().split(' ').next_back().unwrap_or_default().to_lowercase()),
        }
    }
}

impl FromStr for Grouping {
    type Err = ParseQuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(key) = text.strip_prefix("tag:").filter(|key| !key.is_empty()) {
            return Ok(Self::Tag(key.to_owned()));
        }
        if let Some((_, tag)) = OF_USAGE.iter().find(|(word, _)| *word == text) {
            return Ok(Self::Tag((*tag).to_owned()));
        }
        Self::FIXED.into_iter().find(|grouping| grouping.to_string() == text).ok_or_else(|| ParseQuestionError {
            found: text.to_owned(),
            expected: "provider, account, service, region, accelerator, pricing, category, commitment-status, usage-type, sku, \
                       resource, day, month, team, project, experiment, cost-centre, environment, model-size, workload, pool, rule, \
                       use, job, user, node, queue, namespace, tag:KEY",
        })
    }
}

/// `name`, `-cost`.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_reversed { "-" } else { "" }, self.by.as_str())
    }
}

impl FromStr for Sort {
    type Err = ParseQuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, is_reversed) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        name.parse().map(|by| Self { by, is_reversed }).map_err(|_| ParseQuestionError {
            found: text.to_owned(),
            expected: "name, cost, previous, change, hours or price, with - before it to reverse the order",
        })
    }
}

impl Serialize for Grouping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dimension_reads_as_it_is_written() {
        for grouping in Grouping::FIXED.into_iter().chain([
            Grouping::Tag("Team: a/b".into()),
            "user".parse().unwrap(),
            "tag:usage:qos".parse().unwrap(),
        ]) {
            assert_eq!(grouping.to_string().parse(), Ok(grouping));
        }
        assert!("teams".parse::<Grouping>().is_err());
        assert!("tag:".parse::<Grouping>().is_err());
    }
}
