//! A real Prometheus (Debian's) with samples of a time in the past, and what can stand in front of it and misbehave.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tempfile::TempDir;

/// Series of an exporter as OpenMetrics writes them, metric by metric.
#[derive(Default)]
pub struct Samples(Vec<(String, String)>);

impl Samples {
    /// A value from a time until another, every 30 seconds. `labels` as the exporter writes them: `gpu="0",Hostname="n1"`.
    pub fn add(&mut self, metric: &str, labels: &str, (from, until): (&str, &str), value: &str) -> &mut Self {
        let mut lines = String::new();
        for second in (at(from).timestamp()..at(until).timestamp()).step_by(30) {
            writeln!(lines, "{metric}{{{labels}}} {value} {second}").unwrap();
        }
        self.0.push((metric.to_owned(), lines));
        self
    }

    fn text(&self) -> String {
        let mut sorted = self.0.clone();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        let mut text = String::new();
        let mut metric = String::new();
        for (name, lines) in sorted {
            if name != metric {
                writeln!(text, "# TYPE {name} gauge").unwrap();
                metric = name;
            }
            text.push_str(&lines);
        }
        text + "# EOF\n"
    }
}

/// A time of day, UTC.
pub fn at(text: &str) -> DateTime<Utc> {
    format!("{text}:00Z").parse().unwrap()
}

pub struct Prometheus {
    folder: TempDir,
    address: String,
    process: Option<Child>,
}

impl Prometheus {
    /// Starts one that has these samples.
    pub fn start(samples: &Samples) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("samples.txt");
        std::fs::write(&file, samples.text()).unwrap();
        std::fs::write(folder.path().join("prometheus.yml"), "").unwrap();
        let made = command("promtool", folder.path())
            .args(["tsdb", "create-blocks-from", "openmetrics"])
            .args([file, folder.path().join("data")])
            .status()
            .expect("promtool is installed by script/bootstrap --test");
        assert!(made.success());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut prometheus = Self { folder, address: format!("127.0.0.1:{port}"), process: None };
        prometheus.start_again();
        prometheus
    }

    /// On the same port, with the same samples. Returns once it answers queries.
    pub fn start_again(&mut self) {
        let folder = self.folder.path();
        let process = command("prometheus", folder)
            .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={}", self.address))
            .arg("--storage.tsdb.retention.time=100y")
            .spawn()
            .unwrap();
        self.process = Some(process);
        let began = Instant::now();
        while !is_ready(&self.address) {
            assert!(began.elapsed() < Duration::from_secs(30), "Prometheus does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.stop();
    }
}

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn is_ready(address: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let asked = stream.write_all(b"GET /-/ready HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
}

/// How what stands in front of a Prometheus answers.
#[derive(Clone, Debug)]
pub enum Manner {
    /// With what Prometheus says.
    Honest,
    /// Never.
    Silent,
    /// With this, whatever it is asked.
    Saying(&'static str),
    /// With the first half of what Prometheus says.
    BreakingOff,
    /// With what Prometheus says, to those who bring this token.
    Guarded(&'static str),
}

/// A proxy in front of a Prometheus, as organizations have them.
pub struct Proxy {
    pub url: String,
    manner: Arc<Mutex<Manner>>,
}

impl Proxy {
    pub fn before(prometheus: &Prometheus, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let manner = Arc::new(Mutex::new(manner));
        let (behind, described) = (prometheus.address.clone(), Arc::clone(&manner));
        // Ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (manner, behind) = (described.lock().unwrap().clone(), behind.clone());
                thread::spawn(move || answer(stream.unwrap(), &behind, &manner));
            }
        });
        Self { url, manner }
    }

    pub fn becomes(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }
}

/// One request on a connection.
fn answer(mut stream: TcpStream, behind: &str, manner: &Manner) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let asked = String::from_utf8(head).unwrap();
    let said = match manner {
        Manner::Silent => {
            thread::sleep(Duration::from_secs(20));
            return;
        }
        Manner::Saying(text) => text.as_bytes().to_vec(),
        Manner::Guarded(token) if !asked.contains(&format!("Bearer {token}\r\n")) => {
            b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
        }
        Manner::Honest | Manner::BreakingOff | Manner::Guarded(_) => {
            // Where it is down, this breaks off, too.
            let Ok(mut upstream) = TcpStream::connect(behind) else { return };
            let asked = asked.replacen("\r\n", "\r\nConnection: close\r\n", 1);
            upstream.write_all(asked.as_bytes()).unwrap();
            let mut said = Vec::new();
            upstream.read_to_end(&mut said).unwrap();
            let kept = if matches!(manner, Manner::BreakingOff) { said.len() / 2 } else { said.len() };
            said.truncate(kept);
            said
        }
    };
    let _ = stream.write_all(&said);
}
