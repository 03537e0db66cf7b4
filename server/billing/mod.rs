//! Billing exports: bytes to charges. Pure: no database, no clock, no files of its own.
//!
//! [`open`] recognises what a stream of bytes is, by its header and never by its name, and answers an
//! [`Export`]: a walk over its rows, each of which becomes a [`Charge`], a [`Rejection`] or is skipped
//! for a stated reason. A file that is no cost at all is a [`Refusal`].
//! Adding a format is one file that implements [`Format`] and one line in [`FORMATS`].

mod charge;

pub use charge::{Charge, ChargeCategory, ChargeKey, PricingCategory, canonical_provider};
