//! How sure an answer is: one input after the other ([`tornado`]), and all at once ([`simulate`]).
//!
//! What is uncertain are prices, rates and factors, never the hours of a profile: what a quarter asked for is known, and
//! what a coming one will is a scenario of its own. Every input has a low and a high, by default those of [`input`].
//! Both are asked of one [`Model`] of an exact answer, in which how much there is of everything stays as it was decided.

pub mod break_points;
pub mod cheapest_option;
pub mod input;
pub mod model;
mod range;
pub mod simulate;
pub mod tornado;

pub use cheapest_option::{BreakPoint, CheapestOption};
pub use input::{Input, NOT_DRAWN, inputs};
pub use model::Model;
pub use simulate::{Outcome, Regret, Simulation};
pub use tornado::{Sensitivity, tornado};

/// Whether a number is uncertain at all, by its JSON pointer.
pub(in crate::economics) fn is_uncertain(pointer: &str) -> bool {
    range::range_of(pointer).is_some()
}

/// What was entered, with another value for an input; none for what stands for more than a number.
pub(super) fn changed<T: serde::Serialize + serde::de::DeserializeOwned>(
    entered: &T,
    input: &Input,
    value: crate::money::Decimal,
) -> Option<T> {
    use serde_json::Value;

    let mut tree = serde_json::to_value(entered).ok()?;
    let written = |value: crate::money::Decimal| Value::String(value.to_string());
    let scale = |number: &mut Value| {
        let entered: crate::money::Decimal = number.as_str()?.parse().ok()?;
        let scaled = crate::money::arithmetic::quotient(entered.multiply(value), input.value)?;
        *number = written(scaled.round(12).normalize());
        Some(())
    };
    for key in &input.keys {
        let beside = |name: &str| key.rsplit_once('/').map(|(table, _)| format!("{table}/{name}"));
        // What stands for several numbers, each of which is as much lower or higher.
        let numbers = match key.as_str() {
            it if it.ends_with("/draw/of") => vec![beside("idle_kw")?, beside("load_kw")?],
            it if it.ends_with("/residual/by") => vec![beside("shares")?],
            it => {
                *tree.pointer_mut(it)? = written(value);
                vec![beside("path/prices")?]
            }
        };
        for number in numbers {
            match tree.pointer_mut(&number) {
                Some(Value::Array(several)) => several.iter_mut().try_for_each(scale)?,
                Some(one) => scale(one)?,
                None => {}
            }
        }
    }
    serde_json::from_value(tree).ok()
}
