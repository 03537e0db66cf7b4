//! The tags one can group by.

use sqlx::{PgConnection, Postgres, QueryBuilder};

use super::snapshot::Allocation;
use super::sql::{Source, push_filters, push_from, push_where};
use super::{CostMetric, Grouping, Question};
use crate::accounts::Viewer;
use crate::ledger::Visible;
use crate::period::Period;

/// The tags that charges of a period carry as of a sequence, the most used first, at most `limit`.
pub async fn tag_names(
    db: &mut PgConnection,
    period: Period,
    viewer: &Viewer,
    sequence: i64,
    limit: i64,
) -> sqlx::Result<Vec<String>> {
    let visible = Visible::find(db, period.first(), period.last(), sequence).await?;
    let question = Question { by: Grouping::Month, ..Question::of(period, viewer.clone()) };
    let allocation = Allocation::find(db, &question, sequence).await?;
    tag_names_of(db, period, viewer, &visible, &allocation, limit).await
}

/// As [`tag_names`], where it is known what counts.
pub(super) async fn tag_names_of(
    db: &mut PgConnection,
    period: Period,
    viewer: &Viewer,
    visible: &Visible,
    allocation: &Allocation,
    limit: i64,
) -> sqlx::Result<Vec<String>> {
    let mut query = QueryBuilder::<Postgres>::new("select tag as name");
    let source = Source::Months.allocated(allocation);
    push_from(&mut query, source, allocation);
    query.push(" cross join lateral jsonb_object_keys(k.tags) tag");
    push_where(&mut query, source, (period.first(), period.last()), visible, allocation);
    push_filters(&mut query, &[], viewer, (source, CostMetric::default()), allocation);
    query.push(" group by 1 order by sum(c.charges) desc, 1 limit ");
    query.push_bind(limit);
    query.build_query_scalar().fetch_all(db).await
}
