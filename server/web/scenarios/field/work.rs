//! What the work needs, hour by hour.

use super::super::super::words::number;
use super::{Maker, Part, Section, Takes};
use crate::economics::comparison::Work;
use crate::economics::profile::Shape;
use crate::money::Decimal;
use crate::money::arithmetic::quotient;

const SHAPES: &[(&str, &str)] = &[
    ("flat", "so many, for some hours a day"),
    ("between", "anything between two numbers"),
    ("swinging", "up by day, down by night and at weekends"),
    ("serving", "what users of a model take"),
    ("levels", "so many in a share of the hours"),
    ("runs", "runs of some hours, a few times a year"),
];
/// Hours that were measured are not typed; a shape can take their place.
const MEASURED: &[(&str, &str)] = &[
    ("hours", "as measured"),
    ("flat", "so many, for some hours a day"),
    ("between", "anything between two numbers"),
    ("swinging", "up by day, down by night and at weekends"),
    ("serving", "what users of a model take"),
    ("levels", "so many in a share of the hours"),
    ("runs", "runs of some hours, a few times a year"),
];

const ORDERS: &[(&str, &str)] =
    &[("spread", "spread over all months alike"), ("listed", "one after the other within a year")];

const PRECISIONS: &[(&str, &str)] =
    &[("half", "FP16"), ("fp8", "FP8"), ("int8", "INT8"), ("fp4", "FP4"), ("int4", "INT4"), ("fp32", "FP32")];

pub(super) fn of_work(at: usize, work: &Work, count: usize, money: &str) -> Section {
    let pointer = format!("/work/{at}");
    let mut of = Maker { at: pointer.clone(), money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    match &work.demand {
        Shape::Flat { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/gpus", "GPUs", Takes::Number, "", "");
            of.add("demand/hours_per_day", "Hours of each day", Takes::Whole, "", "");
        }
        Shape::Between { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/low", "At least", Takes::Number, "GPUs", "");
            of.add("demand/high", "At most", Takes::Number, "GPUs", "");
        }
        Shape::Swinging { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/base", "On average of a working day", Takes::Number, "GPUs", "");
            of.add("demand/day_swing", "Up and down by", Takes::Percent, "%", "");
            of.add("demand/weekend", "At weekends", Takes::Percent, "% of a working day", "");
            of.rare(
                "demand/noise",
                "Noise",
                Takes::Number,
                "",
                "Standard deviation of its logarithm; 0: none.",
            );
        }
        Shape::Levels { levels, .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            for level in 0..levels.len() {
                of.add(&format!("demand/levels/{level}/gpus"), "GPUs", Takes::Number, "", "");
                of.add(&format!("demand/levels/{level}/share"), "In so many hours", Takes::Percent, "%", "");
            }
            of.add("demand/order", "Hours come", Takes::OneOf(ORDERS), "", "");
        }
        Shape::Runs { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/gpus", "GPUs", Takes::Number, "", "");
            of.add(
                "demand/runs_per_year",
                "Runs",
                Takes::Whole,
                "a year",
                "Each begins an equal part of it.",
            );
            of.add("demand/hours_per_run", "Each takes", Takes::Whole, "hours", "");
        }
        Shape::Serving(_) => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            served(&mut of);
        }
        Shape::Hours { gpus } => {
            let count = Decimal::from(i64::try_from(gpus.len()).unwrap_or(i64::MAX));
            let mean = quotient(gpus.iter().copied().sum(), count).unwrap_or_default();
            let unit = format!("{} measured hours, {} GPUs on average", number(count, 0), number(mean, 1));
            let hint = "Another shape replaces them. Go back in the browser to undo.";
            of.add("demand/shape", "Asks for", Takes::OneOf(MEASURED), &unit, hint);
        }
    }
    of.add("interruptible", "Can be interrupted", Takes::Percent, "%", "What may run on spot.");
    of.add("productive", "Does work", Takes::Percent, "% of the hours it holds a GPU", "");
    let day = "24: any hour of the day. To hours that cost less.";
    of.rare("within_hours", "What can be interrupted may move within", Takes::Whole, "hours", day);
    of.rare("monthly_growth", "Grows by", Takes::Percent, "% a month", "");
    of.rare(
        "availability",
        "Has to be there",
        Takes::PercentOrNone,
        "% of the time",
        "Empty: no need is stated.",
    );
    let hint = "By what is done instead, or lost. Empty: all of it has to be served.";
    of.rare("unserved_cost", "An hour not served", Takes::NumberOrNone, "MONEY a GPU-hour", hint);
    of.rare("accelerator", "Accelerator", Takes::Text, "", "By its id in the catalog: nvidia-h100-sxm.");
    let hint = "As measured while it works. For what is paid by the token.";
    of.rare("tokens_per_hour", "Makes", Takes::NumberOrNone, "tokens in an hour of a GPU", hint);
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
    of.add("demand/users", "Users at once", Takes::Whole, "in the busiest hour", "");
    of.add(
        "demand/tokens_per_second",
        "Each gets",
        Takes::Number,
        "tokens a second",
        "People read about 10.",
    );
    let measured = "As measured, for all its users together.";
    of.add("demand/gpu_tokens_per_second", "A GPU makes", Takes::Number, "tokens a second", measured);
    of.add("demand/tokens_per_user", "Held for each user", Takes::Whole, "tokens", "Said and heard so far.");
    of.add("demand/parameters", "Parameters", Takes::Number, "billions", "");
    of.add("demand/weights", "Weights in", Takes::OneOf(PRECISIONS), "", "");
    of.rare("demand/day_swing", "Fewer users at night by", Takes::Percent, "%", "0: as many day and night.");
    of.rare("demand/cache", "Keys and values in", Takes::OneOf(PRECISIONS), "", "");
    of.rare("demand/layers", "Layers", Takes::Whole, "", "As the model’s configuration says.");
    of.rare("demand/key_value_heads", "Heads of keys and values", Takes::Whole, "", "");
    of.rare("demand/head_size", "Size of a head", Takes::Whole, "", "");
    of.rare("demand/activations", "Besides", Takes::Number, "GB", "Activations, buffers.");
    let fewest = "Empty: the fewest that hold it.";
    of.rare("demand/gpus_per_replica", "GPUs of a replica", Takes::WholeOrNone, "", fewest);
}
