//! A bill from file to visible month, against other ways to get the same file into tables, and its memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use super::Sizes;
use super::process::{Server, folder, generate, import};
use super::table::{Figure, Measured};

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let file = folder.path().join("bill.csv");
    let rows = sizes.import;
    let (mut ours, mut copied, mut duck, mut peak) = (f64::MAX, f64::MAX, None::<f64>, 0f64);
    for run in 1..=sizes.runs {
        // Another month each time: the tables that it goes into are as empty as for the first.
        generate(&file, rows, &format!("2026-{:02}", 3 + run), &["--seed", &run.to_string()]);
        // Nobody pays for what the one before left to write.
        server.psql("checkpoint");
        let imported = import(&server.data_dir, &file, &[]);
        server.psql("checkpoint");
        let by_copy = copy(&server, &file);
        let by_duck = duckdb(folder.path(), &file);
        let took = imported.took.as_secs_f64();
        eprintln!("import, run {run}: ours {took:.2} s, \\copy {by_copy:.2} s, duckdb {by_duck:.2?} s");
        ours = ours.min(took);
        copied = copied.min(by_copy);
        duck = by_duck.map(|seconds| duck.map_or(seconds, |best| best.min(seconds)));
        peak = peak.max(imported.peak_mib);
    }
    let keys = rows * 3 / 10;
    generate(&file, rows, "2026-01", &["--keys", &keys.to_string()]);
    let many_keys = import(&server.data_dir, &file, &[]).peak_mib;

    let ratio = |name: &str, other: Option<f64>, limit| Figure {
        name: format!("import of {rows} rows against {name}"),
        measured: match other {
            Some(other) => Measured::As(ours / other, format!("{ours:.2} s / {other:.2} s")),
            None => Measured::Not("python3 has no duckdb here".into()),
        },
        at_most: Some((limit, "×")),
    };
    let memory = |of: String, mib| Figure {
        name: format!("peak memory while importing {of}"),
        measured: Measured::As(mib, String::new()),
        at_most: Some((256.0, "MiB")),
    };
    vec![
        ratio("psql \\copy", Some(copied), 0.7),
        ratio("DuckDB's read_csv", duck, 1.3),
        memory(format!("{rows} rows"), peak),
        memory(format!("{rows} rows of about {keys} keys"), many_keys),
    ]
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
