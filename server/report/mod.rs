//! Reports: the questions pages ask of the ledger, one file each, the SQL inside.
//!
//! Every figure on every page, in every file and on the command line comes from here, so that two of
//! them never disagree.

mod activity;
mod adjustments;
mod as_of;
mod attention;
mod batches;
mod budgets;
mod cache;
mod catalog;
mod change_summary;
mod chargeback;
mod charges;
mod charges_and_credits;
mod cluster;
mod compared;
mod compared_period;
mod completeness;
mod data_status;
mod denominate;
mod denomination;
mod effects;
mod events;
mod every_charge;
mod experiment;
mod experiment_merges;
mod experiments;
mod gpu_jobs;
mod hour_chain;
mod hourly;
mod hourly_ways;
mod import_changes;
mod import_contents;
mod import_history;
mod imports;
mod job_costs;
mod labels;
mod latest_month;
mod machines;
mod month_sums;
mod onprem_unit_cost;
mod onprem_unit_cost_parts;
mod over_time;
mod overview;
mod owned_by;
mod owner;
mod paid_prices;
mod payers;
mod preview;
mod priced_by;
mod question;
mod rate_change;
mod reconciliation;
mod restates;
mod scopes;
mod seen_team;
mod shared_movement;
mod show_spaces;
mod snapshot;
mod spend;
mod sql;
mod statement;
mod suggestions;
mod sums;
mod table_line;
mod tags;
mod team;
mod token_costs;
mod trace;
mod unallocated;
mod unit_costs;
mod unpriced;
mod variance;

pub use activity::{Activity, activity};
pub use adjustments::{
    AdjustedBillLine, AdjustmentState, InternalPriceImpact, MonthOfAdjustments, OwnerOfAdjustments,
    accounts_billed, adjustment_impact, adjustment_state, internal_price_impact, providers_billed,
};
pub use as_of::Error;
pub use attention::{Attention, WARNING};
pub use batches::{Batch, JobLine, Outcome, OutcomeFile, OutcomeRejection, batch, jobs};
pub use budgets::{BudgetDay, BudgetLine, BudgetPage, BudgetState, Budgets, PastPeriod};
pub use cache::Answers;
pub use catalog::{CatalogImpact, UnrecognizedUsage, catalog_impact, unrecognized_usage};
pub use chargeback::{Chargeback, TeamLine, chargeback};
pub use charges::{ChargeLine, Charges, Order, PAGE_SIZE, Page};
pub use charges_and_credits::ChargesAndCredits;
pub use cluster::{
    Cloud, ClusterReport, EnteredHours, HeldProfile, InCurrency, MeasuredHours, MonthOfCluster,
    PaidElsewhere, SlicesOfCluster, rates_of_months,
};
pub use compared::Compared;
pub use completeness::{Completeness, final_months, final_since, stated_until};
pub use data_status::DataStatus;
pub use denomination::Unconverted;
pub use effects::{Effect, effects};
pub use events::{Event, EventKind, EventOf, Events, events};
pub use every_charge::EveryCharge;
pub use experiment::{
    ExperimentReport, PerUnit, Siblings, experiment_report, months_of_experiment, siblings,
};
pub use experiment_merges::{Merge, Merged, merges};
pub use experiments::{ExperimentLine, Experiments, experiments};
pub use gpu_jobs::{
    CostLines, GpuJob, GpuJobDay, GpuJobReport, GpuJobStretch, GpuJobs, HourLines, JobDimension, JobGroup,
    JobSums, JobsAsked, UnmatchedNode,
};
pub use hour_chain::{HourChain, HourChainGroup, HourChains};
pub use hourly::{Hourly, HourlyError};
pub use hourly_ways::{HourlyWay, Instance, Ways};
pub use import_changes::{Change, ChangeTotal, ChangedKey, ChangedOwner, Changes, ChangesBy, changes};
pub use import_contents::{ContainedAccelerator, ContainedTag, ImportContents, import_contents};
pub use import_history::{
    CountedCost, DeliveryState, HISTORY_PAGE, History, HistoryChoices, HistoryFilter, HistoryOrder, history,
    history_choices,
};
pub use imports::{
    Delivery, DeliveryFile, ImportLine, ImportScope, LogLine, RejectedRow, archived, delivery, delivery_file,
    lines_of, rejection, rejections, waiting,
};
pub use job_costs::JobCost;
pub use labels::{Spelling, Spellings, Written, needs_no_entry, spellings};
pub use machines::Machine;
pub use month_sums::first_months;
pub use onprem_unit_cost_parts::{OwnedPart, OwnedPrice};
pub use over_time::{Bucket, Days, Series, Step};
pub use overview::{MonthOfProvider, Overview, ProviderDays, State, UpToSameDay, overview};
pub use owner::Owner;
pub use paid_prices::{PaidPrice, PaidPrices};
pub use preview::{MonthOfPreview, Move, Preview, TeamOfPreview, TransferredKey, preview};
pub use priced_by::{PricedBy, priced_by};
pub use question::{CostMetric, FIRST, Filter, Grouping, ParseQuestionError, Question, SHARED, Sort, SortBy};
pub use rate_change::{Before, MonthOfRates, OwnerOfRates, Priced, RateImpact, rate_impact};
pub use reconciliation::{Agreement, Invoice, ReconciledLine, ReconciledTotal, Reconciliation};
pub use restates::{Restates, restates};
pub use seen_team::{SeenTeam, TeamName, seen_team};
pub use shared_movement::{SharedMovement, TeamParts};
pub use show_spaces::with_visible_ends;
pub use spend::{Group, Spend};
pub use statement::{
    Cause, Cents, Finality, Restated, StatedLine, StatedPart, Statement, TeamStatement, Way, Weighed,
    month_in_cents, statement,
};
pub use suggestions::{Offer, SuggestedRule, suggested_rules};
pub use table_line::{Figures, Whole};
pub use team::{Breakdown, Part, TeamReport, team_report};
pub use token_costs::{TokenCost, TokenReport, TokenTable, token_report};
pub use trace::{Counted, FileOfDelivery, OtherDelivery, RowAddress, Trace, charges_of_row, file_of};
pub use unallocated::{Coverage, MonthCoverage, Unallocated, UnallocatedKey};
pub use unit_costs::{TeamUnit, UnitCost, UnitOwner};
pub use unpriced::{RateState, Unpriced, UnpricedUsage, rate_state, unpriced_usage};
pub use variance::{Movement, Parts, Variance};
