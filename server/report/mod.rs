//! Reports: the questions pages ask of the ledger, one file each, the SQL inside.
//!
//! Every figure on every page, in every file and on the command line comes from here, so that two of
//! them never disagree.

mod batches;
mod cache;
mod changes;
mod charges;
mod effects;
mod history;
mod imports;
mod over_time;
mod question;
mod spend;
mod sql;
mod trace;
mod visible;

pub use batches::{Batch, JobLine, Outcome, OutcomeFile, OutcomeRejection, batch, jobs};
pub use cache::Answers;
pub use changes::{Change, ChangeTotal, ChangedKey, Changes, ChangesBy, changes};
pub use charges::{ChargeLine, Charges, Order, PAGE_SIZE, Page, charges};
pub use effects::{Effect, effects};
pub use history::{
    CountedCost, DeliveryState, HISTORY_PAGE, History, HistoryChoices, HistoryFilter, HistoryOrder, history,
    history_choices,
};
pub use imports::{
    Delivery, DeliveryFile, ImportLine, ImportScope, LogLine, RejectedRow, delivery, delivery_file, lines_of,
    rejection, rejections, waiting,
};
pub use over_time::{Bucket, Series, over_time};
pub use question::{CostBasis, Filter, Grouping, ParseQuestionError, Question};
pub use spend::{Group, Spend, latest_month, spend, tag_names};
pub use trace::{Counted, FileOfDelivery, OtherDelivery, RowAddress, Trace, file_of, trace};
