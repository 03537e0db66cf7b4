//! `gpuledger restore`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::backup::{megabytes, watched};
use super::{Done, database, print_json};
use crate::backup::{self, Manifest, Progress, Restore, Room};
use crate::command_output::say;
use crate::config::Settings;
use crate::ledger::{self, Originals};
use crate::store::{Database, Store, private};

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

    let data_dir = &settings.data_dir;
    // Before anything is written there: a database that is named is remembered there once it is asked for.
    let is_private = settings.database_url().is_none() && matches!(database(settings)?, Database::Private(_));
    backup::expect_room(data_dir, &folder, is_private)?;
    private::make_directory(data_dir)?;
    // Before a private database is made, which takes a while: whoever comes to it meanwhile is warned.
    let originals = Room::begin(data_dir)?;
    let store = match Store::find(&database(settings)?).await {
        Ok(store) => store,
        Err(error) => {
            originals.undo().await?;
            return Err(error.into());
        }
    };
    let done = match fill(&store, originals, &manifest, &folder, json).await {
        Ok(tokens) => report(&store, &manifest, tokens, data_dir, json).await,
        Err(error) => Err(error),
    };
    store.close().await?;
    done
}

/// Where anything fails, or somebody interrupts it, everything is as before. Answers how many API tokens have ended.
async fn fill(
    store: &Store,
    originals: Room,
    manifest: &Manifest,
    folder: &Path,
    json: bool,
) -> anyhow::Result<u64> {
    let progress = Progress::default();
    let mut restore = Restore::begin(store, manifest, originals).await?;
    let filled = watched(restore.fill(manifest, folder, &progress), "restored", &progress, json).await;
    let error = match filled {
        Ok(tokens) => return restore.finish().await.map(|()| tokens),
        Err(error) => error,
    };
    match restore.undo().await {
        Ok(()) => Err(error),
        Err(left) => Err(error.context(format!(
            "what was restored could not be cleared away ({left:#}); the next gpuledger restore does it"
        ))),
    }
}

async fn report(
    store: &Store,
    manifest: &Manifest,
    tokens: u64,
    data_dir: &Path,
    json: bool,
) -> anyhow::Result<Done> {
    let mut db = store.connect().await?;
    ledger::sweep(&mut db).await?;
    let mut equations = ledger::check(&mut db).await?;
    equations.extend(ledger::check_kept(&mut db, &Originals::new(data_dir)).await?);
    let broken = equations.iter().filter(|equation| !equation.holds).count();
    if json {
        print_json(&json!({
            "bytes": manifest.bytes(), "parts": manifest.parts.len(), "sequence": manifest.sequence,
            "made_at": manifest.made_at, "version": manifest.version,
            "tokens_ended": tokens, "equations": equations.len(), "broken": broken,
        }))?;
    } else {
        say!(
            "restored {}: the ledger as of sequence {}, made on {} by gpuledger {}",
            megabytes(manifest.bytes()),
            manifest.sequence,
            manifest.made_at.format("%Y-%m-%d %H:%M UTC"),
            manifest.version
        )?;
        let ended = match tokens {
            0 => "the backup has no API tokens".to_owned(),
            1 => "1 API token ended: its script needs a new one".to_owned(),
            _ => format!("{tokens} API tokens ended: their scripts need new ones"),
        };
        say!("everybody signs in again; {ended}")?;
        say!("{} equations checked, {broken} do not hold", equations.len())?;
    }
    Ok(if broken == 0 { Done::Well } else { Done::Failed })
}
