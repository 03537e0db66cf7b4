//! gpuledger: what an organisation spends on GPUs, wherever they run.
//!
//! Data flows one way: file → charges → ledger → report → page. One line per room:

/// GPU catalogue: models, instance types, recognition.
pub mod accelerator;
/// Billing exports: bytes to charges. Pure.
pub mod billing;
/// Exact decimals and currencies.
pub mod money;
/// Billing months and charge periods, always half-open.
pub mod period;
/// PostgreSQL: the private server, the pool, the migrations.
pub mod store;
