//! gpuledger: what an organisation spends on GPUs, wherever they run.
//!
//! Data flows one way: file → charges → ledger → report → page. One line per room:

/// GPU catalogue: models, instance types, recognition. Pure.
pub mod accelerator;
/// Billing exports: bytes to charges. Pure.
pub mod billing;
/// Charges to PostgreSQL: originals, deliveries, keys, rollups, publish, undo, check.
pub mod ledger;
/// Exact decimals and currencies.
pub mod money;
/// Billing months and charge periods, always half-open.
pub mod period;
/// The questions pages ask of the ledger.
pub mod report;
/// PostgreSQL: the pool, migrations, the private server, typed COPY.
pub mod store;
