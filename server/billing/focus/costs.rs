//! Effective, list and contracted cost of a row. Billed cost is never changed.
//!
//! Azure states costs that its own tools repair (microsoft/finops-toolkit, `IngestionSetup_v1_2.kql`), as is done here:
//! - the effective cost of a commitment's purchase is 0, whatever it states: what the commitment covers carries it, and both
//!   would count twice (FOCUS, EffectiveCost: 0 for purchases that cover later charges);
//! - a contracted cost of 0 (or none) beside an effective cost that is not is taken to be the effective cost, and a list
//!   cost of 0 the contracted cost. It stands so on reservation usage of Microsoft Customer Agreements, on Marketplace rows and,
//!   for the list cost, in enterprise agreements. Unused commitments have no list cost and keep their 0.

use super::{At, is_unused_commitment};
use crate::billing::charge::{Charge, ChargeCategory};
use crate::billing::header::Header;
use crate::billing::row::{Column, Problem, Row};
use crate::money::Decimal;

/// A cost for comparison.
pub(super) struct Price {
    column: Column,
    /// Whether the file as a whole states it: what it lacks is said of its columns, not of every row.
    is_stated: bool,
    /// Said where a row leaves it empty, and where another cost stands for it.
    missing: &'static str,
    repaired: &'static str,
}

impl Price {
    pub fn list(header: &Header) -> Self {
        Self::find(
            header,
            "listcost",
            "no ListCost: it counts 0",
            "Azure states no ListCost, or 0: it is the contracted cost",
        )
    }

    pub fn contracted(header: &Header) -> Self {
        Self::find(
            header,
            "contractedcost",
            "no ContractedCost: it counts 0",
            "Azure states no ContractedCost, or 0: it is the effective cost",
        )
    }

    fn find(header: &Header, key: &str, missing: &'static str, repaired: &'static str) -> Self {
        Self { column: header.find(key), is_stated: header.has(key), missing, repaired }
    }

    /// What the row states; `instead` where that is nothing or 0 and something stands for it.
    fn read(&self, row: &mut Row<'_>, instead: Option<Decimal>) -> Result<Decimal, Problem> {
        let stated = row.amount(self.column)?;
        if let Some(cost) = stated.filter(|cost| !cost.is_zero()) {
            return Ok(cost);
        }
        if !self.is_stated {
            return Ok(Decimal::ZERO);
        }
        if let Some(instead) = instead {
            row.remark(self.repaired);
            return Ok(instead);
        }
        if stated.is_none() {
            row.remark(self.missing);
        }
        Ok(Decimal::ZERO)
    }
}

/// Fills them in, the billed cost being there.
pub(super) fn fill(
    row: &mut Row<'_>,
    at: &At,
    category: ChargeCategory,
    is_azure: bool,
    charge: &mut Charge,
) -> Result<(), Problem> {
    charge.effective_cost = effective(row, at, category, is_azure, charge.billed_cost)?;
    let is_priced = matches!(category, ChargeCategory::Usage | ChargeCategory::Purchase);
    let is_repaired =
        is_azure && is_priced && !charge.effective_cost.is_zero() && !is_unused_commitment(at, row);
    charge.contracted_cost = at.contracted.read(row, is_repaired.then_some(charge.effective_cost))?;
    charge.list_cost = at.list.read(row, is_repaired.then_some(charge.contracted_cost))?;
    Ok(())
}

fn effective(
    row: &mut Row<'_>,
    at: &At,
    category: ChargeCategory,
    is_azure: bool,
    billed: Decimal,
) -> Result<Decimal, Problem> {
    let is_purchase = category == ChargeCategory::Purchase;
    Ok(match row.amount(at.effective)? {
        Some(cost) if is_azure && is_purchase && !cost.is_zero() && !row.is_null(at.commitment) => {
            row.remark(
                "Azure states an EffectiveCost on a commitment's purchase: 0, for what it covers carries it",
            );
            Decimal::ZERO
        }
        Some(cost) => cost,
        None if is_purchase => {
            row.remark("a purchase without EffectiveCost: 0, for what it covers carries it");
            Decimal::ZERO
        }
        None => {
            row.remark("no EffectiveCost: it is the billed cost");
            billed
        }
    })
}
