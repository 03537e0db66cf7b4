//! A(u) and c(u): what a year costs, component by component, and an hour of each link.

use serde::Serialize;

use super::capital::{Annuity, capital_recovery_factor, monthly_recovery_factor};
use super::{Hours, Link, Owning, Per, Purchase, Racks, Residual, Tenure};
use crate::economics::break_even::YearlyCost;
use crate::economics::check::{self, Finding, Refused};
use crate::economics::figure::{Term, Unit, term};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, count, growth, one, product, quotient};

/// What a cluster costs in a year. The amounts of its components sum exactly to the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwningCost {
    pub purchase: Purchase,
    pub components: Vec<Component>,
    /// A(u), money a year.
    pub total: Decimal,
    /// From owned to useful hours, each with what one costs.
    pub hours: Vec<Link>,
    /// The same cost, split into what utilization moves and what it does not.
    pub by_utilization: YearlyCost,
    /// The utilization that was asked about.
    pub utilization: Decimal,
    pub racks: Racks,
    /// kW of the room at its highest.
    pub peak_kw: Decimal,
    /// What is odd about the inputs, though they could be computed with.
    pub warnings: Vec<Finding>,
}

/// One of the costs that sum to the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Component {
    pub part: Part,
    /// As a person reads it.
    pub name: String,
    /// Money a year.
    pub per_year: Decimal,
    /// By how much that rises from a utilization of 0 to 1.
    pub variable: Decimal,
    /// How it comes about, over the names of its terms.
    pub formula: &'static str,
    pub terms: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Capital,
    Lease,
    Maintenance,
    Energy,
    DemandCharge,
    Colocation,
    Staff,
    StaffBefore,
    Software,
    Other,
    OneOff,
}

impl OwningCost {
    /// Money for an hour of a link; none where there are no such hours, or they are not known.
    pub fn per_hour(&self, of: Hours) -> Option<Decimal> {
        self.hours.iter().find(|link| link.of == of)?.cost_per_hour
    }

    /// What a component adds to the cost of an hour of a link.
    pub fn part_per_hour(&self, part: Part, of: Hours) -> Option<Decimal> {
        quotient(self.of(part), self.hours.iter().find(|link| link.of == of)?.hours)
    }

    /// Money a year of all components of a kind.
    pub fn of(&self, part: Part) -> Decimal {
        self.components.iter().filter(|it| it.part == part).map(|it| it.per_year).sum()
    }

    /// Money a year for each GPU in service; none without GPUs.
    pub fn per_gpu(&self) -> Option<Decimal> {
        quotient(self.total.times(HOURS_PER_YEAR), self.hours.first()?.hours)
    }
}

impl Owning {
    /// What a year costs, and an hour.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<OwningCost, Refused> {
        Ok(self.costed(Annuity::Yearly, check::owning(self).warnings_or_refused()?))
    }

    /// The same beside what is paid by the month: what is paid once costs twelve payments a year, each at the end of its
    /// month.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost_by_the_month(&self) -> Result<OwningCost, Refused> {
        Ok(self.costed(Annuity::Monthly, check::owning(self).warnings_or_refused()?))
    }

    /// The same by the month of machines that are sold before the end of their life, after so many years: for what the table
    /// of resale says at that age.
    pub(in crate::economics) fn sold_after(&self, years: Decimal) -> OwningCost {
        let residual = Residual::Share { share: self.residual.at_age(years, self.life_years) };
        Self { life_years: years, residual, ..self.clone() }.costed(Annuity::Monthly, Vec::new())
    }

    fn costed(&self, annuity: Annuity, warnings: Vec<Finding>) -> OwningCost {
        let components = self.components(annuity);
        let total: Decimal = components.iter().map(|it| it.per_year).sum();
        let variable: Decimal = components.iter().map(|it| it.variable).sum();
        let hours = self.hours().into_iter();
        let hours = hours.map(|(of, hours)| Link { of, hours, cost_per_hour: quotient(total, hours) });
        OwningCost {
            purchase: self.purchase(),
            total,
            hours: hours.collect(),
            by_utilization: YearlyCost {
                fixed: total - product(&[variable, self.utilization]),
                variable,
                owned_hours: self.hours_of(Hours::Owned),
                available_hours: self.hours_of(Hours::Available),
            },
            utilization: self.utilization,
            racks: self.racks(),
            peak_kw: self.peak_kw(),
            components,
            warnings,
        }
    }

    fn components(&self, annuity: Annuity) -> Vec<Component> {
        let mut components = vec![self.capital(annuity)];
        components.extend(self.lease());
        components.push(self.maintenance());
        components.extend(self.power());
        components.extend([self.staff_component(), self.staff_before_component(annuity), self.software()]);
        components.extend(self.other_components(annuity));
        components
    }

    fn capital(&self, annuity: Annuity) -> Component {
        let Purchase { total, residual, .. } = self.purchase();
        let (factor, recovery) = self.recovery(annuity);
        let sold = quotient(residual, growth(self.cost_of_capital, self.life_years)).unwrap_or_default();
        fixed(
            Part::Capital,
            "Capital",
            product(&[total - sold, factor]),
            match annuity {
                Annuity::Yearly => "(purchase − residual value today) × capital recovery factor",
                Annuity::Monthly => "(purchase − residual value today) × monthly recovery factor × 12",
            },
            vec![
                term("purchase", total, Unit::Money),
                term("residual value", residual, Unit::Money),
                term("residual value today", sold, Unit::Money),
                term("cost of capital", self.cost_of_capital, Unit::SharePerYear),
                term("life", self.life_years, Unit::Years),
                recovery,
            ],
        )
    }

    /// What one unit of money that is paid once costs in a year, and the term that a formula has of it.
    fn recovery(&self, annuity: Annuity) -> (Decimal, Term) {
        let (rate, life) = (self.cost_of_capital, self.life_years);
        match annuity {
            Annuity::Yearly => {
                let factor = capital_recovery_factor(rate, life).unwrap_or_default();
                (factor, term("capital recovery factor", factor, Unit::SharePerYear))
            }
            Annuity::Monthly => {
                let monthly = monthly_recovery_factor(rate, life).unwrap_or_default();
                (monthly.times(12), term("monthly recovery factor", monthly, Unit::Number))
            }
        }
    }

    fn lease(&self) -> Option<Component> {
        let Tenure::Leased { price } = self.tenure else { return None };
        let nodes = count(self.purchase().nodes_bought());
        Some(fixed(
            Part::Lease,
            "Lease of nodes",
            product(&[12.into(), nodes, price]),
            "12 × nodes × price",
            vec![term("nodes", nodes, Unit::Number), term("price", price, Unit::MoneyPerMonth)],
        ))
    }

    fn maintenance(&self) -> Component {
        let Purchase { total, leased, .. } = self.purchase();
        let share = term("share", self.maintenance_share, Unit::SharePerYear);
        let purchase = term("purchase", total, Unit::Money);
        let (formula, terms) = match self.tenure {
            Tenure::Bought => ("share × purchase", vec![share, purchase]),
            Tenure::Leased { .. } => {
                let leased = term("price of leased nodes", leased, Unit::Money);
                ("share × (purchase + price of leased nodes)", vec![share, purchase, leased])
            }
        };
        let amount = product(&[self.maintenance_share, total + leased]);
        fixed(Part::Maintenance, "Maintenance and support", amount, formula, terms)
    }

    fn power(&self) -> [Component; 3] {
        let (idle, load) = self.node_draw();
        let (energy, rises) = self.energy();
        let busy = product(&[self.utilization, one() - self.unavailability]);
        let kilowatts = |name, value| term(name, value, Unit::Kilowatts);
        let energy = Component {
            part: Part::Energy,
            name: "Energy".to_owned(),
            per_year: energy + product(&[rises, self.utilization]),
            variable: rises,
            formula: "(nodes × (idle + (load − idle) × busy share of the year) + spares × idle) × PUE × 8,760 × tariff",
            terms: vec![
                term("nodes", count(self.nodes_in_service()), Unit::Number),
                kilowatts("idle", idle),
                kilowatts("load", load),
                term("busy share of the year", busy, Unit::Share),
                term("spares", self.idle_nodes(), Unit::Number),
                term("PUE", self.pue, Unit::Number),
                term("tariff", self.paid(self.tariff), Unit::MoneyPerKwh),
            ],
        };
        let demand = fixed(
            Part::DemandCharge,
            "Demand charge",
            self.demand(),
            "12 × charge × peak",
            vec![
                term("charge", self.paid(self.demand_charge), Unit::MoneyPerKwMonth),
                kilowatts("peak", self.peak_kw()),
            ],
        );
        let colocation = fixed(
            Part::Colocation,
            "Colocation",
            self.colocation(),
            "12 × price × contracted power",
            vec![
                term("price", self.colocation_price(), Unit::MoneyPerKwMonth),
                kilowatts("contracted power", self.contracted_kw()),
            ],
        );
        [energy, demand, colocation]
    }

    fn staff_component(&self) -> Component {
        fixed(
            Part::Staff,
            "Staff",
            product(&[self.people(), self.staff.loaded_cost]),
            "people × loaded cost",
            vec![
                term("people", self.people(), Unit::Number),
                term("loaded cost", self.staff.loaded_cost, Unit::MoneyPerYear),
            ],
        )
    }

    fn staff_before_component(&self, annuity: Annuity) -> Component {
        let paid = self.staff_before();
        let mut component = self.once((Part::StaffBefore, "Staff hired before it runs"), paid, annuity);
        component.formula = match annuity {
            Annuity::Yearly => "people × loaded cost × months ÷ 12 × capital recovery factor",
            Annuity::Monthly => "people × loaded cost × months ÷ 12 × monthly recovery factor × 12",
        };
        component.terms.extend([
            term("people", self.people(), Unit::Number),
            term("loaded cost", self.staff.loaded_cost, Unit::MoneyPerYear),
            term("months", self.staff.months_before, Unit::Months),
        ]);
        component
    }

    fn software(&self) -> Component {
        fixed(
            Part::Software,
            "Software",
            product(&[count(self.gpus), self.software_per_gpu]),
            "GPUs × price",
            vec![
                term("GPUs", count(self.gpus), Unit::Number),
                term("price", self.software_per_gpu, Unit::MoneyPerYear),
            ],
        )
    }

    fn other_components(&self, annuity: Annuity) -> Vec<Component> {
        let others = self.others.iter().map(|other| {
            let amount = other.amount;
            let gpus = term("GPUs", count(self.gpus), Unit::Number);
            match other.per {
                Per::Year => fixed(
                    Part::Other,
                    &other.name,
                    amount,
                    "as entered",
                    vec![term("amount", amount, Unit::MoneyPerYear)],
                ),
                Per::GpuYear => fixed(
                    Part::Other,
                    &other.name,
                    product(&[count(self.gpus), amount]),
                    "GPUs × amount",
                    vec![gpus, term("amount", amount, Unit::MoneyPerYear)],
                ),
                Per::ProductiveHour => {
                    let variable = product(&[self.hours_of(Hours::Available), amount]);
                    let productive = self.hours_of(Hours::Productive);
                    let terms = vec![
                        term("productive hours", productive, Unit::Hours),
                        term("amount", amount, Unit::MoneyPerHour),
                    ];
                    let per_year = product(&[variable, self.utilization]);
                    let named = fixed(Part::Other, &other.name, per_year, "productive hours × amount", terms);
                    Component { variable, ..named }
                }
            }
        });
        let once = self.one_offs.iter().map(|it| self.once((Part::OneOff, &it.name), it.amount, annuity));
        others.chain(once).collect()
    }

    /// What is paid once, spread over the life as capital is.
    fn once(&self, (part, name): (Part, &str), amount: Decimal, annuity: Annuity) -> Component {
        let (factor, recovery) = self.recovery(annuity);
        fixed(
            part,
            name,
            product(&[amount, factor]),
            match annuity {
                Annuity::Yearly => "amount × capital recovery factor",
                Annuity::Monthly => "amount × monthly recovery factor × 12",
            },
            vec![term("amount", amount, Unit::Money), recovery],
        )
    }
}

fn fixed(part: Part, name: &str, per_year: Decimal, formula: &'static str, terms: Vec<Term>) -> Component {
    Component { part, name: name.to_owned(), per_year, variable: Decimal::ZERO, formula, terms }
}

#[cfg(test)]
mod tests;
