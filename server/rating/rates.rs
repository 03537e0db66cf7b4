//! All rates of an organization.

use chrono::NaiveDate;

use super::rate::Rate;
use crate::accelerator::Recognized;
use crate::billing::ChargeKey;

/// The lines of all rate cards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    rates: Vec<Rate>,
}

/// Two rates of which nobody could say which holds, or a tier without a first one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there are few, and most often none")]
pub enum Conflict {
    /// They have the same conditions and tier, and days in common.
    Overlap(Rate, Rate),
    /// It is a tier from some quantity on, and on its first day nothing says what less costs.
    NoFirstTier(Rate),
}

impl Rates {
    pub fn new(rates: impl IntoIterator<Item = Rate>) -> Self {
        Self { rates: rates.into_iter().collect() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rate> {
        self.rates.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// What keeps them from being rates of the same organization.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut by_conditions: Vec<(_, &Rate)> =
            self.rates.iter().map(|rate| (rate.conditions(), rate)).collect();
        by_conditions.sort_by(|a, b| {
            (&a.0, a.1.from_quantity, a.1.valid_from).cmp(&(&b.0, b.1.from_quantity, b.1.valid_from))
        });
        let mut conflicts = Vec::new();
        for same in by_conditions.chunk_by(|a, b| a.0 == b.0) {
            // In the order of their days, one that overlaps any later one overlaps the next.
            for pair in same.windows(2) {
                let (first, second) = (pair[0].1, pair[1].1);
                if first.from_quantity == second.from_quantity && first.holds_with(second) {
                    conflicts.push(Conflict::Overlap(first.clone(), second.clone()));
                }
            }
            let first_tiers: Vec<&Rate> =
                same.iter().filter(|(_, it)| it.from_quantity.is_zero()).map(|(_, it)| *it).collect();
            for (_, rate) in same.iter().filter(|(_, it)| !it.from_quantity.is_zero()) {
                if !is_covered(rate, &first_tiers) {
                    conflicts.push(Conflict::NoFirstTier((*rate).clone()));
                }
            }
        }
        conflicts
    }

    /// Those for usage of such a key, the most particular first; of those with the same conditions the lowest tier.
    pub fn of_key(&self, key: &ChargeKey, accelerator: Option<Recognized>) -> Vec<&Rate> {
        let mut fitting: Vec<&Rate> = self
            .rates
            .iter()
            .filter(|rate| rate.currency.as_str() == key.currency && rate.fits(key, accelerator))
            .collect();
        fitting.sort_by_cached_key(|rate| {
            (
                std::cmp::Reverse(rate.particularity(key)),
                rate.conditions(),
                rate.from_quantity,
                rate.valid_from,
            )
        });
        fitting
    }

    /// The rates that would be for usage of such a key on a day, were they in its currency.
    pub fn in_other_currencies(
        &self,
        key: &ChargeKey,
        accelerator: Option<Recognized>,
        day: NaiveDate,
    ) -> Vec<&Rate> {
        let is_other = |rate: &&Rate| rate.currency.as_str() != key.currency && rate.holds_on(day);
        self.rates.iter().filter(|rate| rate.fits(key, accelerator)).filter(is_other).collect()
    }
}

/// Whether on each day of a tier one of these, in the order of their days, says what less costs.
fn is_covered(tier: &Rate, first_tiers: &[&Rate]) -> bool {
    let mut day = tier.valid_from;
    for first in
        first_tiers.iter().filter(|first| first.valid_from <= tier.valid_to.unwrap_or(NaiveDate::MAX))
    {
        if !first.holds_on(day) {
            continue;
        }
        match (first.valid_to, tier.valid_to) {
            (None, _) => return true,
            (Some(last), Some(end)) if end <= last => return true,
            (Some(last), _) => day = last.succ_opt().unwrap_or(last),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Currency, Decimal, number};

    fn rate(sku: &str, from: &str, to: &str) -> Rate {
        Rate {
            provider: "CoreWeave".to_owned(),
            billing_account: String::new(),
            sku: sku.to_owned(),
            accelerator: String::new(),
            region: String::new(),
            pricing: String::new(),
            unit: "Hours".to_owned(),
            from_quantity: Decimal::ZERO,
            price: number("2"),
            currency: Currency::exactly("USD"),
            valid_from: from.parse().unwrap(),
            valid_to: to.parse().ok(),
            source: String::new(),
            contract: String::new(),
        }
    }

    #[test]
    fn rates_of_the_same_usage_and_day_conflict() {
        let days = |from, to| rate("a", from, to);
        for (first, second, conflicts) in [
            (days("2026-01-01", ""), days("2026-06-01", ""), true),
            (days("2026-01-01", "2026-06-01"), days("2026-06-01", ""), true),
            (days("2026-01-01", "2026-05-31"), days("2026-06-01", ""), false),
            (days("2026-06-01", ""), days("2026-01-01", "2026-05-31"), false),
            (days("2026-01-01", ""), rate("A", "2026-06-01", ""), true),
            (days("2026-01-01", ""), rate("b", "2026-06-01", ""), false),
            (days("2026-01-01", ""), rate("", "2026-06-01", ""), false),
            (
                days("2026-01-01", ""),
                Rate { currency: Currency::exactly("EUR"), ..days("2026-06-01", "") },
                false,
            ),
        ] {
            let found = Rates::new([first, second]).conflicts();
            assert_eq!(!found.is_empty(), conflicts, "{found:?}");
        }
    }

    #[test]
    fn tier_needs_a_first_one_on_its_days() {
        let tier = |from: &str| Rate { from_quantity: number("100"), ..rate("a", from, "") };
        let found = Rates::new([tier("2026-01-01")]).conflicts();
        assert_eq!(found, [Conflict::NoFirstTier(tier("2026-01-01"))]);
        let later = Rates::new([rate("a", "2026-02-01", ""), tier("2026-01-01")]).conflicts();
        assert_eq!(later, [Conflict::NoFirstTier(tier("2026-01-01"))]);
        let ends = Rates::new([rate("a", "2026-01-01", "2026-03-31"), tier("2026-01-01")]).conflicts();
        assert_eq!(ends, [Conflict::NoFirstTier(tier("2026-01-01"))], "it outlives the first one");
        let two = [rate("a", "2026-01-01", "2026-03-31"), rate("a", "2026-04-01", "")];
        assert_eq!(Rates::new(two.into_iter().chain([tier("2026-01-01")])).conflicts(), []);
        assert_eq!(Rates::new([rate("a", "2026-01-01", ""), tier("2026-01-01")]).conflicts(), []);
    }
}
