//! What the months of a cluster are charged, and what an hour of it costs by them.

use chrono::NaiveDate;
use serde::Serialize;

use crate::money::{Currency, Decimal, Money};
use crate::onprem::{Cluster, ClusterMonth, Component, MonthSummary, State};
use crate::period::BillingMonth;

/// Decimals of a price.
const PLACES: u8 = 12;

#[derive(Serialize)]
pub struct MonthOfCluster {
    #[serde(flatten)]
    pub summary: MonthSummary,
    pub per_owned_hour: Option<Decimal>,
    pub state: State,
    pub delivery: Option<i64>,
    pub counts: Vec<Money>,
    pub reckoned: Vec<Money>,
}

/// What an hour costs, by what is meant with an hour: over the months of the table that are over.
#[derive(Serialize)]
pub struct HourChain {
    pub months: usize,
    pub effective: Decimal,
    pub owned: Decimal,
    pub available: Decimal,
    /// By the share that was entered.
    pub productive: Decimal,
    pub per_owned: Option<Decimal>,
    pub per_available: Option<Decimal>,
    pub per_productive: Option<Decimal>,
}

impl MonthOfCluster {
    pub(super) fn of(it: &ClusterMonth, currency: &Currency) -> Self {
        let summary = it.sums.summary(currency);
        Self {
            per_owned_hour: summary.per_owned_hour(),
            summary,
            state: it.state,
            delivery: it.delivery,
            counts: it.counts.clone(),
            reckoned: it.reckoned.clone(),
        }
    }
}

impl MonthOfCluster {
    /// What a component comes to.
    pub fn component(&self, component: &Component) -> Decimal {
        self.summary.components.get(component).copied().unwrap_or_default()
    }
}

impl HourChain {
    pub(super) fn of(cluster: &Cluster, months: &[MonthOfCluster], today: NaiveDate) -> Option<Self> {
        let this_month = BillingMonth::of(today);
        let whole: Vec<&MonthOfCluster> = months
            .iter()
            .filter(|it| it.summary.month < this_month && !it.summary.owned_hours.is_zero())
            .collect();
        let effective: Decimal = whole.iter().map(|it| it.summary.effective).sum();
        let owned: Decimal = whole.iter().map(|it| it.summary.owned_hours).sum();
        let available = owned.multiply(Decimal::from(1) - cluster.downtime).normalize();
        let productive = owned.multiply(cluster.productive_share()).normalize();
        (!whole.is_empty()).then(|| Self {
            months: whole.len(),
            effective,
            owned,
            available,
            productive,
            per_owned: effective.divide(owned, PLACES),
            per_available: effective.divide(available, PLACES),
            per_productive: effective.divide(productive, PLACES),
        })
    }
}
