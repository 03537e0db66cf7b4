//! Which members RunPod's records have, what they become, and what there is to say of those that a file has.

use super::is_divided;
use super::product::Product;
use crate::billing::header::{Columns, Header, absent, feeds_by, names_of, unknown};

/// Every member of a record, and which column of FOCUS it becomes; nothing of those that become none.
const COLUMNS: &[(&str, &str)] = &[
    ("time", "ChargePeriodStart, BillingPeriodStart"),
    ("amount", BILLED),
    ("timeBilledMs", "ConsumedQuantity"),
    ("diskSpaceBilledGb", ""),
    ("highPerformanceStorageAmount", OF_ITS_OWN),
    ("highPerformanceStorageDiskSpaceBilledGb", ""),
    ("gpuTypeId", "instance type"),
    ("podId", "ResourceId"),
    ("endpointId", "ResourceId"),
    ("serverlessId", "ResourceId"),
    ("networkVolumeId", "ResourceId"),
    ("clusterId", "ResourceId"),
    ("startTime", "ChargePeriodStart, BillingPeriodStart"),
    ("endTime", "ChargePeriodEnd"),
    ("totalAmount", BILLED),
    ("gpuAmount", OF_ITS_OWN),
    ("cpuAmount", OF_ITS_OWN),
    ("diskAmount", OF_ITS_OWN),
    ("feeAmount", OF_ITS_OWN),
    ("standardAmount", OF_ITS_OWN),
    ("highPerformanceAmount", OF_ITS_OWN),
    ("networkingAmount", OF_ITS_OWN),
    ("podGpuAmount", OF_ITS_OWN),
    ("podCpuAmount", OF_ITS_OWN),
    ("podDiskAmount", OF_ITS_OWN),
    ("serverlessGpuAmount", OF_ITS_OWN),
    ("serverlessCpuAmount", OF_ITS_OWN),
    ("serverlessDiskAmount", OF_ITS_OWN),
    ("serverlessFeeAmount", OF_ITS_OWN),
    ("storageStandardAmount", OF_ITS_OWN),
    ("storageHighPerformanceAmount", OF_ITS_OWN),
    ("endpointAmount", OF_ITS_OWN),
    ("clusterGpuAmount", OF_ITS_OWN),
    ("clusterDiskAmount", OF_ITS_OWN),
    ("clusterNetworkingAmount", OF_ITS_OWN),
];

const BILLED: &str = "BilledCost, EffectiveCost, ListCost, ContractedCost";
const OF_ITS_OWN: &str = "BilledCost of charges of their own";

/// Members that no other export has.
pub(super) const ITS_OWN: &[&str] = &[
    "timebilledms",
    "diskspacebilledgb",
    "gputypeid",
    "podid",
    "serverlessid",
    "networkvolumeid",
    "podgpuamount",
    "networkingamount",
];

const NO_LIST_PRICE: &str = "without list prices: list and contracted cost are the billed cost";
const ONE_GPU: &str =
    "without the number of GPUs of a pod: an hour counts as one GPU-hour, too little where pods have several";
const NO_GPU_TYPE: &str =
    "without GPU types: its hours are of GPUs that are not known; an export grouped by gpuTypeId names them";
const NO_HOURS: &str =
    "without hours: no GPU-hours are counted; exports of version 1 grouped by gpuTypeId state them";
const NO_HOURS_AT_ALL: &str = "without hours: no GPU-hours are counted";
const LIKE_PODS: &str = "read as Pods: exports of Serverless grouped by podId or gpuTypeId look the same, so group these by endpointId";
const ALL: &str =
    "the total of all products: it states the whole month, and takes the place of exports of single products";

pub(super) fn names() -> Vec<&'static str> {
    names_of(COLUMNS)
}

/// Which column of FOCUS a member becomes. `key` as [`Header::find`] wants it.
pub(super) fn feeds(key: &str) -> Option<&'static str> {
    feeds_by(COLUMNS.iter(), key)
}

pub(super) fn are_all_known(header: &Header) -> bool {
    unknown(header, COLUMNS).is_empty()
}

/// What the reader does not know, what it misses, and what is said of the file.
pub(super) fn columns(header: &Header) -> Columns {
    let product = Product::of(header);
    let optional: Vec<&str> = match (is_divided(header), product.is_timed()) {
        (true, _) => product.parts().iter().map(|part| part.member).collect(),
        (false, true) => vec!["timeBilledMs", "gpuTypeId"],
        (false, false) => Vec::new(),
    };
    let notes = std::iter::once(NO_LIST_PRICE).chain(notes(header, product));
    Columns {
        unknown: unknown(header, COLUMNS),
        absent: absent(header, &optional),
        notes: notes.map(str::to_owned).collect(),
        ..Columns::default()
    }
}

fn notes(header: &Header, product: Product) -> impl Iterator<Item = &'static str> {
    let is_total = product == Product::All;
    let hours = match product {
        Product::NetworkVolumes | Product::PublicEndpoints => None,
        Product::Clusters => Some(NO_HOURS_AT_ALL),
        _ if is_divided(header) => Some(NO_HOURS),
        _ if header.has("gputypeid") => Some(ONE_GPU),
        _ => Some(NO_GPU_TYPE),
    };
    let may_be_other = product == Product::Pods && !is_divided(header);
    [is_total.then_some(ALL), hours, may_be_other.then_some(LIKE_PODS)].into_iter().flatten()
}
