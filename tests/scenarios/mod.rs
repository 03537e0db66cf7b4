//! The economics against figures that were computed apart from it.

mod extremes;
mod golden;
