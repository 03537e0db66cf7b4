//! Azure's cost and usage details: its names, its dates, its two kinds of cost, and what is wrong with them.

use std::io::Cursor;
use std::path::Path;

use gpuledger::accelerator;
use gpuledger::billing::{self, Statement};
use gpuledger::money::Decimal;

use super::{Reading, read, read_path, read_text};
use crate::support::files;

/// An enterprise agreement's export of a day, with these cells in place of the usual ones.
fn export(cells: &[(&str, &str)]) -> String {
    let usual = [
        ("BillingAccountId", "4711001"),
        ("BillingProfileId", "4711001"),
        ("BillingPeriodStartDate", "09/01/2026"),
        ("BillingPeriodEndDate", "09/30/2026"),
        ("SubscriptionId", "0A1B-22"),
        ("Date", "09/07/2026"),
        ("MeterCategory", "Virtual Machines"),
        ("MeterName", "ND96asr A100 v4"),
        ("Quantity", "24"),
        ("UnitOfMeasure", "100 Hours"),
        ("UnitPrice", "27.2"),
        ("Cost", "652.8"),
        ("BillingCurrency", "USD"),
        ("ChargeType", "Usage"),
        ("PricingModel", "OnDemand"),
        ("ReservationId", ""),
    ];
    let mut columns: Vec<(&str, &str)> = usual.to_vec();
    for (name, value) in cells {
        match columns.iter_mut().find(|(column, _)| column == name) {
            Some(column) => column.1 = value,
            None => columns.push((name, value)),
        }
    }
    let line = |cells: Vec<&str>| cells.join(",");
    let (names, values) = columns.into_iter().unzip();
    format!("{}\n{}\n", line(names), line(values))
}

#[track_caller]
fn read_one(cells: &[(&str, &str)]) -> Reading {
    let reading = read_text(export(cells)).unwrap();
    assert_eq!(reading.rejected, []);
    assert_eq!((reading.format.as_str(), reading.charges.len()), ("azure-usage", 1));
    reading
}

/// Each line: the columns of one agreement, and the account as Azure's FOCUS export of it states it.
#[test]
fn accounts_are_those_of_the_focus_export() {
    let focus = |account: &str, profile: &str, subscription: &str| {
        let header = "BilledCost,EffectiveCost,BillingAccountId,x_BillingProfileId,BillingCurrency,BillingPeriodStart,\
                      ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ProviderName,SubAccountId";
        let row = format!(
            "1,1,{account},{profile},USD,2026-09-01T00:00:00Z,2026-09-07T00:00:00Z,2026-09-08T00:00:00Z,Usage,Microsoft,\
             /subscriptions/{subscription}"
        );
        read_text(format!("{header}\n{row}\n")).unwrap()
    };
    let path = "/providers/Microsoft.Billing/billingAccounts/";
    for (columns, account, profile) in [
        (
            &[("BillingAccountId", "4711001"), ("BillingProfileId", "4711001")][..],
            format!("{path}4711001"),
            "4711001",
        ),
        (
            &[("BillingAccountId", "7C2E:91F0_2019-05-31"), ("BillingProfileId", "AB12-CD")],
            format!("{path}7c2e:91f0_2019-05-31/billingProfiles/AB12-CD"),
            "",
        ),
        (
            &[("BillingAccountId", "7C2E:91F0_2019-05-31"), ("BillingProfileId", "AB12-CD")],
            format!("{path}7c2e:91f0_2019-05-31"),
            "AB12-CD",
        ),
        (&[("BillingAccountId", ""), ("BillingProfileId", "")], "/subscriptions/0a1b-22".to_owned(), ""),
    ] {
        let own = read_one(columns);
        let focus = focus(&account, profile, "0a1b-22");
        let (own, focus) = (&own.charges[0], &focus.charges[0]);
        assert_eq!(own.key.provider, focus.key.provider);
        assert_eq!(own.key.billing_account, focus.key.billing_account, "{account} {profile}");
        assert_eq!(own.key.sub_account, focus.key.sub_account);
        assert_eq!(own.billing_month(), focus.billing_month());
    }
}

#[test]
fn hours_are_plain_hours_whatever_block_the_unit_names() {
    for unit in ["1 Hour", "10 Hours", "100 Hours", "1 Hours"] {
        let reading = read_one(&[("UnitOfMeasure", unit)]);
        let charge = &reading.charges[0];
        let found = accelerator::recognize(&charge.key).unwrap();
        let parts = charge.consumed_quantity.unwrap().times(found.per_unit.parts());
        let parts = parts.times(found.seconds_per_unit.into());
        assert_eq!(accelerator::accelerator_hours(parts, 0), Decimal::from(192), "{unit}");
        assert!(charge.is_metered);
    }
    let license =
        read_one(&[("MeterName", "96 vCPU VM License"), ("MeterCategory", "Virtual Machines Licenses")]);
    assert_eq!(accelerator::recognize(&license.charges[0].key), None, "a license is no machine");
}

#[test]
fn dates_are_read_in_the_order_of_the_file_and_month_first_where_nothing_proves_one() {
    let none = [("BillingPeriodStartDate", ""), ("BillingPeriodEndDate", "")];
    for (cells, day, month) in [
        (&[("Date", "09/07/2026")][..], "2026-09-07", "2026-09"),
        (&[("Date", "9/7/2026"), none[0], none[1]], "2026-09-07", "2026-09"),
        (&[("Date", "2026-09-07 00:00:00"), none[0], none[1]], "2026-09-07", "2026-09"),
        (&[("Date", "2026-09-07T13:00:00Z"), none[0], none[1]], "2026-09-07", "2026-09"),
        // Its billing period lasts a month in one order only.
        (
            &[
                ("Date", "07/09/2026"),
                ("BillingPeriodStartDate", "01/09/2026"),
                ("BillingPeriodEndDate", "30/09/2026"),
            ],
            "2026-09-07",
            "2026-09",
        ),
        // A period from the middle of a month on is billed with the month that most of it lies in.
        (
            &[("BillingPeriodStartDate", "2026-09-20"), ("BillingPeriodEndDate", "2026-10-19")],
            "2026-09-07",
            "2026-10",
        ),
        (
            &[("BillingPeriodStartDate", "2026-09-01"), ("BillingPeriodEndDate", "2026-09-01")],
            "2026-09-07",
            "2026-09",
        ),
    ] {
        let reading = read_one(cells);
        let charge = &reading.charges[0];
        assert_eq!(charge.period.start.date_naive().to_string(), day, "{cells:?}");
        assert_eq!((charge.period.end - charge.period.start).num_hours(), 24, "{cells:?}");
        assert_eq!(charge.billing_month().to_string(), month, "{cells:?}");
    }
}

#[test]
fn costs_at_other_prices_are_those_that_the_row_states() {
    for (cells, contracted, list) in [
        (&[("PayGPrice", "30")][..], "652.8", "720"),
        (&[("PayGPrice", "0")], "652.8", "652.8"),
        (&[("UnitPrice", "30"), ("PayGPrice", "40")], "720", "960"),
        (&[("UnitPrice", "0")], "652.8", "652.8"),
        // Azure computed the cost of a quantity with more digits than it writes.
        (&[("Cost", "652.8001"), ("EffectivePrice", "27.2"), ("PayGPrice", "27.2")], "652.8001", "652.8001"),
        (&[("PricingModel", "Reservation"), ("Cost", "0"), ("EffectivePrice", "0")], "652.8", "652.8"),
        (
            &[("pricingCurrency", "EUR"), ("exchangeRatePricingToBilling", "1.1"), ("PayGPrice", "30")],
            "718.08",
            "792",
        ),
        (&[("pricingCurrency", "EUR"), ("PayGPrice", "30")], "652.8", "652.8"),
        (&[("paygCostInBillingCurrency", "700")], "652.8", "700"),
        (&[("ChargeType", "Purchase"), ("PayGPrice", "30")], "652.8", "652.8"),
        (&[("ChargeType", "UnusedReservation"), ("PayGPrice", "30")], "0", "0"),
        // Amounts have forty digits behind the point, and 24 before it.
        (
            &[
                ("UnitPrice", "0.3333333333333333333333333333333333333333"),
                ("pricingCurrency", "EUR"),
                ("exchangeRatePricingToBilling", "0.1"),
            ],
            "0.7999999999999999999999999999999999999999",
            "0.7999999999999999999999999999999999999999",
        ),
        (&[("UnitPrice", "99999999999999999999999")], "652.8", "652.8"),
    ] {
        let reading = read_one(cells);
        let is = |text: &str| text.parse::<Decimal>().unwrap();
        assert_eq!((reading.contracted(), reading.list()), (is(contracted), is(list)), "{cells:?}");
        assert_eq!(reading.billed(), reading.effective());
    }
}

/// Each file alone, by the reservations and savings plans in it.
#[test]
fn files_say_which_cost_they_state() {
    let reserved = [("PricingModel", "Reservation"), ("ReservationId", "R-1")];
    let with = |more: &[(&'static str, &'static str)]| [&reserved[..], more].concat();
    for (cells, statement) in [
        (vec![], Statement::Whole),
        (with(&[("ChargeType", "Purchase")]), Statement::Billed),
        (with(&[("ChargeType", "Refund"), ("Cost", "-1")]), Statement::Billed),
        (with(&[("Cost", "0")]), Statement::Billed),
        (with(&[("Cost", "0"), ("Quantity", "0")]), Statement::Whole),
        (with(&[]), Statement::Effective),
        (with(&[("ChargeType", "UnusedReservation")]), Statement::Effective),
        // A purchase in the marketplace is none of a commitment.
        (vec![("ChargeType", "Purchase")], Statement::Whole),
    ] {
        assert_eq!(read_one(&cells).statement, statement, "{cells:?}");
    }
    let both = export(&with(&[("ChargeType", "UnusedReservation")]))
        + export(&with(&[("ChargeType", "Purchase")])).lines().nth(1).unwrap();
    let both = read_text(both).unwrap();
    assert_eq!(both.statement, Statement::Billed);
    assert!(both.remarks[0].contains("taken for actual cost (1 row, first in row 2)"), "{:?}", both.remarks);
}

#[test]
fn halves_of_a_month_state_one_cost_each_and_hours_once() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports/azure-usage");
    let half = |case: &str, half: Statement| {
        let bytes = std::fs::read(fixtures.join(case).join("input.csv")).unwrap();
        let mut export = billing::open("bill.csv", Cursor::new(bytes), &billing::ReadAs::any()).unwrap();
        export.take(half);
        read(export).unwrap()
    };
    let whole = |case: &str| read_path(&fixtures.join(case).join("input.csv")).unwrap();
    let (actual, amortized) = (whole("enterprise-actual"), whole("enterprise-amortized"));
    assert_eq!((actual.statement, amortized.statement), (Statement::Billed, Statement::Effective));
    let billed = half("enterprise-actual", Statement::Billed);
    assert_eq!(billed.billed(), actual.billed());
    assert_eq!((billed.effective(), billed.list(), billed.contracted()), Default::default());
    assert!(billed.charges.iter().all(|charge| !charge.is_metered && charge.consumed_quantity.is_none()));
    let effective = half("enterprise-amortized", Statement::Effective);
    assert_eq!(effective.billed(), Decimal::ZERO);
    assert_eq!(effective.effective(), amortized.effective());
    assert_eq!((effective.list(), effective.contracted()), (amortized.list(), amortized.contracted()));
    let hours = |reading: &Reading| -> Decimal {
        reading.charges.iter().filter(|it| it.is_metered).filter_map(|it| it.consumed_quantity).sum()
    };
    assert_eq!(hours(&effective), hours(&amortized));
}

/// What is wrong with one cell, and what the row is rejected with.
#[test]
fn rows_gone_wrong_name_column_and_what_to_write() {
    for (column, cell, expected) in [
        ("Cost", "\"652,80\"", "decimal comma"),
        ("Cost", "much", "expected a decimal number"),
        ("Cost", "", "expected a decimal number"),
        ("Cost", "€ 5", "€ is the sign of EUR"),
        ("Date", "02/30/2026", "expected a time such as"),
        ("Date", "13/13/2026", "expected a time such as"),
        ("Date", "", "expected a time such as"),
        ("BillingPeriodStartDate", "1998-01-01", "expected a billing period of the years 2000 to 2100"),
        ("BillingCurrency", "US$", "expected the code USD"),
        ("BillingCurrency", "", "expected a currency"),
        ("BillingAccountId", "4.7E+06", "a spreadsheet shortened it"),
        ("Quantity", "many", "expected a decimal number"),
    ] {
        let reading = read_text(export(&[(column, cell)])).unwrap();
        let said: Vec<String> = reading.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{column} {cell}");
        assert!(said[0].starts_with(&format!("row 1, column {column}: found ")), "{said:?}");
        assert!(said[0].contains(expected), "{said:?}");
    }
    let homeless = read_text(export(&[("BillingAccountId", ""), ("SubscriptionId", "")])).unwrap();
    assert!(homeless.rejected[0].to_string().contains("expected a billing account or a subscription"));
}

#[test]
fn headers_gone_wrong_are_refused_or_noted() {
    for (column, missing) in
        [("Cost", "Cost or CostInBillingCurrency"), ("Date", "Date"), ("MeterCategory", "MeterCategory")]
    {
        let refusal = read_text(export(&[]).replacen(&format!(",{column},"), ",Renamed,", 1))
            .err()
            .unwrap()
            .to_string();
        let expected = format!("Azure cost and usage details without the column {missing}");
        assert!(refusal.contains(&expected), "{refusal}");
    }
    let refusal = read_text(export(&[("cost", "1")])).err().unwrap().to_string();
    assert!(refusal.contains("Azure cost and usage details with the column cost twice"), "{refusal}");
    let twice = export(&[("unitprice", "1")]);
    let export = billing::open("bill.csv", Cursor::new(twice), &billing::ReadAs::any()).unwrap();
    let notes = export.columns().notes.join("; ");
    assert!(notes.contains("column names that occur twice; the first is read: unitprice"), "{notes}");
    assert_eq!(read(export).unwrap().billed(), "652.8".parse().unwrap());
    let none = read_text(self::export(&[]).replace("BillingCurrency", "Other")).unwrap();
    assert_eq!(none.charges[0].key.currency, "XXX", "amounts without a currency are added to no other");
}

#[test]
fn tags_and_machines_are_read_with_braces_and_without() {
    for (tags, info) in [
        (r#""{""team"":""vision"",""Team"":""nlp""}""#, r#""{""ServiceType"":""Standard_ND96asr_v4""}""#),
        (
            r#"""team"": ""vision"",""Team"": ""nlp"""#,
            r#"""ServiceType"": ""Standard_ND96asr_v4"",""VCPUs"": 96"#,
        ),
    ] {
        let quoted =
            |text: &str| if text.starts_with(r#""{"#) { text.to_owned() } else { format!("\"{text}\"") };
        let (tags, info) = (quoted(tags), quoted(info));
        let reading = read_one(&[("Tags", &tags), ("AdditionalInfo", &info)]);
        let charge = &reading.charges[0];
        let found: Vec<(&str, &str)> = charge.tags.iter().collect();
        assert_eq!(found, [("Team", "nlp"), ("team", "vision")], "spellings of a key are tags of their own");
        assert_eq!(charge.key.instance_type, "Standard_ND96asr_v4");
    }
    let reading =
        read_one(&[("MeterName", "Compute Hours"), ("MeterSubCategory", "Standard_NC6 VM (Windows)")]);
    assert_eq!(reading.charges[0].key.instance_type, "Standard_NC6");
}

/// Microsoft's own example: what was billed of a reservation, and what it is worth.
#[test]
fn files_of_microsoft_say_which_cost_they_state() {
    let Some(folder) = files::of_others() else { return };
    for (name, statement) in [
        ("azure-ea/EA_ActualCost_Small.csv", Statement::Billed),
        ("azure-ea/EA_AmortizedCost_Small.csv", Statement::Effective),
        ("azure-headers-opencost/headersets-Enterprise.csv", Statement::Billed),
        ("azure-actual/koku-azure_version_2.csv", Statement::Whole),
    ] {
        assert_eq!(read_path(&folder.join(name)).unwrap().statement, statement, "{name}");
    }
    let amortized = read_path(&folder.join("azure-ea/EA_AmortizedCost_Small.csv")).unwrap();
    let first = &amortized.charges[0];
    assert_eq!(first.key.billing_account, "8611537");
    assert_eq!(first.key.instance_type, "Standard_DS2_v2");
    assert_eq!(first.key.pricing.as_str(), "Committed");
    assert_eq!(first.contracted_cost, "1.168".parse().unwrap(), "8 hours at 0.146");
    assert_eq!(first.tags.get("org"), Some("trey"));
    let nise =
        read_path(&folder.join("nise-azure/costreport_39245c05-53ec-4d2e-8570-1838210209b2.csv")).unwrap();
    let gpu = nise.charges.iter().find(|charge| charge.key.meter == "ND96asr A100 v4").unwrap();
    assert_eq!(accelerator::recognize(&gpu.key).unwrap().per_unit.to_string(), "8");
}
