//! What files cost that somebody wrote to cost much: each of these took minutes or hours once. The time that a test may
//! take at all is what they fail by.

use std::fmt::Write as _;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gpuledger::billing::{self, Manifest, Rejection};

use super::read_text;

const FOCUS: &str = "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,\
                     ChargePeriodEnd,ChargeCategory,ProviderName";
const ROW: &str =
    "1,1,acme,USD,2026-09-01T00:00:00Z,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,Usage,NeoCloud";
const CUR: &str = "line_item_line_item_type,line_item_unblended_cost,line_item_currency_code,line_item_usage_start_date,\
                   line_item_usage_end_date,bill_payer_account_id,bill_billing_period_start_date";
const CUR_ROW: &str =
    "Usage,1,USD,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,012345678901,2026-09-01T00:00:00Z";

/// Counts what is read of a file.
struct Counted {
    file: Cursor<Vec<u8>>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Why a zip is refused, and how many bytes of it were read for that.
fn refused_zip(zip: Vec<u8>) -> (String, u64) {
    let read = Arc::new(AtomicU64::new(0));
    let file = Counted { file: Cursor::new(zip), read: Arc::clone(&read) };
    let refusal = billing::open("bill.zip", file, &billing::ReadAs::any()).err().unwrap();
    (refusal.to_string(), read.load(Ordering::Relaxed))
}

/// An entry of a zip's table of contents: an empty file.
fn zip_entry(name: &str, comment: &str) -> Vec<u8> {
    let mut entry = b"PK\x01\x02\x14\0\x14\0".to_vec();
    entry.resize(46, 0);
    entry[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
    entry[32..34].copy_from_slice(&(comment.len() as u16).to_le_bytes());
    [entry, name.into(), comment.into()].concat()
}

/// A zip of these entries, with the numbers of large files where there are too many for the usual ones.
fn zip_of(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut zip = b"PK\x03\x04".to_vec();
    zip.resize(30, 0);
    let (at, count) = (zip.len() as u64, entries.len() as u64);
    zip.extend(entries.concat());
    let end = zip.len() as u64;
    if count > 65_534 {
        zip.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
        zip.extend([count, count, end - at, at].map(u64::to_le_bytes).concat());
        zip.extend(b"PK\x06\x07\0\0\0\0");
        zip.extend(end.to_le_bytes());
        zip.extend(1_u32.to_le_bytes());
    }
    let short = count.min(65_535) as u16;
    zip.extend(end_of_zip(short, (end - at) as u32, at as u32));
    zip
}

fn end_of_zip(entries: u16, bytes: u32, at: u32) -> Vec<u8> {
    let [entries, bytes, at] = [&entries.to_le_bytes()[..], &bytes.to_le_bytes(), &at.to_le_bytes()];
    [&b"PK\x05\x06\0\0\0\0"[..], entries, entries, bytes, at, b"\0\0"].concat()
}

/// Tags as a cell has them; every fourth key is there twice.
fn tags(many: usize) -> String {
    let mut cell = String::from("\"{");
    for tag in 0..many {
        let comma = if tag == 0 { "" } else { "," };
        write!(cell, "{comma}\"\"t{tag}\"\":\"\"v\"\"").unwrap();
        if tag % 4 == 0 {
            write!(cell, ",\"\"t{tag}\"\":\"\"last\"\"").unwrap();
        }
    }
    cell + "}\""
}

#[test]
fn a_row_of_tags_by_the_ten_thousand_is_rejected_at_once() {
    for (header, row) in [
        (format!("{FOCUS},Tags"), ROW),
        (format!("{CUR},resource_tags"), CUR_ROW),
        (format!("{CUR},cost_category"), CUR_ROW),
    ] {
        let reading = read_text(format!("{header}\n{row},{}\n{row},{}\n", tags(40_000), tags(1000))).unwrap();
        let rejected = Rejection {
            row: 1,
            column: String::new(),
            found: "40000 tags".into(),
            expected: "at most 1000".into(),
            is_repeated: false,
        };
        assert_eq!((reading.rejected, reading.charges.len()), (vec![rejected], 1), "{header}");
        let tags: Vec<(&str, &str)> = reading.charges[0].tags.iter().collect();
        assert_eq!(tags.len(), 1000);
        assert!(tags.windows(2).all(|two| two[0].0 < two[1].0), "in order, and each once");
        assert_eq!(tags.iter().filter(|(_, value)| *value == "last").count(), 250, "the last value wins");
    }
}

#[test]
fn columns_by_the_hundred_thousand_are_refused_at_once() {
    let columns = (0..200_000).fold(CUR.to_owned(), |mut header, tag| {
        write!(header, ",resourceTags/user:t{tag}").unwrap();
        header
    });
    let refusal = read_text(format!("{columns}\n")).err().unwrap();
    assert_eq!(
        refusal.to_string(),
        "bill.csv: found a header of 200007 columns; expected a billing export, which has at most 10000"
    );
}

#[test]
fn apostrophes_before_millions_of_cells_are_taken_away_at_once() {
    let cells = "'=1,".repeat(3_000_000);
    let reading = read_text(format!("{FOCUS},Tags,gpuledger/Escaped\n{cells}yes\n'{ROW},,yes\n")).unwrap();
    assert_eq!(reading.rejected.len(), 1);
    assert_eq!(reading.rejected[0].found, "3000001 fields");
    assert_eq!(reading.charges.len(), 1, "the row behind it is read as if nothing had been there");
}

#[test]
fn texts_longer_than_any_provider_writes_are_rejected_and_tags_left_out() {
    let places = "acme ".to_owned() + &"India ".repeat(170_000);
    let header = format!("{FOCUS},ServiceName,CommitmentDiscountId,Tags");
    let long = "x".repeat(4001);
    let rows = [
        format!("{},,,", ROW.replace("NeoCloud", &places)),
        format!("{},,,", ROW.replace("acme", &long[..1001])),
        format!("{ROW},{long},,"),
        format!("{ROW},{},{},", &long[..4000], &long[..1001]),
        format!(
            "{ROW},,,\"{{\"\"team\"\":\"\"{}\"\",\"\"env\"\":\"\"{}\"\"}}\"",
            &long[..1996],
            &long[..1998]
        ),
    ];
    let reading = read_text(format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let described: Vec<String> =
        reading.rejected.iter().map(|it| format!("{}; {}", it.found, it.expected)).collect();
    assert!(described[0].ends_with("; a name of at most 1000 bytes"), "{described:?}");
    assert_eq!(
        described[1..],
        [
            "a billing account of 1001 bytes; at most 1000 bytes",
            "a service of 4001 bytes; at most 4000 bytes",
            "a commitment discount of 1001 bytes; at most 1000 bytes",
        ]
    );
    let tags: Vec<&str> = reading.charges[0].tags.iter().map(|(name, _)| name).collect();
    assert_eq!(tags, ["team"]);
    assert_eq!(reading.remarks.iter().filter(|it| it.contains("2,000 bytes are left out")).count(), 1);
}

#[test]
fn what_a_message_says_of_a_cell_has_an_end() {
    let currency = "x".repeat(1 << 20);
    let row = ROW.replacen("1,1,", "\"€ 3\",1,", 1).replace("USD", &currency);
    let reading = read_text(format!("{FOCUS}\n{row}\n")).unwrap();
    assert!(reading.rejected[0].to_string().len() < 400, "{}", reading.rejected[0].expected.len());
    let name = "y".repeat(1 << 20);
    let refusal = read_text(format!("{name},{name},{name}\n1,2,3\n")).err().unwrap();
    assert!(refusal.to_string().len() < 1000, "{}", refusal.found.len());
}

#[test]
fn manifests_that_name_no_files_anybody_has_are_refused() {
    let manifest = |keys: &[String]| {
        let text = serde_json::json!({ "reportKeys": keys }).to_string();
        Manifest::parse(text.as_bytes()).map_err(|refusal| refusal.message())
    };
    let many: Vec<String> = (0..10_001).map(|file| format!("cur/{file}.csv.gz")).collect();
    assert!(manifest(&many[1..]).is_ok());
    for (keys, described) in [
        (many, "a manifest that names 10001 data files"),
        (vec!["a/".repeat(4 << 20)], "a manifest with a key of 8388608 bytes"),
        (vec!["a.csv".to_owned(), "//".to_owned()], "a manifest with the key \u{201c}\u{201d}"),
        (vec!["p/a.csv".to_owned(), "/p/a.csv".to_owned()], "a manifest that names p/a.csv twice"),
    ] {
        let message = manifest(&keys).unwrap_err();
        assert!(message.contains(described), "{message}");
    }
}

#[test]
fn zip_with_a_million_entries_is_refused_by_the_count_at_its_end() {
    let entries = |count| vec![zip_entry("a", ""); count];
    for (count, described) in
        [(1001, "1001 entries"), (65_534, "65534 entries"), (1_000_000, "1000000 entries")]
    {
        let (refusal, read) = refused_zip(zip_of(&entries(count)));
        assert_eq!(
            refusal,
            format!(
                "bill.zip: found a zip with {described}; expected a zip with exactly one billing export inside, and at most \
                 1000 entries"
            )
        );
        assert!(read < 100_000, "{read} bytes were read");
    }
    let (refusal, _) = refused_zip(zip_of(&entries(1000)));
    assert!(refusal.contains("a zip with 1000 files inside (a, a, …)"), "{refusal}");
}

#[test]
fn zip_with_a_table_of_contents_over_a_megabyte_is_refused_unread() {
    let entries = vec![zip_entry("a", &"c".repeat(60_000)); 20];
    let (refusal, read) = refused_zip(zip_of(&entries));
    assert_eq!(
        refusal,
        "bill.zip: found a zip with a table of contents of 1200940 bytes; expected a zip with exactly one billing export \
         inside, and a table of contents of at most 1048576 bytes"
    );
    assert!(read < 100_000, "{read} bytes were read");
}

#[test]
fn zip_whose_last_end_is_wrong_is_refused_without_looking_for_another() {
    let large = zip_of(&vec![zip_entry("a", ""); 1_000_000]);
    // The end that counts says one entry, where there is none.
    let hidden = [large, end_of_zip(1, 47, 0)].concat();
    let ends = [b"PK\x03\x04".to_vec(), end_of_zip(1, 47, 0).repeat(500_000)].concat();
    for zip in [hidden, ends] {
        let (refusal, read) = refused_zip(zip);
        assert!(refusal.contains("a damaged or cut off zip"), "{refusal}");
        assert!(read < 100_000, "{read} bytes were read");
    }
}

#[test]
fn long_names_in_a_zip_are_cut_in_the_message() {
    let entries = [zip_entry(&"a".repeat(60_000), ""), zip_entry(&"b\n".repeat(30_000), "")];
    let (refusal, _) = refused_zip(zip_of(&entries));
    assert!(refusal.contains("a zip with 2 files inside (aaa"), "{refusal}");
    assert!(refusal.len() < 1000 && !refusal.contains('\n'), "{}", refusal.len());
}
