//! Space and power from somebody else, by the kW that is contracted.

use serde::{Deserialize, Serialize};

use super::problem::{Problem, kilowatts, price};
use crate::money::{Currency, Decimal};

/// A contract for so many kW, used or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colocation {
    pub currency: Currency,
    /// What the contract says, mostly what the plates of the machines add up to; not what they draw.
    pub contracted_kw: Decimal,
    pub price_per_kw_month: Decimal,
    /// Whether the price has the energy in it, and demand with it. There is no usual answer, so that it must be asked:
    /// who takes the wrong one pays for power twice or not at all.
    pub includes_energy: bool,
}

impl Colocation {
    /// Everything that is wrong with the contract.
    pub fn problems(&self) -> Vec<Problem> {
        let contracted = kilowatts("contracted_kw", self.contracted_kw);
        contracted.into_iter().chain(price("price_per_kw_month", self.price_per_kw_month, false)).collect()
    }

    /// What a month costs, whatever was drawn.
    pub fn of_month(&self) -> Decimal {
        self.contracted_kw.multiply(self.price_per_kw_month).normalize()
    }
}
