//! The sums of a question, with shared costs divided.

use sqlx::{Postgres, QueryBuilder};

use super::owners::{divided_value, owner_column, owner_value, push_attributed, push_tagged, push_teams};
use super::{Source, by_month, push_filter, push_from, push_value, push_where};
use crate::accounts::Viewer;
use crate::period::BillingMonth;
use crate::report::compared::SameDays;
use crate::report::denomination::Denomination;
use crate::report::question::SHARED;
use crate::report::snapshot::{Allocation, Snapshot};
use crate::report::{CostMetric, Filter, Grouping, Question};

/// The rows of a question, summed by what it groups by, month and currency, as `c`; with what of their owners is asked,
/// and shared costs divided. Amounts are added before they are multiplied: there are few sums, and many rows.
pub struct Rows<'a> {
    pub question: &'a Question,
    pub snapshot: &'a Snapshot,
    pub source: Source,
    /// Without one, amounts of every currency, as they are.
    pub denomination: Option<&'a Denomination>,
    pub first: BillingMonth,
    pub last: BillingMonth,
}

/// Something that rows are summed by: its name as a column of `c`, and where it comes from. What follows from the
/// allocation is a column of its own name.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    Value(&'static str, &'a Grouping),
    Sql(&'static str, &'static str),
}

/// What rows are summed to: each costs time for every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Cost,
    /// Accelerator time that was paid for.
    PartSeconds,
    /// What was paid for it.
    AcceleratorCost,
    /// Accelerator time of machines that are owned.
    OwnedSeconds,
    /// What all that is owned cost.
    OwnedCost,
    /// What commitments cost that nothing used.
    UnusedCost,
    Quantity,
    /// The same by the hour of the day. Of rows of days only.
    Hours,
    Charges,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::PartSeconds => "part_seconds",
            Self::AcceleratorCost => "accelerator_cost",
            Self::OwnedSeconds => "owned_seconds",
            Self::OwnedCost => "owned_cost",
            Self::UnusedCost => "unused_cost",
            Self::Quantity => "quantity",
            Self::Hours => "hours",
            Self::Charges => "charges",
        }
    }
}

impl<'a> Rows<'a> {
    /// Those of a question's own period.
    pub fn of_period(
        question: &'a Question,
        snapshot: &'a Snapshot,
        source: Source,
        denomination: Option<&'a Denomination>,
    ) -> Self {
        let (first, last) = (question.period.first(), question.period.last());
        Self { question, snapshot, source, denomination, first, last }
    }

    fn allocation(&self) -> &Allocation {
        &self.snapshot.allocation
    }

    /// Whether shared costs are divided among teams in these rows.
    fn divides(&self) -> bool {
        self.allocation().divides(self.question)
    }

    /// Whether rows of pools are kept from the viewer: then their values are not shown, only what they sum to.
    fn hides_pools(&self) -> bool {
        self.allocation().is_needed() && self.question.viewer != Viewer::Everything
    }

    /// One of the sums of `c`, as the part that counts, by the name of its [`Measure`].
    pub fn sum(&self, name: &str) -> String {
        match (self.divides(), name) {
            // Quantities of many units of which only the cost is stated.
            (_, "quantity") if self.hides_pools() => {
                "case when c.pool = '' then c.quantity else 0 end".to_owned()
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
                "case when c.pool <> '' then '{SHARED}' || c.pool else {} end",
                owner_value(dimension, "c")
            )
        } else if dimension.is_allocated() && self.divides() {
            divided_value(dimension)
        } else if dimension.is_allocated() {
            owner_value(dimension, "c")
        } else if self.hides_pools() && !dimension.is_time() {
            format!("case when c.pool <> '' then '{SHARED}' || c.pool else c.{name} end")
        } else {
            format!("c.{name}")
        }
    }

    /// A text of a charge that the rows were summed by under this name, where the viewer may see it.
    pub fn visible(&self, name: &str) -> String {
        match (self.hides_pools(), name) {
            (false, _) => format!("c.{name}"),
            // Of shared costs only which they are.
            (true, "item") => format!("case when c.pool <> '' then '{SHARED}' || c.pool else c.{name} end"),
            (true, "accelerator") => format!("case when c.pool = '' then c.{name} end"),
            (true, _) => format!("case when c.pool <> '' then '' else c.{name} end"),
        }
    }

    /// A sum over the rows, under its name; of rows that a running period is compared with, as far as they count.
    fn summed(&self, measure: Measure, same_days: Option<&SameDays>) -> String {
        let (cost, name) = (self.question.cost.column(), measure.name());
        // Billed, a commitment is a fee of the whole month: only its effective cost is what nobody used of it.
        let part = same_days.filter(|_| self.question.cost == CostMetric::Effective);
        let part = part.and_then(|same_days| same_days.part_of_unused(self.source));
        let times_part = part.map_or_else(String::new, |part| format!(" * {part}"));
        let is_of_charges = self.source == Source::Charges;
        let (is_owned, is_accelerated) = (self.source.is_owned(), self.source.is_accelerated());
        let sum_of =
            |amount: &str, condition: &str| format!("coalesce(sum({amount}) filter (where {condition}), 0)");
        let sql = match measure {
            Measure::Cost => format!("sum({cost}{times_part})"),
            // A row's time is paid for or owned: each is added up once.
            Measure::PartSeconds => sum_of(self.source.part_seconds(), &format!("not ({is_owned})")),
            Measure::OwnedSeconds => sum_of(self.source.part_seconds(), is_owned),
            Measure::AcceleratorCost => sum_of(cost, &format!("{is_accelerated} and not ({is_owned})")),
            Measure::OwnedCost => sum_of(cost, is_owned),
            Measure::UnusedCost => sum_of(cost, self.source.is_unused()),
            Measure::Quantity if is_of_charges => {
                format!("coalesce(sum(case when c.is_metered then c.consumed_quantity{times_part} end), 0)")
            }
            Measure::Quantity => format!("coalesce(sum(c.metered_quantity{times_part}), 0)"),
            Measure::Hours => {
                let hour = |hour| format!("coalesce(sum(c.hourly_quantity[{hour}]), 0)");
                format!("array[{}]", (1..=24).map(hour).collect::<Vec<_>>().join(", "))
            }
            Measure::Charges if is_of_charges => "count(*)".to_owned(),
            Measure::Charges => "sum(c.charges)".to_owned(),
        };
        // What was taken away leaves its digits after the point: the same is shown with the same ones.
        if self.source.is_of_owners() {
            format!("trim_scale({sql}) as {name}")
        } else {
            format!("{sql} as {name}")
        }
    }

    /// `from … where …`.
    pub fn push<'c>(
        &self,
        query: &mut QueryBuilder<Postgres>,
        measures: &[Measure],
        columns: impl IntoIterator<Item = &'c Column<'c>>,
    ) {
        self.push_up_to(query, None, measures, columns);
    }

    /// The same of the days that a period is compared with, where it is not all of them.
    pub fn push_up_to<'c>(
        &self,
        query: &mut QueryBuilder<Postgres>,
        same_days: Option<&SameDays>,
        measures: &[Measure],
        columns: impl IntoIterator<Item = &'c Column<'c>>,
    ) {
        query.push(format!(" from (select c.billing_month, {}", self.source.currency()));
        let mut owners = self.owners();
        let mut grouped = 2;
        for column in columns {
            match column {
                Column::Value(_, dimension) if dimension.is_allocated() => {
                    owners.extend(owner_column(dimension));
                    continue;
                }
                Column::Value(name, dimension) => {
                    query.push(", ");
                    push_value(query, dimension, self.source, self.question.cost);
                    query.push(format!(" as {name}"));
                }
                Column::Sql(name, sql) => {
                    query.push(format!(", {sql} as {name}"));
                }
            }
            grouped += 1;
        }
        owners.sort_unstable();
        owners.dedup();
        for column in &owners {
            query.push(format!(", a.{column}"));
        }
        grouped += owners.len();
        for measure in measures {
            query.push(format!(", {}", self.summed(*measure, same_days)));
        }
        push_from(query, self.source, self.allocation());
        let months = (self.first, self.last);
        push_where(query, self.source, months, &self.snapshot.visible, self.allocation());
        if let Some(same_days) = same_days {
            same_days.push_where(query, self.source);
        }
        if let Some(denomination) = self.denomination {
            denomination.push_where(query, self.source.currency());
        }
        self.push_inside(query);
        let places: Vec<String> = (1..=grouped).map(|place| place.to_string()).collect();
        query.push(format!(" group by {}", places.join(", ")));
        if self.source.is_of_owners() {
            // Where a key was that has moved.
            query.push(" having sum(c.charges) <> 0");
        }
        query.push(") c");
        if self.divides() {
            query.push(format!(
                " left join pool_shares s on c.pool <> '' and s.division_id = {} and s.pool = c.pool \
                 and s.pool_part = c.pool_part",
                by_month(self.allocation(), |month| month.division_id)
            ));
        }
        if let Some(denomination) = self.denomination {
            denomination.push_join(query);
        }
        query.push(" where true");
        if !self.divides() {
            return;
        }
        for filter in self.question.filters.iter().filter(|filter| filter.dimension.divides()) {
            query.push(" and ");
            push_filter(query, filter, |query| {
                query.push(divided_value(&filter.dimension));
            });
        }
        if self.question.viewer != Viewer::Everything {
            query.push(" and ");
            push_teams(query, self.allocation(), &divided_value(&Grouping::Team));
        }
    }

    /// What of their owners rows are summed by, whatever is asked: what says who gets a part, and who may see it.
    fn owners(&self) -> Vec<&'static str> {
        if !self.divides() {
            return Vec::new();
        }
        let filters = self.question.filters.iter().map(|filter| &filter.dimension);
        let mut owners = vec!["pool", "pool_part"];
        owners.extend(filters.filter(|dimension| dimension.divides()).filter_map(owner_column));
        if self.question.viewer != Viewer::Everything {
            owners.push("team");
        }
        owners
    }

    /// `and …`: what is known of rows before they are summed and divided.
    fn push_inside(&self, query: &mut QueryBuilder<Postgres>) {
        let Question { filters, viewer, .. } = self.question;
        for filter in filters {
            query.push(" and ");
            if !filter.dimension.is_allocated() {
                let cost = self.question.cost;
                push_filter(query, filter, |query| push_value(query, &filter.dimension, self.source, cost));
            } else if !filter.dimension.divides() {
                push_attributed(query, filter);
            } else {
                // Of what is shared it is shown once it is divided.
                query.push("(a.pool <> '' or ");
                push_attributed(query, filter);
                query.push(")");
            }
        }
        let Viewer::Teams(teams) = viewer else { return };
        if !self.allocation().is_needed() {
            push_tagged(query, teams);
            return;
        }
        query.push(" and (a.pool <> '' or ");
        push_teams(query, self.allocation(), "a.team");
        query.push(")");
        // Which charges a pool holds is not found by asking for each of them in turn either.
        let asks_of_charges = |filter: &Filter| {
            let dimension = &filter.dimension;
            *dimension == Grouping::Rule || !dimension.is_allocated() && !dimension.is_time()
        };
        if filters.iter().any(asks_of_charges) {
            query.push(" and a.pool = ''");
        }
    }
}
