//! Demonstration exports: byte-identical, exact in rows, and summing to what they say.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Index;
use std::rc::Rc;

use gpuledger::accelerator::{PARTS, find_instance, recognize};
use gpuledger::billing::ChargeKey;
use gpuledger::generate::{Format, Plan, Totals, write};
use gpuledger::money::{Currency, Decimal};
use gpuledger::period::BillingMonth;

/// A row whose cells are found by the header's names.
struct Row {
    columns: Rc<HashMap<String, usize>>,
    record: csv::StringRecord,
}

impl Index<&str> for Row {
    type Output = str;

    fn index(&self, column: &str) -> &str {
        &self.record[*self.columns.get(column).unwrap_or_else(|| panic!("no column {column}"))]
    }
}

fn plan(format: Format, rows: u64) -> Plan {
    Plan::new(format, rows, BillingMonth::new(2026, 9).unwrap(), 7)
}

fn generated(plan: &Plan) -> (Vec<u8>, Totals) {
    let mut bytes = Vec::new();
    let totals = write(plan, &mut bytes).unwrap();
    (bytes, totals)
}

fn rows(bytes: &[u8]) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(bytes);
    let columns =
        reader.headers().unwrap().iter().enumerate().map(|(at, name)| (name.to_owned(), at)).collect();
    let columns = Rc::new(columns);
    reader
        .into_records()
        .map(|record| Row { columns: Rc::clone(&columns), record: record.unwrap() })
        .collect()
}

fn number(row: &Row, column: &str) -> Decimal {
    let text = &row[column];
    if text.is_empty() { Decimal::ZERO } else { text.parse().unwrap_or_else(|_| panic!("{column} {text}")) }
}

/// AWS's rules for amortised cost (Cost and Usage Report query library).
fn amortized(row: &Row) -> Decimal {
    match &row["lineItem/LineItemType"] {
        "SavingsPlanCoveredUsage" => number(row, "savingsPlan/SavingsPlanEffectiveCost"),
        "SavingsPlanRecurringFee" => {
            number(row, "savingsPlan/TotalCommitmentToDate") - number(row, "savingsPlan/UsedCommitment")
        }
        "SavingsPlanNegation" | "SavingsPlanUpfrontFee" => Decimal::ZERO,
        "DiscountedUsage" => number(row, "reservation/EffectiveCost"),
        "RIFee" => {
            number(row, "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod")
                + number(row, "reservation/UnusedRecurringFee")
        }
        "Fee" if !row["reservation/ReservationARN"].is_empty() => Decimal::ZERO,
        _ => number(row, "lineItem/UnblendedCost"),
    }
}

fn sums_of_cur(rows: &[Row]) -> Totals {
    let mut parts = BTreeMap::new();
    for row in rows {
        let usage_type = &row["lineItem/UsageType"];
        let is_metered =
            ["Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"].contains(&&row["lineItem/LineItemType"]);
        let machine = usage_type.rsplit(':').next().unwrap();
        if let Some(instance) =
            find_instance("AWS", machine).filter(|_| is_metered && &row["pricing/unit"] == "Hrs")
        {
            assert_eq!(&row["product/instanceType"], machine);
            *parts.entry(instance.model.name).or_insert(Decimal::ZERO) +=
                number(row, "lineItem/UsageAmount").times(instance.accelerators.parts());
        }
    }
    Totals {
        rows: rows.len() as u64,
        billed: rows.iter().map(|row| number(row, "lineItem/UnblendedCost")).sum(),
        effective: rows.iter().map(amortized).sum(),
        list: rows.iter().map(|row| number(row, "pricing/publicOnDemandCost")).sum(),
        accelerator_hours: hours(parts),
    }
}

fn sums_of_focus(rows: &[Row]) -> Totals {
    let mut parts = BTreeMap::new();
    for row in rows {
        let details: serde_json::Value = serde_json::from_str(&row["SkuPriceDetails"]).unwrap_or_default();
        let key = ChargeKey {
            provider: row["ProviderName"].to_owned(),
            instance_type: details["InstanceType"].as_str().unwrap_or_default().to_owned(),
            meter: row["SkuMeter"].to_owned(),
            stated_accelerators: details["GpuCount"]
                .as_u64()
                .map(|count| count.to_string())
                .unwrap_or_default(),
            unit: row["ConsumedUnit"].to_owned(),
            ..ChargeKey::default()
        };
        let is_metered = &row["ChargeCategory"] == "Usage" && &row["CommitmentDiscountStatus"] != "Unused";
        if let Some(found) = recognize(&key).filter(|_| is_metered) {
            *parts.entry(found.model.name).or_insert(Decimal::ZERO) +=
                number(row, "ConsumedQuantity").times(found.per_unit.parts());
        }
    }
    let sum = |column: &str| rows.iter().map(|row| number(row, column)).sum();
    Totals {
        rows: rows.len() as u64,
        billed: sum("BilledCost"),
        effective: sum("EffectiveCost"),
        list: sum("ListCost"),
        accelerator_hours: hours(parts),
    }
}

fn hours(parts: BTreeMap<&'static str, Decimal>) -> BTreeMap<&'static str, Decimal> {
    parts.into_iter().map(|(model, sum)| (model, sum.divide(Decimal::from(PARTS), 12).unwrap())).collect()
}

#[test]
fn it_writes_the_same_bytes_for_the_same_seed() {
    for format in Format::ALL {
        let first = plan(format, 3000);
        let other = Plan { seed: 8, ..first.clone() };
        assert_eq!(generated(&first), generated(&first));
        assert_ne!(generated(&first).0, generated(&other).0);
    }
}

/// A change of these sums is a change of every file that anyone generated before: say so in the changelog.
#[test]
fn it_writes_the_same_bytes_in_every_version() {
    let sha = |format| {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(generated(&plan(format, 20_000)).0);
        format!("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
    };
    assert_eq!((sha(Format::AwsCur), sha(Format::Focus)), ("f4e3772d".to_owned(), "5d32f95e".to_owned()));
}

#[test]
fn it_writes_exactly_as_many_rows_as_asked() {
    for format in Format::ALL {
        for count in (0..40).chain([100, 999, 7443]) {
            let (bytes, totals) = generated(&plan(format, count));
            assert_eq!(totals.rows, count, "{format:?}");
            assert_eq!(rows(&bytes).len() as u64, count, "{format:?}");
        }
    }
}

#[test]
fn it_sums_to_what_it_says() {
    for seed in 0..2 {
        for count in [17, 500, 9000] {
            let cur = Plan { seed, ..plan(Format::AwsCur, count) };
            let (bytes, totals) = generated(&cur);
            assert_eq!(sums_of_cur(&rows(&bytes)), totals, "CUR of {count}, seed {seed}");
        }
        for provider in ["AWS", "Microsoft", "Google Cloud", "Oracle", "Nimbus, \"GPU\" Cloud"] {
            let focus = Plan { seed, provider: provider.to_owned(), ..plan(Format::Focus, 2000) };
            let (bytes, totals) = generated(&focus);
            assert_eq!(sums_of_focus(&rows(&bytes)), totals, "FOCUS of {provider}, seed {seed}");
            assert!(!totals.accelerator_hours.is_empty());
        }
    }
}

#[test]
fn it_writes_a_cur_with_something_of_everything() {
    let (bytes, totals) = generated(&plan(Format::AwsCur, 30_000));
    let rows = rows(&bytes);
    let kinds: BTreeSet<&str> = rows.iter().map(|row| &row["lineItem/LineItemType"]).collect();
    let expected = [
        "Credit",
        "DiscountedUsage",
        "EdpDiscount",
        "Fee",
        "RIFee",
        "Refund",
        "SavingsPlanCoveredUsage",
        "SavingsPlanNegation",
        "SavingsPlanRecurringFee",
        "Tax",
        "Usage",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    assert_eq!(csv::Reader::from_reader(&*bytes).headers().unwrap().len(), 135);
    let mean = bytes.len() / rows.len();
    assert!((600..=780).contains(&mean), "{mean} bytes a row");

    let teams: BTreeSet<&str> = rows.iter().map(|row| &row["resourceTags/user:team"]).collect();
    assert!(
        teams.is_superset(&BTreeSet::from(["", "research", "Reserch", " vision", "platform"])),
        "{teams:?}"
    );
    assert!(rows.iter().any(|row| !row["resourceTags/user:Team"].is_empty()));
    assert!(rows.iter().any(|row| &row["resourceTags/user:project"] == "diffusion, \"v2\""));
    assert!(rows.iter().any(|row| row["lineItem/UsageAccountId"].starts_with('0')));
    assert!(rows.iter().all(|row| row["lineItem/UsageAccountId"].len() == 12));
    assert!(rows.iter().any(|row| row["lineItem/UsageType"].contains("SpotUsage:")));
    let ids: BTreeSet<&str> = rows.iter().map(|row| &row["identity/LineItemId"]).collect();
    assert_eq!(ids.len(), rows.len());
    // Unused commitment: what is billed and not used is in the effective cost, and never negative.
    for row in rows.iter().filter(|row| &row["lineItem/LineItemType"] == "SavingsPlanRecurringFee") {
        assert!(!amortized(row).is_negative());
    }
    assert!(totals.effective != totals.billed);
}

#[test]
fn it_runs_machines_for_consecutive_hours() {
    let (bytes, _) = generated(&plan(Format::AwsCur, 30_000));
    let mut runs: HashMap<String, Vec<String>> = HashMap::new();
    for row in rows(&bytes) {
        if row["lineItem/ResourceId"].starts_with("i-0")
            && !row["product/instanceType"].is_empty()
            && &row["lineItem/LineItemType"] != "SavingsPlanNegation"
        {
            let interval = row["identity/TimeInterval"].to_owned();
            runs.entry(row["lineItem/ResourceId"].to_owned()).or_default().push(interval);
        }
    }
    assert!(runs.len() > 100);
    for hours in runs.values() {
        for pair in hours.windows(2) {
            let (_, end) = pair[0].split_once('/').unwrap();
            assert!(pair[1].starts_with(end), "{pair:?}");
        }
    }
    assert!(runs.values().any(|hours| hours.len() > 24));
}

#[test]
fn it_makes_about_as_many_keys_and_experiments_as_asked() {
    for (keys, experiments) in [(300, 20), (2000, 300)] {
        let plan = Plan { keys, experiments, ..plan(Format::AwsCur, 30_000) };
        let (bytes, _) = generated(&plan);
        let rows = rows(&bytes);
        let found: BTreeSet<&str> = rows.iter().map(|row| &row["resourceTags/user:experiment"]).collect();
        let asked = experiments as usize;
        // And the empty one.
        assert!((asked * 9 / 10..=asked + 1).contains(&found.len()), "{asked} asked, {} made", found.len());
        let distinct: BTreeSet<Vec<&str>> = rows
            .iter()
            .map(|row| {
                let is_accelerator = !row["product/gpu"].is_empty();
                let mut key: Vec<&str> = [
                    "lineItem/UsageAccountId",
                    "lineItem/LineItemType",
                    "lineItem/UsageType",
                    "lineItem/ProductCode",
                    "product/regionCode",
                    "resourceTags/user:team",
                    "resourceTags/user:Team",
                    "resourceTags/user:experiment",
                    "resourceTags/user:project",
                    "resourceTags/user:environment",
                ]
                .iter()
                .map(|column| &row[column])
                .collect();
                key.extend(is_accelerator.then_some(&row["lineItem/ResourceId"]));
                key
            })
            .collect();
        let asked = keys as usize;
        // Transfers and requests of each account come on top, however few keys are asked for.
        let most = asked * 3 / 2 + 250;
        assert!((asked * 2 / 3..=most).contains(&distinct.len()), "{asked} asked, {} made", distinct.len());
    }
}

#[test]
fn it_states_currency_account_and_invoice_as_planned() {
    let odd = Plan {
        currency: Currency::parse("Tokens, \"fine\"").unwrap(),
        billing_account: "/providers/a, \"b\"".to_owned(),
        provider: "Nimbus, Inc.".to_owned(),
        invoice_id: Some("1,2".to_owned()),
        ..plan(Format::Focus, 300)
    };
    for row in rows(&generated(&odd).0) {
        assert_eq!(&row["BillingCurrency"], "Tokens, \"fine\"");
        assert_eq!(&row["BillingAccountId"], "/providers/a, \"b\"");
        assert_eq!((&row["ProviderName"], &row["InvoiceId"]), ("Nimbus, Inc.", "1,2"));
    }
    let plan = Plan {
        currency: Currency::parse("EUR").unwrap(),
        billing_account: "000123456789".to_owned(),
        invoice_id: Some("INV-2026-09".to_owned()),
        ..plan(Format::AwsCur, 600)
    };
    for row in rows(&generated(&plan).0) {
        assert_eq!(&row["lineItem/CurrencyCode"], "EUR");
        assert_eq!(&row["bill/PayerAccountId"], "000123456789");
        assert_eq!(&row["bill/InvoiceId"], "INV-2026-09");
    }
}

#[test]
fn it_writes_focus_with_something_of_everything() {
    let (bytes, _) = generated(&plan(Format::Focus, 30_000));
    let rows = rows(&bytes);
    let distinct =
        |column: &str| -> BTreeSet<String> { rows.iter().map(|row| row[column].to_owned()).collect() };
    let set = |texts: &[&str]| -> BTreeSet<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    assert_eq!(csv::Reader::from_reader(&*bytes).headers().unwrap().len(), 57);
    assert_eq!(distinct("ChargeCategory"), set(&["Adjustment", "Credit", "Purchase", "Tax", "Usage"]));
    assert_eq!(distinct("PricingCategory"), set(&["", "Committed", "Dynamic", "Standard"]));
    assert_eq!(distinct("CommitmentDiscountStatus"), set(&["", "Unused", "Used"]));
    for row in &rows {
        let tags: HashMap<String, String> =
            serde_json::from_str(&row["Tags"]).unwrap_or_else(|_| panic!("{:?}", row.record));
        assert!(tags.keys().all(|key| !key.is_empty()));
        assert!(row["SkuPriceDetails"].is_empty() || row["SkuPriceDetails"].starts_with('{'));
        assert_eq!(&row["BillingPeriodEnd"], "2026-10-01T00:00:00Z");
        if &row["ChargeCategory"] == "Purchase" && !row["CommitmentDiscountId"].is_empty() {
            assert_eq!(&row["EffectiveCost"], "0");
        }
        if &row["CommitmentDiscountStatus"] == "Used" {
            assert_eq!(&row["BilledCost"], "0");
        }
    }
    assert!(rows.iter().any(|row| row["Tags"].contains("diffusion")));
}
