//! Data that moves to where work runs: at the beginning, or month after month.

use serde::{Deserialize, Serialize};

use super::bill::Bill;
use crate::money::Decimal;
use crate::scenario::arithmetic::count;
use crate::scenario::check::Refused;
use crate::scenario::egress::{Hop, Rates, Transfer, TransferCost};
use crate::scenario::figure::{Unit, term};

/// Data, and whose prices are paid when it leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    pub name: String,
    /// Of the place that it leaves.
    pub rates: Rates,
    /// 10^9 bytes, once or in each month.
    pub gigabytes: Decimal,
    pub every: Every,
    /// What the account sends in a month anyway: it fills the tiers first. 0.
    #[serde(default)]
    pub other_gigabytes: Decimal,
    /// What else takes a price for a gigabyte on its way.
    #[serde(default)]
    pub hops: Vec<Hop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    Once,
    Month,
}

/// What moving comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovedAnswer {
    pub name: String,
    pub every: Every,
    /// Of one time: its tiers, and how long it is on the line.
    pub each: TransferCost,
    /// Over all months.
    pub cost: Decimal,
}

impl Moved {
    /// One time of it.
    pub(in crate::scenario) fn transfer(&self) -> Transfer {
        Transfer {
            rates: self.rates,
            gigabytes: self.gigabytes,
            other_gigabytes: self.other_gigabytes,
            hops: self.hops.clone(),
            ..Transfer::default()
        }
    }
}

impl Bill<'_> {
    /// What is paid for data on its way here.
    pub(super) fn moved(&mut self) -> Result<Vec<MovedAnswer>, Refused> {
        let asked = self.asked();
        let mut answers = Vec::with_capacity(asked.place.moved.len());
        for moved in &asked.place.moved {
            let each = moved.transfer().cost()?;
            let of_one: Decimal = each.parts.iter().filter_map(|it| it.value).sum();
            // Each tier and each hop with its price.
            let mut terms: Vec<_> = each.parts.iter().flat_map(|it| it.terms.clone()).collect();
            let (cost, formula) = match moved.every {
                Every::Once => {
                    self.pay_first(0, of_one);
                    (of_one, "the sum of what is in each tier × its price")
                }
                Every::Month => {
                    (0..asked.months()).for_each(|month| self.pay_during(month, of_one));
                    terms.push(term("months", count(asked.months()), Unit::Months));
                    (
                        of_one.times(asked.months().into()),
                        "the sum of what is in each tier × its price, × months",
                    )
                }
            };
            self.line(moved.name.clone(), cost, formula, terms);
            answers.push(MovedAnswer { name: moved.name.clone(), every: moved.every, each, cost });
        }
        Ok(answers)
    }
}
