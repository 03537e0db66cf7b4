//! What the months of a cluster are charged, and what an hour of it costs by them.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

use crate::exchange::{Missing, Rates};
use crate::money::{Currency, Decimal, Money};
use crate::onprem::{AssetRegister, Cluster, ClusterMonth, Component, MonthSummary, Shares, State};
use crate::period::{BillingMonth, Period};

/// Decimals of a price.
const PLACES: u8 = 12;

#[derive(Serialize)]
pub struct MonthOfCluster {
    #[serde(flatten)]
    pub summary: MonthSummary,
    /// What it is charged in other currencies than the cluster's.
    pub others: Vec<InCurrency>,
    /// With what is charged in other currencies, where the month has a rate.
    pub per_owned_hour: Option<Decimal>,
    pub state: State,
    pub delivery: Option<i64>,
    pub counts: Vec<Money>,
    // The name is a contract with scripts.
    #[serde(rename = "reckoned")]
    pub computed: Vec<Money>,
}

/// What a month is charged in one of several currencies.
#[derive(Serialize)]
pub struct InCurrency {
    pub currency: Currency,
    pub billed: Decimal,
    pub effective: Decimal,
    pub components: BTreeMap<Component, Decimal>,
    /// What one of it is worth in the cluster's currency in that month; null where no rate says so.
    pub rate: Option<Decimal>,
    /// What the effective cost is worth in it.
    pub converted: Option<Decimal>,
}

/// What an hour costs, by what is meant with an hour: over the months of the table that are over.
#[derive(Serialize)]
pub struct EnteredHours {
    pub months: usize,
    /// From the first of these months to the last.
    #[serde(skip)]
    pub period: Period,
    /// With what is charged in other currencies, where its month has a rate.
    pub effective: Decimal,
    pub owned: Decimal,
    pub available: Decimal,
    /// By the shares that were entered, each month by its own.
    pub productive: Decimal,
    /// Of all of them together: those of each month, weighed by its hours.
    pub shares: Shares,
    /// Whether they changed from month to month.
    pub are_shares_mean: bool,
    pub per_owned: Option<Decimal>,
    pub per_available: Option<Decimal>,
    pub per_productive: Option<Decimal>,
    /// Without work that was done again; null where nobody entered, for some of the months, how much was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub useful: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_useful: Option<Decimal>,
}

impl MonthOfCluster {
    pub fn of(it: &ClusterMonth, currency: &Currency, rates: &Rates) -> Self {
        let other = |other: &MonthSummary| {
            let MonthSummary { currency: other, billed, effective, components, .. } = other.clone();
            let used = rates.find(it.month, &other, currency);
            let (rate, converted) = used.map(|used| (used.rate, used.convert(effective))).unzip();
            InCurrency { currency: other, billed, effective, components, rate, converted }
        };
        let others = it.sums.summaries.iter().filter(|known| known.currency != *currency);
        let mut month = Self {
            summary: it.sums.summary(currency),
            others: others.map(other).collect(),
            per_owned_hour: None,
            state: it.state,
            delivery: it.delivery,
            counts: it.counts.clone(),
            computed: it.computed.clone(),
        };
        month.per_owned_hour = month.effective().divide(month.summary.owned_hours, PLACES);
        month
    }

    /// In the cluster's currency, with what others were worth in it where the month has a rate.
    pub fn effective(&self) -> Decimal {
        self.summary.effective + self.others.iter().filter_map(|it| it.converted).sum::<Decimal>()
    }

    /// What that leaves out.
    pub fn left_out(&self) -> impl Iterator<Item = &InCurrency> {
        self.others.iter().filter(|it| it.rate.is_none() && !it.effective.is_zero())
    }

    /// The rates that this takes.
    pub fn without_rate(&self) -> impl Iterator<Item = Missing> {
        let month = self.summary.month;
        self.left_out().map(move |it| Missing { month, currency: it.currency.clone() })
    }

    /// What a component amounts to.
    pub fn component(&self, component: &Component) -> Decimal {
        self.summary.components.get(component).copied().unwrap_or_default()
    }
}

impl EnteredHours {
    pub(super) fn of(
        (asset_register, cluster): (&AssetRegister, &Cluster),
        months: &[MonthOfCluster],
        today: NaiveDate,
    ) -> Option<Self> {
        let this_month = BillingMonth::of(today);
        let whole: Vec<&MonthOfCluster> = months
            .iter()
            .filter(|it| it.summary.month < this_month && !it.summary.owned_hours.is_zero())
            .collect();
        let effective: Decimal = whole.iter().map(|it| it.effective()).sum();
        let owned: Decimal = whole.iter().map(|it| it.summary.owned_hours).sum();
        let by_month: Vec<(Decimal, Shares)> = whole
            .iter()
            .map(|it| (it.summary.owned_hours, asset_register.shares(cluster, it.summary.month)))
            .collect();
        let sum = |share: fn(Shares) -> Decimal| -> Decimal {
            by_month.iter().map(|(owned, shares)| owned.multiply(share(*shares))).sum::<Decimal>().normalize()
        };
        let (available, productive) = (sum(Shares::available), sum(Shares::productive));
        let useful: Option<Decimal> = by_month
            .iter()
            .map(|(owned, shares)| Some(owned.multiply(shares.productive()).multiply(shares.useful()?)))
            .sum();
        let useful = useful.map(Decimal::normalize);
        let share = |part: Decimal, of: Decimal| part.divide(of, PLACES).unwrap_or_default().normalize();
        let first = by_month.first().map(|(_, shares)| *shares)?;
        let period = Period::new(whole.first()?.summary.month, whole.last()?.summary.month)?;
        let are_shares_mean = by_month.iter().any(|(_, shares)| *shares != first);
        let mean = Shares {
            downtime: Decimal::from(1) - share(available, owned),
            utilization: share(productive, available),
            repeated: useful.map(|useful| Decimal::from(1) - share(useful, productive)),
        };
        Some(Self {
            shares: if are_shares_mean { mean } else { first },
            are_shares_mean,
            months: whole.len(),
            period,
            effective,
            owned,
            available,
            productive,
            per_owned: effective.divide(owned, PLACES),
            per_available: effective.divide(available, PLACES),
            per_productive: effective.divide(productive, PLACES),
            useful,
            per_useful: useful.and_then(|useful| effective.divide(useful, PLACES)),
        })
    }
}
