//! What the ledger promises, against a real PostgreSQL.

mod accounts;
mod archive;
mod bad_input;
mod cancel;
mod catalog;
mod clusters;
mod conservation;
mod deliveries;
mod faults;
mod google;
mod halves;
mod mappings;
mod one_month;
mod oracle;
mod originals;
mod own_tables;
mod rate_cards;
mod repeated;
mod review;
mod row_sources;
mod shrinking;
mod specialty;
mod split_costs;
mod tampered;
mod visibility;
