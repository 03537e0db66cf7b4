//! What usage costs that arrives without cost: by the rates that an organization agreed on. Pure.
//!
//! A [`Rate`] is a line of a rate card: for which usage it holds, from when until when, and what a unit costs. [`Rates`] are all
//! of them; of those that fit, the most particular holds. [`Pricing`] goes over the usage of a bill in its order, since a price may
//! fall with the quantity of a month.
//!
//! | what | rule |
//! |---|---|
//! | which rate | of the provider and in the currency of the bill; of those whose other conditions hold, the one with most of them; of equally many, the one that names the account, then the SKU, accelerator, region and pricing category; then one in the unit of the bill before one per GPU-hour, and a SKU before a meter before an instance type |
//! | which day | the one on which the charge begins, UTC, however long it lasts |
//! | quantity | in units of the bill, or in accelerator-hours (`GPU-hour`) |
//! | tiers | rates with the same conditions, each from a quantity of the month on: what lies within a tier costs its price (graduated, not by volume). They are counted for each billing account, in the order of the bill |
//! | cost | quantity × price, exact to the fortieth place behind the point, beyond which no amount is written. Hours of a unit that is no whole part of an hour are rounded half-even to 20 decimals first |

mod pricing;
mod rate;
mod rates;

pub use pricing::{Pricing, Usage, is_priced_alike, quantity_of};
pub use rate::{GPU_HOUR, Rate};
pub use rates::{Conflict, Rates};
