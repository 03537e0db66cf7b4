//! Whatever is submitted gets an answer that names file, row, column, found and expected.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use gpuledger::billing::{self, Charge, RefusalKind, Step};

use super::{read, read_text};
use crate::support::files::{gzip, zipped};

const HEADER: &str = "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/UsageStartDate,\
                      lineItem/UsageEndDate,bill/PayerAccountId,bill/BillingPeriodStartDate,resourceTags/user:Team,notes";
const ROW: &str =
    "Usage,1.25,USD,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,012345678901,2026-09-01T00:00:00Z,core,";

fn csv(rows: &[&str]) -> Vec<u8> {
    let mut lines = vec![HEADER];
    lines.extend(rows);
    (lines.join("\n") + "\n").into_bytes()
}

/// `count` rows that do not shrink too well.
fn many(count: usize) -> Vec<u8> {
    let mut text = csv(&[]);
    for i in 0..count as u64 {
        let noise = blake3::hash(&i.to_le_bytes()).to_hex();
        writeln!(text, "{ROW}{noise}").unwrap();
    }
    text
}

/// The same zip with the numbers of large files, which are 64 bits wide.
fn with_wide_numbers(mut zip: Vec<u8>) -> Vec<u8> {
    let end = zip.split_off(zip.len() - 22);
    let wide = |at: usize| u64::from(u32::from_le_bytes(end[at..at + 4].try_into().unwrap()));
    let (entries, at) = (u64::from(end[10]), zip.len() as u64);
    zip.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
    zip.extend([entries, entries, wide(12), wide(16)].map(u64::to_le_bytes).concat());
    zip.extend(b"PK\x06\x07\0\0\0\0");
    zip.extend(at.to_le_bytes());
    zip.extend(1_u32.to_le_bytes());
    [zip, b"PK\x05\x06\0\0\0\0".to_vec(), vec![0xff; 12], vec![0; 2]].concat()
}

/// The same zip, in which sizes and place of its only file are 64 bits wide.
fn with_wide_entry(mut zip: Vec<u8>) -> Vec<u8> {
    let entry = zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let wide = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap()).into();
    let fields: [u64; 3] = [wide(entry + 24), wide(entry + 20), wide(entry + 42)];
    let name = entry + 46;
    let name_ends = name + usize::from(zip[entry + 28]);
    zip[entry + 20..entry + 28].fill(0xff);
    zip[entry + 42..entry + 46].fill(0xff);
    assert_eq!(zip[entry + 30..entry + 32], [0, 0], "nothing is there yet");
    zip[entry + 30] = 4 + 4 + 4 + 24;
    let extra = [&b"XX\x04\0abcd\x01\0\x18\0"[..], &fields.map(u64::to_le_bytes).concat()].concat();
    let added = extra.len() as u32;
    assert_eq!(u32::from(zip[entry + 30]), added);
    zip.splice(name_ends..name_ends, extra);
    let end = zip.len() - 22;
    let size = u32::from_le_bytes(zip[end + 12..end + 16].try_into().unwrap()) + added;
    zip[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
    zip
}

#[track_caller]
fn is_refused(bytes: Vec<u8>, reason: &str) {
    match read_text(bytes) {
        Ok(reading) => panic!("read {} rows instead of saying: {reason}", reading.rows),
        Err(refusal) => {
            let text = refusal.to_string();
            assert!(text.starts_with("bill.csv: "), "{text}");
            assert!(text.contains(reason), "{text}");
            assert_eq!(refusal.kind, RefusalKind::Refused, "{text}");
        }
    }
}

#[test]
fn what_is_no_billing_export_is_refused_by_name() {
    is_refused(vec![], "an empty file");
    is_refused(b"\xef\xbb\xbf".to_vec(), "an empty file");
    is_refused(b"\n\n  \n".to_vec(), "blank lines");
    is_refused(b"name,age\nx,1\n".to_vec(), "columns of no billing export that is known (name, age)");
    is_refused(b"PAR1....".to_vec(), "a Parquet file without its end");
    is_refused(b"\x28\xb5\x2f\xfd....".to_vec(), "zstd");
    is_refused(b"%PDF-1.7".to_vec(), "a PDF document");
    is_refused(b"<html><body>sign in</body></html>".to_vec(), "HTML");
    is_refused(b"{\"a\": 1}".to_vec(), "columns of no billing export that is known (a)");
    is_refused(b"[]".to_vec(), "JSON without names and values");
    is_refused(b"{\"assemblyId\": \"x\", \"reportKeys\": []}".to_vec(), "the manifest of an AWS export");
    is_refused(
        HEADER.replace("lineItem/UnblendedCost", "cost").into_bytes(),
        "without the column lineItem/UnblendedCost",
    );
    is_refused(
        HEADER.replace("lineItem/UnblendedCost", "cost").into_bytes(),
        "AWS Cost and Usage Report without the column",
    );
    is_refused(
        HEADER.to_lowercase().replace('/', "_").replace("lineitem_unblendedcost", "cost").into_bytes(),
        "AWS CUR 2.0 without the column",
    );
    is_refused(vec![0; 4096], "no text");
    is_refused([&b"BilledCost,Tags\n"[..], &[0; 512]].concat(), "no text");
    let mut tar = vec![0; 1024];
    tar[..8].copy_from_slice(b"bill.csv");
    tar[257..262].copy_from_slice(b"ustar");
    is_refused(tar, "a tar archive");
    is_refused(HEADER.replace(',', ";").into_bytes(), "columns separated by semicolons");
    is_refused(HEADER.replace(',', "\t").into_bytes(), "columns separated by tabs");
    is_refused(
        csv(&[ROW]).into_iter().map(|b| if b == b'\n' { b'\r' } else { b }).collect(),
        "carriage return",
    );
    is_refused(b"recommendation_id,estimated_monthly_savings\n".to_vec(), "recommendations");
    is_refused(b"Contract Commitment Id,ContractCommitmentCost,BilledCost\n".to_vec(), "Contract Commitment");
    is_refused(b"BillingPeriodStart,BillingPeriodEnd,BillingPeriodStatus\n".to_vec(), "Billing Period");
    is_refused(b"payment_id,amount,currency\n".to_vec(), "payments");
    is_refused(b"SKU,OfferTermCode,PricePerUnit,Currency\n".to_vec(), "a price list");
    for azure in [
        "MeterId,UnitPrice",
        "EnrollmentNumber,MeterID,MeterName,MeterCategory,UnitOfMeasure,PartNumber,UnitPrice,IncludedQuantity,Term",
        "Meter ID,Meter name,Meter region,Unit of measure,Effective start date,Base price,Market price,Price type",
        "currencyCode,tierMinimumUnits,retailPrice,unitPrice,armRegionName,meterId,armSkuName,type",
    ] {
        is_refused(format!("{azure}\n").into_bytes(), "a price list");
    }
    let azure = "Date,MeterId,MeterName,Quantity,EffectivePrice,UnitPrice,CostInBillingCurrency\n";
    is_refused(azure.into(), "Azure cost and usage details without the column MeterCategory");
}

#[test]
fn other_encodings_are_refused_by_name() {
    let text = String::from_utf8(csv(&[ROW])).unwrap();
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    is_refused([b"\xff\xfe", little.as_slice()].concat(), "UTF-16");
    is_refused(little, "UTF-16");
    is_refused([b"\xfe\xff", big.as_slice()].concat(), "save the file as \u{201c}CSV UTF-8\u{201d}");
    let row: Vec<u8> =
        ROW.replace("core", "caf#").bytes().map(|b| if b == b'#' { 0xe9 } else { b }).collect();
    let reading = read_text([csv(&[ROW]), row].concat()).unwrap();
    assert_eq!(reading.charges.len(), 1);
    let rejection = &reading.rejected[0];
    assert_eq!((rejection.row, rejection.column.as_str()), (2, "resourceTags/user:Team"));
    assert!(rejection.expected.contains("UTF-8"), "{rejection}");
    // A column that nobody reads may hold anything.
    let row = [ROW.as_bytes(), b"\xe9\0"].concat();
    assert_eq!(read_text([csv(&[]), row].concat()).unwrap().charges.len(), 1);
}

#[test]
fn a_header_alone_is_an_empty_month() {
    let reading = read_text(csv(&[])).unwrap();
    assert_eq!((reading.rows, reading.charges.len()), (0, 0));
    assert_eq!(read_text(HEADER).unwrap().rows, 0);
}

#[test]
fn marks_and_line_ends_do_not_matter() {
    let plain = read_text(csv(&[ROW, ROW])).unwrap();
    let windows = String::from_utf8(csv(&[ROW, "", ROW])).unwrap().replace('\n', "\r\n");
    let marked = read_text(format!("\u{feff}{windows}").trim_end().to_owned().into_bytes()).unwrap();
    assert_eq!(marked.rows, 2);
    assert_eq!(plain.billed(), marked.billed());
}

#[test]
fn an_open_quote_names_the_row_where_it_opened() {
    let open = ROW.replace("core", "\"core");
    is_refused(
        csv(&[ROW, &open, ROW]),
        "row 2, column resourceTags/user:Team: found a quote that is never closed",
    );
    let endless = [csv(&[ROW, &open]), b"x,\n".repeat(6 << 20)].concat();
    is_refused(endless, "row 2, column resourceTags/user:Team: found a quote that is still open after");
    is_refused(
        [csv(&[ROW]), b"x".repeat(17 << 20)].concat(),
        "row 2, column lineItem/LineItemType: found a row of more than",
    );
}

#[test]
fn a_file_that_ends_in_the_middle_of_a_row_was_cut_off() {
    let whole = csv(&[ROW, ROW]);
    let last_row = whole.len() - ROW.len();
    is_refused(whole[..last_row + 9].to_vec(), "row 2: found the end of the file after");
    // One that only lacks its last newline is whole, and so is one whose short row is not the last.
    assert_eq!(read_text(whole[..whole.len() - 1].to_vec()).unwrap().charges.len(), 2);
    let reading = read_text(csv(&[&ROW[..9], ROW])).unwrap();
    assert_eq!((reading.charges.len(), reading.rejected.len()), (1, 1));
    let reading = read_text(csv(&[ROW, &ROW[..9]])).unwrap();
    assert_eq!((reading.charges.len(), reading.rejected.len()), (1, 1), "the newline is there");
}

#[test]
fn ten_megabytes_in_a_field_reject_its_row_only() {
    let huge = ROW.replace("core", &"x".repeat(10 << 20));
    let reading = read_text(csv(&[ROW, &huge, ROW])).unwrap();
    assert_eq!(reading.charges.len(), 2);
    assert_eq!(
        reading.rejected[0].to_string(),
        "row 2, column resourceTags/user:Team: found a field of 10485760 bytes; expected at most 1048576 bytes"
    );
}

#[test]
fn rows_of_the_wrong_length_are_rejected_with_both_counts() {
    let short = ROW.trim_end_matches(',');
    let reading = read_text(csv(&["a,b,c", &format!("{ROW},more"), ROW, short])).unwrap();
    let described: Vec<String> = reading.rejected.iter().map(ToString::to_string).collect();
    assert_eq!(
        described,
        [
            "row 1: found 3 fields; expected 9 fields, as in the header",
            "row 2: found 10 fields; expected 9 fields, as in the header",
            "row 4: found 8 fields; expected 9 fields, as in the header",
        ]
    );
    assert_eq!(reading.charges.len(), 1);
}

#[test]
fn the_last_fields_are_left_off_in_every_row_or_in_none() {
    let short = ROW.trim_end_matches(',');
    let reading = read_text(csv(&[short, short])).unwrap();
    assert_eq!((reading.charges.len(), reading.rejected.len()), (2, 0));
    assert_eq!(reading.remarks, ["the last fields are missing and taken as empty (2 rows, first in row 1)"]);
    let refusal = read_text(csv(&[short, ROW])).err().unwrap().to_string();
    assert!(refusal.contains("9 fields, and fewer in the rows before"), "{refusal}");
}

#[test]
fn containers_are_told_by_their_content() {
    let plain = read_text(many(50)).unwrap();
    let parts = [gzip(&many(50)[..1000]), gzip(&many(50)[1000..])].concat();
    for bytes in [
        gzip(&many(50)),
        parts,
        zipped(&[("bill.csv", &many(50))]),
        zipped(&[("folder/", b""), ("folder/bill.csv", &many(50)), ("__MACOSX/folder/._bill.csv", b"x")]),
        with_wide_numbers(zipped(&[("bill.csv", &many(50))])),
        with_wide_entry(zipped(&[("bill.csv", &many(50))])),
        with_wide_numbers(with_wide_entry(zipped(&[("bill.csv", &many(50))]))),
        // Something before and something behind it.
        [b"PK\x07\x08....".to_vec(), zipped(&[("bill.csv", &many(50))])].concat(),
        [b"PK\x07\x08....".to_vec(), with_wide_numbers(zipped(&[("bill.csv", &many(50))]))].concat(),
        [zipped(&[("bill.csv", &many(50))]), vec![0; 1000]].concat(),
    ] {
        let reading = read_text(bytes).unwrap();
        assert_eq!((reading.rows, reading.billed()), (plain.rows, plain.billed()));
    }
}

#[test]
fn zips_that_are_not_one_file_are_refused() {
    let bill = many(5);
    is_refused(zipped(&[]), "a zip without a file inside");
    is_refused(zipped(&[("a.csv", &bill), ("b.csv", &bill)]), "a zip with 2 files inside (a.csv, b.csv)");
    is_refused(zipped(&[("../../etc/a.csv", &bill)]), "climbs out");
    is_refused(zipped(&[("/etc/a.csv", &bill)]), "climbs out");
    is_refused(
        zipped(&[("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")]),
        "no .xlsx workbook",
    );
    is_refused(gzip(&gzip(&bill)), "packed twice");
    let mut secret = zipped(&[("bill.csv", &bill)]);
    let central = secret.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    secret[6] |= 1;
    secret[central + 8] |= 1;
    is_refused(secret, "encrypted");
    let mut last = zipped(&[("bill.csv", &bill)]);
    let end = last.windows(4).position(|bytes| bytes == b"PK\x05\x06").unwrap();
    last[end + 4] = 2;
    is_refused(last, "a part of a zip that was split");
}

#[test]
fn bombs_are_refused_with_both_sizes() {
    let bomb = [csv(&[ROW]), b"\n".repeat(16 << 20)].concat();
    is_refused(gzip(&bomb), "bytes to more than");
    is_refused(zipped(&[("bill.csv", &bomb)]), &format!("to {} bytes", bomb.len()));
}

#[test]
fn what_was_cut_off_is_refused_wherever_it_was_cut() {
    let (packed, archive) = (gzip(&many(3000)), zipped(&[("bill.csv", &many(3000))]));
    for part in 1..20 {
        let cut = packed.len() * part / 20;
        is_refused(packed[..cut].to_vec(), "gzip");
        is_refused(archive[..archive.len() * part / 20].to_vec(), "zip");
    }
    is_refused(packed[..packed.len() - 4].to_vec(), "row 300");
    let mut damaged = archive.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    is_refused(damaged, "damaged zip data");
    let plain = many(10);
    is_refused(plain[..plain.len() - 120].to_vec(), "row 10: found the end of the file after");
}

/// Gives few bytes at a time, and breaks off.
struct Line {
    bytes: Cursor<Vec<u8>>,
    at_once: usize,
    breaks_at: u64,
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.position() >= self.breaks_at {
            return Err(io::Error::new(io::ErrorKind::ConnectionReset, "connection reset"));
        }
        let most = buffer.len().min(self.at_once);
        self.bytes.read(&mut buffer[..most])
    }
}

impl Seek for Line {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[test]
fn a_lost_connection_is_a_failure_and_no_refusal() {
    for bytes in [many(100), gzip(&many(100))] {
        let breaks_at = bytes.len() as u64 / 2;
        let line = Line { bytes: Cursor::new(bytes), at_once: 64, breaks_at };
        let result = billing::open("bill.csv", line, &billing::ReadAs::any()).and_then(read);
        let refusal = result.err().unwrap();
        assert!(matches!(refusal.kind, RefusalKind::Failed(_)), "{refusal}");
        assert!(refusal.to_string().contains("connection reset"), "{refusal}");
    }
}

#[test]
fn short_reads_come_to_the_same() {
    for at_once in [1, 7, 63, 64, 65] {
        let line = Line { bytes: Cursor::new(many(40)), at_once, breaks_at: u64::MAX };
        let reading = read(billing::open("bill.csv", line, &billing::ReadAs::any()).unwrap()).unwrap();
        assert_eq!((reading.rows, reading.billed()), (40, read_text(many(40)).unwrap().billed()));
    }
}

/// A sink that can be looked into.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_was_read_can_be_kept_and_found_again() {
    let text = csv(&[ROW, &ROW.replace("core", "\"a \"\"b\"\",\nc\""), "", "x", ROW]);
    let kept = Kept::default();
    let mut export =
        billing::open_with_sink("bill.csv", Cursor::new(gzip(&text)), &billing::ReadAs::any(), kept.clone())
            .unwrap();
    let mut positions = Vec::new();
    let mut charge = Charge::default();
    while export.next(&mut charge).unwrap().is_some() {
        positions.push(export.position().unwrap() as usize);
    }
    assert_eq!(*kept.0.lock().unwrap(), text);
    let again = |row: usize| {
        let (whole, part) = (text.clone(), text[positions[row]..].to_vec());
        let reopen = Box::new(move || billing::unpack(Cursor::new(whole.clone())));
        let (start, part) = (Cursor::new(text.clone()), Cursor::new(part));
        let mut export =
            billing::open_part("bill.csv", start, part, &billing::ReadAs::any(), reopen).unwrap();
        export.next(&mut Charge::default()).unwrap();
        export.original()
    };
    assert_eq!(positions.len(), 4);
    assert_eq!(again(1)[7], ("resourceTags/user:Team".to_owned(), "a \"b\",\nc".to_owned()));
    assert_eq!(again(2), [("lineItem/LineItemType".to_owned(), "x".to_owned())]);
    assert_eq!(again(3).len(), 9);
}

#[test]
fn a_full_disk_is_a_failure() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let refusal =
        billing::open_with_sink("bill.csv", Cursor::new(csv(&[ROW])), &billing::ReadAs::any(), Full)
            .err()
            .unwrap();
    assert_eq!(refusal.kind, RefusalKind::Failed(io::ErrorKind::StorageFull), "{refusal}");
}

#[test]
fn a_format_can_be_named() {
    let named = |name| {
        let read_as = billing::ReadAs::named(Some(name));
        billing::open("bill.csv", Cursor::new(csv(&[ROW])), &read_as)
            .map(|export| export.format().name().to_owned())
    };
    assert_eq!(named("aws-cur").unwrap(), "aws-cur");
    assert_eq!(named("aws-cur-2").unwrap(), "aws-cur-2");
    assert!(
        named("focus")
            .err()
            .unwrap()
            .to_string()
            .contains("FOCUS cost and usage without the columns BilledCost")
    );
    assert!(
        named("xlsx")
            .err()
            .unwrap()
            .to_string()
            .contains("one of aws-cur-2, aws-cur, gcp-billing, azure-usage, oci-cost, ")
    );
}

#[test]
fn a_row_that_is_rejected_leaves_nothing_behind() {
    let bad = ROW.replace("2026-09-03T05", "never").replace("core", "ghost");
    let mut export = billing::open(
        "bill.csv",
        Cursor::new(csv(&[&bad, &ROW.replace("core", "")])),
        &billing::ReadAs::any(),
    )
    .unwrap();
    let mut charge = Charge::default();
    assert!(matches!(export.next(&mut charge).unwrap(), Some(Step::Rejected(_))));
    assert_eq!(export.next(&mut charge).unwrap(), Some(Step::Charge));
    assert!(charge.tags.is_empty());
    assert_eq!(charge.key.currency, "USD");
}
