//! Energy: what meters read, and where nobody read, what machines draw by the model; by tariff.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use super::super::entry::{Entry, Tariff};
use super::super::power::{
    DayEnergy, MeterLocation, Model, Peak, Prices, Pue, PueByMonth, Reading, by_day, peak,
};
use super::super::register::Register;
use super::hardware::days_of;
use super::line::{Basis, Component, Line};
use crate::money::Decimal;
use crate::period::BillingMonth;

pub(super) fn push(
    lines: &mut Vec<Line>,
    register: &Register,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
) {
    if register.has_energy_included(cluster, month) {
        return;
    }
    let Some((id, tariff)) = register.tariff(cluster, month) else { return };
    // An entry of the register has been through `read`, which refuses a tariff without prices.
    let Ok(prices) = tariff.price.prices() else { return };
    let it = Energy { register, readings, cluster, month, id, tariff, prices };
    it.push(lines);
}

impl Register {
    /// Whether the price of a place has energy in it, so that none is charged beside it.
    pub fn has_energy_included(&self, cluster: &str, month: BillingMonth) -> bool {
        self.entries.values().any(|entry| {
            matches!(entry, Entry::Colocation(it)
                if it.cluster == cluster && it.includes_energy && it.months.contains(month))
        })
    }

    /// What energy costs in a month.
    pub fn tariff(&self, cluster: &str, month: BillingMonth) -> Option<(i64, &Tariff)> {
        self.entries.iter().find_map(|(id, entry)| match entry {
            Entry::Tariff(it) if it.cluster == cluster && it.months.contains(month) => Some((*id, it)),
            _ => None,
        })
    }

    /// The power usage effectiveness of a month: the last that was entered for it or for a month before.
    pub fn pue(&self, cluster: &str, month: BillingMonth) -> Option<Decimal> {
        let values = self.entries.values().filter_map(|entry| match entry {
            Entry::Pue(it) if it.cluster == cluster && it.first <= month => Some((it.first, it.value)),
            _ => None,
        });
        values.max_by_key(|(first, _)| *first).map(|(_, value)| value)
    }

    /// Which meters tell what a month cost, and where they are. Meters of the site tell all of it, so that those of the
    /// machines beside them are for the PUE alone.
    pub fn meters_that_count(&self, readings: &[Reading], cluster: &str) -> (MeterLocation, BTreeSet<&str>) {
        let at = |place: MeterLocation| -> BTreeSet<&str> {
            let names = self.entries.values().filter_map(|entry| match entry {
                Entry::Meter(it) if it.cluster == cluster && it.place == place => Some(it.name.as_str()),
                _ => None,
            });
            names.filter(|name| readings.iter().any(|reading| reading.meter == *name)).collect()
        };
        let of_site = at(MeterLocation::Facility);
        if of_site.is_empty() {
            (MeterLocation::It, at(MeterLocation::It))
        } else {
            (MeterLocation::Facility, of_site)
        }
    }
}

struct Energy<'a> {
    register: &'a Register,
    readings: &'a [Reading],
    cluster: &'a str,
    month: BillingMonth,
    id: i64,
    tariff: &'a Tariff,
    prices: Prices,
}

impl Energy<'_> {
    fn push(&self, lines: &mut Vec<Line>) {
        let entered = self.register.pue(self.cluster, self.month);
        // Entries hold no PUE below 1.
        let Ok(pue) = entered.map_or_else(|| Ok(Pue::one()), Pue::new).map(PueByMonth::from) else { return };
        let (at, names) = self.register.meters_that_count(self.readings, self.cluster);
        let read: Vec<Reading> =
            self.readings.iter().filter(|reading| names.contains(reading.meter.as_str())).cloned().collect();
        let measured = self.of_month(by_day(&read, at, &pue, &self.prices));
        let days_read: BTreeSet<NaiveDate> = measured.iter().map(|day| day.day).collect();
        let models = self.models();
        let drawn: Vec<Reading> = models
            .iter()
            .filter_map(|model| model.readings(self.month.days()).ok())
            .flatten()
            .filter(|reading| !days_read.contains(&reading.from.date_naive()))
            .collect();
        let modelled = self.of_month(by_day(&drawn, MeterLocation::It, &pue, &self.prices));
        let days = measured.into_iter().map(|day| (day, at, Basis::Measured));
        let days = days.chain(modelled.into_iter().map(|day| (day, MeterLocation::It, Basis::Modelled)));
        for (day, at, basis) in days {
            self.push_day(lines, &day, at, entered, basis);
        }
        let highest = if read.is_empty() {
            let peaks = models.iter().filter_map(|model| model.peak(self.month, &pue).ok().flatten());
            let kw: Decimal = peaks.map(|peak| peak.kw).sum();
            (!kw.is_zero()).then_some((kw, Basis::Modelled))
        } else {
            let window = self.tariff.price.demand_window;
            peak(self.month, &read, at, &pue, window).map(|Peak { kw, .. }| (kw, Basis::Measured))
        };
        if let Some((kw, basis)) = highest {
            let cost = kw.multiply(self.tariff.price.demand_per_kw_month).normalize();
            let mut line = self.line(Component::Demand, self.month.days(), cost, basis);
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

    fn of_month(&self, mut days: Vec<DayEnergy>) -> Vec<DayEnergy> {
        days.retain(|day| self.month.contains(day.day));
        days
    }

    fn push_day(
        &self,
        lines: &mut Vec<Line>,
        day: &DayEnergy,
        at: MeterLocation,
        pue: Option<Decimal>,
        basis: Basis,
    ) {
        let next = day.day.succ_opt().unwrap_or(day.day);
        let mut line = self.line(Component::Energy, day.day..next, day.cost, basis);
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
        Line {
            component,
            input: self.id,
            name: self.tariff.name.clone(),
            resource: None,
            days,
            billed: cost,
            effective: cost,
            currency: self.tariff.price.currency.clone(),
            quantity: None,
            machine: None,
            tags: BTreeMap::new(),
            basis,
            description: String::new(),
        }
    }

    /// What the units that are in the cluster draw, each asset by itself: at work for the productive share of available
    /// hours.
    fn models(&self) -> Vec<Model> {
        let Some(cluster) = self.register.cluster(self.cluster) else { return Vec::new() };
        let utilization = cluster.utilization.multiply(Decimal::from(1) - cluster.downtime).round(6);
        let of_asset = |asset: &super::super::entry::Asset| {
            let stays = self.register.whereabouts(asset).stays;
            let on = |day: NaiveDate| {
                let here = stays.iter().filter(|stay| stay.cluster == self.cluster && stay.is_on(day));
                u32::try_from(here.count()).unwrap_or(u32::MAX)
            };
            let nodes = days_of(&self.month.days()).map(|day| (day, on(day))).collect();
            Model { nodes, idle_kw: asset.idle_kw, load_kw: asset.load_kw, utilization }
        };
        let assets = self.register.assets().filter(|(_, asset)| !asset.load_kw.is_zero());
        assets.map(|(_, asset)| of_asset(asset)).collect()
    }
}
