//! What a row consumed, and whether that is metered.

use super::{At, is_correction, is_unused_commitment};
use crate::billing::charge::{Charge, ChargeCategory, is_negation};
use crate::billing::row::{Problem, Row};
use crate::money::Decimal;

/// Fills both in, the costs being there.
///
/// Usage that costs something and states a `ConsumedQuantity` of 0 (Azure does) did not consume nothing: the quantity is
/// `PricingQuantity` where that counts the same unit, else it is unknown.
pub(super) fn fill(
    row: &mut Row<'_>,
    at: &At,
    category: ChargeCategory,
    charge: &mut Charge,
) -> Result<(), Problem> {
    let stated = row.quantity(at.quantity)?;
    let has_cost = !charge.billed_cost.is_zero() || !charge.effective_cost.is_zero();
    let is_usage = category == ChargeCategory::Usage;
    let is_zero_beside_a_cost = is_usage
        && has_cost
        && stated.is_some_and(|quantity| quantity.is_zero())
        && !is_correction(at, row)
        && !is_unused_commitment(at, row);
    charge.consumed_quantity = if is_zero_beside_a_cost { repaired(row, at)? } else { stated };
    charge.is_metered = is_usage && is_metered(row, at, charge);
    Ok(())
}

fn repaired(row: &mut Row<'_>, at: &At) -> Result<Option<Decimal>, Problem> {
    let unit = row.word(at.unit).trim_ascii();
    let is_same_unit =
        !row.is_null(at.unit) && unit.eq_ignore_ascii_case(row.word(at.pricing_unit).trim_ascii());
    let priced = if is_same_unit { row.quantity(at.pricing_quantity)? } else { None };
    let priced = priced.filter(|quantity| !quantity.is_zero());
    row.remark(if priced.is_some() {
        "a ConsumedQuantity of 0 beside a cost: it is PricingQuantity, which counts the same unit"
    } else {
        "a ConsumedQuantity of 0 beside a cost: what was consumed is unknown"
    });
    Ok(priced)
}

fn is_metered(row: &Row<'_>, at: &At, charge: &Charge) -> bool {
    let Some(quantity) = charge.consumed_quantity else { return false };
    let takes_no_hours_back = is_negation(charge.billed_cost, quantity) && !is_correction(at, row);
    !takes_no_hours_back && !is_unused_commitment(at, row)
}
