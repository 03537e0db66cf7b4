//! What people do, from the first page to the last, over HTTP against a real PostgreSQL.

mod admin;
mod compared;
mod demo;
mod figures;
mod finance;
mod owned;
mod team_lead;
