//! Asking for what somebody owns: of a team with the teams inside it, as the organization was in each month.

use super::{Filter, Grouping};
use crate::allocation::Configuration;
use crate::period::Period;

/// A period in parts of which each has one filter: which teams are inside a team changes from month to month. Months
/// without such a team are in none.
pub(super) fn parts(
    configuration: &Configuration,
    dimension: &Grouping,
    handle: &str,
    period: Period,
) -> Vec<(Period, Filter)> {
    if *dimension != Grouping::Team {
        return vec![(period, Filter::keep(dimension.clone(), vec![handle.to_owned()]))];
    }
    let mut found: Vec<(Period, Filter)> = Vec::new();
    for month in period.months() {
        let of_month = configuration.of_month(month);
        let inside = of_month.with_teams_inside(handle).into_iter();
        let mut inside: Vec<String> = inside.map(str::to_owned).collect();
        if inside.is_empty() {
            continue;
        }
        inside.sort();
        if let Some((part, filter)) = found.last_mut()
            && part.last().next() == month
            && filter.values == inside
            && let Some(longer) = Period::new(part.first(), month)
        {
            *part = longer;
            continue;
        }
        found.push((month.into(), Filter::keep(Grouping::Team, inside)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{Entry, Months, Team};

    #[test]
    fn months_in_which_the_same_teams_are_inside_are_asked_together() {
        let team = |handle: &str, parent: Option<&str>, months: Months| {
            let parent = parent.map(str::to_owned);
            Entry::Team(Team {
                handle: handle.into(),
                name: handle.into(),
                parent,
                months,
                ..Team::default()
            })
        };
        let from = |first: &str| Months::from(first.parse().unwrap());
        let until = |last: &str| Months { first: None, last: Some(last.parse().unwrap()) };
        let entries = [
            team("research", None, from("2026-02")),
            team("vision", None, until("2026-05")),
            team("vision", Some("research"), from("2026-06")),
        ];
        let configuration = Configuration { entries: (1..).zip(entries).collect() };
        let described = |dimension, handle| -> Vec<String> {
            let parts = parts(&configuration, &dimension, handle, "2026".parse().unwrap());
            parts.iter().map(|(part, filter)| format!("{part} {}", filter.values.join(" "))).collect()
        };
        assert_eq!(
            described(Grouping::Team, "research"),
            ["2026-02..2026-05 research", "2026-06..2026-12 research vision"]
        );
        assert_eq!(described(Grouping::Team, "gone"), [""; 0]);
        assert_eq!(described(Grouping::Project, "apollo"), ["2026-01..2026-12 apollo"]);
    }
}
