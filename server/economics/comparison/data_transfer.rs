//! Data that moves to where work runs: at the beginning, or month after month.
//!
//! Tiers count all that an account sends in a month, so what an option moves out of one supplier fills them one after the
//! other: first what moves every month, in its order, then what moves once. What each of them adds to the bill is its
//! cost, so that they sum to the cost of all.

use std::borrow::Cow;

use super::answer::MovedAnswer;
use super::bill::Bill;
use super::currency::at_rate;
use super::entered::{Alternative, Every, Moved};
use crate::economics::check::{MOST_GIGABYTES, Refused};
use crate::economics::egress::{Rates, TransferCost};
use crate::economics::figure::{Unit, term};
use crate::money::Decimal;
use crate::money::arithmetic::{count, one, quotient};

/// An option each of whose moves finds sent what those before it send.
pub(super) fn on_one_account(option: &Alternative) -> Cow<'_, Alternative> {
    let all = || option.places.iter().flat_map(|it| &it.moved);
    if all().count() < 2 {
        return Cow::Borrowed(option);
    }
    let anyway = |rates| all().filter(|it| it.rates == rates).map(|it| it.other_gigabytes).max();
    let mut sent: Vec<(Rates, Decimal)> = Vec::new();
    let mut shared = option.clone();
    for every in [Every::Month, Every::Once] {
        let moved = shared.places.iter_mut().flat_map(|it| &mut it.moved);
        for it in moved.filter(|it| it.every == every) {
            let at = sent.iter().position(|(rates, _)| *rates == it.rates).unwrap_or_else(|| {
                sent.push((it.rates, anyway(it.rates).unwrap_or_default()));
                sent.len() - 1
            });
            // Beyond the bound of what is entered the last tier was reached long before.
            it.other_gigabytes = sent[at].1.min(MOST_GIGABYTES.into());
            sent[at].1 += it.gigabytes;
        }
    }
    Cow::Owned(shared)
}

/// What lists and gateways ask in US dollars, in the currency of the scenario. Without a rate nothing of it comes here.
fn in_currency(moved: &Moved, mut each: TransferCost, dollar: Option<Decimal>) -> TransferCost {
    let Some(rate) = dollar.filter(|rate| *rate != one() && moved.is_in_dollars()) else { return each };
    let tiers = each.parts.len() - moved.hops.len();
    for (at, part) in each.parts.iter_mut().enumerate() {
        let is_listed =
            at.checked_sub(tiers).map_or(moved.rates.is_listed(), |hop| moved.hops[hop].is_listed());
        if !is_listed {
            continue;
        }
        part.value = part.value.map(|value| at_rate(value, rate));
        for price in part.terms.iter_mut().filter(|it| it.name == "price") {
            price.value = at_rate(price.value, rate);
        }
    }
    let total: Decimal = each.parts.iter().filter_map(|part| part.value).sum();
    each.total.value = Some(total);
    each.per_gigabyte.value = quotient(total, moved.gigabytes);
    for cost in each.per_gigabyte.terms.iter_mut().filter(|it| it.name == "cost") {
        cost.value = total;
    }
    each
}

impl Bill<'_> {
    /// What is paid for data on its way here.
    pub(super) fn moved(&mut self) -> Result<Vec<MovedAnswer>, Refused> {
        let asked = self.asked();
        let mut answers = Vec::with_capacity(asked.place.moved.len());
        for moved in &asked.place.moved {
            let each = in_currency(moved, moved.transfer().cost()?, asked.scenario.of_a_dollar());
            let of_one: Decimal = each.parts.iter().filter_map(|it| it.value).sum();
            // Each tier and each hop with its price.
            let mut terms: Vec<_> = each.parts.iter().flat_map(|it| it.terms.clone()).collect();
            let (cost, formula) = match moved.every {
                Every::Once => {
                    self.pay_first(0, of_one);
                    (of_one, "the sum of what is in each tier × its price")
                }
                Every::Month => {
                    (0..asked.months()).for_each(|month| self.pay_during(month, of_one));
                    terms.push(term("months", count(asked.months()), Unit::Months));
                    (
                        of_one.times(asked.months().into()),
                        "the sum of what is in each tier × its price, × months",
                    )
                }
            };
            self.line(moved.name.clone(), cost, formula, terms);
            answers.push(MovedAnswer { name: moved.name.clone(), every: moved.every, each, cost });
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::economics::comparison::Scenario;
    use crate::economics::file::read;

    fn moved(rates: Rates, gigabytes: i64, every: Every) -> Moved {
        let (name, gigabytes) = (format!("{gigabytes} GB"), gigabytes.into());
        Moved { name, rates, gigabytes, every, other_gigabytes: Decimal::ZERO, hops: Vec::new() }
    }

    /// Two places, each with what moves there, for four months.
    fn scenario(there: [Vec<Moved>; 2]) -> Scenario {
        let text = r#"
months = 4
[[work]]
name = "a"
demand = { shape = "flat", gpus = 1, hours_per_day = 24 }
[[work]]
name = "b"
demand = { shape = "flat", gpus = 1, hours_per_day = 24 }
[[option]]
name = "Two places"
place = [{ serves = ["a"], on_demand = { price = 1 } }, { serves = ["b"], on_demand = { price = 1 } }]
"#;
        let mut scenario = read(text).unwrap();
        for (place, moved) in scenario.options[0].places.iter_mut().zip(there) {
            place.moved = moved;
        }
        scenario
    }

    fn costs(scenario: &Scenario) -> Vec<Decimal> {
        let answer = scenario.compare().unwrap().options.remove(0);
        let places = answer.places.iter().flat_map(|it| &it.moved);
        places.map(|it| it.cost).collect()
    }

    fn of_month(gigabytes: i64) -> Decimal {
        Rates::Aws.tariff().cost(gigabytes.into())
    }

    #[test]
    fn what_leaves_one_account_fills_its_tiers_one_after_the_other() {
        let first = vec![moved(Rates::Aws, 8000, Every::Once), moved(Rates::Aws, 9000, Every::Month)];
        let second = vec![moved(Rates::Aws, 30_000, Every::Month), moved(Rates::Azure, 30_000, Every::Month)];
        let found = costs(&scenario([first, second]));
        // Of each month, in their order; then what comes once, on top of a month.
        assert_eq!(found[1], of_month(9000).times(4));
        assert_eq!(found[2], (of_month(39_000) - of_month(9000)).times(4));
        assert_eq!(found[0], of_month(47_000) - of_month(39_000));
        assert_eq!(
            found[3],
            Rates::Azure.tariff().cost(30_000.into()).times(4),
            "another supplier's are its own"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn together_they_cost_what_the_account_s_month_costs_and_no_more_than_alone(
            x in 0i64..80_000,
            y in 0i64..200_000,
            anyway in 0i64..20_000,
            once in any::<bool>(),
        ) {
            let every = if once { Every::Once } else { Every::Month };
            let with = |gigabytes| Moved { other_gigabytes: anyway.into(), ..moved(Rates::Aws, gigabytes, every) };
            let sum = |there| costs(&scenario(there)).into_iter().sum::<Decimal>();
            let together = sum([vec![with(x)], vec![with(y)]]);
            let times = if once { 1 } else { 4 };
            prop_assert_eq!(together, (of_month(anyway + x + y) - of_month(anyway)).times(times));
            prop_assert!(together <= sum([vec![with(x)], Vec::new()]) + sum([Vec::new(), vec![with(y)]]));
        }
    }
}
