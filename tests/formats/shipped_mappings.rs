//! Mappings that come with the product, as formats.

use std::io::Cursor;
use std::sync::Arc;

use gpuledger::accelerator::recognize;
use gpuledger::billing::mapping::{self, Mapping};
use gpuledger::billing::{self, FORMATS, ReadAs, Refusal};

use super::{Reading, read};
use crate::support::{files, number};

fn template() -> String {
    std::fs::read_to_string(files::fixture("invoices/lambda-template.csv")).unwrap()
}

fn open(text: &str, read_as: &ReadAs) -> Result<Reading, Refusal> {
    read(billing::open("invoice.csv", Cursor::new(text.to_owned()), read_as)?)
}

#[test]
fn every_shipped_mapping_is_a_format_with_a_label_and_a_guide() {
    assert!(!mapping::shipped().is_empty());
    for it in mapping::shipped() {
        let format = FORMATS.iter().find(|format| format.name() == it.mapping.name).unwrap();
        assert!(format.is_mapping() && !format.label().contains("version"), "{}", format.label());
        assert_eq!(format.guides().len(), 1, "{}", format.name());
        assert_eq!(Mapping::parse(it.text).unwrap(), it.mapping);
    }
}

#[test]
fn names_of_formats_and_of_shipped_mappings_are_built_in() {
    for (name, expected) in [("lambda", true), ("aws-cur", true), ("focus", true), ("lambda-weekly", false)] {
        assert_eq!(mapping::is_built_in(name), expected, "{name}");
    }
}

#[test]
fn a_table_of_lambdas_invoices_is_recognized_and_divided_by_months() {
    let reading = open(&template(), &ReadAs::any()).unwrap();
    assert_eq!((reading.format.as_str(), reading.rejected.len()), ("lambda", 0), "{:?}", reading.rejected);
    let charges = reading.charges.iter().map(|charge| {
        let accelerators = recognize(&charge.key).map(|found| found.per_unit.to_string()).unwrap_or_default();
        let category = charge.key.category.as_str();
        format!("{} {category} {} {accelerators}", charge.billing_month(), charge.billed_cost.normalize())
    });
    assert_eq!(
        charges.collect::<Vec<_>>(),
        [
            "2026-09 Usage 3827.2 8",
            "2026-09 Usage 1005 1",
            "2026-09 Usage 46.67 ",
            "2026-09 Tax 390.31 ",
            "2026-09 Usage 6.75 1",
            "2026-10 Usage 9 1",
            "2026-09 Tax 0.54 ",
            "2026-10 Tax 0.72 ",
        ]
    );
    assert_eq!(reading.billed(), number("5286.19"));
    assert!(reading.charges.iter().all(|charge| charge.key.provider == "Lambda"));
}

#[test]
fn a_saved_mapping_of_the_same_columns_wins() {
    let text = mapping::shipped()[0].text.replace("name = \"lambda\"", "name = \"ours\"");
    let saved = mapping::read_by(Mapping::parse(&text).unwrap(), 2);
    let read_as = ReadAs::any().with_mappings(Arc::from([saved]));
    assert_eq!(open(&template(), &read_as).unwrap().format, "ours@2");
    let named = ReadAs::named(Some("lambda"));
    assert_eq!(open(&template(), &named).unwrap().format, "lambda");
}

#[test]
fn a_table_with_another_column_is_refused_with_the_name_of_the_mapping() {
    let other = template().replacen("Sales tax,Project", "VAT,Project", 1);
    let refusal = open(&other, &ReadAs::any()).err().unwrap().to_string();
    assert!(refusal.contains("most columns of the Lambda weekly invoice, but not the same"), "{refusal}");
    let gone = open(&other, &ReadAs::named(Some("lambda"))).err().unwrap().to_string();
    assert!(gone.contains("a file without the column Sales tax"), "{gone}");
}
