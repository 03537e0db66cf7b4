//! Prices, by what is paid for them.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::Gpus;
use crate::economics::price_path::Path;
use crate::economics::spot::Interruptions;
use crate::money::Decimal;
use crate::money::arithmetic::{one, quotient};

/// How the source of a price of 0 begins where hours cost nothing. Any other 0 is what lists say of what is not sold.
pub const COVERED: &str = "covered by credits";

/// What machines of one's own are called that cost what the books say.
pub const OUR_OWN: &str = "Our own machines";

/// How the source of a price begins of machines that are there already: their hours cost what they do by the books, whether
/// they are used or not. Nobody committed to them.
pub const BY_THE_BOOKS: &str = "our own machines, by the books";

/// A price of an hour of a GPU or of a million tokens, and where it is from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    pub price: Decimal,
    /// How it is expected to move. By default it stays.
    #[serde(default)]
    pub path: Path,
    /// When it was read.
    #[serde(default)]
    pub date: Option<NaiveDate>,
    /// Where it was read, or who offered it.
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub region: String,
}

impl Rate {
    /// Whether its hours are said to cost nothing.
    pub fn is_covered(&self) -> bool {
        self.price.is_zero() && self.source.starts_with(COVERED)
    }

    /// What it is in a month, from 0; of what was checked.
    pub(in crate::economics) fn in_month(&self, month: u32) -> Decimal {
        self.path.moved(self.price, month)
    }
}

/// What is paid for every hour of a term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committed {
    pub rate: Rate,
    /// For each GPU at the start of a term, besides its hours.
    #[serde(default)]
    pub upfront: Decimal,
    /// Of a term. It is renewed until the end, at the price of then.
    pub months: u32,
    #[serde(default)]
    pub gpus: Gpus,
}

impl Committed {
    /// Whether it stands for machines that are there already.
    pub fn is_owned(&self) -> bool {
        self.rate.source.starts_with(BY_THE_BOOKS)
    }

    /// What its hours are called.
    pub(in crate::economics) fn name(&self) -> String {
        if self.is_owned() {
            OUR_OWN.to_owned()
        } else {
            format!("Committed for {} months", self.months.max(1))
        }
    }

    /// What is paid at the start of a term moves as the price of its hours does: times what it is now.
    pub(in crate::economics) fn upfront_factor(&self, start: u32) -> Decimal {
        // All of it may be paid upfront.
        let price = if self.rate.price.is_zero() { one() } else { self.rate.price };
        let in_month = |month| self.rate.path.moved(price, month);
        quotient(in_month(start), in_month(0)).unwrap_or_else(one)
    }
}

/// What can be taken away at any time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    pub rate: Rate,
    /// Hours of it for a useful one, where that was measured. None: as follows from how often it is taken away.
    #[serde(default)]
    pub rework: Option<Decimal>,
    #[serde(default)]
    pub interruptions: Interruptions,
    /// How many there are to be had. None: as many as are asked for.
    #[serde(default)]
    pub gpus: Option<Decimal>,
}

/// Hours for a useful one beyond which a job on spot counts as never done.
const MOST_REWORK: i64 = 1000;

impl Spot {
    /// F: hours that are paid for a useful one, with checkpoints as often as is best.
    pub fn hours_for_one(&self) -> Decimal {
        self.rework.unwrap_or_else(|| {
            let interval = self.interruptions.best_interval();
            interval.and_then(|it| self.interruptions.factor(it)).unwrap_or_else(|| MOST_REWORK.into())
        })
    }
}

/// Money that is committed to by the hour, whatever it buys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// Money for every hour of the term.
    pub per_hour: Decimal,
    /// Of a term. It is renewed until the end.
    pub months: u32,
}

/// Hours of each day, from one on until before another; over midnight where the second is no later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheaperHours {
    pub from: u32,
    pub until: u32,
    /// What on demand and spot cost then, times their price. 0.5: half.
    pub factor: Decimal,
}

impl CheaperHours {
    /// Whether an hour of all that are looked at is one of them. The first begins a day.
    pub(in crate::economics) fn holds(self, at: usize) -> bool {
        let (hour, from, until) = (at % 24, self.from as usize, self.until as usize);
        if from < until { (from..until).contains(&hour) } else { hour >= from || hour < until }
    }
}
