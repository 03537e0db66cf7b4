use proptest::prelude::*;

use super::*;
use crate::economics::profile::{Hour, MONTH, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// Eight hours each of 2, 4 and 8 GPUs.
fn day() -> Vec<Hour> {
    let of = |gpus: u64| vec![Hour { firm: 0, interruptible: gpus * 1000 }; 8];
    [of(2), of(4), of(8)].concat()
}

/// Serves hours with a level of base and so much of spot, both in thousandths of a GPU, and the rest on demand: counted,
/// and not looked up.
fn serve(hours: &[Hour], level: u64, spot: u64) -> Served {
    let mut served = Served::default();
    for hour in hours {
        let all = hour.all();
        let base = all.min(level);
        let over = all - base;
        let interrupted = over.min(hour.interruptible).min(spot);
        served.base += u128::from(base);
        served.spot += u128::from(interrupted);
        served.burst += u128::from(over - interrupted);
    }
    served
}

/// The level that costs least. Hours are repeated until they are whole months.
fn cheapest(hours: &[Hour], step: u64, spot: u64, [base, cheap, dear]: [i64; 3]) -> u64 {
    let count = hours.len();
    let overflow = Overflow { spot: Some((flat(cheap, count), spot)), burst: flat(dear, count) };
    let ladder = Ladder::new(&months(hours, count), &overflow);
    let term = ladder.months();
    let commitments = [Commitment { prices: flat(base, count), term, size: Size::Best }];
    Stack { ladder: &ladder, commitments: &commitments, overflow: &overflow, step }.levels()[0][0]
}

fn cost(hours: &[Hour], level: u64, spot: u64, [base, cheap, dear]: [i64; 3]) -> Decimal {
    let served = serve(hours, level, spot);
    let reserved = in_gpus(u128::from(level) * hours.len() as u128);
    reserved.times(base) + in_gpus(served.spot).times(cheap) + in_gpus(served.burst).times(dear)
}

#[test]
fn the_level_that_is_exceeded_as_often_as_the_prices_relate_costs_least() {
    let day = day();
    // Exceeded a third of the time at 4, two thirds at 2: half is reached at 4.
    assert_eq!(cheapest(&day, 1000, 0, [5, 0, 10]), 4000);
    assert_eq!(cost(&day, 4000, 0, [5, 0, 10]), 800.into());
    // At exactly a third all from 4 to 8 cost the same; at two thirds all from 2 to 4.
    assert_eq!(cheapest(&day, 1000, 0, [20, 0, 30]), 2000);
    // A base that costs as much as on demand is not worth having, and one for nothing is worth the peak.
    assert_eq!(cheapest(&day, 1000, 0, [10, 0, 10]), 0);
    assert_eq!(cheapest(&day, 1000, 0, [0, 0, 10]), 8000);
}

#[test]
fn spot_comes_before_on_demand() {
    let day = day();
    let prices = [5, 3, 10];
    assert_eq!(cheapest(&day, 1000, 2000, prices), 2000);
    for (level, expected) in [(0, 784), (2000, 656), (4000, 688), (6000, 768)] {
        assert_eq!(cost(&day, level, 2000, prices), expected.into(), "{level}");
    }
}

fn months(hours: &[Hour], months: usize) -> Vec<Hour> {
    hours.iter().copied().cycle().take(months * MONTH).collect()
}

fn flat(price: i64, months: usize) -> Vec<Decimal> {
    vec![price.into(); months]
}

#[test]
fn a_longer_term_lies_below_a_shorter_one() {
    let hours = months(&day(), 24);
    let commitments = [
        Commitment { prices: flat(4, 24), term: 24, size: Size::Best },
        Commitment { prices: flat(6, 24), term: 12, size: Size::Best },
    ];
    let overflow = Overflow { spot: None, burst: flat(10, 24) };
    let ladder = Ladder::new(&hours, &overflow);
    let stack = Stack { ladder: &ladder, commitments: &commitments, overflow: &overflow, step: 1000 };
    // 2 is asked for always, 4 two thirds of the time (worth 6.7), 8 a third (3.3).
    let levels = stack.levels();
    assert_eq!((levels[0][0], levels[1][0], levels[1][23]), (4000, 4000, 4000));
    let dear = [
        Commitment { prices: flat(7, 24), ..commitments[0].clone() },
        Commitment { prices: flat(6, 24), ..commitments[1].clone() },
    ];
    let levels = Stack { commitments: &dear, ..stack }.levels();
    assert_eq!((levels[0][0], levels[1][0]), (0, 4000), "the year serves all that is worth a base");
}

#[test]
fn each_term_has_the_level_of_its_own_demand() {
    let mut hours = months(&day(), 12);
    let doubled = |it: &Hour| Hour { firm: 0, interruptible: it.interruptible * 2 };
    let later: Vec<Hour> = hours.iter().map(doubled).collect();
    hours.extend(later);
    let yearly = Commitment { prices: flat(6, 24), term: 12, size: Size::Best };
    let overflow = Overflow { spot: None, burst: flat(10, 24) };
    let ladder = Ladder::new(&hours, &overflow);
    let stack = Stack {
        ladder: &ladder,
        commitments: std::slice::from_ref(&yearly),
        overflow: &overflow,
        step: 1000,
    };
    assert_eq!((stack.levels()[0][11], stack.levels()[0][12]), (4000, 8000));
    let whole = Commitment { term: 24, ..yearly.clone() };
    assert_eq!(Stack { commitments: &[whole], ..stack }.levels()[0][0], 4000);
}

proptest! {
    #[test]
    fn the_best_level_is_that_of_trying_all(
        gpus in prop::collection::vec((0u64..12, 0u64..12), 1..12),
        base in 0i64..14,
        cheap in 0i64..10,
        more in 0i64..10,
        cap in 0u64..8,
        step in 1u64..5,
    ) {
        let hours: Vec<Hour> = gpus
            .iter()
            .map(|(firm, interruptible)| Hour { firm: firm * 1000, interruptible: interruptible * 1000 })
            .collect();
        let prices = [base, cheap, cheap + more];
        let of = |level: u64| cost(&hours, level, cap * 1000, prices);
        let best = cheapest(&hours, step * 1000, cap * 1000, prices);
        let levels = (0..=24_u64.div_ceil(step)).map(|n| n * step * 1000);
        let tried = levels.clone().map(of).min().unwrap();
        prop_assert_eq!(of(best), tried);
        prop_assert_eq!(Some(best), levels.into_iter().find(|&level| of(level) == tried), "the smallest of them");
    }

    #[test]
    fn the_best_level_is_shifted_and_scaled_as_demand_is(
        gpus in prop::collection::vec(0u64..12, 1..12),
        base in 0i64..12,
        dear in 1i64..10,
        more in 0u64..9,
        times in 2u64..5,
    ) {
        let of = |change: &dyn Fn(u64) -> u64| -> Vec<Hour> {
            gpus.iter().map(|it| Hour { firm: change(*it) * 1000, interruptible: 0 }).collect()
        };
        let best = |hours: &[Hour], step: u64| cheapest(hours, step, 0, [base, 0, dear]);
        let plain = best(&of(&|it| it), 1000);
        if base < dear {
            prop_assert_eq!(best(&of(&|it| it + more), 1000), plain + more * 1000);
            prop_assert!(plain >= gpus.iter().min().unwrap() * 1000, "what is always asked for is worth a base");
        } else {
            prop_assert_eq!(plain, 0);
        }
        if base == 0 {
            prop_assert_eq!(plain, gpus.iter().max().unwrap() * 1000);
        }
        prop_assert_eq!(best(&of(&|it| it * times), 1000 * times), plain * times);
    }

    #[test]
    fn what_is_looked_up_is_what_is_counted(
        gpus in prop::collection::vec((0u64..12, 0u64..12), 1..40),
        level in 0u64..26,
        cap in 0u64..8,
        dear in 0i64..2,
    ) {
        let hours: Vec<Hour> = gpus
            .iter()
            .map(|(firm, interruptible)| Hour { firm: firm * 500, interruptible: interruptible * 300 })
            .collect();
        // Spot that costs more than on demand is not taken.
        let overflow = Overflow { spot: Some((flat(3 + 8 * dear, 1), cap * 700)), burst: flat(8, 1) };
        let ladder = Ladder::new(&hours, &overflow);
        let cap = if dear == 0 { cap * 700 } else { 0 };
        prop_assert_eq!(ladder.serve(0, level * 450), serve(&hours, level * 450, cap));
        prop_assert_eq!(Some(ladder.peak(0)), hours.iter().map(|it| it.all()).max());
    }

    #[test]
    fn the_order_of_hours_changes_nothing_and_more_spot_never_costs_more(
        gpus in prop::collection::vec((0u64..12, 0u64..12), 1..40),
        level in 0u64..24,
        cap in 0u64..8,
    ) {
        let mut hours: Vec<Hour> = gpus
            .iter()
            .map(|(firm, interruptible)| Hour { firm: firm * 1000, interruptible: interruptible * 1000 })
            .collect();
        let before = serve(&hours, level * 1000, cap * 1000);
        hours.reverse();
        prop_assert_eq!(before, serve(&hours, level * 1000, cap * 1000));
        let served = before.base + before.spot + before.burst;
        prop_assert_eq!(served, hours.iter().map(|it| u128::from(it.all())).sum::<u128>());
        let prices = [5, 3, 10];
        prop_assert!(cost(&hours, level * 1000, cap * 1000 + 1000, prices) <= cost(&hours, level * 1000, cap * 1000, prices));
    }

    #[test]
    fn two_terms_cost_no_more_than_either(
        gpus in prop::collection::vec(0u64..12, 24),
        long in 1i64..10,
        short in 1i64..10,
        growth in 0u64..3,
    ) {
        let of = |hour: &u64, times: u64| Hour { firm: hour * 1000 * times, interruptible: 0 };
        let first: Vec<Hour> = gpus.iter().map(|hour| of(hour, 1)).collect();
        let second: Vec<Hour> = gpus.iter().map(|hour| of(hour, growth)).collect();
        let hours = [months(&first, 1), months(&second, 1)].concat();
        let overflow = Overflow { spot: None, burst: flat(8, 2) };
        let both = [
            Commitment { prices: flat(long, 2), term: 2, size: Size::Best },
            Commitment { prices: flat(short, 2), term: 1, size: Size::Best },
        ];
        let ladder = Ladder::new(&hours, &overflow);
        let total = |commitments: &[Commitment]| {
            let stack = Stack { ladder: &ladder, commitments, overflow: &overflow, step: 1000 };
            let levels = stack.levels();
            let mut sum = Decimal::ZERO;
            let mut below = [0; 2];
            for (commitment, level) in commitments.iter().zip(&levels) {
                for month in 0..2 {
                    let own = in_gpus(u128::from(level[month] - below[month]));
                    sum += own.multiply(commitment.prices[month]).times(MONTH as i64);
                    below[month] = level[month];
                }
            }
            let rest = (0..2).map(|month| overflow.cost(&ladder, month..month + 1, below[month as usize]));
            sum + rest.sum::<Decimal>()
        };
        // What costs least of all pairs of levels, tried.
        let mut least: Option<Decimal> = None;
        for base in 0..=24u64 {
            let mut sum = in_gpus(u128::from(base * 1000)).times(2 * long * MONTH as i64);
            for month in 0..2u32 {
                let tried = (base..=24).map(|level| {
                    let own = in_gpus(u128::from((level - base) * 1000)).times(short * MONTH as i64);
                    own + overflow.cost(&ladder, month..month + 1, level * 1000)
                });
                sum += tried.min().unwrap();
            }
            least = Some(least.map_or(sum, |least| least.min(sum)));
        }
        prop_assert_eq!(total(&both), least.unwrap());
        prop_assert!(total(&both) <= total(&both[..1]).min(total(&both[1..])));
        prop_assert!(decimal(0, 0) <= total(&both));
    }
}
