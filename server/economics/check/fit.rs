//! Models and memory.

use super::Findings;
use crate::accelerator;
use crate::economics::memory::{Fit, Precision, Support};
use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// What is odd about a model and what it is to run on.
pub fn fit(it: &Fit) -> Findings {
    let mut found = Findings::default();
    let most = Decimal::from(1_000_000);
    let message = "expected billions of parameters, from 0.001 to a million; 70 for a 70B model";
    if found.between("parameters", it.parameters, decimal(1, 3), most, message)
        && it.parameters > 20_000.into()
    {
        found.warn(
            "parameters",
            it.parameters,
            "no model has this many billion parameters; is this in millions?",
        );
    }
    let message = "expected GB, from 0 to a million";
    found.between("activations", it.activations, Decimal::ZERO, most, message);
    for (field, number) in
        [("layers", it.layers), ("key_value_heads", it.key_value_heads), ("head_size", it.head_size)]
    {
        found.whole(field, number, 1..=100_000, "expected 1 to 100,000, from the model's configuration");
    }
    found.whole("tokens", it.tokens, ..=1_000_000_000_000, "expected at most a trillion tokens");
    found.whole("gpus", it.gpus, 1..=100_000, "expected 1 to 100,000 GPUs");
    if let Some(usable) = it.usable() {
        let message = "expected GB per GPU, from 0.1 to 10,000";
        found.between("usable", usable, decimal(1, 1), 10_000.into(), message);
        larger_than_it_is(it, &mut found);
    } else {
        let message = "the memory of this accelerator is unknown; enter it, or choose another accelerator";
        found.refuse("accelerator", &it.accelerator, message);
    }
    for (field, precision) in [("weights", it.weights), ("cache", it.cache)] {
        supported(field, precision, it, &mut found);
    }
    found.sorted()
}

fn larger_than_it_is(it: &Fit, found: &mut Findings) {
    let memory = accelerator::model(&it.accelerator).and_then(|model| model.memory_gb);
    let (Some(usable), Some(memory)) = (it.usable, memory) else { return };
    // Drivers report GiB of what is marketed in GB, or a little more of it.
    if usable > Decimal::from(i64::from(memory)).times(11).divide(10.into(), 1).unwrap_or_default() {
        let message = format!("more than the {memory} GB of one of these GPUs; is this for several GPUs?");
        found.warn("usable", usable, &message);
    }
}

fn supported(field: &str, precision: Precision, it: &Fit, found: &mut Findings) {
    // Keys and values are only kept in it; they are unpacked before anything is computed.
    let is_computed_with = field == "weights";
    match precision.on(&it.accelerator) {
        Support::No if is_computed_with => {
            let message = format!(
                "{} does not compute with 8-bit floats before compute capability 8.9, nor with 4-bit floats before \
                 10.0; take INT8 or INT4",
                it.accelerator
            );
            found.refuse(field, precision.name(), &message);
        }
        Support::Unknown if is_computed_with && precision.bits() < 16 => {
            found.warn(
                field,
                precision.name(),
                "it is unknown whether this accelerator supports this precision",
            );
        }
        Support::Yes | Support::No | Support::Unknown => {}
    }
}
