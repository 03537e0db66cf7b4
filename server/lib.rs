//! gpuledger: what an organisation spends on GPUs, wherever they run.
//!
//! Data flows one way: file → charges → ledger → report → page. One line per room:

/// GPU catalogue: models, instance types, recognition.
pub mod accelerator;
/// People: passwords, sessions, roles.
pub mod accounts;
/// Billing exports: bytes to charges. Pure.
pub mod billing;
/// Figures to SVG: themable, readable, accessible. Pure.
pub mod chart;
/// The one place that asks what time it is.
pub mod clock;
/// Settings: flags, environment, defaults.
pub mod config;
/// Exact decimals and currencies.
pub mod money;
/// Billing months and charge periods, always half-open.
pub mod period;
/// Pages: one file each.
pub mod web;

/// Every migration, in order.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();
