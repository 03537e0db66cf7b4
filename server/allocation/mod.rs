//! Allocation: every charge has an owner, a pool of shared costs, or is unallocated by name.
//!
//! What people write stands in the [`Configuration`]: teams, projects, cost centres, experiments, what tags mean, rules, pools.
//! Changing it is a version of the ledger, so a page that is asked as of an earlier one allocates as it did then.
//! For each month the configuration says, of every charge key, whose it is ([`RuleEngine`]), and of every pool, how it is
//! divided ([`divide`]). Both are plain functions; what they answer is kept under a hash of what they were asked, never
//! changed and never out of date. No charge is touched by any of it.

mod allocate_month;
mod check;
mod cleanup;
mod configuration;
mod costs_by_key;
mod costs_by_owner;
mod document;
mod entry;
mod experiment;
mod forecast;
mod key_owners;
mod key_row;
mod label;
mod problem;
mod quantity;
mod quantity_file;
mod rule;
mod rule_engine;
mod sheet;
mod split;
mod suggested_rules;
mod version;
mod weights;

pub use allocate_month::{Division, MonthAllocation, allocate, division_of};
pub use check::check;
pub use cleanup::{forget, forget_with};
pub use configuration::{Configuration, Edit, MonthConfiguration};
pub use entry::{
    Account, Budget, BudgetOf, BudgetPeriod, CostCentre, Entry, Experiment, FixedShare, Hours, HoursOf,
    Meaning, Months, Project, Recipient, Rule, SharedCostPool, Split, Target, Team, Value,
};
pub use forecast::{DAYS as USUAL_DAYS, Forecast, Known, MONTHS as USUAL_MONTHS};
pub use key_owners::{cover, cover_waiting};
pub use key_row::{COMMITMENT_STATUS, IS_ACCELERATED, IS_CREDIT, IS_UNUSED_COMMITMENT, KeyRow, facts_of};
pub use label::{Label, are_similar, handle_of, normalized, normalized_key};
pub use problem::problems;
pub use quantity::{Entered, Quantity, QuantityKind, quantities, remove_quantities, set_quantities};
pub use quantity_file::{read_quantities, read_quantity};
pub use rule::{Condition, Facts, Field, PatternError, Test, pattern};
pub use rule_engine::{Attribution, Labels, RuleEngine, digest};
pub use sheet::{RefusedCell, RefusedFile, Row, Sheet, identity};
pub use split::{Divided, PLACES, Portion, TeamShare, Time, Weights, divide};
pub use suggested_rules::{How, Neighbours, Suggestion, suggest};
pub use version::{label_keys, version};
