//! A bill from file to visible month, against other ways to get the same file into tables, and its memory.

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

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let mut browser = sign_in(&server);
    SHAPES
        .iter()
        .zip(1..)
        .flat_map(|(shape, year)| of(shape, sizes, year, folder.path(), &server, &mut browser))
        .collect()
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

/// The pair whose ratio is in the middle. Both of a pair ran one after the other, so a good or bad minute of the machine is in
/// both; the fastest of one and the fastest of the other are of different minutes.
pub fn middle(mut pairs: Vec<(f64, f64)>) -> Option<(f64, f64)> {
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
