//! Rules: which charges, by what their key says.

use std::fmt;
use std::str::FromStr;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::label::{Label, normalized, normalized_key};
use crate::billing::usage_tags::{self, is_usage_tag, usage_tag_label};

/// What a condition looks at: a dimension of the charge key, a tag, or what the tags mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Provider,
    /// The sub-account or the billing account.
    Account,
    Service,
    ServiceCategory,
    Sku,
    Region,
    Accelerator,
    Instance,
    Meter,
    Pricing,
    Category,
    /// Only charges that bear accelerators have it in their key.
    Resource,
    Commitment,
    /// FOCUS CommitmentDiscountStatus: Used or Unused.
    CommitmentStatus,
    Tag(String),
    Label(Label),
}

/// A field, and what its value must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub field: Field,
    /// Holds where the test does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
    pub test: Test,
}

/// Texts are compared without regard to case and to spaces around and between words, but in a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    Is(Vec<String>),
    StartsWith(Vec<String>),
    /// A regular expression that is found anywhere in the value, as the charge has it.
    Matches(String),
    Missing,
}

/// What rules can ask about the key of a charge. Empty text means "no value".
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub provider: String,
    pub billing_account: String,
    pub sub_account: String,
    pub service: String,
    pub service_category: String,
    pub sku: String,
    pub region: String,
    pub accelerator: String,
    pub instance_type: String,
    pub meter: String,
    pub pricing: String,
    pub category: String,
    pub resource: String,
    pub commitment: String,
    pub commitment_status: String,
    /// Names as they are compared, and values as charges have them.
    pub tags: Vec<(String, String)>,
}

/// A pattern that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no pattern: {why}")]
pub struct PatternError {
    pub found: String,
    pub why: String,
}

/// A pattern may not take more memory than this once compiled; one that is longer is a mistake.
const PATTERN_BYTES: usize = 1 << 20;

/// Reads a pattern.
pub fn pattern(text: &str) -> Result<Regex, PatternError> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().map_err(|error| PatternError {
        found: text.to_owned(),
        why: match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The library draws the place over several lines; its last says what is wrong.
            other => {
                let text = other.to_string();
                let last = text.lines().last().unwrap_or_default();
                last.trim_start_matches("error:").trim().to_owned()
            }
        },
    })
}

impl Field {
    pub const FIXED: [Self; 14] = [
        Self::Provider,
        Self::Account,
        Self::Service,
        Self::ServiceCategory,
        Self::Sku,
        Self::Region,
        Self::Accelerator,
        Self::Instance,
        Self::Meter,
        Self::Pricing,
        Self::Category,
        Self::Resource,
        Self::Commitment,
        Self::CommitmentStatus,
    ];

    /// `Service`, `Tag team`.
    pub fn name(&self) -> String {
        match self {
            Self::Provider => "Provider".into(),
            Self::Account => "Account".into(),
            Self::Service => "Service".into(),
            Self::ServiceCategory => "Service category".into(),
            Self::Sku => "SKU".into(),
            Self::Region => "Region".into(),
            Self::Accelerator => "Accelerator".into(),
            Self::Instance => "Instance type".into(),
            Self::Meter => "Meter".into(),
            Self::Pricing => "Pricing category".into(),
            Self::Category => "Charge category".into(),
            Self::Resource => "Resource".into(),
            Self::Commitment => "Commitment".into(),
            Self::CommitmentStatus => "Commitment status".into(),
            Self::Tag(key) => {
                usage_tag_label(&normalized_key(key)).map_or_else(|| format!("Tag {key}"), str::to_owned)
            }
            Self::Label(label) => format!("Label {}", label.name().to_lowercase()),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Provider => "provider",
            Self::Account => "account",
            Self::Service => "service",
            Self::ServiceCategory => "service-category",
            Self::Sku => "sku",
            Self::Region => "region",
            Self::Accelerator => "accelerator",
            Self::Instance => "instance",
            Self::Meter => "meter",
            Self::Pricing => "pricing",
            Self::Category => "category",
            Self::Resource => "resource",
            Self::Commitment => "commitment",
            Self::CommitmentStatus => "commitment-status",
            Self::Tag(key) => return write!(f, "tag:{key}"),
            Self::Label(label) => return write!(f, "label:{label}"),
        })
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Some(key) = text.strip_prefix("tag:").filter(|key| !key.trim().is_empty()) {
            return Ok(Self::Tag(key.trim().to_owned()));
        }
        if let Some(label) = text.strip_prefix("label:") {
            return label.parse().map(Self::Label).map_err(|error| format!("label:{label}: {error}"));
        }
        // As pages write it.
        let of_usage = usage_tags::ALL.iter().find(|(_, label)| label.eq_ignore_ascii_case(text));
        if let Some((tag, _)) = of_usage {
            return Ok(Self::Tag((*tag).to_owned()));
        }
        Self::FIXED.into_iter().find(|field| field.to_string() == text).ok_or_else(|| {
            let fixed = Self::FIXED.iter().map(ToString::to_string);
            let of_usage = usage_tags::ALL.iter().map(|(_, label)| label.to_lowercase());
            let names: Vec<String> = fixed.chain(of_usage).collect();
            format!("{text:?} is not a field of charges. Use {}, tag:KEY or label:NAME", names.join(", "))
        })
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Condition {
    /// `Service is one of EC2, S3`.
    pub fn in_words(&self) -> String {
        let name = self.field.name();
        let either = |values: &[String]| values.join(" or ");
        match (&self.test, self.not) {
            (Test::Is(values), false) => format!("{name} is {}", either(values)),
            (Test::Is(values), true) => format!("{name} is not {}", either(values)),
            (Test::StartsWith(values), false) => format!("{name} starts with {}", either(values)),
            (Test::StartsWith(values), true) => format!("{name} does not start with {}", either(values)),
            (Test::Matches(pattern), false) => format!("{name} matches {pattern}"),
            (Test::Matches(pattern), true) => format!("{name} does not match {pattern}"),
            (Test::Missing, false) => format!("{name} is missing"),
            (Test::Missing, true) => format!("{name} is there"),
        }
    }

    /// Ready to be asked of many keys.
    pub fn compile(&self) -> Result<Compiled, PatternError> {
        let normalize = |values: &[String]| values.iter().map(|value| normalized(value)).collect();
        Ok(Compiled {
            field: match &self.field {
                Field::Tag(key) => Field::Tag(normalized_key(key)),
                other => other.clone(),
            },
            not: self.not,
            test: match &self.test {
                Test::Is(values) => CompiledTest::Is(normalize(values)),
                Test::StartsWith(values) => CompiledTest::StartsWith(normalize(values)),
                Test::Matches(text) => CompiledTest::Matches(pattern(text)?),
                Test::Missing => CompiledTest::Missing,
            },
        })
    }
}

/// A condition that is ready to be asked.
#[derive(Debug)]
pub struct Compiled {
    field: Field,
    not: bool,
    test: CompiledTest,
}

#[derive(Debug)]
enum CompiledTest {
    Is(Vec<String>),
    StartsWith(Vec<String>),
    Matches(Regex),
    Missing,
}

impl Compiled {
    /// Whether it asks who used a machine.
    pub fn is_of_usage(&self) -> bool {
        matches!(&self.field, Field::Tag(key) if is_usage_tag(key))
    }

    /// Whether it holds for a key whose labels read as `label` says.
    pub fn holds<'a>(&self, facts: &'a Facts, label: impl Fn(Label) -> &'a str) -> bool {
        let found = match &self.field {
            Field::Provider => self.holds_for(&facts.provider),
            Field::Account => {
                let accounts = [facts.sub_account.as_str(), facts.billing_account.as_str()];
                match self.test {
                    CompiledTest::Missing => accounts.iter().all(|account| account.trim().is_empty()),
                    _ => accounts.iter().any(|account| self.holds_for(account)),
                }
            }
            Field::Service => self.holds_for(&facts.service),
            Field::ServiceCategory => self.holds_for(&facts.service_category),
            Field::Sku => self.holds_for(&facts.sku),
            Field::Region => self.holds_for(&facts.region),
            Field::Accelerator => self.holds_for(&facts.accelerator),
            Field::Instance => self.holds_for(&facts.instance_type),
            Field::Meter => self.holds_for(&facts.meter),
            Field::Pricing => self.holds_for(&facts.pricing),
            Field::Category => self.holds_for(&facts.category),
            Field::Resource => self.holds_for(&facts.resource),
            Field::Commitment => self.holds_for(&facts.commitment),
            Field::CommitmentStatus => self.holds_for(&facts.commitment_status),
            Field::Tag(key) => self.holds_for(facts.tag(key).unwrap_or_default()),
            Field::Label(name) => self.holds_for(label(*name)),
        };
        found != self.not
    }

    /// What is missing is nothing, starts with nothing and matches nothing.
    fn holds_for(&self, value: &str) -> bool {
        let is_missing = value.trim().is_empty();
        match &self.test {
            CompiledTest::Missing => is_missing,
            _ if is_missing => false,
            CompiledTest::Is(values) => {
                let value = normalized(value);
                values.contains(&value)
            }
            CompiledTest::StartsWith(starts) => {
                let value = normalized(value);
                starts.iter().any(|start| value.starts_with(start.as_str()))
            }
            CompiledTest::Matches(pattern) => pattern.is_match(value),
        }
    }
}

impl Facts {
    /// Whether it is known who used the machine.
    pub fn has_usage(&self) -> bool {
        self.tags.iter().any(|(name, _)| is_usage_tag(name))
    }

    /// The value of the first tag with this normalized key that has one.
    pub fn tag(&self, key: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        tags.find(|(name, value)| name == key && !value.trim().is_empty()).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            provider: "AWS".into(),
            billing_account: "111122223333".into(),
            sub_account: "444455556666".into(),
            service: "AmazonEC2".into(),
            accelerator: "H100".into(),
            tags: vec![
                ("team".into(), " Vision ".into()),
                ("cost-centre".into(), "4711".into()),
                ("x".into(), " ".into()),
            ],
            ..Facts::default()
        }
    }

    #[test]
    fn conditions_hold_as_they_read() {
        let is = |value: &str| Test::Is(vec![value.into()]);
        let starts = |value: &str| Test::StartsWith(vec![value.into()]);
        let matches = |value: &str| Test::Matches(value.into());
        for (field, not, test, expected) in [
            ("provider", false, is("aws"), true),
            ("provider", true, is("aws"), false),
            ("provider", false, Test::Is(vec!["GCP".into(), "AWS".into()]), true),
            ("account", false, is("111122223333"), true),
            ("account", false, is("444455556666"), true),
            ("account", false, Test::Missing, false),
            ("service", false, starts("amazon"), true),
            ("service", false, matches("^EC2"), false),
            ("service", false, matches("EC2$"), true),
            ("service", false, matches("(?i)ec2$"), true),
            ("tag:team", false, is("vision"), true),
            ("tag:TEAM", false, is(" VISION"), true),
            ("tag:cost-centre", false, is("4711"), true),
            ("tag:x", false, Test::Missing, true),
            ("tag:project", false, Test::Missing, true),
            ("tag:project", true, Test::Missing, false),
            ("tag:project", false, is(""), false),
            ("tag:project", true, is("a"), true),
            ("tag:project", false, starts(""), false),
            ("resource", false, Test::Missing, true),
            ("label:team", false, is("cv"), true),
        ] {
            let condition = Condition { field: field.parse().unwrap(), not, test };
            let compiled = condition.compile().unwrap();
            assert_eq!(compiled.holds(&facts(), |_| "cv"), expected, "{}", condition.in_words());
        }
    }

    #[test]
    fn a_broken_pattern_says_what_is_wrong() {
        let error = pattern("team-(a|b").unwrap_err();
        assert_eq!(error.to_string(), "\"team-(a|b\" is no pattern: unclosed group");
        assert!(pattern("(a{1000}){1000}").unwrap_err().why.contains("too large"));
    }

    #[test]
    fn every_field_reads_as_it_is_written() {
        let others = [Field::Tag("a:b".into()), Field::Label(Label::ModelSize)];
        for field in Field::FIXED.into_iter().chain(others) {
            assert_eq!(field.to_string().parse::<Field>().as_ref(), Ok(&field));
        }
        assert!("colour".parse::<Field>().is_err());
        assert!("tag:".parse::<Field>().is_err());
        assert!("label:colour".parse::<Field>().is_err());
    }
}
