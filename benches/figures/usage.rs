//! A year of usage: a sample a minute from each GPU of a fleet, its jobs, and the pages that say who used what.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use chrono::{Datelike as _, NaiveDate};

use super::Sizes;
use super::browser::Browser;
use super::fleet::{self, Cluster, GPUS};
use super::pages::{sign_in, timed, wait_until_prepared};
use super::process::{Server, expect_success, folder, gpuledger, import_all};
use super::table::{Figure, Measured};

const YEAR: i32 = 2025;
/// What whoever asks who used the GPUs opens.
const PAGES: [&str; 12] = [
    "/jobs/MONTH",
    "/jobs/MONTH?by=user",
    "/jobs/MONTH?by=namespace",
    "/usage",
    "/overview",
    "/spend/MONTH?by=use",
    "/spend/MONTH?by=namespace",
    "/spend/MONTH?by=job",
    "/spend/MONTH?by=user",
    "/spend/MONTH?by=team",
    "/chargeback/MONTH",
    "/jobs/YEAR",
];
const LONGEST: Duration = Duration::from_hours(1);

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let [of_pods, of_jobs] = sizes.machines;
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let mut browser = sign_in(&server);
    let months: Vec<NaiveDate> =
        (1..=sizes.months).map(|month| NaiveDate::from_ymd_opt(YEAR, month, 1).unwrap()).collect();
    let bill = folder.path().join("bill.csv");
    for month in &months {
        fleet::write_bill(&bill, of_pods + of_jobs, *month);
        import_all(&server.data_dir, std::slice::from_ref(&bill));
    }
    wait_until_prepared(&mut browser);

    let mut cluster = Cluster::new(of_pods);
    let mut year = Year::default();
    let before = database_mb(&server);
    for month in &months {
        eprintln!("a sample a minute of {} GPUs in {}", of_pods * GPUS, month.format("%Y-%m"));
        year.read(&server, &mut browser, &mut cluster, *month, folder.path());
    }
    let of_samples = database_mb(&server) - before;
    let (samples, pods) = (year.samples as f64 / 1e6, cluster.pods());

    let first = months[0];
    let days = (*months.last().unwrap() + chrono::Months::new(1) - first).num_days().unsigned_abs();
    let sacct = folder.path().join("sacct.txt");
    let jobs = fleet::write_jobs(&sacct, of_pods..of_pods + of_jobs, first, days);
    eprintln!("{jobs} jobs of Slurm");
    let of_sacct = import_all(&server.data_dir, std::slice::from_ref(&sacct));
    let divided = until_divided(&mut browser);

    let month = months.last().unwrap().format("%Y-%m").to_string();
    let paths: Vec<String> =
        PAGES.iter().map(|page| page.replace("MONTH", &month).replace("YEAR", &YEAR.to_string())).collect();
    let cold = each(&mut browser, &paths, "first view");
    let warm = each(&mut browser, &paths, "warm");
    let list = browser.get(&format!("/jobs/{month}")).unwrap().body;
    let job = list.split("href=\"/jobs/job/").nth(1).and_then(|rest| rest.split('"').next()).expect("a job");
    let job = timed(&mut browser, format!("/jobs/job/{job}"));

    let began = Instant::now();
    expect_success(&mut gpuledger(&server.data_dir, &["check"]));
    let checked = began.elapsed().as_secs_f64();

    let of = format!("{samples:.0}M samples, {pods} pods, {jobs} jobs");
    let figure = |name: &str, value: f64, how: String, at_most| Figure {
        name: format!("{name}: {of}"),
        measured: Measured::As(value, how),
        at_most,
    };
    let is_of_month = |path: &str| !path.contains(&format!("/{YEAR}")) || path.contains(&month);
    vec![
        figure("import of a million samples", year.reading / samples, String::new(), None),
        figure(
            "the same, the last month against the first",
            year.last / year.first,
            String::new(),
            Some((1.5, "×")),
        ),
        figure("peak memory of it", year.peak_mib, String::new(), Some((256.0, "MiB"))),
        figure("database of a million samples", of_samples / samples, String::new(), Some((10.0, "MB"))),
        figure("dividing a month's machines, the slowest", year.dividing, String::new(), None),
        figure("import of its jobs", of_sacct.took.as_secs_f64(), String::new(), None),
        figure("dividing the year by them", divided, String::new(), None),
        slowest("first view of a month's page", &cold, is_of_month, &figure),
        slowest("warm page of a month", &warm, is_of_month, &figure),
        slowest("first view of the year's jobs", &cold, |path| !is_of_month(path), &figure),
        slowest("warm page of the year's jobs", &warm, |path| !is_of_month(path), &figure),
        figure("a job's page", job.1 / 1000.0, job.0, None),
        figure("all equations of the year", checked, "gpuledger check".to_owned(), None),
    ]
}

/// What reading a year of samples took.
#[derive(Default)]
struct Year {
    samples: u64,
    /// Seconds: of all, and a million samples of the first and of the last month.
    reading: f64,
    first: f64,
    last: f64,
    dividing: f64,
    peak_mib: f64,
}

impl Year {
    fn read(
        &mut self,
        server: &Server,
        browser: &mut Browser,
        cluster: &mut Cluster,
        month: NaiveDate,
        folder: &Path,
    ) {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut samples = 0;
        for day in month.iter_days().take_while(|day| day.month() == month.month()) {
            let file = folder.join(format!("{day}.json"));
            samples += cluster.write_day(&file, day);
            files.push(file);
        }
        // In no order.
        files.sort_by_key(|file| fleet::mixed(file.to_string_lossy().bytes().map(u64::from).sum()));
        let imported = import_all(&server.data_dir, &files);
        for file in files {
            std::fs::remove_file(file).unwrap();
        }
        let took = imported.took.as_secs_f64();
        let divided = until_divided(browser);
        self.samples += samples;
        self.reading += took;
        self.last = took / samples as f64 * 1e6;
        if self.first == 0.0 {
            self.first = self.last;
        }
        self.dividing = self.dividing.max(divided);
        self.peak_mib = self.peak_mib.max(imported.peak_mib);
        eprintln!(
            "  {samples} samples in {took:.1} s, {:.0} MiB; divided {divided:.1} s later",
            imported.peak_mib
        );
    }
}

/// Seconds until the machines of all bills are divided.
fn until_divided(browser: &mut Browser) -> f64 {
    let began = Instant::now();
    while browser.get("/usage").unwrap().body.contains("Machines are being divided") {
        assert!(began.elapsed() < LONGEST, "machines are not divided");
        sleep(Duration::from_millis(200));
    }
    wait_until_prepared(browser);
    began.elapsed().as_secs_f64()
}

fn each(browser: &mut Browser, paths: &[String], what: &str) -> Vec<(String, f64)> {
    let times: Vec<(String, f64)> = paths.iter().map(|path| timed(browser, path.clone())).collect();
    for (path, took) in &times {
        eprintln!("  {what} of {path}: {took:.0} ms");
    }
    times
}

fn slowest(
    name: &str,
    times: &[(String, f64)],
    is_asked: impl Fn(&str) -> bool,
    figure: &impl Fn(&str, f64, String, Option<(f64, &'static str)>) -> Figure,
) -> Figure {
    let asked = times.iter().filter(|(path, _)| is_asked(path));
    let (path, took) = asked.max_by(|(_, a), (_, b)| a.total_cmp(b)).cloned().unwrap_or_default();
    figure(name, took / 1000.0, path, None)
}

fn database_mb(server: &Server) -> f64 {
    server.ask("select pg_database_size(current_database())").parse::<f64>().unwrap() / 1e6
}
