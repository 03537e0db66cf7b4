//! What an answer of version 2 says of its records: how many there are, what they amount to, and which were asked for.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reader::noise;
use crate::billing::rows::Members;
use crate::money::Decimal;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    query: Option<&'a RawValue>,
    #[serde(borrow)]
    record_count: Option<&'a RawValue>,
    #[serde(borrow)]
    totals: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Totals<'a> {
    #[serde(borrow)]
    total_amount: &'a RawValue,
}

/// A sentence on all that there is to say, behind the last of so many records that were billed so much.
pub(super) fn said(members: &Members, records: u64, billed: Option<Decimal>) -> Option<String> {
    let metadata: Metadata<'_> = serde_json::from_str(members.get("metadata")?.get()).ok()?;
    let said = [count(&metadata, records), total(&metadata, billed), asked(&metadata), window(&metadata)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn count(metadata: &Metadata<'_>, records: u64) -> Option<String> {
    let stated: u64 = metadata.record_count?.get().parse().ok()?;
    (stated != records)
        .then(|| format!("metadata.recordCount is {stated}, and the file has {records} records"))
}

/// Totals are binary floats, whose last digits are noise.
fn total(metadata: &Metadata<'_>, billed: Option<Decimal>) -> Option<String> {
    let totals: Totals<'_> = serde_json::from_str(metadata.totals?.get()).ok()?;
    let stated = Decimal::parse(totals.total_amount.get().as_bytes()).ok()?;
    let billed = billed?;
    let is_other = stated.checked_sub(billed).ok()?.abs() >= noise();
    is_other.then(|| {
        format!("metadata.totals.totalAmount is {stated}, and the records that were read total {billed}")
    })
}

/// What of an account is not in the file, since it was not asked for.
fn asked(metadata: &Metadata<'_>) -> Option<String> {
    let query = query(metadata)?;
    let (name, value) = query.iter().find(|(name, _)| name.ends_with("Id"))?;
    let id: String = serde_json::from_str(value.get()).ok().filter(|id: &String| !id.is_empty())?;
    let id: String = id.chars().take(80).collect();
    Some(format!("the query asked for {name} {id} alone: other charges of the month are not in this file"))
}

fn window(metadata: &Metadata<'_>) -> Option<String> {
    let query = query(metadata)?;
    let text = |name: &str| -> Option<String> {
        let text: String = serde_json::from_str(query.get(name)?.get()).ok()?;
        Some(text.chars().take(40).collect())
    };
    let (start, end) = (text("startTime")?, text("endTime")?);
    Some(format!(
        "the records are of {start} to {end}: RunPod widens a query to whole buckets, of which the last may still be running"
    ))
}

fn query<'a>(metadata: &Metadata<'a>) -> Option<BTreeMap<String, &'a RawValue>> {
    serde_json::from_str(metadata.query?.get()).ok()
}
