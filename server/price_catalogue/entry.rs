//! What people say of prices, and edits of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::changes::{self, Document, Edit as _, Kind, Problem};
use crate::price_catalogue::{Catalogue, Origin, Price};

/// What stands in an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// An offer was read on a day.
    Price(Price),
    /// An offer that comes with the program is not wanted. The price is what it was, for a person.
    Removed(Price),
}

impl changes::Entry for Said {
    /// `AWS p5.48xlarge, us-east-1, of 2026-07-20`.
    fn title(&self) -> String {
        title(self.price())
    }
}

impl Said {
    /// What distinguishes it from others: of an offer there is one entry a day, and one that removes it.
    pub fn entry(&self) -> String {
        match self {
            Self::Price(price) => format!("{}@{}", price.offer(), price.date),
            Self::Removed(price) => format!("{}@shipped", price.offer()),
        }
    }

    pub fn price(&self) -> &Price {
        match self {
            Self::Price(price) | Self::Removed(price) => price,
        }
    }
}

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub before: Option<Said>,
    pub after: Option<Said>,
    /// What held of the offer when it was made, for a person: what the change is from.
    #[serde(default)]
    pub held: Option<Price>,
}

impl changes::Edit for Edit {
    type Key = String;
    type Entry = Said;

    /// The entry it is of; empty of one that edits nothing.
    fn key(&self) -> String {
        self.after.as_ref().or(self.before.as_ref()).map(Said::entry).unwrap_or_default()
    }

    fn before(&self) -> Option<&Said> {
        self.before.as_ref()
    }

    fn after(&self) -> Option<&Said> {
        self.after.as_ref()
    }

    fn undone(self) -> Self {
        Self { before: self.after, after: self.before, held: None }
    }
}

impl Edit {
    /// The price it is about.
    pub fn price(&self) -> Option<&Price> {
        self.after.as_ref().or(self.before.as_ref()).map(Said::price)
    }

    /// The price that it sets; none where it takes one away.
    pub fn sets(&self) -> Option<&Price> {
        match &self.after {
            Some(Said::Price(price)) => Some(price),
            Some(Said::Removed(_)) | None => None,
        }
    }

    fn of(entries: &Entries, after: Said) -> Self {
        Self { before: entries.said.get(&after.entry()).cloned(), after: Some(after), held: None }
    }
}

/// Everything people say, as of a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    pub said: BTreeMap<String, Said>,
}

impl Document for Entries {
    const KIND: Kind = Kind::Prices;
    type Edit = Edit;

    fn of(said: BTreeMap<String, Said>) -> Self {
        Self { said }
    }

    fn entries(&self) -> &BTreeMap<String, Said> {
        &self.said
    }

    fn entries_mut(&mut self) -> &mut BTreeMap<String, Said> {
        &mut self.said
    }

    /// None: every price is checked by itself, when it is entered.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

impl Entries {
    /// The list with it.
    pub fn catalogue(&self) -> Catalogue {
        let mut removed = BTreeSet::new();
        let mut entered = Vec::new();
        for said in self.said.values() {
            match said {
                Said::Price(price) => entered.push(price.clone()),
                Said::Removed(price) => {
                    removed.insert(price.offer());
                }
            }
        }
        Catalogue::with(entered, &removed)
    }

    /// Those of these offers, by id, that do not stand as they stood then.
    pub fn changed_since(&self, then: &Self, offers: &[&str]) -> Vec<String> {
        let (now, then) = (self.catalogue(), then.catalogue());
        let changed = offers.iter().filter_map(|id| {
            let (now, then) = (now.find(id), then.find(id));
            if now == then { None } else { now.or(then).map(|it| title(&it.price)) }
        });
        changed.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// For a person: `AWS p5.48xlarge, us-east-1, of 2026-07-20`.
pub(super) fn title(price: &Price) -> String {
    let what = price.what();
    let what = if what.is_empty() { price.accelerator.clone() } else { what };
    format!("{} {what}, of {}", price.supplier, price.date)
}

/// Edits that take the prices of a file in; those that are there already change nothing and are left out.
pub fn edits_of_file(entries: &Entries, prices: Vec<Price>) -> Vec<Edit> {
    let list = entries.catalogue();
    let edit = |price: Price| {
        let held = list.find(&price.offer());
        let is_known =
            held.is_some_and(|held| held.price == price || held.others.iter().any(|it| it.price == price));
        let held = held.map(|it| it.price.clone());
        (!is_known).then(|| Edit { held, ..Edit::of(entries, Said::Price(price)) })
    };
    prices.into_iter().filter_map(edit).collect()
}

/// Edits that put a price in the place of the one that holds of an offer, by its id.
pub fn edits_of_replacement(entries: &Entries, offer: &str, price: Price) -> Vec<Edit> {
    let list = entries.catalogue();
    let held = list.find(offer);
    let mut edits = Vec::new();
    let is_same_entry =
        held.is_some_and(|it| it.price.offer() == price.offer() && it.price.date == price.date);
    if let Some(held) = held.filter(|_| !is_same_entry) {
        // A later day of what was shipped is another reading of it; of what somebody entered it may be a mistake corrected.
        if held.origin == Origin::Entered || held.price.offer() != price.offer() {
            edits.extend(edits_of_removal(entries, offer));
        }
    }
    let held = held.map(|it| it.price.clone());
    let after = Said::Price(price);
    match edits.iter_mut().find(|it| it.key() == after.entry()) {
        Some(edit) => edit.after = Some(after),
        None => edits.push(Edit { held, ..Edit::of(entries, after) }),
    }
    edits
}

/// Edits that take an offer out of the list: everything that was entered of it, and what was shipped.
pub fn edits_of_removal(entries: &Entries, offer: &str) -> Vec<Edit> {
    let list = entries.catalogue();
    let Some(listed) = list.find(offer) else { return Vec::new() };
    let held = Some(listed.price.clone());
    let entered =
        entries.said.values().filter(|it| matches!(it, Said::Price(price) if price.offer() == offer));
    let mut edits: Vec<Edit> =
        entered.map(|it| Edit { before: Some(it.clone()), after: None, held: held.clone() }).collect();
    let shipped = Catalogue::shipped().find(offer);
    if let Some(shipped) = shipped {
        let edit = Edit::of(entries, Said::Removed(shipped.price.clone()));
        if edit.before != edit.after {
            edits.push(Edit { held, ..edit });
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Decimal, number};

    fn shipped() -> Price {
        let found = Catalogue::shipped().listed().iter().find(|it| it.price.sku == "p5.48xlarge");
        found.unwrap().price.clone()
    }

    fn at(amount: &str, date: &str) -> Price {
        Price { amount: amount.parse().unwrap(), date: date.parse().unwrap(), ..shipped() }
    }

    fn holds(entries: &Entries) -> Option<Decimal> {
        entries.catalogue().find(&shipped().offer()).map(|it| it.price.amount)
    }

    #[test]
    fn a_file_that_was_read_already_changes_nothing() {
        let none = Entries::default();
        assert_eq!(edits_of_file(&none, vec![shipped()]), []);
        let edits = edits_of_file(&none, vec![shipped(), at("7", "2026-11-01")]);
        assert_eq!(edits.len(), 1);
        assert_eq!(edits[0].held, Some(shipped()));
        let with = none.edited(&edits);
        assert_eq!(holds(&with), Some(number("7")));
        assert_eq!(edits_of_file(&with, vec![at("7", "2026-11-01")]), []);
    }

    #[test]
    fn a_change_of_what_was_shipped_keeps_it_beside_and_one_of_ours_replaces_it() {
        let offer = shipped().offer();
        let none = Entries::default();
        let first = none.edited(&edits_of_replacement(&none, &offer, at("6", "2026-11-01")));
        assert_eq!(
            (holds(&first), first.catalogue().find(&offer).unwrap().others.len()),
            (Some(number("6")), 1)
        );
        let second = first.edited(&edits_of_replacement(&first, &offer, at("6", "2026-10-01")));
        assert_eq!(
            (holds(&second), second.said.len()),
            (Some(number("6")), 2),
            "what was shipped is gone with it"
        );
        let other = Price { region: "eu-west-1".into(), ..at("6", "2026-11-01") };
        let third = none.edited(&edits_of_replacement(&none, &offer, other.clone()));
        assert_eq!(holds(&third), None, "it is another offer now");
        assert!(third.catalogue().find(&other.offer()).is_some());
    }

    #[test]
    fn removing_undone_in_any_order_leaves_what_was_before() {
        let offer = shipped().offer();
        let none = Entries::default();
        let removal = edits_of_removal(&none, &offer);
        let removed = none.edited(&removal);
        assert_eq!(holds(&removed), None);
        assert_eq!(edits_of_removal(&removed, &offer), []);
        let entered = edits_of_file(&removed, vec![at("5", "2026-11-01")]);
        let with = removed.edited(&entered);
        assert_eq!(holds(&with), Some(number("5")));
        let back: Vec<Edit> = removal.into_iter().map(Edit::undone).collect();
        assert_eq!(with.conflicts(&back), Vec::<String>::new());
        assert_eq!(holds(&with.edited(&back)), Some(number("5")));
        let back_too: Vec<Edit> = entered.into_iter().map(Edit::undone).collect();
        assert_eq!(with.edited(&back_too).edited(&back), none);
        assert_eq!(none.conflicts(&back).len(), 1, "what is not there cannot be undone");
    }
}
