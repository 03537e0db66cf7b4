//! What accelerators were offered for elsewhere: prices, each with the date and place it was read at. What to compare
//! with until somebody has offers of their own, and never what anything is charged.
//!
//! A list comes with the program: of each supplier, model and tier the newest that is known, of nodes of eight where they
//! sell them. Where a source says no more than the year, the price is of its first day. [`Catalogue`] makes a list of it
//! and of what people enter; [`read`] reads what others publish.
//!
//! Every change of what people enter is a revision ([`crate::changes`]); a later version of the program adds its prices and
//! overwrites nothing.

mod catalogue;
mod current;
mod entry;
mod price;
pub mod read;
mod report;
mod token_prices;

pub use catalogue::{Catalogue, Listed, Mark, Origin, Reading};
pub use current::{as_of, current};
pub use entry::{Edit, Entries, Said, edits_of_file, edits_of_removal, edits_of_replacement};
use price::shipped;
pub use price::{Paid, Payment, Price, Tier};
pub use report::Report;
pub use token_prices::{
    ListedTokenPrice, Removal, TokenPrice, add_token_price, set_token_price_removed, token_prices,
};
