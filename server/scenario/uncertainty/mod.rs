//! How sure an answer is: one input after the other ([`tornado`]), and all at once ([`simulate`]).
//!
//! What is uncertain are prices, rates and factors, never the hours of a profile: what a quarter asked for is known, and
//! what a coming one will is a scenario of its own. Every input has a low and a high, by default those of [`input`].
//! Both are asked of one [`Model`] of an exact answer, in which how much there is of everything stays as it was decided.

pub mod input;
pub mod lead;
pub mod model;
mod range;
pub mod simulate;
pub mod tornado;

pub use input::{Input, NOT_DRAWN, inputs};
pub use lead::{Lead, Turn};
pub use model::Model;
pub use simulate::{Outcome, Regret, Simulation};
pub use tornado::{Swing, tornado};

/// What was entered, with another value for an input.
#[cfg(test)]
fn changed<T: serde::Serialize + serde::de::DeserializeOwned>(
    entered: &T,
    input: &Input,
    value: crate::money::Decimal,
) -> Option<T> {
    let mut tree = serde_json::to_value(entered).ok()?;
    let written = |value: crate::money::Decimal| serde_json::Value::String(value.to_string());
    for key in &input.keys {
        *tree.pointer_mut(key)? = written(value);
        // Of prices by the month each is as much lower or higher.
        let prices = key.strip_suffix("/price").map(|rate| format!("{rate}/path/prices"));
        let prices = prices.and_then(|it| tree.pointer_mut(&it)?.as_array_mut());
        for price in prices.into_iter().flatten() {
            let entered: crate::money::Decimal = price.as_str()?.parse().ok()?;
            let scaled = crate::scenario::arithmetic::quotient(entered.multiply(value), input.value)?;
            *price = written(scaled.round(12).normalize());
        }
    }
    serde_json::from_value(tree).ok()
}
