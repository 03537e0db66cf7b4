//! A cluster as a scenario: one kind of node, which is the one that bears most of the accelerators.
//!
//! What scenarios begin with, and what is looked at for oddities. Where a cluster is of one kind and bought at once, its
//! cost is that of [`economics`](super::tco) (tested).

use chrono::NaiveDate;

use super::super::asset_register::AssetRegister;
use super::super::entry::{Asset, AssetKind, CostKind, Entry, Every, Paid};
use super::capital;
use super::running::life_of_payment;
use super::units::Here;
use crate::economics::Owning;
use crate::economics::owning::{
    About, Draw, Energy, Fabric, Housing, OneOff, Other, Per, Residual, Staff, Step, Tenure,
};
use crate::money::arithmetic::{count, decimal, product, quotient};
use crate::money::{Currency, Decimal};

/// The cluster as it stands on a day, in one currency; `None` where there is no such cluster, or its nodes are paid in
/// another.
pub fn owning(
    asset_register: &AssetRegister,
    cluster: &str,
    on: NaiveDate,
    currency: &Currency,
) -> Option<Owning> {
    let here = Here::find(asset_register, cluster, on)?;
    let is_in_it = here.main().is_none_or(|(asset, _)| asset.currency == *currency);
    is_in_it.then(|| likeness(&here, currency))
}

pub(super) fn likeness(here: &Here<'_>, currency: &Currency) -> Owning {
    let mut owning = Owning {
        gpus: here.accelerators(),
        unavailability: here.shares.downtime,
        utilization: here.shares.utilization,
        rework: here.shares.useful().and_then(|useful| quotient(1.into(), useful)).unwrap_or(1.into()),
        cost_of_capital: here.cluster.cost_of_capital,
        lead_months: here.cluster.lead_months,
        rack_kw: here.cluster.rack_kw,
        pue: here.pue(),
        // Entered with everything else that is paid, below.
        maintenance_share: Decimal::ZERO,
        staff: staff(here, currency),
        ..Owning::default()
    };
    machines(here, currency, &mut owning);
    let tariff = here.tariff().filter(|(tariff, _)| tariff.price.currency == *currency);
    owning.tariff = tariff.as_ref().map(|(_, prices)| prices.mean()).unwrap_or_default();
    owning.demand_charge = tariff.map(|(tariff, _)| tariff.price.demand_per_kw_month).unwrap_or_default();
    running(here, currency, &mut owning);
    owning
}

fn machines(here: &Here<'_>, currency: &Currency, owning: &mut Owning) {
    let priced = |kind: AssetKind| -> Decimal {
        let of_kind = here.of_kind(kind).filter(|(asset, _)| asset.currency == *currency);
        of_kind.map(|(asset, units)| product(&[count(units), asset.price])).sum()
    };
    let units = |kind: AssetKind| count(here.of_kind(kind).map(|(_, units)| units).sum());
    let (nodes, spares) = (units(AssetKind::Node), units(AssetKind::SpareNode));
    let half = decimal(5, 1);
    // Rounded up to whole nodes, it is the spares that there are.
    owning.spare_share = if spares.is_zero() {
        Decimal::ZERO
    } else {
        quotient(spares - half, nodes).unwrap_or_default().min(1.into())
    };
    let fabric = quotient(priced(AssetKind::Fabric), nodes + spares).unwrap_or_default();
    owning.fabric = Fabric::Node { price: fabric };
    owning.storage = priced(AssetKind::Storage);
    owning.installation = priced(AssetKind::Installation);
    owning.building = priced(AssetKind::Facility);
    let Some((main, _)) = here.main() else {
        owning.gpus_per_node = 1;
        owning.node_price = Decimal::ZERO;
        return;
    };
    owning.gpus_per_node = main.accelerators;
    owning.node_price = main.price;
    (owning.tenure, owning.life_years) = tenure(main);
    owning.residual = Residual::Share { share: quotient(main.residual, main.price).unwrap_or_default() };
    owning.draw = Draw::Node { idle_kw: main.idle_kw, load_kw: main.load_kw };
    owning.rated_kw = main.rated_kw;
}

/// How the nodes are held, and for how many years.
fn tenure(nodes: &Asset) -> (Tenure, Decimal) {
    match nodes.paid {
        Paid::Leased { monthly: price, months } if !price.is_zero() => {
            (Tenure::Leased { price }, quotient(count(months), 12.into()).unwrap_or_default())
        }
        _ => (Tenure::Bought, capital::life(nodes)),
    }
}

fn staff(here: &Here<'_>, currency: &Currency) -> Staff {
    let month = here.month();
    let roles = here.entries().filter_map(|entry| match entry {
        Entry::Staff(it) if it.currency == *currency && it.months.contains(month) => {
            Some((product(&[it.fte, it.share]), it.loaded_cost))
        }
        _ => None,
    });
    let (mut people, mut cost) = (Decimal::ZERO, Decimal::ZERO);
    for (of_role, loaded_cost) in roles {
        people += of_role;
        cost += product(&[of_role, loaded_cost]);
    }
    Staff {
        loaded_cost: quotient(cost, people).unwrap_or_default(),
        steps: vec![Step { up_to_gpus: u32::MAX, people }],
        one_more_per: 0,
        months_before: Decimal::ZERO,
    }
}

fn running(here: &Here<'_>, currency: &Currency, owning: &mut Owning) {
    let month = here.month();
    for entry in here.entries() {
        match entry {
            Entry::Colocation(it) if it.months.contains(month) && it.currency == *currency => {
                let energy = if it.includes_energy { Energy::Included } else { Energy::Separate };
                let (price, contracted_kw) = (it.price_per_kw, Some(it.contracted_kw));
                owning.housing = Housing::Colocation { price, contracted_kw, energy };
            }
            Entry::Cost(it) if it.currency != *currency => {}
            Entry::Cost(it) if it.every == Every::Once && life_of_payment(here, it).is_none() => {}
            Entry::Cost(it) if it.every == Every::Once => {
                owning.one_offs.push(OneOff { name: it.name.clone(), amount: it.amount });
            }
            Entry::Cost(it) if it.months.contains(month) => {
                let about = match it.what {
                    CostKind::Maintenance => About::Support,
                    CostKind::Licence => About::Software,
                    CostKind::Space => About::Housing,
                    // A link is a line to somewhere else, and not what connects the nodes.
                    CostKind::Link | CostKind::Insurance | CostKind::Spares | CostKind::Other => {
                        About::SomethingElse
                    }
                };
                let amount = it.amount.times(i64::from(12 / it.every.months()));
                owning.others.push(Other { name: it.name.clone(), about, amount, per: Per::Year });
            }
            _ => {}
        }
    }
}
