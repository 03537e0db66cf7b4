//! A newcomer starts the demonstration: its bills go through the real import, and its pages say what it says.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Cursor, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use gpuledger::accounts::Role;
use gpuledger::billing;
use gpuledger::demonstration::{Delivery, Demonstration, Package, What};
use gpuledger::ledger::{Report, Status, WhenUnsure};
use gpuledger::money::Decimal;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::PgPool;

use crate::store::sandbox::Sandbox;
use crate::support::json::amount;
use crate::support::{TestApp, TestLedger, gpuledger, html};

async fn import(ledger: &TestLedger, package: &Package) -> Report {
    let paths: Vec<_> = package.files.iter().map(|file| ledger.file(&file.name, &file.bytes)).collect();
    ledger.import(&paths, None, WhenUnsure::Wait).await.pop().unwrap()
}

/// Cells of a CUR lose blanks at their ends when they are read, tags of a FOCUS export do not.
fn add(teams: &mut BTreeMap<String, Decimal>, team: &str, cost: Decimal) {
    *teams.entry(team.trim().to_owned()).or_insert(Decimal::ZERO) += cost;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn the_demonstrations_bills_say_on_pages_what_was_generated(db: PgPool) {
    let ledger = TestLedger::new(db);
    let demonstration = Demonstration::new(1, "2026-11-03".parse().unwrap()).last(2);
    let mut billed: BTreeMap<(String, String), Decimal> = BTreeMap::new();
    let mut teams: BTreeMap<(String, String), BTreeMap<String, Decimal>> = BTreeMap::new();
    for delivery in demonstration.deliveries() {
        let package = delivery.package().unwrap();
        let report = import(&ledger, &package).await;
        let expected = if delivery.what == What::Partial { Status::Waiting } else { Status::Loaded };
        assert_eq!(report.status, expected, "{report:?}");
        assert_eq!((report.rejected, report.skipped), (0, 0), "{report:?}");
        if let Some(sums) = package.sums.filter(|_| delivery.counts()) {
            assert_eq!((report.rows_read, report.charges - report.further_charges), (sums.rows, sums.rows));
            let of = (delivery.month.to_string(), sums.currency.to_string());
            *billed.entry(of.clone()).or_insert(Decimal::ZERO) += sums.billed;
            for (team, cost) in sums.teams {
                add(teams.entry(of.clone()).or_default(), team, cost);
            }
        }
    }
    ledger.assert_balanced().await;

    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    assert_eq!(billed.len(), 4, "two months in two currencies");
    for ((month, currency), billed) in billed {
        let question = format!("/spend/{month}.json?currency={currency}&by=tag:team");
        let page = finance.json(&format!("{question}&cost=billed")).await;
        assert_eq!(amount(&page["total"]), billed, "{month} {currency}");
        let page = finance.json(&question).await;
        let mut found = BTreeMap::new();
        for group in page["groups"].as_array().unwrap() {
            add(&mut found, group["key"].as_str().unwrap_or_default(), amount(&group["cost"]));
        }
        // What was there the month before and is no more stands on the page, too.
        found.retain(|_, cost| *cost != Decimal::ZERO);
        assert_eq!(found, teams[&(month.clone(), currency.clone())], "{month} {currency}");
    }
}

/// JSON has the columns of its first rows, which are others every month.
#[test]
fn bills_in_json_are_read_whatever_their_month() {
    let demonstration = Demonstration::new(1, "2026-11-27".parse().unwrap());
    let mut read = 0;
    for delivery in demonstration.deliveries().iter().filter(|it| it.provider == "Google Cloud") {
        for file in delivery.package().unwrap().files {
            let export = billing::open(&file.name, Cursor::new(file.bytes), &billing::ReadAs::any());
            assert!(export.is_ok(), "{:?}", export.err());
            read += 1;
        }
    }
    assert!(read >= 13, "{read}");
}

/// Of earlier months: a file that is damaged and one that is no bill.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_went_wrong_in_the_demonstration_can_be_seen(db: PgPool) {
    let ledger = TestLedger::new(db);
    let deliveries = Demonstration::new(1, "2026-11-05".parse().unwrap()).deliveries();
    let find = |what: What| deliveries.iter().find(|delivery| delivery.what == what).unwrap();

    let report = import(&ledger, &find(What::PriceSheet).package().unwrap()).await;
    assert_eq!(report.status, Status::Refused);

    let damaged = find(What::Damaged);
    let package = damaged.package().unwrap();
    let report = import(&ledger, &package).await;
    assert_eq!(report.status, Status::Loaded, "{:?}", report.message);
    assert!(package.damaged > 5);
    assert_eq!(report.rejected, package.damaged);
    assert_eq!(report.charges + report.rejected, package.sums.as_ref().unwrap().rows);

    let is_good = |delivery: &&Delivery| {
        (delivery.provider, delivery.month) == (damaged.provider, damaged.month) && delivery.counts()
    };
    let good = deliveries.iter().find(is_good).unwrap().package().unwrap();
    let report = import(&ledger, &good).await;
    assert_eq!((report.status, report.rejected), (Status::Loaded, 0));
    let month = damaged.month.to_string();
    assert_eq!(ledger.billed("NL-20418", &month).await, package.sums.unwrap().billed);
}

/// A running demonstration, and what it said.
struct Started {
    process: Child,
    port: u16,
    said: String,
}

impl Started {
    fn at(data_dir: &Path) -> Self {
        Self::with(data_dir, "1")
    }

    fn with(data_dir: &Path, months: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut process = command(data_dir)
            .args(["--months", months, "--today", "2026-11-03", "--listen", &format!("127.0.0.1:{port}")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        for line in BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok) {
            said += &line;
            said.push('\n');
            if line.starts_with("gpuledger answers at") {
                return Self { process, port, said };
            }
        }
        panic!("it did not start: {:?} {said}", process.wait());
    }

    fn password(&self, email: &str) -> &str {
        let line = self.said.lines().find(|line| line.contains(email)).unwrap();
        line.split_whitespace().last().unwrap()
    }

    /// A request without a browser.
    fn ask(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let host = format!("127.0.0.1:{}", self.port);
        write!(
            stream,
            "{head}\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn sign_in(&self, email: &str, password: &str) -> String {
        let page = self.ask("GET /sign-in HTTP/1.1\r\nAccept: text/html", "");
        assert!(html::text(&page, ".demonstration") == "Demonstration", "{page}");
        let token = html::attributes(&page, "input[name=csrf]", "value").remove(0);
        let cookie = page.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let head = format!(
            "POST /sign-in HTTP/1.1\r\nCookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded"
        );
        self.ask(&head, &format!("csrf={token}&email={}&password={password}", email.replace('@', "%40")))
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}

fn command(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuledger"));
    command.env_remove("DATABASE_URL").args(["demo", "--data-dir"]).arg(data_dir);
    command
}

#[test]
fn one_command_leads_to_a_page_that_one_can_sign_in_to() {
    let sandbox = Sandbox::at("demo");
    let first = Started::at(sandbox.data_dir());
    let password = first.password("admin@example.org").to_owned();
    assert!(first.sign_in("admin@example.org", &password).starts_with("HTTP/1.1 303"));
    assert!(first.sign_in("vision@example.org", first.password("vision@example.org")).contains("303"));
    first.stop();

    // The second start finds everything there, and other passwords.
    let loaded = std::fs::read(sandbox.data_dir().join("demonstration.json")).unwrap();
    let second = Started::at(sandbox.data_dir());
    assert_eq!(std::fs::read(sandbox.data_dir().join("demonstration.json")).unwrap(), loaded);
    assert!(!second.sign_in("admin@example.org", &password).starts_with("HTTP/1.1 303"));
    let password = second.password("admin@example.org").to_owned();
    assert!(second.sign_in("admin@example.org", &password).starts_with("HTTP/1.1 303"));
    second.stop();
}

#[test]
fn its_own_cluster_is_charged_to_teams_and_does_not_happen_twice() {
    let sandbox = Sandbox::at("demo");
    let json = |arguments: &[&str]| -> Value {
        let output = gpuledger(sandbox.data_dir(), None, arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let load = || {
        let started = Started::with(sandbox.data_dir(), "2");
        // Only what has answered hears that it should stop.
        assert!(started.ask("GET /sign-in HTTP/1.1", "").starts_with("HTTP/1.1 200"));
        started.stop();
    };
    load();
    // Fails where an equation does not hold.
    let checked = json(&["check", "--json"]);
    let of = |checked: &Value| -> Vec<String> {
        let equations = checked.as_array().unwrap().iter().map(|it| it["of"].as_str().unwrap().to_owned());
        equations.filter(|of| of.starts_with("h100-east ") || of.starts_with("east-")).collect()
    };
    let clusters = of(&checked);
    assert!(clusters.iter().any(|of| of.starts_with("h100-east 2026-10, revision ")), "{clusters:?}");
    assert!(
        !clusters.iter().any(|of| of.contains("2026-11")),
        "the running month is nobody's yet: {clusters:?}"
    );
    let asked =
        ["report", "spend", "--period", "2026-10", "--by", "team", "--provider", "On-premises", "--json"];
    let spent = json(&asked);
    assert_eq!(spent["owned_hours"], (64 * 24 * 31).to_string());
    let teams: BTreeMap<&str, &str> = spent["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|team| (team["key"].as_str().unwrap(), team["owned_hours"].as_str().unwrap()))
        .collect();
    assert_eq!(teams, [("language", "23808"), ("robotics", "11904"), ("vision", "11904")].into());

    // As after a stop in the middle: what happened to the cluster is tried again.
    let mark = sandbox.data_dir().join("demonstration.json");
    let mut cut_off: Value = serde_json::from_slice(&std::fs::read(&mark).unwrap()).unwrap();
    cut_off["loaded"] = (cut_off["loaded"].as_u64().unwrap() - 1).into();
    std::fs::write(&mark, cut_off.to_string()).unwrap();
    load();
    assert_eq!(of(&json(&["check", "--json"])), clusters);
    assert_eq!(json(&asked)["sequence"], spent["sequence"]);
}

#[test]
fn a_folder_with_data_is_no_demonstration() {
    let sandbox = Sandbox::at("data");
    std::fs::create_dir_all(sandbox.data_dir().join("originals")).unwrap();
    let answer = command(sandbox.data_dir()).output().unwrap();
    let said = String::from_utf8(answer.stderr).unwrap();
    assert_eq!(answer.status.code(), Some(1));
    assert!(said.contains("is not a demonstration; nothing was changed"), "{said}");
    let left: Vec<_> =
        std::fs::read_dir(sandbox.data_dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [sandbox.data_dir().join("originals")]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_database_with_tables_is_no_demonstration(db: PgPool) {
    let name: String = sqlx::query_scalar("select current_database()").fetch_one(&db).await.unwrap();
    let url = std::env::var("DATABASE_URL").unwrap();
    let (address, options) = url.split_once('?').unwrap_or((&url, ""));
    let (server, _) = address.rsplit_once('/').unwrap();
    let sandbox = Sandbox::at("demo");
    let answer = command(sandbox.data_dir())
        .args(["--database-url", &format!("{server}/{name}?{options}")])
        .output()
        .unwrap();
    let said = String::from_utf8(answer.stderr).unwrap();
    assert!(said.contains("the database is not a demonstration; nothing was changed"), "{said}");
    assert!(!sandbox.data_dir().exists());
}
