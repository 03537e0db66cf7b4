//! How far the cheapest option is ahead, and what would make it another.
//!
//! - advantage = least present value of the other options that do the work − present value of the cheapest one
//! - an input's sensitivity is the advantage with it at its low and at its high, all others as they are
//! - an input changes the answer at the value closest to its own, up to four times as large or as small and within what it
//!   can be at all, at which another option costs less
//!
//! Computed with binary floats by the model that simulations are made with: how much of each layer is used stays as it was
//! decided, and every present value is compared with another one of the same kind. What changes an answer is then looked for
//! with sizes decided anew ([`super::anew`]).

use serde::Serialize;

use super::model::{Model, cents, float};
use super::{Input, Sensitivity, tornado};
use crate::cancellation;
use crate::economics::comparison::Comparison;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product};

/// How much larger or smaller an input is looked at, and in how many steps until there.
pub(super) const REACH: f64 = 4.0;
const STEPS: i32 = 48;
/// Halvings, after which a value is known to more digits than are shown.
const HALVINGS: u32 = 40;
/// Digits of a value at which the answer changes.
pub(super) const DIGITS: u32 = 4;

/// How sure the first place is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheapestOption {
    /// By their places in the list.
    pub cheapest: usize,
    pub next: usize,
    pub ahead: Decimal,
    /// What moves the advantage most first.
    #[serde(rename = "swings")]
    pub sensitivities: Vec<Sensitivity>,
    /// What changes the answer with the smallest change first. Of an [`Answer`](crate::economics::Answer) the first three that do
    /// so, too, where all is decided anew.
    #[serde(rename = "turns")]
    pub break_points: Vec<BreakPoint>,
}

/// An input at which another option becomes the cheapest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakPoint {
    pub input: Input,
    pub value: Decimal,
    pub to: usize,
}

impl BreakPoint {
    /// A little further than where two options cost the same.
    pub fn beyond(&self) -> Decimal {
        let hundredths = if self.value < self.input.value { 99 } else { 101 };
        let value = product(&[self.value, decimal(hundredths, 2)]).significant(DIGITS).normalize();
        value.max(self.input.least).min(self.input.most)
    }
}

/// The advantage of the cheapest option; none where fewer than two options do the work.
pub fn cheapest_option(compared: &Comparison, model: &Model) -> Option<CheapestOption> {
    let cheapest = compared.cheapest?;
    let able = |at: &usize| compared.options[*at].fails.is_empty();
    let others = (0..compared.options.len()).filter(able).filter(|at| *at != cheapest);
    let next = others.clone().min_by_key(|at| compared.options[*at].present_value)?;
    let ahead = compared.options[next].present_value - compared.options[cheapest].present_value;
    // The advantage with one input at another value, and who is first of the others.
    let with = |at: usize, value: f64| {
        let totals = model.with(at, value);
        let best = others.clone().min_by(|a, b| totals[*a].total_cmp(&totals[*b])).unwrap_or(next);
        (totals[best] - totals[cheapest], best)
    };
    let sensitivities = tornado(&model.inputs, |at, value| Some(cents(with(at, float(value)).0)));
    let mut break_points: Vec<(f64, BreakPoint)> = Vec::new();
    for (at, input) in model.inputs.iter().enumerate() {
        cancellation::check();
        let own = model.values[at];
        let within = (float(input.least), float(input.most));
        let ends =
            [-1.0, 1.0].into_iter().filter_map(|way| break_point(own, within, way, |value| with(at, value)));
        if let Some((distance, value, to)) = ends.min_by(|a, b| a.0.total_cmp(&b.0)) {
            break_points.push((distance, BreakPoint { input: input.clone(), value: described(value), to }));
        }
    }
    break_points.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.input.label.cmp(&b.1.input.label)));
    let break_points = break_points.into_iter().map(|(_, break_point)| break_point).collect();
    Some(CheapestOption { cheapest, next, ahead, sensitivities, break_points })
}

/// The closest value in one direction at which the advantage is lost: how far it is away, itself, and to whom.
fn break_point(
    own: f64,
    (least, most): (f64, f64),
    way: f64,
    with: impl Fn(f64) -> (f64, usize),
) -> Option<(f64, f64, usize)> {
    let at = |step: f64| (own * REACH.powf(way * step)).max(least).min(most);
    let is_lost = |step: f64| with(at(step)).0 < 0.0;
    let lost = (1..=STEPS).map(|n| f64::from(n) / f64::from(STEPS)).find(|step| is_lost(*step))?;
    let (mut kept, mut lost) = (lost - 1.0 / f64::from(STEPS), lost);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(kept, lost);
        if is_lost(middle) { lost = middle } else { kept = middle }
    }
    Some((lost, at(lost), with(at(lost)).1))
}

fn described(value: f64) -> Decimal {
    let value = Decimal::parse(format!("{value:.12}").as_bytes()).unwrap_or_default();
    value.significant(DIGITS).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::file::read;
    use crate::economics::uncertainty::inputs;

    /// 10 GPUs for a year: 87,600 hours, at 2.00 and at 2.50.
    const TWO: &str = r#"
months = 12
[[work]]
name = "w"
demand = { shape = "flat", gpus = 10, hours_per_day = 24 }
[[option]]
name = "A"
place = [{ supplier = "A", on_demand = { price = 2 } }]
[[option]]
name = "B"
place = [{ supplier = "B", on_demand = { price = 2.5 } }]
[[option]]
name = "too little"
place = [{ supplier = "C", committed = [{ rate = { price = 0.01 }, months = 12, gpus = 1 }] }]
"#;

    #[test]
    fn the_break_point_is_where_two_options_cost_the_same() {
        let mut scenario = read(TWO).unwrap();
        // What all is worth today is what is paid.
        scenario.cost_of_capital = Decimal::ZERO;
        let compared = scenario.compare().unwrap();
        let found =
            cheapest_option(&compared, &Model::new(&scenario, &compared, &inputs(&scenario))).unwrap();
        assert_eq!((found.cheapest, found.next, found.ahead), (0, 1, 43_800.into()));
        let break_points: Vec<(&str, String, usize)> = found
            .break_points
            .iter()
            .map(|it| (it.input.label.as_str(), it.value.to_string(), it.to))
            .collect();
        // 2.00 ÷ 2.50 is as far as 2.50 ÷ 2.00.
        assert_eq!(
            break_points,
            [("On demand, A", "2.5".to_owned(), 1), ("On demand, B", "2".to_owned(), 1)]
        );
        let sensitivity = found.sensitivities.iter().find(|it| it.input.label == "On demand, A").unwrap();
        assert_eq!((sensitivity.low, sensitivity.high), (78_840.into(), 8_760.into()));
    }

    #[test]
    fn a_break_point_is_something_that_an_input_can_be() {
        // Lost below 0.9, and above 1.2.
        let with = |value: f64| ((value - 0.9).min(1.2 - value), 1);
        let value =
            |own: f64, within: (f64, f64), way: f64| break_point(own, within, way, with).map(|it| it.1);
        assert!((value(1.1, (0.0, 10.0), -1.0).unwrap() - 0.9).abs() < 1e-9);
        assert_eq!(value(1.1, (1.0, 10.0), -1.0), None);
        assert!((value(1.1, (1.0, 10.0), 1.0).unwrap() - 1.2).abs() < 1e-9);
        assert_eq!(value(0.95, (0.0, 1.0), 1.0), None);
        let own = TWO.replace(
            "on_demand = { price = 2 } }",
            "owned = { machines = { residual = { by = \"share\", share = 0.3 } } } }",
        );
        let inputs = inputs(&read(&own).unwrap());
        let within = |label: &str| {
            let input = inputs.iter().find(|it| it.label.starts_with(label)).unwrap();
            (input.least, input.most)
        };
        assert_eq!(within("PUE"), (1.into(), 10.into()));
        assert_eq!(within("Residual value"), (Decimal::ZERO, 1.into()));
        assert!(inputs.iter().all(|it| it.least <= it.low && it.high <= it.most));
    }

    #[test]
    fn an_option_alone_is_ahead_of_nobody() {
        let mut scenario = read(TWO).unwrap();
        scenario.options.remove(1);
        let compared = scenario.compare().unwrap();
        assert_eq!(cheapest_option(&compared, &Model::new(&scenario, &compared, &inputs(&scenario))), None);
    }
}
