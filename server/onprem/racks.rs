//! How many racks a cluster takes, by what its machines are rated for. Pure.

use chrono::NaiveDate;
use serde::Serialize;

use super::asset_register::AssetRegister;
use super::entry::AssetKind;
use crate::economics::Owning;
use crate::economics::owning::Racks;
use crate::money::Decimal;

/// The racks of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RackPlan {
    /// What a rack can feed and cool.
    pub rack_kw: Decimal,
    pub kinds: Vec<RacksOfKind>,
    /// Of all kinds; none where one of them does not fit.
    pub racks: Option<u32>,
}

/// Machines that are alike; each kind has racks of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RacksOfKind {
    pub model: String,
    pub rated_kw: Decimal,
    /// With those that stand by.
    pub units: u32,
    #[serde(flatten)]
    pub racks: Racks,
}

/// Of the nodes of a cluster on a day; `None` where nothing is there, or nothing is known of what it is rated for.
pub fn racks(asset_register: &AssetRegister, cluster: &str, on: NaiveDate) -> Option<RackPlan> {
    let rack_kw = asset_register.cluster(cluster)?.rack_kw;
    let mut kinds: Vec<(&str, Decimal, u32)> = Vec::new();
    let events = asset_register.events();
    for (_, asset) in asset_register.assets() {
        let units = events.units_in(asset, cluster, on);
        let is_node = matches!(asset.what, AssetKind::Node | AssetKind::SpareNode);
        if units == 0 || !is_node || asset.rated_kw.is_zero() {
            continue;
        }
        let is_alike =
            |kind: &&mut (&str, Decimal, u32)| kind.0 == asset.what_it_is() && kind.1 == asset.rated_kw;
        match kinds.iter_mut().find(is_alike) {
            Some((_, _, count)) => *count = count.saturating_add(units),
            None => kinds.push((asset.what_it_is(), asset.rated_kw, units)),
        }
    }
    let of_kind = |(model, rated_kw, units): (&str, Decimal, u32)| {
        let alone = Owning {
            gpus: units,
            gpus_per_node: 1,
            spare_share: Decimal::ZERO,
            rated_kw,
            rack_kw,
            ..Owning::default()
        };
        RacksOfKind { model: model.to_owned(), rated_kw, units, racks: alone.racks() }
    };
    let kinds: Vec<RacksOfKind> = kinds.into_iter().map(of_kind).collect();
    let racks = kinds.iter().map(|kind| kind.racks.racks).sum();
    (!kinds.is_empty()).then_some(RackPlan { rack_kw, kinds, racks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::owning::Cooling;
    use crate::onprem::entry::{Asset, Entry};
    use crate::onprem::start::Start;
    use crate::onprem::system::systems;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn machines_that_are_alike_share_racks_and_others_do_not() {
        let mut texts = Start::defaults(&systems()[0], day("2026-01-01"));
        texts.extend(
            [("name", "East"), ("site", "Berlin"), ("nodes", "8"), ("spares", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let start = Start::read(&texts).unwrap();
        let mut asset_register = AssetRegister { entries: (1..).zip(start.entries()).collect() };
        let plan = racks(&asset_register, "east", day("2026-02-01")).unwrap();
        // Nine of 10.2 kW, three to a rack of 40.
        assert_eq!(plan.kinds.len(), 1);
        assert_eq!((plan.kinds[0].units, plan.kinds[0].racks.nodes_per_rack, plan.racks), (9, 3, Some(3)));
        assert_eq!(plan.kinds[0].racks.cooling, Cooling::Air);
        assert!(plan.kinds[0].racks.airflow.is_some());

        let node =
            asset_register.assets().find(|(_, asset)| asset.what == AssetKind::Node).unwrap().1.clone();
        let small =
            Asset { name: "small".into(), model: "Small".into(), count: 5, rated_kw: 8.into(), ..node };
        let wide = Asset { name: "wide".into(), model: "Wide".into(), rated_kw: 41.into(), ..small.clone() };
        asset_register.entries.insert(100, Entry::Asset(small));
        let plan = racks(&asset_register, "east", day("2026-02-01")).unwrap();
        assert_eq!((plan.kinds.len(), plan.racks), (2, Some(4)));
        asset_register.entries.insert(101, Entry::Asset(wide));
        assert_eq!(racks(&asset_register, "east", day("2026-02-01")).unwrap().racks, None);
        assert_eq!(racks(&asset_register, "east", day("2025-12-31")), None);
    }
}
