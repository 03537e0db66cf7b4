//! The economic view: what a cluster costs its owner in a year, with the cost of capital, as it stands on a day. Pure.
//!
//! It is for comparisons (with a cloud, with another machine) and is never added to what a month is charged, which is the
//! book view of the same inputs. It is the sum of
//!
//! - capital: of each asset the annuity that pays back its price and the interest, less what it is sold for
//!   ([`scenario::owning::capital`](crate::economics::owning::capital)), whether it was bought or financed: the cost of
//!   capital stands for the interest of a loan. What is leased costs its payments;
//! - energy, of each asset by what its units draw at rest and at work, at the mean price of a week; demand charge;
//!   colocation by the contracted kW;
//! - people, and everything that is paid again and again, by the year as it stands in the month;
//! - what was paid once, spread over the life of the machines as capital is.

mod capital;
mod owning;
mod power;
mod running;
mod units;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

pub use self::owning::owning;
use self::units::Here;
use super::asset_register::AssetRegister;
use crate::economics::check::{self, Refused};
use crate::economics::comparison::SHIPPED;
use crate::economics::owning::{Component, Hours, Link, Part, Term, Unit};
use crate::economics::{Finding, Severity, YearlyCost};
use crate::money::arithmetic::{product, quotient};
use crate::money::{Currency, Decimal};

/// What a year costs, and an hour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Economics {
    /// As it stands on this day.
    pub on: NaiveDate,
    pub currency: Currency,
    /// Others that something is paid in, which is not in it.
    pub other_currencies: Vec<Currency>,
    pub accelerators: u32,
    /// They sum to the total.
    pub components: Vec<Component>,
    /// Money a year.
    pub total: Decimal,
    /// From owned to productive hours, each with what one costs.
    pub hours: Vec<Link>,
    pub downtime: Decimal,
    pub utilization: Decimal,
    pub by_utilization: YearlyCost,
    /// What is odd about what was entered.
    pub warnings: Vec<Finding>,
}

/// Of a cluster in one currency, what is paid in others converted by these rates into it; what has none is left out, and
/// its currency named. `None` where there is no such cluster.
///
/// # Errors
/// What cannot be computed with, in words.
pub fn economics(
    asset_register: &AssetRegister,
    cluster: &str,
    on: NaiveDate,
    currency: &Currency,
    rates: &BTreeMap<Currency, Decimal>,
) -> Option<Result<Economics, Refused>> {
    let here = Here::find(asset_register, cluster, on)?;
    let likeness = owning::likeness(&here, currency);
    let mut warnings = match check::owning(&likeness).warnings_or_refused() {
        Ok(warnings) => warnings,
        Err(refused) => return Some(Err(refused)),
    };
    let dollar = if currency.as_str() == SHIPPED {
        Some(1.into())
    } else {
        rates.get(&Currency::exactly(SHIPPED)).copied()
    };
    if let Some(dollar) = dollar {
        warnings.extend(check::owning_prices(&likeness, dollar).iter().cloned());
    }
    if here.tariff().is_none() && !here.has_energy_included() {
        warnings.push(Finding {
            severity: Severity::Warning,
            field: "tariff".to_owned(),
            found: "none".to_owned(),
            message: "no energy tariff covers this month, so energy costs nothing".to_owned(),
        });
    }
    let mut components = capital::components(&here);
    components.extend(power::components(&here));
    components.extend(running::components(&here));
    for (of, component) in &mut components {
        if let Some(rate) = rates.get(of) {
            component.name = format!("{}, {of} at {}", component.name, rate.normalize());
            component.per_year = product(&[component.per_year, *rate]);
            component.variable = product(&[component.variable, *rate]);
            // Its formula is of the currency that it is shown in, too.
            for term in component.terms.iter_mut().filter(|term| term.unit.is_money()) {
                term.value = product(&[term.value, *rate]);
            }
            of.clone_from(currency);
        }
    }
    let mut other_currencies: Vec<Currency> =
        components.iter().map(|(of, _)| of).filter(|of| *of != currency).cloned().collect();
    other_currencies.sort_unstable();
    other_currencies.dedup();
    components.retain(|(of, _)| of == currency);
    let components: Vec<Component> = components.into_iter().map(|(_, component)| component).collect();
    let total: Decimal = components.iter().map(|it| it.per_year).sum();
    if total.is_negative() {
        warnings.push(Finding {
            severity: Severity::Warning,
            field: "total".to_owned(),
            found: total.round(2).to_string(),
            message: "rebates exceed costs: check whether one is entered twice".to_owned(),
        });
    }
    let variable: Decimal = components.iter().map(|it| it.variable).sum();
    let hours = likeness.hours();
    let of =
        |which: Hours| hours.iter().find(|(of, _)| *of == which).map_or(Decimal::ZERO, |(_, hours)| *hours);
    let by_utilization = YearlyCost {
        fixed: total - product(&[variable, likeness.utilization]),
        variable,
        owned_hours: of(Hours::Owned),
        available_hours: of(Hours::Available),
    };
    let is_known = |of: Hours| of != Hours::Useful || here.shares.repeated.is_some();
    let chain = hours.iter().filter(|(of, _)| is_known(*of));
    let chain =
        chain.map(|(of, hours)| Link { of: *of, hours: *hours, cost_per_hour: quotient(total, *hours) });
    Some(Ok(Economics {
        on,
        currency: currency.clone(),
        other_currencies,
        accelerators: likeness.gpus,
        total,
        hours: chain.collect(),
        downtime: likeness.unavailability,
        utilization: likeness.utilization,
        by_utilization,
        components,
        warnings,
    }))
}

impl Economics {
    /// Money for an hour of a link; none where there are no such hours.
    pub fn per_hour(&self, of: Hours) -> Option<Decimal> {
        self.hours.iter().find(|link| link.of == of)?.cost_per_hour
    }

    /// The components' amounts in cents, which sum to the total in cents.
    pub fn displayed(&self) -> Vec<Decimal> {
        let exact: Vec<Decimal> = self.components.iter().map(|it| it.per_year).collect();
        Decimal::round_parts(&exact, 2)
    }

    /// What so many on-prem GPU-hours cost.
    pub fn of_hours(&self, owned: Decimal) -> Option<Decimal> {
        self.per_hour(Hours::Owned).map(|price| product(&[price, owned]))
    }
}

/// A component with its currency.
type InCurrency = (Currency, Component);

fn term(name: &'static str, value: Decimal, unit: Unit) -> Term {
    Term { name, value, unit }
}

/// A component whose cost does not follow how much the machines do.
fn fixed(part: Part, name: &str, per_year: Decimal, formula: &'static str, terms: Vec<Term>) -> Component {
    Component { part, name: name.to_owned(), per_year, variable: Decimal::ZERO, formula, terms }
}

#[cfg(test)]
mod tests;
