use proptest::prelude::*;

use super::rates::ByteUnit;
use super::*;
use crate::money::number;

fn moved(rates: Rates, gigabytes: &str) -> Transfer {
    Transfer { rates, gigabytes: number(gigabytes), ..Transfer::default() }
}

fn total(transfer: &Transfer) -> String {
    transfer.cost().unwrap().total.value.unwrap().normalize().to_string()
}

#[test]
fn each_gigabyte_costs_what_its_tier_says() {
    let flat = Rates::Flat { price: number("0.09") };
    let table = [
        (Rates::Aws, "0", "0"),
        (Rates::Aws, "100", "0"),
        (Rates::Aws, "101", "0.09"),
        (Rates::Aws, "10240", "912.6"),
        (Rates::Aws, "10241", "912.685"),
        (Rates::Aws, "51200", "4394.2"),
        (Rates::Aws, "51201", "4394.27"),
        (Rates::Aws, "153600", "11562.2"),
        (Rates::Aws, "153601", "11562.25"),
        (Rates::Aws, "4200", "369"),
        (Rates::Aws, "500000", "28882.2"),
        (Rates::Aws, "512000", "29482.2"),
        (Rates::Azure, "512000", "29369.86"),
        (Rates::Azure, "4200", "356.7"),
        (Rates::Free, "500000", "0"),
        (flat, "4200", "378"),
        (flat, "500000", "45000"),
    ];
    for (rates, gigabytes, cost) in table {
        assert_eq!(total(&moved(rates, gigabytes)), cost, "{rates:?} {gigabytes}");
    }
}

#[test]
fn google_counts_in_gibibytes() {
    let tariff = Rates::GooglePremium.tariff();
    for (units, cost) in
        [("1", "0"), ("1024", "122.76"), ("1025", "122.87"), ("10240", "1136.52"), ("10241", "1136.6")]
    {
        assert_eq!(tariff.cost(number(units)), number(cost), "{units}");
    }
    assert_eq!(tariff.units(number("1073.741824")), 1000.into());
    assert_eq!(tariff.unit, ByteUnit::Gibibyte);
}

#[test]
fn what_an_account_sends_anyway_fills_the_tiers_first() {
    let more = Transfer { other_gigabytes: 100.into(), ..moved(Rates::Aws, "1000") };
    assert_eq!(total(&more), "90");
    // Over two months the free 100 GB are there twice.
    assert_eq!(total(&Transfer { months: 2, ..moved(Rates::Aws, "1000") }), "72");
    assert_eq!(total(&moved(Rates::Aws, "1000")), "81");
}

#[test]
fn hops_take_their_price_of_every_gigabyte() {
    let hops = vec![Hop::Nat, Hop::Zones, Hop::Region { price: number("0.02") }];
    let cost = Transfer { hops, ..moved(Rates::Aws, "1100") }.cost().unwrap();
    assert_eq!(cost.total.value, Some(number("183.5")));
    assert_eq!(cost.parts.len(), 5);
    assert_eq!(cost.per_gigabyte.value.unwrap().round(4), number("0.1668"));
    assert_eq!(moved(Rates::Aws, "0").cost().unwrap().per_gigabyte.value, None);
}

#[test]
fn a_line_takes_its_time() {
    let time = |transfer: Transfer| transfer.cost().unwrap().time.value.unwrap().round(4);
    assert_eq!(time(moved(Rates::Aws, "500000")), number("4.6296"));
    assert_eq!(time(Transfer { line_share: number("0.5"), ..moved(Rates::Aws, "500000") }), number("9.2593"));
}

#[test]
fn what_cannot_be_is_refused() {
    for (field, it) in [
        ("gigabytes", moved(Rates::Aws, "-1")),
        ("months", Transfer { months: 0, ..Transfer::default() }),
        ("line", Transfer { line: Decimal::ZERO, ..Transfer::default() }),
        ("line_share", Transfer { line_share: Decimal::ZERO, ..Transfer::default() }),
        ("hops.0.price", Transfer { hops: vec![Hop::Region { price: (-1).into() }], ..Transfer::default() }),
    ] {
        assert_eq!(it.cost().unwrap_err().0[0].field, field);
    }
}

#[test]
fn every_tariff_says_where_it_is_from_and_gets_cheaper_with_more() {
    for tariff in Rates::LISTED.map(Rates::tariff) {
        assert!(tariff.source.len() > 10);
        assert!(tariff.date.parse::<chrono::NaiveDate>().is_ok());
        let paid: Vec<Tier> = tariff.tiers.iter().copied().filter(|tier| !tier.price.is_zero()).collect();
        assert!(paid.windows(2).all(|pair| pair[0].price >= pair[1].price));
        assert!(tariff.tiers.iter().rev().skip(1).all(|tier| tier.up_to.is_some()));
        assert_eq!(tariff.tiers.last().unwrap().up_to, None);
    }
}

/// What a month may send for nothing.
fn free(tariff: &Tariff) -> Decimal {
    match tariff.tiers[0] {
        Tier { up_to: Some(bound), price } if price.is_zero() => i64::from(bound).into(),
        _ => Decimal::ZERO,
    }
}

fn tariffs() -> impl Strategy<Value = Tariff> {
    prop::sample::select(Rates::LISTED.map(Rates::tariff).to_vec())
}

proptest! {
    #[test]
    fn nothing_costs_nothing_and_more_never_less(tariff in tariffs(), units in 0i64..400_000, more in 1i64..100_000) {
        prop_assert_eq!(tariff.cost(Decimal::ZERO), Decimal::ZERO);
        prop_assert!(tariff.cost(units.into()) <= tariff.cost((units + more).into()));
    }

    #[test]
    fn no_bound_is_a_step(tariff in tariffs(), at in 0usize..5) {
        let dearest = tariff.tiers.iter().map(|tier| tier.price).max().unwrap();
        if let Some(bound) = tariff.tiers.get(at).and_then(|tier| tier.up_to) {
            let (bound, little) = (Decimal::from(i64::from(bound)), Decimal::new(1, 6));
            let step = tariff.cost(bound + little) - tariff.cost(bound - little);
            prop_assert!(step <= product(&[dearest, little, 2.into()]));
        }
    }

    /// What is free comes first, so the price of a byte rises once, where that ends.
    #[test]
    fn beyond_what_is_free_the_next_gigabyte_is_never_dearer(tariff in tariffs(), units in 0i64..400_000, step in 1i64..50_000) {
        let at = |n: i64| tariff.cost(free(&tariff) + Decimal::from(units + n * step));
        prop_assert!(at(1) - at(0) >= at(2) - at(1));
    }

    #[test]
    fn two_at_once_cost_no_more_than_apart_but_for_what_is_free_twice(tariff in tariffs(), x in 0i64..300_000, y in 0i64..300_000) {
        let apart = tariff.cost(x.into()) + tariff.cost(y.into());
        let dearest = tariff.tiers.iter().map(|tier| tier.price).max().unwrap();
        prop_assert!(tariff.cost((x + y).into()) <= apart + product(&[free(&tariff), dearest]));
    }

    #[test]
    fn parts_sum_to_the_total(x in 0i64..1_000_000, months in 1u32..24, other in 0i64..200_000) {
        let it = Transfer { months, other_gigabytes: other.into(), ..moved(Rates::Aws, &x.to_string()) };
        let cost = it.cost().unwrap();
        prop_assert_eq!(cost.parts.iter().filter_map(|part| part.value).sum::<Decimal>(), cost.total.value.unwrap());
        let moved: Decimal = cost.parts.iter().map(|part| part.terms[0].value).sum();
        prop_assert!((moved - Decimal::from(x)).abs() < Decimal::new(1, 12));
    }
}
