//! What tables of a period have in common: what it amounts to, and the figures of a line.

use serde::Serialize;

use super::{DataStatus, Group, Question, Spend};
use crate::money::{Decimal, Money};
use crate::period::Period;

/// What a period amounts to. Lines sum to it exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    pub period: Period,
    pub previous_period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    pub total: Option<Money>,
    pub previous: Option<Money>,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub cost_per_accelerator_hour: Option<Decimal>,
    pub cost_per_owned_hour: Option<Decimal>,
}

/// The figures of a line.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub cost: Decimal,
    pub share: Option<Decimal>,
    pub previous: Decimal,
    pub change: Decimal,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub cost_per_accelerator_hour: Option<Decimal>,
}

impl Whole {
    pub(super) fn of(question: &Question, spend: &Spend) -> Self {
        Self {
            period: question.period,
            previous_period: question.period.previous(),
            data_status: DataStatus::from(spend),
            total: spend.total.clone(),
            previous: spend.previous.clone(),
            accelerator_hours: spend.accelerator_hours,
            owned_hours: spend.owned_hours,
            cost_per_accelerator_hour: spend.cost_per_accelerator_hour,
            cost_per_owned_hour: spend.cost_per_owned_hour,
        }
    }
}

impl From<&Group> for Figures {
    fn from(group: &Group) -> Self {
        let cost = group.cost.amount;
        let previous = group.previous_cost();
        Self {
            cost,
            share: group.share,
            previous,
            change: cost - previous,
            accelerator_hours: group.accelerator_hours,
            owned_hours: group.owned_hours,
            cost_per_accelerator_hour: group.cost_per_accelerator_hour,
        }
    }
}
