//! Which input matters: each at its low and its high, all others as they are, the one that moves the answer most first.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Input;
use crate::money::Decimal;

/// What an input does to an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Swing {
    pub input: Input,
    /// The answer with the input at its low and at its high.
    pub low: Decimal,
    pub high: Decimal,
}

impl Swing {
    pub fn width(&self) -> Decimal {
        (self.high - self.low).abs()
    }
}

/// Answers of something that is entered, with each input at both its ends. Left out is an input at one of whose ends
/// there is no answer, or that moves nothing.
pub fn tornado<T: Serialize + DeserializeOwned>(
    entered: &T,
    inputs: &[Input],
    answer: impl Fn(&T) -> Option<Decimal>,
) -> Vec<Swing> {
    let tree = serde_json::to_value(entered).unwrap_or_default();
    let with = |input: &Input, value: Decimal| answer(&changed(&tree, input, value)?);
    let swing = |input: &Input| {
        let (low, high) = (with(input, input.low)?, with(input, input.high)?);
        Some(Swing { input: input.clone(), low, high })
    };
    let mut swings: Vec<Swing> = inputs.iter().filter_map(swing).collect();
    swings.retain(|it| !it.width().is_zero());
    swings.sort_by(|a, b| b.width().cmp(&a.width()).then_with(|| a.input.label.cmp(&b.input.label)));
    swings
}

/// What was entered, with another value for an input.
pub(super) fn changed<T: DeserializeOwned>(tree: &Value, input: &Input, value: Decimal) -> Option<T> {
    let mut tree = tree.clone();
    for key in &input.keys {
        *tree.pointer_mut(key)? = Value::String(value.to_string());
    }
    serde_json::from_value(tree).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Owning;
    use crate::scenario::arithmetic::product;
    use crate::scenario::claim::worked_example;
    use crate::scenario::owning::Hours;

    fn number(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn input(label: &str, keys: &[&str], value: &str, low: &str, high: &str) -> Input {
        let keys = keys.iter().map(|it| (*it).to_owned()).collect();
        Input { keys, label: label.to_owned(), value: number(value), low: number(low), high: number(high) }
    }

    #[test]
    fn utilization_and_the_price_of_machines_move_an_hour_most() {
        let swings = tornado(
            &worked_example(),
            &[
                input("power", &["/tariff"], "0.10", "0.08", "0.12"),
                input("utilization", &["/utilization"], "0.80", "0.64", "0.96"),
                input("nothing", &["/rack_kw"], "40", "20", "60"),
                input("staff", &["/staff/loaded_cost"], "250000", "200000", "300000"),
                input("life", &["/life_years"], "3", "2", "4"),
                input("GPUs", &["/gpus"], "64", "0.5", "64"),
            ],
            |owning: &Owning| owning.cost().ok()?.per_hour(Hours::Productive),
        );
        let told: Vec<(&str, String, String)> = swings
            .iter()
            .map(|it| (it.input.label.as_str(), it.low.round(4).to_string(), it.high.round(4).to_string()))
            .collect();
        let expected = [
            ("life", "4.8174", "2.9223"),
            ("utilization", "4.4425", "2.9616"),
            ("staff", "3.3868", "3.7212"),
            ("power", "3.5358", "3.5722"),
        ];
        assert_eq!(told, expected.map(|(label, low, high)| (label, low.to_owned(), high.to_owned())));
        assert!(product(&[swings[0].width(), 2.into()]) > swings[1].width());
    }
}
