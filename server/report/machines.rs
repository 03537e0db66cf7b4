//! The machines that charges are for: how many of which kind.

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::cache::Ask;
use super::denominate::denominate;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, keys_source_of};
use crate::accelerator::accelerator_hours;
use crate::cache::SizeInCache;
use crate::money::Decimal;

/// Decimals of accelerator-hours.
const PLACES: u8 = 6;

/// A kind of machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    pub provider: String,
    pub instance_type: String,
    pub accelerator: Option<String>,
    /// Distinguished by their ids; 0 where bills name none, or only those of machines with accelerators.
    pub count: i64,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub cost: Decimal,
}

/// The kinds of machines of a question's period, the most expensive first. What ran on none is left out.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FindMachines;

impl Ask for FindMachines {
    type Answer = Vec<Machine>;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Vec<Machine>> {
        let AsOf { question, snapshot, .. } = asked;
        let Some(denomination) = denominate(db, asked).await?.denomination else {
            return Ok(Vec::new());
        };
        let source = keys_source_of(db, question.dimensions(), snapshot).await?;
        let rows = Rows::of_period(question, snapshot, source, Some(&denomination));
        // Of shared costs a lead is not shown what they are made of.
        let mut query = QueryBuilder::<Postgres>::new("select ");
        for name in ["provider", "instance_type", "accelerator"] {
            query.push(format!("{} as {name}, ", rows.visible(name)));
        }
        query.push(format!(
        "count(distinct nullif(c.resource, '')) as machines, sum({}) as cost, coalesce(sum({}), 0) as part_seconds, \
         coalesce(sum({}), 0) as owned_seconds",
        rows.amount("cost"),
        rows.sum("part_seconds"),
        rows.sum("owned_seconds"),
    ));
        let columns = [
            Column::Sql("provider", "k.provider"),
            Column::Sql("instance_type", "k.instance_type"),
            Column::Sql("accelerator", "k.accelerator"),
            Column::Sql("resource", "k.resource_id"),
        ];
        rows.push(&mut query, &[Measure::Cost, Measure::PartSeconds, Measure::OwnedSeconds], &columns);
        query.push(
        " and (c.instance_type <> '' or c.accelerator is not null) group by 1, 2, 3 order by cost desc, 1, 2",
    );
        let rows = query.build().fetch_all(db).await?;
        rows.iter()
            .map(|row| {
                let hours = |seconds: Decimal| accelerator_hours(seconds, PLACES).normalize();
                Ok(Machine {
                    provider: row.try_get("provider")?,
                    instance_type: row.try_get("instance_type")?,
                    accelerator: row.try_get("accelerator")?,
                    count: row.try_get("machines")?,
                    accelerator_hours: hours(row.try_get("part_seconds")?),
                    owned_hours: hours(row.try_get("owned_seconds")?),
                    cost: row.try_get("cost")?,
                })
            })
            .collect()
    }
}

impl SizeInCache for Machine {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + 60
    }
}
