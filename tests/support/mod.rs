//! What tests share: a browser without a screen, people to sign in, a look into pages.

pub mod app;
pub mod changes;
pub mod configuration;
pub mod containers;
pub mod files;
pub mod html;
pub mod http;
pub mod json;
pub mod ledger;
pub mod prometheus;
pub mod server;
pub mod workbooks;

pub use app::{TestApp, now};
pub use http::Http;
pub use ledger::{Focus, TestLedger};
pub use server::{Server, gpuledger};

/// A decimal as tests write it.
pub fn number(text: &str) -> gpuledger::money::Decimal {
    text.parse().unwrap()
}
