//! A question as SQL: fixed fragments per dimension, values always bound.

use sqlx::{Postgres, QueryBuilder};

use super::visible::Visible;
use super::{CostBasis, Filter, Grouping};
use crate::accounts::Viewer;
use crate::period::BillingMonth;

/// The rows a question needs, from the coarsest that holds its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Months,
    Days,
    Charges,
}

impl Source {
    /// `noisy` says whether a tag of the question is kept with charges in this period.
    pub fn of<'a>(dimensions: impl Iterator<Item = &'a Grouping>, noisy: bool) -> Self {
        dimensions
            .map(|dimension| match dimension {
                Grouping::Resource => Self::Charges,
                Grouping::Tag(_) if noisy => Self::Charges,
                Grouping::Day => Self::Days,
                _ => Self::Months,
            })
            .max()
            .unwrap_or(Self::Months)
    }

    fn table(self) -> &'static str {
        match self {
            Self::Months => "monthly_costs",
            Self::Days => "daily_costs",
            Self::Charges => "charges",
        }
    }

    /// Accelerator time of a row in part-seconds: an exact whole, divided once at display.
    pub fn part_seconds(self) -> &'static str {
        match self {
            Self::Months | Self::Days => "c.metered_quantity * (k.unit_seconds * k.accelerator_parts)",
            Self::Charges => {
                "case when c.is_metered then c.consumed_quantity * (k.unit_seconds * k.accelerator_parts) end"
            }
        }
    }
}

impl CostBasis {
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Billed => "c.billed_cost",
            Self::Effective => "c.effective_cost",
            Self::Contracted => "c.contracted_cost",
            Self::List => "c.list_cost",
        }
    }
}

/// `from … join …`: `c` the rows, `k` their keys.
pub fn push_from(query: &mut QueryBuilder<Postgres>, source: Source) {
    query.push(" from ");
    query.push(source.table());
    query.push(" c join charge_keys k on k.charge_key_id = c.charge_key_id");
    if source == Source::Charges {
        query.push(" left join tag_sets t on t.tag_set_id = c.tag_set_id");
    }
}

/// `where …`: the rows of these months that count.
pub fn push_where(
    query: &mut QueryBuilder<Postgres>,
    first: BillingMonth,
    last: BillingMonth,
    visible: &Visible,
) {
    query.push(" where c.billing_month >= ");
    query.push_bind(first.first_day());
    query.push(" and c.billing_month <= ");
    query.push_bind(last.first_day());
    visible.push(query);
}

/// The value of a dimension as text; null where there is none.
pub fn push_value(query: &mut QueryBuilder<Postgres>, dimension: &Grouping, source: Source) {
    match dimension {
        Grouping::Provider => query.push("nullif(k.provider, '')"),
        Grouping::Account => query.push("coalesce(nullif(k.sub_account, ''), nullif(k.billing_account, ''))"),
        Grouping::Service => query.push("nullif(k.service, '')"),
        Grouping::Region => query.push("nullif(k.region, '')"),
        Grouping::Accelerator => query.push("k.accelerator"),
        Grouping::Pricing => query.push("nullif(k.pricing, '')"),
        Grouping::Category => query.push("k.category"),
        Grouping::Sku => query.push("nullif(k.sku, '')"),
        Grouping::Resource => query.push("coalesce(k.resource_id, c.resource_id)"),
        Grouping::Month => query.push("to_char(c.billing_month, 'YYYY-MM')"),
        Grouping::Day => push_day(query, source),
        Grouping::Tag(key) => {
            query.push("coalesce(k.tags ->> ");
            query.push_bind(key.clone());
            if source == Source::Charges {
                query.push(", t.tags ->> ");
                query.push_bind(key.clone());
            }
            query.push(")")
        }
    };
}

/// Usage days, and two named groups so that the days sum to the billing month.
fn push_day(query: &mut QueryBuilder<Postgres>, source: Source) -> &mut QueryBuilder<Postgres> {
    let (day, is_whole_period) = match source {
        Source::Charges => (
            "(c.charge_period_start at time zone 'UTC')::date",
            "c.charge_period_end - c.charge_period_start > interval '1 day'",
        ),
        Source::Days | Source::Months => ("c.day", "c.is_whole_period"),
    };
    query.push(format!(
        "case when {is_whole_period} then 'whole-period' \
         when {day} < c.billing_month or {day} >= (c.billing_month + interval '1 month')::date then 'outside' \
         else to_char({day}, 'YYYY-MM-DD') end"
    ))
}

/// `and …` for each filter, and for what the viewer may see.
pub fn push_filters(query: &mut QueryBuilder<Postgres>, filters: &[Filter], viewer: &Viewer, source: Source) {
    for filter in filters {
        let values: Vec<String> = filter.values.iter().filter(|value| !value.is_empty()).cloned().collect();
        let names_missing = values.len() < filter.values.len();
        // What has no value compares as neither true nor false, and is left out by its name only.
        query.push(if filter.leaves_out { " and not coalesce(" } else { " and (" });
        push_value(query, &filter.dimension, source);
        query.push(" = any(");
        query.push_bind(values);
        query.push(")");
        if names_missing {
            query.push(" or ");
            push_value(query, &filter.dimension, source);
            query.push(" is null");
        }
        query.push(if filter.leaves_out { ", false)" } else { ")" });
    }
    if let Viewer::Teams(teams) = viewer {
        query.push(
            " and exists (select from jsonb_each_text(k.tags) tag \
             where lower(tag.key) = 'team' and lower(btrim(regexp_replace(tag.value, '\\s+', ' ', 'g'))) = any(",
        );
        query.push_bind(teams.clone());
        query.push("))");
    }
}
