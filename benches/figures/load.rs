//! Readers who ask for the next page as soon as they have one, and an import beside them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Sizes;
use super::browser::Browser;
use super::pages::{GROUPINGS, sign_in};
use super::process::{Server, folder, generate, import};
use super::table::{Figure, Measured};

const MONTH: &str = "2026-09";
/// Imported in turns without and with readers; publishing them leaves the pages of [`MONTH`] as they are for their readers,
/// but makes the ledger another one.
const OTHER_MONTHS: [&str; 6] = ["2026-03", "2026-04", "2026-05", "2026-06", "2026-07", "2026-08"];
const FEW: usize = 20;
const MANY: usize = 200;
const LASTS: Duration = Duration::from_secs(10);

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let folder = folder();
    let server = Server::start(&folder.path().join("data"));
    let file = |month: &str| folder.path().join(format!("{month}.csv"));
    generate(&file(MONTH), sizes.import, MONTH, &[]);
    import(&server.data_dir, &file(MONTH), &[]);
    let mut browser = sign_in(&server);
    for by in GROUPINGS {
        ask(&mut browser, by);
    }
    let few = read(&browser, FEW, LASTS);
    let many = read(&browser, MANY, LASTS);

    let [mut alone, mut beside] = [f64::INFINITY; 2];
    for months in OTHER_MONTHS.chunks_exact(2).take(sizes.runs as usize) {
        for month in months {
            generate(&file(month), sizes.import, month, &[]);
        }
        alone = alone.min(import(&server.data_dir, &file(months[0]), &[]).took.as_secs_f64());
        beside = beside.min(import_beside(&server.data_dir, &file(months[1]), &browser));
    }

    let figure = |name: String, value, how: String, at_most| Figure {
        name,
        measured: Measured::As(value, how),
        at_most,
    };
    vec![
        figure(
            format!("from one warm month page to the next, {MANY} readers"),
            1000.0 / many.pages_a_second(),
            format!(
                "{:.0} pages a second; {FEW} readers: {:.0}",
                many.pages_a_second(),
                few.pages_a_second()
            ),
            // 600 pages a second.
            Some((1.67, "ms")),
        ),
        figure(
            format!("99th percentile of a warm month page, {FEW} readers"),
            few.percentile(99),
            format!("half of them: {:.1} ms", few.percentile(50)),
            Some((60.0, "ms")),
        ),
        figure(
            format!("99th percentile of a warm month page, {MANY} readers"),
            many.percentile(99),
            format!("half of them: {:.0} ms", many.percentile(50)),
            Some((400.0, "ms")),
        ),
        figure(
            format!("an import beside {MANY} readers against one alone"),
            beside / alone,
            format!("{beside:.1} s / {alone:.1} s"),
            Some((2.0, "×")),
        ),
    ]
}

/// What readers saw until they were stopped.
struct Read {
    /// Milliseconds of each page, the shortest first.
    times: Vec<f64>,
    took: Duration,
}

impl Read {
    fn pages_a_second(&self) -> f64 {
        f64::from(self.times.len() as u32) / self.took.as_secs_f64()
    }

    fn percentile(&self, percent: usize) -> f64 {
        self.times[(self.times.len() * percent).div_ceil(100) - 1]
    }
}

fn read(browser: &Browser, readers: usize, lasts: Duration) -> Read {
    eprintln!("{readers} readers");
    while_reading(browser, readers, || thread::sleep(lasts)).0
}

fn import_beside(data_dir: &Path, file: &Path, browser: &Browser) -> f64 {
    while_reading(browser, MANY, || import(data_dir, file, &[]).took.as_secs_f64()).1
}

fn while_reading<T>(browser: &Browser, readers: usize, work: impl FnOnce() -> T) -> (Read, T) {
    let (is_done, began) = (AtomicBool::new(false), Instant::now());
    thread::scope(|scope| {
        let readers: Vec<_> = (0..readers)
            .map(|reader| {
                let (mut browser, is_done) = (browser.another(), &is_done);
                scope.spawn(move || {
                    let mut times = Vec::new();
                    for by in GROUPINGS.iter().cycle().skip(reader) {
                        if is_done.load(Ordering::Relaxed) {
                            break;
                        }
                        times.push(ask(&mut browser, by));
                    }
                    times
                })
            })
            .collect();
        let done = work();
        is_done.store(true, Ordering::Relaxed);
        let mut times: Vec<f64> = readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
        times.sort_unstable_by(f64::total_cmp);
        (Read { times, took: began.elapsed() }, done)
    })
}

fn ask(browser: &mut Browser, by: &str) -> f64 {
    let began = Instant::now();
    let status = browser.load(&format!("/spend/{MONTH}?by={by}")).unwrap();
    assert_eq!(status, 200, "by {by}");
    began.elapsed().as_secs_f64() * 1000.0
}
