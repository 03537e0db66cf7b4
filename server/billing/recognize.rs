//! What a file is: by its first bytes, then by its header. Files that look like cost and are not are
//! refused by the name of what they are.

use super::header::{Columns, Header};
use super::records::{BYTE_ORDER_MARK, Broken, Record};
use super::{FORMATS, Format, Mandatory, Refusal, listed, refuse};

const A_CSV: &str = "a billing export as CSV in UTF-8";

/// Refuses what is no text; answers how many bytes of byte order mark to leave out.
pub(super) fn text(start: &[u8]) -> Result<usize, Refusal> {
    let zeros_at = |odd: usize| start.iter().skip(odd).step_by(2).take(64).filter(|b| **b == 0).count();
    let is_utf16 = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    if is_utf16 || (start.len() >= 32 && (zeros_at(0) > 12 || zeros_at(1) > 12)) {
        return Err(Refusal::new(
            "text in UTF-16",
            "UTF-8; save the file as \u{201c}CSV UTF-8\u{201d} or export it again",
        ));
    }
    if start.starts_with(b"\x1f\x8b") || start.starts_with(b"PK\x03\x04") {
        return Err(Refusal::new("a file that is packed twice", "one that is packed once"));
    }
    let mark = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let start = &start[mark..];
    if start.is_empty() {
        return Err(Refusal::new("an empty file", A_CSV));
    }
    if start.iter().take(512).filter(|b| **b < 9 || (14..32).contains(*b)).count() > 2 {
        return Err(Refusal::new("no text", A_CSV));
    }
    match start.trim_ascii_start() {
        [] if start.len() < 4096 => Err(Refusal::new("a file of blank lines", A_CSV)),
        [b'{' | b'[', ..] => Err(json(start)),
        [b'<', ..] => Err(Refusal::new("HTML or XML", A_CSV)),
        _ if !start.contains(&b'\n') && start.contains(&b'\r') => Err(Refusal::new(
            "lines that end in a carriage return alone",
            "lines that end in a line feed; save the file as \u{201c}CSV UTF-8\u{201d}",
        )),
        _ => Ok(mark),
    }
}

/// JSON is refused by what it seems to be.
fn json(start: &[u8]) -> Refusal {
    let text = String::from_utf8_lossy(start);
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let a_manifest = "its data files; hand them in together with the manifest, or name the manifest to \
                      `gpuledger import` where the files lie beside it";
    if has("reportKeys") || has("dataFiles") || (has("assemblyId") && has("billingPeriod")) {
        Refusal::new("the manifest of an AWS export, not its data", a_manifest)
    } else if has("manifestVersion") && has("blobs") {
        Refusal::new("the manifest of an Azure export, not its data", "the CSV files that it names")
    } else if has("resultType") || has("errorType") {
        Refusal::new("an answer of Prometheus: usage, not cost", A_CSV)
    } else {
        Refusal::new("JSON", A_CSV)
    }
}

/// Reads the first record as column names.
pub(super) fn header(record: &Record<'_>) -> Result<Header, Refusal> {
    let mut names = Vec::with_capacity(record.len());
    for field in 0..record.len() {
        let name = String::from_utf8(record.plain(field).into_owned()).map_err(|_| {
            Refusal::new(
                format!("a header that is not UTF-8, in column {}", field + 1),
                "UTF-8; save the file as \u{201c}CSV UTF-8\u{201d} or export it again",
            )
        })?;
        names.push(name.trim().to_owned());
    }
    if let [only] = names.as_slice() {
        let by = |separator: char| only.split(separator).count() > 4;
        for (separator, called) in [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")] {
            if by(separator) {
                return Err(Refusal::new(
                    format!("columns separated by {called}"),
                    "columns separated by commas: export the file again; a spreadsheet set to a \
                     language with decimal commas writes it so",
                ));
            }
        }
    }
    Ok(Header::new(names))
}

/// A header that cannot be read to its end.
pub(super) fn broken_header(broken: Broken) -> Refusal {
    match broken {
        Broken::TooLong { .. } | Broken::OpenQuote { .. } => Refusal::new("a header without an end", A_CSV),
        other => Refusal { row: None, ..refuse(other, 0, None) },
    }
}

/// The format of a header.
pub(super) fn format(header: &Header, named: Option<&str>) -> Result<&'static dyn Format, Refusal> {
    if let Some(name) = named {
        let names = listed(FORMATS.iter().map(|format| format.name()), 20);
        let format = FORMATS.iter().find(|format| format.name() == name).ok_or_else(|| {
            Refusal::new(format!("the unknown format \u{201c}{name}\u{201d}"), format!("one of {names}"))
        })?;
        return match lacking(*format, header) {
            missing if missing.is_empty() => Ok(*format),
            missing => Err(lacks(*format, &missing)),
        };
    }
    if let Some(not_cost) = NOT_COST.iter().find(|not_cost| (not_cost.is)(header)) {
        return Err(Refusal::new(not_cost.found, not_cost.expected));
    }
    if let Some(format) = FORMATS.iter().find(|format| format.recognizes(header)) {
        return Ok(*format);
    }
    let nearest = FORMATS
        .iter()
        .map(|format| (lacking(*format, header), *format))
        .filter(|(missing, format)| missing.len() * 2 < format.mandatory().len())
        .min_by_key(|(missing, _)| missing.len());
    Err(match nearest {
        Some((missing, format)) => lacks(format, &missing),
        None => Refusal::new(
            format!(
                "columns of no billing export that is known ({})",
                listed(header.names().iter().map(String::as_str), 5)
            ),
            format!(
                "the header of one of these: {}",
                listed(FORMATS.iter().map(|format| format.label()), 20)
            ),
        ),
    })
}

fn lacking(format: &dyn Format, header: &Header) -> Vec<&'static Mandatory> {
    format.mandatory().iter().filter(|column| header.find_any(column.keys).is_none()).collect()
}

fn lacks(format: &dyn Format, missing: &[&Mandatory]) -> Refusal {
    let noun = if missing.len() == 1 { "column" } else { "columns" };
    let names = listed(missing.iter().map(|column| column.name), 20);
    Refusal::new(
        format!("{} without the {noun} {names}", format.label()),
        "these columns: without them a row cannot be booked",
    )
}

/// What the format says of the columns, and what is odd about any header.
pub(super) fn columns(format: &dyn Format, header: &Header) -> Columns {
    let mut columns = format.columns(header);
    columns.names = header.names().to_vec();
    let repeated = listed(header.repeated().iter().map(|column| header.name(*column)), 10);
    if !repeated.is_empty() {
        columns.notes.push(format!("column names that occur twice; the first is read: {repeated}"));
    }
    columns
}

/// True where a row is the header once more: parts that were concatenated.
pub(super) fn repeats(header: &Header, record: &Record<'_>) -> bool {
    record.len() == header.len()
        && header.names().iter().enumerate().all(|(field, name)| {
            let cell = record.plain(field);
            let cell = cell.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&cell);
            cell.trim_ascii() == name.as_bytes()
        })
}

/// A kind of file that is no cost, or not one that is read yet.
struct NotCost {
    is: fn(&Header) -> bool,
    found: &'static str,
    expected: &'static str,
}

const FOCUS_COST: &str = "the FOCUS Cost and Usage dataset, which has ChargePeriodStart";
const NOT_YET: &str = "AWS CUR, CUR 2.0 or a FOCUS export; this format is not supported yet";
const COST_ONLY: &str = "a billing export";

fn all(header: &Header, keys: &[&str]) -> bool {
    keys.iter().all(|key| header.has(key))
}

fn any(header: &Header, keys: &[&str]) -> bool {
    keys.iter().any(|key| header.has(key))
}

fn any_name(header: &Header, parts: &[&str]) -> bool {
    header.names().iter().any(|name| {
        let name = name.to_ascii_lowercase();
        parts.iter().any(|part| name.contains(part))
    })
}

fn lacks_charge_period(header: &Header) -> bool {
    !any(header, &["chargeperiodstart", "lineitemusagestartdate"])
}

/// The most particular first. None of these may match a format that is read.
static NOT_COST: &[NotCost] = &[
    NotCost {
        is: |h| lacks_charge_period(h) && any(h, &["invoicedetailid", "invoicedetailgrain"]),
        found: "the FOCUS Invoice Detail dataset: invoice lines, not cost and usage",
        expected: FOCUS_COST,
    },
    NotCost {
        is: |h| lacks_charge_period(h) && any_name(h, &["contractcommitment"]),
        found: "the FOCUS Contract Commitment dataset: commitments, not cost and usage",
        expected: FOCUS_COST,
    },
    NotCost {
        is: |h| {
            lacks_charge_period(h)
                && !h.has("billedcost")
                && h.has("billingperiodstart")
                && any_name(h, &["billingperiodstatus", "billingperiodcreated", "billingperiodlastupdated"])
        },
        found: "the FOCUS Billing Period dataset: states of periods, not cost and usage",
        expected: FOCUS_COST,
    },
    NotCost {
        is: |h| h.has("lineitemreferenceno") && h.has("costmycost"),
        found: "an Oracle Cloud (OCI) cost report",
        expected: NOT_YET,
    },
    NotCost {
        is: |h| h.has("lineitemreferenceno"),
        found: "an Oracle Cloud (OCI) usage report: usage without cost",
        expected: "the cost report or the FOCUS report of the same days",
    },
    NotCost {
        is: |h| {
            lacks_charge_period(h)
                && any_name(h, &["recommendation", "estimatedmonthlysavings", "estimated_monthly_savings"])
        },
        found: "recommendations: what could be saved, not what was spent",
        expected: COST_ONLY,
    },
    NotCost {
        is: |h| {
            lacks_charge_period(h)
                && any(h, &["metername", "metersubcategory", "metercategory", "meterid"])
                && any(h, &["costinbillingcurrency", "pretaxcost", "cost", "quantity", "usagequantity"])
        },
        found: "an Azure cost and usage export",
        expected: NOT_YET,
    },
    NotCost {
        is: |h| any_name(h, &["(metersubcategory)", "(pretaxcost)", "(costinbillingcurrency)"]),
        found: "an Azure cost and usage export with translated headers",
        expected: NOT_YET,
    },
    NotCost {
        is: |h| {
            all(h, &["skudescription", "usagestarttime", "invoicemonth"])
                || all(h, &["skuid", "usageamount", "creditsname"])
        },
        found: "a Google Cloud billing export",
        expected: NOT_YET,
    },
    NotCost {
        is: |h| {
            lacks_charge_period(h)
                && any(
                    h,
                    &["paymentid", "paymentmethod", "payoutid", "payoutdate", "earnings", "totalearnings"],
                )
        },
        found: "payments or earnings, not cost",
        expected: COST_ONLY,
    },
    NotCost {
        is: |h| {
            lacks_charge_period(h)
                && !h.has("billedcost")
                && (all(h, &["sku", "offertermcode"])
                    || all(h, &["instancetype", "price"])
                    || all(h, &["instancetype", "spotprice"])
                    || all(h, &["instancetype", "marketpricehourly"])
                    || any(h, &["priceperunit", "pricepergpuhour", "pricehourly", "priceperhour"])
                    || h.name(0).eq_ignore_ascii_case("FormatVersion"))
        },
        found: "a price list: what things cost, not what was spent",
        expected: COST_ONLY,
    },
    NotCost {
        is: |h| h.name(0).starts_with('#'),
        found: "a list that begins with a comment",
        expected: COST_ONLY,
    },
    NotCost {
        is: |h| all(h, &["totalcost", "cpucost", "gpucost"]),
        found: "an OpenCost allocation export: proportions of cost, not billed cost",
        expected: COST_ONLY,
    },
    NotCost {
        is: |h| {
            all(h, &["jobid", "state"])
                || all(h, &["gpuuuid", "gpumodelname"])
                || all(h, &["intervalstart", "node"])
        },
        found: "usage of jobs or GPUs, not cost",
        expected: COST_ONLY,
    },
];
