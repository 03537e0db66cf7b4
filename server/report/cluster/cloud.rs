//! What a cluster's hours cost elsewhere: by what the organization pays, and by a list of prices.

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::super::{Answers, Error, Filter, Group, Grouping, Question, Unconverted};
use crate::accounts::Viewer;
use crate::exchange::{self, Used};
use crate::ledger;
use crate::money::{Currency, Decimal};
use crate::onprem::{ClusterMonth, Comparison, Economics, HoursOfModel, Offer, compare, offers};
use crate::period::{BillingMonth, Period};
use crate::price_catalogue;
use crate::price_catalogue::Paid;

/// Months whose prices the organization's own are taken from.
const MONTHS: u32 = 3;

/// The hours of a month, here and elsewhere.
#[derive(Serialize)]
pub struct Cloud {
    /// The last that is over.
    pub month: BillingMonth,
    pub hours: Vec<HoursOfModel>,
    /// What its hours cost here by the economic view.
    pub here: Option<Decimal>,
    /// What the organization paid for accelerators of these models, in these months.
    pub paid_period: Period,
    pub paid: Vec<PaidElsewhere>,
    /// What of that no rate converts.
    pub unconverted: Vec<Unconverted>,
    /// Lists are mostly in dollars: what one is worth in the cluster's currency; none where the month has no rate.
    pub rate: Option<Used>,
    /// By model, as `hours`.
    pub listed: Vec<Vec<Offer>>,
}

/// The effective price of an accelerator-hour, of what was not our own.
#[derive(Serialize)]
pub struct PaidElsewhere {
    /// `H100`, whichever its form.
    pub accelerator: String,
    pub cost_per_hour: Decimal,
    pub accelerator_hours: Decimal,
    /// Months with such hours.
    pub months: Vec<String>,
    pub comparison: Option<Comparison>,
}

impl Answers {
    /// `None` where nothing was in service in the last whole month.
    pub(super) async fn cloud(
        &self,
        db: &mut PgConnection,
        economics: &Economics,
        months: &[ClusterMonth],
        today: NaiveDate,
    ) -> Result<Option<Cloud>, Error> {
        let month = BillingMonth::of(today).previous();
        let Some(of_month) = months.iter().find(|it| it.month == month) else { return Ok(None) };
        let hours = of_month.sums.hours.clone();
        let paid_period = Period::up_to(month, MONTHS);
        if hours.is_empty() {
            return Ok(None);
        }
        let question = question(&hours, paid_period, &economics.currency);
        let spend = self.spend(&mut *db, &question).await?;
        let paid = spend.groups.iter().filter_map(|group| PaidElsewhere::of(group, economics, &hours));
        let sequence = ledger::sequence(&mut *db).await?;
        let rates = exchange::rates(&mut *db, month, month, sequence).await?;
        let worth = |of: &Currency| rates.find(month, of, &economics.currency);
        let rate = worth(&Currency::exactly("USD"));
        let (_, list) = price_catalogue::current(db).await?;
        let rate_of = |of: &Currency| worth(of).map(|used| used.rate);
        let listed = hours.iter().map(|hours| offers(economics, hours, &list, rate_of, today));
        Ok(Some(Cloud {
            month,
            here: economics.of_hours(hours.iter().map(|it| it.owned).sum()),
            paid_period,
            paid: paid.collect(),
            unconverted: spend.unconverted,
            listed: listed.collect(),
            rate,
            hours,
        }))
    }
}

/// What was paid for accelerators of these names that are not owned, by month.
fn question(hours: &[HoursOfModel], period: Period, currency: &Currency) -> Question {
    let names = hours.iter().map(|it| it.name.clone()).collect();
    let filters = [Filter::keep(Grouping::Accelerator, names), Filter::owned().left_out()];
    Question {
        by: Grouping::Accelerator,
        then: Some(Grouping::Month),
        convert_into: Some(currency.clone()),
        filters: Filter::merge(filters.into_iter()),
        ..Question::of(period, Viewer::Everything)
    }
}

impl Cloud {
    /// Offers beside the hours of their model.
    pub fn by_model(&self) -> Vec<(&HoursOfModel, &[Offer])> {
        self.hours.iter().zip(self.listed.iter().map(Vec::as_slice)).collect()
    }
}

impl PaidElsewhere {
    fn of(group: &Group, economics: &Economics, hours: &[HoursOfModel]) -> Option<Self> {
        let accelerator = group.key.clone()?;
        let cost_per_hour = group.cost_per_accelerator_hour?;
        let of_name = hours.iter().find(|it| it.name == accelerator)?;
        let with_hours = group.groups.iter().filter(|month| !month.accelerator_hours.is_zero());
        Some(Self {
            cost_per_hour,
            accelerator_hours: group.accelerator_hours,
            months: with_hours.map(|month| month.label.clone()).collect(),
            // Commitments are spread over the hours they covered, so that it is a price of hours that were used.
            comparison: compare(economics, of_name, Paid::PerUse, cost_per_hour),
            accelerator,
        })
    }
}
