//! Models: memory, slices, work, tokens, chips, vectors.

use gpuledger::accelerator::{Specification, specification};
use gpuledger::economics::memory::{Fit, Fitted, Precision};
use gpuledger::economics::serving::{Lifetime, Overtaking, Serving};
use gpuledger::economics::silicon::{Ported, Porting};
use gpuledger::economics::slices::{By, Layout, LayoutCost};
use gpuledger::economics::vector_search::{Rule, Vectors, VectorsCost};
use gpuledger::economics::work_unit::{Basis, Offer, Performance, speedup};
use gpuledger::money::Decimal;

use super::{Computed, number};

fn of(model: &str) -> &'static Specification {
    specification(model).unwrap()
}

fn times(basis: Basis, of: Decimal, over: Decimal) -> Decimal {
    let performance = |value| Performance { value, basis };
    speedup(performance(of), performance(over)).unwrap().value.unwrap()
}

/// An hour of 10^15 operations a second, as they were measured.
fn petaflop(price: &str, teraflops: &str) -> Decimal {
    let performance = Performance { value: number(teraflops), basis: Basis::MeasuredOperations };
    let offer = Offer { name: String::new(), price: number(price), performance };
    offer.per_unit().value.unwrap()
}

fn cut(slices: &[&str]) -> LayoutCost {
    let slices = slices.iter().map(ToString::to_string).collect();
    let accelerator = "nvidia-h100-sxm".to_owned();
    Layout { accelerator, price: number("6.88"), slices, by: By::Dominant }.cost().unwrap()
}

fn slice(slices: &[&str], at: usize) -> Decimal {
    cut(slices).slices[at].cost.value.unwrap()
}

fn tokens(rate: i64, duty: &str) -> Decimal {
    let output_rate = rate.into();
    let serving = Serving { price: 2.into(), gpus: 1, output_rate, input_rate: None, duty: number(duty) };
    serving.cost().unwrap().output.value.unwrap()
}

fn fitted(parameters: i64, weights: Precision, accelerator: &str) -> Fitted {
    let accelerator = accelerator.to_owned();
    Fit { parameters: parameters.into(), weights, accelerator, ..Fit::default() }.fit().unwrap()
}

fn cliff() -> Overtaking {
    let lifetime = Lifetime { training: 50_000.into(), serving: 20_000.into(), months: 12 };
    lifetime.overtaking().unwrap()
}

fn ported(months: u32) -> Ported {
    Porting { months, ..Porting::default() }.cost().unwrap()
}

fn vectors(rule: Rule) -> VectorsCost {
    Vectors { rule, ..Vectors::default() }.cost().unwrap()
}

pub fn computed() -> Vec<Computed> {
    let (h100, a100, b200) = (of("nvidia-h100-sxm"), of("nvidia-a100-sxm-80"), of("nvidia-b200"));
    let both = ["4g.40gb", "3g.40gb"];
    vec![
        ("L01", cliff().months.value.unwrap()),
        ("L02", cliff().share.value.unwrap()),
        ("L07", fitted(7, Precision::Half, "nvidia-h100-sxm").idle.value.unwrap()),
        ("L08", times(Basis::Bandwidth, 900.into(), 64.into())),
        ("L09", times(Basis::Bandwidth, h100.bandwidth.unwrap(), a100.bandwidth.unwrap())),
        ("L10", times(Basis::SparseOperations, 9000.into(), 3958.into())),
        ("L11", times(Basis::DenseOperations, b200.fp8.unwrap(), h100.fp8.unwrap())),
        ("L13", times(Basis::SparseOperations, 4000.into(), 2.into())),
        ("W02", times(Basis::MeasuredOperations, number("794.5"), number("271.2"))),
        ("W04", petaflop("2.7447", "271.2")),
        ("W05", petaflop("14.2416", "1745")),
        ("M02", slice(&["3g.40gb"], 0)),
        ("M03", cut(&both).shares.value.unwrap()),
        ("M05", slice(&both, 1)),
        ("M06", cut(&["1g.10gb"; 7]).stranded_memory.value.unwrap()),
        ("T01", tokens(85, "1")),
        ("T03", tokens(120, "1")),
        ("T04", tokens(400, "1")),
        ("T06", fitted(70, Precision::Half, "nvidia-h100-sxm").bytes_per_token.value.unwrap()),
        ("T07", fitted(70, Precision::Half, "nvidia-h100-sxm").weights.value.unwrap()),
        ("V01", vectors(Rule::Half).memory.value.unwrap()),
        ("V02", vectors(Rule::Graph { neighbors: 16 }).memory.value.unwrap()),
        ("X01", ported(24).week.value.unwrap()),
        ("X02", ported(24).months.value.unwrap()),
        ("X04", ported(12).least_spend.value.unwrap()),
        ("X05", ported(24).expected_value.value.unwrap()),
    ]
}

pub fn described() -> Vec<Computed> {
    vec![
        ("W03", petaflop("6.88", "794.5")),
        ("M01", slice(&["1g.10gb"], 0)),
        ("M04", slice(&["4g.40gb", "3g.40gb"], 0)),
        ("T02", tokens(85, "0.45")),
        ("T08", fitted(70, Precision::Int8, "nvidia-a100-sxm-80").tokens.value.unwrap()),
        ("V03", vectors(Rule::Half).per_month.value.unwrap()),
    ]
}
