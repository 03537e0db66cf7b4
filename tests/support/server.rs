//! The program as a process: what it prints, what it logs, how it stops.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use super::http::Http;

pub struct Server {
    pub address: String,
    /// The link that makes the first administrator.
    pub setup_link: Option<String>,
    process: Child,
    log: NamedTempFile,
}

/// The program on a data folder, with its own PostgreSQL or, where one is named, with another.
pub fn gpuledger(data_dir: &Path, database_url: Option<&str>, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuledger"));
    command.env_remove("DATABASE_URL").env("GPULEDGER_LOG", "warn");
    if let Some(url) = database_url {
        command.env("DATABASE_URL", url);
    }
    command.arg("--data-dir").arg(data_dir).args(arguments);
    command
}

impl Server {
    /// Starts `gpuledger serve` on a free port and waits until it answers.
    pub fn start(mut command: Command) -> Self {
        let (said, log) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        let process = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(File::create(said.path()).unwrap())
            .stderr(File::create(log.path()).unwrap())
            .spawn()
            .unwrap();
        let mut server = Self { address: String::new(), setup_link: None, process, log };
        while server.address.is_empty() || TcpStream::connect(&server.address[7..]).is_err() {
            assert!(server.is_running(), "no start: {}", server.log());
            std::thread::sleep(Duration::from_millis(5));
            let said = fs::read_to_string(said.path()).unwrap();
            if let Some((_, address)) = said.split_once("gpuledger answers at ")
                && let Some((address, _)) = address.split_once("/\n")
            {
                address.clone_into(&mut server.address);
            }
        }
        // Both lines are written before the first answer.
        assert_eq!(Http::new(&server.address).get("/healthz").status, 200);
        let said = fs::read_to_string(said.path()).unwrap();
        server.setup_link = said.split_once("administrator opens ").map(|(_, link)| link.trim().to_owned());
        server
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.log.path()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits until it has ended, and answers how.
    pub fn end(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "the server does not stop: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.is_running() {
            self.signal(Signal::TERM);
            let _ = self.process.wait();
        }
    }
}
