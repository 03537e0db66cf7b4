//! A data directory that is thrown away, and a look at the processes that serve it.

use gpuledger::store::private::{self, Private, Setup};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const HELPER_DATA_DIR: &str = "GPULEDGER_TEST_DATA_DIR";

pub struct Sandbox {
    directory: TempDir,
    data_dir: PathBuf,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox::at("data")
    }

    /// With a data directory of a given name.
    pub fn at(name: &str) -> Sandbox {
        let directory = tempfile::tempdir().unwrap();
        // Run by root, PostgreSQL is another user, who must be able to pass.
        fs::set_permissions(directory.path(), Permissions::from_mode(0o711)).unwrap();
        let data_dir = directory.path().join(name);
        Sandbox { directory, data_dir }
    }

    pub fn setup(&self) -> Setup {
        Setup { supervisor: env!("CARGO_BIN_EXE_gpuledger").into(), ..Setup::new(&self.data_dir) }
    }

    pub async fn join(&self) -> Private {
        private::join(&self.setup()).await.unwrap()
    }

    /// The message of a start that must fail.
    pub async fn refusal(&self, setup: &Setup) -> String {
        private::join(setup).await.unwrap_err().to_string()
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub fn postgres(&self, name: &str) -> PathBuf {
        self.data_dir.join("postgres").join(name)
    }

    /// What initdb makes or has left.
    pub fn unfinished(&self) -> Option<PathBuf> {
        let mut entries =
            fs::read_dir(self.postgres("")).into_iter().flatten().flatten().map(|entry| entry.path());
        entries
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("data.new.")))
    }

    pub fn postmaster(&self) -> Option<Pid> {
        let file = fs::read_to_string(self.postgres("data/postmaster.pid")).ok()?;
        Pid::from_raw(file.lines().next()?.parse().ok()?).filter(|pid| is_alive(*pid))
    }

    /// The parent of the postmaster.
    pub fn supervisor(&self) -> Pid {
        let postmaster = self.postmaster().expect("PostgreSQL runs").as_raw_nonzero();
        let status = fs::read_to_string(format!("/proc/{postmaster}/status")).unwrap();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
        Pid::from_raw(parent.trim().parse().unwrap()).unwrap()
    }

    /// Another process that has joined and stays until it is killed.
    pub fn other_process(&self) -> Child {
        let mut helper = self.joining_process();
        let said = BufReader::new(helper.stdout.take().unwrap()).lines();
        assert!(said.map_while(Result::ok).any(|line| line.contains("joined")), "the helper did not join");
        helper
    }

    /// Another process that is about to join.
    pub fn joining_process(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::private::helper_that_joins_and_stays", "--ignored", "--nocapture"])
            .env(HELPER_DATA_DIR, &self.data_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

pub async fn connect(private: &Private) -> PgConnection {
    private.connect_options().connect().await.unwrap()
}

/// Leaves a mark in the database that [`has_mark`] finds.
pub async fn leave_mark(private: &Private) {
    let mut db = connect(private).await;
    db.execute("create table mark (id int); insert into mark values (1)").await.unwrap();
    db.close().await.unwrap();
}

pub async fn has_mark(db: &mut PgConnection) -> bool {
    sqlx::query_scalar("select exists (select from mark)").fetch_one(db).await.unwrap()
}

/// Connects as soon as somebody has started PostgreSQL again.
pub async fn reconnect(private: &Private) -> PgConnection {
    let began = Instant::now();
    loop {
        match private.connect_options().connect().await {
            Ok(db) => return db,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Kills all of them at once, and waits until they are dead: a signal takes its time.
pub fn kill<const N: usize>(pids: [Pid; N]) {
    for pid in pids {
        kill_process(pid, Signal::KILL).unwrap();
    }
    wait_until("they are dead", || !pids.iter().any(|pid| is_alive(*pid)));
}

pub fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

/// Waits, without a bound that a busy machine would meet, until `claim` holds.
pub fn wait_until(what: &str, claim: impl Fn() -> bool) {
    let began = Instant::now();
    while !claim() {
        assert!(began.elapsed() < Duration::from_secs(30), "waited in vain until {what}");
        sleep(Duration::from_millis(5));
    }
}
