//! A question as SQL: fixed fragments per dimension, values always bound.

mod coarsest;
mod owners;
mod rows;
mod source;

use std::fmt::Write as _;

use sqlx::{Postgres, QueryBuilder};

pub use self::coarsest::{items_source_of, keys_source_of, rollup_of, source_of};
use self::owners::{owner_value, push_tagged, push_teams};
pub use self::rows::{Column, Measure, Rows};
pub use self::source::Source;
use super::snapshot::Allocation;
use super::{CostMetric, Filter, Grouping};
use crate::accounts::Viewer;
use crate::allocation::{COMMITMENT_STATUS, MonthAllocation};
use crate::ledger::ActiveImports;
use crate::period::BillingMonth;

impl CostMetric {
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Billed => "c.billed_cost",
            Self::Effective => "c.effective_cost",
            Self::Contracted => "c.contracted_cost",
            Self::List => "c.list_cost",
        }
    }

    /// FOCUS CommitmentDiscountStatus of a row: of a fee only by the effective cost, which is what nothing used of it. Billed,
    /// it is a purchase, which has none.
    fn commitment_status(self) -> String {
        match self {
            Self::Effective => COMMITMENT_STATUS.to_owned(),
            _ => format!(
                "case when k.category <> 'Purchase' or k.is_unused_commitment then {COMMITMENT_STATUS} end"
            ),
        }
    }
}

/// `from … join …`: `c` the rows; `k` their keys, where they have any; and where that is asked `a`, what they are
/// attributed to.
pub fn push_from(query: &mut QueryBuilder<Postgres>, source: Source, allocation: &Allocation) {
    query.push(" from ");
    if source.is_of_owners() {
        query.push(format!("{} c", source.table()));
        query.push(match source {
            // Here each row says itself who is charged.
            Source::ChargedDays => " cross join lateral (select c.*) a",
            // Or its item does, and what a key would say.
            Source::Items | Source::ItemDays => {
                " join items k on k.item_id = c.item_id cross join lateral (select k.*) a"
            }
            _ => " join attributions a on a.attribution_id = c.attribution_id",
        });
        return;
    }
    query.push(source.table());
    query.push(match source {
        // Here each row is its key as well.
        Source::Keyed => " c cross join lateral (select c.*) k",
        _ => " c join charge_keys k on k.charge_key_id = c.charge_key_id",
    });
    if source == Source::Charges {
        query.push(" left join tag_sets t on t.tag_set_id = c.tag_set_id");
    }
    if !allocation.is_needed() {
        return;
    }
    // Numbers and not parameters, for the same reason as with deliveries.
    let mut sets: Vec<_> = allocation.months.iter().map(|month| month.set_id).collect();
    sets.sort_unstable();
    sets.dedup();
    query.push(format!(
        " join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = {}",
        any_of(sets.iter())
    ));
    if sets.len() > 1 {
        query.push(format!(" and ka.set_id = {}", by_month(allocation, |month| month.set_id)));
    }
    query.push(" join attributions a on a.attribution_id = ka.attribution_id");
}

/// `any(…)` of numbers.
fn any_of<'a>(numbers: impl Iterator<Item = &'a uuid::Uuid>) -> String {
    let list: Vec<String> = numbers.map(|number| format!("'{number}'")).collect();
    format!("any(array[{}]::uuid[])", list.join(", "))
}

/// The number that belongs to the month of a row.
fn by_month(allocation: &Allocation, number: impl Fn(&MonthAllocation) -> uuid::Uuid) -> String {
    let mut cases = String::from("case c.billing_month");
    for month in &allocation.months {
        // Writing to a text does not fail.
        let _ = write!(cases, " when date '{}' then uuid '{}'", month.month.first_day(), number(month));
    }
    cases + " end"
}

/// `where …`: the active rows of these months.
pub fn push_where(
    query: &mut QueryBuilder<Postgres>,
    source: Source,
    (first, last): (BillingMonth, BillingMonth),
    visible: &ActiveImports,
    allocation: &Allocation,
) {
    let asked = allocation.months.iter().filter(|month| first <= month.month && month.month <= last);
    // What a month was summed to is of what is active in it.
    match source {
        Source::Attributed
        | Source::ChargedDays
        | Source::AttributedDays
        | Source::Items
        | Source::ItemDays => {
            let parts = any_of(asked.flat_map(|month| month.parts.iter()));
            query.push(format!(" where c.part_id = {parts}"));
        }
        Source::Keyed => {
            query.push(format!(" where c.basis_id = {}", any_of(asked.map(|month| &month.basis_id))));
        }
        Source::Totals
        | Source::TotalDays
        | Source::Months
        | Source::Days
        | Source::Resources
        | Source::Charges => {
            query.push(" where c.billing_month >= ");
            query.push_bind(first.first_day());
            query.push(" and c.billing_month <= ");
            query.push_bind(last.first_day());
            visible.push(query);
        }
    }
}

/// What is metered, of a key or of an item: FOCUS has no column that every bill fills.
pub const USAGE_TYPE: &str = "coalesce(nullif(k.instance_type, ''), nullif(k.meter, ''), k.sku)";

/// The value of a dimension as text; null where there is none.
pub fn push_value(
    query: &mut QueryBuilder<Postgres>,
    dimension: &Grouping,
    source: Source,
    cost: CostMetric,
) {
    match dimension {
        Grouping::Provider => query.push("nullif(k.provider, '')"),
        Grouping::Account => query.push("coalesce(nullif(k.sub_account, ''), nullif(k.billing_account, ''))"),
        Grouping::Service => query.push("nullif(k.service, '')"),
        Grouping::Region => query.push("nullif(k.region, '')"),
        Grouping::Accelerator => query.push("k.accelerator"),
        Grouping::Pricing => query.push("nullif(k.pricing, '')"),
        Grouping::Category => query.push("k.category"),
        Grouping::CommitmentStatus => query.push(cost.commitment_status()),
        Grouping::UsageType => query.push(format!("nullif({USAGE_TYPE}, '')")),
        Grouping::Sku => query.push("nullif(k.sku, '')"),
        Grouping::Resource if source == Source::Charges => {
            query.push("coalesce(k.resource_id, c.resource_id)")
        }
        Grouping::Resource if source == Source::Resources => {
            query.push("coalesce(k.resource_id, nullif(c.resource_id, ''))")
        }
        Grouping::Resource => query.push("k.resource_id"),
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
        owner => query.push(owner_value(owner, "a")),
    };
}

/// Usage days, and two named groups so that the days sum to the billing month.
fn push_day(query: &mut QueryBuilder<Postgres>, source: Source) -> &mut QueryBuilder<Postgres> {
    let (day, is_whole_period) = source.day();
    query.push(format!(
        "case when {is_whole_period} then 'whole-period' \
         when {day} < c.billing_month or {day} >= (c.billing_month + interval '1 month')::date then 'outside' \
         else to_char({day}, 'YYYY-MM-DD') end"
    ))
}

/// `and …` for each filter, and for what the viewer may see, of single rows: of shared costs nobody has a part yet.
/// With an allocation the rows are joined to what they are attributed to, `a`.
pub fn push_filters(
    query: &mut QueryBuilder<Postgres>,
    filters: &[Filter],
    viewer: &Viewer,
    (source, cost): (Source, CostMetric),
    allocation: &Allocation,
) {
    for filter in filters {
        query.push(" and ");
        push_filter(query, filter, |query| push_value(query, &filter.dimension, source, cost));
        // Shared costs belong to no team either, and are not what nobody claims.
        let asks_of_nobody = filter.values.iter().any(String::is_empty) && !filter.leaves_out;
        if asks_of_nobody && filter.dimension.divides() && allocation.is_needed() {
            query.push(" and a.pool = ''");
        }
    }
    match viewer {
        Viewer::Everything => {}
        Viewer::Teams(teams) if !allocation.is_needed() => push_tagged(query, teams),
        Viewer::Teams(_) => {
            query.push(" and ");
            push_teams(query, allocation, "a.team");
        }
    }
}

fn push_filter(
    query: &mut QueryBuilder<Postgres>,
    filter: &Filter,
    push_value: impl Fn(&mut QueryBuilder<Postgres>),
) {
    let values: Vec<String> = filter.values.iter().filter(|value| !value.is_empty()).cloned().collect();
    let names_missing = values.len() < filter.values.len();
    query.push("(");
    push_value(query);
    if filter.leaves_out {
        // What has no value is left out by its name only. Said in words of which PostgreSQL knows that they leave most rows:
        // a function of a condition halves what it expects, and a few of them end in a plan that takes half a minute.
        query.push(if names_missing { " is not null and " } else { " is null or " });
        push_value(query);
        query.push(" <> all(");
        query.push_bind(values);
        query.push("))");
        return;
    }
    query.push(" = any(");
    query.push_bind(values);
    query.push(")");
    if names_missing {
        query.push(" or ");
        push_value(query);
        query.push(" is null");
    }
    query.push(")");
}
