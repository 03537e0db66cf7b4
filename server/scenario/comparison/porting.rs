//! Work that has to be ported before it runs in a place, as it has to for other chips.
//!
//! - porting = engineer-weeks × loaded cost of a year ÷ 52, at the start
//! - anew = porting × share that is ported anew × releases a year ÷ 12, in each month
//!
//! The chance that it works at all stands beside the cost and is not multiplied with it: who ports in vain has paid for
//! it and still needs another option. What that makes of the expected value is [`crate::scenario::silicon`]'s.

use serde::{Deserialize, Serialize};

use super::bill::Bill;
use crate::money::Decimal;
use crate::scenario::arithmetic::{count, product, quotient};
use crate::scenario::figure::{Unit, term};
use crate::scenario::silicon::Porting;

/// What porting takes. The defaults are those of [`Porting`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Port {
    pub engineer_weeks: Decimal,
    /// Money a year for an engineer.
    pub loaded_cost: Decimal,
    /// That it works at all.
    pub chance: Decimal,
    pub releases_per_year: Decimal,
    /// Of the porting, what each release takes again.
    pub ported_anew: Decimal,
}

impl Default for Port {
    fn default() -> Self {
        let Porting { engineer_weeks, loaded_cost, chance, releases_per_year, ported_anew, .. } =
            Porting::default();
        Self { engineer_weeks, loaded_cost, chance, releases_per_year, ported_anew }
    }
}

impl Port {
    pub(in crate::scenario) fn porting(&self) -> Porting {
        Porting {
            engineer_weeks: self.engineer_weeks,
            loaded_cost: self.loaded_cost,
            chance: self.chance,
            releases_per_year: self.releases_per_year,
            ported_anew: self.ported_anew,
            ..Porting::default()
        }
    }

    /// At the start, and in each month.
    pub(in crate::scenario) fn costs(&self) -> [Decimal; 2] {
        let porting = self.porting();
        [porting.porting(), porting.upkeep()]
    }
}

impl Bill<'_> {
    /// What people are paid for porting.
    pub(super) fn porting(&mut self) {
        let asked = self.asked();
        let Some(entered) = &asked.place.porting else { return };
        let months = asked.months();
        let [once, monthly] = entered.costs();
        let week = quotient(entered.loaded_cost, 52.into()).unwrap_or_default();
        self.pay_first(0, once);
        let terms = vec![
            term("engineer-weeks", entered.engineer_weeks, Unit::Weeks),
            term("week", week, Unit::MoneyPerWeek),
        ];
        self.line("Porting".to_owned(), once, "engineer-weeks × week", terms);
        (0..months).for_each(|month| self.pay_during(month, monthly));
        let terms = vec![
            term("porting", once, Unit::Money),
            term("share that is ported anew", entered.ported_anew, Unit::Share),
            term("releases a year", entered.releases_per_year, Unit::Number),
            term("months of 12", count(months), Unit::Months),
        ];
        let cost = product(&[monthly, count(months)]);
        self.line(
            "Porting anew".to_owned(),
            cost,
            "porting × share that is ported anew × releases a year × months of 12",
            terms,
        );
    }
}
