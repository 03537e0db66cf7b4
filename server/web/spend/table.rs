//! The table of a spend page: which columns, in which order, which part of it.

use super::{Page, Pages, paths};
use crate::report::{Group, Sort, SortBy};
use crate::web::question::Asked;
use crate::web::respond::As;

/// Groups on a page.
const PAGE: usize = 100;

/// The head of a column.
pub(super) struct Head {
    pub label: String,
    /// The address that sorts by it.
    pub href: String,
    /// `ascending` or `descending` where the table is sorted by it.
    pub sorted: Option<&'static str>,
    pub is_number: bool,
}

impl Page {
    pub(super) fn heads(&self) -> Vec<Head> {
        let currency = self.spend.currency.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut heads = vec![
            self.head(SortBy::Name, self.asked.by.label()),
            self.head(SortBy::Cost, format!("{} {currency}", self.asked.cost.label())),
        ];
        if self.has_hours() {
            heads.push(self.head(SortBy::Hours, "Accelerator-hours".to_owned()));
            heads.push(self.head(SortBy::Price, "Per hour".to_owned()));
        }
        if !self.asked.by.is_time() {
            heads.push(self.head(SortBy::Previous, self.period.previous().name()));
            heads.push(self.head(SortBy::Change, "Change".to_owned()));
        }
        heads
    }

    fn head(&self, by: SortBy, label: String) -> Head {
        let usual = if self.asked.by.is_time() { SortBy::Name } else { SortBy::Cost };
        let current = self.asked.sort.unwrap_or(Sort { by: usual, is_reversed: false });
        let is_current = current.by == by;
        let next = Sort { by, is_reversed: is_current && !current.is_reversed };
        let next = Some(next).filter(|next| *next != Sort { by: usual, is_reversed: false });
        let rises = (by == SortBy::Name) != current.is_reversed;
        Head {
            label,
            href: self.at(&self.asked.sort(next)),
            sorted: is_current.then_some(if rises { "ascending" } else { "descending" }),
            is_number: by != SortBy::Name,
        }
    }

    /// Whether any accelerator was paid for: else nobody misses its columns.
    pub(super) fn has_hours(&self) -> bool {
        !self.spend.accelerator_hours.is_zero()
    }

    /// The groups of this page of the table.
    pub(super) fn rows(&self) -> &[Group] {
        let first = usize::try_from(self.asked.page - 1).unwrap_or(usize::MAX).saturating_mul(PAGE);
        let groups = self.spend.groups.get(first..).unwrap_or_default();
        &groups[..groups.len().min(PAGE)]
    }

    pub(super) fn pages(&self) -> Pages {
        let first = Asked { page: 1, ..self.asked.clone() };
        Pages::of(
            self.asked.page,
            self.spend.groups.len() as u64,
            PAGE as u64,
            &first.link(paths::Spend { period: As::page(self.period) }),
        )
    }
}
