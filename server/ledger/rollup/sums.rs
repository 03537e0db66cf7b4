//! What charges sum to, exactly.

use crate::billing::Charge;
use crate::money::Decimal;

/// The four costs of FOCUS, summed, and what was metered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub charges: i64,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub list_cost: Decimal,
    pub contracted_cost: Decimal,
    pub metered_quantity: Decimal,
}

impl Sums {
    pub fn of_charge(charge: &Charge) -> Self {
        Self {
            charges: 1,
            billed_cost: charge.billed_cost,
            effective_cost: charge.effective_cost,
            list_cost: charge.list_cost,
            contracted_cost: charge.contracted_cost,
            // What counts as usage paid for.
            metered_quantity: charge.consumed_quantity.filter(|_| charge.is_metered).unwrap_or_default(),
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.charges += other.charges;
        self.billed_cost += other.billed_cost;
        self.effective_cost += other.effective_cost;
        self.list_cost += other.list_cost;
        self.contracted_cost += other.contracted_cost;
        self.metered_quantity += other.metered_quantity;
    }

    /// In the order in which they are written.
    pub fn amounts(&self) -> [Decimal; 5] {
        [self.billed_cost, self.effective_cost, self.list_cost, self.contracted_cost, self.metered_quantity]
    }
}
