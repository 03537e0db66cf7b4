//! A team's page as a table for a spreadsheet: a line a group of each breakdown. The lines of what is direct by one
//! dimension, and those of shared costs, sum to the total.

use crate::money::Decimal;
use crate::report::{Group, Grouping, TeamReport};
use crate::web::csv::{self, Cell, Record};
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

impl Record for Line<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "part",
        "by",
        "key",
        "label",
        "cost",
        "currency",
        "share",
        "previous",
        "accelerator_hours",
        "owned_hours",
        "cost_per_accelerator_hour",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let number = |number: Option<Decimal>| number.map_or(Cell::Empty, Cell::Number);
        let group = self.group;
        vec![
            Cell::text(self.part),
            Cell::text(self.by.to_string()),
            group.key.as_deref().map_or(Cell::Empty, Cell::text),
            Cell::text(group.label.as_str()),
            Cell::Number(group.cost.amount),
            Cell::text(group.cost.currency.as_str()),
            number(group.share),
            number(group.previous.as_ref().map(|previous| previous.amount)),
            Cell::Number(group.accelerator_hours),
            Cell::Number(group.owned_hours),
            number(group.cost_per_accelerator_hour),
        ]
    }
}
