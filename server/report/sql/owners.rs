//! Owners in SQL: the columns of what a row is attributed to, who gets a part of what is shared, and whose rows a viewer
//! sees.

use sqlx::{Postgres, QueryBuilder};

use crate::report::snapshot::Allocation;
use crate::report::{Filter, Grouping};

/// Where an attribution says a dimension. `None` for those that the charge says.
pub(super) fn owner_column(dimension: &Grouping) -> Option<&'static str> {
    Some(match dimension {
        Grouping::Team => "team",
        Grouping::CostCentre => "cost_centre",
        Grouping::Project => "project",
        Grouping::Experiment => "experiment",
        Grouping::Environment => "environment",
        Grouping::ModelSize => "model_size",
        Grouping::Workload => "workload",
        Grouping::Pool => "pool",
        Grouping::PoolPart => "pool_part",
        Grouping::Rule => "rule_id",
        _ => return None,
    })
}

/// The value of a dimension that follows from the allocation, as text; null where there is none.
pub(super) fn owner_value(dimension: &Grouping, rows: &str) -> String {
    match owner_column(dimension) {
        Some("rule_id") => format!("nullif({rows}.rule_id, 0)::text"),
        Some(column) => format!("nullif({rows}.{column}, '')"),
        None => "null".to_owned(),
    }
}

/// The same of the sums `c` where shared costs are divided: who gets this part of them stands in `s`.
pub(super) fn divided_value(dimension: &Grouping) -> String {
    match owner_column(dimension).filter(|_| dimension.divides()) {
        Some(column) => format!("nullif(case when c.pool = '' then c.{column} else s.{column} end, '')"),
        None => owner_value(dimension, "c"),
    }
}

/// A filter of what rows are attributed to, `a`. Plain columns, of which PostgreSQL knows how often each value is there:
/// from `nullif` it would conclude that hardly any row is left.
pub(super) fn push_attributed(query: &mut QueryBuilder<Postgres>, filter: &Filter) {
    let Some(column) = owner_column(&filter.dimension) else { return };
    query.push(if filter.leaves_out { "not (" } else { "(" });
    let mut values = filter.values.clone();
    if filter.dimension == Grouping::Rule {
        query.push(format!("a.{column}::text = any("));
        for value in values.iter_mut().filter(|value| value.is_empty()) {
            "0".clone_into(value);
        }
    } else {
        query.push(format!("a.{column} = any("));
    }
    query.push_bind(values);
    query.push("))");
}

/// The rows of the viewer's teams, each in its months.
pub(super) fn push_teams(query: &mut QueryBuilder<Postgres>, allocation: &Allocation, team: &str) {
    query.push(format!("(c.billing_month, {team}) in (select * from unnest("));
    query.push_bind(allocation.teams.iter().map(|(month, _)| month.first_day()).collect::<Vec<_>>());
    query.push("::date[], ");
    query.push_bind(allocation.teams.iter().map(|(_, team)| team.clone()).collect::<Vec<_>>());
    query.push("::text[]))");
}

/// `and …`: the rows whose tags name one of these teams, while nobody has entered any.
pub(super) fn push_tagged(query: &mut QueryBuilder<Postgres>, teams: &[String]) {
    query.push(
        " and exists (select from jsonb_each_text(k.tags) tag \
         where lower(tag.key) = 'team' and lower(btrim(regexp_replace(tag.value, '\\s+', ' ', 'g'))) = any(",
    );
    query.push_bind(teams.to_vec());
    query.push("))");
}
