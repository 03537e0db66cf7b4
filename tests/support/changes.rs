//! What people decide about changes.

/// Where whoever looks at the page of a change decides about it: `/prices/changes/7` and `apply` are
/// `/changes/prices/7/apply`.
pub fn decide(page: &str, act: &str) -> String {
    let (kind, id) = page.split_once("/changes/").unwrap();
    let kind = if kind.is_empty() { "allocation" } else { kind.trim_start_matches('/') };
    format!("/changes/{kind}/{id}/{act}")
}
