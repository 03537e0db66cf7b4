//! `tests/fixtures/golden_values.csv` holds figures that were computed with 50 digits, apart from this program. They are
//! computed here by the product's own functions, all of them.

mod cash;
mod market;
mod mix;
mod models;
mod network;
mod owning;
mod tools;
mod uncertainty;

use std::collections::BTreeMap;

use gpuledger::money::Decimal;

use crate::support::number;

/// The id of a figure, and what the product makes of it.
type Computed = (&'static str, Decimal);

fn computed() -> BTreeMap<&'static str, Decimal> {
    let all = [
        owning::computed(),
        market::computed(),
        mix::computed(),
        cash::computed(),
        uncertainty::computed(),
        network::computed(),
        models::computed(),
        tools::computed(),
    ]
    .concat();
    let of = all.len();
    let computed: BTreeMap<&str, Decimal> = all.into_iter().collect();
    assert_eq!(computed.len(), of, "one is computed twice");
    computed
}

#[test]
fn every_golden_figure_is_computed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden_values.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let golden: BTreeMap<&str, Decimal> = rows.iter().map(|row| (&row[0], number(&row[2]))).collect();
    let mut computed = computed();
    let mut wrong = Vec::new();
    for (id, expected) in golden {
        match computed.remove(id) {
            None => wrong.push(format!("{id} is not computed")),
            Some(value) if value.round(4) != expected => {
                wrong.push(format!("{id} is {}, expected {expected}", value.round(4)));
            }
            Some(_) => {}
        }
    }
    wrong.extend(computed.keys().map(|id| format!("{id} is computed, but not in the file")));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn figures_that_are_told_but_not_in_the_file_hold_too() {
    let described = [
        owning::described(),
        market::described(),
        mix::described(),
        cash::described(),
        uncertainty::described(),
        network::described(),
        models::described(),
        tools::described(),
    ]
    .concat();
    let expected = BTreeMap::from([
        ("B03", "0.2313"),
        ("B06", "0.7126"),
        ("F13", "3.5080"),
        ("F32", "0.5242"),
        ("F05", "35416.6667"),
        ("FT1", "3417.9688"),
        ("R01", "86016"),
        ("S04", "1.0050"),
        ("S13", "1.0297"),
        ("S16", "1.1059"),
        ("S19", "50677.0024"),
        ("C02", "0.4272"),
        ("C05", "0.7631"),
        ("K04", "15.5423"),
        ("N02", "5262"),
        ("N08", "0"),
        ("N11", "2"),
        ("N13", "2.8432"),
        ("N16", "635"),
        ("N18", "656"),
        ("TO_UTI_lo", "4.4425"),
        ("TO_CAP_hi", "4.0593"),
        ("L04", "5.2560"),
        ("G07", "45000"),
        ("G11", "122.8800"),
        ("G13", "29482.2000"),
        ("W03", "8.6595"),
        ("M01", "0.9829"),
        ("M04", "3.6693"),
        ("T02", "14.5243"),
        ("T08", "30517"),
        ("V03", "28.51"),
        ("E04", "11542.9867"),
        ("E07", "35.56"),
        ("E12", "2080800.0000"),
        ("E15", "88241056.8000"),
        ("E18", "5.5987"),
        ("E33", "2846150.8669"),
        ("E40", "482997000"),
        ("E45 gold", "1.1194"),
        ("E46", "0.6000"),
    ]);
    assert_eq!(described.len(), expected.len());
    for (id, value) in described {
        let wanted = number(expected[id]);
        assert_eq!(value.round(wanted.scale().min(4)), wanted, "{id}");
    }
}
