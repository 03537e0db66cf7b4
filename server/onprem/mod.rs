//! On-premises clusters: what our own racks cost, month by month.
//!
//! - People write down what there is and what it costs: the *asset register* ([`AssetRegister`]), whose every change is a revision
//!   with who, when and why. Nothing of it is active by itself.
//! - A cluster's month follows from the asset register and from what meters read ([`lines`]), the same whenever it is
//!   computed. As a file ([`bill`]) it is submitted like any bill, and is a delivery of the ledger from then on:
//!   published, replaced by the next one of that month, undone, and traced to the revision it was computed from.
//! - This is the book view: what a month is charged. What owning costs in comparisons, with the cost of capital, is the
//!   economic view; the two are never added.

mod asset_register;
mod before_after;
mod bill_cache;
mod bill_file;
mod bill_status;
mod bill_totals;
mod book_value;
mod capacity;
mod check;
mod compare_with_cloud;
mod cost_lines;
mod depreciation;
mod document;
mod energy_use;
mod entry;
mod impact;
mod loan;
mod location_history;
pub mod power;
mod problem;
mod racks;
mod readings;
mod sheet;
mod start;
mod summary;
mod system;
mod tco;
#[cfg(test)]
mod testing;

pub use asset_register::{AssetRegister, Edit};
pub use before_after::{before_after, before_after_undoing};
pub use bill_cache::{Months, file_of, lines_of};
pub use bill_file::{MonthFile, PROVIDER, bill};
pub use bill_status::{ClusterMonth, State, deliveries_of, hold, note_submitted};
pub use bill_totals::ComputedBill;
pub use book_value::{AssetSchedule, YearEnd, schedules, year_ends};
pub use capacity::{Capacity, MeasuredDemand, More, capacity};
pub use check::check;
pub use compare_with_cloud::{Comparison, HoursOfModel, Offer, compare, offers};
pub use cost_lines::{
    Amounts, Basis, Component, Line, Machine, Units, UnpricedEnergy, lines, unpriced_energy,
};
pub use depreciation::{Method, Refused, Schedule, YearOfLife};
pub use energy_use::EnergyOfMonth;
pub use entry::{
    Asset, AssetKind, Cluster, Colocation, Cost, CostKind, Entry, Event, EventKind, Every, Meter, Paid, Pue,
    Shares, Span, Staff, StaffHours, Tariff, Utilization,
};
pub use impact::{AmountImpact, BeforeAfter, Impact, RegisterBeforeAfter, TotalImpact};
pub use location_history::{Events, Leaving, LocationHistory, Stay};
pub use problem::{Problem, problems};
pub use racks::{RackPlan, RacksOfKind, racks};
pub use readings::{MeterReadings, Read, meters_read, readings, take_readings};
pub use sheet::{Field, Kind, RefusedCell, Takes, Texts, cells, identity, read, read_file, write_file};
pub use start::Start;
pub use summary::{MonthSummary, currencies, owned_hours};
pub use system::{System, system, systems};
pub use tco::{Economics, economics, owning};
