//! Bills that are adjusted, and the charges that come of it.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use chrono::NaiveDate;
use proptest::prelude::*;
use uuid::Uuid;

use super::bill::{Bill, TooLong};
use super::entry::{Adjustment, Terms};
use super::internal_price::{DIFFERENCE, InternalPricing, Unpriced};
use crate::accelerator::recognize;
use crate::billing::{
    self, BilledDay, Charge, ChargeCategory, ChargeKey, ComputedBill, PricingCategory, Step,
};
use crate::money::{Currency, Decimal, number};
use crate::onprem::PROVIDER;
use crate::period::BillingMonth;
use crate::rating::{Rate, Rates};

fn month() -> BillingMonth {
    "2026-09".parse().unwrap()
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn agreed(terms: Terms) -> Adjustment {
    Adjustment {
        provider: "NeoCloud".to_owned(),
        billing_account: String::new(),
        terms,
        first_month: "2026-08".parse().unwrap(),
        last_month: Some("2026-10".parse().unwrap()),
        reason: "contract".to_owned(),
        contract: String::new(),
    }
}

fn discount(percent: &str) -> Adjustment {
    agreed(Terms::Discount { percent: number(percent) })
}

fn minimum(amount: &str, currency: &str) -> Adjustment {
    agreed(Terms::Minimum { amount: number(amount), currency: Currency::exactly(currency) })
}

fn billed(service: &str, costs: [&str; 3]) -> BilledDay {
    let [billed, effective, contracted] = costs.map(number);
    BilledDay {
        key_id: Uuid::from_u128(u128::from(service.len() as u64)),
        key: ChargeKey {
            provider: "NeoCloud".to_owned(),
            billing_account: "acme".to_owned(),
            service: service.to_owned(),
            currency: "USD".to_owned(),
            ..ChargeKey::default()
        },
        resource_id: "i-1".to_owned(),
        tags: r#"{"team":"vision"}"#.to_owned(),
        day: day("2026-09-05"),
        is_whole_period: false,
        billed,
        effective,
        list: Decimal::ZERO,
        contracted,
        quantity: Decimal::ZERO,
        hours: Vec::new(),
        accelerator: None,
    }
}

fn charges(mut bill: Bill<'_>) -> Vec<Charge> {
    let mut export = billing::open(
        "a.csv",
        Cursor::new(bill.file.take()),
        &billing::ReadAs::computed(ComputedBill::Adjustments),
    )
    .unwrap();
    let (mut charges, mut charge) = (Vec::new(), Charge::default());
    while let Some(step) = export.next(&mut charge).unwrap() {
        assert_eq!(step, Step::Charge);
        charges.push(charge.clone());
    }
    assert_eq!(charges.len() as u64, bill.rows);
    charges
}

/// Service, day or month, and billed, effective, list and contracted cost of each charge.
fn adjusted(entries: &[Adjustment], days: &[BilledDay], is_over: bool) -> Vec<String> {
    let mut bill = Bill::new(month(), false, entries.iter().collect());
    for day in days {
        bill.add(day).unwrap();
    }
    bill.finish("NeoCloud", "acme", is_over).unwrap();
    let text = |it: &Charge| {
        let when =
            if it.period.is_longer_than_a_day() { "month".to_owned() } else { it.period.day().to_string() };
        let costs = [it.billed_cost, it.effective_cost, it.list_cost, it.contracted_cost];
        let costs = costs.map(|cost| cost.normalize().to_string()).join(" ");
        format!("{} {} {when}: {costs}", it.key.service, it.key.currency)
    };
    charges(bill).iter().map(text).collect()
}

#[test]
fn percentages_are_of_each_cost_but_the_list_cost_and_leave_taxes_alone() {
    let tax = BilledDay {
        key: ChargeKey { category: ChargeCategory::Tax, ..billed("tax", ["9", "9", "9"]).key },
        ..billed("tax", ["9", "9", "9"])
    };
    let fee = BilledDay { is_whole_period: true, day: day("2026-09-01"), ..billed("fee", ["50", "0", "50"]) };
    let days = [billed("gpu", ["100", "90.01", "95"]), billed("nothing", ["0", "0", "0"]), tax, fee];
    assert_eq!(
        adjusted(&[discount("8"), agreed(Terms::Markup { percent: number("0.5") })], &days, true),
        [
            "gpu USD 2026-09-05: -8 -7.2008 0 -7.6",
            "gpu USD 2026-09-05: 0.5 0.45005 0 0.475",
            "fee USD month: -4 0 0 -4",
            "fee USD month: 0.25 0 0 0.25",
        ]
    );
}

#[test]
fn minimum_is_what_the_bill_lacks_in_its_currency_once_the_month_is_over() {
    let days = [billed("gpu", ["100", "1", "100"]), billed("credit", ["-30.5", "0", "0"])];
    let of = |amount, is_over| adjusted(&[minimum(amount, "USD")], &days, is_over);
    assert_eq!(of("70", true), ["Monthly minimum USD month: 0.5 0.5 0 0.5"]);
    assert_eq!(of("69.5", true), Vec::<String>::new());
    assert_eq!(of("1000", false), Vec::<String>::new());
    let euros = [minimum("5", "EUR")];
    assert_eq!(adjusted(&euros, &days, true), Vec::<String>::new(), "nothing is billed in that currency");
    let mut bill = Bill::new(month(), true, euros.iter().collect());
    bill.add(&days[0]).unwrap();
    bill.finish("NeoCloud", "acme", true).unwrap();
    assert_eq!(bill.notes, ["a minimum is in EUR, and the bill in USD"]);
}

#[test]
fn amount_of_too_many_digits_is_refused_and_not_cut() {
    let largest = "9".repeat(24);
    let entries = [agreed(Terms::Markup { percent: number("900") })];
    let mut bill = Bill::new(month(), true, entries.iter().collect());
    assert_eq!(bill.add(&billed("gpu", [&largest, "1", "1"])), Err(TooLong));
    let finest = format!("0.{}1", "0".repeat(39));
    assert_eq!(
        bill.add(&billed("gpu", ["1", &finest, "1"])),
        Ok(()),
        "nine times as much has as many digits"
    );
    let entries = [discount("8")];
    let mut bill = Bill::new(month(), true, entries.iter().collect());
    assert_eq!(
        bill.add(&billed("gpu", ["1", &finest, "1"])),
        Err(TooLong),
        "8% of the last digit has two more"
    );
}

#[test]
fn adjustments_hold_for_their_provider_account_and_months() {
    let one = Adjustment { billing_account: "Acme".to_owned(), ..discount("8") };
    for (provider, account, of_month, holds) in [
        ("neocloud", "acme", "2026-08", true),
        ("NeoCloud", "ACME", "2026-10", true),
        ("NeoCloud", "acme", "2026-07", false),
        ("NeoCloud", "acme", "2026-11", false),
        ("NeoCloud", "other", "2026-09", false),
        ("AWS", "acme", "2026-09", false),
    ] {
        assert_eq!(
            one.holds_for(provider, account, of_month.parse().unwrap()),
            holds,
            "{provider} {account} {of_month}"
        );
    }
    assert!(discount("8").holds_for("NeoCloud", "any", month()));
}

#[test]
fn agreement_that_is_entered_twice_for_a_month_is_found() {
    let later = |first: &str, reason: &str| Adjustment {
        first_month: first.parse().unwrap(),
        last_month: None,
        reason: reason.to_owned(),
        ..discount("9")
    };
    assert!(discount("8").repeats(&later("2026-10", "Contract")));
    assert!(!discount("8").repeats(&later("2026-11", "contract")), "it follows");
    assert!(!discount("8").repeats(&later("2026-10", "another")), "both are agreed on");
    assert!(minimum("1", "USD").repeats(&Adjustment { reason: "another".to_owned(), ..minimum("2", "USD") }));
    assert!(!minimum("1", "USD").repeats(&minimum("2", "EUR")));
    assert!(!minimum("1", "USD").repeats(&discount("8")));
}

fn owned(service: &str, on: &str, hours: &str, effective: &str) -> BilledDay {
    let is_node = hours != "0";
    let key = ChargeKey {
        provider: PROVIDER.to_owned(),
        billing_account: "east".to_owned(),
        service: service.to_owned(),
        currency: "USD".to_owned(),
        pricing: PricingCategory::Owned,
        instance_type: if is_node { "8x H100 SXM".to_owned() } else { String::new() },
        meter: if is_node { "8x H100 SXM".to_owned() } else { service.to_owned() },
        stated_accelerators: if is_node { "8".to_owned() } else { String::new() },
        unit: if is_node { "Hours".to_owned() } else { String::new() },
        ..ChargeKey::default()
    };
    BilledDay {
        accelerator: recognize(&key).filter(|_| is_node),
        key,
        day: day(on),
        quantity: number(hours),
        ..billed(service, ["0", effective, effective])
    }
}

fn price(price: &str, from: &str) -> Rate {
    Rate {
        provider: "on-premises".to_owned(),
        billing_account: String::new(),
        sku: String::new(),
        accelerator: "nvidia-h100-sxm".to_owned(),
        region: String::new(),
        pricing: String::new(),
        unit: "GPU-hour".to_owned(),
        from_quantity: Decimal::ZERO,
        price: number(price),
        currency: Currency::exactly("USD"),
        valid_from: day(from),
        valid_to: None,
        source: String::new(),
        contract: String::new(),
    }
}

fn rates(rates: impl IntoIterator<Item = Rate>) -> Arc<Rates> {
    Arc::new(Rates::new(rates))
}

/// What each day is charged more than it costs; none where the month is charged by its cost.
fn differences(days: &[BilledDay], rates: &Arc<Rates>) -> Result<Option<Vec<Decimal>>, Unpriced> {
    let mut pricing = InternalPricing::new(month(), rates);
    let differences: Vec<Decimal> = days.iter().map(|it| pricing.difference(it)).collect();
    pricing.finish().map(|is_priced| is_priced.then_some(differences))
}

/// The charges that make a cluster's month cost its internal prices.
fn internally(days: &[BilledDay], differences: &[Decimal]) -> Vec<Charge> {
    let mut bill = Bill::new(month(), true, Vec::new());
    for (day, difference) in days.iter().zip(differences) {
        bill.charge_internally(day, *difference).unwrap();
    }
    bill.charge_difference("east");
    charges(bill)
}

#[test]
fn internal_price_charges_hours_instead_of_cost_and_says_what_it_leaves() {
    let days = [
        owned("Energy", "2026-09-01", "0", "33.3"),
        owned("Depreciation", "2026-09-01", "24", "480"),
        owned("Depreciation", "2026-09-02", "24", "500"),
    ];
    let differences = differences(&days, &rates([price("2.5", "2026-01-01")])).unwrap().unwrap();
    // 24 × 8 × 2.5 = 480 a day.
    assert_eq!(differences, [number("-33.3"), number("0"), number("-20")]);
    let charges = internally(&days, &differences);
    let lines: Vec<_> =
        charges.iter().map(|it| (it.key.service.as_str(), it.effective_cost.to_string())).collect();
    assert_eq!(
        lines,
        [
            ("Energy", "-33.3".to_owned()),
            ("Depreciation", "-20.0".to_owned()),
            (DIFFERENCE, "53.3".to_owned())
        ]
    );
    assert!(charges.iter().all(|it| it.billed_cost.is_zero() && it.list_cost == it.effective_cost));
    assert!(
        charges
            .iter()
            .all(|it| it.key.category == ChargeCategory::Adjustment && it.key.billing_account == "east")
    );
}

#[test]
fn internal_price_of_one_model_is_found_though_others_share_its_name() {
    let mut node = owned("Depreciation", "2026-09-01", "24", "480");
    let name = "8x H100 PCIe".to_owned();
    node.key = ChargeKey { instance_type: name.clone(), meter: name, ..node.key };
    let of_model = Rate { accelerator: "nvidia-h100-pcie".to_owned(), ..price("2.5", "2026-01-01") };
    assert_eq!(differences(&[node], &rates([of_model])), Ok(Some(vec![number("0")])));
}

#[test]
fn month_without_a_price_for_each_hour_stays_charged_by_cost() {
    let days =
        [owned("Depreciation", "2026-09-01", "24", "480"), owned("Depreciation", "2026-09-02", "24", "480")];
    let late = differences(&days, &rates([price("2.5", "2026-09-02")]));
    assert_eq!(late, Err(Unpriced::Hours { machine: "8x H100 SXM".to_owned(), day: day("2026-09-01") }));
    // Where no hour has one, nothing is to be said.
    let other = Rate { currency: Currency::exactly("EUR"), ..price("2.5", "2026-01-01") };
    assert_eq!(differences(&days, &rates([other])), Ok(None));
    let staff = [owned("Staff", "2026-09-01", "0", "100")];
    assert_eq!(differences(&staff, &rates([price("1", "2026-01-01")])), Ok(None));
}

proptest! {
    #[test]
    fn adjustments_of_the_parts_of_a_bill_sum_to_that_of_the_whole(
        amounts in prop::collection::vec((any::<i64>(), 0u8..30), 1..40),
        percent in 1i64..100_000_000,
    ) {
        let percent = Decimal::new(i128::from(percent), 6);
        let entries = [agreed(Terms::Discount { percent })];
        let mut bill = Bill::new(month(), true, entries.iter().collect());
        let mut sum = Decimal::ZERO;
        for (mantissa, scale) in amounts {
            let cost = Decimal::new(mantissa.into(), scale);
            sum += cost;
            bill.add(&BilledDay { billed: cost, effective: cost, contracted: cost, ..billed("gpu", ["0", "0", "0"]) }).unwrap();
        }
        let total: Decimal = charges(bill).iter().map(|it| it.billed_cost).sum();
        prop_assert_eq!(total, -sum.multiply(percent).multiply(Decimal::new(1, 2)));
    }

    #[test]
    fn month_at_internal_prices_costs_what_it_costs(
        parts in prop::collection::vec((0u32..30, 0i64..10_000, any::<i32>(), any::<bool>()), 1..30),
        price_of_hour in 0i64..1_000_000,
    ) {
        let amount = Decimal::new(i128::from(price_of_hour), 4).to_string();
        let days = parts.iter().map(|(on, hours, cost, is_node)| {
            let hours = if *is_node { Decimal::new(i128::from(hours + 1), 3) } else { Decimal::ZERO };
            let cost = Decimal::new(i128::from(*cost), 5);
            owned("Depreciation", &format!("2026-09-{:02}", on + 1), &hours.to_string(), &cost.to_string())
        });
        let mut days: Vec<BilledDay> = days.collect();
        let hours: Decimal = days.iter().map(|it| it.quantity.times(8)).sum();
        days.sort_by_key(|it| it.day);
        let Some(differences) = differences(&days, &rates([price(&amount, "2026-01-01")])).unwrap() else {
            prop_assert!(hours.is_zero());
            return Ok(());
        };
        let mut by_service: BTreeMap<String, Decimal> = BTreeMap::new();
        for charge in internally(&days, &differences) {
            *by_service.entry(charge.key.service).or_default() += charge.effective_cost;
        }
        prop_assert_eq!(by_service.values().copied().sum::<Decimal>(), Decimal::ZERO);
        let cost: Decimal = days.iter().map(|it| it.effective).sum();
        let charged = cost + by_service.get("Depreciation").copied().unwrap_or_default();
        prop_assert_eq!(charged, hours.multiply(number(&amount)));
    }
}
