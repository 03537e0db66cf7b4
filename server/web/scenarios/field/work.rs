//! What the work needs, hour by hour.

use super::super::super::words::number;
use super::{Maker, Part, Section, Takes};
use crate::economics::comparison::Work;
use crate::economics::profile::Shape;
use crate::money::Decimal;
use crate::money::arithmetic::quotient;

const SHAPES: &[(&str, &str)] = &[
    ("flat", "a fixed number, some hours a day"),
    ("between", "any number in a range"),
    ("swinging", "more by day, less at night and on weekends"),
    ("serving", "users of a model"),
    ("levels", "levels by share of hours"),
    ("runs", "runs, some times a year"),
];
/// Hours that were measured are not typed; a shape can take their place.
const MEASURED: &[(&str, &str)] = &[
    ("hours", "as measured"),
    ("flat", "a fixed number, some hours a day"),
    ("between", "any number in a range"),
    ("swinging", "more by day, less at night and on weekends"),
    ("serving", "users of a model"),
    ("levels", "levels by share of hours"),
    ("runs", "runs, some times a year"),
];

const ORDERS: &[(&str, &str)] =
    &[("spread", "spread evenly over all months"), ("listed", "one after the other within a year")];

const PRECISIONS: &[(&str, &str)] =
    &[("half", "FP16"), ("fp8", "FP8"), ("int8", "INT8"), ("fp4", "FP4"), ("int4", "INT4"), ("fp32", "FP32")];

pub(super) fn of_work(at: usize, work: &Work, count: usize, money: &str) -> Section {
    let pointer = format!("/work/{at}");
    let mut of = Maker { at: pointer.clone(), money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    match &work.demand {
        Shape::Flat { .. } => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            of.add("demand/gpus", "GPUs", Takes::Number, "", "");
            of.add("demand/hours_per_day", "Hours per day", Takes::Whole, "", "");
        }
        Shape::Between { .. } => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            of.add("demand/low", "At least", Takes::Number, "GPUs", "");
            of.add("demand/high", "At most", Takes::Number, "GPUs", "");
        }
        Shape::Swinging { .. } => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            of.add("demand/base", "Average on a weekday", Takes::Number, "GPUs", "");
            of.add("demand/day_swing", "Daily swing", Takes::Percent, "%", "");
            of.add("demand/weekend", "On weekends", Takes::Percent, "% of a weekday", "");
            of.rare(
                "demand/noise",
                "Noise",
                Takes::Number,
                "",
                "Standard deviation of the logarithm. 0: none.",
            );
        }
        Shape::Levels { levels, .. } => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            for level in 0..levels.len() {
                of.add(&format!("demand/levels/{level}/gpus"), "GPUs", Takes::Number, "", "");
                of.add(&format!("demand/levels/{level}/share"), "Share of hours", Takes::Percent, "%", "");
            }
            of.add("demand/order", "Order of hours", Takes::OneOf(ORDERS), "", "");
        }
        Shape::Runs { .. } => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            of.add("demand/gpus", "GPUs", Takes::Number, "", "");
            of.add("demand/runs_per_year", "Runs", Takes::Whole, "a year", "Spread evenly over the year.");
            of.add("demand/hours_per_run", "Length of a run", Takes::Whole, "hours", "");
        }
        Shape::Serving(_) => {
            of.add("demand/shape", "Demand", Takes::OneOf(SHAPES), "", "");
            served(&mut of);
        }
        Shape::Hours { gpus } => {
            let count = Decimal::from(i64::try_from(gpus.len()).unwrap_or(i64::MAX));
            let mean = quotient(gpus.iter().copied().sum(), count).unwrap_or_default();
            let unit = format!("{} measured hours, {} GPUs on average", number(count, 0), number(mean, 1));
            let hint = "Choosing another shape replaces the measured hours.";
            of.add("demand/shape", "Demand", Takes::OneOf(MEASURED), &unit, hint);
        }
    }
    of.add("interruptible", "Interruptible", Takes::Percent, "%", "Can run on spot.");
    of.add("productive", "Productive", Takes::Percent, "% of the hours it holds a GPU", "");
    let day = "24: any hour of the day. It moves to cheaper hours.";
    of.rare("within_hours", "Interruptible work can move within", Takes::Whole, "hours", day);
    of.rare("monthly_growth", "Growth", Takes::Percent, "% a month", "");
    of.rare(
        "availability",
        "Required availability",
        Takes::PercentOrNone,
        "% of the time",
        "Leave empty for no requirement.",
    );
    let hint = "Cost of a substitute or of lost work. Leave empty if all must be served.";
    of.rare("unserved_cost", "Cost of an unserved hour", Takes::NumberOrNone, "MONEY per GPU-hour", hint);
    of.rare("accelerator", "Accelerator", Takes::Text, "", "ID in the catalog, such as nvidia-h100-sxm.");
    let hint = "Measured while working. Needed for prices per token.";
    of.rare("tokens_per_hour", "Throughput", Takes::NumberOrNone, "tokens per GPU-hour", hint);
    let mut acts = Vec::new();
    if let Shape::Levels { levels, .. } = &work.demand {
        let all = format!("{pointer}/demand/levels");
        acts.push(("Add a level".to_owned(), format!("add:{all}")));
        if levels.len() > 1 {
            acts.push(("Remove the last level".to_owned(), format!("remove:{all}/{}", levels.len() - 1)));
        }
    }
    acts.push(("Copy".to_owned(), format!("copy:{pointer}")));
    if count > 1 {
        acts.push(("Remove".to_owned(), format!("remove:{pointer}")));
    }
    let part = Part { title: String::new(), fields: of.fields, acts };
    Section { title: format!("Work: {}", work.name), pointer, parts: vec![part] }
}

/// Users of a model, and the model.
fn served(of: &mut Maker<'_>) {
    of.add("demand/users", "Concurrent users", Takes::Whole, "in the busiest hour", "");
    of.add(
        "demand/tokens_per_second",
        "Speed for each user",
        Takes::Number,
        "tokens per second",
        "People read about 10.",
    );
    let measured = "Measured for all users together.";
    of.add(
        "demand/gpu_tokens_per_second",
        "Throughput of a GPU",
        Takes::Number,
        "tokens per second",
        measured,
    );
    of.add(
        "demand/tokens_per_user",
        "Context per user",
        Takes::Whole,
        "tokens",
        "Prompts and answers so far.",
    );
    of.add("demand/parameters", "Parameters", Takes::Number, "billion", "");
    of.add("demand/weights", "Weight precision", Takes::OneOf(PRECISIONS), "", "");
    of.rare("demand/day_swing", "Drop at night", Takes::Percent, "%", "0: the same day and night.");
    of.rare("demand/cache", "KV cache precision", Takes::OneOf(PRECISIONS), "", "");
    of.rare("demand/layers", "Layers", Takes::Whole, "", "From the model’s configuration.");
    of.rare("demand/key_value_heads", "KV heads", Takes::Whole, "", "");
    of.rare("demand/head_size", "Head size", Takes::Whole, "", "");
    of.rare("demand/activations", "Other memory", Takes::Number, "GB", "Activations and buffers.");
    let fewest = "Leave empty for the fewest that fit.";
    of.rare("demand/gpus_per_replica", "GPUs per replica", Takes::WholeOrNone, "", fewest);
}
