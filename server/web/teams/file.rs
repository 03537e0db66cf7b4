//! A team's page as a table for a spreadsheet: a line a group of each breakdown. The lines of what is direct by one
//! dimension, and those of shared costs, sum to the total.

use crate::report::{Group, Grouping, TeamReport};
use crate::web::csv;
use crate::web::error::Result;

struct Line<'a> {
    part: &'static str,
    by: &'a Grouping,
    group: &'a Group,
}

pub(super) fn csv(it: &TeamReport) -> Result {
    let line = |part, by| move |group| Line { part, by, group };
    let mut lines: Vec<Line<'_>> = it.by_team.iter().map(line("all", &Grouping::Team)).collect();
    lines.extend(it.shared_costs.iter().map(line("shared", &Grouping::Pool)));
    for breakdown in &it.breakdowns {
        lines.extend(breakdown.groups.iter().map(line("direct", &breakdown.by)));
    }
    csv::answer(&format!("team-{}-{}", it.who.team, it.period), &lines)
}

csv::record! {
    |it: Line<'_>|
    "part" => it.part,
    "by" => it.by.to_string(),
    "key" => &it.group.key,
    "label" => &it.group.label,
    "cost" => it.group.cost.amount,
    "currency" => &it.group.cost.currency,
    "share" => it.group.share,
    "previous" => it.group.previous.as_ref().map(|previous| previous.amount),
    "accelerator_hours" => it.group.accelerator_hours,
    "owned_hours" => it.group.owned_hours,
    "cost_per_accelerator_hour" => it.group.cost_per_accelerator_hour,
}
