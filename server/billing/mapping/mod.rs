//! Mappings: how a file that no format knows is read, as somebody said once who looked at it. A small document, saved under a
//! name, whose every change is a version; the next file with the same columns is read by it. Some are built in.
//!
//! | part | what it says |
//! |---|---|
//! | `[file]` | where the header is, what separates columns, and the columns by which the next file is recognized |
//! | `[period]` | which columns say when a charge begins and ends, and whether one is spread over calendar months |
//! | `[numbers]` | whether a point or a comma stands before decimals |
//! | `[fields]` | what each field of a charge is: a column, or a text for all rows. `cost` is the column of what a row costs; of a file that states none, `priced-by = "rate-cards"` stands in its place: its rows are usage, with a quantity and its unit, that rate cards price |
//! | `[tags]` | columns that are tags, by the key of the tag |
//! | `[category]` | the category of FOCUS by the words of a column; a row without a word is usage |
//! | `[[leave-out]]` | rows that are no charges; of totals, the amounts are compared with the sum of the rows |

mod dates;
mod document;
mod draft;
mod format;
mod leave_out;
mod numbers;
mod parts;
mod preview;
mod reader;
mod sample;
mod shipped;
mod suggest;
mod units;
mod uses;

pub use document::{
    Amount, CategoryWords, DateForm, Decimals, Field, Fields, File, LastDay, LeaveOut, Length, Mapping,
    Period, PricedBy, Separator, States,
};
pub use draft::{Draft, Lack};
pub use format::{is_built_in, read_by};
pub use preview::{MonthOfPreview, Preview, PreviewedCharge, preview};
pub(super) use reader::is_left_out;
pub use sample::{Said, Sample, sample};
pub(super) use shipped::formats as shipped_formats;
pub use shipped::{Shipped, shipped};
pub use suggest::{Suggestion, suggest};
pub use uses::Use;
