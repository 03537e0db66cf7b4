//! Connections of long downloads: few, so that they leave pages and imports theirs, and shared out, so that nobody
//! holds them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Error, Result};
use crate::accounts::UserId;

/// Where long downloads get their connections.
#[derive(Clone, Debug)]
pub struct Downloads {
    pub(super) pool: PgPool,
    /// Downloads under way, by who asked for them.
    under_way: Arc<Mutex<HashMap<UserId, usize>>>,
}

/// Someone's right to one download, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    person: UserId,
    downloads: Downloads,
}

impl Downloads {
    const CONNECTIONS: u32 = 4;
    const EACH: usize = 2;
    /// For each part of a file.
    const TIMEOUT: Duration = Duration::from_mins(5);
    const PATIENCE: Duration = Duration::from_secs(5);

    /// To the same database.
    pub(super) fn beside(pool: &PgPool) -> Self {
        let millis = Self::TIMEOUT.as_millis();
        let options =
            PgConnectOptions::clone(&pool.connect_options()).options([("statement_timeout", millis)]);
        let pool = PgPoolOptions::new().max_connections(Self::CONNECTIONS).acquire_timeout(Self::PATIENCE);
        Self { pool: pool.connect_lazy_with(options), under_way: Arc::default() }
    }

    /// A slot for one more download of this person. It goes where the download goes.
    pub fn slot(&self, person: UserId) -> Result<Slot> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let own = under_way.entry(person).or_default();
        if *own == Self::EACH {
            return Err(Error::TooManyDownloads);
        }
        *own += 1;
        Ok(Slot { person, downloads: self.clone() })
    }
}

impl Slot {
    /// Whoever has read nothing for so long has stopped.
    pub const IDLE: Duration = Duration::from_mins(1);

    /// The connections. Where none becomes free, say so by [`Slot::busy`].
    pub fn pool(&self) -> &PgPool {
        &self.downloads.pool
    }

    /// What an error is to whoever asked: that all connections are taken is no fault of the database.
    pub fn busy(error: sqlx::Error) -> Error {
        match error {
            sqlx::Error::PoolTimedOut => Error::DownloadsBusy,
            error => error.into(),
        }
    }

    /// The parts of the download, made by a task of its own, so that the query ends without asking whoever has read
    /// nothing for as long as `idle`. Who reads on after all gets an error: nobody takes the beginning for the whole.
    pub fn hand_out<T: Send + 'static>(
        self,
        parts: impl Stream<Item = Result<T>> + Send + 'static,
        idle: Duration,
    ) -> impl Stream<Item = Result<T>> + Send + 'static {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut parts = Box::pin(parts);
            while let Some(part) = parts.next().await {
                if !matches!(timeout(idle, sender.send(Some(part))).await, Ok(Ok(()))) {
                    return;
                }
            }
            drop(parts);
            let _ = sender.send(None).await;
        });
        stream::unfold(Some((receiver, self)), async |state| {
            let (mut receiver, slot) = state?;
            match receiver.recv().await {
                Some(Some(part)) => Some((part, Some((receiver, slot)))),
                Some(None) => None,
                None => Some((Err(anyhow::anyhow!("nobody read it for too long").into()), None)),
            }
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Whoever panicked while holding it counted one too many at worst.
        let mut under_way = self.downloads.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = under_way.get_mut(&self.person) {
            *own -= 1;
            if *own == 0 {
                under_way.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn downloads() -> Downloads {
        Downloads {
            pool: PgPool::connect_lazy("postgres://localhost/none").unwrap(),
            under_way: Arc::default(),
        }
    }

    const IDLE: Duration = Duration::from_millis(400);

    /// Ten parts, and whether the query behind them still runs.
    fn parts() -> (impl Stream<Item = Result<u32>>, std::sync::Weak<()>) {
        let query = Arc::new(());
        let runs = Arc::downgrade(&query);
        (stream::iter(0..10).map(move |part| Ok((part, &query).0)), runs)
    }

    #[tokio::test]
    async fn who_reads_slowly_gets_everything() {
        let (parts, runs) = parts();
        let mut read = Box::pin(downloads().slot(UserId(1)).unwrap().hand_out(parts, IDLE));
        let mut sum = 0;
        while let Some(part) = read.next().await {
            sum += part.unwrap();
            tokio::time::sleep(IDLE / 8).await;
        }
        assert_eq!((sum, runs.strong_count()), (45, 0));
    }

    #[tokio::test]
    async fn who_stops_reading_ends_the_query_and_misses_the_end() {
        let (parts, runs) = parts();
        let mut read = Box::pin(downloads().slot(UserId(1)).unwrap().hand_out(parts, IDLE));
        assert_eq!(read.next().await.unwrap().unwrap(), 0);
        assert_eq!(runs.strong_count(), 1);
        tokio::time::sleep(IDLE * 2).await;
        assert_eq!(runs.strong_count(), 0);
        let rest: Vec<_> = read.collect().await;
        assert!(rest.last().unwrap().is_err() && rest.len() < 9);
    }

    #[tokio::test]
    async fn a_slot_ends_with_its_download() {
        let downloads = downloads();
        let mut slots = vec![downloads.slot(UserId(1)).unwrap(), downloads.slot(UserId(1)).unwrap()];
        assert!(downloads.slot(UserId(1)).is_err() && downloads.slot(UserId(2)).is_ok());
        drop(slots.pop().unwrap().hand_out(parts().0, IDLE));
        assert!(downloads.slot(UserId(1)).is_ok());
    }
}
