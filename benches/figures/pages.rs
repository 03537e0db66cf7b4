//! Pages of a month, read by four people at once while an import runs.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Sizes;
use super::browser::Browser;
use super::process::{Server, folder, generate, gpuledger, import};
use super::rules::{self, Rules};
use super::running::{self, Running};
use super::table::{Figure, Measured};

const MONTH: &str = "2026-09";
/// What is imported meanwhile: publishing it leaves the pages of [`MONTH`] warm.
const OTHER_MONTHS: [&str; 3] = ["2026-03", "2026-04", "2026-05"];
const RUNNING_MONTH: &str = "2026-10";
const READERS: usize = 4;
pub const GROUPINGS: [&str; 12] = [
    "provider",
    "account",
    "service",
    "region",
    "accelerator",
    "pricing",
    "category",
    "sku",
    "day",
    "month",
    "tag:team",
    "tag:experiment",
];
/// What is opened once beside the groupings.
const PAGES: [&str; 11] = [
    "/overview",
    "/spend/MONTH?by=team",
    "/spend/MONTH?by=experiment",
    "/spend/MONTH?by=service&category=Usage",
    "/variance/MONTH",
    "/chargeback/MONTH",
    "/unallocated/MONTH",
    "/scenarios/new?from=MONTH",
    "/charges/MONTH",
    "/charges/MONTH?service=AmazonEC2",
    "/spend/MONTH?by=resource",
];
const EMAIL: &str = "bench@example.org";
const PASSWORD: &str = "four readers at once";

/// A month that pages are read of.
struct Shape {
    name: &'static str,
    rows: u64,
    keys: u32,
    generated: &'static [&'static str],
    /// Seconds that a first view may take.
    first_view: f64,
}

/// Of one ledger, and of loading it.
struct Read {
    /// Seconds from a publish until what pages begin with was made.
    prepared: f64,
    /// Milliseconds of each page that nobody had asked for before, then.
    cold: Vec<(String, f64)>,
    /// The slowest of the list of charges and a charge's page, asked again and again.
    charges: f64,
    /// The 99th percentile of pages that somebody had asked for, beside the import that disturbed them least.
    warm: f64,
    pages: usize,
    peak_mib: f64,
    rules: Rules,
    running: Running,
}

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let [few, many] = sizes.ledgers;
    let [keys, many_keys] = sizes.keys;
    let fleet = &["--fleet", "--columns", "63"];
    let in_order = Shape { name: "in order", rows: many, keys, generated: &[], first_view: 0.3 };
    let shapes = [
        Shape { name: "a fleet", rows: many, keys, generated: fleet, first_view: 0.3 },
        Shape { name: "a fleet", rows: many, keys: many_keys, generated: fleet, first_view: 1.0 },
        in_order,
    ];
    let small = read(sizes, &Shape { rows: few, ..shapes[0] });
    shapes.iter().flat_map(|shape| figures(shape, &read(sizes, shape), &small)).collect()
}

fn figures(shape: &Shape, read: &Read, small: &Read) -> Vec<Figure> {
    let of = format!("{}M charges, {}k keys, {}", shape.rows / 1_000_000, shape.keys / 1_000, shape.name);
    let figure = |name: &str, value: f64, how: String, at_most| Figure {
        name: format!("{name}: {of}"),
        measured: Measured::As(value, how),
        at_most,
    };
    let slowest = |is_asked: fn(&str) -> bool| {
        let asked = read.cold.iter().filter(|(path, _)| is_asked(path));
        asked.max_by(|(_, a), (_, b)| a.total_cmp(b)).cloned().unwrap_or_default()
    };
    let by_resource = slowest(|path| path.contains("by=resource"));
    let scenario = slowest(|path| path.starts_with("/scenarios"));
    let others = slowest(|path| {
        !path.contains("by=resource") && !path.starts_with("/charges") && !path.starts_with("/scenarios")
    });
    let list = slowest(|path| path.starts_with("/charges"));
    vec![
        figure("peak memory of its import", read.peak_mib, String::new(), Some((256.0, "MiB"))),
        figure("until pages are prepared", read.prepared, String::new(), None),
        figure("slowest first view", others.1 / 1000.0, others.0, Some((shape.first_view, "s"))),
        figure("first view by resource", by_resource.1 / 1000.0, String::new(), Some((1.0, "s"))),
        figure("a scenario of it, first view", scenario.1 / 1000.0, String::new(), None),
        figure("charges, first view", list.1 / 1000.0, list.0, Some((0.3, "s"))),
        figure("charges, every time", read.charges / 1000.0, String::new(), Some((0.3, "s"))),
        figure("p99, warm, importing", read.warm, format!("{} pages", read.pages), Some((50.0, "ms"))),
        figure(
            "the same against a tenth of them",
            read.warm / small.warm,
            format!("{:.1} ms / {:.1} ms", read.warm, small.warm),
            Some((1.5, "×")),
        ),
        figure(
            "a changed rule on every page",
            read.rules.applied,
            format!("its preview: {:.2} s", read.rules.preview),
            Some((2.0, "s")),
        ),
        // A rule is previewed, which maps the month; this maps it while the pages wait.
        figure("a spelling saved without a preview", read.rules.at_once, String::new(), None),
        figure("p99, warm page of a team", read.rules.team, String::new(), Some((50.0, "ms"))),
        figure(
            "slowest first view of a running month after it",
            read.running.slowest / 1000.0,
            format!("by team, which allocates it: {:.2} s", read.running.first / 1000.0),
            None,
        ),
    ]
}

/// One month and a re-delivery of it.
fn read(sizes: &Sizes, shape: &Shape) -> Read {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let file = folder.path().join("bill.csv");
    let keys = shape.keys.to_string();
    let more = [shape.generated, &["--keys", &keys, "--experiments", "400"]].concat();
    generate(&file, shape.rows, MONTH, &more);
    let peak_mib = import(&server.data_dir, &file, &[]).peak_mib;
    import(&server.data_dir, &file, &["--replace"]);
    let published = Instant::now();
    let mut browser = sign_in(&server);
    wait_until_prepared(&mut browser);
    let prepared = published.elapsed().as_secs_f64();

    eprintln!("reading pages of {} charges, {}, {keys} keys", shape.rows, shape.name);
    let mut paths: Vec<String> = GROUPINGS.iter().map(|by| format!("/spend/{MONTH}?by={by}")).collect();
    paths.extend(PAGES.map(|page| page.replace("MONTH", MONTH)));
    let cold: Vec<(String, f64)> = paths.into_iter().map(|path| timed(&mut browser, path)).collect();
    for (path, took) in &cold {
        eprintln!("  first view of {path}: {took:.0} ms");
    }
    let list = browser.get(&format!("/charges/{MONTH}")).unwrap().body;
    let mut paths =
        list.split("href=\"/charges/").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
    let charge = paths.find(|path| path.split('/').count() == 3).expect("a charge in the list");
    let of_charges =
        [format!("/charges/{MONTH}"), format!("/charges/{MONTH}?page=7"), format!("/charges/{charge}")];
    let asked = of_charges.iter().cycle().take(30).map(|path| timed(&mut browser, path.clone()).1);
    let charges = asked.fold(0.0, f64::max);

    let (mut warm, mut pages) = (f64::MAX, 0);
    for month in OTHER_MONTHS {
        generate(&file, sizes.import, month, &[]);
        wait_until_prepared(&mut browser);
        let mut times = while_importing(&server.data_dir, &file, &browser);
        times.sort_unstable_by(f64::total_cmp);
        let of_run = times[(times.len() * 99).div_ceil(100) - 1];
        eprintln!("  p99 of {} pages, importing {month}: {of_run:.1} ms", times.len());
        (warm, pages) = (warm.min(of_run), pages + times.len());
    }
    let rules = rules::measure(&mut browser, MONTH);

    let (whole, cut) = (folder.path().join("whole.csv"), folder.path().join("running.csv"));
    generate(&whole, sizes.import, RUNNING_MONTH, &["--experiments", "400"]);
    running::cut(&whole, RUNNING_MONTH, &cut);
    import(&server.data_dir, &cut, &[]);
    let running = running::measure(&mut browser, RUNNING_MONTH);
    Read { prepared, cold, charges, warm, pages, peak_mib, rules, running }
}

/// Waits until the server has made what pages of its ledger begin with.
pub fn wait_until_prepared(browser: &mut Browser) {
    while !is_prepared(browser) {
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn is_prepared(browser: &mut Browser) -> bool {
    let metrics = browser.get("/metrics").unwrap().body;
    let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let version = value("gpuledger_prepared_version ");
    version.is_some() && version == value("gpuledger_ledger_sequence ")
}

/// A page, with the milliseconds that it took.
pub fn timed(browser: &mut Browser, path: String) -> (String, f64) {
    let began = Instant::now();
    let page = browser.get(&path).unwrap();
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    (path, began.elapsed().as_secs_f64() * 1000.0)
}

pub fn sign_in(server: &Server) -> Browser {
    let mut command = gpuledger(
        &server.data_dir,
        &["user", "add", "--email", EMAIL, "--role", "admin", "--password-stdin"],
    );
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let mut browser = Browser::new(server.address);
    browser.sign_in(EMAIL, PASSWORD);
    browser
}

/// Milliseconds of each page that the readers opened until an import was done.
fn while_importing(data_dir: &Path, file: &Path, browser: &Browser) -> Vec<f64> {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (mut browser, is_done) = (browser.another(), &is_done);
                scope.spawn(move || {
                    let mut times = Vec::new();
                    for by in GROUPINGS.iter().cycle().skip(reader * 3) {
                        if is_done.load(Ordering::Relaxed) {
                            break;
                        }
                        times.push(ask(&mut browser, by));
                    }
                    times
                })
            })
            .collect();
        import(data_dir, file, &[]);
        is_done.store(true, Ordering::Relaxed);
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    })
}

fn ask(browser: &mut Browser, by: &str) -> f64 {
    timed(browser, format!("/spend/{MONTH}?by={by}")).1
}
