//! The tags one can group by.

use sqlx::{PgConnection, Postgres, QueryBuilder};

use super::CostMetric;
use super::snapshot::Allocation;
use super::sql::{Source, push_filters, push_from, push_where};
use crate::accounts::Viewer;
use crate::ledger::ActiveImports;
use crate::period::Period;

/// The tags that charges of a period carry, the most used first, at most `limit`.
pub(super) async fn tag_names_of(
    db: &mut PgConnection,
    period: Period,
    viewer: &Viewer,
    visible: &ActiveImports,
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
