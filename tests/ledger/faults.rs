//! `kill -9` of our process and of PostgreSQL in the middle of an import: the ledger is as it was, and the
//! same file loads afterwards.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use gpuledger::generate::{self, Format, Plan, Totals};
use serde_json::Value;

use crate::store::sandbox::{Sandbox, kill};

/// A data directory of its own, and a file that takes a while to load.
struct Scene {
    sandbox: Sandbox,
    file: PathBuf,
    totals: Totals,
}

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let file = sandbox.root().join("month.csv");
        let plan = Plan::new(Format::AwsCur, 12_000, "2026-09".parse().unwrap(), 11);
        let totals = generate::write(&plan, &mut BufWriter::new(File::create(&file).unwrap())).unwrap();
        Self { sandbox, file, totals }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuledger"));
        command.arg("--data-dir").arg(self.sandbox.data_dir()).args(arguments).env_remove("DATABASE_URL");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn begin_import(&self) -> Child {
        let mut command = self.command(&["import", self.file.to_str().unwrap()]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Every equation holds, and the month is either not there or whole. True when it is there.
    fn assert_sound(&self) -> bool {
        let check = self.run(&["check"]);
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
        let report = self.run(&["report", "spend", "--period", "2026-09", "--cost", "billed", "--json"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let Some(amount) = report["total"]["amount"].as_str() else {
            return false;
        };
        assert_eq!(amount.parse(), Ok(self.totals.billed));
        true
    }

    fn assert_loads(&self) {
        let import = self.run(&["import", self.file.to_str().unwrap()]);
        assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stdout));
        assert!(self.assert_sound());
        let deep = self.run(&["check", "--deep"]);
        assert!(deep.status.success(), "{}", String::from_utf8_lossy(&deep.stdout));
    }
}

/// Moments after the start, so that some hit the census, some the loading, some its end.
const MOMENTS: [u64; 4] = [60, 350, 800, 1500];

#[test]
fn a_killed_import_leaves_nothing_that_counts() {
    let scene = Scene::new();
    // So that the moments are moments of the import, not of setting up a database.
    assert!(scene.run(&["check"]).status.success());
    for moment in MOMENTS {
        let mut import = scene.begin_import();
        std::thread::sleep(Duration::from_millis(moment));
        import.kill().unwrap();
        import.wait().unwrap();
        if scene.assert_sound() {
            break;
        }
    }
    scene.assert_loads();
}

#[test]
fn a_killed_postgresql_leaves_nothing_that_counts() {
    let scene = Scene::new();
    assert!(scene.run(&["check"]).status.success());
    for moment in MOMENTS {
        let mut import = scene.begin_import();
        std::thread::sleep(Duration::from_millis(moment));
        if let Some(postmaster) = scene.sandbox.postmaster() {
            kill([postmaster]);
        }
        import.wait().unwrap();
        if scene.assert_sound() {
            break;
        }
    }
    scene.assert_loads();
}
