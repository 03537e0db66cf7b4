//! From the files someone submits to deliveries: a manifest with the files it names is one, any other
//! file is one by itself. Files are never merged because they were chosen together.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::billing::Manifest;

use super::Source;
use super::loaded::Stated;

/// What is to become one delivery.
#[derive(Clone, Debug)]
pub enum Bundle {
    Files(Vec<Source>),
    /// A manifest that cannot be followed, and why.
    Refused {
        manifest: Source,
        message: String,
    },
}

impl Bundle {
    /// The size of its files as they arrived.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Files(sources) => {
                let size = |source: &Source| std::fs::metadata(&source.path).map_or(0, |data| data.len());
                sources.iter().map(size).sum()
            }
            Self::Refused { .. } => 0,
        }
    }
}

/// Where a manifest's files may be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookIn {
    /// Only among the files submitted (an upload).
    Given,
    /// Also on disk, beside the manifest (the command line).
    Folders,
}

/// Bytes at the start of a file that distinguish a manifest from data.
const START: u64 = 64 << 10;

/// One entry a delivery: manifests first, then what no manifest names, each in the order given.
pub fn gather(files: Vec<Source>, look_in: LookIn) -> Vec<Bundle> {
    let (manifests, data): (Vec<Source>, Vec<Source>) =
        files.into_iter().partition(|file| is_manifest(&file.path).unwrap_or(false));
    let mut bundles = Vec::new();
    let mut taken = BTreeSet::new();
    let mut followed: Vec<Vec<String>> = Vec::new();
    for manifest in manifests {
        let parsed = match read_manifest(&manifest.path) {
            Ok(parsed) => parsed,
            Err(message) => {
                bundles.push(Bundle::Refused { manifest, message });
                continue;
            }
        };
        // AWS writes the manifest of a delivery twice, beside the data and above it.
        if followed.contains(&parsed.files) {
            continue;
        }
        bundles.push(follow(manifest, &parsed, &data, &mut taken, look_in));
        followed.push(parsed.files);
    }
    let alone = data.into_iter().enumerate().filter(|(place, _)| !taken.contains(place));
    bundles.extend(alone.map(|(_, file)| Bundle::Files(vec![file])));
    bundles
}

fn follow(
    manifest: Source,
    parsed: &Manifest,
    data: &[Source],
    taken: &mut BTreeSet<usize>,
    look_in: LookIn,
) -> Bundle {
    // A file taken by another manifest has no name that could match.
    let names: Vec<&str> = data
        .iter()
        .enumerate()
        .map(|(place, file)| if taken.contains(&place) { "" } else { file.name.as_str() })
        .collect();
    let matched = parsed.matching(&names);
    let mut sources = Vec::new();
    let mut absent = Vec::new();
    let columns: Arc<[String]> = parsed.columns.clone().into();
    for ((key, rows), found) in parsed.files.iter().zip(&parsed.rows).zip(&matched) {
        let stated = Stated { rows: *rows, statement: parsed.statement, columns: Arc::clone(&columns) };
        let on_disk = || match look_in {
            LookIn::Given => None,
            LookIn::Folders => find_beside(&manifest.path, key),
        };
        match found {
            Some(place) => {
                taken.insert(*place);
                sources.push(Source { stated, ..data[*place].clone() });
            }
            None => match on_disk() {
                Some(path) => {
                    sources.push(Source { stated, ..Source::new(path.display().to_string(), path) });
                }
                None => absent.push(key.as_str()),
            },
        }
    }
    if absent.is_empty() {
        return Bundle::Files(sources);
    }
    let message = format!(
        "the manifest names files that are not here ({} of {}): {}. Import all of them together.",
        absent.len(),
        parsed.files.len(),
        listed(&absent)
    );
    Bundle::Refused { manifest, message }
}

/// Names that a message lists.
const SHOWN: usize = 20;

fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

fn find_beside(manifest: &Path, key: &str) -> Option<PathBuf> {
    let folder = manifest.parent()?;
    Manifest::candidates(key).into_iter().map(|end| folder.join(end)).find(|path| path.is_file())
}

fn is_manifest(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(START).read_to_end(&mut start)?;
    Ok(Manifest::recognizes(&start))
}

fn read_manifest(path: &Path) -> Result<Manifest, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(billing_limit()).read_to_end(&mut bytes))
        .map_err(|error| format!("the manifest cannot be read: {error}"))?;
    Manifest::parse(&bytes).map_err(|refusal| refusal.message())
}

/// One byte more than a manifest may have, so that a larger one is refused rather than cut.
fn billing_limit() -> u64 {
    crate::billing::MAX_MANIFEST as u64 + 1
}
