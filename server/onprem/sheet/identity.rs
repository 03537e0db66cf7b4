//! What distinguishes entries of a kind: a row of a file is about the entry that has the same.

use super::super::entry::Entry;

/// Texts that no two entries of one kind share.
pub fn identity(entry: &Entry) -> Vec<String> {
    match entry {
        Entry::Cluster(it) => vec![it.handle.clone()],
        Entry::Asset(it) => vec![it.name.clone()],
        Entry::Event(it) => {
            let units = it.units.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            vec![it.asset.clone(), it.day.to_string(), it.what.name().to_owned(), units]
        }
        Entry::Meter(it) => vec![it.name.clone()],
        Entry::Utilization(it) => vec![it.cluster.clone(), it.first.to_string()],
        Entry::Pue(it) => vec![it.cluster.clone(), it.first.to_string()],
        Entry::Tariff(it) => vec![it.cluster.clone(), it.name.clone(), it.months.first.to_string()],
        Entry::Colocation(it) => vec![it.cluster.clone(), it.name.clone(), it.months.first.to_string()],
        Entry::Staff(it) => vec![it.cluster.clone(), it.role.clone(), it.months.first.to_string()],
        Entry::StaffHours(it) => vec![it.cluster.clone(), it.role.clone(), it.month.to_string()],
        Entry::Cost(it) => vec![it.cluster.clone(), it.name.clone(), it.months.first.to_string()],
    }
}
