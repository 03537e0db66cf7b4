//! Labels: what tags mean, and which spellings mean the same.

use serde::{Deserialize, Serialize};

pub use crate::billing::{normalized, normalized_key};
use crate::enum_words::{words, written_as_str};

words! {
    /// What a tag can tell about a charge.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Label: as_str, name {
        Team = "team", "Team";
        Project = "project", "Project";
        Experiment = "experiment", "Experiment";
        CostCentre = "cost-centre", "Cost center";
        Environment = "environment", "Environment";
        ModelSize = "model-size", "Model size";
        Workload = "workload", "Workload";
        Interruptible = "interruptible", "Interruptible";
    }
}

written_as_str!(Label);

impl Label {
    /// The tag keys that mean it until somebody says otherwise.
    pub fn usual_keys(self) -> &'static [&'static str] {
        match self {
            Self::Team => &["team"],
            Self::Project => &["project"],
            Self::Experiment => &["experiment", "experiment-id", "experimentid"],
            Self::CostCentre => &["cost-centre", "cost-center", "costcentre", "costcenter"],
            Self::Environment => &["environment", "env"],
            Self::ModelSize => &["model-size", "modelsize"],
            Self::Workload => &["workload"],
            Self::Interruptible => &["interruptible"],
        }
    }

    /// Values that everybody writes in several ways: a value and its other spellings.
    pub fn usual_values(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Environment => &[
                ("production", &["prod", "prd", "live"]),
                ("development", &["dev"]),
                ("staging", &["stage", "stg"]),
            ],
            Self::Workload => &[
                ("training", &["train", "pretraining", "pre-training"]),
                ("serving", &["serve", "inference"]),
                ("development", &["dev", "research"]),
            ],
            Self::Interruptible => &[("yes", &["true", "1", "y"]), ("no", &["false", "0", "n"])],
            _ => &[],
        }
    }
}

/// What an address can hold of a name: `Computer Vision` becomes `computer-vision`. Empty where nothing is left.
pub fn handle_of(name: &str) -> String {
    let mut handle = String::with_capacity(name.len());
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            handle.push(c);
        } else if !handle.is_empty() && !handle.ends_with('-') {
            handle.push('-');
        }
    }
    handle.truncate(handle.trim_end_matches('-').len());
    handle
}

/// Whether two values look like one: the same letters and digits, or one letter of many apart.
pub fn are_similar(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| -> Vec<char> { normalized(text).chars().filter(|c| c.is_alphanumeric()).collect() };
    let (a, b) = (letters(a), letters(b));
    if a.is_empty() || b.is_empty() {
        return false;
    }
    // `exp-1` and `exp-2` are distinguished by their digits on purpose.
    let digits = |text: &[char]| -> Vec<char> { text.iter().copied().filter(char::is_ascii_digit).collect() };
    digits(&a) == digits(&b) && (a == b || (a.len().min(b.len()) >= 5 && is_within_one_edit(&a, &b)))
}

/// One letter more, less, other, or two swapped.
fn is_within_one_edit(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if long.len() - short.len() > 1 {
        return false;
    }
    let same_start = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let (short_rest, long_rest) = (&short[same_start..], &long[same_start..]);
    if short.len() < long.len() {
        return short_rest == &long_rest[1..];
    }
    match (short_rest, long_rest) {
        ([], _) => true,
        ([_, x @ ..], [_, y @ ..]) if x == y => true,
        ([first, second, x @ ..], [third, fourth, y @ ..]) => first == fourth && second == third && x == y,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_fits_an_address() {
        assert_eq!(handle_of("Computer Vision"), "computer-vision");
        assert_eq!(handle_of("  R&D / Öl 7! "), "r-d-öl-7");
        assert_eq!(handle_of("???"), "");
    }

    #[test]
    fn values_that_look_alike_are_found() {
        for (a, b) in
            [("vision", "Vison"), ("nlp team", "nlp-team"), ("speech", "speeech"), ("robotics", "roboitcs")]
        {
            assert!(are_similar(a, b), "{a} {b}");
            assert!(are_similar(b, a), "{b} {a}");
        }
        for (a, b) in
            [("exp-1", "exp-2"), ("cv", "nlp"), ("llama-7b", "llama-70b"), ("", "x"), ("abc", "abd")]
        {
            assert!(!are_similar(a, b), "{a} {b}");
        }
    }

    #[test]
    fn usual_keys_are_known_in_every_spelling() {
        for (label, spellings) in [
            (
                Label::Experiment,
                &["experiment-id", "experiment_id", "Experiment ID", "experimentId", "EXPERIMENT"][..],
            ),
            (Label::ModelSize, &["model-size", "model_size", "ModelSize", "Model Size", "MODEL.SIZE"]),
            (
                Label::CostCentre,
                &[
                    "cost-center",
                    "cost_centre",
                    "costcenter",
                    "CostCenter",
                    "Cost Center",
                    "cost.centre",
                    "COST-CENTRE",
                ],
            ),
        ] {
            let known: Vec<String> = label.usual_keys().iter().map(|key| normalized_key(key)).collect();
            for spelling in spellings {
                assert!(known.contains(&normalized_key(spelling)), "{label} {spelling}");
            }
        }
    }

    #[test]
    fn every_label_reads_as_it_is_written() {
        for label in Label::ALL {
            assert_eq!(label.to_string().parse(), Ok(label));
        }
        assert!("teams".parse::<Label>().is_err());
    }
}
