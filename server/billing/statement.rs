//! Which of a month's two costs a file states: some providers write them into two files of the same columns.

use crate::enum_words::{words, written_as_str};

words! {
    /// What a file states of the costs of its month.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Statement: as_str {
        /// Both: what was billed, and what it is worth to the days that use it.
        #[default]
        Whole = "whole";
        /// What was billed: purchases when they were made, and usage that they cover for nothing.
        Billed = "billed";
        /// What is effective: purchases spread over the usage that they cover, and over what nobody used.
        Effective = "effective";
    }
}

written_as_str!(Statement);
