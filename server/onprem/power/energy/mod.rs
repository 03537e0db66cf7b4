//! Energy and what it cost, by UTC day and price.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{Prices, Pue, Reading, interval};
use crate::money::Decimal;

/// What a meter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeterLocation {
    /// What the machines draw; cooling comes on top by [`Pue`].
    It,
    /// What the facility draws for them: cooling is in it.
    Facility,
}

/// The energy of a UTC day, in kWh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DayEnergy {
    pub day: NaiveDate,
    /// `None` where meters of the facility do not tell it.
    pub it_kwh: Option<Decimal>,
    pub facility_kwh: Decimal,
    /// Exact: facility energy by band times its price.
    pub cost: Decimal,
    /// Outside the bands first. They sum to the day.
    pub by_band: Vec<BandEnergy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BandEnergy {
    /// Its place among the tariff's bands; `None` outside them.
    pub band: Option<usize>,
    pub facility_kwh: Decimal,
    pub price_per_kwh: Decimal,
    pub cost: Decimal,
}

/// What readings of one kind of meter amount to, the days that have any.
pub fn by_day<'a>(
    readings: impl IntoIterator<Item = &'a Reading>,
    at: MeterLocation,
    pue: Pue,
    prices: &Prices,
) -> Vec<DayEnergy> {
    let mut sums: BTreeMap<interval::Part, Decimal> = BTreeMap::new();
    for reading in readings {
        interval::add(reading, prices, &mut sums);
    }
    let mut days: Vec<DayEnergy> = Vec::new();
    for ((day, band), kwh) in sums {
        let facility_kwh = at.facility(kwh, pue).normalize();
        let price_per_kwh = prices.of(band);
        let cost = facility_kwh.multiply(price_per_kwh).normalize();
        if days.last().is_none_or(|last| last.day != day) {
            let it_kwh = (at == MeterLocation::It).then_some(Decimal::ZERO);
            days.push(DayEnergy {
                day,
                it_kwh,
                facility_kwh: Decimal::ZERO,
                cost: Decimal::ZERO,
                by_band: vec![],
            });
        }
        if let Some(sum) = days.last_mut() {
            sum.it_kwh = sum.it_kwh.map(|it| it + kwh.normalize());
            sum.facility_kwh += facility_kwh;
            sum.cost += cost;
            sum.by_band.push(BandEnergy { band, facility_kwh, price_per_kwh, cost });
        }
    }
    days
}

impl MeterLocation {
    /// What the facility drew, of what a meter here measured on a day.
    pub(in crate::onprem) fn facility(self, measured: Decimal, pue: Pue) -> Decimal {
        match self {
            Self::It => measured.multiply(pue.get()),
            Self::Facility => measured,
        }
    }
}

#[cfg(test)]
mod tests;
