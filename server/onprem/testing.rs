//! Entries in a few words, for tests: `cells|of a|row=1`, over what a new form begins with.

use std::collections::BTreeMap;

use super::asset_register::AssetRegister;
use super::entry::Entry;
use super::sheet::{Kind, RefusedCell, read};
use crate::period::BillingMonth;

const CLUSTER: &str = "handle=a|name=A|site=fra|since=2026-01-01|downtime=0|utilization=100";
const ASSET: &str = "cluster=a|name=node|accelerator=H100 SXM|accelerators=8|count=2|price=36500\
                     |in_service=2026-01-01|life_months=12";
const OF_A: &str = "cluster=a|name=x|role=ops|first=2026-01|month=2026-01";

pub fn month(text: &str) -> BillingMonth {
    text.parse().unwrap()
}

/// The texts of an entry: those named over those that are usual in tests.
pub fn texts(kind: Kind, pairs: &str) -> BTreeMap<String, String> {
    let usual = match kind {
        Kind::Clusters => CLUSTER,
        Kind::Assets => ASSET,
        _ => OF_A,
    };
    let fields = kind.fields();
    let mut texts: BTreeMap<String, String> =
        fields.iter().map(|field| (field.name.to_owned(), field.default.to_owned())).collect();
    for (name, value) in usual.split('|').chain(pairs.split('|')).filter_map(|pair| pair.split_once('=')) {
        texts.insert(name.to_owned(), value.to_owned());
    }
    texts
}

pub fn try_entry(kind: Kind, pairs: &str) -> Result<Entry, Vec<RefusedCell>> {
    read(kind, &texts(kind, pairs))
}

pub fn entry(kind: Kind, pairs: &str) -> Entry {
    try_entry(kind, pairs).unwrap_or_else(|refused| panic!("{pairs}: {refused:?}"))
}

/// An asset register of these, numbered from 1.
pub fn asset_register(entries: impl IntoIterator<Item = Entry>) -> AssetRegister {
    AssetRegister { entries: (1..).zip(entries).collect() }
}

/// Cluster `a` alone with these.
pub fn of_a(entries: impl IntoIterator<Item = Entry>) -> AssetRegister {
    asset_register(std::iter::once(entry(Kind::Clusters, "")).chain(entries))
}
