//! Addresses that pages had before: whoever follows a bookmark or an old link is led to where the page is now.

use axum::http::Uri;

/// The beginning of an address before, and now.
const RENAMED: &[(&str, &str)] = &[("/register", "/asset-register"), ("/pools", "/shared-costs")];

/// Pages that are a part of another now.
const MERGED: &[(&str, &str)] = &[
    ("/asset-register/changes", "/changes?kind=asset-register"),
    ("/prices/changes", "/changes?kind=prices"),
];

/// Where the page of an address is now, with what the address asks; `None` where it has no other.
pub(super) fn address(uri: &Uri) -> Option<String> {
    if let Some((_, now)) = MERGED.iter().find(|(before, _)| uri.path() == *before) {
        return Some((*now).to_owned());
    }
    let (now, rest) = RENAMED.iter().find_map(|(before, now)| {
        let rest = uri.path().strip_prefix(before)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((now, rest))
    })?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{now}{rest}{query}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_whole_names_are_renamed_and_what_is_asked_stays() {
        let now = |address: &str| super::address(&address.parse().unwrap());
        assert_eq!(now("/register/assets?page=2").as_deref(), Some("/asset-register/assets?page=2"));
        assert_eq!(now("/register/changes.json").as_deref(), Some("/asset-register/changes.json"));
        assert_eq!(now("/prices/changes").as_deref(), Some("/changes?kind=prices"));
        assert_eq!(now("/prices/changes/7"), None);
        assert_eq!(now("/registered"), None);
        assert_eq!(now("/asset-register/assets"), None);
    }
}
