//! From the files someone hands in to deliveries: a manifest with the files it names is one, any other
//! file is one by itself. Files are never merged because they were chosen together.

use std::path::PathBuf;

use super::Source;

/// One entry a delivery, in the order given.
pub fn gather(paths: &[PathBuf]) -> Vec<Vec<Source>> {
    paths.iter().map(|path| vec![Source { name: path.display().to_string(), path: path.clone() }]).collect()
}
