//! Everything there is to say of a cluster: what its months are charged, what owning it costs, and what it is against.
//!
//! Months are the book view; the economic view is for comparisons, and the two are never added.

mod cloud;
mod measured;
mod months;
mod slices;
mod weeks;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

pub use cloud::{Cloud, PaidElsewhere};
pub use measured::MeasuredHours;
pub use months::{EnteredHours, InCurrency, MonthOfCluster};
pub use slices::{HeldProfile, SlicesOfCluster};

use super::{Answers, Error};
use crate::economics::Finding;
use crate::exchange::{self, Missing, Rates};
use crate::ledger;
use crate::money::{Currency, Decimal};
use crate::onprem::{
    AssetRegister, AssetSchedule, Capacity, Cluster, ClusterMonth, Economics, EnergyOfMonth, RackPlan,
    UnpricedEnergy, YearEnd, capacity, currencies, economics, racks, schedules, year_ends,
};
use crate::period::BillingMonth;
use crate::telemetry::by_week::HeldWeek;

/// Months of the charts and tables, and of what is said of all of them together.
const MONTHS: usize = 13;

/// A cluster as it stands.
#[derive(Serialize)]
pub struct ClusterReport {
    pub cluster: Cluster,
    pub revision: i64,
    /// What most of it is paid in; none where nothing is.
    pub currency: Option<Currency>,
    pub other_currencies: Vec<Currency>,
    /// Every month that there was.
    pub months: Vec<MonthOfCluster>,
    /// Of the last months, what no rate converts, and no price per hour has in it.
    pub without_rate: Vec<Missing>,
    pub hours: Option<EnteredHours>,
    /// What schedulers and meters say of the same months, as far as they do.
    pub measured: Option<MeasuredHours>,
    /// Of the last of these months what was held in slices of its accelerators, else of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slices: Option<SlicesOfCluster>,
    /// The economic view; none where nothing is paid, or for these reasons.
    pub economics: Option<Economics>,
    pub economics_refused: Vec<Finding>,
    /// What the hours of the last whole month would have cost elsewhere.
    pub cloud: Option<Cloud>,
    /// GPUs that were held, by week, and by which part that grew in a month.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weeks: Vec<HeldWeek>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_growth: Option<Decimal>,
    pub capacity: Option<Capacity>,
    pub capacity_refused: Vec<Finding>,
    pub racks: Option<RackPlan>,
    pub energy: Vec<EnergyOfMonth>,
    pub schedules: Vec<AssetSchedule>,
    pub year_ends: Vec<YearEnd>,
}

impl Answers {
    /// Of a cluster and its months; `None` where the asset register has no such cluster.
    pub async fn cluster(
        &self,
        db: &mut PgConnection,
        (revision, asset_register): (i64, &AssetRegister),
        cluster: &str,
        months: &[ClusterMonth],
        today: NaiveDate,
    ) -> Result<Option<ClusterReport>, Error> {
        let Some(it) = asset_register.cluster(cluster) else { return Ok(None) };
        let recent = recent_of(months);
        let of_months = |months: &[ClusterMonth]| currencies(months.iter().flat_map(|it| &it.sums.summaries));
        // Of a cluster that is gone for long, that of all its months.
        let known = Some(of_months(recent)).filter(|known| !known.is_empty());
        let known = known.unwrap_or_else(|| of_months(months));
        let currency = known.first().cloned();
        let others = known.get(1..).unwrap_or_default();
        let rates = match &currency {
            Some(currency) => rates_into(&mut *db, currency, others, today).await?,
            None => BTreeMap::new(),
        };
        let stands = currency.as_ref().and_then(|it| economics(asset_register, cluster, today, it, &rates));
        let (economics, economics_refused) = described(stands);
        let weeks = Box::pin(self.held_weeks(&mut *db, cluster, today)).await?;
        let measured = weeks::demand(&weeks);
        let measured_growth = measured.as_ref().and_then(|it| it.monthly_growth);
        let (capacity, capacity_refused) = described(capacity(asset_register, it, today, measured.as_ref()));
        let cloud = match &economics {
            // Where a part of the cost is left out, owning would look cheaper than it is.
            Some(economics) if economics.other_currencies.is_empty() => {
                self.cloud(&mut *db, economics, recent, today).await?
            }
            _ => None,
        };
        let of_months: Vec<MonthOfCluster> = match &currency {
            Some(currency) => {
                let by_month = rates_of_months(&mut *db, months).await?;
                months.iter().map(|month| MonthOfCluster::of(month, currency, &by_month)).collect()
            }
            None => Vec::new(),
        };
        let of_recent = recent_of(&of_months);
        let hours = EnteredHours::of((asset_register, it), of_recent, today);
        let measured = match hours.as_ref().zip(currency.as_ref()) {
            Some((chain, currency)) => {
                Box::pin(self.measured_hours(&mut *db, cluster, chain, currency)).await?
            }
            None => None,
        };
        // Of a cluster that has no whole month yet, or was cut into slices since, the month that runs.
        let whole = hours.as_ref().map(|chain| chain.period.last());
        let slices = match &currency {
            Some(currency) => {
                let months = whole.into_iter().chain([BillingMonth::of(today)]);
                Box::pin(self.slices_of_cluster(&mut *db, cluster, months, currency)).await?
            }
            None => None,
        };
        Ok(Some(ClusterReport {
            hours,
            measured,
            slices,
            without_rate: of_recent.iter().flat_map(MonthOfCluster::without_rate).collect(),
            cluster: it.clone(),
            revision,
            other_currencies: others.to_vec(),
            months: of_months,
            economics,
            economics_refused,
            cloud,
            held_growth: measured_growth,
            weeks: weeks.to_vec(),
            capacity,
            capacity_refused,
            racks: racks(asset_register, cluster, today),
            energy: recent.iter().filter_map(|it| it.sums.energy.clone()).collect(),
            schedules: schedules(asset_register, cluster, today),
            year_ends: currency
                .as_ref()
                .map(|currency| year_ends(asset_register, cluster, currency))
                .unwrap_or_default(),
            currency,
        }))
    }
}

impl ClusterReport {
    /// The months of the chart and the table.
    pub fn recent(&self) -> &[MonthOfCluster] {
        recent_of(&self.months)
    }

    /// Months with energy that no tariff has a price for.
    pub fn unpriced(&self) -> Vec<(BillingMonth, &UnpricedEnergy)> {
        self.energy.iter().filter_map(|it| Some((it.month, it.unpriced.as_ref()?))).collect()
    }
}

fn recent_of<T>(months: &[T]) -> &[T] {
    &months[months.len().saturating_sub(MONTHS)..]
}

/// The rates of these months, where any of them is charged in several currencies.
pub async fn rates_of_months(db: &mut PgConnection, months: &[ClusterMonth]) -> sqlx::Result<Rates> {
    let (Some(first), Some(last)) = (months.first(), months.last()) else { return Ok(Rates::default()) };
    if currencies(months.iter().flat_map(|month| &month.sums.summaries)).len() < 2 {
        return Ok(Rates::default());
    }
    let sequence = ledger::sequence(&mut *db).await?;
    exchange::rates(db, first.month, last.month, sequence).await
}

/// What the other currencies of a cluster are worth in its own, this month.
async fn rates_into(
    db: &mut PgConnection,
    currency: &Currency,
    others: &[Currency],
    today: NaiveDate,
) -> sqlx::Result<BTreeMap<Currency, Decimal>> {
    if others.is_empty() {
        return Ok(BTreeMap::new());
    }
    let month = BillingMonth::of(today);
    let sequence = ledger::sequence(&mut *db).await?;
    let last = month.previous();
    let rates = exchange::rates(db, last, month, sequence).await?;
    let find = |other: &Currency| {
        // This month may have none yet.
        rates.find(month, other, currency).or_else(|| rates.find(last, other, currency))
    };
    Ok(others.iter().filter_map(|other| Some((other.clone(), find(other)?.rate))).collect())
}

/// An answer, or why there is none.
fn described<T>(answer: Option<Result<T, crate::economics::check::Refused>>) -> (Option<T>, Vec<Finding>) {
    match answer {
        Some(Ok(answer)) => (Some(answer), Vec::new()),
        Some(Err(refused)) => (None, refused.0),
        None => (None, Vec::new()),
    }
}
