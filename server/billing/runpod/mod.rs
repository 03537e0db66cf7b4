//! RunPod's billing history, as its REST API answers it: version 1 (a list of `{time, amount, …}`) and version 2
//! (`{"records": [{startTime, endTime, totalAmount, …}], "metadata": { … }}`).
//!
//! | what | rule |
//! |---|---|
//! | account, currency | none is stated: one account a key ([`UNNAMED_ACCOUNT`]), US dollars |
//! | charge period | `startTime` to `endTime`; version 1 states the start alone, and [how long](bucket) follows from all rows |
//! | billing month | the month in which the bucket begins, in UTC; what ends in another one is said |
//! | billed cost | `amount`, `totalAmount`; divided into charges by `gpuAmount`, `diskAmount` and their like, whose rest is a charge of its own |
//! | effective, list, contracted cost | billed: no other is stated |
//! | quantity | `timeBilledMs` in hours, of pods and Serverless; version 2 states none |
//! | machine | `gpuTypeId`; hours without one are of a GPU that is not known, and found as such |
//! | pricing category | Standard: what was spot or under a savings plan is not stated |
//! | accumulation | each product is all of its kind, whatever it is grouped by; `/v2/billing` is all of the month |
//!
//! Both are from RunPod's documentation: "REST API", `openapi.json` of either version. What it leaves open is decided so:
//!
//! - `timeBilledMs` is "the total time billed". Nothing says how many GPUs a pod has, and published records of pods with eight
//!   have the time of the pod. So an hour counts as one GPU-hour, which is too little for pods with more, and said of the file.
//! - Serverless grouped by `podId` or `gpuTypeId` has the members of pods, and is taken for them.
//! - `highPerformanceStorageAmount` of a version 1 network volume stands beside `amount`, as `diskSpaceBilledGb` has one of its
//!   own beside it. Both count, and that is said.
//! - `diskSpaceBilledGb` is no quantity: by what time it is multiplied is not stated.
//! - Real answers of version 1 write times as `2026-04-06 15:00:00` and a member as `diskSpaceBilledGB`.

mod bucket;
mod columns;
mod metadata;
mod product;
mod reader;

use super::account_id::UNNAMED_ACCOUNT;
use super::header::{Columns, Header};
use super::row::ReadRow;
use super::{Accumulation, Format, Guide, Mandatory};
use product::Product;
use reader::Reader;

pub(super) struct RunPodBilling;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "RunPod";
const CURRENCY: &str = "USD";

const START: &[&str] = &["starttime", "time"];
const AMOUNT: &[&str] = &["totalamount", "amount"];

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "time or startTime", keys: START },
    Mandatory { name: "amount or totalAmount", keys: AMOUNT },
    Mandatory {
        name: "timeBilledMs, diskSpaceBilledGb or endTime",
        keys: &["endtime", "timebilledms", "diskspacebilledgb"],
    },
];

impl Format for RunPodBilling {
    fn name(&self) -> &'static str {
        "runpod-billing"
    }

    fn label(&self) -> &'static str {
        "RunPod billing history"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "RunPod",
            export: "Billing history (REST API)",
            steps: "Query /v1/billing/pods grouped by gpuTypeId, /v1/billing/endpoints grouped by endpointId and \
                    /v1/billing/networkvolumes for whole months by day, or /v2/billing/… of each product. Upload each answer as a \
                    file: they add up.",
            forms: "JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn recognizes(&self, header: &Header) -> bool {
        MANDATORY.iter().all(|column| header.has_any(column.keys)) && self.has_its_columns(header)
    }

    /// Times and amounts are in many files, so one of its own names has to be there; or nothing else, as in the records of
    /// public endpoints.
    fn has_its_columns(&self, header: &Header) -> bool {
        let is_plain_total = || ["starttime", "endtime", "totalamount"].iter().all(|key| header.has(key));
        header.has_any(columns::ITS_OWN) || is_plain_total() && columns::are_all_known(header)
    }

    fn list(&self) -> Option<&'static str> {
        Some("records")
    }

    fn names(&self) -> Vec<&'static str> {
        columns::names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![AMOUNT.to_vec(), vec!["highperformancestorageamount"]]
    }

    fn accumulation(&self, header: &Header) -> Accumulation {
        Product::of(header).accumulation()
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

/// Whether the records are of version 2 of the API, which divides its totals.
fn is_divided(header: &Header) -> bool {
    header.has("totalamount")
}
