//! Machines whose life ends before the months that are looked at do.
//!
//! - a generation does the work of the one before: its GPUs are those ÷ the ratio of performances, in whole nodes
//! - its nodes and their fabric cost the ratio of prices as much; a node draws and is housed as one of the first
//! - machines that are not sold within the months are worth at their end what the table of resale says at their age
//!   ([`spans`]): what was paid for them, less that, is the cost of these months

use serde::Serialize;

use super::PLACES;
use super::place::Asked;
use crate::economics::check::Refused;
use crate::economics::owning::{Component, Fabric, Owning, OwningCost, Part, Tenure};
use crate::economics::price_path::Refresh;
use crate::economics::profile::in_gpus;
use crate::money::Decimal;
use crate::money::arithmetic::{
    HOURS_PER_MONTH, ceiling, count, decimal, floor, growth, one, product, quotient, whole,
};

/// Machines of one life, and what they cost in the months of it that are looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Generation {
    /// The first of its months, counted from 0, and how many there are.
    pub from: u32,
    pub months: u32,
    pub machines: Owning,
    /// By the parts of what owning costs; they sum to all of it.
    pub parts: Vec<(Part, Decimal)>,
}

/// A generation under a base.
pub(super) struct Lived {
    pub(super) from: u32,
    pub(super) months: u32,
    pub(super) machines: Owning,
    /// What a year costs: in whole lives, and in what the months leave of the last one. One of both at least, the lives
    /// first.
    spans: Vec<Span>,
    /// What one of its GPUs does, times one of the first generation.
    pub(super) worth: Decimal,
}

/// Years in which what is paid once is spread the same way.
struct Span {
    years: Decimal,
    /// How many lives there were before it.
    lives: u32,
    cost: OwningCost,
}

/// A component in the months that it is paid for.
pub(super) struct Paid<'a> {
    pub(super) component: &'a Component,
    pub(super) months: Decimal,
    pub(super) cost: Decimal,
    /// How many lives there were before it.
    pub(super) lives: u32,
}

/// Whole lives cost an annuity each; machines of the last one are worth at the end of the months what the table of resale
/// says at their age.
fn spans(machines: &Owning, months: u32) -> Result<Vec<Span>, Refused> {
    let cost = machines.cost_by_the_month()?;
    let (years, life) = (quotient(count(months), 12.into()).unwrap_or_default(), machines.life_years);
    let lives = floor(quotient(years, life).unwrap_or_default());
    let whole_lives = product(&[lives, life]);
    let lives = whole(lives);
    let mut spans = Vec::new();
    if lives > 0 {
        spans.push(Span { years: whole_lives, lives: 0, cost });
    }
    let rest = years - whole_lives;
    // What is left by rounding is no time.
    if rest > decimal(1, 6) {
        spans.push(Span { years: rest, lives, cost: machines.sold_after(rest) });
    }
    Ok(spans)
}

impl Lived {
    /// What a year costs of the first machines, as long as they are there.
    pub(super) fn cost(&self) -> Option<&OwningCost> {
        self.spans.first().map(|it| &it.cost)
    }

    /// What is paid for, in the order of its components.
    pub(super) fn parts(&self) -> Vec<Paid<'_>> {
        let Some(first) = self.cost().filter(|_| self.machines.gpus > 0) else { return Vec::new() };
        let mut found = Vec::new();
        for at in 0..first.components.len() {
            // What runs costs the same whatever becomes of the machines.
            let part = first.components[at].part;
            if !is_once(part) {
                let component = &first.components[at];
                found.push(Paid::of(component, count(self.months), 0));
                continue;
            }
            for span in &self.spans {
                // People who are hired before anything runs are there when the same is bought again.
                if part == Part::StaffBefore && span.lives > 0 {
                    continue;
                }
                let years = if part == Part::StaffBefore {
                    span.years.min(self.machines.life_years)
                } else {
                    span.years
                };
                found.push(Paid::of(&span.cost.components[at], years.times(12), span.lives));
            }
        }
        found
    }

    pub(super) fn total(&self) -> Decimal {
        self.parts().iter().map(|it| it.cost).sum()
    }

    pub(super) fn described(&self) -> Generation {
        let parts = self.parts().into_iter().map(|it| (it.component.part, it.cost));
        Generation {
            from: self.from,
            months: self.months,
            machines: self.machines.clone(),
            parts: parts.collect(),
        }
    }
}

impl<'a> Paid<'a> {
    fn of(component: &'a Component, months: Decimal, lives: u32) -> Self {
        let cost = quotient(product(&[component.per_year, months]), 12.into()).unwrap_or_default();
        Self { component, months, cost, lives }
    }
}

/// Whether it is paid once for a life.
pub(super) fn is_once(part: Part) -> bool {
    matches!(part, Part::Capital | Part::StaffBefore | Part::OneOff)
}

/// Months of a life.
pub(super) fn life(machines: &Owning) -> u32 {
    whole(product(&[machines.life_years, 12.into()])).max(1)
}

/// So many GPUs with a level that they serve, and what follows them.
pub(super) fn generations(
    asked: &Asked<'_>,
    (machines, refresh): (&Owning, Refresh),
    gpus: u32,
    level: u64,
) -> Result<Vec<Lived>, Refused> {
    let months = asked.months();
    // What is the same again is one generation that goes on.
    let life = if refresh.is_the_same() { months } else { life(machines) };
    let mut found = Vec::new();
    for (n, from) in (0..).zip((0..months).step_by(life.max(1) as usize)) {
        let until = from.saturating_add(life).min(months);
        let power = |ratio: Decimal| growth(ratio - one(), count(n));
        let (price, worth) = (power(refresh.price_ratio), power(refresh.performance_ratio));
        let used = in_gpus((from..until).map(|month| asked.ladder.serve(month, level).base).sum());
        let gpus = if n == 0 { gpus } else { as_much(gpus, machines.gpus_per_node, worth) };
        let served = if n == 0 {
            in_gpus(level.into())
        } else {
            product(&[count(gpus), one() - machines.unavailability, worth])
        };
        let available = product(&[served, HOURS_PER_MONTH.into(), count(until - from)]);
        let machines = Owning {
            gpus,
            utilization: quotient(used, available).unwrap_or_default().min(one()),
            cost_of_capital: asked.scenario.cost_of_capital,
            allocated_share: None,
            // Of the place, and in its demand already.
            rework: one(),
            ..next(machines, price, n)
        };
        let spans = spans(&machines, until - from)?;
        found.push(Lived { from, months: until - from, machines, spans, worth });
    }
    Ok(found)
}

/// GPUs, in whole nodes, that do the work of so many of the first generation.
fn as_much(gpus: u32, per_node: u32, worth: Decimal) -> u32 {
    let per_node = per_node.max(1);
    let needed = whole(ceiling(quotient(count(gpus), worth).unwrap_or_default()));
    needed.div_ceil(per_node).saturating_mul(per_node)
}

/// The same at a ratio of the price of nodes and fabric, after so many others, whose people are there.
fn next(machines: &Owning, ratio: Decimal, after: u32) -> Owning {
    // No finer than a price may be entered with.
    let times = |price: Decimal| product(&[price, ratio]).round(PLACES).normalize();
    let fabric = match machines.fabric {
        Fabric::Node { price } => Fabric::Node { price: times(price) },
        Fabric::Port { price, per_node } => Fabric::Port { price: times(price), per_node },
    };
    let mut staff = machines.staff.clone();
    if after > 0 {
        staff.months_before = Decimal::ZERO;
    }
    let tenure = match machines.tenure {
        Tenure::Bought => Tenure::Bought,
        Tenure::Leased { price } => Tenure::Leased { price: times(price) },
    };
    Owning { node_price: times(machines.node_price), tenure, fabric, staff, ..machines.clone() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::economics::comparison::{OptionAnswer, Scenario};
    use crate::economics::file::read;
    use crate::economics::owning::OneOff;
    use crate::economics::price_path::{LockIn, Progress};
    use crate::money::arithmetic::decimal;

    /// Two nodes, which live a year, for two and a half.
    fn scenario(price: &str, performance: &str, gpus: &str) -> Scenario {
        let text = format!(
            r#"
months = 30
[[work]]
name = "w"
demand = {{ shape = "between", low = 4, high = 15 }}
[[option]]
name = "Our own"
[[option.place]]
owned = {{ gpus = {gpus}, refresh = {{ price_ratio = {price}, performance_ratio = {performance} }}, machines = {{ life_years = 1, installation = 7000 }} }}
on_demand = {{ price = 9 }}
"#
        );
        read(&text).unwrap()
    }

    fn answer(scenario: &Scenario) -> OptionAnswer {
        scenario.compare().unwrap().options.remove(0)
    }

    #[test]
    fn the_next_generation_does_the_work_of_the_one_before_at_its_own_price() {
        let found = answer(&scenario("1.5", "2", "16"));
        let place = &found.places[0];
        let described: Vec<(u32, u32, u32, Decimal)> = place
            .generations
            .iter()
            .map(|it| (it.from, it.months, it.machines.gpus, it.machines.node_price))
            .collect();
        let price = |hundredths| product(&[375_000.into(), decimal(hundredths, 2)]);
        assert_eq!(described, [(0, 12, 16, price(100)), (12, 12, 8, price(150)), (24, 6, 8, price(225))]);
        // Of a node each and its spare, with their fabric; the room is made ready again.
        let bought = |month: usize| found.payments.months()[month].first;
        assert_eq!(bought(12), product(&[850_000.into(), decimal(15, 1)]) + 7000.into());
        assert_eq!(bought(24), product(&[850_000.into(), decimal(225, 2)]) + 7000.into());
        let names: Vec<&str> = found.lines.iter().map(|it| it.name.as_str()).collect();
        assert!(
            names.contains(&"Capital, generation 2") && names.contains(&"Energy, generation 3"),
            "{names:?}"
        );
        assert_eq!(found.lines.iter().map(|it| it.cost).sum::<Decimal>(), found.total);
        let parts: Decimal = place.generations.iter().flat_map(|it| &it.parts).map(|(_, cost)| *cost).sum();
        assert_eq!(parts, place.layers[0].cost);
        assert!(place.layers[0].utilization.unwrap() < one());
    }

    #[test]
    fn what_is_almost_the_same_again_costs_almost_the_same() {
        let same = answer(&scenario("1", "1", "16"));
        assert_eq!(same.places[0].generations.len(), 1);
        let almost = answer(&scenario("1.000000000001", "1", "16"));
        assert_eq!(almost.places[0].generations.len(), 3);
        assert!((same.total - almost.total).abs() < decimal(1, 2), "{} {}", same.total, almost.total);
        assert!((same.paid - almost.paid).abs() < decimal(1, 2));
    }

    #[test]
    fn staying_with_a_generation_is_a_figure_with_its_terms() {
        let entered = Scenario { months: 24, ..scenario("1", "1", "16") };
        let found = answer(&entered);
        let figure = found.places[0].lock_in.as_ref().unwrap();
        // Paid off with the first year.
        let before = found.lines.iter().find(|it| it.name == "Staff hired before it runs").unwrap().cost;
        let lock_in = LockIn {
            monthly: quotient(found.places[0].layers[0].cost - before, 24.into()).unwrap()
                + quotient(before, 12.into()).unwrap(),
            months: 12,
            progress: Progress::default(),
            cost_of_capital: decimal(10, 2),
        };
        let expected = lock_in.cost().unwrap().value.unwrap();
        assert!((figure.value.unwrap() - expected).abs() < decimal(1, 6));
        assert_eq!(figure.terms.len(), 4);
        assert_eq!(answer(&scenario("1", "1", "0")).places[0].lock_in, None);
    }

    #[test]
    fn what_replaces_machines_says_how_fast_better_ones_come() {
        let orders = |price, performance| {
            let found = answer(&scenario(price, performance, "16")).places.remove(0).lock_in.unwrap();
            found.terms.iter().find(|it| it.name == "orders of magnitude a year").unwrap().value
        };
        // Twice as much for half as much more, in a year: log₁₀(2 ÷ 1.5).
        assert_eq!(orders("1.5", "2").round(6), "0.124939".parse().unwrap());
        assert_eq!(orders("1.5", "1"), Decimal::ZERO, "what does no more for the money is no progress");
        assert_eq!(orders("1", "1"), Progress::default().orders_per_year);
    }

    #[test]
    fn what_grows_beyond_reason_is_refused() {
        for (price, performance, field) in [
            ("100", "1", "option.0.place.0.owned.refresh.price_ratio"),
            ("1", "0.02", "option.0.place.0.owned.refresh.performance_ratio"),
        ] {
            let mut entered = scenario("1", "1", "16");
            let owned = entered.options[0].places[0].owned.as_mut().unwrap();
            owned.refresh = Refresh {
                price_ratio: price.parse().unwrap(),
                performance_ratio: performance.parse().unwrap(),
            };
            assert_eq!(entered.compare().unwrap_err().0[0].field, field);
        }
    }

    #[test]
    fn without_interest_what_is_paid_is_what_it_costs_whatever_the_life() {
        for (performance, months) in [("1", 30), ("2", 30), ("1", 24), ("2", 24), ("1", 7)] {
            let mut entered = scenario("1", performance, "16");
            (entered.cost_of_capital, entered.months) = (Decimal::ZERO, months);
            let machines = &mut entered.options[0].places[0].owned.as_mut().unwrap().machines;
            machines.staff.months_before = 6.into();
            machines.one_offs = vec![OneOff { name: "Training".to_owned(), amount: 50_000.into() }];
            let found = answer(&entered);
            assert!((found.paid - found.total).abs() < decimal(1, 9), "{performance} {months}");
            let before: Decimal = found
                .lines
                .iter()
                .filter(|it| it.name.starts_with("Staff hired before it runs"))
                .map(|it| it.cost)
                .sum();
            // One and a half people for half a year, hired once, and paid however long they stay.
            assert_eq!(before.round(6), 187_500.into());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn what_is_replaced_for_less_or_by_more_never_costs_more(price in 50i64..200, more in 1i64..100) {
            let at = |price: i64, performance: i64| {
                let [price, performance] = [price, performance].map(|it| decimal(it, 2).to_string());
                answer(&scenario(&price, &performance, "16")).total
            };
            prop_assert!(at(price, 100) <= at(price + more, 100));
            prop_assert!(at(price, 100 + more) <= at(price, 100));
        }
    }
}
