//! How pages call what is in the catalog, and where it is added.

use serde::Serialize;
use serde_json::{Value, json};

use crate::accelerator::{Model, NotAdded};
use crate::ledger::Added;
use crate::report::{CatalogImpact, UnrecognizedUsage};
use crate::web::paths;

/// Whether a change of the catalog changes a month that is final.
pub(in crate::web) fn has_final_months(impact: &[CatalogImpact]) -> bool {
    impact.iter().any(|it| it.is_final)
}

/// Whether it is a model, and not what stands for those that nobody knows.
pub(super) fn is_known(model: &Model) -> bool {
    model.id != "unknown"
}

/// `H100, SXM5 80 GB`.
pub(super) fn model(model: &Model) -> String {
    [model.name, model.variant].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `AWS p9.48xlarge has 8 × B300`; `“Hopper XL” is H100`.
pub(super) fn sentence(provider: &str, name: &str, means: &Model, count: Option<impl ToString>) -> String {
    match count {
        Some(count) => format!("{provider} {name} has {} × {}", count.to_string(), means.name),
        None => format!("“{name}” means {}", means.name),
    }
}

/// `AWS p9.48xlarge`; `“Hopper XL”`.
pub(super) fn name(it: &Added) -> String {
    if it.accelerators.is_some() {
        format!("{} {}", it.provider, it.name)
    } else {
        format!("“{}”", it.name)
    }
}

/// What is wrong with a name that cannot be added.
pub(super) fn refusal(refused: NotAdded) -> String {
    match refused {
        NotAdded::Known(machine) => {
            let from = machine.source.map_or("It was added here".to_owned(), |it| format!("Source: {it}"));
            format!(
                "This machine is known already: {} × {}. {from}. Enter a name that is not known.",
                machine.accelerators,
                model(machine.model)
            )
        }
        NotAdded::Named(named) => {
            format!("This text names {} already. Enter a text that names no model yet.", model(named))
        }
        NotAdded::TooCommon => {
            "This text may stand beside any accelerator. Enter the name of the model, such as RTX 9000."
                .to_owned()
        }
    }
}

/// Where what is not recognized is added, with what is known of it.
pub(in crate::web) fn to_add(it: &UnrecognizedUsage) -> String {
    #[derive(Serialize)]
    struct Query<'a> {
        kind: &'a str,
        provider: &'a str,
        name: &'a str,
    }
    let (kind, provider) = if it.is_counted() { ("text", "") } else { ("machine", it.provider.as_str()) };
    paths::with_query(paths::NewAddition, &Query { kind, provider, name: &it.name })
}

/// `September 2026`, or `July 2026 to September 2026`.
pub(in crate::web) fn months(it: &UnrecognizedUsage) -> String {
    if it.first_month == it.last_month {
        return it.first_month.name();
    }
    format!("{} to {}", it.first_month.name(), it.last_month.name())
}

pub(super) fn in_json(it: &Added) -> Value {
    json!({
        "addition": it.addition_id,
        "provider": it.provider,
        "name": it.name,
        "model": it.model.id,
        "accelerators": it.accelerators.map(|count| count.to_string()),
        "same_as": it.same_as,
        "source": it.source,
        "added_at": it.added_at,
        "added_by": it.added_by,
        "removed_at": it.removed.as_ref().map(|(at, _)| at),
        "removed_by": it.removed.as_ref().map(|(_, by)| by),
    })
}

pub(super) fn model_in_json(it: &Model) -> Value {
    json!({
        "model": it.id,
        "vendor": it.vendor,
        "name": it.name,
        "variant": it.variant,
        "memory_gb": it.memory_gb,
        "source": it.source,
    })
}
