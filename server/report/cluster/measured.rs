//! What the accelerators of a cluster were used for, by what schedulers and meters say, beside the shares that were entered.

use serde::Serialize;
use sqlx::PgConnection;

use super::EnteredHours;
use crate::accounts::Viewer;
use crate::money::{Currency, Decimal};
use crate::onprem::PROVIDER;
use crate::report::{Answers, Error, Grouping, HourChain, HourLines, Question};

/// Decimals of a share.
const PLACES: u8 = 6;

/// Hours and prices of the same months as of the chain beside it, as far as their bills are published: those of its page of GPU-hours.
#[derive(Debug, Serialize)]
pub struct MeasuredHours {
    /// Those that were paid are the hours of which it is known who held them.
    #[serde(flatten)]
    pub hours: HourLines,
    /// Of the hours that are known, the ones that a job held.
    pub occupancy: Option<Decimal>,
    /// Of the hours that are measured, the ones at work.
    pub utilization: Option<Decimal>,
    /// What an hour of them costs …
    pub per_hour: Option<Decimal>,
    /// … what those cost of which it is known who held them, by what was held …
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
        currency: &Currency,
    ) -> Result<Option<MeasuredHours>, Error> {
        if !is_divided(&mut *db, cluster).await? {
            return Ok(None);
        }
        let question = Question::of(chain.period, Viewer::Everything)
            .only(Grouping::Provider, vec![PROVIDER.to_owned()])
            .only(Grouping::Account, vec![cluster.to_owned()]);
        let question = Question { convert_into: Some(currency.clone()), ..question };
        let hours = self.measured_chain(db, &question).await?;
        Ok((!hours.lines.paid.is_zero()).then(|| MeasuredHours::of(hours)))
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

    fn of(chain: HourChain) -> Self {
        let hours = chain.lines;
        Self {
            occupancy: hours.held.divide(hours.paid, PLACES),
            utilization: hours.used.divide(hours.used + hours.idle, PLACES),
            per_hour: chain.cost_per_hour,
            per_held: chain.cost_per_held_hour,
            per_productive: chain.cost_per_productive_hour,
            hours,
        }
    }
}
