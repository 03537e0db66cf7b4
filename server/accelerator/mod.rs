//! Accelerators: which charges pay for GPUs, which model, how many.
//!
//! An *accelerator* is a device that computes for machine learning or graphics and is rented by time:
//! GPUs, Google TPUs, AWS Trainium and Inferentia, Intel Gaudi, Qualcomm Cloud AI. FPGAs (AWS F1,
//! Azure NP) and video transcoders (AWS VT1) are not. A board with two GPU chips (K80, M60) counts as
//! two, as its clouds do.
//!
//! What is known stands in `catalog/*.csv`, a source on each row:
//! - `models.csv`: the models, the name a page shows (several models may share one: `H100` is SXM, PCIe
//!   and NVL) and the texts each is recognized by;
//! - `instances.csv`: instance types and how many accelerators each holds, `8` or `1/6`;
//! - `meters.csv`: what one unit of a meter counts (instances, accelerators, or neither);
//! - `specifications.csv`: what models can do, which recognition does not look at ([`specification`]).
//!
//! What an organization adds to it in the browser makes a [`Catalog`] with it, which is a value that is passed to whoever
//! recognizes; [`recognize`] asks the shipped one alone.
//!
//! [`Catalog::recognize`] is asked once per distinct charge key. Accelerator-hours are summed exactly, as
//! part-seconds (quantity × [`Recognized::per_unit`] × [`Recognized::seconds_per_unit`]), and divided once, at
//! display ([`accelerator_hours`]).

mod additions;
mod amount;
mod catalog;
mod name;
mod recognize;
mod specification;
mod text;
mod unit;
mod unrecognized;

pub use additions::{Addition, Catalog, Machine, NotAdded, version_of};
pub use amount::{Accelerators, PARTS, ParseAcceleratorsError, accelerator_hours};
pub use catalog::{Instance, Model, VERSION, find_instance, find_model, instances, model, models};
pub use recognize::{Recognized, recognize};
pub use specification::{Specification, specification};
pub use unit::seconds_per_unit;
pub use unrecognized::{Recognition, Unrecognized};
