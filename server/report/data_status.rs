//! What the figures of an answer rest on, as every page of figures states it.

use serde::Serialize;

use super::compared::Compared;
use super::denomination::Unconverted;
use super::unpriced::Unpriced;
use super::{CostMetric, Filter, Grouping, Question, Spend};
use crate::exchange::Used;
use crate::money::Currency;

/// The version of the ledger, the cost and the currency of an answer, and what is missing from it.
#[derive(Clone, Debug, Serialize)]
pub struct DataStatus {
    pub sequence: i64,
    pub cost: CostMetric,
    /// What previous figures are: all of the period before, or the same days of it.
    pub compared: Compared,
    /// Null where nothing was billed.
    pub currency: Option<Currency>,
    /// Currencies of the period that are in none of the figures.
    pub other_currencies: Vec<Currency>,
    /// The only currency whose charges these are, where there are others.
    #[serde(skip)]
    pub only: Option<Currency>,
    /// Amounts of other currencies are converted, not left out.
    #[serde(skip)]
    pub is_converted: bool,
    pub rates: Vec<Used>,
    pub unconverted: Vec<Unconverted>,
    pub previous_unconverted: Vec<Unconverted>,
    pub rejected_rows: i64,
    pub unpriced: Unpriced,
}

impl From<&Spend> for DataStatus {
    fn from(spend: &Spend) -> Self {
        Self {
            sequence: spend.sequence,
            cost: spend.cost,
            compared: spend.compared.clone(),
            currency: spend.currency.clone(),
            other_currencies: spend.other_currencies.clone(),
            only: spend.only.clone(),
            is_converted: spend.is_converted,
            rates: spend.rates.clone(),
            unconverted: spend.unconverted.clone(),
            previous_unconverted: spend.previous_unconverted.clone(),
            rejected_rows: spend.rejected_rows,
            unpriced: spend.unpriced.clone(),
        }
    }
}

impl DataStatus {
    /// Of what a viewer sees; in the same currency where that is nothing.
    pub(super) fn of_visible(&self, visible: &Spend) -> Self {
        let visible = Self::from(visible);
        Self { currency: visible.currency.clone().or_else(|| self.currency.clone()), ..visible }
    }
}

impl Question {
    /// The same question in the currency and as of the step of an answer: for what stands beside it.
    #[must_use]
    pub(super) fn beside(&self, spend: &Spend) -> Self {
        let shown = || spend.currency.clone();
        let (currency, convert_into) = if spend.is_converted {
            (self.currency.clone(), shown().or_else(|| self.convert_into.clone()))
        } else {
            (shown().or_else(|| self.currency.clone()), None)
        };
        Self { currency, convert_into, sequence: Some(spend.sequence), ..self.clone() }
    }

    /// The same question of what is grouped by something else.
    #[must_use]
    pub(super) fn by(&self, by: Grouping) -> Self {
        Self { by, then: None, sort: None, find: None, limit: None, limit_inside: None, ..self.clone() }
    }

    /// The same without what came by way of shared costs.
    #[must_use]
    pub(super) fn direct(&self) -> Self {
        self.filtered(Filter::no_value(Grouping::Pool))
    }

    #[must_use]
    pub(super) fn only(&self, dimension: Grouping, values: Vec<String>) -> Self {
        self.filtered(Filter::keep(dimension, values))
    }

    /// The same with one more filter.
    #[must_use]
    pub(super) fn filtered(&self, filter: Filter) -> Self {
        let mut question = self.clone();
        question.filters.push(filter);
        question
    }
}
