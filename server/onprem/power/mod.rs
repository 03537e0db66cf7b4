//! What power costs: from meters. Pure.

mod columns;
mod reading;

pub use reading::{Gap, Kind, Reading, ReadingsFile, RefusedReading, Reset, read};
