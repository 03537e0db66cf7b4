//! Models, their users, and what they are to get.

use super::{Findings, MOST_GPUS, Severity, fit};
use crate::economics::sizing::Service;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal};

/// What is odd about users of a model that run on an accelerator.
pub fn service(it: &Service, accelerator: &str) -> Findings {
    let mut found = Findings::default();
    let most = Decimal::from(100_000_000);
    let message = "expected 1 to 100 million concurrent users";
    found.between("users", count(it.users), 1.into(), most, message);
    let message = "expected 1 to 100 million tokens per user";
    found.between("tokens_per_user", count(it.tokens_per_user), 1.into(), most, message);
    let message = "expected tokens per second per user, from 0.001 to a million";
    found.between("tokens_per_second", it.tokens_per_second, decimal(1, 3), 1_000_000.into(), message);
    let message = "expected measured tokens per second per GPU, from 0.001 to a million";
    let (least, most) = (decimal(1, 3), 1_000_000.into());
    found.between("gpu_tokens_per_second", it.gpu_tokens_per_second, least, most, message);
    found.share("day_swing", it.day_swing);
    for inside in fit(&it.fit(accelerator, it.gpus_per_replica.unwrap_or(1))).iter() {
        let field = match inside.field.as_str() {
            "tokens" => "tokens_per_user",
            "gpus" => "gpus_per_replica",
            field => field,
        };
        found.add(inside.severity, field, &inside.found, &inside.message);
    }
    if found.iter().all(|it| it.severity == Severity::Warning) {
        served(it, accelerator, &mut found);
    }
    found.sorted()
}

/// Whether a copy of the model serves anybody, and all of them fewer GPUs than there may be.
fn served(it: &Service, accelerator: &str, found: &mut Findings) {
    let Some(replica) = it.replica(accelerator) else { return };
    if replica.users_by_memory.is_none_or(|users| users.is_zero()) {
        let least = it.fit(accelerator, 1).fit().ok().and_then(|it| it.least_gpus.value).unwrap_or_default();
        let message = format!("expected at least {least}: the model and one user do not fit into memory");
        found.refuse("gpus_per_replica", replica.gpus, &message);
    } else if replica.users_by_speed.is_zero() {
        let message = format!(
            "{} of these GPUs are too slow for one user; expected more GPUs per replica",
            replica.gpus
        );
        found.refuse("gpu_tokens_per_second", it.gpu_tokens_per_second, &message);
    } else if it.gpus(accelerator, count(it.users)).is_none_or(|gpus| gpus > MOST_GPUS.into()) {
        found.refuse("users", it.users, "this needs more than a million GPUs");
    }
}
