//! The register: every entry, and what follows from several of them together. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::entry::{Asset, Cluster, Entry, Event, EventKind, Shares};
use crate::period::BillingMonth;

/// Everything that was written down, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Register {
    pub entries: BTreeMap<i64, Entry>,
}

/// An entry as it was and as it will be; `None` where there is none. What a change is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub id: i64,
    pub before: Option<Entry>,
    pub after: Option<Entry>,
}

/// Units of an asset in one cluster, from a day to a day: those to which the same has happened all along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay<'a> {
    /// From 1, in their order; at least one.
    pub units: Arc<[u32]>,
    pub cluster: &'a str,
    pub from: NaiveDate,
    /// The day after the last, where that is known.
    pub until: Option<NaiveDate>,
}

/// How a unit left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving<'a> {
    pub event_id: i64,
    pub unit: u32,
    /// Where it was.
    pub cluster: &'a str,
    pub day: NaiveDate,
    pub what: &'a EventKind,
}

/// Where the units of an asset have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts<'a> {
    pub stays: Vec<Stay<'a>>,
    pub leavings: Vec<Leaving<'a>>,
}

impl Edit {
    /// What it is about.
    pub fn title(&self) -> String {
        self.after.as_ref().or(self.before.as_ref()).map(Entry::title).unwrap_or_default()
    }

    /// The same backwards.
    #[must_use]
    pub fn undone(self) -> Self {
        Self { id: self.id, before: self.after, after: self.before }
    }
}

impl Register {
    /// With these edits made.
    #[must_use]
    pub fn edited(&self, edits: &[Edit]) -> Self {
        let mut register = self.clone();
        for edit in edits {
            match &edit.after {
                Some(entry) => register.entries.insert(edit.id, entry.clone()),
                None => register.entries.remove(&edit.id),
            };
        }
        register
    }

    /// What of these edits is not as it was when they were made.
    pub fn overtaken(&self, edits: &[Edit]) -> Vec<String> {
        let is_overtaken = |edit: &&Edit| self.entries.get(&edit.id) != edit.before.as_ref();
        edits.iter().filter(is_overtaken).map(Edit::title).collect()
    }

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
        self.clusters().into_iter().find(|cluster| cluster.handle == handle)
    }

    /// How a cluster's hours are used in a month: as the last entry for it or for a month before says, or else as the
    /// cluster's own.
    pub fn shares(&self, cluster: &Cluster, month: BillingMonth) -> Shares {
        let said = self.entries.values().filter_map(|entry| match entry {
            Entry::Utilization(it) if it.cluster == cluster.handle && it.first <= month => Some(it),
            _ => None,
        });
        match said.max_by_key(|it| it.first) {
            Some(it) => Shares { downtime: it.downtime, utilization: it.utilization },
            None => Shares { downtime: cluster.downtime, utilization: cluster.utilization },
        }
    }

    /// With their numbers, in the order they were entered.
    pub fn assets(&self) -> impl Iterator<Item = (i64, &Asset)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Asset(it) => Some((*id, it)),
            _ => None,
        })
    }

    /// What happened to an asset, the earliest first.
    pub fn events_of(&self, asset: &str) -> Vec<(i64, &Event)> {
        let mut events: Vec<(i64, &Event)> = self
            .entries
            .iter()
            .filter_map(|(id, entry)| match entry {
                Entry::Event(it) if it.asset == asset => Some((*id, it)),
                _ => None,
            })
            .collect();
        events.sort_by_key(|(id, event)| (event.day, *id));
        events
    }

    /// Where the units of an asset have been, and how they left.
    pub fn whereabouts<'a>(&'a self, asset: &'a Asset) -> Whereabouts<'a> {
        let mut found = Whereabouts::default();
        let events = self.events_of(&asset.name);
        for units in alike(asset.count, &events) {
            // Of a group all are meant or none.
            let is_meant = |event: &Event| {
                event.units.is_empty() || units.first().is_some_and(|it| event.units.contains(it))
            };
            let (cluster, from) = (asset.cluster.as_str(), asset.in_service);
            let mut now = Stay { units: Arc::clone(&units), cluster, from, until: None };
            let mut has_left = false;
            for (event_id, event) in events.iter().filter(|(_, event)| is_meant(event)) {
                found.stays.push(Stay { until: Some(event.day), ..now.clone() });
                match &event.what {
                    EventKind::Move { to } => now = Stay { cluster: to, from: event.day, ..now },
                    what => {
                        has_left = true;
                        let (cluster, day) = (now.cluster, event.day);
                        found.leavings.extend(units.iter().map(|unit| Leaving {
                            event_id: *event_id,
                            unit: *unit,
                            cluster,
                            day,
                            what,
                        }));
                        break;
                    }
                }
            }
            if !has_left {
                found.stays.push(now);
            }
        }
        found.leavings.sort_by_key(|leaving| leaving.unit);
        if let Some(day) = asset.given_back() {
            for stay in &mut found.stays {
                stay.until = Some(stay.until.map_or(day, |until| until.min(day)));
            }
        }
        found.stays.retain(|stay| stay.until.is_none_or(|until| stay.from < until));
        found
    }

    /// How many units of an asset are in a cluster on a day.
    pub fn units_in(&self, asset: &Asset, cluster: &str, day: NaiveDate) -> u32 {
        let stays = self.whereabouts(asset).stays;
        stays.iter().filter(|stay| stay.cluster == cluster && stay.is_on(day)).map(Stay::count).sum()
    }

    /// From the month in which the first thing of a cluster begins.
    pub fn first_month(&self, cluster: &str) -> Option<BillingMonth> {
        self.cluster(cluster).map(|cluster| BillingMonth::of(cluster.since))
    }

    /// Whether an asset was entered for a cluster.
    pub fn is_of(&self, asset: &str, cluster: &str) -> bool {
        self.assets().any(|(_, it)| it.name == asset && it.cluster == cluster)
    }

    /// The entries that are a cluster's, with their numbers. Assets count where they are entered, and their events
    /// with them.
    pub fn of_cluster(&self, handle: &str) -> Vec<(i64, &Entry)> {
        self.entries
            .iter()
            .filter(|(_, entry)| match entry {
                Entry::Event(it) => {
                    self.is_of(&it.asset, handle)
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

/// The units of an asset, those together to which the same has happened.
fn alike(count: u32, events: &[(i64, &Event)]) -> Vec<Arc<[u32]>> {
    let mut groups: Vec<Vec<u32>> = vec![(1..=count).collect()];
    for (_, event) in events {
        let named: BTreeSet<u32> = event.units.iter().copied().collect();
        if !named.is_empty() {
            let parted = groups.into_iter().flat_map(|units| {
                let (meant, others): (Vec<u32>, Vec<u32>) =
                    units.into_iter().partition(|unit| named.contains(unit));
                [meant, others]
            });
            groups = parted.filter(|units| !units.is_empty()).collect();
        }
    }
    groups.retain(|units| !units.is_empty());
    groups.into_iter().map(Arc::from).collect()
}

impl Stay<'_> {
    /// How many units.
    pub fn count(&self) -> u32 {
        // An asset counts its units by such a number.
        self.units.len() as u32
    }

    pub fn is_on(&self, day: NaiveDate) -> bool {
        self.from <= day && self.until.is_none_or(|until| day < until)
    }
}
