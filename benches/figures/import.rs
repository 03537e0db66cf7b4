//! A bill from file to visible month, against other ways to get the same file into tables, and its memory; then every export
//! in every container against its own CSV.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use super::Sizes;
use super::browser::Browser;
use super::pages::{sign_in, wait_until_prepared};
use super::process::{Server, folder, generate, import};
use super::table::{Figure, Measured};

/// A file whose import is measured.
struct Shape {
    name: &'static str,
    /// Times the rows of [`Sizes::import`].
    times: u64,
    generated: &'static [&'static str],
}

/// The bill of a few long-lived machines, whose rows come by the hour, and those of a fleet.
const SHAPES: [Shape; 4] = [
    Shape { name: "137 columns, in order", times: 1, generated: &["--columns", "137"] },
    Shape { name: "137 columns of a fleet", times: 1, generated: &["--fleet", "--columns", "137"] },
    Shape { name: "63 columns of a fleet", times: 1, generated: &["--fleet", "--columns", "63"] },
    Shape { name: "63 columns of a fleet", times: 4, generated: &["--fleet", "--columns", "63"] },
];

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
    let mut figures: Vec<Figure> = SHAPES
        .iter()
        .zip(1..)
        .flat_map(|(shape, year)| of(shape, sizes, year, folder.path(), &server, &mut browser))
        .collect();
    for (export, year) in EXPORTS.iter().zip(2027..) {
        figures.extend(in_containers(export, sizes, year, folder.path(), &server, &mut browser));
    }
    figures
}

/// The months of a year are the runs of a shape: the tables of each are as empty as those of the first.
fn of(
    shape: &Shape,
    sizes: &Sizes,
    year: u32,
    folder: &Path,
    server: &Server,
    browser: &mut Browser,
) -> Vec<Figure> {
    let file = folder.join("bill.csv");
    let rows = sizes.import * shape.times;
    let (mut copied, mut duck, mut peak) = (Vec::new(), Vec::new(), 0f64);
    for run in 1..=sizes.runs {
        let seed = run.to_string();
        let more = [shape.generated, &["--seed", &seed]].concat();
        generate(&file, rows, &format!("{}-{run:02}", 2010 + year), &more);
        // Nobody pays for what the one before left to write, nor for writing the file.
        File::open(&file).unwrap().sync_all().unwrap();
        server.psql("checkpoint");
        let imported = import(&server.data_dir, &file, &[]);
        // Nor for the pages that are prepared now.
        wait_until_prepared(browser);
        server.psql("checkpoint");
        let by_copy = copy(server, &file);
        let by_duck = duckdb(folder, &file);
        let took = imported.took.as_secs_f64();
        eprintln!(
            "import of {rows} rows, {}, run {run}: ours {took:.2} s, \\copy {by_copy:.2} s, duckdb {by_duck:.2?} s",
            shape.name
        );
        copied.push((took, by_copy));
        duck.extend(by_duck.map(|seconds| (took, seconds)));
        peak = peak.max(imported.peak_mib);
    }
    let of = format!("{rows} rows, {}", shape.name);
    let ratio = |name: &str, pairs: Vec<(f64, f64)>, limit| Figure {
        name: format!("import of {of}, against {name}"),
        measured: match middle(pairs) {
            Some((ours, other)) => Measured::As(ours / other, format!("{ours:.2} s / {other:.2} s")),
            None => Measured::Not("python3 has no duckdb here".into()),
        },
        at_most: Some((limit, "×")),
    };
    vec![
        ratio("\\copy", copied, 0.7),
        ratio("DuckDB", duck, 1.0),
        Figure {
            name: format!("peak memory, import of {of}"),
            measured: Measured::As(peak, String::new()),
            at_most: Some((256.0, "MiB")),
        },
    ]
}

/// The same rows of a fleet in each container of an export. The months of a year are the runs, so that no import replaces another.
fn in_containers(
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

/// The pair whose ratio is in the middle. Both of a pair ran one after the other, so a good or bad minute of the machine is in
/// both; the fastest of one and the fastest of the other are of different minutes.
fn middle(mut pairs: Vec<(f64, f64)>) -> Option<(f64, f64)> {
    pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    pairs.get(pairs.len() / 2).copied()
}

/// Seconds of `\copy` into a table of text columns.
fn copy(server: &Server, file: &Path) -> f64 {
    let mut header = String::new();
    BufReader::new(File::open(file).unwrap()).read_line(&mut header).unwrap();
    let columns: Vec<String> = (0..header.split(',').count()).map(|n| format!("c{n} text")).collect();
    server.psql(&format!("create table raw ({})", columns.join(", ")));
    let took = server.psql(&format!("\\copy raw from '{}' csv header", file.display()));
    server.psql("drop table raw");
    took.as_secs_f64()
}

/// Seconds of DuckDB's `read_csv` into a table of a database file; `None` where there is none.
fn duckdb(folder: &Path, file: &Path) -> Option<f64> {
    let script = "import duckdb, sys, time\n\
                  db = duckdb.connect(sys.argv[1])\n\
                  db.execute('set enable_progress_bar = false')\n\
                  began = time.monotonic()\n\
                  db.execute(f\"create table bill as select * from read_csv('{sys.argv[2]}')\")\n\
                  print(time.monotonic() - began)";
    let database = folder.join("duck.db");
    let output = Command::new("python3").args(["-c", script]).arg(&database).arg(file).output().ok()?;
    let _ = fs::remove_file(&database);
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
