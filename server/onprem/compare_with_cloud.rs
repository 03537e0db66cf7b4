//! What the hours of a cluster would have cost elsewhere, and from which utilization on owning costs less. Pure.
//!
//! Owning is the economic view. A price that is paid per use is compared by the productive hours; one that is committed
//! is paid for as many accelerators as are owned, used or not.

use chrono::NaiveDate;
use serde::Serialize;

use super::cost_lines::Line;
use super::tco::Economics;
use crate::accelerator::{Model, find_model};
use crate::economics::BreakEven;
use crate::economics::break_even::Question;
use crate::money::arithmetic::{one, product};
use crate::money::{Currency, Decimal};
use crate::price_catalogue::{Catalogue, Paid, Price};

/// Hours of one model in a month.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HoursOfModel {
    /// The id of the catalog; none where it knows no such model.
    pub accelerator: Option<&'static str>,
    /// `H100`, or what was entered.
    pub name: String,
    pub owned: Decimal,
    /// By the share that was entered.
    pub productive: Decimal,
}

/// A price beside what owning costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub break_even: BreakEven,
    /// What the month's hours of the model would have cost there.
    pub of_month: Decimal,
}

/// A price of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offer {
    #[serde(flatten)]
    pub price: Price,
    /// In the currency of the cluster.
    pub per_hour: Decimal,
    /// Older than half a year.
    pub is_stale: bool,
    pub comparison: Comparison,
}

impl HoursOfModel {
    pub fn model(&self) -> Option<&'static Model> {
        self.accelerator.and_then(crate::accelerator::model)
    }
}

/// The hours in service of a month's lines, by model, the most first. `productive` is the share of them that is.
pub fn hours_by_model(lines: &[Line], productive: Decimal) -> Vec<HoursOfModel> {
    let mut found: Vec<HoursOfModel> = Vec::new();
    for line in lines {
        let (Some(machine), Some((hours, _))) = (&line.machine, line.quantity) else { continue };
        let model = find_model(&machine.accelerator);
        let accelerator = model.map(|model| model.id);
        let name = model.map_or(machine.accelerator.as_str(), |model| model.name);
        let hours = hours.times(i64::from(machine.accelerators));
        match found.iter_mut().find(|it| it.accelerator == accelerator && it.name == name) {
            Some(it) => it.owned += hours,
            None => found.push(HoursOfModel {
                accelerator,
                name: name.to_owned(),
                owned: hours,
                productive: Decimal::ZERO,
            }),
        }
    }
    for it in &mut found {
        it.productive = product(&[it.owned, productive]).normalize();
    }
    found.sort_by(|a, b| b.owned.cmp(&a.owned).then_with(|| a.name.cmp(&b.name)));
    found
}

/// A price of an hour beside what owning costs; `None` where it cannot be compared with, such as 0.
pub fn compare(
    economics: &Economics,
    hours: &HoursOfModel,
    paid: Paid,
    per_hour: Decimal,
) -> Option<Comparison> {
    let question = Question {
        payment: paid.payment(per_hour),
        efficiency: one(),
        utilization: economics.utilization,
        most: one(),
    };
    let used = if paid.is_of_every_hour() { hours.owned } else { hours.productive };
    Some(Comparison {
        break_even: economics.by_utilization.break_even(&question).ok()?,
        of_month: product(&[per_hour, used]),
    })
}

/// The list's prices for a model. `rate` says what one of a currency is worth in that of the cluster; prices in others
/// are left out.
pub fn offers(
    economics: &Economics,
    hours: &HoursOfModel,
    list: &Catalogue,
    rate: impl Fn(&Currency) -> Option<Decimal>,
    today: NaiveDate,
) -> Vec<Offer> {
    let of_model = hours.accelerator.into_iter().flat_map(|model| list.of(model));
    of_model
        .filter_map(|price| {
            let per_hour = product(&[price.amount, rate(&price.currency)?]).normalize();
            let comparison = compare(economics, hours, price.paid, per_hour)?;
            Some(Offer { price: price.clone(), per_hour, is_stale: price.is_stale(today), comparison })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::economics::Verdict;
    use crate::economics::owning::Hours;
    use crate::money::number;
    use crate::onprem::asset_register::AssetRegister;
    use crate::onprem::start::Start;
    use crate::onprem::system::systems;
    use crate::onprem::tco::economics;
    use crate::onprem::{Entry, cost_lines};
    use crate::price_catalogue::Tier;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn asset_register() -> AssetRegister {
        let mut texts = Start::defaults(&systems()[0], day("2026-01-01"));
        texts.extend(
            [("name", "East"), ("site", "Berlin"), ("nodes", "8"), ("spares", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let start = Start::read(&texts).unwrap();
        AssetRegister { entries: (1..).zip(start.entries()).collect() }
    }

    #[test]
    fn hours_are_told_by_model_as_the_catalog_knows_it() {
        let mut asset_register = asset_register();
        let node = asset_register.assets().find(|(_, asset)| asset.bears_accelerators()).unwrap().1.clone();
        for (id, accelerator) in [(90, "H100 SXM5"), (91, "Abacus 3")] {
            let name = format!("more-{id}");
            let more =
                super::super::Asset { name, accelerator: accelerator.into(), count: 1, ..node.clone() };
            asset_register.entries.insert(id, Entry::Asset(more));
        }
        let lines = cost_lines::lines(&asset_register, &[], "east", "2026-02".parse().unwrap());
        let described: Vec<(Option<&str>, String, String, String)> = hours_by_model(&lines, number("0.5"))
            .into_iter()
            .map(|it| (it.accelerator, it.name, it.owned.to_string(), it.productive.to_string()))
            .collect();
        let line = |id, name: &str, owned: &str, productive: &str| {
            (id, name.to_owned(), owned.to_owned(), productive.to_owned())
        };
        assert_eq!(
            described,
            [line(Some("nvidia-h100-sxm"), "H100", "48384", "24192"), line(None, "Abacus 3", "5376", "2688")]
        );
    }

    #[test]
    fn prices_per_use_have_a_break_even_and_committed_ones_a_ratio() {
        let asset_register = asset_register();
        let economics = economics(
            &asset_register,
            "east",
            day("2026-02-01"),
            &Currency::exactly("USD"),
            &BTreeMap::new(),
        )
        .unwrap()
        .unwrap();
        let lines = cost_lines::lines(&asset_register, &[], "east", "2026-02".parse().unwrap());
        let hours = &hours_by_model(&lines, number("0.76"))[0];
        let own = economics.per_hour(Hours::Productive).unwrap();

        // At the price that an hour costs here, owning breaks even at the utilization that is entered.
        let even = compare(&economics, hours, Paid::PerUse, own).unwrap();
        let BreakEven::PerUse { verdict: Verdict::At { utilization }, price } = even.break_even else {
            panic!("{even:?}")
        };
        assert!((utilization - economics.utilization).abs() < number("0.000000001"));
        assert!((price.unwrap() - own).abs() < number("0.000000001"));
        assert_eq!(even.of_month, product(&[own, hours.productive]));

        let cheap = compare(&economics, hours, Paid::Market, number("0.5")).unwrap();
        assert!(matches!(cheap.break_even, BreakEven::PerUse { verdict: Verdict::Never { .. }, .. }));

        let owned = economics.per_hour(Hours::Owned).unwrap();
        let committed = compare(&economics, hours, Paid::Committed, owned.times(2)).unwrap();
        let BreakEven::Committed { ratio, price, .. } = committed.break_even else { panic!("{committed:?}") };
        assert_eq!(ratio.map(|it| it.round(9)), Some(number("0.5")));
        assert!((price.unwrap() - owned).abs() < number("0.000000001"));
        assert_eq!(committed.of_month, product(&[owned.times(2), hours.owned]));
        assert_eq!(compare(&economics, hours, Paid::PerUse, Decimal::ZERO), None);
    }

    #[test]
    fn the_list_is_converted_and_marked_where_it_is_old() {
        let asset_register = asset_register();
        let economics = economics(
            &asset_register,
            "east",
            day("2026-02-01"),
            &Currency::exactly("USD"),
            &BTreeMap::new(),
        )
        .unwrap()
        .unwrap();
        let lines = cost_lines::lines(&asset_register, &[], "east", "2026-02".parse().unwrap());
        let hours = &hours_by_model(&lines, number("0.76"))[0];
        let list = Catalogue::shipped();
        let half = |it: &Currency| (it.as_str() == "USD").then(|| number("0.5"));
        let found = offers(&economics, hours, list, half, day("2026-11-22"));
        assert_eq!(found.len(), list.of("nvidia-h100-sxm").count());
        assert!(found.iter().all(|it| it.per_hour.times(2) == it.price.amount));
        let reserved = found.iter().find(|it| it.price.tier == Tier::ThreeYears).unwrap();
        assert!(reserved.is_stale && matches!(reserved.comparison.break_even, BreakEven::Committed { .. }));
        assert!(found.iter().any(|it| !it.is_stale));
        let unknown = HoursOfModel { accelerator: None, ..hours.clone() };
        assert!(offers(&economics, &unknown, list, half, day("2026-11-22")).is_empty());
        assert!(offers(&economics, hours, list, |_| None, day("2026-11-22")).is_empty(), "no rate");
    }
}
