use proptest::prelude::*;

use super::*;
use crate::money::arithmetic::decimal;
use crate::money::number;

fn shape(json: &str) -> Shape {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_flat_demand_has_its_hours_of_each_day() {
    let day = shape(r#"{"shape": "flat", "gpus": "64", "hours_per_day": 18}"#).profile("", decimal(25, 2));
    assert_eq!((day.hours().len(), day.peak(), day.lowest()), (24, 64_000, 0));
    assert_eq!(day.gpu_hours(), 1152.into());
    assert_eq!(day.hours()[0], Hour { firm: 48_000, interruptible: 16_000 });
}

#[test]
fn demand_between_two_numbers_has_their_mean() {
    let year = shape(r#"{"shape": "between", "low": "400", "high": "800"}"#).profile("", Decimal::ZERO);
    let spread = Spread { low: 400.into(), high: 800.into() };
    let mean = crate::money::arithmetic::quotient(year.gpu_hours(), 8760.into()).unwrap();
    assert!((mean - spread.mean()).abs() < number("0.001"), "{mean}");
}

#[test]
fn a_swing_is_the_same_for_the_same_seed_and_keeps_its_mean() {
    let of = |seed: u32| {
        let text = format!(
            r#"{{"shape": "swinging", "base": "100", "day_swing": "0.4", "weekend": "1", "noise": "0.2", "seed": {seed}}}"#
        );
        shape(&text).profile("", Decimal::ZERO)
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    let mean = crate::money::arithmetic::quotient(of(1).gpu_hours(), 8760.into()).unwrap();
    assert!((mean - 100.into()).abs() < 2.into(), "{mean}");
    let quiet = shape(
        r#"{"shape": "swinging", "base": "100", "day_swing": "0.4", "weekend": "0.5", "noise": "0", "seed": 1}"#,
    )
    .profile("", Decimal::ZERO);
    assert_eq!(quiet.hours()[15].all(), 140_000, "the busiest hour of a Monday");
    assert_eq!(quiet.hours()[5 * 24 + 15].all(), 70_000, "and of a Saturday");
}

#[test]
fn levels_fill_a_year_by_their_shares() {
    let year = shape(
        r#"{"shape": "levels", "levels": [{"gpus": "8", "share": "0.25"}, {"gpus": "2", "share": "0.75"}]}"#,
    )
    .profile("", Decimal::ZERO);
    assert_eq!(year.hours().len(), 8760);
    assert_eq!(year.hours().iter().filter(|it| it.all() == 8000).count(), 2190);
    let mut sorted: Vec<u64> = year.hours().iter().map(|it| it.all()).collect();
    sorted.sort_unstable_by_key(|it| std::cmp::Reverse(*it));
    assert_eq!([0, 1, 2, 3, 4].map(|at| sorted[8759 * at / 4]), [8000, 8000, 2000, 2000, 2000]);
}

fn levels(shares: &[Decimal], order: Order) -> Shape {
    let level =
        |(at, share): (usize, &Decimal)| Level { gpus: i64::try_from(at + 1).unwrap().into(), share: *share };
    Shape::Levels { levels: shares.iter().enumerate().map(level).collect(), order }
}

#[test]
fn levels_in_a_share_of_the_hours_have_that_share_in_every_month_and_at_every_time_of_day() {
    let shape = levels(&[decimal(25, 2), decimal(75, 2)], Order::Spread);
    let year = shape.profile("", Decimal::ZERO);
    let of = |hours: &[Hour]| hours.iter().filter(|it| it.all() == 1000).count();
    for month in year.hours().chunks(MONTH) {
        assert!([182, 183].contains(&of(month)), "{}", of(month));
    }
    for quarter in year.hours().chunks(3 * MONTH) {
        assert!([547, 548].contains(&of(quarter)), "{}", of(quarter));
    }
    let at =
        |time: usize| (0..8760).filter(|hour| hour % 24 == time && year.hours()[*hour].all() == 1000).count();
    for time in 0..24 {
        assert!(at(time).abs_diff(91) <= 15, "{time} o'clock: {}", at(time));
    }
}

#[test]
fn levels_that_are_listed_come_one_after_the_other() {
    let year = levels(&[decimal(25, 2), decimal(75, 2)], Order::Listed).profile("", Decimal::ZERO);
    assert!(year.hours()[..2190].iter().all(|it| it.all() == 1000));
    assert!(year.hours()[2190..].iter().all(|it| it.all() == 2000));
    let text = r#"{"shape": "levels", "order": "listed", "levels": [{"gpus": "1", "share": "1"}]}"#;
    assert!(matches!(shape(text), Shape::Levels { order: Order::Listed, .. }));
}

#[test]
fn runs_begin_equal_parts_of_the_year() {
    let text = r#"{"shape": "runs", "gpus": "64", "runs_per_year": 4, "hours_per_run": 336}"#;
    let year = shape(text).profile("", Decimal::ZERO);
    assert_eq!((year.hours().len(), year.gpu_hours()), (8760, (4 * 336 * 64).into()));
    for quarter in year.hours().chunks(2190) {
        assert!(quarter[..336].iter().all(|it| it.all() == 64_000));
        assert!(quarter[336..].iter().all(|it| it.all() == 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_horizon_has_its_share_of_each_level_to_within_an_hour(
        parts in prop::collection::vec(0i64..400, 1..7),
        months in 1u32..=120,
    ) {
        let sum: i64 = parts.iter().sum::<i64>().max(1);
        // Shares that sum to exactly 1.
        let mut shares: Vec<Decimal> =
            parts.iter().map(|it| crate::money::arithmetic::quotient((*it).into(), sum.into()).unwrap().round(8)).collect();
        let rest = crate::money::arithmetic::one() - shares.iter().copied().sum::<Decimal>();
        shares[0] += rest;
        let hours = levels(&shares, Order::Spread).profile("", Decimal::ZERO).over(months, Decimal::ZERO);
        prop_assert_eq!(hours.hours().len(), months as usize * MONTH);
        for (at, share) in shares.iter().enumerate() {
            let gpus = (at as u64 + 1) * 1000;
            let found = hours.hours().iter().filter(|it| it.all() == gpus).count();
            let exact = share.times(i64::from(months) * 730);
            let off = (Decimal::from(i64::try_from(found).unwrap()) - exact).abs();
            // An hour, and what shares of ten years are rounded by.
            prop_assert!(off < crate::money::arithmetic::quotient((120 + i64::from(months)).into(), 120.into()).unwrap(), "{off}");
        }
    }
}

#[test]
fn it_grows_by_the_month_and_repeats() {
    let year = Profile::new([Decimal::from(10)], Decimal::ZERO).over(3, decimal(10, 2));
    assert_eq!(year.hours().len(), 3 * MONTH);
    let of_month = |month: usize| year.hours()[month * MONTH].all();
    assert_eq!([of_month(0), of_month(1), of_month(2)], [10_000, 11_000, 12_100]);
    let slowly = Profile::new([Decimal::from(1000)], Decimal::ZERO).over(2, decimal(4, 4));
    assert_eq!(slowly.peak(), 1_000_400, "a growth of less than a thousandth");
    let slower = year.taking(number("1.25"), 1.into());
    assert_eq!(slower.peak(), 15_125);
    let both = year.with(&slower);
    assert_eq!(both.peak(), 27_225);
}

#[test]
fn what_takes_a_fraction_of_an_hour_is_divided_once() {
    let of = |gpus: i64, hours: &str, of_it: &str| {
        Profile::new([Decimal::from(gpus)], Decimal::ZERO).taking(number(hours), number(of_it)).peak()
    };
    // A thirtieth is 0.0333…, of which three digits are a hundredth too little.
    assert_eq!(of(300, "1", "30"), 10_000);
    assert_eq!(of(3, "2", "3"), 2000);
    assert_eq!(of(1, "1.05", "3"), 350);
    assert_eq!(of(1, "1", "3"), 334, "rounded up");
    assert_eq!(of(1_000_000, "1.00000000000000000001", "0.01"), 100_000_000_001);
}

prop_compose! {
    fn spreads()(low in 0i64..1000, width in 1i64..1000) -> Spread {
        Spread { low: low.into(), high: (low + width).into() }
    }
}

fn close(a: Decimal, b: Decimal) -> bool {
    (a - b).abs() < decimal(1, 9)
}

proptest! {
    #[test]
    fn the_level_that_costs_least_follows_demand(
        spread in spreads(),
        reserved in 1i64..100,
        missing in 1i64..100,
        more in 0i64..500,
        times in 2i64..9,
    ) {
        let (r, p) = (Decimal::from(reserved), Decimal::from(missing));
        let best = spread.cheapest(r, p);
        let shifted = Spread { low: spread.low + more.into(), high: spread.high + more.into() };
        let scaled = Spread { low: spread.low.times(times), high: spread.high.times(times) };
        if reserved < missing {
            prop_assert!(close(shifted.cheapest(r, p), best + more.into()));
            prop_assert!(close(spread.exceeds(best), crate::money::arithmetic::quotient(r, p).unwrap()));
            prop_assert!(best >= spread.low && best <= spread.high);
        } else {
            prop_assert_eq!(best, Decimal::ZERO);
        }
        prop_assert!(close(scaled.cheapest(r, p), best.times(times)));
        prop_assert_eq!(spread.cheapest(Decimal::ZERO, p), spread.high);
        // No other level costs less.
        for level in [Decimal::ZERO, spread.low, spread.mean(), spread.high, best + decimal(1, 1)] {
            prop_assert!(spread.cost(best, r, p) <= spread.cost(level, r, p) + decimal(1, 9));
        }
    }
}

#[test]
fn each_month_has_of_all_that_is_between_two_numbers() {
    let between = Shape::Between { low: 400.into(), high: 800.into() };
    for month in between.profile("nvidia-h100-sxm", Decimal::ZERO).hours().chunks(730) {
        let sum: u64 = month.iter().map(|it| it.all()).sum();
        assert!(sum.abs_diff(600_000 * 730) < 1000 * 730, "{sum}");
    }
}
