//! Which of the numbers of `03/04/2026` is the month.

use super::cells::quoted;
use super::periods::{LONG, Periods, Stated};
use super::table::Column;
use crate::billing::date_order::{DateOrder, Slashed};
use crate::billing::mapping::document::DateForm;

/// The order of the dates of a file.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub dates: Option<DateForm>,
    pub is_open: bool,
    pub question: Option<String>,
}

/// The order that dates prove: by a number above 12, as the whole file does when it is read; else by periods that are none in the
/// other order, or last longer than a bill.
pub(super) fn find(columns: &[&Column<'_>]) -> Order {
    let found = Evidence::of(columns);
    let proven = |dates| Order { dates: Some(dates), ..Order::default() };
    match (found.day_first, found.month_first, found.open) {
        (Some(day), Some(month), _) => {
            let (day, month) = (quoted(day), quoted(month));
            let question = format!("Dates are in two orders: {day} has the day first, {month} the month.");
            Order { question: Some(question), ..Order::default() }
        }
        (Some(_), None, _) => proven(DateForm::DayFirst),
        (None, Some(_), _) => proven(DateForm::MonthFirst),
        (None, None, Some(open)) => by_periods(columns)
            .map_or_else(|| Order { dates: None, is_open: true, question: Some(two_readings(open)) }, proven),
        (None, None, None) => Order::default(),
    }
}

/// What dates with slashes prove of their order.
#[derive(Default)]
struct Evidence<'a> {
    day_first: Option<&'a str>,
    month_first: Option<&'a str>,
    open: Option<&'a str>,
}

impl<'a> Evidence<'a> {
    fn of(columns: &[&Column<'a>]) -> Self {
        let mut found = Self::default();
        for cell in columns.iter().flat_map(|column| column.filled()) {
            // Of a range, both ends.
            for part in cell
                .split(['-', '–', '—'])
                .flat_map(|part| part.split(" to "))
                .flat_map(|part| part.split(" bis "))
            {
                found.look_at(part.trim());
            }
        }
        found
    }

    fn look_at(&mut self, text: &'a str) {
        let Some(date) = Slashed::parse(text.as_bytes()) else { return };
        let place = match (date.date(DateOrder::DayFirst), date.date(DateOrder::MonthFirst)) {
            (Some(_), None) => &mut self.day_first,
            (None, Some(_)) => &mut self.month_first,
            (Some(day), Some(month)) if day != month => &mut self.open,
            _ => return,
        };
        place.get_or_insert(text);
    }
}

fn two_readings(open: &str) -> String {
    let read = |order| {
        let day = Slashed::parse(open.as_bytes()).and_then(|date| date.date(order));
        day.map(|day| day.format("%B %-d, %Y").to_string()).unwrap_or_default()
    };
    format!(
        "{} can be {} or {}, and no date says which: choose the order of dates.",
        quoted(open),
        read(DateOrder::MonthFirst),
        read(DateOrder::DayFirst)
    )
}

/// The one order in which all periods end behind their start and last as long as bills do.
fn by_periods(columns: &[&Column<'_>]) -> Option<DateForm> {
    let fits = |order| {
        let periods = Periods::read(columns, order).0;
        let lasts = |period: &Stated| {
            let end = period.end.or(period.when.end)?;
            Some((0..LONG).contains(&(end - period.when.start).num_days()))
        };
        let filled = columns.first().map_or(0, |column| column.filled().count());
        let lasting: Vec<bool> = periods.iter().filter_map(lasts).collect();
        !lasting.is_empty() && lasting.len() == filled && lasting.iter().all(|lasts| *lasts)
    };
    match (fits(DateOrder::DayFirst), fits(DateOrder::MonthFirst)) {
        (true, false) => Some(DateForm::DayFirst),
        (false, true) => Some(DateForm::MonthFirst),
        _ => None,
    }
}
