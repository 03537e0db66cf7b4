//! `check --deep`: the originals, read again row by row.
//!
//! Twice, side by side. By a reader that knows one thing of a format, which columns hold the cost, and shares no
//! code with [`crate::billing`]: a mistake there shows here. And by the reader of imports: what each row says, and the key
//! that follows from it, is what is stored, so that nothing was moved since between two charges or two keys.
//! The rows of the ledger come as a stream in the order of the file, so memory is bounded whatever its size.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use sqlx::PgConnection;
use tokio::sync::mpsc;

use super::Equation;
use super::costs::Costs;
use super::rows::{self, Again, Compared, Stored};
use crate::billing::{Learned, Statement};
use crate::ledger::files::Files;
use crate::ledger::key::Keyer;
use crate::ledger::loaded::Kept;
use crate::ledger::noise::NoisyTags;
use crate::ledger::rates::pricer_of;
use crate::ledger::usage_without_cost::Pricer;
use crate::ledger::{Archived, Originals, Progress, Sha256, Source, catalog, read_as};
use crate::money::Decimal;

/// Rows of the ledger that are handed over together, and how often that is done ahead.
const BATCH: usize = 1000;
const AHEAD: usize = 4;

/// Each kept file that is loaded against the ledger, row by row; and the days of keys, which no file states.
pub async fn check_originals(db: &mut PgConnection, originals: &Originals) -> sqlx::Result<Vec<Equation>> {
    let files = sqlx::query_file!("server/ledger/check/files.sql").fetch_all(&mut *db).await?;
    let catalog = catalog(&mut *db).await?;
    let mut equations = Vec::new();
    let mut learned: Option<(i64, Learned)> = None;
    // Tiers of a month are counted across its files.
    let mut pricer: Option<(i64, Pricer)> = None;
    let mut deliveries: BTreeMap<i64, Vec<(i16, Source)>> = BTreeMap::new();
    for file in &files {
        let of_delivery = deliveries.entry(file.delivery_id).or_default();
        if let Some(sha256) = file.sha256.as_ref().and_then(|bytes| Sha256::try_from(bytes.clone()).ok()) {
            let half = file.read_as.as_ref().and_then(|half| half.parse().ok()).unwrap_or_default();
            let kept = Kept { sha256, received_bytes: 0, content_bytes: 0 };
            of_delivery.push((file.file_no, Source::of_kept(file.name.clone(), kept).read_as(half)));
        }
    }
    for file in files {
        let of = format!("delivery {}, {}", file.delivery_id, file.name);
        let Some(sha256) = file.sha256.and_then(|bytes| Sha256::try_from(bytes).ok()) else {
            continue;
        };
        let (batches, incoming) = mpsc::channel::<Vec<Stored>>(AHEAD);
        let originals = originals.clone();
        let read_as = read_as(&mut *db, file.format.as_deref()).await?;
        let half = file.read_as.and_then(|half| half.parse().ok()).unwrap_or_default();
        let has_this_catalog = file.catalog_version == Some(i64::from(catalog.version()));
        let keyer = Keyer::new(Arc::clone(&catalog), NoisyTags::exactly(file.noisy_tags));
        let sources = deliveries.get(&file.delivery_id).cloned().unwrap_or_default();
        let so_far = match pricer.take() {
            Some((delivery, pricer)) if delivery == file.delivery_id => pricer,
            _ => pricer_of(&mut *db, file.delivery_id).await?,
        };
        let before = learned.take().filter(|(delivery, _)| *delivery == file.delivery_id);
        let reading = tokio::task::spawn_blocking(move || {
            let place = sources.iter().position(|(number, _)| *number == file.file_no).unwrap_or_default();
            let sources: Vec<Source> = sources.into_iter().map(|(_, source)| source).collect();
            let mut files = Files {
                originals: &originals,
                sources: &sources,
                read_as: &read_as,
                progress: &Progress::default(),
                learned: before.map(|(_, learned)| learned),
            };
            let mut export = files.open(place, Box::new(io::sink())).map_err(io::Error::other)?;
            if file.has_rows_twice {
                export.look_at_no_others();
            }
            let mut again = Again::new(export, half, (keyer, so_far), has_this_catalog);
            let costs = Costs::open(originals.content(&sha256)?, again.cost_columns())?;
            let compared = rows::compare(costs, &mut again, stored(incoming))?;
            Ok((compared, again.learned(), again.pricer))
        });
        stream(&mut *db, file.delivery_id, file.file_no, &batches).await?;
        drop(batches);
        let compared = reading.await;
        // Archived meanwhile, it has no rows to compare.
        if Archived::check(&mut *db, &[file.delivery_id])
            .await
            .is_err_and(|error| Archived::of(&error).is_some())
        {
            continue;
        }
        match compared.map_err(|error| sqlx::Error::Io(io::Error::other(error)))? {
            Ok((compared, of_all, so_far)) => {
                pricer = Some((file.delivery_id, so_far));
                compared.equations(&of, half, file.rows_read, &mut equations);
                learned = of_all.map(|learned| (file.delivery_id, learned));
            }
            Err(error) => equations.push(unreadable(&of, &error)),
        }
    }
    let days = include_str!("days_of_keys.sql");
    super::ask(db, "charges of a day = daily rollup", days, &mut equations).await?;
    Ok(equations)
}

/// Sends what is stored of a file's rows, until nobody listens any more.
async fn stream(
    db: &mut PgConnection,
    delivery_id: i64,
    file_no: i16,
    batches: &mpsc::Sender<Vec<Stored>>,
) -> sqlx::Result<()> {
    let query = sqlx::query_as::<_, Stored>(include_str!("rows_of_file.sql")).bind(delivery_id).bind(file_no);
    let mut rows = query.fetch(db).chunks(BATCH);
    while let Some(batch) = rows.next().await {
        let batch = batch.into_iter().collect::<sqlx::Result<Vec<Stored>>>()?;
        if batches.send(batch).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn stored(mut batches: mpsc::Receiver<Vec<Stored>>) -> impl Iterator<Item = Stored> {
    std::iter::from_fn(move || batches.blocking_recv()).flatten()
}

/// An original that cannot be read proves nothing: its equation fails, and says why.
fn unreadable(of: &str, error: &io::Error) -> Equation {
    Equation::new("originals that can be read", format!("{of}: {error}"), Decimal::ZERO, 1.into())
}

impl Compared {
    fn equations(self, of: &str, half: Statement, rows_read: i64, equations: &mut Vec<Equation>) {
        let mut say = |name, of: String, left, right| equations.push(Equation::new(name, of, left, right));
        let rows = Decimal::from(self.rows);
        say("rows in the file = rows read", of.to_owned(), rows, rows_read.into());
        let costs = match half {
            Statement::Effective => "effective cost in the file = effective cost of its charges",
            Statement::Whole | Statement::Billed => "billed cost in the file = billed cost of its charges",
        };
        say(costs, of.to_owned(), self.cost_in_file, self.cost_in_ledger);
        let agree = rows - Decimal::from(self.cost_differs);
        say(rows::COST, format!("{of}, rows that agree"), rows, agree);
        let agree = rows - Decimal::from(self.charge_differs);
        say(rows::CHARGE, format!("{of}, rows that agree"), rows, agree);
        for found in self.found {
            say(found.name, format!("{of}, {}", found.what), found.left, found.right);
        }
    }
}
