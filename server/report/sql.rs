//! A question as SQL: fixed fragments per dimension, values always bound.

use std::fmt::Write as _;

use sqlx::{Postgres, QueryBuilder};

use super::basis::{Allocation, Basis};
use super::denomination::Denomination;
use super::question::SHARED;
use super::{CostBasis, Filter, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::MonthAllocation;
use crate::ledger::Visible;
use crate::period::BillingMonth;

/// The rows a question needs, from the coarsest that holds its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// By day and owner: what a month was summed to when it was allocated.
    Attributed,
    Months,
    Days,
    Charges,
}

impl Source {
    /// The coarsest rollup with these dimensions. `noisy` says whether a tag of theirs is kept with charges in the
    /// period.
    pub fn rollup<'a>(dimensions: impl Iterator<Item = &'a Grouping>, noisy: bool) -> Self {
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

    /// Where the currency and the number of what a row is attributed to stand.
    fn currency(self) -> &'static str {
        if self == Self::Attributed { "c.currency" } else { "k.currency" }
    }

    fn attribution_id(self) -> &'static str {
        if self == Self::Attributed { "c.attribution_id" } else { "ka.attribution_id" }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Attributed => "attributed_costs",
            Self::Months => "monthly_costs",
            Self::Days => "daily_costs",
            Self::Charges => "charges",
        }
    }

    /// Accelerator time of a row in part-seconds: an exact whole, divided once at display.
    pub fn part_seconds(self) -> &'static str {
        match self {
            Self::Attributed => "c.part_seconds",
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

/// `from … join …`: `c` the rows, `k` their keys, and where that is asked `a`, what these are attributed to.
pub fn push_from(query: &mut QueryBuilder<Postgres>, source: Source, allocation: &Allocation) {
    push_keyed(query, source, allocation);
    if allocation.is_needed() {
        query.push(" join attributions a on a.attribution_id = ka.attribution_id");
    }
}

/// The same with the number alone of what they are attributed to, `ka`.
fn push_keyed(query: &mut QueryBuilder<Postgres>, source: Source, allocation: &Allocation) {
    query.push(" from ");
    query.push(source.table());
    query.push(" c join charge_keys k on k.charge_key_id = c.charge_key_id");
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
    let list: Vec<String> = sets.iter().map(|set| format!("'{set}'")).collect();
    query.push(format!(
        " join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = any(array[{}]::uuid[])",
        list.join(", ")
    ));
    if sets.len() > 1 {
        query.push(format!(" and ka.set_id = {}", by_month(allocation, |month| month.set_id)));
    }
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
        owner => query.push(owner_value(owner, false)),
    };
}

/// The value of a dimension that follows from the allocation, from `a`, what the row is attributed to; and where shared
/// costs are divided, from `s`, who gets this part of them.
fn owner_value(dimension: &Grouping, divided: bool) -> &'static str {
    match (dimension, divided) {
        (Grouping::Team, false) => "nullif(a.team, '')",
        (Grouping::Team, true) => "nullif(case when a.pool = '' then a.team else s.team end, '')",
        (Grouping::CostCentre, false) => "nullif(a.cost_centre, '')",
        (Grouping::CostCentre, true) => {
            "nullif(case when a.pool = '' then a.cost_centre else s.cost_centre end, '')"
        }
        (Grouping::Project, _) => "nullif(a.project, '')",
        (Grouping::Experiment, _) => "nullif(a.experiment, '')",
        (Grouping::Environment, _) => "nullif(a.environment, '')",
        (Grouping::ModelSize, _) => "nullif(a.model_size, '')",
        (Grouping::Workload, _) => "nullif(a.workload, '')",
        (Grouping::Pool, _) => "nullif(a.pool, '')",
        (Grouping::PoolPart, _) => "nullif(a.pool_part, '')",
        (Grouping::Rule, _) => "nullif(a.rule_id, 0)::text",
        // What is no owner is a value of the charge.
        _ => "null",
    }
}

/// Usage days, and two named groups so that the days sum to the billing month.
fn push_day(query: &mut QueryBuilder<Postgres>, source: Source) -> &mut QueryBuilder<Postgres> {
    let (day, is_whole_period) = match source {
        Source::Charges => (
            "(c.charge_period_start at time zone 'UTC')::date",
            "c.charge_period_end - c.charge_period_start > interval '1 day'",
        ),
        Source::Attributed | Source::Days | Source::Months => ("c.day", "c.is_whole_period"),
    };
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
    source: Source,
    allocation: &Allocation,
) {
    for filter in filters {
        push_filter(query, filter, |query| push_value(query, &filter.dimension, source));
    }
    push_viewer(query, viewer, allocation, owner_value(&Grouping::Team, false));
}

fn push_filter(
    query: &mut QueryBuilder<Postgres>,
    filter: &Filter,
    push_value: impl Fn(&mut QueryBuilder<Postgres>),
) {
    let values: Vec<String> = filter.values.iter().filter(|value| !value.is_empty()).cloned().collect();
    let names_missing = values.len() < filter.values.len();
    // What has no value compares as neither true nor false, and is left out by its name only.
    query.push(if filter.leaves_out { " and not coalesce(" } else { " and (" });
    push_value(query);
    query.push(" = any(");
    query.push_bind(values);
    query.push(")");
    if names_missing {
        query.push(" or ");
        push_value(query);
        query.push(" is null");
    }
    query.push(if filter.leaves_out { ", false)" } else { ")" });
}

fn push_viewer(query: &mut QueryBuilder<Postgres>, viewer: &Viewer, allocation: &Allocation, team: &str) {
    let Viewer::Teams(teams) = viewer else { return };
    if !allocation.is_needed() {
        query.push(
            " and exists (select from jsonb_each_text(k.tags) tag \
             where lower(tag.key) = 'team' and lower(btrim(regexp_replace(tag.value, '\\s+', ' ', 'g'))) = any(",
        );
        query.push_bind(teams.clone());
        query.push("))");
        return;
    }
    query.push(format!(" and (c.billing_month, {team}) in (select * from unnest("));
    query.push_bind(allocation.teams.iter().map(|(month, _)| month.first_day()).collect::<Vec<_>>());
    query.push("::date[], ");
    query.push_bind(allocation.teams.iter().map(|(_, team)| team.clone()).collect::<Vec<_>>());
    query.push("::text[]))");
}

/// The rows of a question, summed by what it groups by, month and currency, as `c`; with whom they are attributed to,
/// where that is asked, and shared costs divided. Amounts are added before they are multiplied: there are few
/// sums, and many rows.
pub struct Rows<'a> {
    pub question: &'a Question,
    pub basis: &'a Basis,
    pub source: Source,
    /// Without one, amounts of every currency, as they are.
    pub denomination: Option<&'a Denomination>,
    pub first: BillingMonth,
    pub last: BillingMonth,
}

/// Something that rows are summed by: its name as a column of `c`, and where it comes from.
pub enum Column<'a> {
    Value(&'static str, &'a Grouping),
    Sql(&'static str, &'static str),
}

/// What rows are summed to: each costs time for every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Cost,
    PartSeconds,
    AcceleratorCost,
    Quantity,
    Charges,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::PartSeconds => "part_seconds",
            Self::AcceleratorCost => "accelerator_cost",
            Self::Quantity => "quantity",
            Self::Charges => "charges",
        }
    }
}

impl Rows<'_> {
    fn allocation(&self) -> &Allocation {
        &self.basis.allocation
    }

    /// Whether shared costs are divided among teams in these rows.
    fn divides(&self) -> bool {
        let asks = self.question.dimensions().any(Grouping::divides);
        self.allocation().is_needed() && (asks || self.question.viewer != Viewer::Everything)
    }

    /// Whether rows of pools are kept from the viewer: then their values are not shown, only what they sum to.
    fn hides_pools(&self) -> bool {
        self.allocation().is_needed() && self.question.viewer != Viewer::Everything
    }

    /// One of the sums of `c`, as the part that counts: `cost`, `part_seconds`, `accelerator_cost`, `quantity`.
    pub fn sum(&self, name: &str) -> String {
        match (self.divides(), name) {
            // Quantities of many units that only their cost is told of.
            (_, "quantity") if self.hides_pools() => {
                "case when a.pool = '' then c.quantity else 0 end".to_owned()
            }
            (true, _) => format!("c.{name} * coalesce(s.share, 1)"),
            (false, _) => format!("c.{name}"),
        }
    }

    /// The same of an amount, in the currency of the answer.
    pub fn amount(&self, name: &str) -> String {
        match self.denomination {
            Some(denomination) => denomination.converted(&self.sum(name)),
            None => self.sum(name),
        }
    }

    /// The value of a dimension that the rows were summed by under this name.
    pub fn value(&self, name: &str, dimension: &Grouping) -> String {
        if *dimension == Grouping::Rule && self.hides_pools() {
            // What of a pool a rule has sent there may be another team's row.
            format!(
                "case when a.pool <> '' then '{SHARED}' || a.pool else {} end",
                owner_value(dimension, false)
            )
        } else if dimension.is_allocated() {
            owner_value(dimension, self.divides()).to_owned()
        } else if self.hides_pools() && !dimension.is_time() {
            format!("case when a.pool <> '' then '{SHARED}' || a.pool else c.{name} end")
        } else {
            format!("c.{name}")
        }
    }

    /// A text of a charge that the rows were summed by under this name, where the viewer may see it.
    pub fn visible(&self, name: &str) -> String {
        match (self.hides_pools(), name) {
            (false, _) => format!("c.{name}"),
            // Of shared costs only which they are.
            (true, "item") => format!("case when a.pool <> '' then 'Shared: ' || a.pool else c.{name} end"),
            (true, "accelerator") => format!("case when a.pool = '' then c.{name} end"),
            (true, _) => format!("case when a.pool <> '' then '' else c.{name} end"),
        }
    }

    /// A sum over the rows, under its name.
    fn summed(&self, measure: Measure, cost: CostBasis) -> String {
        let (cost, name) = (cost.column(), measure.name());
        let is_of_charges = self.source == Source::Charges;
        let sql = match measure {
            Measure::Cost => format!("sum({cost})"),
            Measure::PartSeconds => format!("coalesce(sum({}), 0)", self.source.part_seconds()),
            Measure::AcceleratorCost => {
                let is_accelerated = match self.source {
                    Source::Attributed => "c.is_accelerated",
                    _ => "k.accelerator is not null and k.category = 'Usage'",
                };
                format!("coalesce(sum({cost}) filter (where {is_accelerated}), 0)")
            }
            Measure::Quantity if is_of_charges => {
                "coalesce(sum(case when c.is_metered then c.consumed_quantity end), 0)".to_owned()
            }
            Measure::Quantity => "coalesce(sum(c.metered_quantity), 0)".to_owned(),
            Measure::Charges if is_of_charges => "count(*)".to_owned(),
            Measure::Charges => "sum(c.charges)".to_owned(),
        };
        format!("{sql} as {name}")
    }

    /// `from … where …`.
    pub fn push<'c>(
        &self,
        query: &mut QueryBuilder<Postgres>,
        measures: &[Measure],
        columns: impl IntoIterator<Item = &'c Column<'c>>,
    ) {
        let Question { filters, viewer, cost, .. } = self.question;
        let is_needed = self.allocation().is_needed();
        query.push(format!(" from (select c.billing_month, {}", self.source.currency()));
        let mut grouped = 2;
        if is_needed {
            query.push(format!(", {}", self.source.attribution_id()));
            grouped += 1;
        }
        for column in columns {
            match column {
                Column::Value(_, dimension) if dimension.is_allocated() => continue,
                Column::Value(name, dimension) => {
                    query.push(", ");
                    push_value(query, dimension, self.source);
                    query.push(format!(" as {name}"));
                }
                Column::Sql(name, sql) => {
                    query.push(format!(", {sql} as {name}"));
                }
            }
            grouped += 1;
        }
        for measure in measures {
            query.push(format!(", {}", self.summed(*measure, *cost)));
        }
        if self.source == Source::Attributed {
            self.push_attributed(query);
        } else {
            push_keyed(query, self.source, self.allocation());
            push_where(query, self.first, self.last, &self.basis.visible);
        }
        if let Some(denomination) = self.denomination {
            denomination.push_where(query, self.source.currency());
        }
        for filter in filters.iter().filter(|filter| !filter.dimension.is_allocated()) {
            push_filter(query, filter, |query| push_value(query, &filter.dimension, self.source));
        }
        if !is_needed {
            push_viewer(query, viewer, self.allocation(), "");
        }
        let places: Vec<String> = (1..=grouped).map(|place| place.to_string()).collect();
        query.push(format!(" group by {}", places.join(", ")));
        if self.source == Source::Attributed {
            // Where a key was that has moved.
            query.push(" having sum(c.charges) <> 0");
        }
        query.push(") c");
        if is_needed {
            query.push(" join attributions a on a.attribution_id = c.attribution_id");
        }
        if self.divides() {
            query.push(format!(
                " left join pool_shares s on a.pool <> '' and s.division_id = {} and s.pool = a.pool \
                 and s.pool_part = a.pool_part",
                by_month(self.allocation(), |month| month.division_id)
            ));
        }
        if let Some(denomination) = self.denomination {
            denomination.push_join(query);
        }
        query.push(" where true");
        if is_needed {
            for filter in filters.iter().filter(|filter| filter.dimension.is_allocated()) {
                let value = owner_value(&filter.dimension, self.divides());
                push_filter(query, filter, |query| {
                    query.push(value);
                });
            }
            // Which charges a pool holds is not told by asking for each of them in turn either.
            let asks_of_charges = |filter: &Filter| {
                let dimension = &filter.dimension;
                *dimension == Grouping::Rule || !dimension.is_allocated() && !dimension.is_time()
            };
            if self.hides_pools() && filters.iter().any(asks_of_charges) {
                query.push(" and a.pool = ''");
            }
            push_viewer(query, viewer, self.allocation(), owner_value(&Grouping::Team, self.divides()));
        }
    }

    /// `from … where …` of what the months were summed to, which is of what counts in each of them.
    fn push_attributed(&self, query: &mut QueryBuilder<Postgres>) {
        let asked = |month: &&MonthAllocation| self.first <= month.month && month.month <= self.last;
        let months = self.allocation().months.iter().filter(asked);
        let ids: Vec<String> = months.map(|month| format!("'{}'", month.attributed_id)).collect();
        query.push(format!(
            " from attributed_parts p join {} c on c.part_id = p.part_id \
             where p.attributed_id = any(array[{}]::uuid[])",
            self.source.table(),
            ids.join(", ")
        ));
    }
}
