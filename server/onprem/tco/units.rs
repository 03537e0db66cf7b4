//! What there is of a cluster on a day.

use chrono::NaiveDate;

use super::super::asset_register::AssetRegister;
use super::super::entry::{Asset, AssetKind, Cluster, Entry, Shares, Tariff};
use super::super::power::Prices;
use crate::money::Decimal;
use crate::money::arithmetic::one;
use crate::period::BillingMonth;

/// A cluster on a day, with the assets that have units in it.
pub(super) struct Here<'a> {
    pub asset_register: &'a AssetRegister,
    pub cluster: &'a Cluster,
    pub on: NaiveDate,
    /// How its hours are used in the month of that day.
    pub shares: Shares,
    /// Each with how many of its units are here.
    pub assets: Vec<(&'a Asset, u32)>,
}

impl<'a> Here<'a> {
    pub fn find(asset_register: &'a AssetRegister, cluster: &str, on: NaiveDate) -> Option<Self> {
        let cluster = asset_register.cluster(cluster)?;
        let events = asset_register.events();
        let assets = asset_register
            .assets()
            .map(|(_, asset)| (asset, events.units_in(asset, &cluster.handle, on)))
            .filter(|(_, units)| *units > 0)
            .collect();
        let shares = asset_register.shares(cluster, BillingMonth::of(on));
        Some(Self { asset_register, cluster, on, shares, assets })
    }

    /// The month of the day.
    pub fn month(&self) -> BillingMonth {
        BillingMonth::of(self.on)
    }

    pub fn of_kind(&self, kind: AssetKind) -> impl Iterator<Item = (&'a Asset, u32)> {
        self.assets.iter().copied().filter(move |(asset, _)| asset.what == kind)
    }

    pub fn accelerators(&self) -> u32 {
        let nodes = self.assets.iter().filter(|(asset, _)| asset.bears_accelerators());
        nodes.map(|(asset, units)| asset.accelerators.saturating_mul(*units)).fold(0, u32::saturating_add)
    }

    /// The asset that bears most of the accelerators.
    pub fn main(&self) -> Option<(&'a Asset, u32)> {
        let nodes = self.assets.iter().copied().filter(|(asset, _)| asset.bears_accelerators());
        nodes.max_by_key(|(asset, units)| asset.accelerators.saturating_mul(*units))
    }

    /// Entries of the cluster itself.
    pub fn entries(&self) -> impl Iterator<Item = &'a Entry> {
        let handle = &self.cluster.handle;
        self.asset_register.entries.values().filter(move |entry| entry.cluster() == Some(handle))
    }

    pub fn pue(&self) -> Decimal {
        self.asset_register.pue(&self.cluster.handle, self.month()).unwrap_or(one())
    }

    /// What energy costs; none where its price is that of the place.
    pub fn tariff(&self) -> Option<(&'a Tariff, Prices)> {
        if self.has_energy_included() {
            return None;
        }
        let (_, tariff) = self.asset_register.tariff(&self.cluster.handle, self.month())?;
        tariff.price.prices().ok().map(|prices| (tariff, prices))
    }

    pub fn has_energy_included(&self) -> bool {
        self.asset_register.has_energy_included(&self.cluster.handle, self.month())
    }
}
