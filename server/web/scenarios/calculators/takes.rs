//! What a field of a calculator takes.

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
            "no or yes" => Self::OneOf(NO_YES),
            "egress rates" => Self::OneOf(RATES),
            "what a slice is charged by" => Self::OneOf(BY),
            "precision" => Self::OneOf(PRECISIONS),
            "numbers of vectors" => Self::OneOf(NUMBERS),
            "rule of memory" => Self::OneOf(RULES),
            "basis of performance" => Self::OneOf(BASES),
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

// What can be chosen: as addresses say it, and as pages do.
const RATES: &[(&str, &str)] = &[
    ("aws", "AWS, to the internet"),
    ("azure", "Azure, to the internet"),
    ("google-premium", "Google Cloud, its own network"),
    ("google-standard", "Google Cloud, standard network"),
    ("free", "no charge, such as Lambda"),
    ("flat", "one price per GB"),
];
const NO_YES: &[(&str, &str)] = &[("no", "no"), ("yes", "yes")];
const BY: &[(&str, &str)] =
    &[("dominant", "compute or memory, whichever is more"), ("compute", "compute"), ("memory", "memory")];
const PRECISIONS: &[(&str, &str)] = &[
    ("fp32", "FP32"),
    ("half", "FP16 or BF16"),
    ("fp8", "FP8"),
    ("int8", "INT8"),
    ("fp4", "FP4"),
    ("int4", "INT4"),
];
const NUMBERS: &[(&str, &str)] =
    &[("fp32", "32 bits"), ("fp16", "16 bits"), ("int8", "8 bits"), ("binary", "1 bit")];
const RULES: &[(&str, &str)] =
    &[("half", "vectors plus 50%"), ("graph", "vectors plus a graph of neighbors")];
const BASES: &[(&str, &str)] = &[
    ("own", "your own benchmark"),
    ("half", "dense 16-bit operations, from data sheets"),
    ("fp8", "dense FP8 operations, from data sheets"),
    ("bandwidth", "memory bandwidth, which limits decoding"),
];
