//! What power costs: from meters or a model of the draw, by tariff, with PUE and demand. Pure.
//!
//! A file of a meter becomes [`Reading`]s, each so many kWh between two times; a [`Model`] of idle and load draw makes
//! the same where nobody measured. Readings are divided by UTC day, as the ledger counts, and by the bands of a
//! [`Tariff`], which follow local time. Every figure is a finite decimal: kWh × PUE × price is never rounded, so
//! the parts sum to the whole in the last digit. Only what one interval used in one part of it is rounded, to
//! [`PLACES`], and the parts are made to sum to the interval.

mod columns;
mod energy;
mod interval;
mod model;
mod peak;
mod problem;
mod pue;
mod reading;
mod tariff;

pub use columns::Kind;
pub use energy::{BandEnergy, DayEnergy, MeterLocation, by_day};
pub use interval::PLACES;
pub(super) use interval::start_of;
pub use model::Model;
pub use peak::{Window, peak};
pub(super) use problem::KILOWATT_PLACES;
pub use problem::Problem;
pub(super) use pue::energy_of_covered_days;
pub use pue::{MeasuredPue, Pue, measured_pue};
pub use reading::{Gap, Reading, ReadingsFile, Reset, read};
pub use tariff::{Band, Prices, Tariff, Weekdays};
