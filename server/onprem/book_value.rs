//! How the books write a cluster's assets down: asset by asset, and at the end of each year. Pure.

use chrono::{Datelike, NaiveDate};
use serde::Serialize;

use super::asset_register::AssetRegister;
use super::depreciation::{Method, YearOfLife};
use super::entry::{Asset, Paid};
use crate::money::{Currency, Decimal};

/// How the units of an asset that are in a cluster lose their value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssetSchedule {
    pub id: i64,
    pub name: String,
    pub count: u32,
    pub currency: Currency,
    pub price: Decimal,
    pub residual: Decimal,
    pub depreciation: Method,
    /// Before the day it is looked at, and what is left then.
    pub charged: Decimal,
    pub book_value: Decimal,
    pub ends: NaiveDate,
    pub years: Vec<YearOfLife>,
}

/// Book values at the end of a calendar year.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct YearEnd {
    pub year: i32,
    /// By the number of the asset.
    pub values: Vec<(i64, Decimal)>,
}

impl AssetSchedule {
    /// All that its years take: price less residual value.
    pub fn written_down(&self) -> Decimal {
        self.years.iter().map(|year| year.depreciation).sum()
    }
}

/// What is leased is given back, and has no value in the books.
fn owned(asset_register: &AssetRegister) -> impl Iterator<Item = (i64, &Asset)> {
    asset_register.assets().filter(|(_, asset)| !matches!(asset.paid, Paid::Leased { .. }))
}

/// Of a cluster's assets as they stand on a day: the units that are there, or will be.
pub fn schedules(asset_register: &AssetRegister, cluster: &str, today: NaiveDate) -> Vec<AssetSchedule> {
    let events = asset_register.events();
    owned(asset_register)
        .filter_map(|(id, asset)| {
            let units = events.units_in(asset, cluster, today.max(asset.in_service));
            let schedule = asset.schedule().ok().filter(|_| units > 0)?;
            let of_all = |each: Decimal| each.times(i64::from(units));
            let of_year = |year: YearOfLife| YearOfLife {
                depreciation: of_all(year.depreciation),
                book_value_after: of_all(year.book_value_after),
                ..year
            };
            Some(AssetSchedule {
                id,
                name: asset.name.clone(),
                count: units,
                currency: asset.currency.clone(),
                price: of_all(asset.price),
                residual: of_all(asset.residual),
                depreciation: asset.depreciation,
                charged: of_all(schedule.until(today)),
                book_value: of_all(schedule.book_value(today)),
                ends: schedule.ends(),
                years: schedule.years().into_iter().map(of_year).collect(),
            })
        })
        .collect()
}

/// Of a cluster's assets in one currency, from the year of the first to the one after which nothing is written down:
/// of units that were or will be there then.
pub fn year_ends(asset_register: &AssetRegister, cluster: &str, currency: &Currency) -> Vec<YearEnd> {
    let events = asset_register.events();
    let assets: Vec<(i64, &Asset)> = owned(asset_register)
        .filter(|(_, asset)| asset.currency == *currency)
        .filter(|(_, asset)| events.location_history(asset).stays.iter().any(|stay| stay.cluster == cluster))
        .collect();
    let ends = assets.iter().filter_map(|(_, asset)| asset.schedule().ok()).map(|schedule| schedule.ends());
    let first = assets.iter().map(|(_, asset)| asset.in_service.year()).min();
    let (Some(first), Some(last)) = (first, ends.max()) else { return Vec::new() };
    let at = |year: i32| {
        let after = NaiveDate::from_ymd_opt(year + 1, 1, 1)?;
        let values = assets.iter().filter_map(|(id, asset)| {
            let units = events.units_in(asset, cluster, after.pred_opt()?);
            let each = asset.schedule().ok()?.book_value(after);
            Some((*id, each.times(i64::from(units))))
        });
        Some(YearEnd { year, values: values.collect() })
    };
    (first..=last.year()).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onprem::entry::{Entry, Event, EventKind};
    use crate::onprem::start::Start;
    use crate::onprem::system::systems;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// Two nodes of 100,000, a fifth of which is left after three years, from July on.
    fn asset_register() -> AssetRegister {
        let mut texts = Start::defaults(&systems()[0], day("2025-07-01"));
        texts.extend(
            [
                ("name", "East"),
                ("site", "Berlin"),
                ("since", "2025-07-01"),
                ("nodes", "2"),
                ("spares", "0"),
                ("node_price", "100000"),
                ("network_price", "0"),
                ("life_months", "36"),
                ("residual", "20"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let start = Start::read(&texts).unwrap();
        AssetRegister { entries: (1..).zip(start.entries()).collect() }
    }

    #[test]
    fn a_year_s_end_has_what_is_left_of_the_units_that_are_there() {
        let mut asset_register = asset_register();
        let usd = Currency::exactly("USD");
        let described = |asset_register: &AssetRegister| -> Vec<(i32, String)> {
            let ends = year_ends(asset_register, "east", &usd);
            ends.iter().map(|end| (end.year, end.values[0].1.round(2).to_string())).collect()
        };
        // 80,000 over three years of 365, 365 and 366 days: 26,666.67 × 184 ÷ 365 in the first half year.
        let expected = [(2025, "173114.16"), (2026, "119780.82"), (2027, "66520.94"), (2028, "40000.00")]
            .map(|(y, v)| (y, v.to_owned()));
        assert_eq!(described(&asset_register), expected);
        let sold = Event {
            asset: "east-node".into(),
            units: vec![2],
            day: day("2026-12-31"),
            what: EventKind::Disposal { proceeds: 1.into() },
        };
        asset_register.entries.insert(90, Entry::Event(sold));
        assert_eq!(described(&asset_register)[1], (2026, "59890.41".to_owned()));
        let left = schedules(&asset_register, "east", day("2027-01-01"));
        assert_eq!((left[0].count, left[0].price, left[0].years.len()), (1, 100_000.into(), 3));
        assert_eq!(left[0].years[2].book_value_after.round(2), 20_000.into());
        assert_eq!(left[0].charged + left[0].book_value, left[0].price);
    }

    #[test]
    fn what_comes_later_is_listed_and_what_is_leased_is_not() {
        let mut asset_register = asset_register();
        let before = schedules(&asset_register, "east", day("2025-01-01"));
        assert_eq!(
            (before[0].count, before[0].charged, before[0].book_value),
            (2, Decimal::ZERO, 200_000.into())
        );
        for entry in asset_register.entries.values_mut() {
            if let Entry::Asset(asset) = entry {
                asset.paid = Paid::Leased { monthly: 100.into(), months: 36 };
            }
        }
        assert!(schedules(&asset_register, "east", day("2026-01-01")).is_empty());
        assert!(year_ends(&asset_register, "east", &Currency::exactly("USD")).is_empty());
    }
}
