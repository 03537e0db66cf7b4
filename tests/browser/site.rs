//! The program, serving a database of the test's own, and chromium in front of it.

use std::path::PathBuf;

use gpuledger::accounts::Role;
use sqlx::{ConnectOptions as _, PgPool};
use tempfile::TempDir;

use super::cdp::Cdp;
use super::page::Page;
use crate::support::app::{add_person, hash_of_password};
use crate::support::{Server, gpuledger};

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

    /// Makes an account; its password is [`PASSWORD`](crate::support::app::PASSWORD).
    pub async fn person(&self, email: &str, role: Role, teams: &[&str]) {
        add_person(&self.db, email, role, teams, &hash_of_password(email).await).await;
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
