//! The program, serving a database of the test's own, and chromium in front of it.

use std::path::PathBuf;

use gpuledger::accounts::{Email, NewPerson, Password, Role, people};
use gpuledger::audit::Actor;
use gpuledger::clock;
use sqlx::{ConnectOptions as _, PgPool};
use tempfile::TempDir;

use super::cdp::Cdp;
use super::page::Page;
use crate::support::app::PASSWORD;
use crate::support::{Server, gpuledger, now};

pub struct Site {
    pub server: Server,
    pub db: PgPool,
    /// For the server's data and for files to upload.
    folder: TempDir,
}

impl Site {
    /// A running server with an empty ledger. `None` where there is no chromium to look at it with.
    pub async fn start(db: &PgPool) -> Option<(Self, Page)> {
        let chromium = chromium()?;
        let folder = tempfile::tempdir().unwrap();
        let url = db.connect_options().to_url_lossy();
        let server = Server::start(gpuledger(&folder.path().join("data"), Some(url.as_str()), &[]));
        let site = Self { db: db.clone(), folder, server };
        let page = Page::open(Cdp::launch(chromium), &site.server.address).await;
        Some((site, page))
    }

    /// Makes an account; its password is [`PASSWORD`].
    pub async fn person(&self, email: &str, role: Role, teams: &[&str]) {
        let hash = Password::choose(PASSWORD, email).unwrap().hash(&mut clock::dice()).await.unwrap();
        let teams = teams.iter().map(|&team| team.to_owned()).collect();
        let person = NewPerson { email: Email::parse(email).unwrap(), name: None, role, teams };
        let mut db = self.db.acquire().await.unwrap();
        assert!(matches!(
            people::add(&mut db, &person, Some(&hash), &Actor::command_line(None), now()).await.unwrap(),
            people::Added::As(_)
        ));
    }

    /// Writes a file to upload.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Loads files on the command line, beside the server.
    pub fn import(&self, paths: &[PathBuf]) {
        let output =
            gpuledger(&self.folder.path().join("data"), None, &["import"]).args(paths).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
    }
}

/// Debian's chromium, or what GPULEDGER_CHROMIUM names. CI must have one; elsewhere the test says loudly that it
/// tested nothing.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("GPULEDGER_CHROMIUM").map(PathBuf::from);
    let found = named.unwrap_or_else(|| "/usr/bin/chromium".into());
    if found.exists() {
        return Some(found);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing: script/bootstrap --test", found.display());
    eprintln!("\n*** SKIPPED: no browser at {}. Run script/bootstrap --test. ***\n", found.display());
    None
}
