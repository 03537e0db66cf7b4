//! What somebody decides of a delivery that meets others.

use crate::enum_words::{words, written_as_str};

words! {
    /// What to do with what a scope holds already.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Decision: as_str {
        /// The delivery takes the place of what is there.
        Replace = "replace";
        /// The delivery is active beside what is there.
        Add = "add";
    }
}

written_as_str!(Decision);
