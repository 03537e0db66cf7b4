//! What is wrong with an asset register: what its entries say of each other. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use chrono::NaiveDate;

use super::asset_register::AssetRegister;
use super::bill_file::counted;
use super::entry::{Asset, Cluster, Entry, Event, EventKind, Paid, Span, Staff, StaffHours};
use super::location_history::Leaving;
use crate::accelerator::Accelerators;
use crate::changes::Entry as _;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// What stands in addresses where a cluster's handle does.
const TAKEN: [&str; 2] = ["claims", "new"];

/// Something that cannot be, with the entry it is found at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Problem {
    /// The entry.
    pub id: i64,
    /// What a person calls it.
    pub what: String,
    pub why: String,
}

/// Everything that is wrong with an asset register; a sound one has none.
pub fn problems(asset_register: &AssetRegister) -> Vec<Problem> {
    let mut found = Found { known: Known::new(asset_register), problems: Vec::new() };
    found.doubles(asset_register);
    found.units(asset_register);
    for (id, entry) in &asset_register.entries {
        found.cluster_of(*id, entry);
        match entry {
            Entry::Cluster(it) if TAKEN.contains(&it.handle.as_str()) => {
                let why = format!("handle “{}” is reserved: enter a longer one", it.handle);
                found.say(*id, entry, why);
            }
            Entry::Asset(it) => found.asset(*id, entry, it),
            Entry::Event(it) => found.event(*id, entry, it),
            Entry::Tariff(it) => found.overlap(*id, entry, &it.cluster),
            Entry::Colocation(it) => found.overlap(*id, entry, &it.cluster),
            Entry::Staff(it) => found.share(*id, entry, it),
            Entry::StaffHours(it) => found.hours(*id, entry, it),
            _ => {}
        }
    }
    found.problems
}

/// What entries are held against, looked up once: an asset register may have thousands.
struct Known<'a> {
    clusters: BTreeMap<&'a str, &'a Cluster>,
    assets: BTreeMap<&'a str, (i64, &'a Asset)>,
    /// How units left, by asset.
    leavings: BTreeMap<&'a str, BTreeMap<u32, Leaving<'a>>>,
    /// The shares of a role in all clusters together.
    shares: BTreeMap<String, SumByMonth>,
    /// How many entries charge a role of a cluster by its share.
    charged: BTreeMap<(&'a str, String), SumByMonth>,
    /// Tariffs and contracts of colocation of a cluster, as far as they were looked at.
    prices: BTreeMap<&'a str, Vec<&'a Entry>>,
}

impl<'a> Known<'a> {
    fn new(asset_register: &'a AssetRegister) -> Self {
        let mut known = Self {
            clusters: BTreeMap::new(),
            assets: BTreeMap::new(),
            leavings: BTreeMap::new(),
            shares: BTreeMap::new(),
            charged: BTreeMap::new(),
            prices: BTreeMap::new(),
        };
        for (id, entry) in &asset_register.entries {
            match entry {
                Entry::Cluster(it) => {
                    known.clusters.entry(&it.handle).or_insert(it);
                }
                Entry::Asset(it) => {
                    known.assets.entry(&it.name).or_insert((*id, it));
                }
                Entry::Staff(it) => {
                    let role = it.role.to_ascii_lowercase();
                    known.shares.entry(role.clone()).or_default().add(it.months, it.share);
                    known.charged.entry((&it.cluster, role)).or_default().add(it.months, Decimal::from(1));
                }
                _ => {}
            }
        }
        let events = asset_register.events();
        for (_, asset) in known.assets.values() {
            if !events.of(&asset.name).is_empty() {
                let leavings = events.location_history(asset).leavings;
                let by_unit = leavings.into_iter().map(|leaving| (leaving.unit, leaving)).collect();
                known.leavings.insert(&asset.name, by_unit);
            }
        }
        known
    }
}

/// What is added up over months, each from the first to the last.
#[derive(Default)]
struct SumByMonth(BTreeMap<BillingMonth, Decimal>);

impl SumByMonth {
    fn add(&mut self, months: Span, amount: Decimal) {
        let ends = months.last.map(BillingMonth::next);
        if ends.is_some_and(|ends| ends <= months.first) {
            return;
        }
        // From each of its months on holds what is written there.
        for month in [Some(months.first), ends].into_iter().flatten() {
            let so_far = self.at(month);
            self.0.entry(month).or_insert(so_far);
        }
        let until = ends.map_or(Bound::Unbounded, Bound::Excluded);
        for (_, sum) in self.0.range_mut((Bound::Included(months.first), until)) {
            *sum += amount;
        }
    }

    fn at(&self, month: BillingMonth) -> Decimal {
        self.0.range(..=month).next_back().map_or(Decimal::ZERO, |(_, sum)| *sum)
    }
}

struct Found<'a> {
    known: Known<'a>,
    problems: Vec<Problem>,
}

impl<'a> Found<'a> {
    fn say(&mut self, id: i64, entry: &Entry, why: impl Into<String>) {
        self.problems.push(Problem { id, what: entry.title(), why: why.into() });
    }

    /// Names that must be one thing's alone.
    fn doubles(&mut self, asset_register: &AssetRegister) {
        let mut known: BTreeMap<String, i64> = BTreeMap::new();
        for (id, entry) in &asset_register.entries {
            let name = match entry {
                Entry::Cluster(it) => format!("cluster {}", it.handle),
                Entry::Asset(it) => format!("asset {}", it.name),
                Entry::Meter(it) => format!("meter {}", it.name),
                Entry::Utilization(it) => format!("utilization {} {}", it.cluster, it.first),
                Entry::Pue(it) => format!("PUE {} {}", it.cluster, it.first),
                Entry::StaffHours(it) => format!("hours {} {} {}", it.cluster, it.role, it.month),
                _ => continue,
            };
            if let Some(other) = known.insert(name, *id) {
                let why = match entry {
                    Entry::Cluster(_) => "there is another cluster with this handle",
                    Entry::Asset(_) => "there is another asset of this name: bills distinguish units by it",
                    Entry::Meter(_) => {
                        "there is another meter of this name: readings are distinguished by it"
                    }
                    Entry::Utilization(_) => "there is another utilization from this month on",
                    Entry::Pue(_) => "there is another PUE from this month on",
                    _ => "there are hours of this role and month already",
                };
                self.say((*id).max(other), entry, why);
            }
        }
    }

    /// Bills distinguish machines by the names of units: `node-03` may be the third of one asset, or an asset itself. Two
    /// assets of several units each have no unit in common, since their names differ.
    fn units(&mut self, asset_register: &AssetRegister) {
        let mut described: BTreeSet<i64> = BTreeSet::new();
        for (id, alone) in asset_register.assets().filter(|(_, asset)| asset.count == 1) {
            let Some((name, number)) = alone.name.rsplit_once('-') else { continue };
            let Some((other, several)) = self.known.assets.get(name).filter(|(_, it)| it.count > 1) else {
                continue;
            };
            let is_unit = number.parse().is_ok_and(|number: u32| {
                (1..=several.count).contains(&number) && several.unit(number) == alone.name
            });
            // Of the two the one that came later is shown, and once.
            let later = id.max(*other);
            if let Some(entry) =
                asset_register.entries.get(&later).filter(|_| is_unit && described.insert(later))
            {
                let why = format!(
                    "another asset has a unit “{}” as well: bills distinguish machines by it",
                    alone.name
                );
                self.say(later, entry, why);
            }
        }
    }

    /// The cluster must be there, and things begin no earlier than it.
    fn cluster_of(&mut self, id: i64, entry: &Entry) {
        let Some(handle) = entry.cluster() else { return };
        let Some(cluster) = self.known.clusters.get(handle) else {
            self.say(id, entry, format!("there is no cluster “{handle}”"));
            return;
        };
        let since = cluster.since;
        let begins = match entry {
            Entry::Asset(it) => it.in_service,
            Entry::Colocation(it) => end_of(it.months.first),
            Entry::Staff(it) => end_of(it.months.first),
            Entry::StaffHours(it) => end_of(it.month),
            Entry::Cost(it) => end_of(it.months.first),
            Entry::Tariff(it) => end_of(it.months.first),
            Entry::Utilization(it) => end_of(it.first),
            Entry::Pue(it) => end_of(it.first),
            _ => return,
        };
        if begins < since {
            self.say(id, entry, format!("it begins before the cluster does, on {since}"));
        }
    }

    fn asset(&mut self, id: i64, entry: &Entry, it: &Asset) {
        if it.bears_accelerators() {
            let expected = Accelerators::fraction(it.accelerators.into(), 1);
            if counted(it) != expected {
                let why = format!(
                    "“{}” is not recognized as an accelerator: enter a name such as H100 SXM or MI300X",
                    it.accelerator
                );
                self.say(id, entry, why);
            }
        }
        if it.idle_kw > it.load_kw {
            self.say(id, entry, "idle power is above load power");
        }
        if !it.rated_kw.is_zero() && it.load_kw > it.rated_kw {
            self.say(id, entry, "load power is above rated power");
        }
        let cluster = self.known.clusters.get(it.cluster.as_str());
        let rack = cluster.map(|cluster| cluster.rack_kw).unwrap_or_default();
        if it.bears_accelerators() && !rack.is_zero() && it.rated_kw > rack {
            let why = format!(
                "one unit is rated for {} kW, but a rack of the cluster supplies {rack}",
                it.rated_kw
            );
            self.say(id, entry, why);
        }
    }

    fn event(&mut self, id: i64, entry: &Entry, it: &Event) {
        let Some((_, asset)) = self.known.assets.get(it.asset.as_str()).copied() else {
            self.say(id, entry, format!("there is no asset “{}”", it.asset));
            return;
        };
        if it.day < asset.in_service {
            self.say(id, entry, format!("the asset goes into service later, on {}", asset.in_service));
        }
        if let Some(unit) = it.units.iter().find(|unit| **unit > asset.count) {
            self.say(id, entry, format!("there is no unit {unit}: the asset has {}", asset.count));
        }
        match &it.what {
            EventKind::Move { to } => match self.known.clusters.get(to.as_str()) {
                None => self.say(id, entry, format!("there is no cluster “{to}”")),
                Some(cluster) if it.day < cluster.since => {
                    self.say(id, entry, format!("that cluster begins later, on {}", cluster.since));
                }
                Some(_) => {}
            },
            _ if matches!(asset.paid, Paid::Leased { .. }) => {
                self.say(id, entry, "leased hardware cannot be sold or written off: shorten the lease");
            }
            _ => {}
        }
        // An event of “all that are there” is of the others.
        let leavings = self.known.leavings.get(it.asset.as_str());
        let left_before = it
            .units
            .iter()
            .filter_map(|unit| leavings?.get(unit))
            .find(|leaving| leaving.event_id != id && (leaving.day, leaving.event_id) < (it.day, id));
        if let Some(leaving) = left_before {
            let why = format!("unit {} left on {} already", leaving.unit, leaving.day);
            self.say(id, entry, why);
        }
    }

    /// One tariff and one contract of colocation of a name at a time. A cluster has a handful of them.
    fn overlap(&mut self, id: i64, entry: &'a Entry, cluster: &'a str) {
        let before = self.known.prices.entry(cluster).or_default();
        let why = before.iter().find_map(|other| why_not_both(entry, other));
        before.push(entry);
        if let Some(why) = why {
            self.say(id, entry, why);
        }
    }

    /// People are charged by their share or by their hours.
    fn hours(&mut self, id: i64, entry: &Entry, it: &StaffHours) {
        let charged = self.known.charged.get(&(it.cluster.as_str(), it.role.to_ascii_lowercase()));
        if charged.is_some_and(|charged| !charged.at(it.month).is_zero()) {
            self.say(
                id,
                entry,
                "the role has full-time equivalents in this month: enter those or hours, not both",
            );
        }
    }

    /// The shares of a role in all clusters.
    fn share(&mut self, id: i64, entry: &Entry, it: &Staff) {
        // The sum can be largest only where something begins.
        let month = it.months.first;
        let shares = self.known.shares.get(&it.role.to_ascii_lowercase());
        let sum = shares.map(|shares| shares.at(month)).unwrap_or_default();
        if sum > Decimal::from(1) {
            let why = format!(
                "in {month} the shares of this role total {}%, more than 100%",
                sum.times(100).normalize()
            );
            self.say(id, entry, why);
        }
    }
}

/// Why two prices of one cluster cannot hold both.
fn why_not_both(entry: &Entry, other: &Entry) -> Option<String> {
    let overlap = |a: Span, b: Span| {
        a.overlaps(b).then(|| format!("its months overlap with those of {}: end one of them", other.title()))
    };
    match (entry, other) {
        (Entry::Tariff(a), Entry::Tariff(b)) => overlap(a.months, b.months),
        (Entry::Colocation(a), Entry::Colocation(b)) if a.name == b.name => overlap(a.months, b.months),
        (Entry::Colocation(a), Entry::Colocation(b))
            if a.includes_energy != b.includes_energy && a.months.overlaps(b.months) =>
        {
            Some(format!(
                "energy is in the price of one contract and not of the other ({}), at the same time: energy is charged \
                 for a cluster or it is not",
                other.title()
            ))
        }
        _ => None,
    }
}

/// Something of a month belongs to a cluster that begins in it.
fn end_of(month: BillingMonth) -> NaiveDate {
    month.next().first_day().pred_opt().unwrap_or(month.first_day())
}

#[cfg(test)]
mod tests {
    use super::super::sheet::Kind;
    use super::super::testing::{entry, of_a};
    use super::*;

    const B: (Kind, &str) = (Kind::Clusters, "handle=b|name=B|since=2026-03-10");
    const NODE: (Kind, &str) = (Kind::Assets, "");

    #[test]
    fn what_entries_say_of_each_other_must_fit() {
        type Case<'a> = (&'a [(Kind, &'a str)], &'a [&'a str]);
        let table: &[Case<'_>] = &[
            (&[NODE, B], &[]),
            (
                &[(Kind::Clusters, "name=Another")],
                &["cluster “Another”: there is another cluster with this handle"],
            ),
            (&[NODE, NODE], &["asset “node”: there is another asset of this name"]),
            (
                &[(Kind::Assets, "name=a|count=3"), (Kind::Assets, "name=a-02|count=1")],
                &["asset “a-02”: another asset has a unit “a-02” as well"],
            ),
            (
                &[
                    (Kind::Assets, "name=a-01|count=1"),
                    (Kind::Assets, "name=a-03|count=1"),
                    (Kind::Assets, "name=a|count=3"),
                ],
                &["asset “a”: another asset has a unit “a-01” as well"],
            ),
            (
                &[
                    (Kind::Assets, "name=a|count=3"),
                    (Kind::Assets, "name=a-3|count=1"),
                    (Kind::Assets, "name=a-04|count=1"),
                    (Kind::Assets, "name=a-02|count=2"),
                ],
                &[],
            ),
            (&[B, (Kind::Power, "cluster=b|first=2026-02|value=1.2")], &["before the cluster does"]),
            (
                &[(Kind::Meters, "name=m|place=it"), B, (Kind::Meters, "cluster=b|name=m|place=it")],
                &["another meter"],
            ),
            (&[(Kind::Power, "value=1.2"), (Kind::Power, "value=1.3")], &["another PUE from this month on"]),
            (&[(Kind::Power, "value=1.2"), (Kind::Power, "first=2026-02|value=1.3")], &[]),
            (
                &[(Kind::Utilization, ""), (Kind::Utilization, "utilization=70")],
                &["another utilization from this month on"],
            ),
            (&[(Kind::Utilization, ""), (Kind::Utilization, "first=2026-02")], &[]),
            (&[B, (Kind::Utilization, "cluster=b|first=2026-02")], &["before the cluster does"]),
            (&[B, (Kind::Utilization, "cluster=b|first=2026-03")], &[]),
            (
                &[(Kind::StaffHours, "hours=1|hourly_cost=1"), (Kind::StaffHours, "hours=2|hourly_cost=1")],
                &["hours of this role and month already"],
            ),
            (
                &[
                    (Kind::Staff, "role=ops"),
                    (Kind::StaffHours, "role=Ops|month=2026-02|hours=1|hourly_cost=1"),
                ],
                &["has full-time equivalents in this month"],
            ),
            (
                &[
                    (Kind::Colocation, "name=a|contracted_kw=1|price_per_kw=1|includes_energy=yes"),
                    (Kind::Colocation, "name=b|contracted_kw=1|price_per_kw=1|includes_energy=no"),
                ],
                &["energy is in the price of one contract and not of the other"],
            ),
            (
                &[(Kind::Assets, "accelerator=Data transfer")],
                &["“Data transfer” is not recognized as an accelerator"],
            ),
            (&[(Kind::Assets, "model=DGX H100, 30 TB SSD storage")], &[]),
            (&[(Kind::Assets, "cluster=c")], &["asset “node”: there is no cluster “c”"]),
            // Before the cluster.
            (&[(Kind::Assets, "in_service=2025-12-31")], &["before the cluster does, on 2026-01-01"]),
            (
                &[B, (Kind::Costs, "cluster=b|amount=1|first=2026-02")],
                &["before the cluster does, on 2026-03-10"],
            ),
            (&[B, (Kind::Costs, "cluster=b|amount=1|first=2026-03")], &[]),
            (&[B, (Kind::Staff, "cluster=b|first=2026-02")], &["before the cluster does"]),
            (
                &[B, (Kind::StaffHours, "cluster=b|month=2026-02|hours=1|hourly_cost=1")],
                &["before the cluster does"],
            ),
            (&[B, (Kind::Tariffs, "cluster=b|first=2026-02")], &["before the cluster does"]),
            (
                &[
                    B,
                    (
                        Kind::Colocation,
                        "cluster=b|first=2026-02|contracted_kw=1|price_per_kw=1|includes_energy=no",
                    ),
                ],
                &["before the cluster does"],
            ),
            (
                &[NODE, B, (Kind::Events, "asset=node|day=2026-03-09|what=move|to=b")],
                &["that cluster begins later"],
            ),
            // Draw.
            (&[(Kind::Assets, "idle_kw=3|load_kw=2")], &["idle power is above load power"]),
            (&[(Kind::Assets, "load_kw=3|rated_kw=2")], &["load power is above rated power"]),
            (&[(Kind::Assets, "load_kw=3|rated_kw=41")], &["a rack of the cluster supplies 40"]),
            // Events.
            (&[(Kind::Events, "asset=x|day=2026-03-09|what=write-off")], &["there is no asset “x”"]),
            (
                &[NODE, (Kind::Events, "asset=node|day=2025-12-31|what=write-off")],
                &["goes into service later"],
            ),
            (
                &[NODE, (Kind::Events, "asset=node|units=2-3|day=2026-03-09|what=write-off")],
                &["there is no unit 3"],
            ),
            (
                &[NODE, (Kind::Events, "asset=node|day=2026-03-09|what=move|to=c")],
                &["there is no cluster “c”"],
            ),
            (
                &[
                    (Kind::Assets, "paid=leased|monthly=1|term_months=3"),
                    (Kind::Events, "asset=node|day=2026-03-09|what=write-off"),
                ],
                &["shorten the lease"],
            ),
            (
                &[
                    NODE,
                    (Kind::Events, "asset=node|units=2|day=2026-03-09|what=write-off"),
                    (Kind::Events, "asset=node|units=1-2|day=2026-03-10|what=disposal"),
                ],
                &["unit 2 left on 2026-03-09 already"],
            ),
            (
                &[
                    NODE,
                    (Kind::Events, "asset=node|units=2|day=2026-03-09|what=write-off"),
                    (Kind::Events, "asset=node|day=2026-03-10|what=disposal"),
                ],
                &[],
            ),
            // One price at a time.
            (
                &[(Kind::Tariffs, "name=old"), (Kind::Tariffs, "name=new|first=2026-06")],
                &["tariff “new”: its months overlap with those of tariff “old”: end one of them"],
            ),
            (&[(Kind::Tariffs, "name=old|last=2026-05"), (Kind::Tariffs, "name=new|first=2026-06")], &[]),
            (&[(Kind::Tariffs, ""), B, (Kind::Tariffs, "cluster=b|first=2026-03")], &[]),
            // The whole of a person.
            (
                &[(Kind::Staff, "share=60"), B, (Kind::Staff, "cluster=b|role=OPS|first=2026-03|share=40.5")],
                &["in 2026-03 the shares of this role total 100.5%"],
            ),
            (&[(Kind::Staff, "share=60"), B, (Kind::Staff, "cluster=b|first=2026-03|share=40")], &[]),
            (
                &[
                    (Kind::Staff, "share=60|last=2026-02"),
                    B,
                    (Kind::Staff, "cluster=b|first=2026-03|share=100"),
                ],
                &[],
            ),
        ];
        for (entries, expected) in table {
            let asset_register = of_a(entries.iter().map(|(kind, pairs)| entry(*kind, pairs)));
            let found: Vec<String> = problems(&asset_register).iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), expected.len(), "{entries:?}: {found:?}");
            for (found, expected) in found.iter().zip(*expected) {
                assert!(found.contains(expected), "{entries:?}: {found}");
            }
        }
    }
}
