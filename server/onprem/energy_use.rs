//! What a cluster drew in a month, what of that was measured, and what it cost. Pure.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use serde::Serialize;

use super::asset_register::AssetRegister;
use super::cost_lines::{Basis, Component, Line, UnpricedEnergy, unpriced_energy};
use super::power::{MeasuredPue, MeterLocation, Reading, measured_pue};
use crate::money::{Decimal, Money};
use crate::period::BillingMonth;

/// Decimals of a quotient.
const PLACES: u8 = 6;

/// Energy of the site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergyOfMonth {
    pub month: BillingMonth,
    pub measured_kwh: Decimal,
    /// Computed from what machines draw at rest and at work, of days that nobody read.
    pub modelled_kwh: Decimal,
    /// Over the hours of the days that something is known of.
    pub mean_kw: Option<Decimal>,
    pub pue_entered: Option<Decimal>,
    /// Where meters of both kinds say all of some days.
    pub pue_measured: Option<MeasuredPue>,
    /// Energy and demand charge.
    pub cost: Option<Money>,
    pub cost_per_kwh: Option<Decimal>,
    /// What of it no tariff has a price for.
    pub unpriced: Option<UnpricedEnergy>,
}

impl EnergyOfMonth {
    /// From the month's lines and what its meters read, both of the days before `until`; `None` where nothing is known.
    pub fn of(
        asset_register: &AssetRegister,
        cluster: &str,
        month: BillingMonth,
        lines: &[Line],
        readings: &[Reading],
        until: NaiveDate,
    ) -> Option<Self> {
        let unpriced = unpriced_energy(asset_register, readings, cluster, month, until);
        let energy = || lines.iter().filter(|line| line.component == Component::Energy);
        let kwh = |is_measured: bool| -> Decimal {
            let lines = energy().filter(|line| (line.basis == Basis::Measured) == is_measured);
            lines.filter_map(|line| line.quantity).map(|(kwh, _)| kwh).sum::<Decimal>().normalize()
        };
        let of_unpriced =
            |kwh: fn(&UnpricedEnergy) -> Decimal| unpriced.as_ref().map(kwh).unwrap_or_default();
        // A month has one tariff or none.
        let measured_kwh = kwh(true) + of_unpriced(|it| it.measured_kwh);
        let modelled_kwh = kwh(false) + of_unpriced(|it| it.modelled_kwh);
        let days: BTreeSet<NaiveDate> = energy().map(|line| line.days.start).collect();
        let days = days.len() + unpriced.as_ref().map_or(0, |it| it.days);
        let hours = Decimal::from(days as i64 * 24);
        let is_cost = |line: &&Line| matches!(line.component, Component::Energy | Component::Demand);
        // A month has one tariff, and so one currency.
        let currency = lines.iter().find(is_cost).map(|line| line.currency.clone());
        let amount: Decimal = lines.iter().filter(is_cost).map(|line| line.effective).sum();
        let at = |place: MeterLocation| asset_register.read_at(cluster, place, readings);
        let pue_measured = measured_pue(at(MeterLocation::It), at(MeterLocation::Facility))
            .into_iter()
            .find(|it| it.month == month);
        if days == 0 && pue_measured.is_none() {
            return None;
        }
        Some(Self {
            month,
            measured_kwh,
            modelled_kwh,
            mean_kw: (measured_kwh + modelled_kwh).divide(hours, PLACES).map(Decimal::normalize),
            pue_entered: asset_register.pue(cluster, month),
            pue_measured,
            cost_per_kwh: amount
                .divide(measured_kwh + modelled_kwh, PLACES)
                .map(Decimal::normalize)
                .filter(|_| unpriced.is_none()),
            unpriced,
            cost: currency.map(|currency| Money { amount: amount.normalize(), currency }),
        })
    }

    /// The PUE that meters tell, and of how many days.
    pub fn measured_ratio(&self) -> Option<(Decimal, u32)> {
        let measured = self.pue_measured.as_ref()?;
        Some((measured.ratio?, measured.days))
    }

    pub fn kwh(&self) -> Decimal {
        self.measured_kwh + self.modelled_kwh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onprem::cost_lines;
    use crate::onprem::entry::{Colocation, Entry, Meter, Span};
    use crate::onprem::start::Start;
    use crate::onprem::system::systems;

    fn asset_register() -> AssetRegister {
        let mut texts = Start::defaults(&systems()[0], "2026-01-01".parse().unwrap());
        texts.extend(
            [("name", "East"), ("site", "Berlin"), ("nodes", "1"), ("spares", "0"), ("pue", "1.3")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let start = Start::read(&texts).unwrap();
        let mut asset_register = AssetRegister { entries: (1..).zip(start.entries()).collect() };
        for (id, name, place) in [(90, "it", MeterLocation::It), (91, "site", MeterLocation::Facility)] {
            let meter = Meter { cluster: "east".into(), name: name.into(), place };
            asset_register.entries.insert(id, Entry::Meter(meter));
        }
        asset_register
    }

    fn after() -> NaiveDate {
        "2026-03-01".parse().unwrap()
    }

    fn reading(meter: &str, day: &str, kwh: i64) -> Reading {
        let from: chrono::DateTime<chrono::Utc> = format!("{day}T00:00:00Z").parse().unwrap();
        Reading { meter: meter.into(), from, until: from + chrono::TimeDelta::days(1), kwh: kwh.into() }
    }

    #[test]
    fn what_was_measured_is_distinguished_from_what_was_computed() {
        let (asset_register, of_month) = (asset_register(), "2026-02".parse().unwrap());
        let readings = [
            reading("it", "2026-02-01", 100),
            reading("site", "2026-02-01", 140),
            reading("site", "2026-02-02", 150),
        ];
        let lines = cost_lines::lines(&asset_register, &readings, "east", of_month);
        let it = EnergyOfMonth::of(&asset_register, "east", of_month, &lines, &readings, after()).unwrap();
        assert_eq!(it.measured_kwh, 290.into());
        // 26 days of a node that draws 2.1 kW and 6.3 more for 0.95 × its utilization.
        let cluster = asset_register.cluster("east").unwrap();
        let busy = cluster.utilization.multiply(Decimal::from(1) - cluster.downtime);
        let node = "2.1".parse::<Decimal>().unwrap() + "6.3".parse::<Decimal>().unwrap().multiply(busy);
        let expected = node.times(26 * 24).multiply("1.3".parse().unwrap()).normalize();
        assert_eq!(it.modelled_kwh, expected);
        assert_eq!(it.mean_kw, it.kwh().divide(Decimal::from(28 * 24), PLACES).map(Decimal::normalize));
        assert_eq!(it.pue_measured.as_ref().and_then(|it| it.ratio), Some("1.4".parse().unwrap()));
        assert_eq!(it.pue_measured.map(|it| it.days), Some(1));
        assert_eq!(it.pue_entered, Some("1.3".parse().unwrap()));
        let total: Decimal = lines
            .iter()
            .filter(|line| matches!(line.component, Component::Energy | Component::Demand))
            .map(|line| line.effective)
            .sum();
        assert_eq!(it.cost.unwrap().amount, total.normalize());
        let mut nothing = asset_register;
        nothing.entries.retain(|_, entry| matches!(entry, Entry::Cluster(_)));
        assert_eq!(EnergyOfMonth::of(&nothing, "east", of_month, &[], &[], after()), None);
    }

    #[test]
    fn energy_without_a_price_is_told_with_its_days() {
        let (mut asset_register, of_month) = (asset_register(), "2026-02".parse().unwrap());
        let readings = [reading("site", "2026-02-01", 140), reading("site", "2026-02-02", 150)];
        let of = |asset_register: &AssetRegister, until: &str| {
            let lines = cost_lines::lines(asset_register, &readings, "east", of_month);
            EnergyOfMonth::of(asset_register, "east", of_month, &lines, &readings, until.parse().unwrap())
                .unwrap()
        };
        let priced = of(&asset_register, "2026-03-01");
        assert_eq!(priced.unpriced, None);
        // The tariff begins a month later.
        for entry in asset_register.entries.values_mut() {
            if let Entry::Tariff(it) = entry {
                it.months.first = "2026-03".parse().unwrap();
            }
        }
        let gap = of(&asset_register, "2026-03-01");
        let unpriced = gap.unpriced.clone().unwrap();
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        assert_eq!(
            (unpriced.first, unpriced.last, unpriced.days),
            (day("2026-02-01"), day("2026-02-28"), 28)
        );
        assert_eq!((unpriced.measured_kwh, unpriced.kwh()), (290.into(), priced.kwh()));
        assert_eq!((gap.kwh(), gap.mean_kw), (priced.kwh(), priced.mean_kw));
        assert_eq!((gap.cost, gap.cost_per_kwh), (None, None));
        // Of a month that goes on, as far as it has gone.
        let begun = of(&asset_register, "2026-02-02").unpriced.unwrap();
        assert_eq!((begun.days, begun.measured_kwh, begun.modelled_kwh), (1, 140.into(), Decimal::ZERO));
        // Where energy is in the price of the place, none is paid for.
        let place = Colocation {
            cluster: "east".into(),
            name: "hall".into(),
            months: Span { first: of_month, last: None },
            contracted_kw: 10.into(),
            price_per_kw: 100.into(),
            currency: crate::money::Currency::exactly("USD"),
            includes_energy: true,
        };
        asset_register.entries.insert(95, Entry::Colocation(place));
        assert_eq!(unpriced_energy(&asset_register, &readings, "east", of_month, after()), None);
    }
}
