//! Every export in every container that its provider has, against CSV of the same rows, and its memory.

use std::fs::{self, File};
use std::path::Path;

use super::Sizes;
use super::browser::Browser;
use super::import::middle;
use super::pages::{sign_in, wait_until_prepared};
use super::process::{Server, folder, generate, import};
use super::table::{Figure, Measured};

/// An export that is measured, and how it is generated.
struct Export {
    name: &'static str,
    generated: &'static [&'static str],
    /// Besides CSV, the containers in which its provider hands it out.
    containers: &'static [Container],
}

/// A container, and the most that an import of it may take against CSV of the same rows.
struct Container {
    name: &'static str,
    at_most: f64,
}

const PARQUET: Container = Container { name: "parquet", at_most: 0.7 };
const JSON: Container = Container { name: "json", at_most: 1.5 };

/// One line for each format that is read.
const EXPORTS: [Export; 7] = [
    Export { name: "AWS CUR", generated: &["--format", "aws-cur"], containers: &[PARQUET] },
    Export { name: "AWS CUR 2.0", generated: &["--format", "aws-cur-2"], containers: &[PARQUET] },
    Export { name: "FOCUS 1.2", generated: &["--format", "focus"], containers: &[PARQUET, JSON] },
    Export { name: "Google Cloud", generated: &["--format", "gcp-billing"], containers: &[PARQUET, JSON] },
    Export {
        name: "Azure actual",
        generated: &["--format", "azure-usage", "--dataset", "actual"],
        containers: &[PARQUET],
    },
    Export {
        name: "Azure amortized",
        generated: &["--format", "azure-usage", "--dataset", "amortized", "--agreement", "mca"],
        containers: &[PARQUET],
    },
    Export { name: "Oracle", generated: &["--format", "oci-cost"], containers: &[] },
];

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let mut browser = sign_in(&server);
    EXPORTS
        .iter()
        .zip(2027..)
        .flat_map(|(export, year)| of(export, sizes, year, folder.path(), &server, &mut browser))
        .collect()
}

/// The same rows of a fleet in each container of an export. The months of a year are the runs, so that no import replaces another.
fn of(
    export: &Export,
    sizes: &Sizes,
    year: u32,
    folder: &Path,
    server: &Server,
    browser: &mut Browser,
) -> Vec<Figure> {
    let rows = sizes.import / 2;
    let mut month = 0;
    let mut take = |container: &str, run: u32| {
        month += 1;
        let file = folder.join(format!("bill.{container}"));
        let seed = run.to_string();
        let options = ["--fleet", "--container", container, "--seed", &seed];
        generate(&file, rows, &format!("{year}-{month:02}"), &[export.generated, &options].concat());
        File::open(&file).unwrap().sync_all().unwrap();
        server.psql("checkpoint");
        let imported = import(&server.data_dir, &file, &[]);
        wait_until_prepared(browser);
        fs::remove_file(&file).unwrap();
        imported
    };
    let mut of_csv = Vec::new();
    let mut others: Vec<Vec<(f64, f64, f64)>> = export.containers.iter().map(|_| Vec::new()).collect();
    // A year has months for four runs.
    for run in 1..=sizes.runs.min(4) {
        let csv = take("csv", run);
        for (Container { name, .. }, taken) in export.containers.iter().zip(&mut others) {
            let other = take(name, run);
            eprintln!(
                "import of {rows} rows, {}, run {run}: csv {:.2?}, {name} {:.2?}",
                export.name, csv.took, other.took
            );
            taken.push((other.took.as_secs_f64(), csv.took.as_secs_f64(), other.peak_mib));
        }
        of_csv.push(csv);
    }
    let name = |container: &str| format!("{rows} rows, {} in {container}", export.name);
    let memory = |container: &str, peak_mib: f64| Figure {
        name: format!("peak memory, import of {}", name(container)),
        measured: Measured::As(peak_mib, String::new()),
        at_most: Some((256.0, "MiB")),
    };
    let fastest = of_csv.iter().map(|csv| csv.took.as_secs_f64()).fold(f64::INFINITY, f64::min);
    let mut figures = vec![
        Figure {
            name: format!("import of {}", name("csv")),
            measured: Measured::As(fastest, format!("fastest of {}", of_csv.len())),
            at_most: None,
        },
        memory("csv", of_csv.iter().map(|csv| csv.peak_mib).fold(0.0, f64::max)),
    ];
    for (Container { name: container, at_most }, taken) in export.containers.iter().zip(others) {
        let peak = taken.iter().map(|(_, _, peak)| *peak).fold(0.0, f64::max);
        let times = taken.into_iter().map(|(other, csv, _)| (other, csv)).collect();
        let (other, csv) = middle(times).expect("a run at least");
        figures.push(Figure {
            name: format!("import of {}, against csv", name(container)),
            measured: Measured::As(other / csv, format!("{other:.2} s / {csv:.2} s")),
            at_most: Some((*at_most, "×")),
        });
        figures.push(memory(container, peak));
    }
    figures
}
