//! What became of an accelerator-hour that was paid for.

use crate::enum_words::words;

words! {
    /// Whether accelerators were at work. Of hours that nothing is known of there is none.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum GpuUse: as_str {
        /// Held, and at work.
        Used = "Used";
        /// Held, and not at work.
        Idle = "Held but idle";
        /// Held, and nobody measured whether at work.
        Unmeasured = "Held, not measured";
        Unheld = "Held by nobody";
        /// Of accelerators that are cut into slices, what no slice has.
        Stranded = "Stranded by slices";
    }
}
