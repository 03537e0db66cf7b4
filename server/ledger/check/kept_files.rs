//! Whether the files that the ledger says it keeps are there, each in its length. Their content is what `--deep` reads.

use sqlx::PgConnection;

use super::Equation;
use crate::ledger::{Originals, Sha256};
use crate::money::Decimal;

/// Files that are named; the others are counted.
const NAMED: usize = 20;

struct Missing {
    sha256: Sha256,
    of: String,
}

/// How many files are kept and how many of them are there, and which are not.
pub async fn check_kept(db: &mut PgConnection, originals: &Originals) -> sqlx::Result<Vec<Equation>> {
    let kept = sqlx::query_file!("server/ledger/check/kept.sql").fetch_all(&mut *db).await?;
    let (originals, mut count) = (originals.clone(), kept.len());
    let looking = tokio::task::spawn_blocking(move || {
        let mut missing = Vec::new();
        for file in kept {
            let Ok(sha256) = Sha256::try_from(file.sha256) else { continue };
            if let Err(error) = originals.look(&sha256, file.content_bytes as u64, file.received_bytes as u64)
            {
                let of = match (file.delivery_id, file.name) {
                    (Some(delivery), Some(name)) => format!("delivery {delivery}, {name}: {error}"),
                    _ => error.to_string(),
                };
                missing.push(Missing { sha256, of });
            }
        }
        missing
    });
    let mut missing = looking.await.map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
    if !missing.is_empty() {
        // A file that nobody refers to may have been removed meanwhile, after its row.
        let hashes: Vec<Vec<u8>> = missing.iter().map(|file| file.sha256.0.to_vec()).collect();
        let still = sqlx::query_scalar!("select sha256 from originals where sha256 = any($1)", &hashes)
            .fetch_all(db)
            .await?;
        count -= missing.len();
        missing.retain(|file| still.iter().any(|sha256| sha256[..] == file.sha256.0));
        count += missing.len();
    }
    let there = Decimal::from((count - missing.len()) as i64);
    let of = "the data folder".to_owned();
    let mut equations =
        vec![Equation::new("kept files = files that are there", of, Decimal::from(count as i64), there)];
    let named = missing.into_iter().take(NAMED);
    equations.extend(
        named.map(|file| Equation::new("kept file = file that is there", file.of, 1.into(), Decimal::ZERO)),
    );
    Ok(equations)
}
