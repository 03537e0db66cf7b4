//! What power costs in a month: energy, demand and colocation.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::interval::start_of;
use super::problem::Problem;
use super::{Colocation, DayEnergy, MeterLocation, Model, Peak, PueByMonth, Reading, Tariff, by_day, peak};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Where the power of a cluster comes from, and what was agreed on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supply {
    pub pue: PueByMonth,
    /// Not asked where colocation includes energy.
    pub tariff: Option<Tariff>,
    pub colocation: Option<Colocation>,
}

/// What tells how much was drawn.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Metered { readings: &'a [Reading], at: MeterLocation },
    Modelled(&'a Model),
}

/// What a month of power comes to, exact; `energy + demand + colocation` is the total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MonthOfPower {
    pub month: BillingMonth,
    pub currency: Currency,
    /// Days of the month that energy is known of, with what it cost: nothing where colocation includes it.
    pub days: Vec<DayEnergy>,
    pub peak: Option<Peak>,
    pub energy: Decimal,
    pub demand: Decimal,
    pub colocation: Decimal,
}

impl MonthOfPower {
    pub fn total(&self) -> Decimal {
        self.energy + self.demand + self.colocation
    }

    /// What the facility drew in the mean over all hours of the month, rounded to six places; hours that nothing is
    /// known of count as none drawn.
    pub fn mean_kw(&self) -> Decimal {
        let days = self.month.days();
        let hours = Decimal::from((days.end - days.start).num_hours());
        let kwh: Decimal = self.days.iter().map(|day| day.facility_kwh).sum();
        kwh.divide(hours, 6).unwrap_or_default().normalize()
    }
}

impl Supply {
    /// The cost of a calendar month in UTC. Of a reading that lies in two months each gets the days that are its own.
    ///
    /// # Errors
    /// Everything that is wrong with the supply or the model.
    pub fn month(&self, month: BillingMonth, source: Source<'_>) -> Result<MonthOfPower, Vec<Problem>> {
        let tariff = self.tariff_that_counts()?;
        let prices = tariff.prices()?;
        let modelled;
        let (readings, at, peak) = match source {
            Source::Metered { readings, at } => {
                (readings, at, peak(month, readings, at, &self.pue, tariff.demand_window))
            }
            Source::Modelled(model) => {
                modelled = model.readings(month.days())?;
                (modelled.as_slice(), MeterLocation::It, model.peak(month, &self.pue)?)
            }
        };
        let (first, last) = (start_of(month.days().start), start_of(month.days().end));
        let touching = readings.iter().filter(|it| it.from < last && first < it.until);
        let mut days = by_day(touching, at, &self.pue, &prices);
        days.retain(|it| month.contains(it.day));
        let energy: Decimal = days.iter().map(|it| it.cost).sum();
        let demand = peak.as_ref().map_or(Decimal::ZERO, |it| it.kw.multiply(tariff.demand_per_kw_month));
        Ok(MonthOfPower {
            month,
            currency: tariff.currency.clone(),
            days,
            peak,
            energy: energy.normalize(),
            demand: demand.normalize(),
            colocation: self.colocation.as_ref().map_or(Decimal::ZERO, Colocation::of_month),
        })
    }

    /// The tariff; where colocation includes energy, one that asks nothing for it.
    fn tariff_that_counts(&self) -> Result<Cow<'_, Tariff>, Vec<Problem>> {
        let mut problems = self.colocation.as_ref().map(Colocation::problems).unwrap_or_default();
        let tariff = match (&self.tariff, &self.colocation) {
            (tariff, Some(colocation)) if colocation.includes_energy => {
                let nothing = Tariff::flat(colocation.currency.clone(), Decimal::ZERO);
                let demand_window = tariff.as_ref().map(|it| it.demand_window).unwrap_or_default();
                Some(Cow::Owned(Tariff { demand_window, ..nothing }))
            }
            (Some(tariff), Some(colocation)) if tariff.currency != colocation.currency => {
                let expected = format!("{}, as the tariff is in", tariff.currency);
                problems.push(Problem::new("colocation, currency", &colocation.currency, expected));
                None
            }
            (Some(tariff), _) => Some(Cow::Borrowed(tariff)),
            (None, colocation) => {
                let found = if colocation.is_some() { "colocation without energy" } else { "nothing" };
                problems.push(Problem::new("tariff", found, "what a kWh costs"));
                None
            }
        };
        tariff.filter(|_| problems.is_empty()).ok_or(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onprem::power::{Pue, Window};

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn tariff(price: &str, demand: &str) -> Tariff {
        let flat = Tariff::flat(Currency::exactly("USD"), decimal(price));
        Tariff { demand_per_kw_month: decimal(demand), ..flat }
    }

    fn supply(tariff: Option<Tariff>, colocation: Option<Colocation>) -> Supply {
        Supply { pue: Pue::new(decimal("1.3")).unwrap().into(), tariff, colocation }
    }

    fn model(nodes: u32, idle: &str, load: &str, utilization: &str) -> Model {
        Model {
            nodes: [("2026-01-01".parse().unwrap(), nodes)].into(),
            idle_kw: decimal(idle),
            load_kw: decimal(load),
            utilization: decimal(utilization),
        }
    }

    fn colocation(includes_energy: bool) -> Colocation {
        Colocation {
            currency: Currency::exactly("USD"),
            contracted_kw: decimal("81.6"),
            price_per_kw_month: decimal("200"),
            includes_energy,
        }
    }

    fn year(supply: &Supply, model: &Model) -> Vec<MonthOfPower> {
        let months = "2026".parse::<crate::period::Period>().unwrap().months();
        months.map(|month| supply.month(month, Source::Modelled(model)).unwrap()).collect()
    }

    #[test]
    fn a_gpu_alone_costs_what_the_field_prints_for_it() {
        // 0.560 kW × 8760 h × 1.3 × $0.10, over 8760 h × 0.8 productive.
        let months = year(&supply(Some(tariff("0.10", "0")), None), &model(1, "0.56", "0.56", "1"));
        let cost: Decimal = months.iter().map(MonthOfPower::total).sum();
        assert_eq!(cost.normalize().to_string(), "637.728");
        assert_eq!(cost.divide(Decimal::from(7008), 4), Some(decimal("0.0910")));
    }

    #[test]
    fn a_whole_node_costs_more_than_its_gpus() {
        // (2.1 + 6.3 × 0.8) kW × 8760 h × 1.3 × $0.10, an eighth for each GPU.
        let months = year(&supply(Some(tariff("0.10", "0")), None), &model(1, "2.1", "8.4", "0.8"));
        let cost: Decimal = months.iter().map(|month| month.energy).sum();
        assert_eq!(cost.divide(Decimal::from(8), 4), Some(decimal("1016.3790")));
    }

    #[test]
    fn demand_is_paid_for_the_peak_of_each_month() {
        // 8 × 8.4 kW × 1.3 × $15 × 12, however little was used.
        let months = year(&supply(Some(tariff("0", "15")), None), &model(8, "2.1", "8.4", "0.01"));
        let demand: Decimal = months.iter().map(|month| month.demand).sum();
        assert_eq!(demand, decimal("15724.8"));
        assert_eq!(demand, months.iter().map(MonthOfPower::total).sum());
    }

    #[test]
    fn colocation_that_includes_energy_takes_away_energy_and_demand_and_nothing_else() {
        let model = model(8, "2.1", "8.4", "0.8");
        let tariff = tariff("0.10", "15");
        let month = |includes_energy, tariff: Option<&Tariff>| {
            let supply = supply(tariff.cloned(), Some(colocation(includes_energy)));
            supply.month("2026-09".parse().unwrap(), Source::Modelled(&model)).unwrap()
        };
        let (apart, included) = (month(false, Some(&tariff)), month(true, Some(&tariff)));
        assert_eq!(apart.colocation, decimal("16320"));
        // 8 × 7.14 kW × 720 h × 1.3 × $0.10, and 87.36 kW × $15.
        assert_eq!(
            (apart.energy.to_string(), apart.demand.to_string()),
            ("5346.432".into(), "1310.4".into())
        );
        assert_eq!(apart.total(), decimal("22976.832"));
        assert_eq!(included.total(), included.colocation);
        assert_eq!(
            (included.colocation, included.energy, included.demand),
            (apart.colocation, Decimal::ZERO, Decimal::ZERO)
        );
        assert!(included.days.iter().all(|day| day.cost.is_zero()));
        // How much was drawn and how high stays known.
        assert_eq!(included.mean_kw().to_string(), "74.256");
        let drawn = |month: &MonthOfPower| month.days.iter().map(|day| day.facility_kwh).sum::<Decimal>();
        assert_eq!((drawn(&included), &included.peak), (drawn(&apart), &apart.peak));
        assert_eq!(month(true, None), included);
    }

    #[test]
    fn a_reading_across_two_months_is_divided_between_them() {
        let at = |text: &str| text.parse().unwrap();
        let readings = [Reading {
            meter: "in".into(),
            from: at("2026-09-30T12:00:00Z"),
            until: at("2026-10-01T12:00:00Z"),
            kwh: decimal("24"),
        }];
        let hourly = Tariff { demand_window: Window::Hour, ..tariff("0.10", "0") };
        let supply = supply(Some(hourly), None);
        for month in ["2026-09", "2026-10"] {
            let source = Source::Metered { readings: &readings, at: MeterLocation::Facility };
            let month = supply.month(month.parse().unwrap(), source).unwrap();
            assert_eq!((month.days.len(), month.energy.to_string()), (1, "1.2".to_owned()));
            assert_eq!(month.peak.unwrap().kw, Decimal::from(1));
        }
        let source = Source::Metered { readings: &readings, at: MeterLocation::Facility };
        let november = supply.month("2026-11".parse().unwrap(), source).unwrap();
        assert!(november.days.is_empty() && november.peak.is_none() && november.total().is_zero());
    }

    #[test]
    fn it_says_what_is_wrong_with_a_supply() {
        let model = model(8, "2.1", "8.4", "0.8");
        let told = |supply: &Supply| {
            let problems = supply.month("2026-09".parse().unwrap(), Source::Modelled(&model)).unwrap_err();
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let tariff = tariff("0.10", "15");
        assert_eq!(told(&supply(None, None)), r#"tariff: found "nothing", expected what a kWh costs"#);
        assert_eq!(
            told(&supply(None, Some(colocation(false)))),
            r#"tariff: found "colocation without energy", expected what a kWh costs"#
        );
        let euros = Tariff { currency: Currency::exactly("EUR"), ..tariff.clone() };
        assert_eq!(
            told(&supply(Some(euros), Some(colocation(false)))),
            r#"colocation, currency: found "USD", expected EUR, as the tariff is in"#
        );
        let negative = Colocation { contracted_kw: Decimal::from(-1), ..colocation(true) };
        assert!(told(&supply(Some(tariff), Some(negative))).starts_with(r#"contracted_kw: found "-1""#));
        // Whether energy is in the price is asked, not assumed.
        let unasked = r#"{"currency":"USD","contracted_kw":"80","price_per_kw_month":"200"}"#;
        assert!(serde_json::from_str::<Colocation>(unasked).is_err());
    }
}
