//! What a cluster's months amount to, in tables and by what must hold of any asset register.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use proptest::prelude::*;

use super::super::entry::{Asset, Event, EventKind, Paid};
use super::super::sheet::Kind;
use super::super::summary::{MonthSummary, owned_hours};
use super::super::testing::{asset_register, entry, month, of_a};
use super::super::{AssetRegister, Entry, problems};
use super::*;
use crate::money::{Currency, Decimal, number};
use crate::period::BillingMonth;

/// `Purchase 73000 0; Depreciation 0 6200.00`: each component with billed and effective cost.
fn described(lines: &[Line]) -> String {
    let mut sums: BTreeMap<Component, (Decimal, Decimal)> = BTreeMap::new();
    for line in lines {
        let sum = sums.entry(line.component).or_default();
        sum.0 += line.billed;
        sum.1 += line.effective;
    }
    let text = |(component, (billed, effective)): (Component, (Decimal, Decimal))| {
        format!("{} {} {}", component.name(), billed.normalize(), effective.normalize())
    };
    sums.into_iter().map(text).collect::<Vec<_>>().join("; ")
}

fn of(asset_register: &AssetRegister, text: &str) -> String {
    described(&lines(asset_register, &[], "a", month(text)))
}

fn hours(asset_register: &AssetRegister, cluster: &str, text: &str) -> Decimal {
    owned_hours(&lines(asset_register, &[], cluster, month(text)))
}

fn asset(pairs: &str) -> Entry {
    entry(Kind::Assets, pairs)
}

fn assert_months(asset_register: &AssetRegister, expected: &[(&str, &str)]) {
    for (text, expected) in expected {
        assert_eq!(of(asset_register, text), *expected, "{text}");
    }
}

#[test]
fn what_was_bought_is_billed_at_once_and_charged_by_the_day() {
    let asset_register = of_a([asset("")]);
    assert_months(
        &asset_register,
        &[
            ("2025-12", ""),
            ("2026-01", "Purchase 73000 0; Depreciation 0 6200"),
            ("2026-02", "Depreciation 0 5600"),
            ("2026-12", "Depreciation 0 6200"),
            // It is still there, and costs nothing more.
            ("2027-01", "Depreciation 0 0"),
        ],
    );
    for text in ["2026-01", "2027-01"] {
        assert_eq!(hours(&asset_register, "a", text), number("11904"), "2 × 8 × 744 in {text}");
    }
    // From the middle of a month, with a residual value and a switch to the straight line.
    let asset_register =
        of_a([asset("in_service=2026-01-31|count=1|residual=500|depreciation=declining-balance|factor=1.5")]);
    assert_eq!(hours(&asset_register, "a", "2026-01"), number("192"));
    assert_months(&asset_register, &[("2026-01", "Purchase 36500 0; Depreciation 0 98.63")]);
}

#[test]
fn what_is_financed_is_billed_by_installments_whose_interest_is_a_cost() {
    let asset_register = of_a([asset("price=50000|paid=financed|yearly_rate=6|term_months=12")]);
    assert_months(
        &asset_register,
        &[
            ("2026-01", "Depreciation 0 8493.16"),
            ("2026-02", "Depreciation 0 7671.22; Interest 8606.64 500"),
            ("2027-01", "Depreciation 0 0; Interest 8606.69 42.82"),
            ("2027-02", "Depreciation 0 0"),
        ],
    );
}

#[test]
fn what_is_leased_costs_its_payments_and_is_given_back() {
    let asset_register = of_a([asset("price=0|paid=leased|monthly=295|term_months=2|idle_kw=1|load_kw=2")]);
    assert_months(
        &asset_register,
        &[
            // 590 over 59 days, twice.
            ("2026-01", "Lease 590 620"),
            ("2026-02", "Lease 590 560"),
            ("2026-03", ""),
        ],
    );
    assert_eq!(hours(&asset_register, "a", "2026-02"), number("10752"));
    assert_eq!(hours(&asset_register, "a", "2026-03"), Decimal::ZERO, "given back");
}

#[test]
fn what_leaves_is_charged_what_it_was_still_worth_less_what_it_brought() {
    let sold = entry(Kind::Events, "asset=node|units=2|day=2026-02-01|what=disposal|proceeds=20000");
    let asset_register = of_a([asset(""), sold]);
    assert_months(
        &asset_register,
        &[
            ("2026-01", "Purchase 73000 0; Depreciation 0 6200"),
            ("2026-02", "Depreciation 0 2800; Disposal -20000 13400"),
            ("2026-03", "Depreciation 0 3100"),
        ],
    );
    let february = lines(&asset_register, &[], "a", month("2026-02"));
    let disposal = february.iter().find(|line| line.component == Component::Disposal).unwrap();
    assert_eq!(
        (disposal.input, disposal.parts().next().unwrap().0.as_deref()),
        (3, Some("node-02")),
        "it comes of the event"
    );
    assert_eq!(owned_hours(&february), number("5376"), "one node is left");

    let lost = entry(Kind::Events, "asset=node|day=2026-02-01|what=write-off");
    let asset_register = of_a([asset(""), lost]);
    assert_months(&asset_register, &[("2026-02", "Disposal 0 66800"), ("2026-03", "")]);
    // What is sold after its life is worth what was said to be left.
    let sold = entry(Kind::Events, "asset=node|day=2027-03-10|what=disposal|proceeds=1500");
    let asset_register = of_a([asset("residual=1000"), sold]);
    assert_months(&asset_register, &[("2027-03", "Depreciation 0 0; Disposal -3000 -1000")]);
}

#[test]
fn units_that_are_alike_are_one_line_however_many() {
    let count_of = |nodes: u32| {
        let sold = entry(Kind::Events, "asset=node|units=2|day=2026-01-11|what=disposal|proceeds=1");
        lines(&of_a([asset(&format!("count={nodes}|idle_kw=1|load_kw=2")), sold]), &[], "a", month("2026-01"))
    };
    let (few, many) = (count_of(3), count_of(1000));
    // A purchase, 31 days, and what was sold.
    assert_eq!((few.len(), many.len()), (33, 33));
    let rows = |lines: &[Line]| lines.iter().map(|line| line.parts().count()).sum::<usize>();
    assert_eq!((rows(&few), rows(&many)), (2 + 31 * 3 - 21, 2 + 31 * 1000 - 21));
}

#[test]
fn what_moves_is_charged_where_it_is_and_paid_where_it_was_bought() {
    let move_ = entry(Kind::Events, "asset=node|units=2|day=2026-01-11|what=move|to=b");
    let asset_register = of_a([asset(""), move_, entry(Kind::Clusters, "handle=b|name=B")]);
    assert_months(&asset_register, &[("2026-01", "Purchase 73000 0; Depreciation 0 4100")]);
    assert_eq!(described(&lines(&asset_register, &[], "b", month("2026-01"))), "Depreciation 0 2100");
    assert_eq!(hours(&asset_register, "a", "2026-01"), number("7872"), "8 × 24 × (31 + 10)");
    assert_eq!(hours(&asset_register, "b", "2026-01"), number("4032"), "8 × 24 × 21");
}

#[test]
fn what_stands_by_or_bears_nothing_costs_and_adds_no_hours() {
    for what in ["spare-node", "fabric|accelerators=|accelerator=", "facility|accelerators=|accelerator="] {
        let asset_register = of_a([asset(&format!("what={what}"))]);
        assert_months(
            &asset_register,
            &[("2026-01", "Purchase 73000 0; Depreciation 0 6200"), ("2027-01", "")],
        );
        assert_eq!(hours(&asset_register, "a", "2026-01"), Decimal::ZERO, "{what}");
    }
}

#[test]
fn a_payment_is_billed_when_it_is_due_and_spread_over_its_months() {
    let table: [(&str, [&str; 4]); 8] = [
        ("every=once", ["100 100", "", "", ""]),
        ("every=month", ["100 100", "100 100", "100 100", "100 100"]),
        ("every=quarter", ["100 33.33", "0 33.34", "0 33.33", "100 33.33"]),
        ("every=year", ["100 8.33", "0 8.34", "0 8.33", "0 8.33"]),
        ("every=month|last=2026-02", ["100 100", "100 100", "", ""]),
        // What the last month cuts off is not paid.
        ("every=quarter|last=2026-02", ["66.67 33.33", "0 33.34", "", ""]),
        ("every=year|last=2026-03", ["25 8.33", "0 8.34", "0 8.33", ""]),
        ("every=year|amount=-100|last=2026-03", ["-25 -8.33", "0 -8.34", "0 -8.33", ""]),
    ];
    for (pairs, expected) in table {
        let asset_register = of_a([entry(Kind::Costs, &format!("what=insurance|amount=100|{pairs}"))]);
        for (text, expected) in ["2026-01", "2026-02", "2026-03", "2026-04"].iter().zip(expected) {
            let expected = if expected.is_empty() { String::new() } else { format!("Insurance {expected}") };
            assert_eq!(of(&asset_register, text), expected, "{pairs} in {text}");
        }
    }
    let asset_register = of_a([entry(Kind::Costs, "what=link|amount=100|every=month")]);
    assert_months(&asset_register, &[("2025-12", ""), ("2046-01", "Links 100 100")]);
}

#[test]
fn people_cost_their_twelfth_or_their_hours() {
    let staff = entry(Kind::Staff, "fte=1.5|loaded_cost=250000|share=40|last=2026-12");
    let hours = entry(Kind::StaffHours, "role=vendor|month=2026-02|hours=12.5|hourly_cost=90.1");
    let asset_register = of_a([staff, hours]);
    assert_months(
        &asset_register,
        &[
            ("2026-01", "Staff 12500 12500"),
            ("2026-02", "Staff 13626.25 13626.25"),
            ("2026-12", "Staff 12500 12500"),
            ("2027-01", ""),
        ],
    );
    // What twelve does not divide is made up within the year.
    let asset_register = of_a([entry(Kind::Staff, "fte=1|loaded_cost=100|share=100")]);
    let year: Decimal = (0..12)
        .flat_map(|n| lines(&asset_register, &[], "a", month("2026-01").plus(n)))
        .map(|line| line.effective)
        .sum();
    assert_eq!(year, number("100"));
    assert_months(&asset_register, &[("2036-02", "Staff 8.34 8.34")]);
}

/// Two nodes that draw 2 kW at work, always.
fn drawing(more: &[(Kind, &str)]) -> AssetRegister {
    let more = more.iter().map(|(kind, pairs)| entry(*kind, pairs));
    of_a([asset("in_service=2025-12-31|idle_kw=1|load_kw=2")].into_iter().chain(more).chain([
        entry(Kind::Tariffs, "name=Energy|price_per_kwh=0.10|demand_per_kw=10"),
        entry(Kind::Power, "value=1.5"),
    ]))
}

fn energy(asset_register: &AssetRegister, readings: &[Reading]) -> Vec<(String, &'static str)> {
    let lines = lines(asset_register, readings, "a", month("2026-01"));
    let mut described = Vec::new();
    for basis in [Basis::Measured, Basis::Modelled, Basis::Entered] {
        let of_it: Vec<Line> = lines
            .iter()
            .filter(|line| {
                [Component::Energy, Component::Demand, Component::Colocation].contains(&line.component)
            })
            .filter(|line| line.basis == basis)
            .cloned()
            .collect();
        if !of_it.is_empty() {
            described.push((super::tests::described(&of_it), basis.as_str()));
        }
    }
    described
}

/// So much on each of the first days of January, hour by hour.
fn readings(meter: &str, days: u32, kwh_an_hour: &str) -> Vec<Reading> {
    let start = "2026-01-01T00:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    (0..i64::from(days) * 24)
        .map(|hour| Reading {
            meter: meter.to_owned(),
            from: start + chrono::TimeDelta::hours(hour),
            until: start + chrono::TimeDelta::hours(hour + 1),
            kwh: number(kwh_an_hour),
        })
        .collect()
}

#[test]
fn energy_is_modelled_where_nobody_measured_and_measured_where_somebody_did() {
    let as_is = |text: &str, basis| (text.to_owned(), basis);
    // 4 kW × 744 h × 1.5 × 0.10, and the peak of 4 × 1.5 kW at 10.
    assert_eq!(energy(&drawing(&[]), &[]), [as_is("Energy 446.4 446.4; Demand charge 60 60", "modelled")]);
    let it = drawing(&[(Kind::Meters, "name=pdu|place=it")]);
    assert_eq!(
        energy(&it, &readings("pdu", 31, "5")),
        [as_is("Energy 558 558; Demand charge 75 75", "measured")]
    );
    // Ten days of it; what the others draw is computed.
    assert_eq!(
        energy(&it, &readings("pdu", 10, "5")),
        [as_is("Energy 180 180; Demand charge 75 75", "measured"), as_is("Energy 302.4 302.4", "modelled")]
    );
    // A day of which a part was read is not what that part was: eleven hours of the eleventh count as its model.
    let mut broken_off = readings("pdu", 11, "5");
    broken_off.truncate(10 * 24 + 11);
    assert_eq!(energy(&it, &broken_off), energy(&it, &readings("pdu", 10, "5")));
    // Nor is a day of which one of two meters was read.
    let two = drawing(&[(Kind::Meters, "name=pdu|place=it"), (Kind::Meters, "name=pdu2|place=it")]);
    let mut of_two = readings("pdu", 31, "2");
    of_two.extend(readings("pdu2", 10, "3"));
    assert_eq!(energy(&two, &of_two), energy(&it, &readings("pdu", 10, "5")));
    // What no meter of the cluster read counts nowhere.
    assert_eq!(energy(&it, &readings("another", 31, "5")), energy(&drawing(&[]), &[]));
    // The meter of the site has cooling in it, and stands for those of the machines.
    let site = drawing(&[(Kind::Meters, "name=pdu|place=it"), (Kind::Meters, "name=hall|place=facility")]);
    let mut both = readings("pdu", 31, "5");
    both.extend(readings("hall", 31, "7"));
    assert_eq!(energy(&site, &both), [as_is("Energy 520.8 520.8; Demand charge 70 70", "measured")]);
    // But on its own days alone: on the others those of the machines stand, times the PUE.
    let mut some = readings("pdu", 31, "5");
    some.extend(readings("hall", 10, "7"));
    assert_eq!(energy(&site, &some), [as_is("Energy 546 546; Demand charge 75 75", "measured")]);
}

#[test]
fn energy_in_the_price_of_a_place_is_charged_once() {
    let colocation = |includes: &str| {
        let pairs = format!("name=hall|contracted_kw=10|price_per_kw=150|includes_energy={includes}");
        drawing(&[(Kind::Meters, "name=pdu|place=it"), (Kind::Colocation, &pairs)])
    };
    let read = readings("pdu", 31, "5");
    let place = ("Colocation 1500 1500".to_owned(), "entered");
    assert_eq!(energy(&colocation("yes"), &read), std::slice::from_ref(&place));
    assert_eq!(energy(&colocation("yes"), &[]), std::slice::from_ref(&place));
    let apart = ("Energy 558 558; Demand charge 75 75".to_owned(), "measured");
    assert_eq!(energy(&colocation("no"), &read), [apart, place]);
}

#[test]
fn a_pue_holds_until_the_next_and_a_tariff_for_its_months() {
    let asset_register = of_a([
        asset("idle_kw=1|load_kw=2"),
        entry(Kind::Tariffs, "name=old|price_per_kwh=0.10|last=2026-02"),
        entry(Kind::Tariffs, "name=new|price_per_kwh=0.20|first=2026-03"),
        entry(Kind::Power, "first=2026-02|value=2"),
    ]);
    let of_month = |text: &str| {
        let lines = lines(&asset_register, &[], "a", month(text));
        let energy: Vec<Line> =
            lines.into_iter().filter(|line| line.component == Component::Energy).collect();
        described(&energy)
    };
    assert_eq!(of_month("2026-01"), "Energy 297.6 297.6", "without any PUE, what the machines draw");
    assert_eq!(of_month("2026-02"), "Energy 537.6 537.6");
    assert_eq!(of_month("2026-03"), "Energy 1190.4 1190.4");
}

#[test]
fn a_utilization_holds_from_its_month_on_and_leaves_those_before_byte_for_byte() {
    let file = |asset_register: &AssetRegister, text: &str| {
        let month = month(text);
        let lines = lines(asset_register, &[], "a", month);
        let file = super::super::bill(asset_register.cluster("a").unwrap(), month, &lines, true);
        String::from_utf8(file).unwrap()
    };
    let before = drawing(&[]);
    let mut after = before.clone();
    after.entries.extend([
        (90, entry(Kind::Utilization, "first=2026-05|downtime=0|utilization=0")),
        (91, entry(Kind::Utilization, "first=2026-03|downtime=20|utilization=50")),
    ]);
    for text in ["2026-01", "2026-02"] {
        assert_eq!(file(&after, text), file(&before, text), "{text}");
    }
    assert_ne!(file(&after, "2026-03"), file(&before, "2026-03"));
    let kwh = |text: &str| {
        let lines = lines(&after, &[], "a", month(text));
        let of_day = lines.iter().find(|line| line.component == Component::Energy).unwrap();
        of_day.quantity.unwrap().0.normalize().to_string()
    };
    // Two nodes × 24 h × 1.5 × (1 kW at rest, and 1 kW more for the share in which they work: 1; 0.5 × 0.8; 0).
    assert_eq!(
        ["2026-02", "2026-03", "2026-04", "2026-05", "2026-12"].map(kwh),
        ["144", "100.8", "100.8", "72", "72"]
    );
}

// What must hold of any asset register.

const FIRST: &str = "2026-01";
/// After the end of everything that is made here.
const MONTHS: u32 = 44;

fn first_day() -> NaiveDate {
    month(FIRST).first_day()
}

fn on(day: u64) -> NaiveDate {
    first_day() + Days::new(day)
}

fn assets() -> impl Strategy<Value = Asset> {
    let paid = prop_oneof![
        Just(Paid::Bought),
        (0i64..40, 1u32..30).prop_map(|(percent, months)| Paid::Financed {
            yearly_rate: Decimal::new(percent.into(), 2),
            months
        }),
        (1i64..1_000_000, 1u32..30)
            .prop_map(|(cents, months)| Paid::Leased { monthly: Decimal::new(cents.into(), 2), months }),
    ];
    let what = prop_oneof![Just("node"), Just("spare-node"), Just("storage")];
    let method = prop_oneof![Just(""), Just("|depreciation=declining-balance|factor=2")];
    (paid, what, method, 1i64..100_000_000, 0i64..=100, 1u32..4, 0u64..200, 1u32..30).prop_map(
        |(paid, what, method, cents, percent, count, day, life)| {
            let price = Decimal::new(cents.into(), 2);
            let Entry::Asset(asset) = asset(&format!("what={what}|idle_kw=1|load_kw=2{method}")) else {
                unreachable!("an asset")
            };
            Asset {
                price,
                residual: price.multiply(Decimal::new(percent.into(), 2)),
                paid,
                count,
                in_service: on(day),
                life_months: life,
                ..asset
            }
        },
    )
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let what = prop_oneof![
        (0i64..1_000_000).prop_map(|cents| EventKind::Disposal { proceeds: Decimal::new(cents.into(), 2) }),
        Just(EventKind::WriteOff),
        Just(EventKind::Move { to: "a".to_owned() }),
        Just(EventKind::Move { to: "b".to_owned() }),
    ];
    let event =
        (what, proptest::collection::btree_set(1u32..4, 0..3), 0u64..700).prop_map(|(what, units, day)| {
            Event { asset: "node".to_owned(), units: units.into_iter().collect(), day: on(day), what }
        });
    proptest::collection::vec(event, 0..5)
}

/// Two clusters and an asset, with what of these events can be.
fn asset_registers() -> impl Strategy<Value = (AssetRegister, Asset)> {
    (assets(), events()).prop_map(|(asset, events)| {
        let clusters = [entry(Kind::Clusters, ""), entry(Kind::Clusters, "handle=b|name=B")];
        let mut entries = clusters.to_vec();
        entries.push(Entry::Asset(asset.clone()));
        for event in events {
            // Of two on one day the one that was entered first comes first: that is an order that counts.
            let is_alone = !entries.iter().any(|it| matches!(it, Entry::Event(it) if it.day == event.day));
            entries.push(Entry::Event(event));
            if !is_alone || !problems(&asset_register(entries.clone())).is_empty() {
                entries.pop();
            }
        }
        (asset_register(entries), asset)
    })
}

fn all_months(asset_register: &AssetRegister) -> Vec<(&'static str, BillingMonth, Vec<Line>)> {
    let months = (0..MONTHS).map(|n| month(FIRST).plus(n));
    months
        .flat_map(|month| {
            ["a", "b"].map(|cluster| (cluster, month, lines(asset_register, &[], cluster, month)))
        })
        .collect()
}

/// What a line says, without the number of its entry.
fn said(line: &Line) -> String {
    format!("{:?}", Line { input: 0, ..line.clone() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn over_its_life_an_asset_costs_its_price_less_what_is_left_of_it((asset_register, asset) in asset_registers()) {
        let (mut billed, mut effective, mut interest) = (Decimal::ZERO, Decimal::ZERO, Decimal::ZERO);
        for line in all_months(&asset_register).iter().flat_map(|(.., lines)| lines) {
            billed += line.billed;
            effective += line.effective;
            if line.component == Component::Interest {
                interest += line.effective;
            }
        }
        let leavings = asset_register.events().location_history(&asset).leavings;
        let proceeds: Decimal = leavings.iter().map(|leaving| match leaving.what {
            EventKind::Disposal { proceeds } => *proceeds,
            _ => Decimal::ZERO,
        }).sum();
        let count = i64::from(asset.count);
        match asset.paid {
            Paid::Leased { monthly, months } => {
                let payments = monthly.times(count * i64::from(months));
                prop_assert_eq!((billed, effective), (payments, payments));
            }
            Paid::Bought | Paid::Financed { .. } => {
                let price = asset.price.times(count);
                let left = asset.residual.times(count - leavings.len() as i64);
                prop_assert_eq!(effective, price - left - proceeds + interest);
                prop_assert_eq!(billed, price + interest - proceeds);
            }
        }
    }

    #[test]
    fn every_line_lies_in_its_month_and_the_components_sum_to_it((asset_register, _) in asset_registers()) {
        let usd = Currency::exactly("USD");
        for (_, month, lines) in all_months(&asset_register) {
            let days = month.days();
            for line in &lines {
                prop_assert!(days.start <= line.days.start && line.days.end <= days.end);
                prop_assert!(line.days.start < line.days.end);
            }
            let summary = MonthSummary::of(month, &lines, &usd);
            let sum: Decimal = summary.components.values().copied().sum();
            let of_lines: Decimal = lines.iter().map(|line| line.effective).sum();
            prop_assert_eq!((sum, sum), (summary.effective, of_lines));
        }
    }

    #[test]
    fn a_unit_is_in_one_cluster_each_day_that_it_is_there((asset_register, asset) in asset_registers()) {
        prop_assume!(asset.bears_accelerators());
        let mut seen: BTreeMap<(NaiveDate, String), usize> = BTreeMap::new();
        for line in all_months(&asset_register).iter().flat_map(|(.., lines)| lines) {
            for (unit, _) in line.parts().filter(|_| line.machine.is_some()) {
                *seen.entry((line.days.start, unit.unwrap())).or_default() += 1;
            }
        }
        prop_assert!(seen.values().all(|count| *count == 1));
        let end = month(FIRST).plus(MONTHS).first_day();
        let end = asset.given_back().unwrap_or(end).min(end);
        let leavings = asset_register.events().location_history(&asset).leavings;
        let expected: i64 = (1..=asset.count)
            .map(|unit| {
                let left = leavings.iter().find(|leaving| leaving.unit == unit).map_or(end, |it| it.day);
                (left - asset.in_service).num_days()
            })
            .sum();
        prop_assert_eq!(seen.len() as i64, expected);
    }

    #[test]
    fn a_line_for_units_is_what_they_are_charged_together((asset_register, _) in asset_registers()) {
        for line in all_months(&asset_register).iter().flat_map(|(.., lines)| lines) {
            let parts: Vec<Amounts> = line.parts().map(|(_, part)| part).collect();
            let sum = |amount: fn(&Amounts) -> Decimal| parts.iter().map(amount).sum::<Decimal>();
            prop_assert_eq!((sum(|it| it.billed), sum(|it| it.effective)), (line.billed, line.effective));
            let hours = sum(|it| it.quantity.map_or(Decimal::ZERO, |(quantity, _)| quantity));
            prop_assert_eq!(hours, line.quantity.map_or(Decimal::ZERO, |(quantity, _)| quantity));
            let numbers = line.units.as_ref().map(|units| units.numbers.to_vec()).unwrap_or_default();
            prop_assert!(numbers.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_month_follows_from_the_entries_behind_its_cluster_alone((asset_register, _) in asset_registers()) {
        for (cluster, month, lines) in all_months(&asset_register) {
            let behind = asset_register.behind(cluster);
            prop_assert_eq!(&lines, &super::lines(&behind, &[], cluster, month));
            let others = behind.clusters().iter().filter(|it| it.handle != cluster).count();
            prop_assert_eq!(others, 0);
        }
    }

    #[test]
    fn the_order_in_which_things_were_entered_changes_nothing((written, _) in asset_registers()) {
        let backwards = asset_register(written.entries.values().rev().cloned());
        for ((.., one), (.., other)) in all_months(&written).iter().zip(all_months(&backwards)) {
            let mut one: Vec<String> = one.iter().map(said).collect();
            let mut other: Vec<String> = other.iter().map(said).collect();
            one.sort_unstable();
            other.sort_unstable();
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn what_is_paid_again_and_again_is_billed_as_it_is_charged(
        cents in -10_000_000i64..10_000_000,
        every in prop_oneof![Just("once"), Just("month"), Just("quarter"), Just("year")],
        length in 0u32..40,
    ) {
        let (amount, last) = (Decimal::new(cents.into(), 2), month(FIRST).plus(length));
        let asset_register = of_a([entry(Kind::Costs, &format!("amount={amount}|every={every}|last={last}"))]);
        let (mut billed, mut effective) = (Decimal::ZERO, Decimal::ZERO);
        for line in all_months(&asset_register).iter().flat_map(|(.., lines)| lines) {
            billed += line.billed;
            effective += line.effective;
        }
        prop_assert_eq!(billed, effective);
        let months = i64::from(length + 1);
        let (payments, rest) = match every {
            "once" => (1, 0),
            "month" => (months, 0),
            "quarter" => (months / 3, months % 3),
            _ => (months / 12, months % 12),
        };
        if rest == 0 {
            prop_assert_eq!(billed, amount.times(payments));
        }
    }
}
