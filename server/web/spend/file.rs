//! Spend as a table for a spreadsheet: a line a group, or a line a group within a group.

use crate::report::{Group, Spend};
use crate::web::csv;
use crate::web::error::Result;

/// A group of an answer with one level.
struct Line<'a>(&'a Group);

/// A group within a group. What was folded has nothing within it and is a line of its own.
struct InnerLine<'a> {
    group: &'a Group,
    inside: Option<&'a Group>,
}

impl<'a> InnerLine<'a> {
    fn figures(&self) -> &'a Group {
        self.inside.unwrap_or(self.group)
    }
}

pub(super) fn csv(name: &str, spend: &Spend) -> Result {
    if spend.then.is_none() {
        let lines: Vec<Line<'_>> = spend.groups.iter().map(Line).collect();
        return csv::answer(name, &lines);
    }
    let mut lines = Vec::new();
    for group in &spend.groups {
        if group.groups.is_empty() {
            lines.push(InnerLine { group, inside: None });
        }
        lines.extend(group.groups.iter().map(|inside| InnerLine { group, inside: Some(inside) }));
    }
    csv::answer(name, &lines)
}

csv::record! {
    |it: Line<'_>|
    "key" => &it.0.key,
    "label" => &it.0.label,
    "cost" => it.0.cost.amount,
    "currency" => &it.0.cost.currency,
    "accelerator_hours" => it.0.accelerator_hours,
    "owned_hours" => it.0.owned_hours,
    "share" => it.0.share,
    "previous" => it.0.previous.as_ref().map(|previous| previous.amount),
    "cost_per_accelerator_hour" => it.0.cost_per_accelerator_hour,
    "cost_per_owned_hour" => it.0.cost_per_owned_hour,
}

csv::record! {
    |it: InnerLine<'_>|
    "key" => &it.group.key,
    "label" => &it.group.label,
    "then_key" => it.inside.map(|inside| &inside.key),
    "then_label" => it.inside.map(|inside| &inside.label),
    "cost" => it.figures().cost.amount,
    "currency" => &it.figures().cost.currency,
    "accelerator_hours" => it.figures().accelerator_hours,
    "owned_hours" => it.figures().owned_hours,
    "share" => it.figures().share,
    "previous" => it.figures().previous.as_ref().map(|previous| previous.amount),
    "cost_per_accelerator_hour" => it.figures().cost_per_accelerator_hour,
    "cost_per_owned_hour" => it.figures().cost_per_owned_hour,
}
