//! Pages of a month, read by four people at once while an import runs.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Sizes;
use super::browser::Browser;
use super::process::{Server, folder, generate, gpuledger, import};
use super::rules::{self, Rules};
use super::running::{self, Running};
use super::table::{Figure, Measured};

const MONTH: &str = "2026-09";
/// What is imported meanwhile: publishing it leaves the pages of [`MONTH`] warm.
const OTHER_MONTH: &str = "2026-03";
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
const EMAIL: &str = "bench@example.org";
const PASSWORD: &str = "four readers at once";

/// Of one ledger, in milliseconds, and of loading it.
struct Read {
    /// The slowest page that nobody had asked for before.
    cold: f64,
    /// The 99th percentile of those that somebody had.
    warm: f64,
    pages: usize,
    peak_mib: f64,
    rules: Rules,
    running: Running,
}

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let [small, large] = sizes.ledgers.map(|rows| read(sizes, rows));
    let [few, many] = sizes.ledgers;
    let page = |name: String, value, how: String, at_most| Figure {
        name,
        measured: Measured::As(value, how),
        at_most,
    };
    vec![
        page(
            format!("peak memory while importing {many} rows"),
            large.peak_mib,
            String::new(),
            Some((256.0, "MiB")),
        ),
        page(
            format!("99th percentile of a warm month page, {many} charges"),
            large.warm,
            format!("{} pages", large.pages),
            Some((50.0, "ms")),
        ),
        page(
            format!("the same against {few} charges"),
            large.warm / small.warm,
            format!("{:.1} ms / {:.1} ms", large.warm, small.warm),
            Some((1.5, "×")),
        ),
        page(
            format!("a changed rule of {many} charges, until every page shows it"),
            large.rules.applied,
            format!("its preview: {:.2} s", large.rules.preview),
            Some((2.0, "s")),
        ),
        page(
            "a team's spelling, saved without a preview, until every page shows it".into(),
            large.rules.at_once,
            String::new(),
            // A rule is previewed, which maps the month; this maps it while the pages wait.
            None,
        ),
        page(
            format!("99th percentile of a warm page of a team, {many} charges"),
            large.rules.team,
            String::new(),
            Some((50.0, "ms")),
        ),
        page(
            format!("slowest cold page of a running month after {many} charges"),
            large.running.slowest / 1000.0,
            format!("by team, which allocates it: {:.2} s", large.running.first / 1000.0),
            None,
        ),
        page(format!("slowest cold month page, {many} charges"), large.cold / 1000.0, String::new(), None),
        page(format!("slowest cold month page, {few} charges"), small.cold / 1000.0, String::new(), None),
    ]
}

/// One month of `rows` charges and a re-delivery of it.
fn read(sizes: &Sizes, rows: u64) -> Read {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let file = folder.path().join("bill.csv");
    let keys = sizes.keys.to_string();
    generate(&file, rows, MONTH, &["--keys", &keys, "--experiments", "400"]);
    let peak_mib = import(&server.data_dir, &file, &[]).peak_mib;
    import(&server.data_dir, &file, &["--replace"]);
    generate(&file, sizes.import, OTHER_MONTH, &[]);

    let mut browser = sign_in(&server);
    eprintln!("reading pages of {rows} charges");
    let mut cold = 0f64;
    for by in GROUPINGS {
        let took = ask(&mut browser, by);
        eprintln!("  cold, by {by}: {took:.0} ms");
        cold = cold.max(took);
    }
    let mut times = while_importing(&server.data_dir, &file, &browser);
    times.sort_unstable_by(f64::total_cmp);
    let warm = times[(times.len() * 99).div_ceil(100) - 1];
    let rules = rules::measure(&mut browser, MONTH);

    let (whole, cut) = (folder.path().join("whole.csv"), folder.path().join("running.csv"));
    generate(&whole, sizes.import, RUNNING_MONTH, &["--experiments", "400"]);
    running::cut(&whole, RUNNING_MONTH, &cut);
    import(&server.data_dir, &cut, &[]);
    let running = running::measure(&mut browser, RUNNING_MONTH);
    Read { cold, warm, pages: times.len(), peak_mib, rules, running }
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
    let began = Instant::now();
    let page = browser.get(&format!("/spend/{MONTH}?by={by}")).unwrap();
    assert_eq!(page.status, 200, "{}", page.body);
    began.elapsed().as_secs_f64() * 1000.0
}
