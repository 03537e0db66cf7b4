//! What a unit costs: spend of an owner divided by the quantity that was entered for them, month by month.
//!
//! Both sides are of the same people: of a team with the teams inside it. Projects and experiments have no part of
//! shared costs.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::PgConnection;

use super::owned_by::parts;
use super::{Answers, CostMetric, Error, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{Quantity, QuantityKind, quantities};
use crate::exchange;
use crate::ledger;
use crate::money::{Decimal, Money};
use crate::period::{BillingMonth, Period};

/// Decimals of a unit's cost: a token costs millionths.
const PLACES: u8 = 12;

/// Whose quantities and costs they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnitOwner {
    pub kind: QuantityKind,
    /// A handle; of an experiment its label.
    pub owner: String,
}

/// What an owner had of a unit in a month, and what that cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitCost {
    pub month: BillingMonth,
    #[serde(flatten)]
    pub of: UnitOwner,
    pub name: String,
    pub unit: String,
    pub quantity: Decimal,
    /// Days with a quantity, of the owner alone.
    pub days: usize,
    /// Effective cost, in the reporting currency; null where nothing was billed.
    pub cost: Option<Money>,
    /// Null without a cost, or where the quantity is zero.
    pub per_unit: Option<Decimal>,
    /// Of the cost something is missing that no rate converts.
    pub is_incomplete: bool,
}

impl Answers {
    /// Cost per unit of an owner, for each month of a period and unit that they have a quantity of, the latest first.
    pub async fn unit_costs(
        &self,
        db: &mut PgConnection,
        of: &UnitOwner,
        period: Period,
        viewer: &Viewer,
    ) -> Result<Vec<UnitCost>, Error> {
        let sequence = ledger::sequence(db).await?;
        let entered = quantities(db, Some(period), sequence).await?;
        self.unit_costs_of(db, of, period, viewer, &entered, sequence).await
    }

    /// The same for everyone who has a quantity in these months.
    pub async fn every_unit_cost(
        &self,
        db: &mut PgConnection,
        period: Period,
    ) -> Result<Vec<UnitCost>, Error> {
        let sequence = ledger::sequence(db).await?;
        let entered = quantities(db, Some(period), sequence).await?;
        let mut owners: Vec<UnitOwner> =
            entered.iter().map(|it| UnitOwner { kind: it.kind, owner: it.owner.clone() }).collect();
        owners.sort();
        owners.dedup();
        let mut found = Vec::new();
        for of in owners {
            let everything = &Viewer::Everything;
            found.extend(self.unit_costs_of(db, &of, period, everything, &entered, sequence).await?);
        }
        found.sort_by(|a, b| b.month.cmp(&a.month).then_with(|| (&a.of, &a.unit).cmp(&(&b.of, &b.unit))));
        Ok(found)
    }

    async fn unit_costs_of(
        &self,
        db: &mut PgConnection,
        of: &UnitOwner,
        period: Period,
        viewer: &Viewer,
        entered: &[Quantity],
        sequence: i64,
    ) -> Result<Vec<UnitCost>, Error> {
        let configuration = self.configuration(db, sequence).await?;
        let into = exchange::reporting_currency(db).await?;
        let dimension = match of.kind {
            QuantityKind::Team => Grouping::Team,
            QuantityKind::Project => Grouping::Project,
            QuantityKind::Experiment => Grouping::Experiment,
        };
        let mut found = Vec::new();
        for (part, filter) in parts(&configuration, &dimension, &of.owner, period) {
            let counted = sums(entered, of.kind, &of.owner, &filter.values, part);
            if counted.is_empty() {
                continue;
            }
            let question = Question {
                by: Grouping::Month,
                cost: CostMetric::Effective,
                convert_into: into.clone(),
                filters: vec![filter],
                sequence: Some(sequence),
                ..Question::of(part, viewer.clone())
            };
            let spend = self.spend(db, &question).await?;
            for ((month, unit), (quantity, days)) in counted {
                let group = spend.groups.iter().find(|group| group.key == Some(month.to_string()));
                let cost = group.map(|group| group.cost.clone());
                found.push(UnitCost {
                    month,
                    of: of.clone(),
                    name: of.kind.name_of(&configuration, &of.owner),
                    unit,
                    quantity: quantity.normalize(),
                    days,
                    per_unit: cost
                        .as_ref()
                        .and_then(|cost| cost.amount.divide(quantity, PLACES))
                        .map(Decimal::normalize),
                    cost,
                    is_incomplete: spend.unconverted.iter().any(|left_out| left_out.month == month),
                });
            }
        }
        // Of months in which there is no such owner any more nothing is asked, but what was entered is shown.
        let alone = [of.owner.clone()];
        for ((month, unit), (quantity, days)) in sums(entered, of.kind, &of.owner, &alone, period) {
            if !found.iter().any(|it| it.month == month && it.unit == unit) {
                let (of, name) = (of.clone(), of.kind.name_of(&configuration, &of.owner));
                let (quantity, cost, per_unit) = (quantity.normalize(), None, None);
                let is_incomplete = false;
                found.push(UnitCost { month, of, name, unit, quantity, days, cost, per_unit, is_incomplete });
            }
        }
        found.sort_by(|a, b| b.month.cmp(&a.month).then_with(|| a.unit.cmp(&b.unit)));
        Ok(found)
    }
}

/// By month and unit: the quantity of an owner with all inside it, and on how many days the owner itself has one. Only
/// what the owner itself has some of.
fn sums(
    entered: &[Quantity],
    kind: QuantityKind,
    owner: &str,
    inside: &[String],
    period: Period,
) -> BTreeMap<(BillingMonth, String), (Decimal, usize)> {
    let days = period.days();
    let within = entered.iter().filter(|it| it.kind == kind && days.contains(&it.day));
    let mut found: BTreeMap<(BillingMonth, String), (Decimal, usize)> = BTreeMap::new();
    for it in within.filter(|it| inside.contains(&it.owner)) {
        let sum = found.entry((BillingMonth::of(it.day), it.unit.clone())).or_default();
        sum.0 += it.quantity;
        sum.1 += usize::from(it.owner == owner);
    }
    found.retain(|_, (_, days)| *days > 0);
    found
}

/// What a team had of a unit in a period, and what each of them cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TeamUnit {
    pub unit: String,
    pub quantity: Decimal,
    /// Effective cost of the months with a quantity, in the reporting currency; null where nothing was billed.
    pub cost: Option<Money>,
    pub per_unit: Option<Decimal>,
    /// In the period before.
    pub previous_per_unit: Option<Decimal>,
    /// Of the cost something is missing: what no rate converts, or the bill of a month.
    pub is_incomplete: bool,
}

/// The units of a team in a question's period, beside the period before.
pub(super) async fn units(
    db: &mut PgConnection,
    answers: &Answers,
    team: &str,
    question: &Question,
) -> Result<Vec<TeamUnit>, Error> {
    let of = UnitOwner { kind: QuantityKind::Team, owner: team.to_owned() };
    let mut previous = answers.unit_costs(db, &of, question.period.previous(), &question.viewer).await?;
    let mut found: BTreeMap<String, TeamUnit> = BTreeMap::new();
    for it in answers.unit_costs(db, &of, question.period, &question.viewer).await? {
        let nothing = || TeamUnit { unit: it.unit.clone(), ..TeamUnit::default() };
        found.entry(it.unit.clone()).or_insert_with(nothing).add(&it);
    }
    for unit in found.values_mut() {
        unit.per_unit = unit.price();
        unit.cost = unit.cost.take().map(|cost| Money { amount: cost.amount.normalize(), ..cost });
        let mut before = TeamUnit { quantity: Decimal::ZERO, cost: None, ..unit.clone() };
        previous.iter_mut().filter(|it| it.unit == unit.unit).for_each(|it| before.add(it));
        unit.previous_per_unit = before.price();
    }
    Ok(found.into_values().collect())
}

impl TeamUnit {
    fn add(&mut self, month: &UnitCost) {
        self.quantity = (self.quantity + month.quantity).normalize();
        // Of a month without a bill the cost is still to come.
        self.is_incomplete |= month.is_incomplete || month.cost.is_none();
        match (&mut self.cost, &month.cost) {
            (Some(sum), Some(cost)) => sum.amount += cost.amount,
            (sum @ None, cost) => sum.clone_from(cost),
            (Some(_), None) => {}
        }
    }

    fn price(&self) -> Option<Decimal> {
        Some(self.cost.as_ref()?.amount.divide(self.quantity, PLACES)?.normalize())
    }
}
