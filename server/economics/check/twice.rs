//! Costs that are counted twice: in a price, and again by themselves.

use super::Findings;
use crate::economics::owning::{About, Energy, Housing, Owning};
use crate::money::Decimal;

pub fn check(owning: &Owning, found: &mut Findings) {
    found.each("others", &owning.others, |other, found| {
        // A rebate on what is counted already is none of it.
        if other.amount > Decimal::ZERO
            && let Some(counted) = counted(owning, other.about)
        {
            let message = format!("{} is counted twice: {counted}", other.name);
            found.warn("amount", other.amount, &message);
        }
    });
    if let Housing::Colocation { energy, .. } = owning.housing {
        if energy == Energy::Included && !owning.demand_charge.is_zero() {
            let message = "ignored: the price of colocation includes electricity";
            found.warn("demand_charge", owning.demand_charge, message);
        }
        if !owning.building.is_zero() {
            let message =
                "there is a data center and colocation; is the data center part of the price of colocation?";
            found.warn("building", owning.building, message);
        }
    }
}

/// Where a cost of this kind is counted already.
fn counted(owning: &Owning, about: About) -> Option<&'static str> {
    let costs = |amount: Decimal| !amount.is_zero();
    let includes_energy = matches!(owning.housing, Housing::Colocation { energy: Energy::Included, .. });
    let is_colocated = matches!(owning.housing, Housing::Colocation { .. });
    match about {
        About::Network => {
            costs(owning.fabric.per_node()).then_some("the price of a node includes the network")
        }
        About::Power if includes_energy => Some("the price of colocation includes electricity"),
        About::Power => costs(owning.tariff).then_some("electricity is computed from the power of the nodes"),
        About::Housing => is_colocated.then_some("colocation is computed per kW"),
        About::Staff => {
            costs(owning.staff.loaded_cost).then_some("staff is computed from the number of GPUs")
        }
        About::Software => costs(owning.software_per_gpu).then_some("software is computed per GPU"),
        About::Support => {
            costs(owning.maintenance_share).then_some("maintenance and support are a share of the purchase")
        }
        About::SomethingElse => None,
    }
}
