//! What the page of every change shows: who made it and what was decided, why it cannot be, and what whoever looks may do.

use super::super::layout::Layout;
use super::super::paths;
use super::list;
use crate::changes::{Change, Document, Edit, Kind, Outline, Problem, Status};

pub struct Frame {
    pub outline: Outline,
    /// Entries that are not as a change that waits found them, or as an applied one left them: it cannot be applied, or undone.
    pub conflicts: Vec<String>,
    pub problems: Vec<Problem>,
    may_decide: bool,
    /// Nothing of it changes an entry.
    is_empty: bool,
    /// It was read from a file.
    is_of_file: bool,
}

impl Frame {
    /// Of a change of a document as it stands.
    pub fn new<D: Document>(
        layout: &Layout,
        change: &Change<D::Edit>,
        current: &D,
        problems: Vec<Problem>,
    ) -> Self {
        let outline = change.outline.clone();
        let conflicts = match outline.status {
            Status::Draft | Status::Proposed => current.conflicts(&change.edits),
            Status::Applied => {
                let back: Vec<D::Edit> = change.edits.iter().cloned().map(D::Edit::undone).collect();
                current.conflicts(&back)
            }
            Status::Undone | Status::Discarded => Vec::new(),
        };
        // What is in conflict is a problem as well, and is said once.
        let problems = if conflicts.is_empty() { problems } else { Vec::new() };
        Self {
            outline,
            conflicts,
            problems,
            may_decide: layout.may(super::decides(D::KIND)),
            is_empty: change.edits.is_empty(),
            is_of_file: change.report.is_some(),
        }
    }

    pub fn is_open(&self) -> bool {
        self.outline.status.is_open()
    }

    pub fn is_draft(&self) -> bool {
        self.outline.status == Status::Draft
    }

    pub fn is_applied(&self) -> bool {
        self.outline.status == Status::Applied
    }

    fn is_of_readings(&self) -> bool {
        self.outline.kind == Kind::AssetRegister && self.is_empty
    }

    pub fn may_apply(&self) -> bool {
        self.is_open() && self.may_decide && self.conflicts.is_empty() && !self.is_empty
    }

    pub fn may_propose(&self) -> bool {
        self.is_draft() && !self.may_decide && self.conflicts.is_empty() && !self.is_empty
    }

    /// Where whoever looks undoes it, if they may: readings whoever loads them, anything else who applies it.
    pub fn undo(&self) -> Option<String> {
        let Outline { kind, id: change, .. } = self.outline;
        if !self.is_applied() || !self.conflicts.is_empty() {
            return None;
        }
        if self.is_of_readings() {
            return Some(paths::ReadingsUndo { change }.to_string());
        }
        self.may_decide.then(|| match kind {
            Kind::RateCards => paths::RateCardUndo { change }.to_string(),
            Kind::Adjustments => paths::AdjustmentUndo { change }.to_string(),
            kind => paths::ChangeUndo { kind, change }.to_string(),
        })
    }

    pub fn apply(&self) -> String {
        let Outline { kind, id: change, .. } = self.outline;
        match kind {
            Kind::RateCards => paths::RateCardApply { change }.to_string(),
            Kind::Adjustments => paths::AdjustmentApply { change }.to_string(),
            kind => paths::ChangeApply { kind, change }.to_string(),
        }
    }

    pub fn propose(&self) -> paths::ChangePropose {
        paths::ChangePropose { kind: self.outline.kind, change: self.outline.id }
    }

    pub fn discard(&self) -> paths::ChangeDiscard {
        paths::ChangeDiscard { kind: self.outline.kind, change: self.outline.id }
    }

    /// All changes of this kind.
    pub fn list(&self) -> String {
        list::of_kind(self.outline.kind)
    }

    /// What whoever made it did.
    pub fn made(&self) -> &'static str {
        match self.outline.kind {
            Kind::Allocation => "Drafted",
            Kind::AssetRegister if self.is_empty => "Imported",
            Kind::Prices | Kind::RateCards if self.is_of_file => "Imported",
            Kind::AssetRegister | Kind::Prices | Kind::RateCards | Kind::Adjustments => "Created",
        }
    }

    /// A version as people call it, and where it is shown.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub fn version(&self, version: &i64) -> (String, Option<String>) {
        match self.outline.kind {
            Kind::Allocation => (format!("version {version}"), None),
            Kind::AssetRegister => (format!("revision {version} of the asset register"), None),
            Kind::Prices => {
                let href = format!("{}?revision={version}", paths::Prices);
                (format!("revision {version} of the price list"), Some(href))
            }
            Kind::RateCards => (format!("revision {version} of the rate cards"), None),
            Kind::Adjustments => (format!("revision {version} of the adjustments"), None),
        }
    }

    /// What is the matter with entries in conflict.
    pub fn conflict(&self) -> &'static str {
        if self.is_applied() { "A later change edited these entries" } else { "Edited by somebody else" }
    }

    /// What undoing it does.
    pub fn what_undo_does(&self) -> &'static str {
        match self.outline.kind {
            Kind::Allocation => {
                "Restores what this change edited, in a new version. Undo later changes of the same entries first."
            }
            Kind::AssetRegister => {
                "Restores what this change edited. Then publish the months again to update them."
            }
            Kind::Prices => "Restores what this change edited.",
            Kind::RateCards => {
                "Restores the rates that this change edited. Imports are priced by them again, as a new version."
            }
            Kind::Adjustments => {
                "Restores what this change edited. Adjustments of bills are computed again, as a new version."
            }
        }
    }
}

/// The look of a status's badge.
pub fn look(status: Status) -> &'static str {
    match status {
        Status::Draft | Status::Proposed => "wait",
        Status::Applied => "good",
        Status::Undone => "bad",
        Status::Discarded => "",
    }
}
