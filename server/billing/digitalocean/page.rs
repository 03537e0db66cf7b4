//! What an answer of the API says beside the lines of an invoice: whether these are all of them.

use serde::Deserialize;

use crate::billing::rows::Members;

#[derive(Deserialize)]
struct Links {
    pages: Option<Pages>,
}

#[derive(Deserialize)]
struct Pages {
    next: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    total: Option<u64>,
}

/// What there is to say of so many lines, where the invoice has more.
pub(super) fn note(members: &Members, lines: u64) -> Option<String> {
    let total = read::<Meta>(members, "meta").and_then(|meta| meta.total);
    let pages = read::<Links>(members, "links").and_then(|links| links.pages);
    let has_next = pages.is_some_and(|pages| pages.next.is_some_and(|next| !next.is_empty()));
    let more = total.filter(|total| *total > lines);
    if more.is_none() && !has_next {
        return None;
    }
    let of_total = more.map_or(String::new(), |total| format!(" of {total}"));
    let noun = if lines == 1 && more.is_none() { "line" } else { "lines" };
    Some(format!(
        "{lines}{of_total} {noun}: this is one page of the invoice; import the invoice as CSV, or all of its lines in one file, \
         since another page would replace this one"
    ))
}

fn read<'m, T: Deserialize<'m>>(members: &'m Members, name: &str) -> Option<T> {
    serde_json::from_str(members.get(name)?.get()).ok()
}
