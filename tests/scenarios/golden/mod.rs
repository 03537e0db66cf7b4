//! `tests/fixtures/golden_values.csv` holds figures that were computed with 50 digits, apart from this program. They are
//! computed here by the product's own functions, and what is left out is named with its reason.

mod market;
mod models;
mod network;
mod owning;
mod tools;

use std::collections::BTreeMap;

use gpuledger::money::Decimal;

/// The id of a figure, and what the product makes of it.
type Computed = (&'static str, Decimal);

/// What is not computed yet, by how its ids begin, and what it is about.
const NOT_YET: &[(&str, &str)] = &[
    ("K", "cumulative cost and payback"),
    ("N0", "the best mix"),
    ("N1", "the best mix"),
    ("NP", "net present value"),
    ("TO_", "tornado"),
];

fn number(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn computed() -> BTreeMap<&'static str, Decimal> {
    let all =
        [owning::computed(), market::computed(), network::computed(), models::computed(), tools::computed()]
            .concat();
    let of = all.len();
    let computed: BTreeMap<&str, Decimal> = all.into_iter().collect();
    assert_eq!(computed.len(), of, "one is computed twice");
    computed
}

#[test]
fn every_golden_figure_is_computed_or_left_out_by_name() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden_values.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let golden: BTreeMap<&str, Decimal> = rows.iter().map(|row| (&row[0], number(&row[2]))).collect();
    let mut computed = computed();
    let mut wrong = Vec::new();
    for (id, expected) in golden {
        let is_left_out = NOT_YET.iter().any(|(begin, _)| id.starts_with(begin));
        match computed.remove(id) {
            None if is_left_out => {}
            None => wrong.push(format!("{id} is neither computed nor left out")),
            Some(_) if is_left_out => wrong.push(format!("{id} is computed and left out")),
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
    let told = [owning::told(), market::told(), network::told(), models::told(), tools::told()].concat();
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
        ("L04", "5.2560"),
        ("G07", "45000"),
        ("G11", "122.8800"),
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
    assert_eq!(told.len(), expected.len());
    for (id, value) in told {
        let wanted = number(expected[id]);
        assert_eq!(value.round(wanted.scale().min(4)), wanted, "{id}");
    }
}
