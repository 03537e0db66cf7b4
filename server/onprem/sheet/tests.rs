//! Entries as texts and back; what is refused, and how that is shown.

use proptest::prelude::*;

use super::super::entry::Entry;
use super::super::testing::{entry, texts, try_entry};
use super::*;
use crate::money::number;

/// A file of these entries, as text.
fn file_of(kind: Kind, entries: &[Entry]) -> Vec<u8> {
    let mut file = csv::Writer::from_writer(Vec::new());
    for row in write_file(kind, entries) {
        file.write_record(row).unwrap();
    }
    file.into_inner().unwrap()
}

/// One entry of each kind and of each of its shapes.
const SHAPES: [(Kind, &str); 25] = [
    (Kind::Clusters, "handle=h100-east|name=H100 East, “new”|site=Frankfurt 2|growth=-2.5|downtime=7.25"),
    (Kind::Assets, "model=DGX H100|tags=team=vision; env=prod|idle_kw=2.1|load_kw=8.4|rated_kw=10.2"),
    (Kind::Assets, "depreciation=declining-balance|factor=1.5|residual=365.0050"),
    (Kind::Assets, "paid=financed|yearly_rate=4.75|term_months=48"),
    (Kind::Assets, "paid=leased|price=0|monthly=9999.99|term_months=24"),
    (Kind::Assets, "what=spare-node"),
    (Kind::Assets, "what=facility|accelerators=|accelerator=|currency=EUR"),
    (Kind::Events, "asset=node|units=1-4, 7|day=2026-05-01|what=disposal|proceeds=12.5"),
    (Kind::Events, "asset=node|day=2026-05-01|what=write-off"),
    (Kind::Events, "asset=node|units=3|day=2026-05-01|what=move|to=b"),
    (Kind::Utilization, "downtime=7.25|utilization=66.6"),
    (Kind::Utilization, "first=2026-03|downtime=0|utilization=0"),
    (Kind::Power, "value=1.3"),
    (Kind::Meters, "name=PDU 7|place=it"),
    (Kind::Meters, "name=hall|place=facility"),
    (Kind::Tariffs, "price_per_kwh=-0.01|bands=workdays 8-20 0.18; weekend 0-24 -0.07|demand_per_kw=12"),
    (Kind::Tariffs, "demand_window=60|time_zone=Europe/Berlin|last=2026-12"),
    (Kind::Colocation, "contracted_kw=81.6|price_per_kw=200|includes_energy=yes"),
    (Kind::Colocation, "contracted_kw=81.6|price_per_kw=200|includes_energy=no|last=2027-01"),
    (Kind::Staff, "fte=1.5|loaded_cost=250000|share=33.3"),
    (Kind::StaffHours, "hours=12.5|hourly_cost=90"),
    (Kind::Costs, "amount=100|every=once"),
    (Kind::Costs, "amount=-100.01|every=quarter|what=licence"),
    (Kind::Costs, "amount=-100.0050|every=year|what=licence"),
    (Kind::Costs, "amount=0.000001|every=year|what=other|last=2026-12"),
];

#[test]
fn every_shape_of_an_entry_is_read_as_it_was_written() {
    for kind in Kind::ALL {
        let entries: Vec<Entry> = SHAPES
            .iter()
            .filter(|(it, _)| *it == kind)
            .enumerate()
            .map(|(at, (_, pairs))| match entry(kind, pairs) {
                // In a file no two are the same.
                Entry::Asset(it) => Entry::Asset(crate::onprem::Asset { name: format!("n{at}"), ..it }),
                Entry::Tariff(it) => Entry::Tariff(crate::onprem::Tariff { name: format!("t{at}"), ..it }),
                Entry::Cost(it) => Entry::Cost(crate::onprem::Cost { name: format!("c{at}"), ..it }),
                Entry::Colocation(it) => {
                    Entry::Colocation(crate::onprem::Colocation { name: format!("c{at}"), ..it })
                }
                other => other,
            })
            .collect();
        assert!(!entries.is_empty(), "{kind}");
        for entry in &entries {
            assert_eq!(read(kind, &cells(entry)).as_ref(), Ok(entry));
            let kept = serde_json::to_string(entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&kept).unwrap(), *entry, "{kept}");
            let fields: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
            assert!(cells(entry).keys().all(|name| fields.contains(&name.as_str())), "{entry:?}");
        }
        assert_eq!(read_file(kind, &file_of(kind, &entries)), Ok(entries), "{kind}");
    }
}

#[test]
fn what_a_form_begins_with_is_no_mistake() {
    for kind in Kind::ALL {
        for field in kind.fields() {
            assert!(!field.label.is_empty(), "{kind} {}", field.name);
            if let Takes::OneOf(words) = field.takes {
                let is_word = words.iter().any(|(word, _)| *word == field.default);
                assert!(field.default.is_empty() || is_word, "{kind} {}", field.name);
                for (word, _) in words {
                    let refused =
                        try_entry(kind, &format!("{}={word}", field.name)).err().unwrap_or_default();
                    assert!(refused.iter().all(|it| it.column != field.name), "{kind} {} {word}", field.name);
                }
            } else if !field.default.is_empty() {
                let refused = try_entry(kind, "").err().unwrap_or_default();
                assert!(refused.iter().all(|it| it.column != field.name), "{kind} {refused:?}");
            }
        }
    }
}

#[test]
fn bad_input_is_refused_with_what_was_found_and_expected() {
    let long = "x".repeat(201);
    let long = format!("name={long}");
    let table: [(Kind, &str, &str, &str); 65] = [
        (Kind::Assets, "price=", "price", "a number from 0"),
        (Kind::Assets, "price=0", "price", "a price above 0"),
        (Kind::Assets, "price=-1", "price", "a number from 0"),
        (Kind::Assets, "price=1e400", "price", "a number from 0"),
        (Kind::Assets, "price=1.234,56", "price", "a number from 0"),
        (Kind::Assets, "price=5%", "price", "a number from 0"),
        (Kind::Assets, "price=300.000", "price", "300000 or 300.00: a point before three digits"),
        (Kind::Assets, "residual=1.234", "residual", "1234 or 1.2340: a point"),
        (Kind::Assets, "paid=leased|term_months=3|monthly=9.500", "monthly", "9500 or 9.50: a point"),
        (Kind::Costs, "amount=-300.000", "amount", "-300000 or -300.00: a point"),
        (Kind::Staff, "loaded_cost=250.000", "loaded_cost", "250000 or 250.00"),
        (Kind::Assets, "idle_kw=10.199|load_kw=10.200|rated_kw=10.200", "", ""),
        (Kind::Tariffs, "price_per_kwh=25.125|demand_per_kw=12.345", "", ""),
        (Kind::Assets, "price=1.0000000000001", "price", "at most 12 decimals"),
        (Kind::Assets, "price=1000000000001", "price", "1,000,000,000,000"),
        (Kind::Assets, "life_months=0", "life_months", "a whole number from 1"),
        (Kind::Assets, "life_months=36.5", "life_months", "a whole number"),
        (Kind::Assets, "residual=36500.01", "residual", "at most the price"),
        (Kind::Assets, "residual=-1", "residual", "a number from 0"),
        (Kind::Assets, "count=0", "count", "a whole number from 1"),
        (Kind::Assets, "accelerators=", "accelerators", "the number"),
        (Kind::Assets, "accelerator=", "accelerator", "an accelerator such"),
        (Kind::Assets, "what=toaster", "what", "node, spare-node"),
        (Kind::Assets, "depreciation=declining-balance", "factor", "a number"),
        (Kind::Assets, "depreciation=declining-balance|factor=0", "factor", "a factor"),
        (Kind::Assets, "depreciation=", "depreciation", "straight-line or"),
        (Kind::Assets, "paid=stolen", "paid", "bought, financed or leased"),
        (Kind::Assets, "paid=financed|yearly_rate=5", "term_months", "a whole number"),
        (Kind::Assets, "paid=leased|monthly=1|term_months=0", "term_months", "a whole number"),
        (Kind::Assets, "in_service=2026-02-30", "in_service", "a date"),
        (Kind::Assets, "in_service=0001-01-01", "in_service", "a date"),
        (Kind::Assets, "currency=BTC", "currency", "a currency"),
        (Kind::Assets, "tags=vision", "tags", "team=vision"),
        (Kind::Assets, "name==HYPERLINK(\"x\")", "name", "spreadsheets compute"),
        (Kind::Assets, "model=+1", "model", "spreadsheets compute"),
        (Kind::Assets, "model=a\nb", "model", "one line"),
        (Kind::Assets, "accelerator=a\0b", "accelerator", "one line"),
        (Kind::Assets, "tags=team=a\0b", "tags", "one line"),
        (Kind::Assets, "", "", ""),
        (Kind::Clusters, "handle=H100", "handle", "lowercase letters"),
        (Kind::Clusters, "handle=-1", "handle", "lowercase letters"),
        (Kind::Clusters, "handle=", "handle", "lowercase letters"),
        (Kind::Clusters, "name=@x", "name", "spreadsheets compute"),
        (Kind::Clusters, "name=", "name", "a value"),
        (Kind::Clusters, &long, "name", "up to 200"),
        (Kind::Clusters, "site=-x", "site", "spreadsheets compute"),
        (Kind::Clusters, "downtime=100", "downtime", "0 to 99%"),
        (Kind::Clusters, "growth=-101", "growth", "-100 to 1,000%"),
        (Kind::Utilization, "downtime=100", "downtime", "0 to 99%"),
        (Kind::Utilization, "utilization=100.1", "utilization", "0 to 100%"),
        (Kind::Utilization, "first=March", "first", "a month"),
        (Kind::Power, "value=0.99", "value", "from 1 to 10"),
        (Kind::Power, "value=11", "value", "from 1 to 10"),
        (Kind::Power, "value=1.3000001", "value", "at most 6 digits"),
        (Kind::Assets, "load_kw=8.4000001", "load_kw", "at most 6 decimals"),
        (Kind::Power, "first=2026-13", "first", "a month"),
        (Kind::Staff, "fte=1|loaded_cost=1|share=100.01", "share", "0 to 100%"),
        (Kind::Staff, "last=2025-12", "last", "not before the first"),
        (Kind::Costs, "amount=1|every=week", "every", "once, month"),
        (Kind::Tariffs, "bands=workdays 8-20 0.18; every-day 19-21 0.2", "bands", ""),
        (Kind::Tariffs, "bands=mondays 8-20 0.18", "bands", "workdays 8-20"),
        (Kind::Tariffs, "bands=workdays 8-20 0.0000000000001", "bands", "workdays 8-20"),
        (Kind::Tariffs, "time_zone=Berlin", "time_zone", "a time zone"),
        (Kind::Events, "asset=node|day=2026-05-01|what=move", "to", "a value"),
        (Kind::Events, "asset=node|day=2026-05-01|what=write-off|units=4-1", "units", "unit numbers"),
    ];
    for (kind, pairs, column, expected) in table {
        let read = try_entry(kind, pairs);
        if column.is_empty() {
            assert!(read.is_ok(), "what is changed is all that is wrong");
            continue;
        }
        let refused = read.expect_err(pairs);
        let found = refused.iter().find(|it| it.column == column);
        let found = found.unwrap_or_else(|| panic!("{pairs}: {refused:?}"));
        assert!(found.expected.contains(expected), "{pairs}: {found}");
        assert_eq!(found.found, texts(kind, pairs)[column].trim(), "{pairs}");
    }
}

#[test]
fn a_file_is_refused_row_by_row_and_nothing_of_it_is_taken() {
    let head = "cluster,first,value\n";
    let described = |text: &str| -> Vec<(usize, String, String)> {
        let refused = read_file(Kind::Power, text.as_bytes()).unwrap_err();
        refused.into_iter().map(|it| (it.row, it.column, it.found)).collect()
    };
    let row = |row: usize, column: &str, found: &str| (row, column.to_owned(), found.to_owned());
    assert_eq!(described(&format!("{head}a,2026-01,1.3\na,2026-02,0.9\n")), [row(2, "value", "0.9")]);
    assert_eq!(
        described(&format!("{head},x,1.3\n\n,,\na,2026-02,\n")),
        [row(1, "cluster", ""), row(1, "first", "x"), row(3, "value", "")]
    );
    assert_eq!(described(&format!("{head}a,2026-01,1.3,\n")), [row(1, "the row", "4 fields")]);
    assert_eq!(
        described(&format!("{head}a,2026-01,1.3\n,,\na,2026-01,1.4\n")),
        [row(3, "the row", "PUE of a from 2026-01")],
        "the same month twice, in the third row"
    );
    assert_eq!(described("cluster,first\na,2026-01\n"), [row(0, "value", "no such column")]);
    assert_eq!(described("cluster,first,value,colour\n"), [row(0, "colour", "colour")]);
    assert_eq!(described("cluster,first,value,First\n"), [row(0, "first", "this column twice")]);
    let many: String = (0..200).map(|_| "a,2026-01,0\n").collect();
    assert!(described(&format!("{head}{many}")).len() <= 60, "not all of a file that is wrong in every row");
}

#[test]
fn what_a_spreadsheet_made_of_a_file_is_read() {
    let rows = "\u{feff}\"Cluster\", First ,value\r\na,2026-01,\"1.30\"\r\n,,\r\n";
    let expected = entry(Kind::Power, "value=1.3");
    assert_eq!(read_file(Kind::Power, rows.as_bytes()), Ok(vec![expected]));
    // A quote before what would be computed.
    let costs = "cluster,name,what,amount,currency,every,first,last\na,x,other,'-5,USD,once,2026-01,\n";
    let expected = entry(Kind::Costs, "what=other|amount=-5|every=once");
    assert_eq!(read_file(Kind::Costs, costs.as_bytes()), Ok(vec![expected]));
}

/// With four decimals at least.
fn typed(amount: crate::money::Decimal) -> String {
    let places = usize::from(amount.scale().max(4));
    let text = amount.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}.{fraction:0<places$}")
}

fn amounts() -> impl Strategy<Value = String> {
    (0i64..1_000_000_000_000, 0u8..12)
        .prop_map(|(mantissa, scale)| crate::money::Decimal::new(mantissa.into(), scale).to_string())
}

proptest! {
    #[test]
    fn numbers_are_read_as_they_were_written(
        (price, left) in (amounts(), amounts()),
        (monthly, factor) in (amounts(), amounts()),
        (percent, months) in ((0i64..10_000, 0u8..2), 1u32..600),
        count in 1u32..100_000,
        kw in 0i64..100_000_000_000,
    ) {
        let kw = crate::money::Decimal::new(kw.into(), 6);
        let percent = crate::money::Decimal::new((percent.0 % 100).into(), percent.1);
        let more_than_nothing = |text: &str| number(text) + number("0.01");
        let price = more_than_nothing(&price);
        let residual = number(&left).min(price);
        let factor = more_than_nothing(&factor);
        // Money as nobody reads it in two ways: with four decimals or more.
        let (price, residual, monthly) = (typed(price), typed(residual), typed(number(&monthly)));
        for (kind, pairs) in [
            (Kind::Assets, format!("price={price}|residual={residual}|count={count}|life_months={months}")),
            (Kind::Assets, format!("price={price}|depreciation=declining-balance|factor={factor}")),
            (Kind::Assets, format!("paid=financed|yearly_rate={percent}|term_months={months}")),
            (Kind::Assets, format!("paid=leased|monthly={monthly}|term_months={months}|idle_kw={kw}")),
            (Kind::Costs, format!("amount={price}")),
            (Kind::Costs, format!("amount=-{price}")),
            (Kind::Staff, format!("fte={left}|loaded_cost={monthly}|share={percent}")),
            (Kind::StaffHours, format!("hours={left}|hourly_cost={monthly}")),
            (Kind::Colocation, format!("contracted_kw={left}|price_per_kw={monthly}|includes_energy=no")),
            (Kind::Clusters, format!("downtime={percent}|utilization={percent}|growth=-{percent}|rack_kw={left}")),
        ] {
            let entry = entry(kind, &pairs);
            prop_assert_eq!(read(kind, &cells(&entry)), Ok(entry.clone()));
            let entries = vec![entry];
            prop_assert_eq!(read_file(kind, &file_of(kind, &entries)), Ok(entries));
        }
    }

    #[test]
    fn whatever_stands_in_a_file_it_is_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        text in "[a-z0-9=+'\",;\n\r.:% -]{0,120}",
        (kind, cut) in (0usize..Kind::ALL.len(), 0usize..400),
    ) {
        let kind = Kind::ALL[kind];
        let own: Vec<Entry> =
            SHAPES.iter().filter(|(it, _)| *it == kind).map(|(_, pairs)| entry(kind, pairs)).collect();
        let mut mixed = file_of(kind, &own);
        mixed.truncate(cut);
        mixed.extend_from_slice(text.as_bytes());
        mixed.extend_from_slice(&bytes);
        for content in [bytes.as_slice(), text.as_bytes(), &mixed] {
            for kind in Kind::ALL {
                if let Err(refused) = read_file(kind, content) {
                    prop_assert!(!refused.is_empty());
                    prop_assert!(refused.iter().all(|it| !it.expected.is_empty() && !it.column.is_empty()));
                }
            }
        }
    }
}
