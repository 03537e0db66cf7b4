//! Rate cards as a document that people change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::changes::{Document, Entry, Kind, NumberedEdit, Problem, entry_ids};
use crate::entered_csv::RefusedRow;
use crate::rating::{Conflict, Rate, Rates};

pub type Edit = NumberedEdit<Rate>;

/// All rates, each with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateCards {
    pub rates: BTreeMap<i64, Rate>,
}

impl Entry for Rate {
    fn title(&self) -> String {
        let until = self.valid_to.map(|day| format!(" to {day}")).unwrap_or_default();
        format!("{}, from {}{until}", Self::title(self), self.valid_from)
    }
}

impl Document for RateCards {
    const KIND: Kind = Kind::RateCards;
    type Edit = Edit;

    fn of(rates: BTreeMap<i64, Rate>) -> Self {
        Self { rates }
    }

    fn entries(&self) -> &BTreeMap<i64, Rate> {
        &self.rates
    }

    fn entries_mut(&mut self) -> &mut BTreeMap<i64, Rate> {
        &mut self.rates
    }

    /// That two rates are for the same usage on the same day, or that one is a tier above nothing.
    fn problems(&self) -> Vec<Problem> {
        let problem = |conflict: Conflict| match conflict {
            Conflict::Overlap(first, second) => Problem {
                of: Entry::title(&second),
                message: format!(
                    "overlaps {} from {}{}: end that one before this one begins, or give them different conditions",
                    Rate::title(&first),
                    first.valid_from,
                    first.valid_to.map(|day| format!(" to {day}")).unwrap_or_default(),
                ),
            },
            Conflict::NoFirstTier(tier) => Problem {
                message: format!(
                    "is a tier from {} on: enter what less than that costs, with the same conditions, from {} or earlier",
                    tier.from_quantity, tier.valid_from
                ),
                of: Entry::title(&tier),
            },
        };
        self.rates().conflicts().into_iter().map(problem).collect()
    }
}

impl RateCards {
    pub fn rates(&self) -> Rates {
        Rates::new(self.rates.values().cloned())
    }
}

/// What a file of rates had besides those that change something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub rows: usize,
    /// Rates that were there already.
    pub known: usize,
    /// The first of them.
    pub rejected: Vec<RefusedRow>,
    pub rejected_count: usize,
}

/// Edits that add rates. One of the same usage that has no end yet and begins earlier ends on the day before.
pub async fn edits_of_addition(
    db: &mut PgConnection,
    cards: &RateCards,
    rates: Vec<Rate>,
) -> sqlx::Result<Vec<Edit>> {
    // One that ended since, as another followed it, is known.
    let is_new = |rate: &Rate| {
        let is_known = |known: &Rate| {
            known == rate || (rate.valid_to.is_none() && Rate { valid_to: None, ..known.clone() } == *rate)
        };
        !cards.rates.values().any(is_known)
    };
    let mut new: Vec<Rate> = Vec::new();
    for rate in rates.into_iter().filter(is_new) {
        if !new.contains(&rate) {
            new.push(rate);
        }
    }
    // Successive prices of a file follow each other as those that are entered one by one.
    let all = new.clone();
    for rate in &mut new {
        let next = all.iter().filter(|next| next.follows(rate)).map(|next| next.valid_from).min();
        rate.valid_to = next.and_then(|day| day.pred_opt()).or(rate.valid_to);
    }
    let mut edits = Vec::new();
    for (id, known) in &cards.rates {
        let follows = |rate: &&Rate| rate.follows(known);
        let Some(first) = new.iter().filter(follows).map(|rate| rate.valid_from).min() else { continue };
        let after = Rate { valid_to: first.pred_opt(), ..known.clone() };
        edits.push(Edit { id: *id, before: Some(known.clone()), after: Some(after) });
    }
    let ids = entry_ids(db, new.len()).await?;
    edits.extend(ids.into_iter().zip(new).map(|(id, rate)| Edit { id, before: None, after: Some(rate) }));
    Ok(edits)
}

/// The edit that puts a rate in the place of one, or takes it away; `None` where there is none of that number.
pub fn edits_of(cards: &RateCards, id: i64, after: Option<Rate>) -> Option<Vec<Edit>> {
    let before = cards.rates.get(&id)?.clone();
    Some(vec![Edit { id, before: Some(before), after }])
}
