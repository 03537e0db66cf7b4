//! What would give unallocated keys an owner: one line for each rule or team that is missing, with all the keys that it
//! is for. Pure.

use super::{ChargesAndCredits, UnallocatedKey};
use crate::allocation::Suggestion;
use crate::money::Decimal;

/// A rule or team that is missing, and what it is for.
#[derive(Clone, Debug)]
pub struct SuggestedRule<'a> {
    pub what: Offer<'a>,
    /// The largest first.
    pub keys: Vec<&'a UnallocatedKey>,
    pub cost: Decimal,
    /// The same, what is above zero and what is below apart.
    pub amounts: ChargesAndCredits,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    /// What else could be said of some of them, each once.
    pub others: Vec<&'a Suggestion>,
}

#[derive(Clone, Copy, Debug)]
pub enum Offer<'a> {
    /// The surest of the suggestions.
    Suggested(&'a Suggestion),
    /// Nothing in them says; they stand in the same account and are of the same service.
    Nothing,
    /// A rule gives them to this pool, and nobody has a share of it.
    Pool(&'a str),
}

/// Keys by what is the surest of them, the most money first, charged or credited.
pub fn suggested_rules(keys: &[UnallocatedKey]) -> Vec<SuggestedRule<'_>> {
    let mut suggested_rules: Vec<SuggestedRule<'_>> = Vec::new();
    for key in keys {
        let at = suggested_rules.iter().position(|suggested| suggested.is_for(key)).unwrap_or_else(|| {
            suggested_rules.push(SuggestedRule::of(key));
            suggested_rules.len() - 1
        });
        suggested_rules[at].add(key);
    }
    suggested_rules.sort_by_key(|suggested| std::cmp::Reverse(suggested.amounts.size()));
    suggested_rules
}

impl<'a> SuggestedRule<'a> {
    fn of(key: &'a UnallocatedKey) -> Self {
        let what = match (&key.pool, key.suggestions.first()) {
            (Some(pool), _) => Offer::Pool(pool),
            (None, Some(surest)) => Offer::Suggested(surest),
            (None, None) => Offer::Nothing,
        };
        Self {
            what,
            keys: Vec::new(),
            cost: Decimal::ZERO,
            amounts: ChargesAndCredits::default(),
            accelerator_hours: Decimal::ZERO,
            owned_hours: Decimal::ZERO,
            others: Vec::new(),
        }
    }

    fn is_for(&self, key: &UnallocatedKey) -> bool {
        match (self.what, &key.pool, key.suggestions.first()) {
            (Offer::Pool(known), Some(pool), _) => known == pool,
            (Offer::Suggested(known), None, Some(surest)) => known.how == surest.how,
            (Offer::Nothing, None, None) => {
                let place =
                    |key: &UnallocatedKey| (key.provider.clone(), key.account.clone(), key.service.clone());
                self.keys.first().is_some_and(|known| place(known) == place(key))
            }
            _ => false,
        }
    }

    fn add(&mut self, key: &'a UnallocatedKey) {
        self.cost += key.cost;
        self.amounts.add(key.cost);
        self.accelerator_hours += key.accelerator_hours;
        self.owned_hours += key.owned_hours;
        for other in key.suggestions.iter().skip(1) {
            if !self.others.iter().any(|known| known.how == other.how) {
                self.others.push(other);
            }
        }
        self.keys.push(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{How, Target};

    fn key(account: &str, cost: i64, teams: &[&str]) -> UnallocatedKey {
        let suggestion = |team: &&str| Suggestion {
            who: (*team).to_owned(),
            why: "a reason".to_owned(),
            how: How::Rule { when: Vec::new(), to: Target::Team { team: (*team).to_owned(), project: None } },
        };
        UnallocatedKey {
            charge_key_id: uuid::Uuid::nil(),
            provider: "acme".into(),
            account: account.into(),
            service: "compute".into(),
            item: String::new(),
            region: String::new(),
            category: "Usage".into(),
            pricing: String::new(),
            accelerator: None,
            resource: None,
            tags: serde_json::json!({}),
            pool: None,
            cost: cost.into(),
            accelerator_hours: Decimal::ZERO,
            owned_hours: Decimal::ZERO,
            days: None,
            share: Decimal::ZERO,
            suggestions: teams.iter().map(suggestion).collect(),
        }
    }

    #[test]
    fn a_rule_that_is_offered_for_many_keys_stands_once_with_all_of_their_money() {
        let pooled = UnallocatedKey { pool: Some("tax".into()), ..key("a", 3, &["vision"]) };
        let keys = [
            key("a", 10, &["vision", "speech"]),
            key("b", 9, &[]),
            key("b", 8, &[]),
            key("c", 7, &["vision", "nlp"]),
            key("c", 4, &[]),
            pooled,
        ];
        let found = suggested_rules(&keys);
        let described: Vec<(String, usize, usize)> = found
            .iter()
            .map(|suggested| {
                (
                    format!("{} {}", suggested.cost, suggested.keys[0].account),
                    suggested.keys.len(),
                    suggested.others.len(),
                )
            })
            .collect();
        let line = |text: &str, keys, others| (text.to_owned(), keys, others);
        assert_eq!(described, [line("17 a", 2, 2), line("17 b", 2, 0), line("4 c", 1, 0), line("3 a", 1, 0)]);
    }
}
