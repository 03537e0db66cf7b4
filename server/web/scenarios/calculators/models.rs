//! What a model takes: memory, tokens, vectors.

use super::input::{Input, Values};
use super::{Answered, Calculator, Row};
use crate::economics::check::{self, Refused};
use crate::economics::figure::Unit;
use crate::economics::memory::{Fit, Precision};
use crate::economics::serving::{Interface, Lifetime, Serving};
use crate::economics::vector_search::{Numbers, Rule, Vectors};
use crate::money::Decimal;

pub(super) fn calculators() -> Vec<Calculator> {
    vec![
        Calculator {
            handle: "memory",
            name: "Does a model fit, and for how many users?",
            about: "Weights and KV cache compared with the memory of the GPUs.",
            inputs: Input::of("memory"),
            answer: memory,
        },
        Calculator {
            handle: "tokens",
            name: "What do a million tokens cost on your own GPUs?",
            about: "From throughput and the share of hours in which they are busy.",
            inputs: Input::of("tokens"),
            answer: tokens,
        },
        Calculator {
            handle: "interface",
            name: "From which volume on does serving oneself cost less than paying by the token?",
            about: "GPUs have a fixed cost; an API is paid per token.",
            inputs: Input::of("interface"),
            answer: interface,
        },
        Calculator {
            handle: "overtaking",
            name: "When does serving cost more than training?",
            about: "Training is paid once, serving every month.",
            inputs: Input::of("overtaking"),
            answer: overtaking,
        },
        Calculator {
            handle: "vectors",
            name: "What does the memory of a retrieval index cost?",
            about: "Vectors held in memory, compared with a managed service.",
            inputs: Input::of("vectors"),
            answer: vectors,
        },
    ]
}

fn precision(values: &Values<'_>, name: &str) -> Precision {
    match values.text(name) {
        "fp32" => Precision::Fp32,
        "fp8" => Precision::Fp8,
        "int8" => Precision::Int8,
        "fp4" => Precision::Fp4,
        "int4" => Precision::Int4,
        _ => Precision::Half,
    }
}

fn memory(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Fit {
        parameters: values.number("parameters"),
        weights: precision(values, "weights"),
        cache: precision(values, "cache"),
        layers: values.whole("layers"),
        key_value_heads: values.whole("key_value_heads"),
        head_size: values.whole("head_size"),
        activations: values.number("activations"),
        tokens: values.long("tokens"),
        accelerator: values.text("accelerator").to_owned(),
        usable: values.optional("usable"),
        gpus: values.whole("gpus"),
    }
    .fit()?;
    let sentence = match (found.fits, found.least_gpus.value) {
        (true, _) => format!("The model fits, with room for {}.", values.said(&found.tokens)),
        (false, Some(gpus)) => {
            format!("The model does not fit: it needs at least {} GPUs.", values.stated(gpus, Unit::Number))
        }
        (false, None) => "The model does not fit.".to_owned(),
    };
    let figures = [
        found.weights,
        found.bytes_per_token,
        found.memory,
        found.room,
        found.tokens,
        found.idle,
        found.least_gpus,
    ];
    let figures = figures.map(Row::from).into();
    Ok(Answered { sentence, figures, warnings: found.warnings })
}

fn tokens(values: &Values<'_>) -> Result<Answered, Refused> {
    let asked = Serving {
        price: values.number("price"),
        gpus: values.whole("gpus"),
        output_rate: values.number("output_rate"),
        input_rate: values.optional("input_rate"),
        duty: values.number("duty"),
    };
    let found = asked.cost()?;
    let sentence = format!("A million output tokens cost {}.", values.amount(&found.output));
    let off =
        values.optional("off_hours").map(|hours| asked.scaled_to_zero(hours, values.number("off_tokens")));
    let figures = [Some(found.output), found.input, off];
    Ok(Answered {
        sentence,
        figures: figures.into_iter().flatten().map(Row::from).collect(),
        warnings: found.warnings,
    })
}

fn interface(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Interface {
        price: values.number("price"),
        fixed: values.number("fixed"),
        variable: values.number("variable"),
    }
    .break_even()?;
    let sentence = match found.value {
        Some(tokens) => {
            format!("Self-hosting costs less from {} a month.", values.stated(tokens, Unit::Tokens))
        }
        None => {
            "Self-hosting never costs less: its additional cost per million tokens is not below the price of the API.".to_owned()
        }
    };
    Ok(Answered { sentence, figures: vec![found.into()], warnings: Vec::new() })
}

fn overtaking(values: &Values<'_>) -> Result<Answered, Refused> {
    let found = Lifetime {
        training: values.number("training"),
        serving: values.number("serving"),
        months: values.whole("months"),
    }
    .overtaking()?;
    let sentence = match (found.months.value, found.share.value) {
        (Some(_), Some(share)) => format!(
            "Serving has cost as much as training after {}, and is {} of the cost of the whole period.",
            values.said(&found.months),
            values.stated(share, Unit::Share)
        ),
        _ => "Serving is free, so it never costs as much as training.".to_owned(),
    };
    let figures = [found.months, found.served, found.share].map(Row::from).into();
    Ok(Answered { sentence, figures, warnings: Vec::new() })
}

fn vectors(values: &Values<'_>) -> Result<Answered, Refused> {
    let rule = if values.is("rule.by", "graph") {
        Rule::Graph { neighbors: values.whole("rule.neighbors") }
    } else {
        Rule::Half
    };
    let numbers = match values.text("numbers") {
        "fp16" => Numbers::Fp16,
        "int8" => Numbers::Int8,
        "binary" => Numbers::Binary,
        _ => Numbers::Fp32,
    };
    let asked = Vectors {
        vectors: values.long("vectors"),
        dimensions: values.whole("dimensions"),
        numbers,
        rule,
        price: values.number("price"),
        managed: values.optional("managed"),
    };
    let found = asked.cost()?;
    let warnings = values.usual_prices(|dollar| check::vectors_prices(&asked, dollar));
    let saved = match found.saved.as_ref().and_then(|it| it.value) {
        Some(saved) if saved > Decimal::ZERO => {
            format!(" The service costs {} more.", values.stated(saved, Unit::MoneyPerMonth))
        }
        Some(saved) if saved < Decimal::ZERO => {
            format!(" The service costs {} less.", values.stated(-saved, Unit::MoneyPerMonth))
        }
        Some(_) => " The service costs exactly as much.".to_owned(),
        None => String::new(),
    };
    let sentence = format!(
        "It needs {} of memory, which costs {}.{saved}",
        values.said(&found.memory),
        values.said(&found.per_month)
    );
    let figures = [Some(found.memory), Some(found.per_month), found.saved];
    Ok(Answered { sentence, figures: figures.into_iter().flatten().map(Row::from).collect(), warnings })
}
