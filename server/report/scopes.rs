//! The accounts and months in which somebody sees a charge, and how complete these are.

use std::sync::Arc;

use sqlx::{PgConnection, Postgres, QueryBuilder};

use super::cache::Remembered;
use super::completeness::{Completeness, completeness_of};
use super::snapshot::Allocation;
use super::sql::{Source, push_filters, push_from, push_where};
use super::{Answers, CostMetric, Grouping, Question};
use crate::accounts::Viewer;
use crate::ledger::ActiveImports;
use crate::period::Period;

/// What a viewer sees of a period.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub period: Period,
    pub viewer: Viewer,
    pub visible: Arc<ActiveImports>,
    pub allocation: Arc<Allocation>,
}

/// The scopes in which somebody sees a charge; `None`: all of them.
pub(super) type Scopes = Option<Arc<Vec<i64>>>;

#[derive(PartialEq, Eq, Hash)]
struct ScopesOf(Seen);

impl Remembered for ScopesOf {
    type Answer = Vec<i64>;
}

/// By sequence: a delivery of another month may correct rows of these.
#[derive(PartialEq, Eq, Hash)]
struct CompletenessOf(Period, Scopes, i64);

impl Remembered for CompletenessOf {
    type Answer = Vec<Completeness>;
}

impl Answers {
    /// Every account and month of a period that the viewer sees, by provider.
    pub async fn completeness(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Vec<Completeness>> {
        let scopes = self.scopes(db, period, viewer, sequence).await?;
        let among = scopes.as_ref().map(|scopes| scopes.as_slice());
        let completeness = completeness_of(db, period, among, sequence);
        let key = CompletenessOf(period, scopes.clone(), sequence);
        Ok(Vec::clone(&*self.remember(key, completeness).await?))
    }

    /// The scopes in which the viewer sees a charge.
    pub(super) async fn scopes(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Scopes> {
        if *viewer == Viewer::Everything {
            return Ok(None);
        }
        let seen = self.seen(db, period, viewer, sequence).await?;
        self.remember(ScopesOf(seen.clone()), scopes_of(db, &seen)).await.map(Some)
    }

    /// What the viewer sees of a period as of a sequence.
    pub(super) async fn seen(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
    ) -> sqlx::Result<Seen> {
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let question = Question { by: Grouping::Month, ..Question::of(period, viewer.clone()) };
        let allocation = self.allocation(db, &question, sequence).await?;
        Ok(Seen { period, viewer: viewer.clone(), visible, allocation })
    }
}

impl Seen {
    /// `where …`: the rows that are seen, after [`push_from`].
    pub fn push_where(&self, query: &mut QueryBuilder<Postgres>, source: Source) {
        let months = (self.period.first(), self.period.last());
        push_where(query, source, months, &self.visible, &self.allocation);
        push_filters(query, &[], &self.viewer, (source, CostMetric::default()), &self.allocation);
    }
}

async fn scopes_of(db: &mut PgConnection, seen: &Seen) -> sqlx::Result<Vec<i64>> {
    let mut query = QueryBuilder::<Postgres>::new("select c.scope_id");
    let source = match seen.viewer {
        _ if seen.allocation.is_needed() => Source::Attributed,
        Viewer::Everything => Source::Totals,
        Viewer::Teams(_) => Source::Months,
    };
    push_from(&mut query, source, &seen.allocation);
    seen.push_where(&mut query, source);
    query.push(" group by 1 having sum(c.charges) <> 0");
    query.build_query_scalar().fetch_all(db).await
}
