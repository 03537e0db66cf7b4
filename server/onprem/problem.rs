//! What is wrong with a register: what its entries say of each other. Pure.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::bill::counted;
use super::entry::{Asset, Entry, EventKind, Paid, Span, Staff, StaffHours};
use super::register::Register;
use crate::accelerator::Accelerators;
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

/// Everything that is wrong with a register; a sound one has none.
pub fn problems(register: &Register) -> Vec<Problem> {
    let mut found = Found { register, problems: Vec::new() };
    found.doubles();
    found.units();
    for (id, entry) in &register.entries {
        found.cluster_of(*id, entry);
        match entry {
            Entry::Cluster(it) if TAKEN.contains(&it.handle.as_str()) => {
                let why = format!("“{}” is the address of another page: give it a longer handle", it.handle);
                found.say(*id, entry, why);
            }
            Entry::Asset(it) => found.asset(*id, entry, it),
            Entry::Event(_) => found.event(*id, entry),
            Entry::Tariff(_) | Entry::Colocation(_) => found.overlap(*id, entry),
            Entry::Staff(it) => found.share(*id, entry, it),
            Entry::StaffHours(it) => found.hours(*id, entry, it),
            _ => {}
        }
    }
    found.problems
}

struct Found<'a> {
    register: &'a Register,
    problems: Vec<Problem>,
}

impl Found<'_> {
    fn say(&mut self, id: i64, entry: &Entry, why: impl Into<String>) {
        self.problems.push(Problem { id, what: entry.title(), why: why.into() });
    }

    /// Names that must be one thing's alone.
    fn doubles(&mut self) {
        let mut known: BTreeMap<String, i64> = BTreeMap::new();
        for (id, entry) in &self.register.entries {
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
                    Entry::Asset(_) => "there is another asset of this name: bills tell units apart by it",
                    Entry::Meter(_) => "there is another meter of this name: readings are told apart by it",
                    Entry::Utilization(_) => "there is another utilization from this month on",
                    Entry::Pue(_) => "there is another PUE from this month on",
                    _ => "there are hours of this role and month already",
                };
                let entry = entry.clone();
                self.say((*id).max(other), &entry, why);
            }
        }
    }

    /// Bills tell machines apart by the names of units: `node-03` may be the third of one asset, or an asset itself.
    fn units(&mut self) {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        for (id, asset) in self.register.assets() {
            let units = || (1..=asset.count).map(|number| asset.unit(number));
            let taken = units().find(|unit| known.get(unit).is_some_and(|other| *other != asset.name));
            known.extend(units().map(|unit| (unit, asset.name.as_str())));
            if let (Some(unit), Some(entry)) = (taken, self.register.entries.get(&id)) {
                let why =
                    format!("another asset has a unit “{unit}” as well: bills tell machines apart by it");
                self.problems.push(Problem { id, what: entry.title(), why });
            }
        }
    }

    /// The cluster must be there, and things begin no earlier than it.
    fn cluster_of(&mut self, id: i64, entry: &Entry) {
        let Some(handle) = entry.cluster() else { return };
        let Some(cluster) = self.register.cluster(handle) else {
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
                    "“{}” is not recognized as an accelerator: write it as the catalog has it, as H100 SXM or MI300X",
                    it.accelerator
                );
                self.say(id, entry, why);
            }
        }
        if it.idle_kw > it.load_kw {
            self.say(id, entry, "it draws more at rest than at work");
        }
        if !it.rated_kw.is_zero() && it.load_kw > it.rated_kw {
            self.say(id, entry, "it draws more at work than it is rated for");
        }
        let rack = self.register.cluster(&it.cluster).map(|cluster| cluster.rack_kw).unwrap_or_default();
        if it.bears_accelerators() && !rack.is_zero() && it.rated_kw > rack {
            let why =
                format!("one unit is rated for {} kW, and a rack of the cluster bears {rack}", it.rated_kw);
            self.say(id, entry, why);
        }
    }

    fn event(&mut self, id: i64, entry: &Entry) {
        let Entry::Event(it) = entry else { return };
        let Some((_, asset)) = self.register.assets().find(|(_, asset)| asset.name == it.asset) else {
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
            EventKind::Move { to } => match self.register.cluster(to) {
                None => self.say(id, entry, format!("there is no cluster “{to}”")),
                Some(cluster) if it.day < cluster.since => {
                    self.say(id, entry, format!("that cluster begins later, on {}", cluster.since));
                }
                Some(_) => {}
            },
            _ if matches!(asset.paid, Paid::Leased { .. }) => {
                self.say(
                    id,
                    entry,
                    "what is leased is not sold or written off: shorten the term of the lease",
                );
            }
            _ => {}
        }
        let whereabouts = self.register.whereabouts(asset);
        let left_before = whereabouts.leavings.iter().find(|leaving| {
            let is_meant = it.units.is_empty() || it.units.contains(&leaving.unit);
            is_meant && leaving.event_id != id && (leaving.day, leaving.event_id) < (it.day, id)
        });
        // An event of “all that are there” is of the others.
        if let Some(leaving) = left_before.filter(|_| !it.units.is_empty()) {
            let why = format!("unit {} left on {} already", leaving.unit, leaving.day);
            self.say(id, entry, why);
        }
    }

    /// One tariff and one contract of colocation of a name at a time.
    fn overlap(&mut self, id: i64, entry: &Entry) {
        for (other_id, other) in self.register.entries.range(..id) {
            let both = match (entry, other) {
                (Entry::Tariff(a), Entry::Tariff(b)) if a.cluster == b.cluster => (a.months, b.months),
                (Entry::Colocation(a), Entry::Colocation(b))
                    if a.cluster == b.cluster
                        && (a.name == b.name || a.includes_energy != b.includes_energy) =>
                {
                    (a.months, b.months)
                }
                _ => continue,
            };
            if let (Entry::Colocation(a), Entry::Colocation(b)) = (entry, other)
                && a.name != b.name
                && both.0.overlaps(both.1)
            {
                let why = format!(
                    "energy is in the price of one contract and not of the other ({}), at the same time: energy is \
                     charged for a cluster or it is not",
                    other.title()
                );
                self.say(id, entry, why);
                return;
            }
            if *other_id != id && both.0.overlaps(both.1) {
                let why = format!("its months overlap with those of {}: end one of them", other.title());
                self.say(id, entry, why);
                return;
            }
        }
    }

    /// People are charged by their share or by their hours.
    fn hours(&mut self, id: i64, entry: &Entry, it: &StaffHours) {
        let is_charged = self.register.entries.values().any(|other| {
            matches!(other, Entry::Staff(role) if role.cluster == it.cluster
                && role.role.eq_ignore_ascii_case(&it.role) && role.months.contains(it.month))
        });
        if is_charged {
            self.say(
                id,
                entry,
                "the role is charged by its full-time equivalents in this month: one or the other",
            );
        }
    }

    /// The shares of a role in all clusters.
    fn share(&mut self, id: i64, entry: &Entry, it: &Staff) {
        let of_role = |entry: &Entry| match entry {
            Entry::Staff(other) if other.role.eq_ignore_ascii_case(&it.role) => {
                Some((other.months, other.share))
            }
            _ => None,
        };
        let shares: Vec<(Span, Decimal)> = self.register.entries.values().filter_map(of_role).collect();
        // The sum can be largest only where something begins.
        let month = it.months.first;
        let sum: Decimal =
            shares.iter().filter(|(months, _)| months.contains(month)).map(|(_, share)| *share).sum();
        if sum > Decimal::from(1) {
            let why = format!(
                "in {month} the shares of this role come to {} %, and there is no more than 100",
                sum.times(100).normalize()
            );
            self.say(id, entry, why);
        }
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
                &["another asset has a unit “a-02” as well"],
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
                &["by its full-time equivalents in this month"],
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
            (&[(Kind::Assets, "idle_kw=3|load_kw=2")], &["draws more at rest than at work"]),
            (&[(Kind::Assets, "load_kw=3|rated_kw=2")], &["draws more at work than it is rated for"]),
            (&[(Kind::Assets, "load_kw=3|rated_kw=41")], &["a rack of the cluster bears 40"]),
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
                &["shorten the term of the lease"],
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
                &["in 2026-03 the shares of this role come to 100.5 %"],
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
            let register = of_a(entries.iter().map(|(kind, pairs)| entry(*kind, pairs)));
            let found: Vec<String> = problems(&register).iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), expected.len(), "{entries:?}: {found:?}");
            for (found, expected) in found.iter().zip(*expected) {
                assert!(found.contains(expected), "{entries:?}: {found}");
            }
        }
    }
}
