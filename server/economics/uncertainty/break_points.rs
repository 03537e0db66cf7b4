//! What would change the answer, with sizes decided anew at each value that is tried.
//!
//! Where no size is left open, the model of the answer says exactly at which value of an input another option becomes the
//! cheapest. A base that may be as large as costs least is another one at another price: the answer changes later where the
//! cheapest option adapts, and earlier where another one does. There the comparison itself is asked, at ever closer values.

use super::cheapest_option::{BreakPoint, CheapestOption, DIGITS, REACH};
use super::model::{Model, float};
use super::{Input, changed};
use crate::economics::comparison::{Comparison, Demands, Gpus, Scenario};
use crate::economics::profile::Shape;
use crate::money::Decimal;

/// Numbers that would change the answer, of which so many are shown.
const SHOWN: usize = 3;
/// How close, in steps as of [`step_of`]: five digits.
const CLOSE: f64 = 4e-6;
/// Values that are tried for it at most, the first of them where a line between the ends says.
const TRIED: u32 = 24;
const ALONG_A_LINE: u32 = 12;

/// A comparison that can be asked at other values.
struct Anew<'a> {
    scenario: &'a Scenario,
    /// Without the hours that it asks for, which no input changes.
    light: Scenario,
    demands: Demands,
    comparison: &'a Comparison,
    /// With the sizes that were decided.
    model: &'a Model,
    cheapest: usize,
}

/// How far the cheapest option is ahead at another value, behind where that is negative, and of which of the others.
struct Ahead {
    by: f64,
    of: usize,
}

/// Those that change the answer with the smallest change, nearest first. The cheapest option has what the model says of each.
pub fn break_points(
    scenario: &Scenario,
    comparison: &Comparison,
    cheapest_option: &CheapestOption,
    model: &Model,
) -> Vec<BreakPoint> {
    let mut light = scenario.clone();
    for work in &mut light.work {
        work.demand = Shape::Hours { gpus: Vec::new() };
    }
    let demands = scenario.demands();
    let anew = Anew { scenario, light, demands, comparison, model, cheapest: cheapest_option.cheapest };
    let modeled = |input: &Input| cheapest_option.break_points.iter().find(|it| it.input.keys == input.keys);
    // The nearest by the model first, so that the others are looked at only as far as those are away.
    let distance = |input: &Input| modeled(input).map_or(f64::INFINITY, |it| step_of(input, it.value));
    let mut order: Vec<(usize, &Input)> = model.inputs.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    let mut found: Vec<(f64, BreakPoint)> = Vec::new();
    for (at, input) in order {
        let within = found.get(SHOWN - 1).map_or(1.0, |(step, _)| *step);
        let break_point = if anew.decides(input) {
            anew.break_point((at, input), within, modeled(input), float(cheapest_option.ahead))
        } else {
            modeled(input).map(|it| (step_of(input, it.value), it.clone()))
        };
        found.extend(break_point.filter(|(step, _)| *step <= within));
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.input.label.cmp(&b.1.input.label)));
        found.truncate(SHOWN);
    }
    found.into_iter().map(|(_, break_point)| break_point).collect()
}

/// How far a value is from an input's own: 1 is as far as is looked.
fn step_of(input: &Input, value: Decimal) -> f64 {
    let ratio = float(value) / float(input.value);
    if ratio > 0.0 { (ratio.ln() / REACH.ln()).abs() } else { f64::INFINITY }
}

impl Anew<'_> {
    /// Whether an option that it is a part of has a size that costs least, or spot, which is taken where it costs less.
    fn decides(&self, input: &Input) -> bool {
        // A price list has no exact answer at another value, and decides nothing.
        let is_list = input.keys.iter().any(|it| it.ends_with("/rates/of"));
        let is_open = |at: &usize| {
            self.scenario.options[*at].places.iter().any(|place| {
                let is_owned = place.owned.as_ref().is_some_and(|it| it.gpus == Gpus::Best);
                is_owned || place.spot.is_some() || place.committed.iter().any(|it| it.gpus == Gpus::Best)
            })
        };
        !is_list && self.options_of(input).iter().any(is_open)
    }

    /// The options that an input is a part of.
    fn options_of(&self, input: &Input) -> Vec<usize> {
        let option = |key: &String| key.strip_prefix("/option/")?.split('/').next()?.parse::<usize>().ok();
        let named: Option<Vec<usize>> = input.keys.iter().map(option).collect();
        // What stands nowhere in particular is a part of all.
        named.unwrap_or_else(|| (0..self.scenario.options.len()).collect())
    }

    /// How far ahead the cheapest option is with an input at another value, everything decided anew. None where nothing can
    /// be computed with it.
    fn ahead(&self, input: &Input, value: Decimal) -> Option<Ahead> {
        let mut scenario = changed(&self.light, input, value)?;
        for (work, entered) in scenario.work.iter_mut().zip(&self.scenario.work) {
            work.demand = entered.demand.clone();
        }
        let of = self.options_of(input);
        let worth = scenario.present_values_anew((&self.demands, self.comparison), &of).ok()?;
        let able = worth.iter().enumerate().filter(|(at, (_, is_able))| *is_able && *at != self.cheapest);
        let (of, least) = able.map(|(at, (worth, _))| (at, *worth)).min_by_key(|(_, worth)| *worth)?;
        let own = worth.get(self.cheapest).filter(|(_, is_able)| *is_able);
        Some(Ahead { by: own.map_or(f64::NEG_INFINITY, |(worth, _)| float(least - *worth)), of })
    }

    /// Whether the advantage can only grow in a direction: the cheapest option gets cheaper and those of the others that change
    /// get dearer, as the model says of the sizes that were decided. What is cheaper at each size is so at the best one.
    fn can_only_grow(&self, (at, input): (usize, &Input), value: Decimal) -> bool {
        let (base, there) = (self.model.with(at, float(input.value)), self.model.with(at, float(value)));
        let change = |option: usize| there[option] - base[option];
        self.options_of(input).into_iter().all(|option| {
            let change = change(option);
            if option == self.cheapest { change < 0.0 } else { change > 0.0 }
        })
    }

    /// The closest value at which the advantage is lost, within so many steps, and how far away it is.
    fn break_point(
        &self,
        (at, input): (usize, &Input),
        within: f64,
        modeled: Option<&BreakPoint>,
        ahead: f64,
    ) -> Option<(f64, BreakPoint)> {
        let own = float(input.value);
        let value_at = |way: f64, step: f64| {
            let value = own * REACH.powf(way * step);
            let value = value.max(float(input.least)).min(float(input.most));
            let value = Decimal::parse(format!("{value:.12}").as_bytes()).unwrap_or_default();
            value.significant(DIGITS + 3).normalize()
        };
        let mut closest: Option<(f64, BreakPoint)> = None;
        for way in [-1.0, 1.0] {
            let until = closest.as_ref().map_or(within, |(step, _)| *step);
            if self.can_only_grow((at, input), value_at(way, until)) {
                continue;
            }
            let lost = |step: f64| self.ahead(input, value_at(way, step)).filter(|it| it.by < 0.0);
            // Where the model says that it is lost, or as far as is looked: in between it may be lost and won again.
            let guess = modeled.filter(|it| (it.value > input.value) == (way > 0.0));
            let guess = guess.map(|it| step_of(input, it.value) * 1.01).filter(|step| *step < until);
            let mut tried = guess.into_iter().chain([until]);
            let Some((mut high, mut there)) = tried.find_map(|step| Some((step, lost(step)?))) else {
                continue;
            };
            let (mut low, mut here) = (0.0, ahead);
            for tries in 0..TRIED {
                if high - low <= CLOSE {
                    break;
                }
                let middle = between((low, here), (high, there.by), tries);
                match self.ahead(input, value_at(way, middle)) {
                    Some(it) if it.by < 0.0 => (high, there) = (middle, it),
                    Some(it) => (low, here) = (middle, it.by),
                    None => low = middle,
                }
            }
            let value = value_at(way, high).significant(DIGITS).normalize();
            closest = Some((high, BreakPoint { input: input.clone(), value, to: there.of }));
        }
        closest
    }
}

/// Where to look next between a step at which the advantage is kept and one at which it is lost: a little beyond where the line
/// between them crosses nothing, towards the farther of both, so that they close in from two sides. After some tries, and
/// where there is no line, in the middle.
fn between((low, kept): (f64, f64), (high, lost): (f64, f64), tries: u32) -> f64 {
    let middle = f64::midpoint(low, high);
    let crossing = low + (high - low) * kept / (kept - lost);
    if tries >= ALONG_A_LINE || !lost.is_finite() || !crossing.is_finite() {
        return middle;
    }
    let beyond = if crossing < middle { crossing + CLOSE / 2.0 } else { crossing - CLOSE / 2.0 };
    beyond.clamp(low + CLOSE / 4.0, high - CLOSE / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::Answer;
    use crate::economics::file::read;

    /// Demand that swings, reserved as is best, on machines as many as are best, and on demand alone.
    const TEXT: &str = r#"
months = 12
[[work]]
name = "w"
demand = { shape = "between", low = 10, high = 90 }
[[option]]
name = "On demand"
place = [{ supplier = "A", on_demand = { price = 6 } }]
[[option]]
name = "Reserved"
place = [{ supplier = "B", on_demand = { price = 7 }, committed = [{ months = 12, gpus = "best", rate = { price = 3 } }] }]
[[option]]
name = "Our own"
place = [{ supplier = "C", on_demand = { price = 7 }, owned = { gpus = "best" } }]
"#;

    #[test]
    fn break_points_are_those_of_sizes_that_are_best_there() {
        let scenario = read(TEXT).unwrap();
        let answer = Answer::of(&scenario).unwrap();
        let cheapest_option = answer.cheapest_option.as_ref().unwrap();
        assert_eq!((cheapest_option.cheapest, cheapest_option.break_points.is_empty()), (1, false));
        for break_point in &cheapest_option.break_points {
            // A little before and a little after it, everything decided anew.
            let cheapest = |thousandths: i64| {
                let value = break_point.input.value
                    + (break_point.value - break_point.input.value)
                        .multiply(Decimal::new(thousandths.into(), 3));
                changed(&scenario, &break_point.input, value).unwrap().compare().unwrap().cheapest
            };
            assert_eq!(cheapest(990), Some(1), "{} {}", break_point.input.label, break_point.value);
            assert_eq!(
                cheapest(1010),
                Some(break_point.to),
                "{} {}",
                break_point.input.label,
                break_point.value
            );
        }
        // The reservation gets smaller as it gets dearer, so that it loses its lead later than at the size of today.
        let at = |label: &str| {
            cheapest_option
                .break_points
                .iter()
                .find(|it| it.input.label == label)
                .map(|it| float(it.value))
                .unwrap()
        };
        let model = super::super::Model::new(&scenario, &answer.comparison, &super::super::inputs(&scenario));
        let held = super::super::cheapest_option::cheapest_option(&answer.comparison, &model).unwrap();
        let held = held
            .break_points
            .iter()
            .find(|it| it.input.label == "Commitment, B")
            .map(|it| float(it.value))
            .unwrap();
        assert!(at("Commitment, B") > held * 1.005, "{} {held}", at("Commitment, B"));
    }
}
