//! A changed rule: from the click that applies it until every page shows it.

use std::time::Instant;

use super::browser::Browser;

/// In seconds, but `team`, which is in milliseconds.
pub struct Rules {
    /// The page that says what the rule would move.
    pub preview: f64,
    /// From applying it until the last page has answered.
    pub applied: f64,
    /// The same for a change whose mapping nobody has made before.
    pub at_once: f64,
    /// The 99th percentile of a team's pages.
    pub team: f64,
}

/// Who reads at once.
const READERS: usize = 4;
/// Times that each page of a team is read.
const READS: usize = 50;

/// Makes a team of each label, pools that are divided by cost, and rules; then changes them.
pub fn measure(browser: &mut Browser, month: &str) -> Rules {
    browser.submit("/labels/team", "/labels/team/map", &[("all", "yes"), ("do", "save")]);
    for (name, by) in [("Network", "direct-cost"), ("Storage", "accelerator-hours")] {
        apply(browser, "/shared-costs/new", &[("name", name), ("by", by)]);
    }
    let rules = [("Amazon Simple Storage Service", "pool:storage"), ("AWS Data Transfer", "pool:network")];
    for (service, to) in rules {
        let fields =
            [("name", service), ("field", "service"), ("value", service), ("to", to), ("position", "0")];
        apply(browser, "/rules/new", &fields);
    }
    apply(browser, "/rules/new", &[("name", "Labels"), ("to", "labels"), ("position", "9")]);
    read_all(browser, &pages(month, None));

    let csv = browser.get("/organization/teams.csv").unwrap().body;
    let team = csv.lines().nth(1).and_then(|line| line.split(',').next()).expect("a team").to_owned();
    let pages = pages(month, Some(&team));
    let fields = [
        ("name", "Spot"),
        ("field", "pricing"),
        ("value", "Dynamic"),
        ("to", &format!("team:{team}")),
        ("position", "0"),
    ];
    let draft = browser.submit("/rules", "/rules/new", &fields).location;
    let began = Instant::now();
    assert_eq!(browser.get(&draft).unwrap().status, 200);
    let preview = began.elapsed().as_secs_f64();
    let began = Instant::now();
    browser.submit("/rules", &to_apply(&draft), &[]);
    read_all(browser, &pages);
    let applied = began.elapsed().as_secs_f64();

    let fields = [("name", "Renamed"), ("spellings", "somebody"), ("do", "save")];
    let began = Instant::now();
    browser.submit("/rules", "/organization/teams/1", &fields);
    read_all(browser, &pages);
    let at_once = began.elapsed().as_secs_f64();

    let mut of_team = ["service", "experiment", "accelerator", "pool"]
        .map(|by| format!("/spend/{month}?by={by}&team={team}"))
        .to_vec();
    of_team.extend([format!("/teams/{team}/{month}"), format!("/teams/{team}/{month}/statement")]);
    let mut times = Vec::new();
    for turn in 0..READS {
        for path in &of_team {
            let began = Instant::now();
            let page = browser.get(path).unwrap();
            assert_eq!(page.status, 200, "{}", page.body);
            // The first is asked by nobody before.
            if turn > 0 {
                times.push(began.elapsed().as_secs_f64() * 1000.0);
            }
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    Rules { preview, applied, at_once, team: times[(times.len() * 99).div_ceil(100) - 1] }
}

/// Drafts a change and applies it.
fn apply(browser: &mut Browser, action: &str, fields: &[(&str, &str)]) {
    let draft = browser.submit("/rules", action, fields).location;
    browser.submit("/rules", &to_apply(&draft), &[]);
}

/// Where the draft of a page is applied: `/changes/7` → `/changes/allocation/7/apply`.
fn to_apply(draft: &str) -> String {
    draft.replacen("/changes/", "/changes/allocation/", 1) + "/apply"
}

/// Every page that says whose charges are.
fn pages(month: &str, team: Option<&str>) -> Vec<String> {
    let groupings = ["team", "experiment", "pool", "cost-centre"];
    let mut pages: Vec<String> = groupings.map(|by| format!("/spend/{month}?by={by}")).into();
    pages.push(format!("/chargeback/{month}"));
    pages.push(format!("/unallocated/{month}"));
    if let Some(team) = team {
        pages.push(format!("/teams/{team}/{month}"));
        pages.push(format!("/teams/{team}/{month}/statement"));
    }
    pages
}

/// Reads pages by readers who work at once.
fn read_all(browser: &Browser, pages: &[String]) {
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let mut browser = browser.another();
            scope.spawn(move || {
                for path in pages.iter().skip(reader).step_by(READERS) {
                    let began = Instant::now();
                    let page = browser.get(path).unwrap();
                    assert_eq!(page.status, 200, "{}", page.body);
                    eprintln!("  {path}: {:.2} s", began.elapsed().as_secs_f64());
                }
            });
        }
    });
}
