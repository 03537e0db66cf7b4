//! What files cost that somebody wrote to cost much: each of these took minutes or hours once. The time that a test may
//! take at all is what they fail by.

use std::fmt::Write as _;
use std::io::Cursor;

use gpuledger::billing::{self, Manifest, Rejection};

use super::{Reading, read};

const FOCUS: &str = "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,\
                     ChargePeriodEnd,ChargeCategory,ProviderName";
const ROW: &str =
    "1,1,acme,USD,2026-09-01T00:00:00Z,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,Usage,NeoCloud";
const CUR: &str = "line_item_line_item_type,line_item_unblended_cost,line_item_currency_code,line_item_usage_start_date,\
                   line_item_usage_end_date,bill_payer_account_id,bill_billing_period_start_date";
const CUR_ROW: &str =
    "Usage,1,USD,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,012345678901,2026-09-01T00:00:00Z";

fn open(text: String) -> Result<Reading, billing::Refusal> {
    read(billing::open("bill.csv", Cursor::new(text.into_bytes()), None)?)
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
        let reading = open(format!("{header}\n{row},{}\n{row},{}\n", tags(40_000), tags(1000))).unwrap();
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
    let refusal = open(format!("{columns}\n")).err().unwrap();
    assert_eq!(
        refusal.to_string(),
        "bill.csv: found a header of 200007 columns; expected a billing export, which has at most 10000"
    );
}

#[test]
fn apostrophes_before_millions_of_cells_are_taken_away_at_once() {
    let cells = "'=1,".repeat(3_000_000);
    let reading = open(format!("{FOCUS},Tags,gpuledger/Escaped\n{cells}yes\n'{ROW},,yes\n")).unwrap();
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
    let reading = open(format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let told: Vec<String> =
        reading.rejected.iter().map(|it| format!("{}; {}", it.found, it.expected)).collect();
    assert!(told[0].ends_with("; a name of at most 1000 bytes"), "{told:?}");
    assert_eq!(
        told[1..],
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
    let reading = open(format!("{FOCUS}\n{row}\n")).unwrap();
    assert!(reading.rejected[0].to_string().len() < 400, "{}", reading.rejected[0].expected.len());
    let name = "y".repeat(1 << 20);
    let refusal = open(format!("{name},{name},{name}\n1,2,3\n")).err().unwrap();
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
    for (keys, told) in [
        (many, "a manifest that names 10001 data files"),
        (vec!["a/".repeat(4 << 20)], "a manifest with a key of 8388608 bytes"),
        (vec!["a.csv".to_owned(), "//".to_owned()], "a manifest with the key \u{201c}\u{201d}"),
        (vec!["p/a.csv".to_owned(), "/p/a.csv".to_owned()], "a manifest that names p/a.csv twice"),
    ] {
        let message = manifest(&keys).unwrap_err();
        assert!(message.contains(told), "{message}");
    }
}
