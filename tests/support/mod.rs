//! What tests share: a browser without a screen, people to sign in, a look into pages.

pub mod app;
pub mod html;
pub mod ledger;

pub use app::TestApp;
pub use ledger::{Focus, TestLedger};
