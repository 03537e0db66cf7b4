//! Files that look like cost and are not, or are cost in a format that is not read yet: refused by the
//! name of what they are. Each by a few names that no format that is read has.

use std::borrow::Cow;

use serde::Deserialize;

use super::Refusal;
use super::header::Header;
use super::refusal::shown;

const FOCUS_COST: &str = "the FOCUS Cost and Usage dataset, which has ChargePeriodStart";
const HYPERSTACK_COSTS: &str = "Hyperstack's cost datapoints of each resource (/billing/billing/history/virtual-machine/{vm_id}/graph \
                                and its like), or a table with a column of dates, which a mapping reads";
const A_BILL: &str = "a billing export as CSV, JSON or Parquet";

/// Refuses JSON that is known to be no cost, by the keys at its beginning.
pub(super) fn json(start: &[u8]) -> Result<(), Refusal> {
    failed_answer(start)?;
    let text = String::from_utf8_lossy(start);
    let has = |keys: &[&str]| keys.iter().all(|key| text.contains(&format!("\"{key}\"")));
    let kind = JSON.iter().find(|kind| kind.keys.iter().any(|keys| has(keys)));
    kind.map_or(Ok(()), |kind| Err(Refusal::new(kind.found, kind.expected)))
}

/// Refuses the answer of an API that says why there is none, as Vast.ai's does.
fn failed_answer(start: &[u8]) -> Result<(), Refusal> {
    #[derive(Deserialize)]
    struct Failed<'a> {
        success: bool,
        #[serde(borrow)]
        msg: Cow<'a, str>,
    }
    match serde_json::from_slice::<Failed<'_>>(start) {
        Ok(Failed { success: false, msg }) => {
            let found = format!("the answer to a request that failed: {}", shown(msg.as_bytes()));
            Err(Refusal::new(found, "an answer with charges: correct the request and ask again"))
        }
        _ => Ok(()),
    }
}

/// Prometheus' text format.
pub(super) fn metrics() -> Refusal {
    Refusal::new("metrics in Prometheus' text format: usage, not cost", A_BILL)
}

/// Lines of `|`.
pub(super) fn bars() -> Refusal {
    Refusal::new(
        "columns separated by bars, as Slurm's sacct writes: usage of jobs, not cost",
        "sacct --parsable2 with its header, as of --format=JobID,JobIDRaw,Cluster,User,Account,State,Submit,Start,End,ElapsedRaw,AllocTRES,NodeList,JobName",
    )
}

/// The refusal of a header that is known to be no cost.
pub(super) fn by_header(header: &Header) -> Option<Refusal> {
    // Whatever else it holds, a file that says when each cost was incurred is cost.
    if any(header, &["chargeperiodstart", "lineitemusagestartdate"])
        || all(header, &["lineitemintervalusagestart", "costmycost"])
    {
        return None;
    }
    let kind = HEADERS.iter().find(|kind| (kind.is)(header))?;
    Some(Refusal::new(kind.found, kind.expected))
}

struct JsonKind {
    /// Any of these sets of keys.
    keys: &'static [&'static [&'static str]],
    found: &'static str,
    expected: &'static str,
}

static JSON: &[JsonKind] = &[
    JsonKind {
        keys: &[
            &["reportKeys"],
            &["dataFiles"],
            &["assemblyId", "billingPeriod"],
            &["assemblyId", "columns"],
        ],
        found: "the manifest of an AWS export, not its data",
        expected: "its data files: upload them together with the manifest, or import the manifest where \
                   they lie beside it",
    },
    JsonKind {
        keys: &[&["manifestVersion", "blobs"], &["manifestVersion", "exportConfig"]],
        found: "the manifest of an Azure export, not its data",
        expected: "its data files: upload them together with the manifest, or import the manifest where \
                   they lie beside it",
    },
    JsonKind {
        keys: &[&["status", "resultType"], &["status", "errorType"]],
        found: "an answer of Prometheus: usage, not cost",
        expected: A_BILL,
    },
    JsonKind {
        keys: &[&["cloudCosts"], &["cpuCores", "minutes"], &["gpuCost", "totalCost"]],
        found: "an answer of OpenCost: estimates and proportions, not billed cost",
        expected: A_BILL,
    },
    JsonKind { keys: &[&["Slurm"]], found: "an answer of Slurm: usage of jobs, not cost", expected: A_BILL },
    JsonKind {
        keys: &[&["per_machine", "per_day"], &["machine_id", "gpu_earn"]],
        found: "earnings of machines, not cost",
        expected: A_BILL,
    },
    JsonKind {
        keys: &[&["billing_events_history"]],
        found: "billing events of a resource of Hyperstack, which is named nowhere in them",
        expected: HYPERSTACK_COSTS,
    },
    JsonKind {
        keys: &[&["results", "next_token"]],
        found: "an answer of Vast.ai that has no charges",
        expected: "the charges of days on which something was rented",
    },
    JsonKind {
        keys: &[&["On Demand (USD)"], &["ECU"], &["clock_speed_ghz"]],
        found: "a price list: what things cost, not what was spent",
        expected: A_BILL,
    },
];

struct HeaderKind {
    is: fn(&Header) -> bool,
    found: &'static str,
    expected: &'static str,
}

fn all(header: &Header, keys: &[&str]) -> bool {
    keys.iter().all(|key| header.has(key))
}

fn any(header: &Header, keys: &[&str]) -> bool {
    keys.iter().any(|key| header.has(key))
}

/// Any column whose letters and digits contain one of `parts`.
fn mentions(header: &Header, parts: &[&str]) -> bool {
    header.keys().any(|key| parts.iter().any(|part| key.contains(part)))
}

/// Prices of meters, of which nothing says how much was used, nor on which day. Azure's cost exports name prices, too.
fn is_azure_price_sheet(header: &Header) -> bool {
    header.has("meterid")
        && any(header, &["unitprice", "baseprice", "marketprice", "retailprice"])
        && !mentions(header, &["cost", "consumedquantity"])
        && !any(header, &["date", "usagedatetime", "usagedate"])
}

/// The most particular first.
static HEADERS: &[HeaderKind] = &[
    HeaderKind {
        is: |h| any(h, &["invoicedetailid", "invoicedetailgrain"]),
        found: "the FOCUS Invoice Detail dataset: lines of invoices, not cost and usage",
        expected: FOCUS_COST,
    },
    HeaderKind {
        is: |h| mentions(h, &["contractcommitment"]),
        found: "the FOCUS Contract Commitment dataset: commitments, not cost and usage",
        expected: FOCUS_COST,
    },
    HeaderKind {
        is: |h| {
            !h.has("billedcost")
                && h.has("billingperiodstart")
                && mentions(h, &["billingperiodstatus", "billingperiodcreated", "billingperiodlastupdated"])
        },
        found: "the FOCUS Billing Period dataset: the state of periods, not cost and usage",
        expected: FOCUS_COST,
    },
    HeaderKind {
        is: |h| {
            h.has("lineitemreferenceno") && !mentions(h, &["costmycost", "costunitprice", "costproductsku"])
        },
        found: "an Oracle Cloud (OCI) usage report: usage without cost",
        expected: "the cost reports or the FOCUS reports of the same days, from the same place",
    },
    HeaderKind {
        is: |h| mentions(h, &["recommendation", "estimatedmonthlysavings"]),
        found: "recommendations: what could be saved, not what was spent",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| all(h, &["billablemetric", "resourcetype", "cost"]) && !h.has("resourceid"),
        found: "daily costs of Crusoe by type of resource (/billing/costs), without the resources",
        expected: "Crusoe's billing export (/billing/export)",
    },
    HeaderKind {
        is: |h| h.has("metricsincurredbill") && !h.has("metricsincurredbillgraph"),
        found: "Hyperstack's billing history, which says of no amount when it was incurred",
        expected: HYPERSTACK_COSTS,
    },
    // Vast.ai's, in the columns of its charges.
    HeaderKind {
        is: |h| {
            all(h, &["start", "end", "type", "source", "amount"])
                && any(h, &["metadatainvoiceid", "metadataservice"])
        },
        found: "payments, not cost",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| mentions(h, &["paymentid", "paymentmethod", "payout", "earnings"]),
        found: "payments or earnings, not cost",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| {
            !h.has("billedcost")
                && (all(h, &["sku", "offertermcode"])
                    || (h.has("instancetype") && any(h, &["price", "spotprice", "marketpricehourly"]))
                    || mentions(h, &["priceperunit", "pricepergpu", "pricehourly", "priceperhour"])
                    || is_azure_price_sheet(h)
                    || h.name(0).eq_ignore_ascii_case("FormatVersion"))
        },
        found: "a price list: what things cost, not what was spent",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| h.name(0).starts_with('#'),
        found: "a list that begins with a comment",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| all(h, &["totalcost", "cpucost", "gpucost"]),
        found: "an OpenCost allocation export: proportions of cost, not billed cost",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| {
            (h.has("uuid") && h.has("driverversion"))
                || all(h, &["timestamp", "driverversion"])
                || all(h, &["gpuuuid", "processname"])
        },
        found: "output of nvidia-smi: usage of GPUs, not cost",
        expected: A_BILL,
    },
    HeaderKind {
        is: |h| all(h, &["jobid", "state"]) || all(h, &["intervalstart", "intervalend"]),
        found: "usage of jobs, nodes or GPUs, not cost",
        expected: A_BILL,
    },
];
