//! About what accelerators hold and do.

use super::{PublishedFigure, value};
use crate::accelerator::{find_instance, specification};
use crate::economics::figure::Unit;
use crate::economics::memory::{Fit, Precision};
use crate::economics::work_unit::{Basis, Performance, speedup};
use crate::money::Decimal;
use crate::money::arithmetic::count;

pub(super) const FIGURES: &[fn() -> Option<PublishedFigure>] =
    &[eight_bits, one_card, three_times_the_bandwidth, four_petaflops, forty_gigabytes];

fn eight_bits() -> Option<PublishedFigure> {
    let a100 = specification("nvidia-a100-sxm-80")?;
    Some(PublishedFigure {
        id: "fp8-on-a100",
        says: "An A100 does 624 TFLOPS in FP8; quantize, and run at half the cost.",
        printed: "624 TFLOPS",
        reproduced: None,
        right: vec![
            value(a100.compute_capability?, Unit::Number, "is its compute capability; FP8 needs 8.9"),
            value(a100.int8?, Unit::Teraflops, "in INT8 (8-bit integers)"),
            value(a100.half?, Unit::Teraflops, "in FP16"),
        ],
        why: "An A100 does not support FP8. A model in INT8 can run faster on it; in FP8 it only needs \
              less memory.",
    })
}

fn one_card() -> Option<PublishedFigure> {
    let fitted = Fit::default().fit().ok()?;
    let small = Fit { weights: Precision::Int8, ..Fit::default() }.fit().ok()?;
    Some(PublishedFigure {
        id: "seventy-billion-on-one-card",
        says: "A model of 70B answers in less than a second on one H100.",
        printed: "one H100",
        reproduced: None,
        right: vec![
            value(fitted.weights.value?, Unit::Gigabytes, "of weights in FP16; the card has 80"),
            value(fitted.least_gpus.value?, Unit::Number, "cards at least, before the first request"),
            value(small.tokens.value?, Unit::Tokens, "fit on one card besides the model in INT8"),
        ],
        why: "The claim ignores memory.",
    })
}

/// What a data sheet says of one over the other.
fn times(of: Option<Decimal>, over: Option<Decimal>, basis: Basis) -> Option<Decimal> {
    speedup(Performance { value: of?, basis }, Performance { value: over?, basis }).ok()?.value
}

fn three_times_the_bandwidth() -> Option<PublishedFigure> {
    let (h100, a100) = (specification("nvidia-h100-sxm")?, specification("nvidia-a100-sxm-80")?);
    Some(PublishedFigure {
        id: "three-times-the-bandwidth",
        says: "An H100 has three times the memory bandwidth of an A100.",
        printed: "3 ×",
        reproduced: None,
        right: vec![
            value(
                times(h100.bandwidth, a100.bandwidth, Basis::Bandwidth)?,
                Unit::Number,
                "times, for 80 GB each",
            ),
            value(
                times(h100.half, a100.half, Basis::DenseOperations)?,
                Unit::Number,
                "times the operations in FP16",
            ),
        ],
        why: "It does three times the operations, not three times the bandwidth. Decoding depends on \
              bandwidth, so it gains less.",
    })
}

fn four_petaflops() -> Option<PublishedFigure> {
    let (h100, b200) = (specification("nvidia-h100-sxm")?, specification("nvidia-b200")?);
    Some(PublishedFigure {
        id: "four-petaflops",
        says: "An H100 does about 4,000 TFLOPS in FP8, a B200 9,000.",
        printed: "3,958 and 9,000 TFLOPS",
        reproduced: None,
        right: vec![
            value(h100.fp8?, Unit::Teraflops, "of an H100"),
            value(b200.fp8?, Unit::Teraflops, "of a B200"),
            value(
                times(b200.fp8, h100.fp8, Basis::DenseOperations)?,
                Unit::Number,
                "times as many, either way",
            ),
        ],
        why: "The published figures are with sparsity, which few models use, and twice the dense ones. Do \
              not compare them with dense figures.",
    })
}

fn forty_gigabytes() -> Option<PublishedFigure> {
    let of = |name| Some(count(find_instance("AWS", name)?.model.memory_gb?));
    Some(PublishedFigure {
        id: "p4d-memory",
        says: "A p4d.24xlarge has eight A100 of 80 GB.",
        printed: "80 GB",
        reproduced: None,
        right: vec![
            value(of("p4d.24xlarge")?, Unit::Gigabytes, "each, of a p4d.24xlarge"),
            value(of("p4de.24xlarge")?, Unit::Gigabytes, "each, of a p4de.24xlarge, which costs more"),
        ],
        why: "There are two A100 with different memory. A model that fits one may not fit the other.",
    })
}
