//! What the accelerators of a cluster were used for, by what schedulers and meters say, beside the shares that were entered.

use serde::Serialize;
use sqlx::PgConnection;

use super::EnteredHours;
use crate::accounts::Viewer;
use crate::money::Decimal;
use crate::onprem::PROVIDER;
use crate::report::{Answers, Error, Grouping, HourLines, Question};

/// Decimals of a price and of a share.
const PLACES: u8 = 6;

/// Hours of the same months as of the chain beside it.
#[derive(Debug, Serialize)]
pub struct MeasuredHours {
    /// Those that were paid are the hours of which it is known who held them.
    #[serde(flatten)]
    pub hours: HourLines,
    /// Of the hours that are known, the ones that a job held.
    pub occupancy: Option<Decimal>,
    /// Of the hours that are measured, the ones at work.
    pub utilization: Option<Decimal>,
    /// What the months cost, as far as it is known who held them, by what was held …
    pub per_held: Option<Decimal>,
    /// … and by what was at work. Where some hours were not measured, it is at most that: none of them counts as productive.
    pub per_productive: Option<Decimal>,
}

impl Answers {
    /// `None` where no usage of the cluster is known in these months.
    pub(super) async fn measured_hours(
        &self,
        db: &mut PgConnection,
        cluster: &str,
        chain: &EnteredHours,
    ) -> Result<Option<MeasuredHours>, Error> {
        if !is_divided(&mut *db, cluster).await? {
            return Ok(None);
        }
        let question = Question::of(chain.period, Viewer::Everything)
            .only(Grouping::Provider, vec![PROVIDER.to_owned()])
            .only(Grouping::Account, vec![cluster.to_owned()]);
        let (hours, _) = self.lines_by_use(db, &question).await?;
        Ok((!hours.paid.is_zero()).then(|| MeasuredHours::of(hours, chain)))
    }
}

/// Whether machines of a cluster are divided in some month: else its hours are not worth reading by use.
async fn is_divided(db: &mut PgConnection, cluster: &str) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select
               from scopes bill
               join scopes s on s.adjusts = bill.scope_id and s.is_usage
               join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
               where bill.provider = $1 and bill.billing_account = $2
           ) as "is_divided!""#,
        PROVIDER,
        cluster,
    )
    .fetch_one(db)
    .await
}

impl MeasuredHours {
    /// A part of the hours of which it is known who held them.
    pub fn of_known(&self, hours: &Decimal) -> Option<Decimal> {
        hours.divide(self.hours.paid, PLACES)
    }

    pub fn productive(&self) -> Option<Decimal> {
        self.of_known(&self.hours.used)
    }

    fn of(hours: HourLines, chain: &EnteredHours) -> Self {
        // As many digits as a price has beyond those that are shown.
        let per_owned = chain.effective.divide(chain.owned, 2 * PLACES);
        let known = per_owned.map(|price| price.multiply(hours.paid));
        Self {
            occupancy: hours.held.divide(hours.paid, PLACES),
            utilization: hours.used.divide(hours.used + hours.idle, PLACES),
            per_held: known.and_then(|cost| cost.divide(hours.held, PLACES)),
            per_productive: known.and_then(|cost| cost.divide(hours.used, PLACES)),
            hours,
        }
    }
}
