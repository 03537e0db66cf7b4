//! Reports: the questions pages ask of the ledger, one file each, the SQL inside.
//!
//! Every figure on every page, in every file and on the command line comes from here, so that two of
//! them never disagree.

mod charges;
mod imports;
mod question;
mod spend;
mod sql;
mod trace;

pub use charges::{ChargeLine, Charges, PAGE_SIZE, Page, charges};
pub use imports::{
    Delivery, DeliveryFile, ImportLine, ImportScope, JobLine, RejectedRow, delivery, imports, job, jobs,
    rejections,
};
pub use question::{CostBasis, Filter, Grouping, ParseQuestionError, Question};
pub use spend::{Bucket, Group, Series, Spend, latest_month, over_time, spend, tag_names};
pub use trace::{Trace, trace};
