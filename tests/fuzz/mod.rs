//! Inputs that the fuzzer found worth keeping, and what once broke: each is tried again without it.

mod checks;

use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let mut tried = 0;
    for folder in ["corpus", "findings"] {
        // Not every target has found something.
        let Ok(files) = std::fs::read_dir(fuzz.join(folder).join(target)) else { continue };
        for file in files {
            let path = file.unwrap().path();
            // Said only of the one that fails.
            eprintln!("{}", path.display());
            check(&std::fs::read(path).unwrap());
            tried += 1;
        }
    }
    assert!(tried > 5, "the corpus of {target} is there");
}

#[test]
fn corpus_of_csv_rows_is_walked_the_same_wherever_it_stands() {
    replay("csv", checks::csv);
}

#[test]
fn corpus_of_json_is_walked_object_by_object() {
    replay("json", checks::json);
}

#[test]
fn corpus_of_parquet_is_read_or_refused() {
    replay("parquet", checks::parquet);
}

#[test]
fn corpus_of_containers_is_read_as_what_is_inside() {
    replay("containers", checks::containers);
}

#[test]
fn corpus_of_manifests_is_read_or_refused() {
    replay("manifests", checks::manifests);
}

#[test]
fn corpus_of_google_exports_is_read_row_by_row() {
    replay("google", checks::google);
}

#[test]
fn corpus_of_focus_exports_is_read_row_by_row() {
    replay("focus", checks::focus);
}

#[test]
fn corpus_of_oracle_cost_reports_is_read_row_by_row() {
    replay("oci_cost", checks::oci_cost);
}

#[test]
fn corpus_of_azure_exports_is_read_row_by_row() {
    replay("azure", checks::azure);
}

#[test]
fn corpus_of_aws_reports_is_read_row_by_row() {
    replay("aws_cur", checks::aws_cur);
}

#[test]
fn corpus_of_runpod_answers_is_read_row_by_row() {
    replay("runpod", checks::runpod);
}

#[test]
fn corpus_of_vast_charges_is_read_row_by_row() {
    replay("vast", checks::vast);
}

#[test]
fn corpus_of_modal_reports_is_read_row_by_row() {
    replay("modal", checks::modal);
}

#[test]
fn corpus_of_digitalocean_invoices_is_read_row_by_row() {
    replay("digitalocean", checks::digitalocean);
}

#[test]
fn corpus_of_crusoe_exports_is_read_row_by_row() {
    replay("crusoe", checks::crusoe);
}

#[test]
fn corpus_of_hyperstack_answers_is_read_row_by_row() {
    replay("hyperstack", checks::hyperstack);
}

#[test]
fn corpus_of_fireworks_metrics_is_read_row_by_row() {
    replay("fireworks", checks::fireworks);
}

#[test]
fn corpus_of_mappings_is_written_as_it_is_read_and_reads_rows() {
    replay("mappings", checks::mappings);
}

#[test]
fn corpus_of_workbooks_is_read_or_refused() {
    replay("workbooks", checks::workbooks);
}

#[test]
fn corpus_of_usage_is_read_or_refused_and_fits_into_its_hours() {
    replay("usage", checks::usage);
}

#[test]
fn corpus_of_scenarios_is_written_as_it_is_read() {
    replay("scenarios", checks::scenarios);
}

#[test]
fn corpus_of_addresses_prints_what_it_asks() {
    replay("addresses", checks::addresses);
}
