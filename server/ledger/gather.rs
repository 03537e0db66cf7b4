//! From the files someone hands in to deliveries: a manifest with the files it names is one, any other
//! file is one by itself. Files are never merged because they were chosen together.

use std::path::PathBuf;

use super::Source;

/// One entry a delivery, in the order given: what people call a file, and where it is.
pub fn gather(files: Vec<(String, PathBuf)>) -> Vec<Vec<Source>> {
    files.into_iter().map(|(name, path)| vec![Source { name, path }]).collect()
}
