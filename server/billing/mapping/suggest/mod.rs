//! Suggestions: what the columns of a file are most likely used for, so that people correct a mapping rather than fill it in.
//!
//! A name says what a column may be, its cells whether it is; where two columns could be the same, what they hold is compared.
//! Nothing is guessed where there are two readings: that is a question, in a sentence that names both.

pub(super) mod cells;
mod costs;
mod currencies;
mod decimals;
mod laws;
mod left_out;
mod names;
mod order;
mod periods;
mod roles;
mod table;
mod texts;
mod times;
pub(super) mod totals;

use std::collections::BTreeMap;

use self::costs::Costs;
use self::table::Table;
use self::times::Times;
use self::totals::Lines;
use super::document::{DateForm, Decimals, LastDay, LeaveOut, Length, States};
use super::sample::Sample;
use super::uses::Use;

/// How a file may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// For each column. Each use but tags at most once.
    pub uses: Vec<Option<Use>>,
    /// `None` where amounts can be read in two ways, as `1.234` can.
    pub decimal: Option<Decimals>,
    /// `None` without dates with slashes, or where these can be read in two ways.
    pub dates: Option<DateForm>,
    /// Whether there are dates with slashes of which nothing proves the order.
    pub has_open_dates: bool,
    pub end_is: LastDay,
    pub length: Length,
    pub spread: bool,
    /// A part, where a file is of weeks: the next one is of others.
    pub states: States,
    /// The same in all rows, where no column is the currency: as names of columns or the signs of amounts say.
    pub currency: Option<String>,
    /// The same in all rows, where no column is the unit: as the name of the quantity says.
    pub unit: Option<String>,
    /// The category of FOCUS by each word of the column of categories that is known.
    pub category_words: BTreeMap<String, String>,
    /// Rows that look like totals, and the tax between them.
    pub leave_out: Vec<LeaveOut>,
    /// Sentences for people, about what has two readings or looks wrong.
    pub questions: Vec<String>,
}

/// Guesses how a file is read. In this order, since each step rests on those before it:
///
/// 1. totals are set aside by their words, so that they are not taken for dates, names or costs;
/// 2. the decimal mark, by which all amounts are read;
/// 3. what of the totals has a date is a charge after all;
/// 4. times, then costs, which take columns of dates and numbers;
/// 5. texts, of the columns that are left: a `Type` is a category or a machine by what it holds;
/// 6. currency and unit, where none of the columns is theirs;
/// 7. totals, whose amounts are compared with the sum of the costs.
pub fn suggest(sample: &Sample) -> Suggestion {
    let lines = Lines::read(sample);
    let table = Table::new(sample, &lines.charges, Decimals::default());
    let (decimal, two_decimals) = decimals::decide(&table);
    let decimals = decimal.unwrap_or_default();
    let of_times: Vec<usize> = (0..table.columns.len()).filter(|at| table.columns[*at].is_times).collect();
    let lines = lines.with_times(sample, &of_times);
    let table = Table::new(sample, &lines.charges, decimals);
    let times = times::find(&table, &sample.above);
    let costs = costs::find(&table);
    let uses = uses(&table, &times, &costs);
    // Where nothing costs, the total is that of the quantity.
    let summed = costs.cost.map_or((costs.quantity, None), |cost| (Some(cost), costs.tax));
    let totals = left_out::find(sample, &lines, summed, decimals);
    let (currency, several_currencies) = currency(&table, &costs, &uses, &sample.above);
    let column = |of: Use| uses.iter().position(|used| *used == Some(of)).map(|at| &table.columns[at]);
    let unit = if column(Use::Unit).is_some() { None } else { column(Use::Quantity).and_then(texts::unit) };
    let category_words = column(Use::Category).map(texts::category_words).unwrap_or_default();
    let rest = rest(&table, &lines.remarks, &times, &costs);
    let questions = [
        times.questions,
        costs.questions,
        two_decimals.into_iter().chain(several_currencies).chain(texts::no_quantity(&table, &uses)).collect(),
        column(Use::Category).and_then(texts::open_words).into_iter().collect(),
        totals.questions,
        rest,
    ]
    .concat();
    Suggestion {
        uses,
        decimal,
        dates: times.dates,
        has_open_dates: times.has_open_dates,
        end_is: times.end_is,
        length: times.length,
        spread: times.spread,
        states: if times.spread { States::Part } else { States::Month },
        currency,
        unit,
        category_words,
        leave_out: totals.leave_out,
        questions,
    }
}

fn uses(table: &Table<'_>, times: &Times, costs: &Costs) -> Vec<Option<Use>> {
    let mut uses = vec![None; table.columns.len()];
    let found = [
        (Use::Start, times.start),
        (Use::End, times.end),
        (Use::Cost, costs.cost),
        (Use::Tax, costs.tax),
        (Use::Quantity, costs.quantity),
    ];
    for (of, at) in found {
        // A column is one of them: what is read as a time holds no amounts.
        if let Some(place) = at.and_then(|at| uses.get_mut(at)) {
            place.get_or_insert(of);
        }
    }
    texts::fill_in(table, &mut uses);
    uses
}

/// That of all rows, and what to ask about it.
fn currency(
    table: &Table<'_>,
    costs: &Costs,
    uses: &[Option<Use>],
    above: &[String],
) -> (Option<String>, Option<String>) {
    if uses.contains(&Some(Use::Currency)) {
        return (None, None);
    }
    let paid: Vec<usize> = [costs.cost, costs.tax].into_iter().flatten().collect();
    currencies::find(table, &paid, above)
}

/// What is wrong with rows that lack what every charge has. Of remarks, which are rows by themselves, all is said here.
fn rest(table: &Table<'_>, remarks: &[&str], times: &Times, costs: &Costs) -> Vec<String> {
    let (Some(start), Some(cost)) = (times.start, costs.cost) else { return Vec::new() };
    let first = |row: usize| {
        let mut cells = table.columns.iter().map(|column| column.cells[row]);
        cells.find(|cell| !cells::is_blank(cell)).unwrap_or_default()
    };
    let lacking = |wanted: (bool, bool)| {
        let lacks = move |row: &usize| {
            let (time, amount) = (table.columns[start].cells[*row], table.columns[cost].cells[*row]);
            (cells::time(time).is_none(), cells::is_blank(amount)) == wanted
        };
        (0..table.rows).filter(lacks).map(first)
    };
    let undated: Vec<&str> = lacking((true, false)).collect();
    let texts: Vec<&str> = lacking((true, true)).chain(remarks.iter().copied()).collect();
    let sentence = |rows: &[&str], lack: &str| {
        let first = cells::quoted(rows.first()?);
        Some(match rows.len() {
            1 => format!("1 line has {lack}, {first}: leave it out, or it is rejected."),
            many => {
                format!("{many} lines have {lack}, such as {first}: leave them out, or they are rejected.")
            }
        })
    };
    let undated = sentence(&undated, "an amount and no date");
    undated.into_iter().chain(sentence(&texts, "neither date nor amount")).collect()
}
