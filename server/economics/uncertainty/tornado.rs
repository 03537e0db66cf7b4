//! Which input matters: each at its low and its high, all others as they are, the one that moves the answer most first.

use serde::Serialize;

use super::Input;
use crate::cancellation;
use crate::money::Decimal;

/// What an input does to an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sensitivity {
    pub input: Input,
    /// The answer with the input at its low and at its high.
    pub low: Decimal,
    pub high: Decimal,
}

impl Sensitivity {
    pub fn width(&self) -> Decimal {
        (self.high - self.low).abs()
    }
}

/// Answers with each input at both its ends, of whatever answers for an input, by its place, and a value. Left out is an
/// input at one of whose ends there is no answer, or that moves nothing.
///
/// A page asks a [`Model`](super::Model), of each option's total and of the advantage; whoever has a formula asks that.
pub fn tornado(inputs: &[Input], answer: impl Fn(usize, Decimal) -> Option<Decimal>) -> Vec<Sensitivity> {
    let sensitivity = |(at, input): (usize, &Input)| {
        cancellation::check();
        let (low, high) = (answer(at, input.low)?, answer(at, input.high)?);
        Some(Sensitivity { input: input.clone(), low, high })
    };
    let mut sensitivities: Vec<Sensitivity> = inputs.iter().enumerate().filter_map(sensitivity).collect();
    sensitivities.retain(|it| !it.width().is_zero());
    sensitivities.sort_by(|a, b| b.width().cmp(&a.width()).then_with(|| a.input.label.cmp(&b.input.label)));
    sensitivities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::Owning;
    use crate::economics::owning::Hours;
    use crate::economics::published_figures::worked_example;
    use crate::economics::uncertainty::changed;
    use crate::money::arithmetic::product;
    use crate::money::number;

    fn input(label: &str, keys: &[&str], value: &str, low: &str, high: &str) -> Input {
        let keys = keys.iter().map(|it| (*it).to_owned()).collect();
        let (least, most) = (Decimal::ZERO, Decimal::from(1_000_000));
        Input {
            keys,
            label: label.to_owned(),
            value: number(value),
            low: number(low),
            high: number(high),
            least,
            most,
            source: None,
            in_percent: false,
        }
    }

    #[test]
    fn utilization_and_the_price_of_machines_move_an_hour_most() {
        let inputs = [
            input("power", &["/tariff"], "0.10", "0.08", "0.12"),
            input("utilization", &["/utilization"], "0.80", "0.64", "0.96"),
            input("nothing", &["/rack_kw"], "40", "20", "60"),
            input("staff", &["/staff/loaded_cost"], "250000", "200000", "300000"),
            input("life", &["/life_years"], "3", "2", "4"),
            input("GPUs", &["/gpus"], "64", "0.5", "64"),
        ];
        let sensitivities = tornado(&inputs, |at, value| {
            let owning: Owning = changed(&worked_example(), &inputs[at], value)?;
            owning.cost().ok()?.per_hour(Hours::Productive)
        });
        let described: Vec<(&str, String, String)> = sensitivities
            .iter()
            .map(|it| (it.input.label.as_str(), it.low.round(4).to_string(), it.high.round(4).to_string()))
            .collect();
        let expected = [
            ("life", "4.8174", "2.9223"),
            ("utilization", "4.4425", "2.9616"),
            ("staff", "3.3868", "3.7212"),
            ("power", "3.5358", "3.5722"),
        ];
        assert_eq!(described, expected.map(|(label, low, high)| (label, low.to_owned(), high.to_owned())));
        assert!(product(&[sensitivities[0].width(), 2.into()]) > sensitivities[1].width());
    }
}
