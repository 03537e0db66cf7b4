//! The one place that asks what time it is, and for chance. Everything below the edges takes both as
//! arguments.

use chrono::{DateTime, Utc};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// The present moment, for handlers, commands and jobs to pass on.
#[expect(clippy::disallowed_methods, reason = "this is the edge that the rule names")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}

/// Randomness fit for secrets, for the same edges.
pub fn dice() -> StdRng {
    StdRng::from_os_rng()
}
