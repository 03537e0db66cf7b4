//! Has made what pages read whenever the ledger has changed, by whichever program, before anybody asks
//! ([why](../../docs/decisions/page-sums-are-prepared-when-the-ledger-changes.md)).

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};

use super::allocation::unallocated;
use super::error::Error;
use super::metrics::Metrics;
use super::page_cache::Now;
use super::prices::last_quarter;
use super::question::Asked;
use super::{charges, spend};
use crate::accounts::Viewer;
use crate::clock::Clock;
use crate::ledger;
use crate::period::BillingMonth;
use crate::report::{self, Answers, Filter, Grouping, Question};

/// How often the ledger is asked whether it has changed. Pages are prepared when it has not since the last time and nothing
/// loads: bills that are imported one after the other are prepared together.
const BETWEEN_LOOKS: Duration = Duration::from_millis(700);
/// The largest services of a month, of each of which the list of charges is prepared.
const SERVICES: usize = 5;
/// What failed fails again for a while.
const AFTER_ERROR: Duration = Duration::from_secs(20);

/// Goes on until it is aborted.
pub(super) async fn prepare(pool: PgPool, answers: Arc<Answers>, metrics: Arc<Metrics>, clock: Clock) {
    let (mut prepared, mut seen) = (None, None);
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        let looked = async {
            let mut db = pool.acquire().await?;
            let Now { version, is_loading } = Now::find(&mut db).await?;
            let sequence = version.sequence;
            let catalog = ledger::catalog_revision(&mut db).await?;
            // Once a day in any case: what nobody uses for long is removed.
            let now = (sequence, catalog, answers.day());
            if is_loading {
                // Pages would go on giving way to a bill whose import was killed.
                ledger::sweep(&mut db).await?;
            } else if prepared != Some(now) && seen == Some(now) {
                let since = prepared.map(|(sequence, ..)| sequence);
                if until_one_loads(&pool, db, &answers, (since, sequence), clock.now().date_naive()).await? {
                    metrics.prepared(sequence);
                    prepared = Some(now);
                }
            }
            seen = Some(now);
            Ok::<_, Error>(())
        };
        if let Err(error) = looked.await {
            tracing::warn!(%error, "what pages read could not be prepared; whoever asks for it waits for it");
            tokio::time::sleep(AFTER_ERROR).await;
        }
    }
}

/// Makes what pages read, and gives up where a bill begins to load meanwhile: it may soon be active, and has the machine to
/// itself. True when all is made.
async fn until_one_loads(
    pool: &PgPool,
    mut db: PoolConnection<Postgres>,
    answers: &Answers,
    (since, sequence): (Option<i64>, i64),
    today: NaiveDate,
) -> Result<bool, Error> {
    let backend: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut *db).await?;
    let all = async {
        ledger::index_keys(&mut db).await?;
        // What a change of the catalog left to be looked at.
        ledger::recognize_again(&mut db).await?;
        answers.prepare(&mut db, sequence).await?;
        let months = report::first_months(&mut db, since, sequence).await?;
        for month in &months {
            Box::pin(ask(&mut db, answers, *month, sequence)).await?;
        }
        // Last, since that takes longest, and fewest people open it.
        for month in months {
            Box::pin(ask_for_scenario(&mut db, answers, month, (sequence, today))).await?;
        }
        Ok::<_, Error>(())
    };
    let begun = tokio::select! {
        made = all => return made.map(|()| true),
        begun = one_loads(pool) => begun,
    };
    // Its statement would go on to the end, and its answer is nobody's.
    sqlx::query("select pg_cancel_backend($1)").bind(backend).execute(&mut *pool.acquire().await?).await?;
    db.close().await?;
    begun?;
    Ok(false)
}

/// Returns when a bill loads.
async fn one_loads(pool: &PgPool) -> sqlx::Result<()> {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if Now::find(&mut *pool.acquire().await?).await?.is_loading {
            return Ok(());
        }
    }
}

/// Asks what the pages of a month begin with, for who sees everything: what leads see is read from sums of their teams,
/// which are few.
async fn ask(
    db: &mut PgConnection,
    answers: &Answers,
    month: BillingMonth,
    sequence: i64,
) -> Result<(), Error> {
    let asked = Asked { sequence: Some(sequence), ..Asked::default() };
    let by = |by: Grouping| -> Question {
        // Of machines and jobs the first: all of them would take the place of all other answers.
        let is_of_first = by.is_numerous();
        let question = Asked { by, ..asked.clone() }.question(month.into(), Viewer::Everything);
        Question { is_of_first, ..question }
    };
    let question = by(Grouping::Service);
    let first = spend::find(&mut *db, answers, &question, None).await?;
    answers.variance(&mut *db, &question).await?;
    report::chargeback(&mut *db, answers, &question).await?;
    Box::pin(answers.gpu_jobs(&mut *db, &question)).await?;
    charges::find(&mut *db, answers, &question, None, 1).await?;
    // What one opens next: the charges behind one of the largest services.
    let services = first.spend.groups.iter().filter_map(|group| group.key.clone());
    for service in services.take(SERVICES) {
        let only = Filter { dimension: Grouping::Service, values: vec![service], leaves_out: false };
        let question = Question { filters: vec![only], ..question.clone() };
        charges::find(&mut *db, answers, &question, None, 1).await?;
    }
    Box::pin(answers.unallocated(&mut *db, &question, 0, Some(unallocated::KEYS))).await?;
    // Not each that says who used a machine as well: of a large fleet one takes a second.
    let tags = first.tags.into_iter().take(spend::TAGS).map(Grouping::Tag);
    for grouping in Grouping::FIXED.into_iter().chain(tags) {
        spend::find(&mut *db, answers, &by(grouping), None).await?;
    }
    Ok(())
}

/// Asks what a scenario of a month is made of, for who sees everything.
async fn ask_for_scenario(
    db: &mut PgConnection,
    answers: &Answers,
    month: BillingMonth,
    (sequence, today): (i64, NaiveDate),
) -> Result<(), Error> {
    let question = Question { sequence: Some(sequence), ..Question::of(month.into(), Viewer::Everything) };
    let hours = answers.hourly(&mut *db, &question).await?;
    if let Some(currency) = &hours.spend.currency {
        let quarter = last_quarter(today);
        answers.paid_prices(db, quarter, currency, Viewer::Everything).await?;
    }
    Ok(())
}
