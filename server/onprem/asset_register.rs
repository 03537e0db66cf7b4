//! The asset register: every entry, and what follows from several of them together. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Asset, Cluster, Entry, Event, EventKind, Meter, Shares, Tariff};
use super::location_history::Events;
use super::power::{MeterLocation, Reading};
use crate::changes::NumberedEdit;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Everything that was written down, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssetRegister {
    pub entries: BTreeMap<i64, Entry>,
}

/// What a change of the asset register is made of.
pub type Edit = NumberedEdit<Entry>;

impl AssetRegister {
    /// By name.
    pub fn clusters(&self) -> Vec<&Cluster> {
        let mut clusters: Vec<&Cluster> = self
            .entries
            .values()
            .filter_map(|entry| match entry {
                Entry::Cluster(it) => Some(it),
                _ => None,
            })
            .collect();
        clusters.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.handle.cmp(&b.handle)));
        clusters
    }

    pub fn cluster(&self, handle: &str) -> Option<&Cluster> {
        self.entries.values().find_map(|entry| match entry {
            Entry::Cluster(it) if it.handle == handle => Some(it),
            _ => None,
        })
    }

    /// How a cluster's hours are used in a month: as the last entry for it or for a month before says, or else as the
    /// cluster's own.
    pub fn shares(&self, cluster: &Cluster, month: BillingMonth) -> Shares {
        let said = self.entries.values().filter_map(|entry| match entry {
            Entry::Utilization(it) if it.cluster == cluster.handle && it.first <= month => Some(it),
            _ => None,
        });
        if let Some(it) = said.max_by_key(|it| it.first) {
            return Shares { downtime: it.downtime, utilization: it.utilization, repeated: it.repeated };
        }
        let Cluster { downtime, utilization, repeated, .. } = *cluster;
        Shares { downtime, utilization, repeated }
    }

    /// Whether somebody entered how a cluster is used in this month or one before.
    pub fn has_usage(&self, cluster: &str, month: BillingMonth) -> bool {
        let is_usage = |entry: &Entry| matches!(entry, Entry::Utilization(it) if it.cluster == cluster && it.first <= month);
        self.entries.values().any(is_usage)
    }

    /// With their numbers, in the order they were entered.
    pub fn assets(&self) -> impl Iterator<Item = (i64, &Asset)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Asset(it) => Some((*id, it)),
            _ => None,
        })
    }

    /// With their numbers, in the order they were entered.
    pub fn meters(&self) -> impl Iterator<Item = (i64, &Meter)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Meter(it) => Some((*id, it)),
            _ => None,
        })
    }

    /// What happened to the assets, by asset.
    pub fn events(&self) -> Events<'_> {
        Events::new(self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Event(it) => Some((*id, it)),
            _ => None,
        }))
    }

    /// Whether the price of a place has energy in it, so that none is charged beside it.
    pub fn has_energy_included(&self, cluster: &str, month: BillingMonth) -> bool {
        self.entries.values().any(|entry| {
            matches!(entry, Entry::Colocation(it)
                if it.cluster == cluster && it.includes_energy && it.months.contains(month))
        })
    }

    /// What energy costs in a month.
    pub fn tariff(&self, cluster: &str, month: BillingMonth) -> Option<(i64, &Tariff)> {
        self.entries.iter().find_map(|(id, entry)| match entry {
            Entry::Tariff(it) if it.cluster == cluster && it.months.contains(month) => Some((*id, it)),
            _ => None,
        })
    }

    /// What the meters that a cluster has at a place read, of these readings.
    pub(super) fn read_at<'r>(
        &self,
        cluster: &str,
        place: MeterLocation,
        readings: &'r [Reading],
    ) -> impl Iterator<Item = &'r Reading> {
        let its = self.meters().filter(|(_, it)| it.cluster == cluster && it.place == place);
        let names: BTreeSet<&str> = its.map(|(_, it)| it.name.as_str()).collect();
        readings.iter().filter(move |reading| names.contains(reading.meter.as_str()))
    }

    /// The power usage effectiveness of a month: the last that was entered for it or for a month before.
    pub fn pue(&self, cluster: &str, month: BillingMonth) -> Option<Decimal> {
        let values = self.entries.values().filter_map(|entry| match entry {
            Entry::Pue(it) if it.cluster == cluster && it.first <= month => Some((it.first, it.value)),
            _ => None,
        });
        values.max_by_key(|(first, _)| *first).map(|(_, value)| value)
    }

    /// From the month in which the first thing of a cluster begins.
    pub fn first_month(&self, cluster: &str) -> Option<BillingMonth> {
        self.cluster(cluster).map(|cluster| BillingMonth::of(cluster.since))
    }

    /// The entries that are a cluster's, with their numbers. Assets count where they are entered, and their events
    /// with them.
    pub fn of_cluster(&self, handle: &str) -> Vec<(i64, &Entry)> {
        let its = self.assets().filter(|(_, it)| it.cluster == handle);
        let assets: BTreeSet<&str> = its.map(|(_, it)| it.name.as_str()).collect();
        self.entries
            .iter()
            .filter(|(_, entry)| match entry {
                Entry::Event(it) => {
                    assets.contains(it.asset.as_str())
                        || matches!(&it.what, EventKind::Move { to } if to == handle)
                }
                _ => entry.cluster() == Some(handle),
            })
            .map(|(id, entry)| (*id, entry))
            .collect()
    }

    /// The entries that the months of a cluster follow from, and no others: those that are its own, and assets that
    /// are in it at some time with all that happened to them, wherever.
    #[must_use]
    pub fn behind(&self, handle: &str) -> Self {
        let moved_in: BTreeSet<&str> = self
            .entries
            .values()
            .filter_map(|entry| match entry {
                Entry::Event(Event { asset, what: EventKind::Move { to }, .. }) if to == handle => {
                    Some(asset.as_str())
                }
                _ => None,
            })
            .collect();
        let is_here = |asset: &Asset| asset.cluster == handle || moved_in.contains(asset.name.as_str());
        let assets: BTreeSet<&str> =
            self.assets().filter(|(_, asset)| is_here(asset)).map(|(_, asset)| asset.name.as_str()).collect();
        let is_behind = |entry: &Entry| match entry {
            Entry::Asset(it) => is_here(it),
            Entry::Event(it) => assets.contains(it.asset.as_str()),
            _ => entry.cluster() == Some(handle),
        };
        let behind = self.entries.iter().filter(|(_, entry)| is_behind(entry));
        Self { entries: behind.map(|(id, entry)| (*id, entry.clone())).collect() }
    }
}
