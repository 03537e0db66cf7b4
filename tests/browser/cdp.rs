//! Chromium at the other end of two pipes, speaking its DevTools protocol: JSON, each message ended by a zero byte.
//!
//! A pipe needs no port, no driver of the same version as the browser, and no further crate; and the browser ends
//! when the pipe does, however the test ends.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long the browser may think about one command.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Cdp {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last_id: u64,
    /// What the browser said of its own accord.
    pub events: VecDeque<Value>,
    _chromium: Child,
    _profile: TempDir,
}

impl Cdp {
    pub fn launch(chromium: PathBuf) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads commands from descriptor 3 and answers on 4.
        let mut chromium = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "sh"])
            .arg(chromium)
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // Only our own pages are opened, and in containers there is no sandbox to be had.
            .args(["--no-sandbox", "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio"])
            .args(["--disable-background-networking", "--disable-component-update", "--password-store=basic"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let to = chromium.stdin.take().unwrap();
        let from = BufReader::new(chromium.stdout.take().unwrap());
        Self { to, from, last_id: 0, events: VecDeque::new(), _chromium: chromium, _profile: profile }
    }

    /// Sends a command, to a page or (without a session) to the browser, and answers its result or what was wrong.
    pub async fn try_call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).await.unwrap();
        let answer = async {
            loop {
                let mut message = self.read().await;
                if message["id"] == id {
                    return match message.get("error") {
                        Some(error) => Err(format!("{method}: {error}")),
                        None => Ok(message["result"].take()),
                    };
                }
                self.events.push_back(message);
            }
        };
        tokio::time::timeout(PATIENCE, answer)
            .await
            .unwrap_or_else(|_| panic!("chromium does not answer {method}"))
    }

    pub async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.try_call(session, method, params).await.unwrap_or_else(|error| panic!("{error}"))
    }

    async fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).await.unwrap();
        assert_eq!(bytes.pop(), Some(0), "chromium ended");
        serde_json::from_slice(&bytes).unwrap()
    }
}
