//! Our program and its helpers as processes; where their files lie.

use std::fs::{self, Permissions};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::browser::Browser;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gpuledger");
const TICK: Duration = Duration::from_millis(2);

/// A folder that PostgreSQL's user may pass, too, since as root we start it as another user.
pub fn folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("gpuledger-bench-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
    folder
}

/// Our program on a data directory.
pub fn gpuledger(data_dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.env_remove("DATABASE_URL").env("GPULEDGER_LOG", "warn").args(arguments);
    command.arg("--data-dir").arg(data_dir).stdout(Stdio::null());
    command
}

/// Writes a demonstration bill.
pub fn generate(file: &Path, rows: u64, month: &str, more: &[&str]) {
    eprintln!("generating {rows} rows of {month}");
    let mut command = Command::new(PROGRAM);
    command.args(["generate", "--rows", &rows.to_string(), "--month", month]).args(more);
    expect_success(command.arg("--output").arg(file).stdout(Stdio::null()));
}

/// A server on a data directory, until it is dropped.
pub struct Server {
    child: Child,
    pub data_dir: PathBuf,
    pub address: SocketAddr,
    /// From its start until it answered.
    pub took: Duration,
}

impl Server {
    pub fn start(data_dir: &Path) -> Self {
        // Free a moment ago; nobody else on a machine that is left alone takes it.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let began = Instant::now();
        let child = gpuledger(data_dir, &["serve", "--listen", &address.to_string()]).spawn().unwrap();
        while !Browser::new(address).get("/healthz").is_ok_and(|page| page.status == 200) {
            assert!(began.elapsed() < Duration::from_mins(1), "the server does not answer");
            sleep(TICK);
        }
        Self { child, data_dir: data_dir.to_owned(), address, took: began.elapsed() }
    }

    /// Runs SQL in the server's database, and answers how long that took.
    pub fn psql(&self, sql: &str) -> Duration {
        let began = Instant::now();
        expect_success(self.sql(sql).stdout(Stdio::null()));
        began.elapsed()
    }

    /// What a query in the server's database answers.
    pub fn ask(&self, sql: &str) -> String {
        let output = self.sql(sql).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn sql(&self, sql: &str) -> Command {
        let mut psql = Command::new("psql");
        psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-U", "gpuledger", "-d", "gpuledger", "-c", sql, "-h"]);
        psql.arg(self.data_dir.canonicalize().unwrap().join("postgres/socket"));
        psql
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

pub fn expect_success(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// How long an import took, and the most memory that the process held.
pub struct Imported {
    pub took: Duration,
    pub peak_mib: f64,
}

/// Imports a file through the command line, beside a server.
pub fn import(data_dir: &Path, file: &Path, more: &[&str]) -> Imported {
    let mut command = gpuledger(data_dir, &["import"]);
    finished(command.args(more).arg(file))
}

/// The same of several files at once.
pub fn import_all(data_dir: &Path, files: &[PathBuf]) -> Imported {
    finished(gpuledger(data_dir, &["import"]).args(files))
}

fn finished(command: &mut Command) -> Imported {
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut peak_mib = 0.0;
    let status = loop {
        // The kernel keeps the high-water mark; the last look before the end is near enough to it.
        peak_mib = peak_memory(child.id()).unwrap_or(peak_mib);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => sleep(TICK),
        }
    };
    assert!(status.success(), "import: {status}");
    Imported { took: began.elapsed(), peak_mib }
}

fn peak_memory(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib / 1024.0)
}
