//! The economics against figures that were computed apart from it.

mod golden;
