//! A line of a cluster's month.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;

use super::super::entry::unit_name;
use crate::enum_words::words;
use crate::money::{Currency, Decimal};

/// Something that a month is charged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub component: Component,
    /// The number of the entry that it comes from.
    pub input: i64,
    /// What that is called.
    pub name: String,
    /// The units, where it is for each of some that are alike: amounts and quantity are those of all of them.
    #[serde(skip)]
    pub units: Option<Units>,
    /// What it is for: a day, or the month.
    #[serde(skip)]
    pub days: Range<NaiveDate>,
    pub billed: Decimal,
    pub effective: Decimal,
    pub currency: Currency,
    /// So many, of this unit: hours in service, kWh.
    pub quantity: Option<(Decimal, &'static str)>,
    pub machine: Option<Machine>,
    pub tags: BTreeMap<String, String>,
    pub basis: Basis,
    /// How it came about.
    pub description: String,
}

/// Units of an asset that are charged the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Units {
    /// In their order.
    pub numbers: Arc<[u32]>,
    /// Whether the asset has others.
    pub are_of_several: bool,
    pub of_one: Amounts,
}

/// What is charged, and how much there was of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Amounts {
    pub billed: Decimal,
    pub effective: Decimal,
    /// So many, of this unit: hours in service, kWh.
    pub quantity: Option<(Decimal, &'static str)>,
}

/// A node whose accelerators are in service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub model: String,
    pub accelerator: String,
    pub accelerators: u32,
}

words! {
    /// What it is a cost of; `name` is the FOCUS ServiceName of its charges.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Component: name {
        Purchase = "Purchase";
        Depreciation = "Depreciation";
        Interest = "Interest";
        Lease = "Lease";
        Disposal = "Disposal";
        Energy = "Energy";
        Demand = "Demand charge";
        Colocation = "Colocation";
        Staff = "Staff";
        Maintenance = "Maintenance";
        Licences = "Licences";
        Space = "Space";
        Links = "Links";
        Insurance = "Insurance";
        Spares = "Spare parts";
        Other = "Other";
    }
}

words! {
    /// What a line rests on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Basis: as_str {
        Entered = "entered";
        Measured = "measured";
        /// Computed from what machines draw at rest and at work.
        Modelled = "modelled";
    }
}

impl Component {
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|component| component.name() == name)
    }
}

impl Line {
    /// Of nothing yet, for these days.
    pub(super) fn new(
        component: Component,
        input: i64,
        name: &str,
        currency: &Currency,
        days: Range<NaiveDate>,
    ) -> Self {
        Self {
            component,
            input,
            name: name.to_owned(),
            units: None,
            days,
            billed: Decimal::ZERO,
            effective: Decimal::ZERO,
            currency: currency.clone(),
            quantity: None,
            machine: None,
            tags: BTreeMap::new(),
            basis: Basis::Entered,
            description: String::new(),
        }
    }

    /// What bills call the units that it is for, each with what it is charged; where it is for no unit, all of it at once.
    pub fn parts(&self) -> impl Iterator<Item = (Option<String>, Amounts)> {
        let whole = Amounts { billed: self.billed, effective: self.effective, quantity: self.quantity };
        let of_units = self.units.iter().flat_map(|units| {
            let name = |number: &u32| unit_name(&self.name, units.are_of_several, *number);
            units.numbers.iter().map(move |number| (Some(name(number)), units.of_one))
        });
        self.units.is_none().then_some((None, whole)).into_iter().chain(of_units)
    }

    /// How many units it is for; 1 where it is for none.
    pub fn count(&self) -> u32 {
        // An asset counts its units by such a number.
        self.units.as_ref().map_or(1, |units| units.numbers.len() as u32)
    }

    /// For each of these units, as it is for one.
    pub(super) fn for_each(&mut self, numbers: Arc<[u32]>, are_of_several: bool) {
        let of_one = Amounts { billed: self.billed, effective: self.effective, quantity: self.quantity };
        let count = numbers.len() as i64;
        self.billed = of_one.billed.times(count);
        self.effective = of_one.effective.times(count);
        self.quantity = of_one.quantity.map(|(quantity, unit)| (quantity.times(count), unit));
        self.units = Some(Units { numbers, are_of_several, of_one });
    }

    pub(super) fn says_nothing(&self) -> bool {
        self.billed.is_zero() && self.effective.is_zero() && self.machine.is_none()
    }
}

pub(super) fn days_of(range: &Range<NaiveDate>) -> impl Iterator<Item = NaiveDate> + use<> {
    let end = range.end;
    range.start.iter_days().take_while(move |day| *day < end)
}

pub(super) fn one_day(day: NaiveDate) -> Range<NaiveDate> {
    day..day.succ_opt().unwrap_or(day)
}
