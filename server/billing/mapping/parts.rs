//! One row as the charges it is: its tax by itself, and what lasts over the end of a month by the days of each.

use chrono::{DateTime, Datelike, TimeZone, Utc};

use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// A charge of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub kind: Kind,
    pub period: ChargePeriod,
    pub month: BillingMonth,
    pub cost: Decimal,
    pub quantity: Option<Decimal>,
}

/// What of a row a charge is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Cost,
    Tax,
}

/// Digits beyond those of an amount that its parts may have: the largest remainder is as small as nobody sees.
const MORE_DIGITS: u8 = 6;
/// No invoice lasts over so many months: a typing error would become as many charges.
pub(super) const MOST_MONTHS: usize = 24;

/// Divides what a row states into the months that its period lies in, by time. Parts sum to the whole exactly. `None` where
/// these are more than [`MOST_MONTHS`].
pub(super) fn spread(whole: Part) -> Option<Vec<Part>> {
    let periods = months(whole.period)?;
    if periods.len() < 2 {
        return Some(vec![whole]);
    }
    let seconds: Vec<Decimal> =
        periods.iter().map(|(_, period)| Decimal::from((period.end - period.start).num_seconds())).collect();
    let divide = |amount: Decimal| amount.apportion(&seconds, amount.scale().saturating_add(MORE_DIGITS));
    let costs = divide(whole.cost)?;
    let quantities = whole.quantity.map(divide);
    let parts = periods.into_iter().zip(costs).enumerate().map(|(at, ((month, period), cost))| Part {
        kind: whole.kind,
        period,
        month,
        cost: cost.normalize(),
        quantity: quantities.as_ref().and_then(|parts| parts.as_ref()).map(|parts| parts[at].normalize()),
    });
    Some(parts.collect())
}

/// A period cut at the ends of months.
fn months(period: ChargePeriod) -> Option<Vec<(BillingMonth, ChargePeriod)>> {
    let mut periods = Vec::new();
    let mut start = period.start;
    loop {
        let month = BillingMonth::of(start.date_naive());
        let next = first_of(month.next())?;
        let end = period.end.min(next);
        periods.push((month, ChargePeriod { start, end }));
        if end >= period.end {
            return Some(periods);
        }
        if periods.len() >= MOST_MONTHS {
            return None;
        }
        start = end;
    }
}

fn first_of(month: BillingMonth) -> Option<DateTime<Utc>> {
    let day = month.first_day();
    Utc.with_ymd_and_hms(day.year(), day.month(), 1, 0, 0, 0).single()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: &str, end: &str, cost: &str) -> Part {
        let time = |text: &str| format!("{text}T00:00:00Z").parse::<DateTime<Utc>>().unwrap();
        Part {
            kind: Kind::Cost,
            period: ChargePeriod { start: time(start), end: time(end) },
            month: BillingMonth::of(time(start).date_naive()),
            cost: cost.parse().unwrap(),
            quantity: Some("168".parse().unwrap()),
        }
    }

    fn costs(parts: &[Part]) -> Vec<String> {
        parts.iter().map(|part| format!("{} {}", part.month, part.cost)).collect()
    }

    #[test]
    fn a_week_over_the_end_of_a_month_is_divided_by_days() {
        let parts = spread(part("2026-09-28", "2026-10-05", "700.00")).unwrap();
        assert_eq!(costs(&parts), ["2026-09 300", "2026-10 400"]);
        assert_eq!(parts.iter().filter_map(|part| part.quantity).sum::<Decimal>(), 168.into());
        assert_eq!(parts[0].period.end, parts[1].period.start);
    }

    #[test]
    fn parts_sum_to_the_whole_whatever_it_is() {
        for cost in ["100.00", "0.01", "-33.333333", "123456789012345678.123456789", "1"] {
            let whole = part("2026-09-28", "2026-12-03", cost);
            let parts = spread(whole).unwrap();
            assert_eq!(parts.len(), 4, "{cost}");
            assert_eq!(parts.iter().map(|part| part.cost).sum::<Decimal>(), whole.cost, "{cost}");
        }
    }

    #[test]
    fn what_lies_in_one_month_stays_whole() {
        for (start, end) in
            [("2026-09-01", "2026-10-01"), ("2026-09-03", "2026-09-04"), ("2026-09-03", "2026-09-03")]
        {
            assert_eq!(spread(part(start, end, "5")).unwrap(), [part(start, end, "5")]);
        }
        assert_eq!(spread(part("2026-01-01", "2036-01-01", "5")), None);
    }
}
