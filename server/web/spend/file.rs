//! Spend as a table for a spreadsheet: a line a group, or a line a group within a group.

use crate::money::{Decimal, Money};
use crate::report::{Group, Spend};
use crate::web::csv::{self, Cell, Record};
use crate::web::error::Result;

/// A group of an answer with one level.
struct Line<'a>(&'a Group);

/// A group within a group. What was folded has nothing within it and is a line of its own.
struct InnerLine<'a> {
    group: &'a Group,
    inside: Option<&'a Group>,
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

fn number<'a>(number: Option<Decimal>) -> Cell<'a> {
    number.map_or(Cell::Empty, Cell::Number)
}

fn named(group: &Group) -> [Cell<'_>; 2] {
    [group.key.as_deref().map_or(Cell::Empty, Cell::text), Cell::text(group.label.as_str())]
}

fn figures(group: &Group) -> [Cell<'_>; 8] {
    let amount = |money: &Money| money.amount;
    [
        Cell::Number(group.cost.amount),
        Cell::text(group.cost.currency.as_str()),
        Cell::Number(group.accelerator_hours),
        Cell::Number(group.owned_hours),
        number(group.share),
        number(group.previous.as_ref().map(amount)),
        number(group.cost_per_accelerator_hour),
        number(group.cost_per_owned_hour),
    ]
}

impl Record for Line<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "key",
        "label",
        "cost",
        "currency",
        "accelerator_hours",
        "owned_hours",
        "share",
        "previous",
        "cost_per_accelerator_hour",
        "cost_per_owned_hour",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        named(self.0).into_iter().chain(figures(self.0)).collect()
    }
}

impl Record for InnerLine<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "key",
        "label",
        "then_key",
        "then_label",
        "cost",
        "currency",
        "accelerator_hours",
        "owned_hours",
        "share",
        "previous",
        "cost_per_accelerator_hour",
        "cost_per_owned_hour",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let inside = self.inside.map_or([Cell::Empty, Cell::Empty], named);
        let figures = figures(self.inside.unwrap_or(self.group));
        named(self.group).into_iter().chain(inside).chain(figures).collect()
    }
}
