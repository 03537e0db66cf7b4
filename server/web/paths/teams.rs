//! Teams and their experiments.

use std::fmt;

use serde::Deserialize;

use crate::period::Period;
use crate::web::format::{File, PAGE};

paths! {
    /// Where leads find their team and everybody else all of them, in the latest month.
    "/teams" => Teams;
    /// A team; leads to the latest month.
    "/teams/{team}" => AnyTeam { team: String };
    "/teams/{team}/{period}" => Team { team: String, period: Period };
    /// What a team is charged, on paper.
    "/teams/{team}/{period}/statement" => Statement { team: String, period: Period };
    /// Every team's part of a period.
    "/chargeback/{period}" => Chargeback { period: Period };

    /// Leads to the experiments of the latest month.
    "/experiments" => AnyExperiments;
    "/experiments/during/{period}" => Experiments { period: Period };
    /// Some experiments side by side.
    "/experiments/compare" => CompareExperiments;
    /// An experiment by its label.
    "/experiments/{experiment}" => Experiment { experiment: Named };
    /// An experiment's name, team and project.
    "/experiments/{experiment}/change" => ExperimentChange { experiment: String };
    /// Makes an experiment another spelling of a second.
    "/experiments/{experiment}/merge" => ExperimentMerge { experiment: String };
}

/// A text of people as the last part of an address. One that ends as a file does, or that reads as a way to somewhere else,
/// gets a suffix that says that it is a page: `/experiments/run.json.html`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Named(pub String);

impl From<String> for Named {
    fn from(text: String) -> Self {
        Self(text.strip_suffix(PAGE).map(str::to_owned).unwrap_or(text))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        let is_other = [".", "..", "compare"].contains(&text.as_str());
        let has_suffix = text.ends_with(PAGE) || File::ends(text);
        write!(f, "{text}{}", if is_other || has_suffix { PAGE } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_ends_as_a_file_does_has_a_page_of_its_own() {
        for (label, page) in [
            ("exp-7", "exp-7"),
            ("run.json", "run.json.html"),
            ("index.html", "index.html.html"),
            ("x.json.html", "x.json.html.html"),
            ("compare", "compare.html"),
            ("..", "...html"),
            (".json", ".json.html"),
        ] {
            assert_eq!(Named(label.to_owned()).to_string(), page);
            assert_eq!(Named::from(page.to_owned()), Named(label.to_owned()));
        }
    }
}
