//! What is odd about the prices of a scenario beside a list of them, and about capacity beside demand.

use chrono::NaiveDate;

use super::Findings;
use crate::economics::comparison::{Gpus, Place, Rate, Scenario};
use crate::economics::profile::Shape;
use crate::money::Decimal;
use crate::money::arithmetic::{count, quotient};
use crate::price_catalogue::{Catalogue, Mark, Paid, Price, Tier};

/// So many times as many GPUs as there are is odd where nothing else serves them: a part of a day's hours.
const HOURS: (i64, i64) = (8, 24);

/// What is odd about prices, as of a day.
pub fn prices(scenario: &Scenario, list: &Catalogue, today: NaiveDate) -> Findings {
    let mut found = Findings::default();
    found.each("option", &scenario.options, |option, found| {
        found.each("place", &option.places, |place, found| {
            let accelerator = scenario.accelerator_of(place);
            let of = |rate: &Rate, tier: Tier| Asked {
                scenario,
                list,
                accelerator,
                rate: rate.clone(),
                tier,
                today,
            };
            if let Some(rate) = &place.on_demand {
                let asked = of(rate, Tier::OnDemand);
                asked.check("on_demand", found);
                asked.is_reserved(place, "on_demand.price", found);
            }
            if let Some(spot) = &place.spot {
                of(&spot.rate, Tier::Spot).check("spot.rate", found);
            }
            found.each("committed", &place.committed, |it, found| {
                of(&it.rate, tier_of(it.months)).check("rate", found);
            });
            found.each("blocks", &place.blocks, |it, found| of(&it.rate, Tier::Block).check("rate", found));
            if let (Some(under), Some(spend)) = (&place.spend_rate, &option.spend) {
                of(under, tier_of(spend.months)).check("spend_rate", found);
            }
            if let Some(port) = place.porting.as_ref().filter(|it| it.months_of_both > 0) {
                // It runs where it ran, on the accelerator of the work.
                let accelerator = scenario.served_by(place).next().map_or("", |it| it.accelerator.as_str());
                let asked = Asked { accelerator, ..of(&port.meanwhile, Tier::OnDemand) };
                asked.check("porting.meanwhile", found);
            }
        });
    });
    found.sorted()
}

/// The tier of a commitment for so many months.
fn tier_of(months: u32) -> Tier {
    if months > 12 { Tier::ThreeYears } else { Tier::OneYear }
}

/// A rate beside the list.
struct Asked<'a> {
    scenario: &'a Scenario,
    list: &'a Catalogue,
    accelerator: &'a str,
    rate: Rate,
    tier: Tier,
    today: NaiveDate,
}

impl Asked<'_> {
    /// The rate as the list has prices.
    fn price(&self) -> Price {
        Price {
            accelerator: self.accelerator.to_owned(),
            supplier: String::new(),
            tier: self.tier,
            paid: self.tier.usually(),
            amount: self.rate.price,
            currency: self.scenario.currency.clone(),
            gpus: None,
            sku: String::new(),
            region: self.rate.region.clone(),
            term_months: None,
            increment_seconds: None,
            // What has no date is not old.
            date: self.rate.date.unwrap_or(self.today),
            source: self.rate.source.clone(),
        }
    }

    fn check(&self, field: &str, found: &mut Findings) {
        let price = self.price();
        for mark in self.list.marks_of(&price, None, self.today) {
            match mark {
                Mark::Stale { days } => {
                    let message = format!("this price is {days} days old; update it");
                    found.warn(&format!("{field}.date"), price.date, &message);
                }
                Mark::FarAbove { median, times } => {
                    let message = format!(
                        "{times} times the median of {} prices of this accelerator, {}; is it the price of a whole machine?",
                        self.tier.name(),
                        median.round(2)
                    );
                    found.warn(&format!("{field}.price"), price.amount, &message);
                }
                Mark::Jump { .. } => {}
            }
        }
    }

    /// Whether a price of use is one that is paid for every hour of a term.
    fn is_reserved(&self, place: &Place, field: &str, found: &mut Findings) {
        let price = self.rate.price;
        if self.rate.is_covered() {
            return;
        }
        if let Some(reserved) = place.committed.iter().find(|it| it.rate.price > price) {
            let message =
                format!("the reservation costs more, {}; are the two prices swapped?", reserved.rate.price);
            return found.warn(field, price, &message);
        }
        let currency = &self.scenario.currency;
        let mut same =
            self.list.of(self.accelerator).filter(|it| it.amount == price && it.currency == *currency);
        // Some price of use is the same by chance.
        let is_of_use = self
            .list
            .of(self.accelerator)
            .any(|it| it.amount == price && it.currency == *currency && !it.paid.is_of_every_hour());
        let reserved = same.find(|it| matches!(it.paid, Paid::Committed | Paid::SpendCommitment));
        if let Some(reserved) = reserved.filter(|_| !is_of_use) {
            let message = format!(
                "the price of {} for {}, paid for every hour, used or not; enter it as a reservation",
                reserved.supplier,
                reserved.tier.name()
            );
            found.warn(field, price, &message);
        }
    }
}

/// Whether a demand of GPUs is one of GPU-hours a day: an option has so many GPUs that as many hours of each would do.
pub(super) fn hours_for_gpus(scenario: &Scenario, found: &mut Findings) {
    found.each("work", &scenario.work, |work, found| {
        let (field, asked) = match &work.demand {
            Shape::Flat { gpus, .. } => ("demand.gpus", *gpus),
            Shape::Between { high, .. } => ("demand.high", *high),
            _ => return,
        };
        let has_so_few = |place: &Place| {
            let gpus = fixed(place)?;
            let times = quotient(asked, count(gpus))?;
            let is_odd = times >= HOURS.0.into() && times <= HOURS.1.into();
            is_odd.then_some((gpus, times))
        };
        let places = scenario.options.iter().flat_map(|it| &it.places);
        let few = places
            .filter(|place| scenario.served_by(place).any(|it| it.name == work.name))
            .find_map(has_so_few);
        if let Some((gpus, times)) = few {
            let message = format!(
                "an option has {gpus} GPUs, and this needs {} times as many at once; is this in GPU-hours a day?",
                times.round(1).normalize()
            );
            found.warn(field, asked, &message);
        }
    });
}

/// GPUs of a place that nothing else stands beside; none where it has as many as are asked for.
fn fixed(place: &Place) -> Option<u32> {
    if place.is_by_use() || place.spot.is_some() {
        return None;
    }
    let own = place.owned.iter().map(|it| it.gpus);
    let sizes = own.chain(place.committed.iter().map(|it| it.gpus));
    let numbers = sizes.map(|it| if let Gpus::Number(number) = it { Some(number) } else { None });
    let total: u32 = numbers.collect::<Option<Vec<u32>>>()?.into_iter().fold(0, u32::saturating_add);
    (Decimal::from(i64::from(total)) > Decimal::ZERO).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::file::read;

    fn described(gpus: &str, place: &str) -> Vec<String> {
        let text = format!(
            "name = \"x\"\n[[work]]\nname = \"training\"\naccelerator = \"nvidia-h100-sxm\"\n\
             demand = {{ shape = \"flat\", gpus = {gpus}, hours_per_day = 24 }}\n\
             [[option]]\nname = \"it\"\nplace = [{{ {place} }}]\n"
        );
        let scenario = read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let mut found = prices(&scenario, Catalogue::shipped(), "2026-11-22".parse().unwrap());
        hours_for_gpus(&scenario, &mut found);
        found.0.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn usual_prices_are_not_spoken_of() {
        let place = "on_demand = { price = 6.88, date = 2026-07-20 }, \
                     committed = [{ rate = { price = 4.86 }, months = 36, gpus = 8 }], spot = { rate = { price = 2.4 } }";
        assert_eq!(described("64", place), Vec::<String>::new());
    }

    #[test]
    fn the_price_of_a_machine_and_an_old_one_are_reported() {
        let found = described("64", "on_demand = { price = 55.04, date = 2026-01-01 }");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("option.0.place.0.on_demand.date is 2026-01-01: this price is 325 days old")
        );
        assert!(
            found[1].contains("on_demand.price is 55.04") && found[1].contains("of a whole machine?"),
            "{found:?}"
        );
    }

    #[test]
    fn every_price_of_a_place_is_looked_at() {
        let old = |price: &str| format!("{{ price = {price}, date = 2026-01-01 }}");
        let block = format!("blocks = [{{ rate = {}, gpus = 8, hours = 700 }}]", old("4"));
        let port = format!(
            "on_demand = {{ price = 6.88 }}, porting = {{ months_of_both = 2, meanwhile = {} }}",
            old("6.88")
        );
        // The option's commitment stands behind its places; what would close them is a comment.
        let spend = format!(
            "on_demand = {{ price = 6.88 }}, spend_rate = {} }}]\nspend = {{ per_hour = 20, months = 36 }} #",
            old("4.86")
        );
        for (place, field) in [(block, "blocks.0.rate"), (port, "porting.meanwhile"), (spend, "spend_rate")] {
            let found = described("64", &place);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with(&format!("option.0.place.0.{field}.date is 2026-01-01")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_reserved_price_that_is_entered_as_one_of_use_is_reported() {
        let found = described("64", "on_demand = { price = 7.67 }");
        assert_eq!(
            found,
            [
                "option.0.place.0.on_demand.price is 7.67: the price of Google Cloud for 1 year, paid for every hour, used \
              or not; enter it as a reservation"
            ]
        );
        let swapped =
            "on_demand = { price = 4 }, committed = [{ rate = { price = 7 }, months = 12, gpus = 8 }]";
        assert!(described("64", swapped)[0].contains("are the two prices swapped?"));
    }

    #[test]
    fn gpu_hours_a_day_that_are_entered_as_gpus_are_reported() {
        let of =
            |gpus: &str| described(gpus, "committed = [{ rate = { price = 4 }, months = 12, gpus = 80 }]");
        assert!(
            of("800")[0].contains("10 times as many at once; is this in GPU-hours a day?"),
            "{:?}",
            of("800")
        );
        assert!(of("80").is_empty() && of("639").is_empty() && of("1921").is_empty());
        let open =
            "committed = [{ rate = { price = 4 }, months = 12, gpus = 80 }], on_demand = { price = 6.88 }";
        assert!(described("800", open).is_empty(), "the rest is served");
    }
}
