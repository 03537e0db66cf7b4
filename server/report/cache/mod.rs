//! Answers, remembered. What is asked and which deliveries are active decide an answer, and loaded deliveries
//! never change, so an answer stays true for as long as someone remembers it; publishing or undoing in the
//! months that are asked makes it another question.
//!
//! Which answers there are, reports say: each kind of them is [`Remembered`] by what decides it, which mostly is a question
//! and what is active in the ledger ([`Ask`]).

mod inputs;
mod size;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sqlx::{PgConnection, PgPool};

use self::inputs::{Allocating, Inputs};
use super::Question;
use super::snapshot::{AsOf, Snapshot};
use crate::cache::{Cache, SizeInCache};

/// What pages ask again and again, asked once.
#[derive(Default)]
pub struct Answers {
    began: Began,
    inputs: Inputs,
    /// By the type of what decides them, a [`Cache`] for each kind of answer that was asked for.
    kinds: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// Where months are allocated apart from whoever asks for them.
    allocating: Option<Allocating>,
}

/// What decides an answer. Each kind of answer has a type of its own for that, which distinguishes it from the others.
pub(super) trait Remembered: Eq + Hash + Send + Sync + 'static {
    type Answer: SizeInCache + Send + Sync + 'static;
}

/// What is asked of a question: its answer is decided by that, by what is active, and by what this holds besides.
pub(super) trait Ask: Clone + Eq + Hash + Send + Sync + 'static {
    type Answer: SizeInCache + Send + Sync + 'static;

    /// The question is [without what only chooses](Question::timeless).
    fn ask(
        &self,
        db: &mut PgConnection,
        asked: AsOf<'_>,
    ) -> impl Future<Output = sqlx::Result<Self::Answer>> + Send;
}

#[derive(PartialEq, Eq, Hash)]
struct AskKey<A>(A, Question, Snapshot);

impl<A: Ask> Remembered for AskKey<A> {
    type Answer = A::Answer;
}

struct Began(Instant);

impl Default for Began {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Answers {
    /// Of a server: what takes long is made on connections of this pool.
    pub fn of_server(pool: PgPool) -> Self {
        Self { allocating: Some(Allocating::of(pool)), ..Self::default() }
    }

    /// Whole days since this process began to remember.
    pub fn day(&self) -> u64 {
        self.began.0.elapsed().as_secs() / (24 * 60 * 60)
    }

    /// What is asked of a question, as of a sequence.
    pub(super) async fn ask<A: Ask>(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        what: A,
    ) -> sqlx::Result<Arc<A::Answer>> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        let question = &question.timeless();
        let key = AskKey(what.clone(), question.clone(), snapshot.clone());
        let asked = AsOf { question, snapshot: &snapshot, sequence };
        self.remember(key, Box::pin(what.ask(db, asked))).await
    }

    /// The same without remembering it: of what would take the place of everything else.
    pub(super) async fn ask_once<A: Ask>(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        what: A,
    ) -> sqlx::Result<A::Answer> {
        let snapshot = self.snapshot(db, question, sequence).await?;
        what.ask(db, AsOf { question: &question.timeless(), snapshot: &snapshot, sequence }).await
    }

    /// The answer that this decides: the remembered one, else what `find` finds.
    pub(super) async fn remember<K: Remembered, E>(
        &self,
        key: K,
        find: impl Future<Output = Result<K::Answer, E>>,
    ) -> Result<Arc<K::Answer>, E> {
        self.kind::<K>().get(key, find).await
    }

    /// Whether the answer that this decides is remembered.
    pub(super) fn remembers<K: Remembered>(&self, key: &K) -> bool {
        self.kind::<K>().known(key).is_some()
    }

    fn kind<K: Remembered>(&self) -> Arc<Cache<K, K::Answer>> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(TypeId::of::<K>()).or_insert_with(|| Arc::<Cache<K, K::Answer>>::default());
        // There is no other under this type.
        debug_assert!(kind.is::<Cache<K, K::Answer>>());
        Arc::clone(kind).downcast().unwrap_or_default()
    }
}
