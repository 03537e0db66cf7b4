//! When charges begin and end: which columns say so, in which order their dates are, and how long a charge lasts.

use chrono::{DateTime, Datelike, TimeDelta, Utc};

use super::cells::{self, quoted};
use super::names::Role;
use super::order;
use super::periods::{LONG, Periods};
use super::table::{Column, Table};
use crate::billing::date_order::DateOrder;
use crate::billing::mapping::dates::Form;
use crate::billing::mapping::document::{DateForm, LastDay, Length};

#[derive(Debug, Default)]
pub(super) struct Times {
    pub start: Option<usize>,
    pub end: Option<usize>,
    pub dates: Option<DateForm>,
    pub has_open_dates: bool,
    pub end_is: LastDay,
    pub length: Length,
    pub spread: bool,
    pub questions: Vec<String>,
}

/// Names of a start, the best first. A date within a period says more than the period, and a bill is rarely issued when its
/// charges were.
const STARTS: [Role; 8] = [
    Role::Start,
    Role::Date,
    Role::Period,
    Role::Week,
    Role::Hour,
    Role::Month,
    Role::IssueDate,
    // The last day of a week, where nothing names the first.
    Role::End,
];

/// `above` are the lines above the header, which may name the month of a bill.
pub(super) fn find(table: &Table<'_>, above: &[String]) -> Times {
    let mut times = Times { start: start(table), ..Times::default() };
    let Some(start) = times.start else {
        times.questions.push(no_start(table));
        return times;
    };
    times.end = end(table, start);
    let columns: Vec<&Column<'_>> =
        [Some(start), times.end].into_iter().flatten().map(|at| &table.columns[at]).collect();
    let order = order::find(&columns);
    (times.dates, times.has_open_dates) = (order.dates, order.is_open);
    times.questions.extend(order.question);
    times.ask_about_forms(&columns);
    times.ask_about_name(columns[0]);
    let periods = Periods::read(&columns, times.order());
    times.end_is = periods.end_is();
    times.length = if times.end.is_some() { Length::default() } else { periods.length(columns[0], above) };
    times.settle_spread(&periods);
    times
}

/// Where the best start is.
fn start(table: &Table<'_>) -> Option<usize> {
    let is_time = |at: &usize| table.columns[*at].is_times && table.columns[*at].is_nameable;
    let named = |role: Role| table.of_role(role).into_iter().find(is_time);
    let unnamed = || {
        let is_unknown = |at: &usize| !STARTS.iter().any(|role| table.columns[*at].has(*role));
        (0..table.columns.len()).filter(is_time).find(is_unknown)
    };
    let (good, last) = STARTS.split_at(6);
    let good: Vec<usize> = good.iter().filter_map(|role| named(*role)).collect();
    // A date that is the same in all rows is more likely that of the bill than of its charges, where there is a period.
    let is_constant = |at: usize| {
        let mut cells = table.columns[at].filled();
        let first = cells.next();
        table.rows > 1 && cells.all(|cell| Some(cell) == first)
    };
    let is_date = |at: usize| !table.columns[at].has(Role::Start) && table.columns[at].has(Role::Date);
    let varied = good.iter().find(|at| !(is_date(**at) && good.len() > 1 && is_constant(**at)));
    let good = varied.or(good.first()).copied();
    good.or_else(unnamed).or_else(|| last.iter().find_map(|role| named(*role)))
}

/// The end of what begins there, where that is a date alone.
fn end(table: &Table<'_>, start: usize) -> Option<usize> {
    let is_date = |at: usize| {
        let dated = |cell: &str| cells::time(cell).is_some_and(|when| when.form == Form::Date);
        table.columns[at].are_mostly(dated)
    };
    let ends = table.of_role(Role::End).into_iter();
    ends.filter(|at| *at != start && table.columns[*at].is_times && is_date(*at)).find(|_| is_date(start))
}

fn no_start(table: &Table<'_>) -> String {
    let named = STARTS.iter().flat_map(|role| table.of_role(*role)).find_map(|at| {
        let column = &table.columns[at];
        // Rows of totals apart, a column of amounts that has such a name, too, is no date.
        Some((column, column.filled().find(|cell| cells::time(cell).is_none())?))
            .filter(|_| !column.is_amounts)
    });
    match named {
        Some((column, cell)) => format!(
            "{} is named as a date and holds {}, which is no date that can be read: choose the column of the date.",
            column.quoted(),
            quoted(cell)
        ),
        None => "No column holds dates or months: choose the one that says when a charge was.".to_owned(),
    }
}

impl Times {
    fn order(&self) -> DateOrder {
        match self.dates {
            Some(DateForm::MonthFirst) => DateOrder::MonthFirst,
            // Any order tells how long most periods are.
            Some(DateForm::DayFirst) | None => DateOrder::DayFirst,
        }
    }

    fn ask_about_forms(&mut self, columns: &[&Column<'_>]) {
        for column in columns {
            let form = |cell: &str| cells::time(cell).map(|when| when.form);
            let Some((first, as_first)) = column.filled().find_map(|cell| Some((cell, form(cell)?))) else {
                continue;
            };
            let other =
                column.filled().find_map(|cell| Some((cell, form(cell).filter(|form| *form != as_first)?)));
            if let Some((other, as_other)) = other {
                self.questions.push(format!(
                    "{} holds {} such as {} and {} such as {}: rows with the latter are rejected.",
                    column.quoted(),
                    as_first.plural(),
                    quoted(first),
                    as_other.plural(),
                    quoted(other)
                ));
            }
            if let Some((count, first)) = column.others(|cell| cells::time(cell).is_some()) {
                let noun = if count == 1 { "cell that is" } else { "cells that are" };
                self.questions.push(format!(
                    "{} has {count} {noun} no date, such as {}.",
                    column.quoted(),
                    quoted(first)
                ));
            }
        }
    }

    fn ask_about_name(&mut self, start: &Column<'_>) {
        let has_better = STARTS[..6].iter().any(|role| start.has(*role));
        if start.has(Role::IssueDate) && !has_better {
            self.questions.push(format!(
                "{} may be when the bill was issued or due: charges are counted in its month.",
                start.quoted()
            ));
        } else if start.has(Role::End) && !has_better {
            self.questions
                .push(format!("{} is an end, and no column says when a charge begins.", start.quoted()));
        }
    }

    /// Whether charges are divided by months: where weeks or other periods last over the end of one. Of longer ones, such as
    /// a year that is paid at once, it is asked.
    fn settle_spread(&mut self, stated: &Periods) {
        let periods: Vec<(DateTime<Utc>, DateTime<Utc>)> =
            stated.0.iter().filter_map(|period| period.stated(self.end_is, self.length)).collect();
        let days = |(start, end): &(DateTime<Utc>, DateTime<Utc>)| (*end - *start).num_days();
        let crosses = |(start, end): &(DateTime<Utc>, DateTime<Utc>)| {
            let last = end.checked_sub_signed(TimeDelta::seconds(1)).unwrap_or(*end);
            (start.year(), start.month()) != (last.year(), last.month()) && end > start
        };
        let longest = periods.iter().filter(|period| crosses(period)).map(days).max();
        let are_weeks = !periods.is_empty() && periods.iter().all(|period| days(period) == 7);
        self.spread = are_weeks || longest.is_some_and(|days| days < LONG);
        if let Some(days) = longest.filter(|days| *days >= LONG) {
            self.questions.push(format!(
                "A charge lasts {days} days: choose whether such charges are spread over their months."
            ));
        }
    }
}
