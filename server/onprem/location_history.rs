//! Where the units of assets have been, by what happened to them. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::NaiveDate;

use super::entry::{Asset, Event, EventKind};

/// What happened to each asset, looked up once for all of them.
#[derive(Clone, Debug)]
pub struct Events<'a>(BTreeMap<&'a str, Vec<(i64, &'a Event)>>);

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
pub struct LocationHistory<'a> {
    pub stays: Vec<Stay<'a>>,
    pub leavings: Vec<Leaving<'a>>,
}

impl<'a> LocationHistory<'a> {
    /// The clusters that pay for an asset or have had units of it.
    pub fn clusters(&self, asset: &'a Asset) -> BTreeSet<&'a str> {
        let been = self.stays.iter().map(|stay| stay.cluster);
        been.chain(self.leavings.iter().map(|leaving| leaving.cluster))
            .chain([asset.cluster.as_str()])
            .collect()
    }
}

impl<'a> Events<'a> {
    pub(super) fn new(events: impl Iterator<Item = (i64, &'a Event)>) -> Self {
        let mut by_asset: BTreeMap<&str, Vec<(i64, &Event)>> = BTreeMap::new();
        for (id, event) in events {
            by_asset.entry(&event.asset).or_default().push((id, event));
        }
        for of_asset in by_asset.values_mut() {
            of_asset.sort_by_key(|(id, event)| (event.day, *id));
        }
        Self(by_asset)
    }

    /// What happened to an asset, the earliest first.
    pub fn of(&self, asset: &str) -> &[(i64, &'a Event)] {
        self.0.get(asset).map_or(&[], Vec::as_slice)
    }

    /// Where the units of an asset have been, and how they left.
    pub fn location_history<'b>(&self, asset: &'b Asset) -> LocationHistory<'b>
    where
        'a: 'b,
    {
        let mut found = LocationHistory::default();
        let events = self.of(&asset.name);
        for units in with_same_events(asset.count, events) {
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
        let stays = self.location_history(asset).stays;
        stays.iter().filter(|stay| stay.cluster == cluster && stay.is_on(day)).map(Stay::count).sum()
    }
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

/// The units of an asset, those together to which the same has happened.
fn with_same_events(count: u32, events: &[(i64, &Event)]) -> Vec<Arc<[u32]>> {
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
