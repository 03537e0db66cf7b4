//! Hours of the day at which a place costs less, and work that moves to them.
//!
//! - what is used by the hour there costs the factor of its price in these hours
//! - of work that may move, what can be interrupted moves from other hours of its span of the day to these, as far as
//!   there is room: up to the month's highest hour, and up to what there is of spot where that is used
//!
//! Nothing is lost or made by moving, and it stays within its month. A unit that moves costs no more than before, as it is
//! served by the same or by what costs less; so moving never makes a place dearer. Only places that are paid by use can
//! have such hours: under a base that is paid for anyway, moving would be a question of its size.

use super::entered::{Place, Scenario};
use crate::economics::mix::Overflow;
use crate::economics::profile::{Hour, MONTH, Profile, in_gpus};
use crate::money::Decimal;
use crate::money::arithmetic::{one, product};

const DAY: usize = 24;

/// The demand of a place with what may move to its cheaper hours there, and GPU-hours that moved.
pub(super) fn moved(
    scenario: &Scenario,
    demands: &[Profile],
    place: &Place,
    (demand, overflow): (Profile, &Overflow),
) -> (Profile, Decimal) {
    let Some(cheaper) = place.cheaper_hours else { return (demand, Decimal::ZERO) };
    let mut hours = demand.hours().to_vec();
    let mut all = 0_u128;
    for work in scenario.served_at(place) {
        let within = scenario.work[work].within_hours as usize;
        if within == 0 {
            continue;
        }
        let own = demands[work].taking(place.rework, place.performance);
        for (month, (hours, own)) in hours.chunks_mut(MONTH).zip(own.hours().chunks(MONTH)).enumerate() {
            let start = month * MONTH;
            let most = hours.iter().map(|it| it.all()).max().unwrap_or_default();
            let spot = overflow.spot_of(month);
            let room = |hour: &Hour| {
                let of_spot = if spot == 0 { u64::MAX } else { spot.saturating_sub(hour.interruptible) };
                most.saturating_sub(hour.all()).min(of_spot)
            };
            for span in spans(start, hours.len(), within) {
                let own = &own[span.clone()];
                all += to_cheaper(
                    &mut hours[span.clone()],
                    own,
                    |at| cheaper.holds(start + span.start + at),
                    room,
                );
            }
        }
    }
    (Profile::from(hours), in_gpus(all))
}

/// Hours of a month that begins so many hours after midnight of a first day, cut into spans of each day.
fn spans(start: usize, len: usize, within: usize) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < len {
        let hour = (start + at) % DAY;
        let until = (at + (within - hour % within).min(DAY - hour)).min(len);
        found.push(at..until);
        at = until;
    }
    found
}

/// Moves what can be interrupted, of a work's own, from other hours of a span to its cheaper ones. How much that was.
fn to_cheaper(
    hours: &mut [Hour],
    own: &[Hour],
    is_cheaper: impl Fn(usize) -> bool,
    room: impl Fn(&Hour) -> u64,
) -> u128 {
    let mut all = 0;
    let mut to = (0..hours.len()).filter(|at| is_cheaper(*at)).peekable();
    for from in (0..hours.len()).filter(|at| !is_cheaper(*at)) {
        let mut left = own[from].interruptible.min(hours[from].interruptible);
        while let (true, Some(at)) = (left > 0, to.peek().copied()) {
            let parts = left.min(room(&hours[at]));
            hours[from].interruptible -= parts;
            hours[at].interruptible += parts;
            left -= parts;
            all += u128::from(parts);
            if left > 0 {
                // It is full.
                to.next();
            }
        }
    }
    all
}

/// What cheaper hours take off spot and off what is used on demand, by the month: of a place without a base.
pub(super) fn rebates(
    place: &Place,
    demand: &Profile,
    overflow: &Overflow,
    (spot_prices, by_use, obtainable): (&[Decimal], &[Decimal], Decimal),
) -> Vec<[Decimal; 2]> {
    let Some(cheaper) = place.cheaper_hours else { return Vec::new() };
    let less = one() - cheaper.factor;
    let months = demand.hours().chunks(MONTH).enumerate();
    let of_month = |(month, hours): (usize, &[Hour])| {
        let cap = overflow.spot_of(month);
        let (mut spot, mut burst) = (0_u128, 0_u128);
        for (_, hour) in hours.iter().enumerate().filter(|(at, _)| cheaper.holds(month * MONTH + at)) {
            let on_spot = hour.interruptible.min(cap);
            spot += u128::from(on_spot);
            burst += u128::from(hour.all() - on_spot);
        }
        let price = |of: &[Decimal]| of.get(month).copied().unwrap_or_default();
        let used = price(by_use);
        [
            product(&[in_gpus(spot), price(spot_prices), less]),
            product(&[in_gpus(burst), obtainable, used, less]),
        ]
    };
    months.map(of_month).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::economics::comparison::{CheaperHours, OptionAnswer, Owned};
    use crate::economics::file::read;
    use crate::economics::profile::Shape;

    /// A month; from 20:00 to 6:00 half the price.
    fn scenario(within: u32, spot: &str) -> Scenario {
        let text = format!(
            r#"
months = 1
[[work]]
name = "w"
demand = {{ shape = "flat", gpus = 10, hours_per_day = 12 }}
interruptible = 0.4
within_hours = {within}
[[option]]
name = "Half at night"
place = [{{ on_demand = {{ price = 4 }}, cheaper_hours = {{ from = 20, until = 6, factor = 0.5 }}{spot} }}]
"#
        );
        read(&text).unwrap()
    }

    fn answer(scenario: &Scenario) -> OptionAnswer {
        scenario.compare().unwrap().options.remove(0)
    }

    #[test]
    fn work_moves_to_the_hours_that_cost_less() {
        // From 0:00 to 12:00: of 730 hours 370, of which 186 before 6:00.
        let stays = answer(&scenario(0, ""));
        assert_eq!(stays.total, (186 * 10 * 2 + 184 * 10 * 4).into());
        assert_eq!(stays.places[0].shifted_hours, Decimal::ZERO);
        // 4 GPUs of 6:00 to 12:00 have room from 20:00 on: four hours, of ten each, for 24 a day. Of the last day that has
        // no evening they stay.
        let moves = answer(&scenario(24, ""));
        assert_eq!(moves.places[0].shifted_hours, (30 * 6 * 4).into());
        assert_eq!(stays.total - moves.total, (30 * 6 * 4 * 2).into());
        // Within halves of the day nothing is cheaper that has room.
        assert_eq!(answer(&scenario(12, "")).places[0].shifted_hours, Decimal::ZERO);
        // As much of spot as there is takes up: 3 in each hour of the evening.
        let spot = answer(&scenario(24, ", spot = { rate = { price = 1 }, rework = 1, gpus = 3 }"));
        assert_eq!(spot.places[0].shifted_hours, (30 * 4 * 3).into());
        assert_eq!(spot.lines.iter().map(|it| it.cost).sum::<Decimal>(), spot.total);
        assert_eq!(spot.paid, spot.total);
    }

    #[test]
    fn a_base_has_no_cheaper_hours() {
        let mut with = scenario(24, "");
        with.options[0].places[0].owned = Some(Owned::default());
        assert_eq!(with.compare().unwrap_err().0[0].field, "option.0.place.0.cheaper_hours");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn moving_conserves_hours_and_never_costs_more(
            gpus in prop::collection::vec(0i64..40, 48),
            within in 1u32..=24,
            window in (0u32..24, 0u32..24),
            factor in 1i64..100,
            interruptible in 0i64..=100,
            cap in prop::option::of(0i64..30),
            rework in 100i64..130,
        ) {
            prop_assume!(gpus.iter().any(|it| *it > 0));
            let mut entered = scenario(0, "");
            if let Some(cap) = cap {
                entered = scenario(0, &format!(", spot = {{ rate = {{ price = 1 }}, rework = 1.2, gpus = {cap} }}"));
            }
            entered.work[0].demand = Shape::Hours { gpus: gpus.into_iter().map(Decimal::from).collect() };
            entered.work[0].interruptible = Decimal::new(interruptible.into(), 2);
            let place = &mut entered.options[0].places[0];
            place.rework = Decimal::new(rework.into(), 2);
            let (from, until) = window;
            place.cheaper_hours = Some(CheaperHours { from, until, factor: Decimal::new(factor.into(), 2) });
            let stays = answer(&entered);
            entered.work[0].within_hours = within;
            let moves = answer(&entered);
            prop_assert_eq!(stays.places[0].gpu_hours, moves.places[0].gpu_hours);
            prop_assert_eq!(stays.served_hours, moves.served_hours);
            prop_assert!(moves.total <= stays.total, "{} {}", moves.total, stays.total);
            entered.options[0].places[0].cheaper_hours = None;
            prop_assert!(stays.total <= answer(&entered).total);
        }
    }
}
