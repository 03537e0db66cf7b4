//! What the charges of accelerators of machines are, by day.

use std::sync::Arc;

use chrono::NaiveDate;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};

use crate::cache::SizeInCache;
use crate::money::Decimal;
use crate::period::BillingMonth;
use crate::report::cache::Ask;
use crate::report::denominate::denominate;
use crate::report::job_costs::of_usage;
use crate::report::snapshot::{AsOf, Snapshot};
use crate::report::sql::{Column, Measure, Rows, Source};
use crate::report::{Filter, Grouping};
use crate::telemetry::share::Paid;

/// Charges of a machine on a day or from it, and what accelerators they pay for.
#[derive(Clone, Debug)]
pub(super) struct MachineRow {
    pub resource: String,
    pub paid: Paid,
}

/// The rows of some machines.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineRows(pub Vec<MachineRow>);

impl SizeInCache for MachineRows {
    fn size_in_cache(&self) -> usize {
        let of = |it: &MachineRow| size_of_val(it) + it.resource.len() + 8 * it.paid.by_hour.len();
        self.0.iter().map(of).sum()
    }
}

/// What the charges of accelerators of some machines are, by day.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FindMachineRows {
    pub resources: Vec<String>,
}

impl Ask for FindMachineRows {
    type Answer = MachineRows;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<MachineRows> {
        let AsOf { question, snapshot, .. } = asked;
        let Some(denomination) = denominate(&mut *db, asked).await?.denomination else {
            return Ok(MachineRows::default());
        };
        // What divides machines by use takes away what it adds, hour by hour, and has a hundred times their rows.
        let of_usage = of_usage(&mut *db, snapshot).await?;
        let snapshot =
            &Snapshot { visible: Arc::new(snapshot.visible.without(&of_usage)), ..snapshot.clone() };
        let of_these =
            Filter { dimension: Grouping::Resource, values: self.resources.clone(), leaves_out: false };
        let question = question.filtered(of_these);
        let rows = Rows::of_period(&question, snapshot, Source::Days, Some(&denomination));
        let columns = [
            Column::Sql("day", "c.day"),
            Column::Sql("is_whole_period", "c.is_whole_period"),
            Column::Sql("resource", "k.resource_id"),
            Column::Sql(
                "weight",
                "case when k.category = 'Usage' and not k.is_unused_commitment \
                 then coalesce(k.unit_seconds * k.accelerator_parts, 0) else 0 end",
            ),
        ];
        let mut query = QueryBuilder::<Postgres>::new(
            "select c.billing_month, c.day, c.is_whole_period, c.resource, c.weight, c.hours, c.quantity, ",
        );
        query.push(rows.amount("cost"));
        query.push(" as cost");
        rows.push(&mut query, &[Measure::Cost, Measure::Hours, Measure::Quantity], &columns);
        let found = query.build().fetch_all(db).await?;
        let mut machines = Vec::with_capacity(found.len());
        for row in &found {
            let month = BillingMonth::of(row.try_get("billing_month")?);
            let (day, is_whole_period): (NaiveDate, bool) =
                (row.try_get("day")?, row.try_get("is_whole_period")?);
            let paid = Paid::new(
                question.period.hours_of_row(month, day, is_whole_period),
                &row.try_get::<Vec<Decimal>, _>("hours")?,
                row.try_get("quantity")?,
                row.try_get("weight")?,
                row.try_get("cost")?,
            );
            machines.push(MachineRow { resource: row.try_get("resource")?, paid });
        }
        Ok(MachineRows(machines))
    }
}
