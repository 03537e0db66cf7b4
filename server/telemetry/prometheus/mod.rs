//! Prometheus: what DCGM exporters measured, as answers that somebody saved and from servers that are asked.
//!
//! A server is asked for whole hours of one day at a time ([`window`]), metric by metric ([`ask`]). What it says of them is written
//! down at once, or not at all ([`fetch`]): where it is down, slow or wrong, the next try begins at the same hour. So nothing is
//! missed and nothing counts twice ([why](../../../docs/decisions/prometheus-is-read-by-hours-of-a-day.md)).

mod ask;
mod fetch;
mod series;
mod servers;
mod unit;
mod window;

pub use ask::{Endpoint, checked_address, checked_matchers};
pub use fetch::{Fetched, fetch};
pub use series::read;
pub use servers::{
    Entered, Server, ServerDay, Trouble, add, change, days, read_again, remove, server, servers,
    unfinished_months,
};
