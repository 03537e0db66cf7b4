//! How many accelerators of a cluster were held, week by week.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::{NaiveDate, TimeDelta};
use sqlx::PgConnection;

use crate::cache::SizeInCache;
use crate::ledger;
use crate::money::Decimal;
use crate::onprem::{MeasuredDemand, PROVIDER};
use crate::report::cache::Remembered;
use crate::report::{Answers, Error};
use crate::telemetry::by_week::{HeldWeek, by_week, monthly_growth};
use crate::telemetry::read;

/// Weeks that are shown, and that a trend is read from.
const WEEKS: i64 = 26;

/// Weeks of which the mean is what is planned for.
const RECENT: usize = 4;

/// What decides them.
#[derive(PartialEq, Eq, Hash)]
struct WeeksKey {
    days: Range<NaiveDate>,
    /// Imports of usage, each with the version that last changed what it says.
    imports: Vec<(i64, i64)>,
    nodes: Vec<i64>,
    /// Those whose source says who holds them.
    named: Vec<i64>,
}

impl Remembered for WeeksKey {
    type Answer = Vec<HeldWeek>;
}

impl SizeInCache for HeldWeek {}

impl Answers {
    /// The last whole weeks of which something is known.
    pub(super) async fn held_weeks(
        &self,
        db: &mut PgConnection,
        cluster: &str,
        today: NaiveDate,
    ) -> Result<Arc<Vec<HeldWeek>>, Error> {
        let sequence = ledger::sequence(&mut *db).await?;
        let machines = machines(&mut *db, cluster).await?;
        let nodes = read::nodes(&mut *db, sequence).await?;
        let is_of_cluster = |resource: &String| machines.binary_search(resource).is_ok();
        let of_cluster: Vec<i64> = nodes
            .iter()
            .filter(|node| node.resource.as_ref().is_some_and(is_of_cluster))
            .map(|node| node.node_id)
            .collect();
        if of_cluster.is_empty() {
            return Ok(Arc::default());
        }
        let days = today - TimeDelta::weeks(WEEKS)..today;
        let imports = read::imports_of(&mut *db, &days, sequence).await?;
        let named = nodes.iter().filter(|node| node.names_holders).map(|node| node.node_id).collect();
        let key = WeeksKey { days: days.clone(), imports, nodes: of_cluster.clone(), named };
        let find = async {
            let held: BTreeMap<_, _> =
                read::held_by_hour(&mut *db, sequence, &days, &nodes, &of_cluster).await?;
            Ok::<_, Error>(by_week(&held))
        };
        self.remember(key, find).await
    }
}

/// The units of a cluster as its bills name them, in order.
pub(super) async fn machines(db: &mut PgConnection, cluster: &str) -> sqlx::Result<Vec<String>> {
    let mut machines = sqlx::query_scalar!(
        r#"select distinct resource_id as "resource_id!"
           from charge_keys
           where provider = $1 and billing_account = $2 and accelerator is not null and resource_id <> ''"#,
        PROVIDER,
        cluster,
    )
    .fetch_all(db)
    .await?;
    machines.sort_unstable();
    Ok(machines)
}

/// What capacity is planned for, where it is measured: the mean of the last weeks, and how it grew.
pub(super) fn demand(weeks: &[HeldWeek]) -> Option<MeasuredDemand> {
    let last = &weeks[weeks.len().saturating_sub(RECENT)..];
    let mean: Decimal = last.iter().map(|week| week.mean).sum();
    Some(MeasuredDemand {
        held: mean.divide(Decimal::from(i64::try_from(last.len()).ok()?), 2)?,
        held_weeks: u32::try_from(last.len()).ok()?,
        monthly_growth: monthly_growth(weeks),
        growth_weeks: u32::try_from(weeks.len()).ok()?,
    })
}
