//! Going over the usage of a bill with rates.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::NaiveDate;
use uuid::Uuid;

use super::rate::{Conditions, Rate};
use super::rates::Rates;
use crate::accelerator::{PARTS, Recognized};
use crate::billing::ChargeKey;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Decimals that hours are rounded to where a unit is no whole part of an hour.
const PLACES: u8 = 20;

/// Some usage that arrives without cost.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    pub key: &'a ChargeKey,
    /// Which accelerator the key pays for.
    pub accelerator: Option<Recognized>,
    pub month: BillingMonth,
    pub day: NaiveDate,
    /// In units of the key.
    pub quantity: Decimal,
    /// Of the key: usage that has the same has the same key.
    pub key_id: Uuid,
}

/// Keys whose rates are remembered; beyond, they are looked for again.
const MAX_REMEMBERED: usize = 100_000;

/// The rates, and how much of the months was priced so far.
#[derive(Clone, Debug, Default)]
pub struct Pricing {
    rates: Arc<Rates>,
    /// The rates of keys, the most particular first.
    of_keys: HashMap<Uuid, Arc<[Rate]>>,
    priced: HashMap<(Conditions, String, BillingMonth), Decimal>,
}

impl Pricing {
    pub fn new(rates: Arc<Rates>) -> Self {
        Self { rates, ..Self::default() }
    }

    /// What it costs; `None` where no rate is for it, or it is more than amounts hold. The order of calls is that of the bill.
    pub fn price(&mut self, usage: Usage<'_>) -> Option<Decimal> {
        if self.of_keys.len() >= MAX_REMEMBERED {
            self.of_keys.clear();
        }
        let rates = &self.rates;
        let find = || rates.of_key(usage.key, usage.accelerator).into_iter().cloned().collect();
        let fitting = Arc::clone(self.of_keys.entry(usage.key_id).or_insert_with(find));
        let tiers = tiers_on(fitting.iter(), usage.day);
        let first = *tiers.first()?;
        let quantity = if first.is_per_gpu_hour() {
            quantity_of(usage.accelerator?, usage.quantity)
        } else {
            usage.quantity
        };
        if let [only] = *tiers {
            return quantity.checked_multiply(only.price).ok()?.as_amount();
        }
        let month = (first.conditions(), usage.key.billing_account.clone(), usage.month);
        let before = self.priced.entry(month).or_default();
        let after = before.checked_add(quantity).ok()?;
        let cost = up_to(&tiers, after)?.checked_sub(up_to(&tiers, *before)?).ok()?.as_amount()?;
        *before = after;
        Some(cost)
    }
}

/// What decides the cost of usage on a day, by two sets of rates and what each knew of its accelerator: whether it is the same.
pub fn is_priced_alike(
    before: (&Rates, Option<Recognized>),
    after: (&Rates, Option<Recognized>),
    key: &ChargeKey,
    day: NaiveDate,
) -> bool {
    let deciding = |(rates, accelerator): (&Rates, Option<Recognized>)| {
        let tiers = tiers_on(rates.of_key(key, accelerator).into_iter(), day);
        let hours = tiers.first().filter(|it| it.is_per_gpu_hour()).and(accelerator);
        let conditions = (tiers.len() > 1).then(|| tiers[0].conditions());
        let prices = tiers.iter().map(|it| (it.from_quantity, it.price)).collect::<Vec<_>>();
        (prices, conditions, hours.map(|it| (it.per_unit, it.seconds_per_unit)))
    };
    deciding(before) == deciding(after)
}

/// Of the rates of a key those that hold on a day: the most particular ones, by tier; none where no lowest tier holds.
fn tiers_on<'r>(fitting: impl Iterator<Item = &'r Rate>, day: NaiveDate) -> Vec<&'r Rate> {
    let mut on_day = fitting.filter(|rate| rate.holds_on(day));
    let Some(first) = on_day.next().filter(|first| first.from_quantity.is_zero()) else { return Vec::new() };
    let conditions = first.conditions();
    std::iter::once(first).chain(on_day.take_while(|rate| rate.conditions() == conditions)).collect()
}

/// Accelerator-hours of a quantity: exact where a unit is whole hours.
pub fn quantity_of(accelerator: Recognized, quantity: Decimal) -> Decimal {
    let parts = accelerator.per_unit.parts() * i64::from(accelerator.seconds_per_unit);
    let hour = PARTS * 3600;
    let whole = parts / hour;
    if parts % hour == 0 {
        return quantity.times(whole);
    }
    let of_parts = quantity.times(parts);
    let hours = of_parts.divide(hour.into(), PLACES).unwrap_or_default();
    hours.normalize()
}

/// What a quantity costs that is counted from 0; less than nothing costs what the first tier does.
fn up_to(tiers: &[&Rate], quantity: Decimal) -> Option<Decimal> {
    let mut cost = Decimal::ZERO;
    for (at, tier) in tiers.iter().enumerate() {
        let end = tiers.get(at + 1).map_or(quantity, |next| quantity.min(next.from_quantity));
        let within = end.checked_sub(tier.from_quantity).ok()?;
        if at > 0 && within.is_negative() {
            break;
        }
        cost = cost.checked_add(within.checked_multiply(tier.price).ok()?).ok()?;
    }
    Some(cost)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::accelerator::recognize;
    use crate::billing::PricingCategory;
    use crate::money::{Currency, number};

    fn rate(price: &str) -> Rate {
        Rate {
            provider: "CoreWeave".to_owned(),
            billing_account: String::new(),
            sku: String::new(),
            accelerator: String::new(),
            region: String::new(),
            pricing: String::new(),
            unit: "Hours".to_owned(),
            from_quantity: Decimal::ZERO,
            price: number(price),
            currency: Currency::exactly("USD"),
            valid_from: "2026-01-01".parse().unwrap(),
            valid_to: None,
            source: String::new(),
            contract: String::new(),
        }
    }

    fn key() -> ChargeKey {
        ChargeKey {
            provider: "CoreWeave".to_owned(),
            billing_account: "acct-1".to_owned(),
            sku: "sku-h100".to_owned(),
            meter: "8x NVIDIA H100".to_owned(),
            region: "us-east-04".to_owned(),
            pricing: PricingCategory::Standard,
            unit: "Hours".to_owned(),
            currency: "USD".to_owned(),
            stated_accelerators: "8".to_owned(),
            ..ChargeKey::default()
        }
    }

    fn fnv(key: &ChargeKey) -> u64 {
        use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
        BuildHasherDefault::<DefaultHasher>::default().hash_one(key)
    }

    fn price(pricing: &mut Pricing, key: &ChargeKey, day: &str, quantity: &str) -> Option<Decimal> {
        let day: NaiveDate = day.parse().unwrap();
        let quantity = number(quantity);
        let key_id = Uuid::from_u128(u128::from(fnv(key)));
        pricing.price(Usage {
            key,
            key_id,
            accelerator: recognize(key),
            month: BillingMonth::of(day),
            day,
            quantity,
        })
    }

    fn priced(rates: Vec<Rate>, quantity: &str) -> Option<Decimal> {
        price(&mut Pricing::new(Arc::new(Rates::new(rates))), &key(), "2026-09-10", quantity)
    }

    #[test]
    fn most_particular_rate_holds_whatever_the_order() {
        let general = rate("1");
        let of_region = Rate { region: "US-EAST-04".to_owned(), ..rate("2") };
        let of_sku = Rate { sku: "sku-h100".to_owned(), ..rate("3") };
        let of_meter = Rate { sku: "8x NVIDIA H100".to_owned(), pricing: "Standard".to_owned(), ..rate("4") };
        let of_account = Rate { billing_account: "acct-1".to_owned(), ..rate("5") };
        let elsewhere = Rate { region: "us-west-01".to_owned(), ..rate("9") };
        let cases = [
            (vec![general.clone()], "1"),
            (vec![elsewhere.clone(), general.clone()], "1"),
            (vec![general.clone(), of_region.clone()], "2"),
            (vec![of_region.clone(), of_sku.clone()], "3"),
            (vec![of_sku.clone(), of_account.clone()], "5"),
            (vec![of_account, of_meter.clone()], "4"),
        ];
        for (rates, expected) in cases {
            let backwards: Vec<Rate> = rates.iter().rev().cloned().collect();
            assert_eq!(priced(rates, "1"), Some(number(expected)));
            assert_eq!(priced(backwards, "1"), Some(number(expected)));
        }
        assert_eq!(priced(vec![elsewhere], "1"), None);
    }

    #[test]
    fn usage_is_unpriced_where_day_unit_currency_or_provider_differ() {
        for other in [
            Rate { valid_from: "2026-09-11".parse().unwrap(), ..rate("2") },
            Rate { valid_to: "2026-09-09".parse().ok(), ..rate("2") },
            Rate { unit: "GiB-hours".to_owned(), ..rate("2") },
            Rate { currency: Currency::exactly("EUR"), ..rate("2") },
            Rate { provider: "Lambda".to_owned(), ..rate("2") },
            Rate { accelerator: "nvidia-b200".to_owned(), ..rate("2") },
        ] {
            assert_eq!(priced(vec![other.clone()], "5"), None, "{other:?}");
        }
    }

    #[test]
    fn price_per_gpu_hour_counts_the_accelerators_of_the_machine() {
        let per_gpu = Rate { unit: "gpu-hour".to_owned(), ..rate("2.39") };
        assert_eq!(priced(vec![per_gpu.clone()], "1.5"), Some(number("28.68")));
        let none =
            ChargeKey { meter: "IP addresses".to_owned(), stated_accelerators: String::new(), ..key() };
        let mut pricing = Pricing::new(Arc::new(Rates::new([per_gpu])));
        assert_eq!(price(&mut pricing, &none, "2026-09-10", "1"), None);
    }

    #[test]
    fn cost_that_no_amount_holds_is_none() {
        let largest = "9".repeat(24);
        assert_eq!(priced(vec![rate("2")], &largest), None);
        assert_eq!(priced(vec![rate(&largest)], &largest), None);
        assert_eq!(priced(vec![rate("0.5")], &largest).unwrap().scale(), 1);
        let finest = format!("0.{}1", "0".repeat(39));
        assert_eq!(priced(vec![rate("0.4")], &finest), Some(Decimal::ZERO));
    }

    #[test]
    fn changed_price_holds_from_its_day_on() {
        let old = Rate { valid_to: "2026-09-14".parse().ok(), ..rate("2") };
        let new = Rate { valid_from: "2026-09-15".parse().unwrap(), ..rate("3") };
        let mut pricing = Pricing::new(Arc::new(Rates::new([new, old])));
        assert_eq!(price(&mut pricing, &key(), "2026-09-14", "10"), Some(number("20")));
        assert_eq!(price(&mut pricing, &key(), "2026-09-15", "10"), Some(number("30")));
    }

    #[test]
    fn tiers_of_a_month_are_graduated_and_taken_back_as_they_were_given() {
        let tiers = || {
            let above = |from: &str, price| Rate { from_quantity: number(from), ..rate(price) };
            Pricing::new(Arc::new(Rates::new([above("100", "1"), rate("2"), above("150", "0.5")])))
        };
        let mut pricing = tiers();
        for (quantity, cost) in [("90", "180"), ("20", "30"), ("-20", "-30"), ("70", "75"), ("-160", "-255")]
        {
            assert_eq!(price(&mut pricing, &key(), "2026-09-10", quantity), Some(number(cost)), "{quantity}");
        }
        assert_eq!(price(&mut pricing, &key(), "2026-10-01", "100"), Some(number("200")), "another month");
        let other = ChargeKey { billing_account: "acct-2".to_owned(), ..key() };
        assert_eq!(price(&mut pricing, &other, "2026-10-01", "100"), Some(number("200")), "another account");
        assert_eq!(price(&mut pricing, &key(), "2026-10-02", "10"), Some(number("10")));
    }

    proptest! {
        #[test]
        fn parts_of_a_month_cost_what_the_month_costs(parts in prop::collection::vec(-1_000_000i64..1_000_000, 1..20)) {
            let above = |from: &str, price| Rate { from_quantity: number(from), ..rate(price) };
            let rates = Arc::new(Rates::new([rate("2.123456789"), above("300.5", "1.7"), above("999", "0.333")]));
            let quantities: Vec<Decimal> = parts.iter().map(|it| Decimal::new((*it).into(), 3)).collect();
            let whole: Decimal = quantities.iter().copied().sum();
            let mut one_by_one = Pricing::new(Arc::clone(&rates));
            let sum: Decimal = quantities
                .iter()
                .map(|it| price(&mut one_by_one, &key(), "2026-09-10", &it.to_string()).unwrap())
                .sum();
            let at_once = price(&mut Pricing::new(rates), &key(), "2026-09-10", &whole.to_string());
            prop_assert_eq!(Some(sum), at_once);
        }
    }
}
