//! What the ledger promises, against a real PostgreSQL.

mod bad_input;
mod cancel;
mod clusters;
mod conservation;
mod deliveries;
mod faults;
mod originals;
mod shrinking;
mod visibility;
