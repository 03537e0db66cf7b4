//! Files that other people's systems wrote, with the verdicts and totals that were worked out for them.
//! They lie beside the repository; where they do not, these tests say so and pass.

use std::path::PathBuf;

use super::{Reading, read_path};

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: {} is not there", folder.display());
    None
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = folder().into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
#[ignore = "prints a table"]
fn table() {
    let folder = folder().unwrap();
    for path in files() {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        match read_path(&path) {
            Ok(reading) => {
                let Reading { format, rows, charges, rejected, skipped, remarks, .. } = &reading;
                println!(
                    "{name}: {format} rows {rows} charges {} rejected {} skipped {} billed {} effective {} list {} contracted {} {remarks:?} {}",
                    charges.len(),
                    rejected.len(),
                    skipped.len(),
                    reading.billed(),
                    reading.effective(),
                    reading.list(),
                    reading.contracted(),
                    rejected.first().map(ToString::to_string).unwrap_or_default(),
                );
            }
            Err(refusal) => println!("{name}: refused: {}", refusal.message()),
        }
    }
}
