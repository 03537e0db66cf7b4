//! What a field of a calculator takes.

use super::{models, other_chips, renting};
use crate::accelerator;
use crate::economics::slices::profiles_of;

#[derive(Clone, Copy)]
pub(super) enum Takes {
    Number,
    /// Of what is rented: more than 0.
    Price,
    NumberOrNone,
    /// A share of 1.
    Percent,
    Whole,
    Text,
    OneOf(&'static [(&'static str, &'static str)]),
    /// A model of the catalog of accelerators, of those that this holds of.
    Accelerator(fn(&str) -> bool),
    Currency,
}

impl Takes {
    /// By what `inputs.csv` calls it.
    pub(super) fn called(name: &str) -> Option<Self> {
        Some(match name {
            "number" => Self::Number,
            "price" => Self::Price,
            "number or none" => Self::NumberOrNone,
            "percent" => Self::Percent,
            "whole" => Self::Whole,
            "text" => Self::Text,
            "currency" => Self::Currency,
            "no or yes" => Self::OneOf(renting::NO_YES),
            "egress rates" => Self::OneOf(renting::RATES),
            "what a slice is charged by" => Self::OneOf(renting::BY),
            "precision" => Self::OneOf(models::PRECISIONS),
            "numbers of vectors" => Self::OneOf(models::NUMBERS),
            "rule of memory" => Self::OneOf(models::RULES),
            "basis of performance" => Self::OneOf(other_chips::BASES),
            "GPU that can be cut" => Self::Accelerator(|id| !profiles_of(id).is_empty()),
            "GPU with known memory" => {
                Self::Accelerator(|id| accelerator::model(id).is_some_and(|it| it.memory_gb.is_some()))
            }
            "GPU with known operations" => {
                Self::Accelerator(|id| accelerator::specification(id).is_some_and(|it| it.half.is_some()))
            }
            _ => return None,
        })
    }
}
