//! The organization's own cluster: what its administrator wrote down, what meters read, and which months were published.
//!
//! Six machines were bought in the first month and two more financed in the seventh; a month later the site got a meter
//! of its own, so that since then energy is measured where it is paid for. A shelf of the storage broke and was written
//! off. The month that is not over is nobody's yet: whoever looks finds the button.

use std::collections::BTreeMap;
use std::io;

use chrono::{DateTime, Datelike as _, Days, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};

use super::jobs::{self, day_of_export};
use super::organization::MONTHS;
use super::{Demonstration, File, Random};
use crate::money::{Currency, Decimal};
use crate::onprem::power::{self, Band, MeterLocation, Reading, Weekdays, Window};
use crate::onprem::{
    Asset, AssetKind, Cluster, Cost, CostKind, Entry, Event, EventKind, Every, Meter, Method, Paid, Pue,
    Span, Staff, Tariff, system,
};
use crate::period::BillingMonth;

/// What addresses and bills call it.
pub const CLUSTER: &str = "h100-east";
/// What its bills call the machines that were bought first, from 1 to 6.
pub(super) const NODE: &str = "east-a";
/// Months from the first, and the day of the month.
const EXPANDED: u32 = 6;
const EXPANDED_DAY: u32 = 15;
const METERED: u32 = 7;
const BROKEN: u32 = 9;
const BROKEN_DAY: u32 = 12;

const OF_MACHINES: &str = "east-racks";
const OF_SITE: &str = "east-site";
/// Watts: of a machine at rest, and what it draws more at work; of everything else in the racks.
const IDLE: u64 = 2100;
const WORK: u64 = 6300;
const OTHER: u64 = 4200;

/// Something that happens to the cluster, and when.
#[derive(Clone, Debug)]
pub struct Happening {
    pub at: DateTime<Utc>,
    pub what: ClusterNews,
}

#[derive(Clone, Debug)]
pub enum ClusterNews {
    /// Written into the asset register.
    Written { summary: String, entries: Vec<Entry> },
    /// Read from its meters.
    Read { summary: String, readings: Vec<Reading> },
    /// Submitted, as a bill would be.
    Published(BillingMonth),
    /// What its scheduler says of the jobs of a month ([`Demonstration::jobs`]).
    Exported(BillingMonth),
}

/// Everything that happens to it in these months, in order.
pub(super) fn happenings(demonstration: &Demonstration) -> Vec<Happening> {
    let last = demonstration.last_month();
    let it = Story { first: last.minus(MONTHS as u32 - 1), seed: demonstration.seed };
    let latest = demonstration.until.and_time(NaiveTime::MIN).and_utc();
    let mut happenings = Vec::new();
    let mut add = |day: NaiveDate, what: ClusterNews| {
        let at = day.and_time(NaiveTime::MIN).and_utc() + TimeDelta::hours(8);
        happenings.push(Happening { at: at.min(latest), what });
    };
    let written = |summary: &str, entries| ClusterNews::Written { summary: summary.to_owned(), entries };
    add(it.first.first_day(), written("H100 East goes into service", it.beginning()));
    add(it.expanded(), written("Two more machines", it.expansion()));
    let of_site = vec![meter(OF_SITE, MeterLocation::Facility)];
    add(it.first.plus(METERED).first_day(), written("The site has a meter of its own", of_site));
    add(it.broken(), written("A shelf of the storage is lost", vec![it.write_off()]));
    for index in MONTHS - demonstration.months..MONTHS {
        let month = it.first.plus(index as u32);
        let end = month.days().end.min(demonstration.until);
        let summary = format!("Readings of {}", month.name());
        add(end, ClusterNews::Read { summary, readings: it.readings(month, end) });
        if month != last {
            add(end + Days::new(3), ClusterNews::Published(month));
        }
        add(day_of_export(month, demonstration.until), ClusterNews::Exported(month));
    }
    happenings.sort_by_key(|happening| happening.at);
    happenings
}

/// What the scheduler says of the jobs of a month.
pub(super) fn jobs_of(demonstration: &Demonstration, month: BillingMonth) -> io::Result<File> {
    let first = demonstration.last_month().minus(MONTHS as u32 - 1);
    let it = Story { first, seed: demonstration.seed };
    let cluster = jobs::Cluster {
        seed: it.seed,
        first: first.first_day(),
        expanded: it.expanded(),
        until: demonstration.until,
    };
    jobs::export(&cluster.jobs(), month, demonstration.until)
}

struct Story {
    first: BillingMonth,
    seed: u64,
}

fn usd() -> Currency {
    Currency::exactly("USD")
}

fn on(month: BillingMonth, day: u32) -> NaiveDate {
    month.first_day() + Days::new(u64::from(day) - 1)
}

fn meter(name: &str, place: MeterLocation) -> Entry {
    Entry::Meter(Meter { cluster: CLUSTER.to_owned(), name: name.to_owned(), place })
}

impl Story {
    fn expanded(&self) -> NaiveDate {
        on(self.first.plus(EXPANDED), EXPANDED_DAY)
    }

    fn broken(&self) -> NaiveDate {
        on(self.first.plus(BROKEN), BROKEN_DAY)
    }

    fn beginning(&self) -> Vec<Entry> {
        let first = self.first.first_day();
        let mut entries = vec![
            Entry::Cluster(Cluster {
                handle: CLUSTER.to_owned(),
                name: "H100 East".to_owned(),
                site: "newark-2".to_owned(),
                since: first,
                downtime: Decimal::new(3, 2),
                utilization: Decimal::new(74, 2),
                repeated: Some(Decimal::new(4, 2)),
                rack_kw: Decimal::from(44),
                cost_of_capital: Decimal::new(9, 2),
                growth: Decimal::new(3, 2),
                lead_months: 7,
            }),
            Entry::Asset(machines(NODE, AssetKind::Node, 6, first)),
            Entry::Asset(machines("east-spare", AssetKind::SpareNode, 1, first)),
            Entry::Asset(Asset {
                life_months: 60,
                ..equipment("east-fabric", AssetKind::Fabric, 1, 310_000, first)
            }),
            Entry::Asset(Asset {
                depreciation: Method::DecliningBalance { factor: Decimal::from(2) },
                ..equipment("east-storage", AssetKind::Storage, 4, 95_000, first)
            }),
            Entry::Asset(Asset {
                life_months: 120,
                residual: Decimal::ZERO,
                ..equipment("east-installation", AssetKind::Installation, 1, 240_000, first)
            }),
            meter(OF_MACHINES, MeterLocation::It),
            Entry::Pue(Pue { cluster: CLUSTER.to_owned(), first: self.first, value: Decimal::new(135, 2) }),
            self.tariff(),
        ];
        for (role, fte, loaded_cost, share) in [
            ("Cluster operations", Decimal::new(15, 1), 205_000, Decimal::from(1)),
            ("Data center technicians", Decimal::from(2), 118_000, Decimal::new(25, 2)),
        ] {
            entries.push(Entry::Staff(Staff {
                cluster: CLUSTER.to_owned(),
                role: role.to_owned(),
                months: Span { first: self.first, last: None },
                fte,
                loaded_cost: Decimal::from(loaded_cost),
                currency: usd(),
                share,
            }));
        }
        entries.extend(
            [
                ("Machines: maintenance", CostKind::Maintenance, 90_000, "USD", Every::Year),
                ("Scheduler and monitoring", CostKind::Licence, 54_000, "USD", Every::Year),
                ("Two cages", CostKind::Space, 7_800, "USD", Every::Month),
                ("100G to the clouds", CostKind::Link, 2_400, "USD", Every::Month),
                ("Electronics insurance", CostKind::Insurance, 11_400, "EUR", Every::Quarter),
                ("Optics and power supplies", CostKind::Spares, 18_500, "USD", Every::Once),
            ]
            .map(|(name, what, amount, currency, every)| {
                cost(name, what, amount, currency, every, self.first)
            }),
        );
        entries
    }

    /// Bought on credit, for a team that asked for them.
    fn expansion(&self) -> Vec<Entry> {
        let month = self.first.plus(EXPANDED);
        let tags = [("team", "robotics"), ("project", "policy-learning")];
        vec![
            Entry::Asset(Asset {
                paid: Paid::Financed { yearly_rate: Decimal::new(69, 3), months: 36 },
                tags: tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
                ..machines("east-b", AssetKind::Node, 2, self.expanded())
            }),
            cost("Two more machines: maintenance", CostKind::Maintenance, 30_000, "USD", Every::Year, month),
        ]
    }

    fn write_off(&self) -> Entry {
        Entry::Event(Event {
            asset: "east-storage".to_owned(),
            units: vec![3],
            day: self.broken(),
            what: EventKind::WriteOff,
        })
    }

    fn tariff(&self) -> Entry {
        let price = power::Tariff {
            currency: usd(),
            bands: vec![Band {
                days: Weekdays::Workdays,
                from_hour: 8,
                until_hour: 21,
                price_per_kwh: Decimal::new(118, 3),
            }],
            price_per_kwh: Decimal::new(71, 3),
            demand_per_kw_month: Decimal::new(1425, 2),
            demand_window: Window::Hour,
            time_zone: chrono_tz::America::New_York,
        };
        Entry::Tariff(Tariff {
            cluster: CLUSTER.to_owned(),
            name: "Day and night".to_owned(),
            months: Span { first: self.first, last: None },
            price,
        })
    }

    /// What both meters read in a month until a day, hour by hour. A month's draws are its own.
    fn readings(&self, month: BillingMonth, until: NaiveDate) -> Vec<Reading> {
        let first = month.first_day();
        let of_month = first.year() as u64 * 12 + u64::from(first.month());
        let mut random = Random::new((self.seed ^ 0xc1u64 << 56) ^ of_month << 8);
        // Cooling takes most in July.
        let season = 110 - 18 * u64::from(first.month().abs_diff(7));
        let has_site = month >= self.first.plus(METERED);
        let mut readings = Vec::new();
        for day in first.iter_days().take_while(|day| *day < until) {
            let machines: u64 = if day < self.expanded() { 6 } else { 8 };
            let is_weekend = matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
            for hour in 0..24 {
                let is_busy = !is_weekend && (12..24).contains(&hour);
                let share = random.between(620, 760) + if is_busy { 150 } else { 0 };
                let watts = machines * (IDLE + WORK * share / 1000) + OTHER;
                let of_site = watts * (1215 + season + random.below(25)) / 1000;
                let from = day.and_time(NaiveTime::MIN).and_utc() + TimeDelta::hours(hour);
                let mut read = |meter: &str, watts: u64| {
                    let kwh = Decimal::new(i128::from(watts), 3);
                    readings.push(Reading {
                        meter: meter.to_owned(),
                        from,
                        until: from + TimeDelta::hours(1),
                        kwh,
                    });
                };
                read(OF_MACHINES, watts);
                if has_site {
                    read(OF_SITE, of_site);
                }
            }
        }
        readings
    }
}

fn cost(name: &str, what: CostKind, amount: i64, currency: &str, every: Every, first: BillingMonth) -> Entry {
    Entry::Cost(Cost {
        cluster: CLUSTER.to_owned(),
        name: name.to_owned(),
        what,
        amount: Decimal::from(amount),
        currency: Currency::exactly(currency),
        every,
        months: Span { first, last: None },
    })
}

/// Something without accelerators, worth a tenth in the end.
fn equipment(name: &str, what: AssetKind, count: u32, price: i64, in_service: NaiveDate) -> Asset {
    Asset {
        cluster: CLUSTER.to_owned(),
        name: name.to_owned(),
        what,
        model: String::new(),
        accelerator: String::new(),
        accelerators: 0,
        count,
        price: Decimal::from(price),
        currency: usd(),
        in_service,
        life_months: 48,
        residual: Decimal::from(price / 10),
        depreciation: Method::StraightLine,
        paid: Paid::Bought,
        idle_kw: Decimal::ZERO,
        load_kw: Decimal::ZERO,
        rated_kw: Decimal::ZERO,
        tags: BTreeMap::new(),
    }
}

/// A spare one is off.
fn machines(name: &str, what: AssetKind, count: u32, in_service: NaiveDate) -> Asset {
    let plain = equipment(name, what, count, 375_000, in_service);
    let Some(it) = system("dgx-h100") else { return plain };
    let is_on = what == AssetKind::Node;
    let kw = |kw: Decimal| if is_on { kw } else { Decimal::ZERO };
    Asset {
        model: it.name.clone(),
        accelerator: it.accelerator.clone(),
        accelerators: it.accelerators,
        idle_kw: kw(it.idle_kw),
        load_kw: kw(it.load_kw),
        rated_kw: it.rated_kw,
        ..plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onprem::power::measured_pue;
    use crate::onprem::{AssetRegister, Component, Line, lines, owned_hours, problems};

    /// The asset register as it is in the end, and everything that was read.
    fn described(today: &str) -> (AssetRegister, Vec<Reading>, Vec<BillingMonth>) {
        let (mut asset_register, mut read, mut published) =
            (AssetRegister::default(), Vec::new(), Vec::new());
        for happening in happenings(&Demonstration::new(1, today.parse().unwrap())) {
            match happening.what {
                ClusterNews::Written { entries, .. } => {
                    let first = asset_register.entries.len() as i64 + 1;
                    asset_register.entries.extend((first..).zip(entries));
                    assert_eq!(problems(&asset_register), []);
                }
                ClusterNews::Read { readings, .. } => read.extend(readings),
                ClusterNews::Published(month) => published.push(month),
                ClusterNews::Exported(_) => {}
            }
        }
        (asset_register, read, published)
    }

    #[test]
    fn it_is_in_order_and_no_later_than_today() {
        for today in ["2026-11-21", "2026-11-01", "2026-11-02", "2026-03-01"] {
            let happenings = happenings(&Demonstration::new(1, today.parse().unwrap()));
            assert!(happenings.is_sorted_by_key(|it| it.at));
            assert!(happenings.iter().all(|it| it.at.date_naive() <= today.parse().unwrap()), "{today}");
            let (_, read, published) = described(today);
            assert_eq!(published.len(), 12, "{today}");
            let last_read = read.iter().map(|it| it.until).max().unwrap();
            assert_eq!(last_read.date_naive().to_string(), today);
        }
    }

    #[test]
    fn sixty_four_accelerators_are_in_service_after_the_expansion() {
        let (asset_register, read, published) = described("2026-11-21");
        let of = |month: BillingMonth| {
            let mine: Vec<Reading> =
                read.iter().filter(|it| month.contains(it.from.date_naive())).cloned().collect();
            lines(&asset_register, &mine, CLUSTER, month)
        };
        assert_eq!(owned_hours(&of(published[0])), Decimal::from(48 * 24 * 30));
        assert_eq!(owned_hours(&of(published[11])), Decimal::from(64 * 24 * 31));
        let all: Vec<Line> = published.iter().flat_map(|month| of(*month)).collect();
        for component in Component::ALL {
            let is_there = all.iter().any(|line| line.component == component);
            let is_not = matches!(component, Component::Lease | Component::Colocation | Component::Other);
            assert_eq!(is_there, !is_not, "{}", component.name());
        }
        let lost = all.iter().filter(|line| line.component == Component::Disposal);
        assert_eq!(
            lost.map(|line| line.parts().next().unwrap().0.unwrap()).collect::<Vec<_>>(),
            ["east-storage-03"]
        );
    }

    #[test]
    fn its_meters_tell_a_pue_from_the_eighth_month_on() {
        let (_, read, published) = described("2026-11-21");
        let (site, racks): (Vec<Reading>, Vec<Reading>) =
            read.into_iter().partition(|it| it.meter == OF_SITE);
        let measured = measured_pue(&racks, &site);
        assert_eq!(measured.first().map(|it| it.month), Some(published[7]));
        assert_eq!(measured.len(), 6);
        let likely = Decimal::new(12, 1)..Decimal::new(135, 2);
        assert!(
            measured.iter().all(|it| it.ratio.is_some_and(|ratio| likely.contains(&ratio))),
            "{measured:?}"
        );
    }
}
