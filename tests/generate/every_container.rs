//! Every format in every container: the same rows, which sum to what was promised, and which our readers read alike.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use gpuledger::accelerator::{PARTS, find_instance, recognize};
use gpuledger::billing::{self, Charge, ChargeKey, Step};
use gpuledger::generate::{
    Agreement, Container, Dataset, Destination, Format, Plan, Totals, write, write_files,
};
use gpuledger::money::Decimal;

use super::plain_reader::{Cells, list, number, rows};

/// Every format, and Azure's four ways.
fn plans(count: u64, seed: u64) -> Vec<Plan> {
    let mut plans = Vec::new();
    for format in Format::ALL {
        let plan = Plan::new(format, count, "2026-09".parse().unwrap(), seed);
        if format != Format::AzureUsage {
            plans.push(plan);
            continue;
        }
        for agreement in Agreement::ALL {
            for dataset in Dataset::ALL {
                plans.push(Plan { dataset, agreement, ..plan.clone() });
            }
        }
    }
    plans
}

fn generated(plan: &Plan, container: Container) -> (Vec<u8>, Totals) {
    let mut bytes = Vec::new();
    let totals = write(&Plan { container, ..plan.clone() }, &mut bytes).unwrap();
    (bytes, totals)
}

fn of(plan: &Plan, container: Container) -> String {
    format!("{} {} {} in {container}", plan.format, plan.dataset, plan.agreement)
}

#[test]
fn the_same_seed_is_the_same_bytes() {
    for plan in plans(1200, 7) {
        for plan in [plan.clone(), Plan { is_fleet: true, ..plan }] {
            for container in Container::ALL {
                let first = generated(&plan, container);
                assert!(first == generated(&plan, container), "{}", of(&plan, container));
                let other = Plan { seed: 8, ..plan.clone() };
                assert!(first.0 != generated(&other, container).0, "{}", of(&plan, container));
            }
        }
    }
}

#[test]
fn rows_sum_to_what_was_promised() {
    for count in [60, 3000] {
        for plan in plans(count, 3) {
            for plan in [plan.clone(), Plan { is_fleet: true, ..plan }] {
                for container in Container::ALL {
                    let (bytes, totals) = generated(&plan, container);
                    let rows = rows(container, &bytes);
                    assert_eq!(sums(&plan, &rows), totals, "{}", of(&plan, container));
                    assert!(!totals.accelerator_hours.is_empty(), "{}", of(&plan, container));
                }
            }
        }
    }
}

/// Not the legacy report of AWS, whose columns have other names in Parquet.
#[test]
fn every_container_holds_the_same_rows() {
    for plan in plans(2000, 5).into_iter().filter(|plan| plan.format != Format::AwsCur) {
        let of_csv: Vec<Cells> = plain(rows(Container::Csv, &generated(&plan, Container::Csv).0));
        for container in [Container::Json, Container::Parquet] {
            let found = plain(rows(container, &generated(&plan, container).0));
            assert_eq!(found.len(), of_csv.len());
            for (at, (found, expected)) in found.iter().zip(&of_csv).enumerate() {
                assert_eq!(found, expected, "{}, row {at}", of(&plan, container));
            }
        }
    }
}

#[test]
fn files_hold_the_rows_of_one_file_in_their_order() {
    for plan in plans(1000, 2) {
        for container in Container::ALL {
            let (whole, totals) = generated(&plan, container);
            let mut files: Vec<Vec<u8>> = vec![Vec::new(); 3];
            let mut left = files.iter_mut();
            let open = move |_| Ok(Box::new(left.next().unwrap()) as Destination<'_>);
            let spread = Plan { container, files: 3, ..plan.clone() };
            let of_files = write_files(&spread, Box::new(open)).unwrap();
            assert_eq!(of_files, Totals { files: 3, ..totals }, "{}", of(&plan, container));
            let parts: Vec<Vec<Cells>> = files.iter().map(|file| rows(container, file)).collect();
            assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [334, 334, 332]);
            assert_eq!(parts.concat(), rows(container, &whole), "{}", of(&plan, container));
        }
    }
}

/// What the product reads already: the same charges, whatever they came in.
#[test]
fn our_readers_read_the_same_charges_out_of_every_container() {
    for format in [Format::AwsCur, Format::AwsCur2, Format::Focus] {
        for is_fleet in [false, true] {
            let plan = Plan { is_fleet, ..Plan::new(format, 5000, "2026-09".parse().unwrap(), 11) };
            let (of_csv, totals) = read(&plan, Container::Csv);
            let sum = |charges: &[Charge], cost: fn(&Charge) -> Decimal| -> Decimal {
                charges.iter().map(cost).sum()
            };
            assert_eq!(sum(&of_csv, |charge| charge.billed_cost), totals.billed, "{format}");
            assert_eq!(sum(&of_csv, |charge| charge.effective_cost), totals.effective, "{format}");
            for container in [Container::Json, Container::Parquet] {
                let (found, _) = read(&plan, container);
                assert_eq!(found.len(), of_csv.len(), "{}", of(&plan, container));
                let is_renamed = format == Format::AwsCur && container == Container::Parquet;
                for (at, (found, expected)) in found.iter().zip(&of_csv).enumerate() {
                    // Athena's names of tags are others.
                    let compared = |charge: &Charge| {
                        let mut charge = Charge { key_cells: Vec::new(), ..charge.clone() };
                        if is_renamed {
                            charge.tags = billing::Tags::default();
                        }
                        format!("{charge:?}")
                    };
                    assert_eq!(compared(found), compared(expected), "{}, row {at}", of(&plan, container));
                }
            }
        }
    }
}

#[test]
fn google_bills_gpus_apart_and_has_its_habits() {
    let plan = Plan::new(Format::GcpBilling, 9000, "2026-09".parse().unwrap(), 4);
    let rows_of = |plan: &Plan| rows(Container::Json, &generated(plan, Container::Json).0);
    let of_new = rows_of(&plan);
    let kinds: BTreeSet<&str> = of_new.iter().map(|row| row["costtype"].as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["adjustment", "regular", "rounding_error", "tax"]));
    assert!(of_new.iter().all(|row| row["invoicemonth"] == "202609"));
    // The month of California ends seven hours behind the month in UTC; what corrects the month before is of it.
    assert!(of_new.iter().any(|row| row["usageendtime"].starts_with("2026-10-01 07:00")));
    let begin = of_new.iter().filter(|row| row["costtype"] == "regular").map(|row| &row["usagestarttime"]);
    assert_eq!(begin.min().unwrap(), "2026-09-01 07:00:00 UTC");
    assert!(
        of_new
            .iter()
            .any(|row| row["costtype"] == "adjustment" && row["usagestarttime"].starts_with("2026-08"))
    );
    let is_late = |row: &&Cells| {
        row.contains_key("resourcename") && row["exporttime"][..10] > row["usageendtime"][..10]
    };
    let (late, all) = (of_new.iter().filter(is_late).count(), of_new.len());
    assert!((all / 5..all * 3 / 5).contains(&late), "{late} of {all}");

    let credits = |rows: &[Cells]| -> BTreeSet<String> {
        rows.iter().flat_map(|row| list(row, "credits")).map(|credit| credit["type"].clone()).collect()
    };
    let new_model = credits(&of_new);
    assert!(new_model.contains("FEE_UTILIZATION_OFFSET") && new_model.contains("COMMITTED_USAGE_DISCOUNT"));
    let covered = |rows: &[Cells]| {
        rows.iter()
            .filter(|row| row.get("consumptionmodeldescription").is_some_and(|it| it != "Default"))
            .count()
    };
    assert!(covered(&of_new) > 100);
    let of_old = rows_of(&Plan { month: "2025-09".parse().unwrap(), ..plan });
    let old_model = credits(&of_old);
    assert!(old_model.contains("COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"));
    assert!(!old_model.contains("FEE_UTILIZATION_OFFSET"));
    assert_eq!(covered(&of_old), 0);

    // GPUs, cores and memory of one machine's hour.
    let mut parts: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for row in
        of_new.iter().filter(|row| row.get("systemlabels").is_some_and(|it| it.contains("a3-highgpu-8g")))
    {
        parts
            .entry((&row["resourcename"], &row["usagestarttime"]))
            .or_default()
            .insert(&row["skudescription"]);
    }
    assert!(!parts.is_empty() && parts.values().all(|skus| skus.len() == 3), "{parts:?}");
    let labels: Vec<_> = of_new.iter().flat_map(|row| list(row, "labels")).collect();
    assert!(labels.iter().any(|label| label["key"] == "goog-k8s-cluster-name"));
    let is_allowed = |text: &str| !text.chars().any(|letter| letter.is_uppercase() || letter == ' ');
    assert!(labels.iter().all(|label| is_allowed(&label["key"]) && is_allowed(&label["value"])));
}

#[test]
fn both_datasets_of_azure_have_the_same_usage() {
    for agreement in Agreement::ALL {
        let plan = Plan { agreement, ..Plan::new(Format::AzureUsage, 6000, "2026-09".parse().unwrap(), 9) };
        let [actual, amortized] = Dataset::ALL.map(|dataset| {
            rows(Container::Csv, &generated(&Plan { dataset, ..plan.clone() }, Container::Csv).0)
        });
        let kinds = |rows: &[Cells]| -> BTreeSet<String> {
            rows.iter().map(|row| row["chargetype"].clone()).collect()
        };
        let mut of_actual = BTreeSet::from(["Purchase", "Refund", "Usage"]);
        let mut of_amortized =
            BTreeSet::from(["Purchase", "Refund", "UnusedReservation", "UnusedSavingsPlan", "Usage"]);
        if agreement == Agreement::Customer {
            of_actual.insert("RoundingAdjustment");
            of_amortized.insert("RoundingAdjustment");
        }
        assert_eq!(kinds(&actual), of_actual.into_iter().map(str::to_owned).collect());
        assert_eq!(kinds(&amortized), of_amortized.into_iter().map(str::to_owned).collect());
        let usage = |rows: &[Cells]| -> Vec<Vec<String>> {
            let usage = rows.iter().filter(|row| row["chargetype"] == "Usage");
            usage
                .map(|row| ["date", "resourceid", "quantity", "metername"].map(|key| row[key].clone()).into())
                .collect()
        };
        assert_eq!(usage(&actual), usage(&amortized));
        let cost = if agreement == Agreement::Enterprise { "cost" } else { "costinbillingcurrency" };
        let is_covered = |row: &&Cells| {
            row["chargetype"] == "Usage" && ["Reservation", "SavingsPlan"].contains(&&*row["pricingmodel"])
        };
        assert!(actual.iter().filter(is_covered).all(|row| row[cost] == "0"));
        assert!(amortized.iter().filter(is_covered).all(|row| row[cost] != "0"));
        assert!(
            amortized.iter().all(|row| row["chargetype"] != "Purchase" || row["pricingmodel"] == "OnDemand")
        );
        // What a price and a quantity say is what it costs.
        for row in actual.iter().chain(&amortized).filter(|row| row["chargetype"] == "Usage") {
            let price = number(row, "effectiveprice");
            assert_eq!(price.multiply(number(row, "quantity")), number(row, cost), "{row:?}");
        }
        let tags: Vec<&String> = actual.iter().filter_map(|row| row.get("tags")).collect();
        assert!(tags.iter().all(|tags| tags.starts_with('{') == (agreement == Agreement::Customer)));
        assert!(actual.iter().all(|row| row["date"].len() == 10 && row["date"].starts_with("09/")));
    }
}

#[test]
fn corrections_of_oracle_name_rows_of_the_report() {
    let plan = Plan::new(Format::OciCost, 9000, "2026-09".parse().unwrap(), 6);
    let rows = rows(Container::Csv, &generated(&plan, Container::Csv).0);
    let references: BTreeSet<&str> = rows.iter().map(|row| row["lineitemreferenceno"].as_str()).collect();
    assert_eq!(references.len(), rows.len());
    let corrections: Vec<&Cells> = rows.iter().filter(|row| row["lineitemiscorrection"] == "true").collect();
    assert!(corrections.len() > 3);
    assert!(corrections.iter().all(|row| references.contains(row["lineitembackreferenceno"].as_str())));
    assert!(rows.iter().any(|row| row.get("costmycost").is_some_and(|cost| cost.contains("E-"))));
    assert!(rows.iter().any(|row| !row.contains_key("costmycost")), "some of it is free");
    assert!(rows.iter().all(|row| row["lineitemintervalusagestart"].len() == 17));
}

/// Cells as they compare over containers: numbers by their value, times as Parquet has them.
fn plain(rows: Vec<Cells>) -> Vec<Cells> {
    let cell = |(key, text): (String, String)| {
        // More digits than a double has: bytes and seconds multiplied.
        if key == "usageamount" {
            return None;
        }
        let text = match text.parse::<Decimal>() {
            Ok(number) => number.normalize().to_string(),
            Err(_) => time(&text).unwrap_or(text),
        };
        // A list without an element is nothing in JSON and CSV.
        (text != "[]").then_some((key, text))
    };
    rows.into_iter().map(|row| row.into_iter().filter_map(cell).collect()).collect()
}

fn time(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    match bytes {
        [_, _, b'/', _, _, b'/', ..] if bytes.len() == 10 => {
            Some(format!("{}-{}-{}T00:00:00Z", &text[6..], &text[..2], &text[3..5]))
        }
        [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b' ', ..] if bytes.len() > 19 && bytes[13] == b':' => {
            text.get(19..).filter(|end| ["Z", ".000Z", " UTC"].contains(end))?;
            Some(format!("{}T{}Z", &text[..10], &text[11..19]))
        }
        _ => None,
    }
}

fn read(plan: &Plan, container: Container) -> (Vec<Charge>, Totals) {
    let (bytes, totals) = generated(plan, container);
    let mut export = billing::open("bill", Cursor::new(bytes), &billing::ReadAs::any()).unwrap();
    let (mut charge, mut charges) = (Charge::default(), Vec::new());
    while let Some(step) = export.next(&mut charge).unwrap() {
        assert_eq!(step, Step::Charge, "{}, row {}", of(plan, container), export.row());
        charges.push(charge.clone());
    }
    assert_eq!(charges.len() as u64, totals.rows);
    (charges, totals)
}

fn sums(plan: &Plan, rows: &[Cells]) -> Totals {
    let sum = |key: &str| -> Decimal { rows.iter().map(|row| number(row, key)).sum() };
    let zero = Decimal::ZERO;
    let (billed, effective, listed) = match plan.format {
        Format::AwsCur | Format::AwsCur2 => {
            (sum("lineitemunblendedcost"), rows.iter().map(amortized).sum(), sum("pricingpublicondemandcost"))
        }
        Format::Focus => (sum("billedcost"), sum("effectivecost"), sum("listcost")),
        Format::GcpBilling => {
            let credits = rows.iter().flat_map(|row| list(row, "credits"));
            let credited: Decimal = credits.map(|credit| credit["amount"].parse::<Decimal>().unwrap()).sum();
            let net = sum("cost") + credited;
            (net, net, sum("costatlist"))
        }
        Format::AzureUsage => {
            let cost = sum("cost") + sum("costinbillingcurrency");
            match plan.dataset {
                Dataset::Actual => (cost, zero, zero),
                Dataset::Amortized => (zero, cost, zero),
            }
        }
        Format::OciCost => {
            let cost = sum("costmycost");
            (cost, cost, zero)
        }
    };
    Totals {
        files: 1,
        rows: rows.len() as u64,
        billed,
        effective,
        list: listed,
        accelerator_hours: hours(plan, rows),
        teams: BTreeMap::new(),
    }
}

/// AWS's rules for amortized cost (Cost and Usage Report query library).
fn amortized(row: &Cells) -> Decimal {
    let of = |key: &str| number(row, key);
    match row["lineitemlineitemtype"].as_str() {
        "SavingsPlanCoveredUsage" => of("savingsplansavingsplaneffectivecost"),
        "SavingsPlanRecurringFee" => of("savingsplantotalcommitmenttodate") - of("savingsplanusedcommitment"),
        "SavingsPlanNegation" => Decimal::ZERO,
        "DiscountedUsage" => of("reservationeffectivecost"),
        "RIFee" => {
            of("reservationunusedamortizedupfrontfeeforbillingperiod") + of("reservationunusedrecurringfee")
        }
        "Fee" if row.contains_key("reservationreservationarn") => Decimal::ZERO,
        _ => of("lineitemunblendedcost"),
    }
}

fn hours(plan: &Plan, rows: &[Cells]) -> BTreeMap<&'static str, Decimal> {
    let mut parts: BTreeMap<&'static str, Decimal> = BTreeMap::new();
    let mut add = |model, quantity: Decimal, of_one: i64| {
        *parts.entry(model).or_insert(Decimal::ZERO) += quantity.times(of_one);
    };
    let text = |row: &Cells, key: &str| row.get(key).cloned().unwrap_or_default();
    match plan.format {
        Format::AwsCur | Format::AwsCur2 => {
            for row in rows {
                let kinds = ["Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"];
                if kinds.contains(&row["lineitemlineitemtype"].as_str())
                    && let Some(found) = find_instance("AWS", &text(row, "productinstancetype"))
                {
                    add(found.model.name, number(row, "lineitemusageamount"), found.accelerators.parts());
                }
            }
        }
        Format::AzureUsage => {
            for row in rows.iter().filter(|row| row["chargetype"] == "Usage") {
                let info: BTreeMap<String, serde_json::Value> =
                    serde_json::from_str(&text(row, "additionalinfo")).unwrap_or_default();
                let machine = info.get("ServiceType").and_then(|it| it.as_str()).unwrap_or_default();
                if let Some(found) = find_instance("Microsoft", machine) {
                    add(found.model.name, number(row, "quantity"), found.accelerators.parts());
                }
            }
        }
        Format::Focus | Format::GcpBilling | Format::OciCost => {
            let (provider, meter, unit, quantity) = match plan.format {
                Format::Focus => ("AWS", "skumeter", "consumedunit", "consumedquantity"),
                Format::GcpBilling => {
                    ("Google Cloud", "skudescription", "usagepricingunit", "usageamountinpricingunits")
                }
                _ => ("Oracle", "productdescription", "costskuunitdescription", "usagebilledquantity"),
            };
            for row in rows {
                let details: BTreeMap<String, serde_json::Value> =
                    serde_json::from_str(&text(row, "skupricedetails")).unwrap_or_default();
                let key = ChargeKey {
                    provider: provider.to_owned(),
                    instance_type: details
                        .get("InstanceType")
                        .and_then(|it| it.as_str())
                        .unwrap_or_default()
                        .to_owned(),
                    meter: text(row, meter),
                    unit: text(row, unit),
                    ..ChargeKey::default()
                };
                let is_unused = row.get("commitmentdiscountstatus").is_some_and(|it| it == "Unused");
                let is_other = row.get("chargecategory").is_some_and(|it| it != "Usage");
                if !is_unused
                    && !is_other
                    && let Some(found) = recognize(&key)
                {
                    add(found.model.name, number(row, quantity), found.per_unit.parts());
                }
            }
        }
    }
    parts.into_iter().map(|(model, sum)| (model, sum.divide(Decimal::from(PARTS), 12).unwrap())).collect()
}
