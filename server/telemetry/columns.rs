//! What the columns of a CSV of usage are, and how files call them that use other names. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::enum_words::{words, written_as_str};

words! {
    /// What a column says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum UsageColumn: as_str, label {
        Node = "node", "Machine";
        From = "from", "From";
        To = "to", "To";
        Seconds = "seconds", "Seconds, instead of To";
        Accelerators = "accelerators", "Number of GPUs";
        Accelerator = "accelerator", "Which GPU";
        Holder = "holder", "Job or pod";
        Namespace = "namespace", "Namespace or project";
        User = "user", "User";
        Account = "account", "Account or team";
        Utilization = "utilization", "Utilization in percent";
        Memory = "memory", "Memory in use, MiB";
        Power = "power", "Power, watts";
        Model = "model", "GPU model";
        Profile = "profile", "MIG profile";
    }
}
written_as_str!(UsageColumn);

/// How a tool calls its columns, as somebody said: by what each is, its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColumnNames(pub BTreeMap<String, String>);

impl ColumnNames {
    /// What a column of a file is.
    pub fn what(&self, column: &str) -> Option<&str> {
        self.0.iter().find(|(_, name)| *name == column).map(|(what, _)| what.as_str())
    }

    /// Whether a file with these columns has all that are named.
    pub fn fit(&self, columns: &[&str]) -> bool {
        !self.0.is_empty() && self.0.values().all(|name| columns.contains(&name.as_str()))
    }

    /// What is missing to say who held what from when to when.
    pub fn lack(&self) -> Option<&'static str> {
        let has = |column: UsageColumn| self.0.contains_key(column.as_str());
        if !has(UsageColumn::Node) {
            Some("Say which column is the machine.")
        } else if !has(UsageColumn::From) {
            Some("Say which column is the time from which it was held.")
        } else if !has(UsageColumn::To) && !has(UsageColumn::Seconds) {
            Some("Say which column is the time until which it was held, or for how many seconds.")
        } else {
            None
        }
    }
}
