//! What the capital in each asset costs, or its lease.

use super::super::entry::{Asset, Paid};
use super::units::Here;
use super::{InCurrency, fixed, term};
use crate::economics::owning::capital::{annualized, capital_recovery_factor};
use crate::economics::owning::{Component, Part, Unit};
use crate::money::Decimal;
use crate::money::arithmetic::{count, growth, product, quotient};
use crate::period::BillingMonth;

const OVER: &str = "nothing: its term is over, and what it cost is paid back";

pub(super) fn components(here: &Here<'_>) -> Vec<InCurrency> {
    let of = |(asset, units): &(&Asset, u32)| (asset.currency.clone(), of_asset(here, asset, *units));
    here.assets.iter().map(of).collect()
}

/// Its life in years.
pub(super) fn life(asset: &Asset) -> Decimal {
    quotient(count(asset.life_months), 12.into()).unwrap_or_default()
}

fn of_asset(here: &Here<'_>, asset: &Asset, units: u32) -> Component {
    let is_over = asset.schedule().is_ok_and(|schedule| schedule.ends() <= here.on);
    let units = count(units);
    let mut terms = vec![term("units", units, Unit::Number)];
    let (per_year, formula) = match asset.paid {
        Paid::Leased { monthly, months } => {
            terms.push(term("payment", monthly, Unit::Money));
            let begun = BillingMonth::of(asset.in_service);
            let runs = here.month().months_after(begun).is_some_and(|number| number < months);
            let formula = if runs { "12 × units × payment" } else { OVER };
            (if runs { product(&[12.into(), units, monthly]) } else { Decimal::ZERO }, formula)
        }
        Paid::Bought | Paid::Financed { .. } => {
            let (rate, life) = (here.cluster.cost_of_capital, life(asset));
            let sold = quotient(asset.residual, growth(rate, life)).unwrap_or_default();
            let factor = capital_recovery_factor(rate, life).unwrap_or_default();
            terms.extend([
                term("price", asset.price, Unit::Money),
                term("residual value", asset.residual, Unit::Money),
                term("residual value today", sold, Unit::Money),
                term("cost of capital", rate, Unit::SharePerYear),
                term("life", life, Unit::Years),
                term("capital recovery factor", factor, Unit::SharePerYear),
            ]);
            let each = annualized(asset.price, asset.residual, rate, life).unwrap_or_default();
            let formula = if is_over {
                OVER
            } else {
                "units × (price − residual value today) × capital recovery factor"
            };
            (if is_over { Decimal::ZERO } else { product(&[units, each]) }, formula)
        }
    };
    let (part, name) = match asset.paid {
        Paid::Leased { .. } => (Part::Lease, format!("Lease of {}", asset.name)),
        _ => (Part::Capital, format!("Capital in {}", asset.name)),
    };
    fixed(part, &name, per_year, formula, terms)
}
