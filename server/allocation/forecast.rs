//! What a period will have cost at its end. Pure, and the only place that forecasts.
//!
//! *Expected* is what was spent, and what is to come of two kinds of cost:
//!
//! - *By day*: for each day to come the mean daily spend of the last [`DAYS`] stated days (fewer where fewer are stated).
//! - *By month*: what belongs to no day (tax, support, fees, subscriptions), and our own clusters, whose bills have days and
//!   are published when their month is over, costs each month the median of the [`MONTHS`] months before the one that goes on
//!   (fewer where fewer are there). Of the month that goes on only what is not stated yet is to come.
//!
//! *Band*: 10 of 100 such periods end below it, and 10 above. With `n` days behind the mean, `d` days to come, and the
//! standard deviation `s` of the daily spend (of the sample: divided by `n − 1`), the days to come vary by `s·√d` and
//! the mean itself by `s·d/√n`, so that the sum varies by `s·√(d + d²/n)`; months likewise, and both together by the root
//! of the sum of squares. The 10th and 90th percentile lie 1.2816 times that apart from the middle. Days and months are
//! taken as independent, without regard to weekdays. Where no day gave money back, the band does not go below what is
//! spent already.

use serde::Serialize;

use crate::money::Decimal;

/// Stated days that are taken for what is usual: four weeks, so that each weekday counts alike.
pub const DAYS: usize = 28;
/// Months before that are taken for what a month usually costs beside its days: the median of three is moved neither by one
/// large fee nor by one bill that is late.
pub const MONTHS: usize = 3;
/// Decimals of the mean, where it does not end by itself.
const PLACES: u8 = 6;
/// Of the normal distribution: ten percent lie beyond so many standard deviations.
const TENTH: f64 = 1.281_551_565_545;

/// What is expected, and between what it will be in four of five cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    pub expected: Decimal,
    pub low: Decimal,
    pub high: Decimal,
}

/// What a forecast is made from.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Of the period until now, by day and by month.
    pub spent: Decimal,
    /// The daily spend of the last stated days, the latest last.
    pub daily: Vec<Decimal>,
    /// What was charged by the month in each month before the one that goes on, the latest last.
    pub monthly: Vec<Decimal>,
    /// The same of the month that goes on, so far. `None` where its bills state it whole.
    pub monthly_so_far: Option<Decimal>,
}

impl Known {
    /// When so many more days are over, and so many more months have begun.
    pub fn forecast(&self, days: u32, months: u32) -> Forecast {
        let daily = &self.daily[self.daily.len().saturating_sub(DAYS)..];
        let monthly = &self.monthly[self.monthly.len().saturating_sub(MONTHS)..];
        let mean = |of: &[Decimal], times: u32| {
            let sum: Decimal = of.iter().copied().sum();
            sum.times(times.into()).divide(count(of.len()), PLACES).unwrap_or_default()
        };
        let usual = median(monthly);
        let still_due = self.monthly_so_far.map_or(Decimal::ZERO, |so_far| still_due(usual, so_far));
        let of_months = usual.times(months.into()) + still_due;
        let expected = self.spent + mean(daily, days) + of_months;
        let bills = months + u32::from(!still_due.is_zero());
        let spread = spread(&[(daily, days), (monthly, bills)]);
        let gives_back = daily.iter().chain(monthly).any(Decimal::is_negative);
        let low = if gives_back { expected - spread } else { (expected - spread).max(self.spent) };
        Forecast {
            expected: expected.normalize(),
            low: low.normalize(),
            high: (expected + spread).normalize(),
        }
    }
}

/// What is to come of a month's usual bills where so much is stated: nothing where that is as much or more. A usual month that
/// gives money back has that still to come likewise.
fn still_due(usual: Decimal, so_far: Decimal) -> Decimal {
    let due = usual - so_far;
    if due.is_negative() == usual.is_negative() { due } else { Decimal::ZERO }
}

/// The middle one; of an even number the mean of the two in the middle; of none nothing.
fn median(amounts: &[Decimal]) -> Decimal {
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => Decimal::ZERO,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]).divide(2.into(), PLACES).unwrap_or_default(),
    }
}

/// How far the band reaches to each side, in whole cents: of so many to come of each kind, of which these were usual. An
/// estimate: the only place where amounts are floats.
fn spread(kinds: &[(&[Decimal], u32)]) -> Decimal {
    let variance = |(amounts, to_come): &(&[Decimal], u32)| {
        let amounts: Vec<f64> =
            amounts.iter().map(|amount| amount.to_string().parse().unwrap_or_default()).collect();
        let n = f64::from(u32::try_from(amounts.len()).unwrap_or(u32::MAX));
        if *to_come == 0 || amounts.len() < 2 {
            return 0.0;
        }
        let mean = amounts.iter().sum::<f64>() / n;
        let squares: f64 = amounts.iter().map(|amount| (amount - mean).powi(2)).sum();
        let d = f64::from(*to_come);
        squares / (n - 1.0) * (d + d * d / n)
    };
    let spread = TENTH * kinds.iter().map(variance).sum::<f64>().sqrt();
    format!("{spread:.2}").parse().unwrap_or_default()
}

fn count(n: usize) -> Decimal {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimals(amounts: &[&str]) -> Vec<Decimal> {
        amounts.iter().map(|amount| amount.parse().unwrap()).collect()
    }

    fn rounded(found: Forecast) -> [String; 3] {
        [found.expected, found.low, found.high].map(|it| it.round(2).normalize().to_string())
    }

    #[test]
    fn days_to_come_cost_what_days_did_and_vary_as_they_did() {
        for (spent, daily, days, expected) in [
            // s = √(200 / 3), n = 4, d = 16: 1.2816 · 8.165 · √(16 + 64) = 93.59.
            ("100", &["20", "40", "30", "30"][..], 16, ["580", "486.41", "673.59"]),
            ("1000", &["10", "10", "10"], 5, ["1050", "1050", "1050"]),
            ("7.5", &["7.5"], 3, ["30", "30", "30"]),
            ("0", &["0", "9"], 1, ["4.5", "0", "14.49"]),
            ("50", &[], 9, ["50", "50", "50"]),
            ("50", &["9", "1"], 0, ["50", "50", "50"]),
        ] {
            let known = Known { spent: spent.parse().unwrap(), daily: decimals(daily), ..Known::default() };
            assert_eq!(rounded(known.forecast(days, 0)), expected, "{daily:?}");
        }
    }

    #[test]
    fn monthly_costs_are_expected_as_they_were_in_the_months_before() {
        // 100 spent until now and 10 days to come of 10 each.
        for (what, monthly, so_far, months, expected) in [
            ("nothing is known of months", &[][..], Some("0"), 0, ["200", "200", "200"]),
            ("nothing is stated yet", &["50", "50", "50"], Some("0"), 0, ["250", "250", "250"]),
            ("half of it is stated", &["50", "50", "50"], Some("25"), 0, ["225", "225", "225"]),
            ("more is stated than usual", &["50", "50", "50"], Some("80"), 0, ["200", "200", "200"]),
            ("the month is over", &["50", "50", "50"], None, 0, ["200", "200", "200"]),
            ("two more months", &["50", "50", "50"], Some("0"), 2, ["350", "350", "350"]),
            ("two more after one that is over", &["50", "50", "50"], None, 2, ["300", "300", "300"]),
            // s = 520.4, n = 3, one to come: 1.2816 · 520.4 · √(1 + 1/3) = 770.13.
            ("one large fee", &["50", "50", "951.4"], Some("0"), 0, ["250", "100", "1020.13"]),
            ("one late bill", &["50", "50", "0"], Some("50"), 0, ["200", "200", "200"]),
            ("only one month before", &["70"], Some("0"), 0, ["270", "270", "270"]),
            ("of two the mean", &["40", "60"], Some("50"), 0, ["200", "200", "200"]),
            ("only the last three", &["900", "50", "50", "50"], Some("0"), 0, ["250", "250", "250"]),
            ("credits", &["-50", "-50", "-50"], Some("0"), 0, ["150", "150", "150"]),
            ("more credits than usual", &["-50", "-50", "-50"], Some("-60"), 0, ["200", "200", "200"]),
        ] {
            let known = Known {
                spent: 100.into(),
                daily: vec![10.into(); 4],
                monthly: decimals(monthly),
                monthly_so_far: so_far.map(|it| it.parse().unwrap()),
            };
            assert_eq!(rounded(known.forecast(10, months)), expected, "{what}");
        }
    }

    #[test]
    fn only_the_last_four_weeks_tell_what_is_usual() {
        let daily = (0..60).map(|day| if day < 32 { 1000 } else { 2 }.into()).collect();
        let known = Known { spent: 5.into(), daily, ..Known::default() };
        assert_eq!(known.forecast(10, 0).expected, 25.into());
    }

    proptest! {
        #[test]
        fn it_never_falls_below_what_is_spent_and_ends_at_it(
            spent in 0_i64..1_000_000_000,
            daily in proptest::collection::vec(0_i64..100_000_000, 0..40),
            monthly in proptest::collection::vec(0_i64..100_000_000, 0..5),
            so_far in 0_i64..100_000_000,
            days in 0_u32..366,
            months in 0_u32..12,
        ) {
            let cents = |amounts: Vec<i64>| -> Vec<Decimal> {
                amounts.into_iter().map(|cents| Decimal::new(cents.into(), 2)).collect()
            };
            let spent = Decimal::new(spent.into(), 2);
            let so_far = Some(Decimal::new(so_far.into(), 2));
            let known = Known { spent, daily: cents(daily), monthly: cents(monthly), monthly_so_far: so_far };
            let found = known.forecast(days, months);
            prop_assert!(spent <= found.low && found.low <= found.expected && found.expected <= found.high);
            let over = Known { monthly_so_far: None, ..known }.forecast(0, 0);
            prop_assert_eq!((over.low, over.expected, over.high), (spent, spent, spent));
        }

        #[test]
        fn money_back_lets_it_fall_but_never_turns_the_band_around(
            daily in proptest::collection::vec(-100_000_i64..100_000, 0..40),
            monthly in proptest::collection::vec(-100_000_i64..100_000, 0..5),
            days in 0_u32..366,
        ) {
            let decimals = |amounts: Vec<i64>| amounts.into_iter().map(Decimal::from).collect();
            let known = Known {
                daily: decimals(daily),
                monthly: decimals(monthly),
                monthly_so_far: Some(Decimal::ZERO),
                ..Known::default()
            };
            let found = known.forecast(days, 0);
            prop_assert!(found.low <= found.expected && found.expected <= found.high);
        }
    }
}
