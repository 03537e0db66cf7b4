//! The tags one can group by.

use sqlx::{PgConnection, Postgres, QueryBuilder};

use super::Answers;
use super::cache::Remembered;
use super::scopes::Seen;
use super::sql::{Source, push_from};
use crate::accounts::Viewer;
use crate::billing::usage_tags;
use crate::period::Period;

/// At most so many.
#[derive(PartialEq, Eq, Hash)]
struct TagNames(Seen, usize);

impl Remembered for TagNames {
    type Answer = Vec<String>;
}

impl Answers {
    /// The tags that charges of a period carry as of a sequence: those that say who used a machine, then the most used others, at most `limit`
    /// of these.
    pub async fn tag_names(
        &self,
        db: &mut PgConnection,
        period: Period,
        viewer: &Viewer,
        sequence: i64,
        limit: usize,
    ) -> sqlx::Result<Vec<String>> {
        let seen = self.seen(db, period, viewer, sequence).await?;
        let names = tag_names_of(db, &seen, limit);
        Ok(Vec::clone(&*self.remember(TagNames(seen.clone(), limit), names).await?))
    }
}

async fn tag_names_of(db: &mut PgConnection, seen: &Seen, limit: usize) -> sqlx::Result<Vec<String>> {
    // Few charges carry what divides machines by use, and it is what one looks for.
    let of_usage = usage_tags::ALL.map(|(tag, _)| tag);
    let mut query = QueryBuilder::<Postgres>::new("select tag as name");
    let source = Source::Months.allocated(&seen.allocation);
    push_from(&mut query, source, &seen.allocation);
    query.push(" cross join lateral jsonb_object_keys(k.tags) tag");
    seen.push_where(&mut query, source);
    query.push(" group by 1 order by tag = any(").push_bind(of_usage.as_slice());
    query.push(") desc, sum(c.charges) desc, 1");
    let mut names: Vec<String> = query.build_query_scalar().fetch_all(db).await?;
    let first = names.partition_point(|name| of_usage.contains(&name.as_str()));
    names.truncate(first.saturating_add(limit));
    Ok(names)
}
