//! What the ledger promises, against a real PostgreSQL.

mod bad_input;
mod conservation;
mod deliveries;
mod faults;
mod originals;
