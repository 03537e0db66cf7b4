//! What a period will have cost at its end. Pure.
//!
//! *Expected*: what was spent, and for each day to come the mean daily spend of the last [`DAYS`] stated days (fewer
//! where fewer are stated). What belongs to no day (tax, fees, subscriptions) is in what was spent, once, and in no
//! day to come.
//!
//! *Band*: 10 of 100 such periods end below it, and 10 above. With `n` days behind the mean, `d` days to come, and the
//! standard deviation `s` of the daily spend (of the sample: divided by `n − 1`), the days to come vary by `s·√d` and
//! the mean itself by `s·d/√n`, so that the sum varies by `s·√(d + d²/n)`, of which the 10th and 90th percentile lie
//! 1.2816 apart from the middle. Days are taken as independent, without regard to weekdays. Where no day gave money
//! back, the band does not go below what is spent already.

use serde::Serialize;

use crate::money::Decimal;

/// Stated days that are taken for what is usual: four weeks, so that each weekday counts alike.
pub const DAYS: usize = 28;
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

/// From what was spent, the daily spend of the last stated days, the latest last, and how many days are to come.
pub fn forecast(spent: Decimal, daily: &[Decimal], days: u32) -> Forecast {
    let recent = &daily[daily.len().saturating_sub(DAYS)..];
    let sum: Decimal = recent.iter().copied().sum();
    let to_come = sum.times(days.into()).divide(count(recent.len()), PLACES).unwrap_or_default();
    let expected = spent + to_come;
    let spread = spread(recent, days);
    let gives_back = recent.iter().any(Decimal::is_negative);
    let low = if gives_back { expected - spread } else { (expected - spread).max(spent) };
    Forecast { expected: expected.normalize(), low: low.normalize(), high: (expected + spread).normalize() }
}

/// How far the band reaches to each side, in whole cents. An estimate: the only place where amounts are floats.
fn spread(recent: &[Decimal], days: u32) -> Decimal {
    let amounts: Vec<f64> =
        recent.iter().map(|amount| amount.to_string().parse().unwrap_or_default()).collect();
    let n = f64::from(u32::try_from(amounts.len()).unwrap_or(u32::MAX));
    if days == 0 || amounts.len() < 2 {
        return Decimal::ZERO;
    }
    let mean = amounts.iter().sum::<f64>() / n;
    let squares: f64 = amounts.iter().map(|amount| (amount - mean).powi(2)).sum();
    let (deviation, d) = ((squares / (n - 1.0)).sqrt(), f64::from(days));
    let spread = TENTH * deviation * (d + d * d / n).sqrt();
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

    #[test]
    fn days_to_come_cost_what_days_did_and_vary_as_they_did() {
        for (spent, daily, days, expected) in [
            // s = √(200 / 3), n = 4, d = 16: 1.2816 · 8.165 · √(16 + 64) = 93.59.
            ("100", &["20", "40", "30", "30"][..], 16, ("580", "486.41", "673.59")),
            ("1000", &["10", "10", "10"], 5, ("1050", "1050", "1050")),
            ("7.5", &["7.5"], 3, ("30.0", "30.0", "30.0")),
            ("0", &["0", "9"], 1, ("4.5", "0", "14.49")),
            ("50", &[], 9, ("50", "50", "50")),
            ("50", &["9", "1"], 0, ("50", "50", "50")),
        ] {
            let daily = decimals(daily);
            let found = forecast(spent.parse().unwrap(), &daily, days);
            let found = [found.expected, found.low, found.high].map(|it| it.round(2).normalize().to_string());
            let (middle, low, high) = expected;
            let expected =
                [middle, low, high].map(|it| it.parse::<Decimal>().unwrap().normalize().to_string());
            assert_eq!(found, expected, "{daily:?}");
        }
    }

    #[test]
    fn only_the_last_four_weeks_tell_what_is_usual() {
        let daily: Vec<Decimal> = (0..60).map(|day| if day < 32 { 1000 } else { 2 }.into()).collect();
        assert_eq!(forecast(5.into(), &daily, 10).expected, 25.into());
    }

    proptest! {
        #[test]
        fn it_never_falls_below_what_is_spent_and_ends_at_it(
            spent in 0_i64..1_000_000_000,
            daily in proptest::collection::vec(0_i64..100_000_000, 0..40),
            days in 0_u32..366,
        ) {
            let daily: Vec<Decimal> = daily.into_iter().map(|cents| Decimal::new(cents.into(), 2)).collect();
            let spent = Decimal::new(spent.into(), 2);
            let found = forecast(spent, &daily, days);
            prop_assert!(spent <= found.low && found.low <= found.expected && found.expected <= found.high);
            let over = forecast(spent, &daily, 0);
            prop_assert_eq!((over.low, over.expected, over.high), (spent, spent, spent));
        }

        #[test]
        fn money_back_lets_it_fall_but_never_turns_the_band_around(
            daily in proptest::collection::vec(-100_000_i64..100_000, 0..40),
            days in 0_u32..366,
        ) {
            let daily: Vec<Decimal> = daily.into_iter().map(Decimal::from).collect();
            let found = forecast(Decimal::ZERO, &daily, days);
            prop_assert!(found.low <= found.expected && found.expected <= found.high);
        }
    }
}
