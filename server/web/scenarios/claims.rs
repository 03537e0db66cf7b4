//! `/scenarios/claims`: figures that people may have read, and what is right.

use askama::Template;

use super::super::error::{Error, Result};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::words;
use crate::economics::published_figures::{PublishedFigure, Value, published_figures};

#[derive(Template)]
#[template(path = "scenarios/claims.html")]
struct Page {
    layout: Layout,
    claims: Vec<PublishedFigure>,
}

/// What was printed with its unit, where the number alone does not say it.
const PRINTED: [(&str, &str); 7] = [
    ("checkpoint-waste", "1%"),
    ("spot-request", "6.00 dollars per instance of eight GPUs"),
    ("hours-of-a-year", "26,000 GPU-hours a year"),
    ("training-hours", "7,168 GPU-hours"),
    ("same-work", "80 GPUs"),
    ("three-times-cheaper", "3 times"),
    ("three-times-the-bandwidth", "3 times"),
];

/// Where the second of the correct figures, not the first, is counted in what was printed: GPUs instead of hours, dollars for
/// as many GiB, cards instead of GB, TFLOPS instead of a version.
const SECOND: [&str; 4] = ["same-work", "next-gigabyte", "seventy-billion-on-one-card", "fp8-on-a100"];

/// What was printed, with its unit.
pub(super) fn printed(claim: &PublishedFigure) -> &'static str {
    PRINTED.iter().find(|(id, _)| *id == claim.id).map_or(claim.printed, |(_, printed)| printed)
}

/// What is correct in place of the printed figure, in the same unit where there is one.
fn correct(claim: &PublishedFigure) -> Option<&Value> {
    claim.right.get(usize::from(SECOND.contains(&claim.id)))
}

pub async fn index(_: paths::Claims, format: Format, layout: Layout) -> Result {
    match format {
        Format::Html => respond::html(Page { layout, claims: published_figures() }),
        Format::Json => respond::json(&published_figures()),
        Format::Csv => Err(Error::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_name_claims_that_there_are_and_each_has_its_correct_figure() {
        let claims = published_figures();
        for id in PRINTED.iter().map(|(id, _)| id).chain(&SECOND) {
            assert!(claims.iter().any(|claim| claim.id == *id), "{id}");
        }
        assert!(claims.iter().all(|claim| correct(claim).is_some()));
    }
}
