//! The table of a spend page: which columns, in which order, which part of it.

use super::{Page, Pages, paths};
use crate::report::{FIRST, Group, SortBy};
use crate::web::question::Asked;
use crate::web::table::{self, Head};

/// Groups on a page.
const PAGE: usize = 100;

/// Whether the first groups are all that a page of the table shows. There are hundreds of thousands of resources and of jobs, and nobody
/// who looks at the most expensive ones waits for the others.
pub(super) fn is_of_first(asked: &Asked) -> bool {
    let is_plain =
        asked.then.is_none() && asked.find.is_none() && asked.sort.is_none() && asked.limit.is_none();
    asked.by.is_numerous() && is_plain && asked.page <= (FIRST / PAGE) as u64
}

impl Page {
    pub(super) fn heads(&self) -> Vec<Head> {
        let currency = self.spend.currency.as_ref().map(ToString::to_string).unwrap_or_default();
        let usual = if self.choices.asked.by.is_time() { SortBy::Name } else { SortBy::Cost };
        let head = table::heads(&self.choices.asked, usual, |asked| self.choices.at(asked));
        let mut heads = vec![
            head(SortBy::Name, self.choices.asked.by.label()),
            head(SortBy::Cost, format!("{} {currency}", self.choices.asked.cost.label())),
            Head::plain("Share"),
        ];
        if self.has_hours() {
            heads.push(head(SortBy::Hours, "Cloud GPU-hours".to_owned()));
            heads.push(head(SortBy::Price, "Per hour".to_owned()));
        }
        if self.has_owned() {
            heads.push(Head::plain("On-prem GPU-hours"));
            if self.has_owned_prices() {
                heads.push(Head::plain("Per on-prem GPU-hour"));
            }
        }
        if !self.choices.asked.by.is_time() {
            heads.push(head(SortBy::Previous, self.spend.compared.head(self.period)));
            heads.push(head(SortBy::Change, "Change".to_owned()));
        }
        heads
    }

    /// Whether any accelerator was paid for: else nobody misses its columns.
    pub(super) fn has_hours(&self) -> bool {
        !self.spend.accelerator_hours.is_zero()
    }

    /// Whether any accelerator is owned.
    pub(super) fn has_owned(&self) -> bool {
        self.spend.has_owned_hours()
    }

    /// Whether on-prem GPU-hours have a price: not where costs are billed, nor by day.
    pub(super) fn has_owned_prices(&self) -> bool {
        let is_further_on = self.spend.beyond > 0
            && !self.choices.asked.by.is_time()
            && self.spend.cost_per_owned_hour.is_some();
        is_further_on || self.spend.groups.iter().any(|group| group.cost_per_owned_hour.is_some())
    }

    /// The groups of this page of the table.
    pub(super) fn rows(&self) -> &[Group] {
        table::page_of(&self.spend.groups, self.choices.asked.page, PAGE)
    }

    pub(super) fn pages(&self) -> Pages {
        let first = Asked { page: 1, ..self.choices.asked.clone() };
        Pages::of(
            self.choices.asked.page,
            (self.spend.groups.len() + self.spend.beyond) as u64,
            PAGE as u64,
            &first.link(paths::Spend { period: self.period }),
        )
    }
}
