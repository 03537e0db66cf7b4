//! `gpuledger restore`.

use std::path::PathBuf;

use serde_json::json;

use super::backup::{megabytes, watched};
use super::{Done, database, print_json};
use crate::backup::{self, Manifest, Progress};
use crate::config::Settings;
use crate::ledger;
use crate::store::{Store, private};
use crate::terminal::say;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder that `gpuledger backup` made.
    backup: PathBuf,
}

pub async fn run(settings: &Settings, json: bool, arguments: Arguments) -> anyhow::Result<Done> {
    let folder = arguments.backup;
    let progress = Progress::default();
    let (from, seen) = (folder.clone(), progress.clone());
    let verified = async {
        let read = move || {
            let manifest = Manifest::read(&from)?;
            manifest.verify(&from, &seen)?;
            Ok(manifest)
        };
        tokio::task::spawn_blocking(read).await?
    };
    let manifest = watched(verified, "verified", &progress, json).await?;

    private::make_directory(&settings.data_dir)?;
    let store = Store::find(&database(settings)?).await?;
    let progress = Progress::default();
    let restored = backup::restore(&store, &manifest, &folder, &settings.data_dir, &progress);
    let done = match watched(restored, "restored", &progress, json).await {
        Ok(()) => report(&store, &manifest, json).await,
        Err(error) => Err(error),
    };
    store.close().await?;
    done
}

async fn report(store: &Store, manifest: &Manifest, json: bool) -> anyhow::Result<Done> {
    let mut db = store.connect().await?;
    ledger::sweep(&mut db).await?;
    let equations = ledger::check(&mut db).await?;
    let broken = equations.iter().filter(|equation| !equation.holds).count();
    if json {
        print_json(&json!({
            "bytes": manifest.bytes(), "parts": manifest.parts.len(), "sequence": manifest.sequence,
            "made_at": manifest.made_at, "version": manifest.version,
            "equations": equations.len(), "broken": broken,
        }))?;
    } else {
        say!(
            "restored {}: the ledger as of sequence {}, made on {} by gpuledger {}",
            megabytes(manifest.bytes()),
            manifest.sequence,
            manifest.made_at.format("%Y-%m-%d %H:%M UTC"),
            manifest.version
        )?;
        say!("{} equations checked, {broken} do not hold", equations.len())?;
    }
    Ok(if broken == 0 { Done::Well } else { Done::Failed })
}
