//! What the ledger promises, against a real PostgreSQL.

mod conservation;
mod deliveries;
mod originals;
