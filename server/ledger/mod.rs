//! The ledger: charges in PostgreSQL, and the promises about them.
//!
//! - *It only grows.* A file is kept as it arrived ([`Originals`]); what it states is a delivery;
//!   publishing a delivery and undoing it are the only changes, and each has a sequence number.
//! - *A month is stated once.* A delivery replaces what its scopes (provider, billing account, billing
//!   month) held, unless someone says that it adds ([`publish`]).
//! - *Loading does not hold the ledger.* Rows are written under a delivery that nobody sees; readers
//!   never wait, imports run side by side, and what breaks off leaves nothing active behind.
//! - *Every cent is accounted for.* Rows read = charges + rejected + skipped, and every sum agrees with
//!   the one before it, down to the file ([`check`]).

mod active_imports;
mod archive_files;
mod archive_rows;
mod bill_days;
mod catalog;
mod check;
mod correction;
mod decision;
mod delivery;
mod duplicate_rows;
mod files;
mod group_files;
mod halves;
mod identities;
mod import;
mod import_report;
mod invoice;
mod key;
mod known_rows;
mod load;
mod loaded;
mod look_through;
mod loss;
mod low_priority;
mod mappings;
mod new_keys;
mod noise;
mod original;
mod orphans;
mod overlap;
mod own_table;
mod part;
mod partition;
mod payer;
mod progress;
mod publish;
mod rates;
mod read;
mod reading;
mod rejected;
mod reload;
mod renamed_scopes;
mod reprice;
mod review;
mod rollup;
mod row;
mod runs;
mod scope;
mod settle;
mod shrunk;
mod totals;
mod undo;
mod unused_keys;
mod usage_without_cost;
mod write;
mod write_block;

pub use active_imports::ActiveImports;
pub use archive_files::{OldFiles, old_files, remove_old_files};
pub use archive_rows::{Archived, Inactive, archive, due, inactive_since, remove_archived};
pub use bill_days::{BillDays, bill_days};
pub use catalog::{
    Added, NewAddition, add, catalog, catalog_of, catalog_revision, every_addition, recognize_again, remove,
};
pub use check::{Equation, check, check_kept, check_originals};
pub use correction::{CORRECTED, Mark};
pub use decision::Decision;
pub use delivery::{Ended, discard, note_original, sweep};
pub use group_files::{Bundle, LookIn, gather};
pub use import::{Import, Interrupted, WhenUnsure, import};
pub use import_report::{Report, ReportFile, ReportRejection, Status, UsageOfFile};
pub use invoice::{NewInvoice, enter_invoice, remove_invoice};
pub use load::{hash, is_packed};
pub use loaded::{Kept, Source};
pub use loss::{Limits, Measure, is_limit, limits, set_limit};
pub use mappings::{
    SavedMapping, every_mapping, mappings, read_as, read_as_of, remove_mapping, save_mapping,
};
pub use original::{Originals, Sha256, Writer as OriginalWriter};
pub use orphans::{
    hold as hold_originals, release as release_originals, remove_after_failure, remove_orphans,
    remove_unfinished,
};
pub use overlap::Overlap;
pub use own_table::{index_keys, remove_discarded, unattached};
pub use partition::Partition;
pub use payer::Payer;
pub use progress::Progress;
pub use publish::{Published, Question, Reason, Shortfall, begin_version, end_version, publish, sequence};
pub use rates::{VersionedRates, rates, rates_as_of, rates_of_charge};
pub use reload::{LoadedAgain, Reload};
pub use reprice::{Repriced, obstacle, outdated, postpone, reprice};
pub use review::{Review, Reviewed, Reviews, publish_reviewed, reviews, set_review};
pub use row::{ChargeOfRow, OriginalColumn, OriginalRow, RowsOf, original_row};
pub use scope::Scope;
pub use shrunk::explain;
pub use undo::{Undone, undo};
pub use unused_keys::remove_unused_keys;
pub use usage_without_cost::{UsageOfKey, Which, usage_without_cost};
