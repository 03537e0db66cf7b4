//! From a bill to the files that arrive: packed, with a manifest, or damaged on the way.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::organization::Bill;
use crate::period::BillingMonth;

/// A file as someone would upload it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// AWS delivers gzip and a manifest that names it; the others deliver gzip. `contents` are the files of [`Bill::datasets`].
pub(super) fn packed(
    bill: &Bill,
    month: BillingMonth,
    note: &str,
    contents: &[Vec<u8>],
) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for (dataset, content) in bill.datasets().iter().zip(contents) {
        let name = match bill.provider {
            "AWS" => format!("aster-cur-{month}{note}-00001.csv.gz"),
            "Microsoft" => format!("azure-{dataset}-cost-{month}{note}.csv.gz"),
            "Google Cloud" => format!("gcp-billing-export-{month}{note}.json.gz"),
            _ => format!("nordlicht-{month}{note}.csv.gz"),
        };
        files.push(File { name, bytes: gzip(content)? });
    }
    if bill.provider != "AWS" {
        return Ok(files);
    }
    let (Some(data), Some(csv)) = (files.pop(), contents.first()) else { return Ok(files) };
    let compact = |month: BillingMonth| month.first_day().format("%Y%m%d").to_string();
    let (start, end) = (compact(month), compact(month.next()));
    let header = csv.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let columns: Vec<_> = String::from_utf8_lossy(header)
        .split(',')
        .filter_map(|column| {
            column.split_once('/').map(|(category, name)| (category.to_owned(), name.to_owned()))
        })
        .map(|(category, name)| serde_json::json!({ "category": category, "name": name }))
        .collect();
    let manifest = serde_json::json!({
        "assemblyId": format!("{start}-{}", if note.is_empty() { "final" } else { "first" }),
        "account": bill.billing_account,
        "columns": columns,
        "charset": "UTF-8",
        "compression": "GZIP",
        "contentType": "text/csv",
        "reportId": "6d2c5f0e9b7a41c8",
        "reportName": "aster-cur",
        "billingPeriod": { "start": format!("{start}T000000.000Z"), "end": format!("{end}T000000.000Z") },
        "bucket": "aster-billing",
        "reportKeys": [format!("cur/aster-cur/{start}-{end}/{}", data.name)],
    });
    let name = format!("aster-cur-{month}{note}-Manifest.json");
    Ok(vec![File { name, bytes: serde_json::to_vec_pretty(&manifest)? }, data])
}

/// Without a time in its header, so that the same content gives the same bytes.
fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(content)?;
    out.finish()
}

/// What a spreadsheet of another language does to a file: some amounts get a decimal comma. Answers the file
/// and how many rows have one.
pub(super) fn with_decimal_commas(csv: &[u8]) -> io::Result<(Vec<u8>, u64)> {
    let mut damaged = 0;
    let bytes = edit(csv, |at, header, record| {
        if at % 61 != 17 {
            return Some(record);
        }
        damaged += 1;
        let cost = header.iter().position(|name| name == "BilledCost");
        let cells = record.iter().enumerate().map(|(column, cell)| {
            if Some(column) == cost {
                format!("{},50", cell.split('.').next().unwrap_or_default())
            } else {
                cell.to_owned()
            }
        });
        Some(cells.collect())
    })?;
    Ok((bytes, damaged))
}

/// The file without the rows of one sub-account.
pub(super) fn without_account(csv: &[u8], account: &str) -> io::Result<Vec<u8>> {
    edit(csv, |_, header, record| {
        let column = header.iter().position(|name| name == "SubAccountId")?;
        (record.get(column) != Some(account)).then_some(record)
    })
}

fn edit(
    csv: &[u8],
    mut change: impl FnMut(u64, &csv::StringRecord, csv::StringRecord) -> Option<csv::StringRecord>,
) -> io::Result<Vec<u8>> {
    let mut reader = csv::Reader::from_reader(csv);
    let header = reader.headers()?.clone();
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(csv.len()));
    writer.write_record(&header)?;
    for (at, record) in reader.records().enumerate() {
        if let Some(record) = change(at as u64, &header, record?) {
            writer.write_record(&record)?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// Azure's price sheet, which someone took for the bill.
pub(super) fn price_sheet(month: BillingMonth) -> File {
    let rows = [
        ("ND96isr H100 v5", "98.32"),
        ("NC40ads H100 v5", "6.98"),
        ("NC24ads A100 v4", "3.673"),
        ("NV12ads A10 v5", "0.908"),
    ];
    let mut text = String::from(
        "MeterId,MeterName,MeterCategory,MeterSubCategory,MeterRegion,UnitOfMeasure,BasePrice,MarketPrice,UnitPrice,\
         Currency,EffectiveStartDate,EffectiveEndDate,PriceType\n",
    );
    for (meter, price) in rows {
        let _ = writeln!(
            text,
            "{meter},{meter},Virtual Machines,GPU,US West 3,1 Hour,{price},{price},{price},USD,{}T00:00:00Z,,Consumption",
            month.first_day()
        );
    }
    File { name: format!("azure-price-sheet-{month}.csv"), bytes: text.into_bytes() }
}
