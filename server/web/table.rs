//! What long tables have in common: heads that sort, and pages.

use super::question::Asked;
use crate::report::{Sort, SortBy};

/// The head of a column.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub label: String,
    /// The address that sorts by it, where one can.
    pub href: Option<String>,
    /// `ascending` or `descending` where the table is sorted by it.
    pub sorted: Option<&'static str>,
    pub is_number: bool,
}

impl Head {
    /// Of a column of numbers that one cannot sort by.
    pub fn plain(label: &str) -> Self {
        Self { label: label.to_owned(), href: None, sorted: None, is_number: true }
    }
}

/// Makes the heads of a table that is sorted by `usual` unless something else is asked. A head leads to the table
/// sorted by it; where it is already, to the other way round.
pub fn heads(asked: &Asked, usual: SortBy, at: impl Fn(&Asked) -> String) -> impl Fn(SortBy, String) -> Head {
    let usual = Sort { by: usual, is_reversed: false };
    let current = asked.sort.unwrap_or(usual);
    move |by, label| {
        let is_current = current.by == by;
        let next = Sort { by, is_reversed: is_current && !current.is_reversed };
        // Names go up, figures begin with the largest.
        let rises = (by == SortBy::Name) != current.is_reversed;
        Head {
            label,
            href: Some(at(&asked.sort(Some(next).filter(|next| *next != usual)))),
            sorted: is_current.then_some(if rises { "ascending" } else { "descending" }),
            is_number: by != SortBy::Name,
        }
    }
}

/// The rows of a page, counted from 1.
pub fn page_of<T>(rows: &[T], page: u64, size: usize) -> &[T] {
    let first = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(size);
    let rest = rows.get(first..).unwrap_or_default();
    &rest[..rest.len().min(size)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::paths;

    #[test]
    fn a_head_leads_to_its_order_and_then_to_the_other_way_round() {
        let head = |sort: Option<&str>, by| {
            let asked = Asked { sort: sort.map(|sort| sort.parse().unwrap()), page: 3, ..Asked::default() };
            let head = heads(&asked, SortBy::Cost, |asked| asked.link(paths::Home))(by, String::new());
            (head.href.unwrap(), head.sorted)
        };
        assert_eq!(head(None, SortBy::Name), ("/?sort=name".to_owned(), None));
        assert_eq!(head(Some("name"), SortBy::Name), ("/?sort=-name".to_owned(), Some("ascending")));
        assert_eq!(head(Some("-name"), SortBy::Name), ("/?sort=name".to_owned(), Some("descending")));
        assert_eq!(head(None, SortBy::Cost), ("/?sort=-cost".to_owned(), Some("descending")));
        assert_eq!(head(Some("-cost"), SortBy::Cost), ("/".to_owned(), Some("ascending")));
    }

    #[test]
    fn a_page_past_the_end_has_no_rows() {
        let rows = [1, 2, 3, 4, 5];
        assert_eq!(page_of(&rows, 1, 2), [1, 2]);
        assert_eq!(page_of(&rows, 3, 2), [5]);
        assert_eq!(page_of(&rows, 4, 2), [] as [i32; 0]);
        assert_eq!(page_of(&rows, u64::MAX, 2), [] as [i32; 0]);
    }
}
