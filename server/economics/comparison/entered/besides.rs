//! What is paid beside the hours: data that moves, porting, whatever else.

use serde::{Deserialize, Serialize};

use super::Rate;
use crate::economics::egress::{Hop, Rates, Transfer};
use crate::economics::silicon::Porting;
use crate::money::Decimal;
use crate::money::arithmetic::count;

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
    /// What the account sends in a month anyway: it fills the tiers first. 0. Of several that leave one account the
    /// largest counts, for all of them.
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

impl Moved {
    /// One time of it.
    pub(in crate::economics) fn transfer(&self) -> Transfer {
        Transfer {
            rates: self.rates,
            gigabytes: self.gigabytes,
            other_gigabytes: self.other_gigabytes,
            hops: self.hops.clone(),
            ..Transfer::default()
        }
    }

    /// Whether any of its prices is shipped, and so in US dollars.
    pub(in crate::economics) fn is_in_dollars(&self) -> bool {
        self.rates.is_listed() || self.hops.iter().any(|hop| hop.is_listed())
    }
}

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
    /// Months in which it runs in both: here, and where it ran. 0.
    pub months_of_both: u32,
    /// What an hour of the work's accelerator costs there meanwhile.
    pub meanwhile: Rate,
}

impl Default for Port {
    fn default() -> Self {
        let Porting { engineer_weeks, loaded_cost, chance, releases_per_year, ported_anew, .. } =
            Porting::default();
        let (months_of_both, meanwhile) = (0, Rate::default());
        Self {
            engineer_weeks,
            loaded_cost,
            chance,
            releases_per_year,
            ported_anew,
            months_of_both,
            meanwhile,
        }
    }
}

impl Port {
    pub(in crate::economics) fn porting(&self) -> Porting {
        Porting {
            engineer_weeks: self.engineer_weeks,
            loaded_cost: self.loaded_cost,
            chance: self.chance,
            releases_per_year: self.releases_per_year,
            ported_anew: self.ported_anew,
            months_of_both: count(self.months_of_both),
            ..Porting::default()
        }
    }

    /// At the start, and in each month.
    pub(in crate::economics) fn costs(&self) -> [Decimal; 2] {
        let porting = self.porting();
        [porting.porting(), porting.upkeep()]
    }
}

/// What is paid besides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherCost {
    pub name: String,
    pub amount: Decimal,
    pub per: PerWhat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerWhat {
    Once,
    Month,
    /// For each hour of a GPU that works here.
    GpuHour,
}
