//! Noisy tags: those with so many values that, in the key, they would make every row a key of its own.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::billing::{Tags, normalized_key, usage_tags};

/// A tag is noisy when its distinct values exceed one row in this many …
const ROWS_PER_VALUE: u64 = 20;
/// … and are more than this: a file of forty rows has no noise worth the name.
const FEW: usize = 1000;
/// Tags that name a single thing by design, in any organization. Never worth a group on a page.
const KNOWN: [&str; 10] = [
    "Name",
    "name",
    "aws:cloudformation:stack-id",
    "aws:ec2spot:fleet-request-id",
    "aws:ec2launchtemplate:version",
    "aws:ssmmessages:session-id",
    "pod-template-hash",
    "request-id",
    "run-id",
    usage_tags::JOB,
];

/// The tag names that stay out of the key.
#[derive(Clone, Debug)]
pub struct NoisyTags(FxHashSet<String>);

impl Default for NoisyTags {
    fn default() -> Self {
        Self(KNOWN.iter().map(|name| (*name).to_owned()).collect())
    }
}

impl NoisyTags {
    /// Those and no others, as a delivery has written them down.
    pub fn exactly(names: Vec<String>) -> Self {
        Self(names.into_iter().collect())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The tags that are part of the key.
    pub fn quiet<'a>(&self, tags: &'a Tags) -> impl Iterator<Item = (&'a str, &'a str)> {
        tags.iter().filter(|(name, _)| !self.contains(name))
    }

    /// The tags that stay with the charge.
    pub fn noisy<'a>(&self, tags: &'a Tags) -> impl Iterator<Item = (&'a str, &'a str)> {
        tags.iter().filter(|(name, _)| self.contains(name))
    }

    #[must_use]
    pub fn with(mut self, found: Vec<String>) -> Self {
        self.0.extend(found);
        self
    }
}

/// Counts the distinct values of each tag, up to where it is certain that there are too many.
#[derive(Debug, Default)]
pub struct TagCensus {
    rows: u64,
    values: FxHashMap<String, FxHashSet<u64>>,
}

/// Names that are counted; more tags than this are none that an organization has agreed on.
const MAX_NAMES: usize = 10_000;
/// Values counted of one tag; more are too many in a file of any size that is read in one go.
const MAX_COUNTED: usize = 200_000;

impl TagCensus {
    pub fn observe(&mut self, tags: &Tags) {
        self.rows += 1;
        for (name, value) in tags.iter() {
            let mut hasher = FxHasher::default();
            value.hash(&mut hasher);
            let hash = hasher.finish();
            let has_room = self.values.len() < MAX_NAMES;
            match self.values.get_mut(name) {
                Some(values) if values.len() < MAX_COUNTED => {
                    values.insert(hash);
                }
                Some(_) => {}
                None if !has_room => {}
                None => {
                    self.values.insert(name.to_owned(), FxHashSet::from_iter([hash]));
                }
            }
        }
    }

    /// The tags that are noisy by what was seen so far; without labels, by which rules decide whose a charge is: they
    /// are in the key whatever their values.
    pub fn noisy(&self, labels: &[String]) -> Vec<String> {
        let limit = FEW.max((self.rows / ROWS_PER_VALUE) as usize);
        let mut noisy: Vec<String> = self
            .values
            .iter()
            .filter(|(name, values)| values.len() > limit && !labels.contains(&normalized_key(name)))
            .map(|(name, _)| name.clone())
            .collect();
        noisy.sort_unstable();
        noisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_of_many_values_is_noisy_and_one_of_few_is_not() {
        let mut census = TagCensus::default();
        for row in 0..30_000 {
            let mut tags = Tags::default();
            tags.set("job", &row.to_string());
            tags.set("experiment", &(row % 400).to_string());
            census.observe(&tags);
        }
        assert!(census.noisy(&["job".to_owned()]).is_empty());
        assert_eq!(census.noisy(&[]), ["job"]);
        let noisy = NoisyTags::default().with(census.noisy(&[]));
        assert!(noisy.contains("job") && noisy.contains("Name") && !noisy.contains("experiment"));
    }
}
