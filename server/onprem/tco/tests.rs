use super::*;
use crate::money::number;
use crate::onprem::entry::{
    Asset, AssetKind, Colocation, Cost, CostKind, Entry, Every, Paid, Span, StaffHours, Utilization,
};
use crate::onprem::start::Start;
use crate::onprem::system::systems;
use crate::period::BillingMonth;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn month(text: &str) -> BillingMonth {
    text.parse().unwrap()
}

fn usd() -> Currency {
    Currency::exactly("USD")
}

/// Eight DGX H100 and a spare one, from what a newcomer enters.
fn asset_register(change: impl FnOnce(&mut Start)) -> AssetRegister {
    let mut texts = Start::defaults(&systems()[0], day("2026-01-15"));
    texts.extend(
        [("name", "East"), ("site", "Berlin"), ("nodes", "8"), ("spares", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let mut start = Start::read(&texts).unwrap();
    change(&mut start);
    AssetRegister { entries: (1..).zip(start.entries()).collect() }
}

fn with(mut asset_register: AssetRegister, entries: impl IntoIterator<Item = Entry>) -> AssetRegister {
    asset_register.entries.extend((100..).zip(entries));
    asset_register
}

fn of(asset_register: &AssetRegister, on: &str) -> Economics {
    economics(asset_register, "east", day(on), &usd(), &std::collections::BTreeMap::new()).unwrap().unwrap()
}

fn node(asset_register: &AssetRegister) -> Asset {
    asset_register.assets().find(|(_, asset)| asset.what == AssetKind::Node).unwrap().1.clone()
}

fn cost(name: &str, what: CostKind, amount: i64, every: Every, first: &str) -> Entry {
    Entry::Cost(Cost {
        cluster: "east".into(),
        name: name.into(),
        what,
        amount: amount.into(),
        currency: usd(),
        every,
        months: Span { first: month(first), last: None },
    })
}

/// Within a billionth.
fn close(a: Decimal, b: Decimal) -> bool {
    (a - b).abs() <= product(&[a.abs().max(b.abs()), Decimal::new(1, 9)])
}

#[test]
fn a_cluster_of_one_kind_costs_what_the_scenario_of_it_costs() {
    let entries = [
        cost("Switch room", CostKind::Space, 3000, Every::Quarter, "2026-01"),
        cost("Move", CostKind::Other, 100_000, Every::Once, "2026-02"),
    ];
    for change in [
        (|_: &mut Start| {}) as fn(&mut Start),
        |start| start.cost_of_capital = Decimal::ZERO,
        |start| start.residual = number("0.2"),
        |start| start.life_months = 42,
        |start| start.spares = 2,
    ] {
        let asset_register = with(asset_register(change), entries.clone());
        let economics = of(&asset_register, "2026-06-10");
        let scenario = owning(&asset_register, "east", day("2026-06-10"), &usd()).unwrap().cost().unwrap();
        assert!(close(economics.total, scenario.total), "{} for {}", economics.total, scenario.total);
        assert!(close(economics.by_utilization.variable, scenario.by_utilization.variable));
        for hours in [Hours::Owned, Hours::Available, Hours::Productive] {
            let (ours, theirs) = (economics.per_hour(hours).unwrap(), scenario.per_hour(hours).unwrap());
            assert!(close(ours, theirs), "{hours:?}: {ours} for {theirs}");
        }
        assert_eq!(economics.components.iter().map(|it| it.per_year).sum::<Decimal>(), economics.total);
        assert_eq!(economics.displayed().iter().copied().sum::<Decimal>(), economics.total.round(2));
    }
}

#[test]
fn a_cluster_that_is_leased_begins_a_scenario_as_one() {
    let leased = |mut asset_register: AssetRegister| {
        for entry in asset_register.entries.values_mut() {
            if let Entry::Asset(asset) = entry
                && [AssetKind::Node, AssetKind::SpareNode].contains(&asset.what)
            {
                asset.paid = Paid::Leased { monthly: 9500.into(), months: 24 };
            }
        }
        asset_register
    };
    let asset_register = leased(asset_register(|_| {}));
    let economics = of(&asset_register, "2026-06-10");
    let scenario = owning(&asset_register, "east", day("2026-06-10"), &usd()).unwrap();
    assert_eq!(scenario.life_years, 2.into());
    let cost = scenario.cost().unwrap();
    // Nine nodes, of which one is spare.
    assert_eq!(cost.of(Part::Lease), (12 * 9 * 9500).into());
    let paid = economics.components.iter().filter(|it| it.part == Part::Lease).map(|it| it.per_year);
    assert_eq!(paid.sum::<Decimal>(), cost.of(Part::Lease));
    let euro = Currency::exactly("EUR");
    assert_eq!(owning(&asset_register, "east", day("2026-06-10"), &euro), None);
}

#[test]
fn capital_is_that_of_each_asset_by_its_own_price_and_life() {
    let first = asset_register(|start| start.spares = 0);
    let second = Asset {
        name: "later".into(),
        count: 2,
        price: 300_000.into(),
        residual: Decimal::ZERO,
        in_service: day("2026-05-01"),
        life_months: 24,
        ..node(&first)
    };
    let leased = Asset {
        name: "leased".into(),
        count: 1,
        paid: Paid::Leased { monthly: 9000.into(), months: 3 },
        ..second.clone()
    };
    let asset_register = with(first, [Entry::Asset(second), Entry::Asset(leased)]);
    let named = |on: &str, name: &str| {
        let found = of(&asset_register, on);
        found.components.iter().find(|it| it.name == name).map(|it| it.per_year.round(2).to_string())
    };
    assert_eq!(named("2026-04-30", "Capital in later"), None);
    // 600,000 × 0.576190476…
    assert_eq!(named("2026-05-01", "Capital in later").as_deref(), Some("345714.29"));
    assert_eq!(named("2026-07-31", "Lease of leased").as_deref(), Some("108000.00"));
    assert_eq!(named("2026-08-01", "Lease of leased"), None, "it was given back");
    assert_eq!(named("2028-04-30", "Capital in later").as_deref(), Some("345714.29"));
    assert_eq!(named("2028-05-01", "Capital in later").as_deref(), Some("0.00"));
    assert_eq!(of(&asset_register, "2026-04-30").accelerators, 64);
    assert_eq!(of(&asset_register, "2026-05-01").accelerators, 88);
}

#[test]
fn a_place_that_includes_energy_takes_away_energy() {
    let own = asset_register(|_| {});
    let place = Entry::Colocation(Colocation {
        cluster: "east".into(),
        name: "Hall 3".into(),
        months: Span { first: month("2026-03"), last: None },
        contracted_kw: 100.into(),
        price_per_kw: 200.into(),
        currency: usd(),
        includes_energy: true,
    });
    let housed = with(own.clone(), [place]);
    let sum = |it: &Economics, part: Part| -> Decimal {
        it.components.iter().filter(|it| it.part == part).map(|it| it.per_year).sum()
    };
    let (before, after) = (of(&housed, "2026-02-28"), of(&housed, "2026-03-01"));
    assert!(sum(&before, Part::Energy) > Decimal::ZERO && sum(&before, Part::Colocation).is_zero());
    assert_eq!((sum(&after, Part::Energy), sum(&after, Part::Colocation)), (Decimal::ZERO, 240_000.into()));
    assert!(after.by_utilization.variable.is_zero());
}

#[test]
fn hours_of_people_and_payments_are_those_of_a_year() {
    let hours = |in_month: &str, hours: i64| {
        Entry::StaffHours(StaffHours {
            cluster: "east".into(),
            role: "Vendor".into(),
            month: month(in_month),
            hours: hours.into(),
            hourly_cost: 100.into(),
            currency: usd(),
        })
    };
    let asset_register = with(
        asset_register(|_| {}),
        [
            hours("2026-01", 30),
            hours("2026-03", 10),
            cost("Line", CostKind::Link, 500, Every::Month, "2026-01"),
            cost("Gone", CostKind::Other, 1000, Every::Once, "2026-01"),
        ],
    );
    let named = |on: &str, name: &str| {
        of(&asset_register, on).components.iter().find(|it| it.name == name).map(|it| it.per_year)
    };
    // 4,000 in the three months that are over; of April not all is known on its last day.
    assert_eq!(named("2026-04-30", "Vendor"), Some(16_000.into()));
    assert_eq!(named("2026-05-01", "Vendor"), Some(12_000.into()));
    assert_eq!(named("2027-02-01", "Vendor"), Some(1000.into()), "the first month is a year ago");
    assert_eq!(named("2026-04-30", "Line"), Some(6000.into()));
    assert!(named("2026-04-30", "Gone").is_some_and(|amount| amount > Decimal::ZERO));
    // Of a month that goes on nothing is added before it is over, but where there is no other.
    let mut begun = asset_register.clone();
    begun.entries.insert(200, hours("2026-04", 1));
    assert_eq!(of(&begun, "2026-04-30").total, of(&asset_register, "2026-04-30").total);
    let first = |on: &str| {
        let components = of(&asset_register, on).components;
        let vendor = components.into_iter().find(|it| it.name == "Vendor").unwrap();
        (vendor.per_year, vendor.formula)
    };
    assert_eq!(first("2026-01-31"), (36_000.into(), "12 × their cost in the month that goes on"));
    assert_eq!(first("2026-02-01"), (36_000.into(), "12 × their cost ÷ months that are over"));
    assert_eq!(named("2030-04-30", "Gone"), None, "the machines it was paid for are paid back");
}

#[test]
fn a_year_and_its_capacity_are_computed_with_how_it_is_used_in_the_month() {
    let used = Entry::Utilization(Utilization {
        cluster: "east".into(),
        first: month("2026-03"),
        downtime: number("0.1"),
        utilization: number("0.5"),
        repeated: None,
    });
    let (plain, asset_register) = (asset_register(|_| {}), with(asset_register(|_| {}), [used]));
    assert_eq!(of(&asset_register, "2026-02-28"), of(&plain, "2026-02-28"));
    let march = of(&asset_register, "2026-03-01");
    assert_eq!((march.downtime, march.utilization), (number("0.1"), number("0.5")));
    let said = self::asset_register(|start| {
        start.downtime = number("0.1");
        start.utilization = number("0.5");
    });
    assert_eq!(march, of(&said, "2026-03-01"));
    let capacity = |asset_register: &AssetRegister| {
        let cluster = asset_register.cluster("east").unwrap();
        crate::onprem::capacity(asset_register, cluster, day("2026-03-01"), None).unwrap().unwrap()
    };
    // It is the same but for who said it: what a cluster begins with is an assumption.
    let assumed = capacity(&said);
    assert!(assumed.is_assumed);
    assert_eq!(capacity(&asset_register), crate::onprem::Capacity { is_assumed: false, ..assumed });
    assert_ne!(capacity(&asset_register), capacity(&plain));
}

#[test]
fn capacity_is_planned_from_what_is_measured_where_nothing_was_entered() {
    use crate::onprem::{Capacity, MeasuredDemand};
    let of = |asset_register: &AssetRegister, growth: Option<&str>| -> Capacity {
        let measured = MeasuredDemand {
            held: number("2"),
            held_weeks: 4,
            monthly_growth: growth.map(number),
            growth_weeks: 12,
        };
        let cluster = asset_register.cluster("east").unwrap();
        crate::onprem::capacity(asset_register, cluster, day("2026-03-01"), Some(&measured)).unwrap().unwrap()
    };
    let plain = asset_register(|_| {});
    let planned = of(&plain, Some("0.05"));
    assert_eq!((planned.productive_hours, planned.monthly_growth), (1460.into(), number("0.05")));
    assert_eq!((planned.hours_measured, planned.growth_measured), (Some(4), Some(12)));
    assert!(planned.full_in.is_some());
    // What shrinks is not planned for; of few weeks nobody knows how it grows.
    assert_eq!(of(&plain, Some("-0.05")).monthly_growth, Decimal::ZERO);
    let unknown = of(&plain, None);
    assert!(unknown.is_assumed && unknown.full_in.is_none());
    // What was entered stays.
    let used = Entry::Utilization(Utilization {
        cluster: "east".into(),
        first: month("2026-03"),
        downtime: number("0.1"),
        utilization: number("0.5"),
        repeated: None,
    });
    let entered = of(&with(plain, [used]), Some("0.05"));
    assert_eq!((entered.utilization, entered.hours_measured), (number("0.5"), None));
    assert_eq!(entered.growth_measured, Some(12));
}

#[test]
fn a_rebate_takes_off_what_it_is() {
    let plain = of(&asset_register(|_| {}), "2026-04-30");
    let rebates = [
        cost("Rebate", CostKind::Maintenance, -500, Every::Month, "2026-01"),
        cost("Credit", CostKind::Other, -1000, Every::Once, "2026-01"),
    ];
    let economics = of(&with(asset_register(|_| {}), rebates), "2026-04-30");
    let named = |name: &str| economics.components.iter().find(|it| it.name == name).unwrap().per_year;
    assert_eq!(named("Rebate"), (-6000).into());
    assert!(named("Credit").is_negative());
    assert_eq!(economics.total, plain.total + named("Rebate") + named("Credit"));
    assert_eq!(economics.warnings, plain.warnings);
    let all = cost("Rebate", CostKind::Other, -100_000_000, Every::Year, "2026-01");
    let brings = of(&with(asset_register(|_| {}), [all]), "2026-04-30");
    assert!(brings.warnings.iter().any(|it| it.field == "total"), "{:?}", brings.warnings);
}

#[test]
fn other_currencies_are_named_and_not_added() {
    let mut foreign = cost("Insurance", CostKind::Insurance, 777, Every::Year, "2026-01");
    if let Entry::Cost(it) = &mut foreign {
        it.currency = Currency::exactly("EUR");
    }
    let plain = of(&asset_register(|_| {}), "2026-04-30");
    let register = with(asset_register(|_| {}), [foreign]);
    let left_out = of(&register, "2026-04-30");
    assert_eq!(left_out.total, plain.total);
    assert_eq!(left_out.other_currencies, [Currency::exactly("EUR")]);

    // With a rate it is added, and its formula is in the currency that it is shown in.
    let rates = [(Currency::exactly("EUR"), number("1.2"))].into();
    let converted = economics(&register, "east", day("2026-04-30"), &usd(), &rates).unwrap().unwrap();
    let insurance = converted.components.iter().find(|it| it.name == "Insurance, EUR at 1.2").unwrap();
    let product_of_terms =
        insurance.terms.iter().fold(Decimal::from(1), |it, term| product(&[it, term.value]));
    assert_eq!((insurance.per_year, product_of_terms), (number("932.4"), number("932.4")));
}

#[test]
fn what_is_odd_is_told_and_what_cannot_be_is_refused() {
    let busy = of(&asset_register(|start| start.utilization = number("0.97")), "2026-04-30");
    assert!(busy.warnings.iter().any(|it| it.field == "utilization"), "{:?}", busy.warnings);
    let mut dark = asset_register(|_| {});
    dark.entries.retain(|_, entry| !matches!(entry, Entry::Tariff(_)));
    assert!(of(&dark, "2026-04-30").warnings.iter().any(|it| it.field == "tariff"));
    let paying = asset_register(|start| start.price_per_kwh = number("-0.01"));
    let refused = economics(&paying, "east", day("2026-04-30"), &usd(), &std::collections::BTreeMap::new())
        .unwrap()
        .unwrap_err();
    assert_eq!(refused.0[0].field, "tariff");
    assert!(
        economics(&paying, "west", day("2026-04-30"), &usd(), &std::collections::BTreeMap::new()).is_none()
    );
    let empty = of(&asset_register(|_| {}), "2025-12-31");
    assert!(empty.hours.iter().all(|link| link.cost_per_hour.is_none()));
}
