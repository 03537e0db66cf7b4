//! Whose bill it is, of which month, and in which currency: what decides the scope, as files really write it.

use std::fmt::Write as _;

use gpuledger::billing::Charge;

use super::read_text;
use crate::support::files::{gzip, zipped};

/// A row of FOCUS; what a test does not say is usual.
#[derive(Clone, Copy)]
struct Row<'a> {
    provider: &'a str,
    account: &'a str,
    sub_account: &'a str,
    currency: &'a str,
    cost: &'a str,
    period: [&'a str; 2],
    charged: [&'a str; 2],
}

const USUAL: Row<'_> = Row {
    provider: "Acme",
    account: "a1",
    sub_account: "s1",
    currency: "USD",
    cost: "1",
    period: ["2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"],
    charged: ["2026-10-03T04:00:00Z", "2026-10-03T05:00:00Z"],
};

fn file(rows: &[Row<'_>]) -> String {
    let mut text = "ProviderName,BillingAccountId,SubAccountId,BillingCurrency,BilledCost,EffectiveCost,BillingPeriodStart,\
                    BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory\n"
        .to_owned();
    for Row { provider, account, sub_account, currency, cost, period, charged } in rows {
        writeln!(
            text,
            "\"{provider}\",{account},{sub_account},{currency},{cost},1,{},{},{},{},Usage",
            period[0], period[1], charged[0], charged[1]
        )
        .unwrap();
    }
    text
}

fn only(rows: &[Row<'_>]) -> Charge {
    let reading = read_text(file(rows)).unwrap();
    assert_eq!(reading.rejected, []);
    reading.charges[0].clone()
}

/// Why the only row was rejected.
fn rejection(row: Row<'_>) -> String {
    read_text(file(&[row])).unwrap().rejected[0].to_string()
}

#[test]
fn an_account_that_a_spreadsheet_rounded_is_rejected() {
    for provider in ["AWS", "Acme", "Microsoft", "Google"] {
        let described = rejection(Row { provider, account: "1.23457E+11", ..USUAL });
        assert!(
            described.starts_with("row 1, column BillingAccountId: found “1.23457E+11”; expected "),
            "{described}"
        );
        assert!(described.contains("spreadsheet"), "{described}");
    }
    let described =
        rejection(Row { provider: "AWS", account: "12345678901", sub_account: "1.11122E+11", ..USUAL });
    assert!(described.starts_with("row 1, column SubAccountId: found “1.11122E+11”"), "{described}");
}

#[test]
fn a_provider_is_one_however_a_file_spells_it() {
    for (provider, name) in [
        ("CoreWeave", "CoreWeave"),
        ("Coreweave", "CoreWeave"),
        ("CoreWeave, Inc.", "CoreWeave"),
        ("Amazon Web Services EMEA SARL", "AWS"),
        ("neocloud", "NeoCloud"),
        ("NEOCLOUD GmbH", "NeoCloud"),
    ] {
        let account = if name == "AWS" { "12345678901" } else { "a1" };
        assert_eq!(only(&[Row { provider, account, ..USUAL }]).key.provider, name);
    }
}

#[test]
fn two_profiles_of_an_azure_account_are_two_accounts() {
    let account = "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31";
    let of = |profile: &str| {
        let path = format!("{account}/billingProfiles/{profile}");
        only(&[Row { provider: "Microsoft", account: &path, ..USUAL }]).key.billing_account
    };
    assert_eq!(of("AB12-CDEF-GHI-JKL"), "5b1e-aa:91f0_2019-05-31/ab12-cdef-ghi-jkl");
    assert_ne!(of("AB12-CDEF-GHI-JKL"), of("ZZ99-CDEF-GHI-JKL"));
    // Files that state the account and, beside it, its profile.
    let plain = file(&[Row { provider: "Microsoft", account, ..USUAL }]);
    let beside = plain
        .replace("ChargeCategory\n", "ChargeCategory,x_BillingProfileId\n")
        .replace("Usage\n", "Usage,AB12-CDEF-GHI-JKL\n");
    assert_eq!(read_text(beside).unwrap().charges[0].key.billing_account, of("AB12-CDEF-GHI-JKL"));
}

/// Dates with slashes: the file's billing period, and a charge.
fn slashed<'a>(period: [&'a str; 2], charged: &'a str) -> Row<'a> {
    Row { period, charged: [charged, charged], ..USUAL }
}

/// A period that proves nothing: neither reading of it lasts a month.
const UNPROVEN: [&str; 2] = ["01/10/2026", "05/10/2026"];

#[test]
fn dates_are_read_in_the_order_that_another_row_proves() {
    let open = slashed(UNPROVEN, "03/10/2026");
    let day_first = read_text(file(&[open, open, slashed(UNPROVEN, "13/10/2026")])).unwrap();
    assert_eq!(day_first.rejected, []);
    assert_eq!(day_first.charges[0].period.day().to_string(), "2026-10-03");
    assert_eq!(day_first.charges[0].billing_month().to_string(), "2026-10");
    let month_first = read_text(file(&[open, open, slashed(UNPROVEN, "10/13/2026")])).unwrap();
    assert_eq!(month_first.charges[0].period.day().to_string(), "2026-03-10");
    assert_eq!(month_first.charges[0].billing_month().to_string(), "2026-01");
}

#[test]
fn a_billing_period_of_a_month_proves_the_order() {
    for (period, month) in [
        (["01/10/2026", "01/11/2026"], "2026-10"),
        (["01/10/2026", "31/10/2026"], "2026-10"),
        (["10/01/2026", "11/01/2026"], "2026-10"),
        (["4/1/25", "5/1/25"], "2025-04"),
        (["12/01/2026", "01/01/2027"], "2026-12"),
        (["01/12/2026", "01/01/2027"], "2026-12"),
    ] {
        assert_eq!(only(&[slashed(period, "02/03/2026")]).billing_month().to_string(), month, "{period:?}");
    }
}

#[test]
fn a_file_that_proves_no_order_is_refused_with_both_readings() {
    let refusal = read_text(file(&[slashed(UNPROVEN, "03/10/2026")])).err().unwrap().to_string();
    assert!(
        refusal.starts_with("bill.csv: row 1, column BillingPeriodStart: found 01/10/2026, which is "),
        "{refusal}"
    );
    assert!(refusal.contains("January 10, 2026 or October 1, 2026"), "{refusal}");
    assert!(refusal.contains("expected dates with the year first, as 2026-10-01"), "{refusal}");
    // Where both readings are the same day, nothing needs proof.
    let same = only(&[slashed(["01/01/2026", "02/02/2026"], "03/03/2026")]);
    assert_eq!(same.period.day().to_string(), "2026-03-03");
}

#[test]
fn a_file_that_proves_both_orders_is_refused_with_both_rows() {
    let rows =
        [slashed(UNPROVEN, "13/10/2026"), slashed(UNPROVEN, "03/10/2026"), slashed(UNPROVEN, "10/13/2026")];
    let refusal = read_text(file(&rows)).err().unwrap().to_string();
    assert!(refusal.contains("row 3, column ChargePeriodStart: found dates in two orders"), "{refusal}");
    assert!(refusal.contains("13/10/2026 in row 1") && refusal.contains("10/13/2026 in row 3"), "{refusal}");
}

#[test]
fn a_proof_counts_wherever_it_stands_and_however_the_file_is_packed() {
    // Beyond what is read at once, after rows with the year first.
    let mut rows = vec![USUAL; 9000];
    rows.extend(vec![slashed(UNPROVEN, "03/10/2026"); 9000]);
    rows.push(slashed(UNPROVEN, "13/10/2026"));
    let text = file(&rows);
    assert!(text.len() > 1 << 20);
    let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    for bytes in [
        text.clone().into_bytes(),
        gzip(text.as_bytes()),
        zipped(&[("bill.csv", text.as_bytes())]),
        marked.into_bytes(),
    ] {
        let reading = read_text(bytes).unwrap();
        assert_eq!((reading.rejected.len(), reading.charges.len()), (0, 18_001));
        assert_eq!(reading.charges[9000].period.day().to_string(), "2026-10-03");
        assert_eq!(reading.charges[0].period.day().to_string(), "2026-10-03");
    }
}

#[test]
fn a_date_that_is_none_in_the_order_of_the_file_rejects_its_row() {
    let reading =
        read_text(file(&[slashed(UNPROVEN, "13/10/2026"), slashed(UNPROVEN, "32/13/2026")])).unwrap();
    let described = reading.rejected[0].to_string();
    assert!(described.contains("row 2, column ChargePeriodStart: found “32/13/2026”"), "{described}");
    assert!(described.contains("31/08/2026"), "{described}");
}

#[test]
fn a_period_belongs_to_the_month_that_most_of_it_lies_in() {
    let charge = only(&[Row { period: ["2026-09-30T16:00:00Z", "2026-10-31T16:00:00Z"], ..USUAL }]);
    assert_eq!(charge.billing_month().to_string(), "2026-10");
    // Without an end it is taken to last a month.
    let charge = only(&[Row { period: ["2026-09-30T16:00:00Z", ""], ..USUAL }]);
    assert_eq!(charge.billing_month().to_string(), "2026-10");
}

#[test]
fn billing_period_that_is_none_or_longer_than_a_year_is_rejected() {
    for (end, expected) in [
        ("2026-10-01T00:00:00Z", "an end after the start of the billing period"),
        ("2027-11-01T00:00:00Z", "an end within a year of the start of the billing period"),
        ("2025-09-01T00:00:00Z", "an end within a year of the start of the billing period"),
    ] {
        let described = rejection(Row { period: ["2026-10-01T00:00:00Z", end], ..USUAL });
        assert!(
            described.starts_with(&format!("row 1, column BillingPeriodEnd: found “{end}”")),
            "{described}"
        );
        assert!(described.contains(expected), "{described}");
    }
    // A year in advance.
    let charge = only(&[Row { period: ["2026-10-01T00:00:00Z", "2027-10-01T00:00:00Z"], ..USUAL }]);
    assert_eq!(charge.billing_month().to_string(), "2026-10");
}

#[test]
fn billing_period_of_another_century_is_rejected() {
    for year in ["1999", "2199"] {
        let (start, end) = (format!("{year}-10-01T00:00:00Z"), format!("{year}-11-01T00:00:00Z"));
        let described = rejection(Row { period: [&start, &end], ..USUAL });
        assert!(described.starts_with("row 1, column BillingPeriodStart"), "{described}");
        assert!(described.contains("a billing period of the years 2000 to 2100"), "{described}");
    }
}

#[test]
fn what_is_no_currency_code_is_rejected_with_what_to_write() {
    for (currency, expected) in
        [("US$", "the code USD"), ("usd.", "the code USD"), ("EURO", "the code EUR"), ("€", "the code EUR")]
    {
        let described = rejection(Row { currency, ..USUAL });
        assert_eq!(
            described,
            format!("row 1, column BillingCurrency: found “{currency}”; expected {expected}")
        );
    }
    for currency in ["USD", "eur", "Token"] {
        only(&[Row { currency, ..USUAL }]);
    }
}

#[test]
fn a_sign_before_an_amount_agrees_with_the_currency() {
    let described = rejection(Row { cost: "€ 3", ..USUAL });
    assert_eq!(
        described,
        "row 1, column BilledCost: found “€ 3”; expected an amount in USD, the currency of its row: € is the sign of EUR"
    );
    for (cost, currency) in [("$3", "USD"), ("$3", "CAD"), ("€ 3", "EUR"), ("¥3", "JPY"), ("£3", "GBP")] {
        assert_eq!(only(&[Row { currency, cost, ..USUAL }]).billed_cost.to_string(), "3");
    }
}
