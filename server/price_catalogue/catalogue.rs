//! A list of prices: of each offer the reading that holds, with those that say otherwise, and what is odd about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::NaiveDate;
use serde::Serialize;

use super::{Price, Tier, shipped};
use crate::money::arithmetic::{decimal, one, quotient};
use crate::money::{Currency, Decimal};

/// So many times the median of its kind is odd.
const ODD_TIMES: i64 = 3;
/// A price that differs by so much or more from the reading before it is odd: 10 %.
const JUMP: (i64, u8) = (1, 1);
/// Offers that a median needs to mean something.
const FEWEST: usize = 3;

/// Where a reading is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It comes with the program.
    Shipped,
    /// Somebody entered or imported it.
    Entered,
}

/// A price that was read on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    #[serde(flatten)]
    pub price: Price,
    pub origin: Origin,
}

/// An offer: the reading that holds, and others of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Of the offer, for addresses.
    pub id: String,
    #[serde(flatten)]
    pub price: Price,
    pub origin: Origin,
    /// Readings that do not hold, the newest first.
    pub others: Vec<Reading>,
}

/// What is odd about a price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Mark {
    /// It was read so many days ago.
    Stale { days: i64 },
    /// It is so many times the median of the same accelerator and tier.
    FarAbove { median: Decimal, times: Decimal },
    /// It is by such a share more, or less, than the reading before it, or another of the same day.
    Jump { before: Decimal, date: NaiveDate, share: Decimal },
}

/// Prices that hold, by offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    listed: Vec<Listed>,
    /// Where each offer stands in it.
    by_id: BTreeMap<String, usize>,
    medians: BTreeMap<(String, Tier, Currency), Decimal>,
}

static SHIPPED: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::with(Vec::new(), &BTreeSet::new()));

impl Catalogue {
    /// The list that comes with the program.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The same with what people entered. Of an offer what they entered holds, whichever the program brings later; of
    /// several readings the newest. Shipped offers that they removed, by id, are left out.
    pub fn with(entered: Vec<Price>, removed: &BTreeSet<String>) -> Self {
        let mut offers: BTreeMap<String, Vec<Reading>> = BTreeMap::new();
        for price in entered {
            offers.entry(price.offer()).or_default().push(Reading { price, origin: Origin::Entered });
        }
        for price in shipped() {
            let offer = price.offer();
            if !removed.contains(&offer) {
                let reading = Reading { price: price.clone(), origin: Origin::Shipped };
                offers.entry(offer).or_default().push(reading);
            }
        }
        Self::of_readings(offers)
    }

    fn of_readings(offers: BTreeMap<String, Vec<Reading>>) -> Self {
        let mut listed: Vec<Listed> = offers
            .into_iter()
            .filter_map(|(id, mut readings)| {
                readings.sort_by_key(|it| std::cmp::Reverse((it.origin, it.price.date)));
                // What somebody entered of a day stands for what was shipped of that day.
                let mut days = BTreeSet::new();
                readings.retain(|it| days.insert(it.price.date));
                let mut readings = readings.into_iter();
                let Reading { price, origin } = readings.next()?;
                let mut others: Vec<Reading> = readings.collect();
                others.sort_by_key(|it| std::cmp::Reverse(it.price.date));
                Some(Listed { id, price, origin, others })
            })
            .collect();
        listed.sort_by(|a, b| order(&a.price).cmp(&order(&b.price)));
        let mut kinds: BTreeMap<(String, Tier, Currency), Vec<Decimal>> = BTreeMap::new();
        for it in &listed {
            kinds.entry(kind(&it.price)).or_default().push(it.price.amount);
        }
        let medians = kinds.into_iter().filter_map(|(kind, amounts)| Some((kind, median(amounts)?)));
        let by_id = listed.iter().enumerate().map(|(at, it)| (it.id.clone(), at));
        Self { medians: medians.collect(), by_id: by_id.collect(), listed }
    }

    /// Every offer: by accelerator and tier, the cheapest first.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Prices of a model, by its id in the catalog of accelerators: by tier, the cheapest first.
    pub fn of<'a>(&'a self, accelerator: &'a str) -> impl Iterator<Item = &'a Price> {
        self.listed.iter().map(|it| &it.price).filter(move |it| it.accelerator == accelerator)
    }

    pub fn find(&self, id: &str) -> Option<&Listed> {
        self.by_id.get(id).and_then(|at| self.listed.get(*at))
    }

    /// The median of a model and tier; none where few offer it.
    pub fn median(&self, accelerator: &str, tier: Tier, currency: &Currency) -> Option<Decimal> {
        self.medians.get(&(accelerator.to_owned(), tier, currency.clone())).copied()
    }

    /// What is odd about an offer.
    pub fn marks(&self, it: &Listed, today: NaiveDate) -> Vec<Mark> {
        let before = it.others.iter().find(|other| other.price.date <= it.price.date);
        let mut marks = self.marks_of(&it.price, before.map(|it| &it.price), today);
        // What came with a later version than what holds.
        let later = it.others.iter().find(|other| other.price.date > it.price.date);
        marks.extend(later.and_then(|later| jump(&it.price, &later.price)));
        marks
    }

    /// What is odd about a price, beside the one that was read before it.
    pub fn marks_of(&self, price: &Price, before: Option<&Price>, today: NaiveDate) -> Vec<Mark> {
        let stale = price.is_stale(today).then(|| Mark::Stale { days: (today - price.date).num_days() });
        let (accelerator, tier, currency) = kind(price);
        let above = self.median(&accelerator, tier, &currency).and_then(|median| {
            let times = quotient(price.amount, median)?;
            (times > ODD_TIMES.into()).then_some(Mark::FarAbove { median, times: times.round(1) })
        });
        let jump = before.and_then(|before| jump(price, before));
        stale.into_iter().chain(above).chain(jump).collect()
    }
}

/// By which share a price differs from another reading of the same, where that is odd. Nothing is known of one in
/// another currency.
fn jump(price: &Price, before: &Price) -> Option<Mark> {
    if price.currency != before.currency {
        return None;
    }
    let share = quotient(price.amount, before.amount)? - one();
    let is_odd = share.abs() >= decimal(JUMP.0, JUMP.1);
    is_odd.then_some(Mark::Jump { before: before.amount, date: before.date, share: share.round(4) })
}

fn kind(price: &Price) -> (String, Tier, Currency) {
    (price.accelerator.clone(), price.tier, price.currency.clone())
}

fn order(price: &Price) -> (&str, Tier, &Currency, Decimal, &str, &str, &str) {
    let Price { accelerator, tier, currency, amount, supplier, sku, region, .. } = price;
    (accelerator, *tier, currency, *amount, supplier, sku, region)
}

fn median(mut amounts: Vec<Decimal>) -> Option<Decimal> {
    if amounts.len() < FEWEST {
        return None;
    }
    amounts.sort_unstable();
    let (low, high) = (amounts[(amounts.len() - 1) / 2], amounts[amounts.len() / 2]);
    quotient(low + high, 2.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn aws() -> Price {
        let found = shipped().iter().find(|it| it.sku == "p5.48xlarge").unwrap();
        found.clone()
    }

    fn at(amount: &str, date: &str) -> Price {
        Price { amount: number(amount), date: day(date), ..aws() }
    }

    fn one_of(entered: Vec<Price>) -> Listed {
        Catalogue::with(entered, &BTreeSet::new()).find(&aws().offer()).unwrap().clone()
    }

    #[test]
    fn the_models_that_clusters_are_built_of_have_prices() {
        let list = Catalogue::shipped();
        for id in ["nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200", "nvidia-a100-sxm-80", "amd-mi300x"] {
            assert!(list.of(id).any(|price| price.tier == Tier::OnDemand), "{id}");
        }
        let tiers: Vec<Tier> = list.of("nvidia-h100-sxm").map(|price| price.tier).collect();
        assert!(tiers.is_sorted() && tiers.contains(&Tier::ThreeYears) && tiers.contains(&Tier::Spot));
        assert_eq!(list.of("nvidia-k80").count(), 0);
        let spot: Vec<Decimal> =
            list.of("nvidia-h100-sxm").filter(|it| it.tier == Tier::Spot).map(|it| it.amount).collect();
        assert!(spot.len() > 1 && spot.is_sorted());
    }

    #[test]
    fn of_two_readings_the_newest_holds_and_the_other_is_shown() {
        let it = one_of(vec![at("7.10", "2026-09-01"), at("7.00", "2026-08-01")]);
        assert_eq!((it.price.amount, it.origin), (number("7.10"), Origin::Entered));
        let others: Vec<_> = it.others.iter().map(|it| (it.price.date, it.price.amount, it.origin)).collect();
        let expected = [
            (day("2026-08-01"), number("7.00"), Origin::Entered),
            (day("2026-07-20"), number("6.88"), Origin::Shipped),
        ];
        assert_eq!(others, expected);
    }

    #[test]
    fn what_people_entered_holds_beside_a_later_one_that_is_shipped() {
        let it = one_of(vec![at("5.00", "2026-01-01")]);
        assert_eq!((it.price.amount, it.others.len()), (number("5.00"), 1));
        let marks = Catalogue::shipped().marks(&it, day("2026-03-01"));
        let jump = Mark::Jump {
            before: number("6.88"),
            date: day("2026-07-20"),
            share: quotient(number("5.00"), number("6.88")).map(|it| it - one()).unwrap().round(4),
        };
        assert_eq!(marks, [jump]);
        // Of the same day it stands for it.
        let same = one_of(vec![at("6.50", "2026-07-20")]);
        assert_eq!((same.price.amount, same.others.len()), (number("6.50"), 0));
    }

    #[test]
    fn a_shipped_offer_that_was_removed_is_gone_until_somebody_enters_one() {
        let removed = BTreeSet::from([aws().offer()]);
        assert_eq!(Catalogue::with(Vec::new(), &removed).find(&aws().offer()), None);
        let again = Catalogue::with(vec![at("6.00", "2026-10-01")], &removed);
        let it = again.find(&aws().offer()).unwrap();
        assert_eq!((it.price.amount, it.others.len()), (number("6.00"), 0));
    }

    #[test]
    fn old_far_and_changed_prices_are_marked() {
        let list = Catalogue::shipped();
        let today = day("2026-08-01");
        assert_eq!(list.marks_of(&aws(), None, today), []);
        let old = list.marks_of(&at("6.88", "2026-01-01"), None, today);
        assert_eq!(old, [Mark::Stale { days: 212 }]);
        // A whole node taken for one of its GPUs.
        let node = list.marks_of(&at("55.04", "2026-07-20"), None, today);
        assert!(matches!(node.as_slice(), [Mark::FarAbove { times, .. }] if *times > 10.into()), "{node:?}");
        let jump = |before: &str, now: &str| {
            let marks = list.marks_of(&at(now, "2026-07-20"), Some(&at(before, "2026-07-19")), today);
            marks.iter().any(|mark| matches!(mark, Mark::Jump { .. }))
        };
        assert!(jump("6.00", "6.60") && jump("6.00", "5.40"));
        // A dedicated host taken for one that is shared.
        assert!(jump("32.7726", "36.04986"));
        assert!(!jump("6.00", "6.59") && !jump("6.00", "5.41"));
        assert!(!jump("0", "6.60"), "nothing is known of a share of nothing");
        let rupees = Price { currency: Currency::exactly("INR"), ..at("600", "2026-07-19") };
        let marks = list.marks_of(&at("6.88", "2026-07-20"), Some(&rupees), today);
        assert!(
            !marks.iter().any(|mark| matches!(mark, Mark::Jump { .. })),
            "of another currency: {marks:?}"
        );
    }

    #[test]
    fn a_median_of_two_says_nothing() {
        assert_eq!(median(vec![1.into(), 9.into()]), None);
        assert_eq!(median(vec![9.into(), 1.into(), 2.into()]), Some(2.into()));
        assert_eq!(median(vec![9.into(), 1.into(), 2.into(), 3.into()]), Some(number("2.5")));
    }
}
