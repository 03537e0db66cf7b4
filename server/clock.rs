//! The one place that asks what time it is, and for chance. Everything below the edges takes both as
//! arguments.

use chrono::{DateTime, Utc};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// What tells the time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    System,
    /// It stands at this moment.
    At(DateTime<Utc>),
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that the rule names")]
    pub fn now(self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now(),
            Self::At(moment) => moment,
        }
    }
}

/// The present moment, for commands and jobs to pass on.
pub fn now() -> DateTime<Utc> {
    Clock::System.now()
}

/// Randomness fit for secrets, for the same edges.
pub fn dice() -> StdRng {
    StdRng::from_os_rng()
}
