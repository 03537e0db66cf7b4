//! Energy: what meters read, and where nobody read, what machines draw by the model; by tariff.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use serde::Serialize;

use super::super::asset_register::AssetRegister;
use super::super::entry::Tariff;
use super::super::location_history::Stay;
use super::super::power::{
    self, DayEnergy, MeterLocation, Model, Prices, Pue, Reading, by_day, energy_of_covered_days, peak,
    start_of,
};
use super::line::{Basis, Component, Line, days_of, one_day};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

pub(super) fn push(
    lines: &mut Vec<Line>,
    asset_register: &AssetRegister,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
) {
    if asset_register.has_energy_included(cluster, month) {
        return;
    }
    let Some((id, tariff)) = asset_register.tariff(cluster, month) else { return };
    // An entry of the asset register has been through `read`, which refuses a tariff without prices.
    let Ok(prices) = tariff.price.prices() else { return };
    let drawn = Drawn { asset_register, readings, cluster, month };
    Charged { drawn: &drawn, id, tariff, prices }.push(lines);
}

/// Energy that no tariff has a price for: it costs nothing until one is entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnpricedEnergy {
    /// The days on which something was drawn.
    pub first: NaiveDate,
    pub last: NaiveDate,
    pub days: usize,
    pub measured_kwh: Decimal,
    pub modelled_kwh: Decimal,
}

impl UnpricedEnergy {
    pub fn kwh(&self) -> Decimal {
        self.measured_kwh + self.modelled_kwh
    }
}

/// The energy of a month without a price, of the days before `until`; `None` where there is a price or nothing to pay.
pub fn unpriced_energy(
    asset_register: &AssetRegister,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
    until: NaiveDate,
) -> Option<UnpricedEnergy> {
    if asset_register.has_energy_included(cluster, month) || asset_register.tariff(cluster, month).is_some() {
        return None;
    }
    // Of no matter which price: it is the kWh that are asked for.
    let prices = power::Tariff::flat(Currency::exactly("USD"), Decimal::ZERO).prices().ok()?;
    let days = Drawn { asset_register, readings, cluster, month }.known()?.days(&prices);
    let mut days: Vec<(NaiveDate, Decimal, Basis)> =
        days.into_iter().map(|(day, _, basis)| (day.day, day.facility_kwh, basis)).collect();
    days.retain(|(day, kwh, _)| *day < until && !kwh.is_zero());
    let kwh = |of: Basis| -> Decimal {
        days.iter().filter(|(.., basis)| *basis == of).map(|(_, kwh, _)| *kwh).sum::<Decimal>().normalize()
    };
    Some(UnpricedEnergy {
        first: days.iter().map(|(day, ..)| *day).min()?,
        last: days.iter().map(|(day, ..)| *day).max()?,
        days: days.len(),
        measured_kwh: kwh(Basis::Measured),
        modelled_kwh: kwh(Basis::Modelled),
    })
}

/// What a cluster draws in a month.
struct Drawn<'a> {
    asset_register: &'a AssetRegister,
    readings: &'a [Reading],
    cluster: &'a str,
    month: BillingMonth,
}

/// What is known of it: each day by the site, by the machines, or by the model.
struct Known<'a> {
    /// What was entered.
    pue: Option<Decimal>,
    /// What it counts with.
    by_pue: Pue,
    site: Vec<&'a Reading>,
    machines: Vec<&'a Reading>,
    models: Vec<Model>,
    modelled: Vec<Reading>,
    by_site: BTreeSet<NaiveDate>,
    by_machines: BTreeSet<NaiveDate>,
    unread: BTreeSet<NaiveDate>,
}

/// Readings with where and how they were made, and the days on which they count.
type Source<'a> = (Vec<&'a Reading>, MeterLocation, Basis, &'a BTreeSet<NaiveDate>);

impl Known<'_> {
    fn sources(&self) -> [Source<'_>; 3] {
        [
            (self.site.clone(), MeterLocation::Facility, Basis::Measured, &self.by_site),
            (self.machines.clone(), MeterLocation::It, Basis::Measured, &self.by_machines),
            (self.modelled.iter().collect(), MeterLocation::It, Basis::Modelled, &self.unread),
        ]
    }

    /// The days that something is known of, by these prices.
    fn days(&self, prices: &Prices) -> Vec<(DayEnergy, MeterLocation, Basis)> {
        let mut days = Vec::new();
        for (readings, at, basis, counting) in self.sources() {
            let of_source = by_day(readings, at, self.by_pue, prices);
            let of_source = of_source.into_iter().filter(|day| counting.contains(&day.day));
            days.extend(of_source.map(|day| (day, at, basis)));
        }
        days
    }
}

impl<'a> Drawn<'a> {
    fn known(&self) -> Option<Known<'a>> {
        let pue = self.asset_register.pue(self.cluster, self.month);
        // Entries hold no PUE below 1.
        let by_pue = pue.map_or_else(|| Ok(Pue::one()), Pue::new).ok()?;
        // Meters of the site tell all of it: those of the machines count on days that they do not.
        let (site, machines) = (self.read_at(MeterLocation::Facility), self.read_at(MeterLocation::It));
        let by_site = self.covered_days(&site);
        let by_machines: BTreeSet<NaiveDate> =
            self.covered_days(&machines).difference(&by_site).copied().collect();
        let models = self.models();
        let modelled =
            models.iter().filter_map(|model| model.readings(self.month.days()).ok()).flatten().collect();
        let is_read = |day: &NaiveDate| by_site.contains(day) || by_machines.contains(day);
        let unread = days_of(&self.month.days()).filter(|day| !is_read(day)).collect();
        Some(Known { pue, by_pue, site, machines, models, modelled, by_site, by_machines, unread })
    }

    /// What the meters of a place read in the month.
    fn read_at(&self, place: MeterLocation) -> Vec<&'a Reading> {
        let (begins, ends) = (start_of(self.month.first_day()), start_of(self.month.next().first_day()));
        let its = self.asset_register.read_at(self.cluster, place, self.readings);
        its.filter(|reading| reading.from < ends && begins < reading.until).collect()
    }

    /// The days of the month of which these say everything.
    fn covered_days(&self, readings: &[&Reading]) -> BTreeSet<NaiveDate> {
        let days = energy_of_covered_days(readings.iter().copied()).into_keys();
        days.filter(|day| self.month.contains(*day)).collect()
    }

    /// What the units that are in the cluster draw, each asset by itself: at work for the productive share of available
    /// hours.
    fn models(&self) -> Vec<Model> {
        let Some(cluster) = self.asset_register.cluster(self.cluster) else { return Vec::new() };
        let utilization = self.asset_register.shares(cluster, self.month).productive().round(6);
        let events = self.asset_register.events();
        let of_asset = |asset: &super::super::entry::Asset| {
            let stays = events.location_history(asset).stays;
            let on = |day: NaiveDate| {
                stays
                    .iter()
                    .filter(|stay| stay.cluster == self.cluster && stay.is_on(day))
                    .map(Stay::count)
                    .sum()
            };
            let nodes = days_of(&self.month.days()).map(|day| (day, on(day))).collect();
            Model { nodes, idle_kw: asset.idle_kw, load_kw: asset.load_kw, utilization }
        };
        let assets = self.asset_register.assets().filter(|(_, asset)| !asset.load_kw.is_zero());
        assets.map(|(_, asset)| of_asset(asset)).collect()
    }
}

/// What is drawn, with what it costs.
struct Charged<'a> {
    drawn: &'a Drawn<'a>,
    id: i64,
    tariff: &'a Tariff,
    prices: Prices,
}

impl Charged<'_> {
    fn push(&self, lines: &mut Vec<Line>) {
        let Some(known) = self.drawn.known() else { return };
        let month = self.drawn.month;
        for (day, at, basis) in known.days(&self.prices) {
            self.push_day(lines, &day, at, known.pue, basis);
        }
        let mut highest: Option<(Decimal, Basis)> = None;
        let mut raise = |kw: Decimal, basis: Basis| {
            if highest.is_none_or(|(so_far, _)| so_far < kw) && !kw.is_zero() {
                highest = Some((kw, basis));
            }
        };
        let window = self.tariff.price.demand_window;
        for (readings, at, basis, days) in known.sources() {
            if basis == Basis::Measured && !days.is_empty() {
                raise(peak(month, readings, at, known.by_pue, window).unwrap_or_default(), basis);
            }
        }
        // On a day that nobody read, everything that was there may have been at work together.
        for day in &known.unread {
            let kw: Decimal = known.models.iter().map(|model| model.at_work(*day)).sum();
            raise(MeterLocation::It.facility(kw, known.by_pue).normalize(), Basis::Modelled);
        }
        if let Some((kw, basis)) = highest {
            let cost = kw.multiply(self.tariff.price.demand_per_kw_month).normalize();
            let mut line = self.line(Component::Demand, month.days(), cost, basis);
            line.quantity = Some((kw, "kW"));
            line.description = format!(
                "Peak of {} kW, {}, at {} a kW",
                kw.round(3),
                basis.as_str(),
                self.tariff.price.demand_per_kw_month
            );
            lines.push(line);
        }
    }

    fn push_day(
        &self,
        lines: &mut Vec<Line>,
        day: &DayEnergy,
        at: MeterLocation,
        pue: Option<Decimal>,
        basis: Basis,
    ) {
        let mut line = self.line(Component::Energy, one_day(day.day), day.cost, basis);
        line.quantity = Some((day.facility_kwh, "kWh"));
        let kwh = |kwh: Decimal| kwh.round(3).normalize();
        line.description = match (at, day.it_kwh, pue) {
            (MeterLocation::It, Some(it), Some(pue)) => {
                format!("{} kWh of the machines, {}, × PUE {pue}", kwh(it), basis.as_str())
            }
            (MeterLocation::It, Some(it), None) => {
                format!("{} kWh of the machines, {}; no PUE was entered", kwh(it), basis.as_str())
            }
            _ => format!("{} kWh of the site, {}", kwh(day.facility_kwh), basis.as_str()),
        };
        lines.push(line);
    }

    fn line(
        &self,
        component: Component,
        days: std::ops::Range<NaiveDate>,
        cost: Decimal,
        basis: Basis,
    ) -> Line {
        let Tariff { name, price, .. } = self.tariff;
        let line = Line::new(component, self.id, name, &price.currency, days);
        Line { billed: cost, effective: cost, basis, ..line }
    }
}
