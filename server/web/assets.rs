//! Files that pages load: part of the binary, served under a name that changes with their content, so that
//! browsers keep them for a year and never show an old one.

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::error::{Error, Result};
use super::paths;

/// Layers of the style sheet, joined in this order under one address.
const STYLES: &[&str] = &[
    include_str!("../../static/css/01-reset.css"),
    include_str!("../../static/css/02-tokens.css"),
    include_str!("../../static/css/03-base.css"),
    include_str!("../../static/css/04-layout.css"),
    include_str!("../../static/css/05-nav.css"),
    include_str!("../../static/css/06-forms.css"),
    include_str!("../../static/css/07-buttons.css"),
    include_str!("../../static/css/08-tables.css"),
    include_str!("../../static/css/09-money.css"),
    include_str!("../../static/css/10-charts.css"),
    include_str!("../../static/css/11-notices.css"),
    include_str!("../../static/css/12-print.css"),
    include_str!("../../static/css/99-utilities.css"),
];

struct Asset {
    name: &'static str,
    url: String,
    kind: &'static str,
    bytes: Cow<'static, [u8]>,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    vec![
        asset("app.css", "text/css; charset=utf-8", STYLES.join("\n").into_bytes()),
        asset("app.js", "text/javascript; charset=utf-8", include_bytes!("../../static/app.js").as_slice()),
        asset(
            "htmx.js",
            "text/javascript; charset=utf-8",
            include_bytes!("../../static/htmx.min.js").as_slice(),
        ),
        asset("favicon.svg", "image/svg+xml", include_bytes!("../../static/favicon.svg").as_slice()),
    ]
});

/// Where pages find the file. Empty for a name that is none, which a test would notice.
pub fn url(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| asset.url.as_str())
}

pub async fn show(path: paths::Asset) -> Result {
    let url = path.to_string();
    let asset = ASSETS.iter().find(|asset| asset.url == url).ok_or(Error::NotFound)?;
    Ok(asset.into_response())
}

impl IntoResponse for &'static Asset {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.kind),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        (headers, axum::body::Bytes::from_static(&self.bytes)).into_response()
    }
}

fn asset(name: &'static str, kind: &'static str, bytes: impl Into<Cow<'static, [u8]>>) -> Asset {
    let bytes = bytes.into();
    let hash = Sha256::digest(&bytes);
    let (stem, suffix) = name.split_once('.').unwrap_or((name, ""));
    let file = format!("{stem}-{:02x}{:02x}{:02x}{:02x}.{suffix}", hash[0], hash[1], hash[2], hash[3]);
    Asset { name, url: paths::Asset { file }.to_string(), kind, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_sheet_is_joined_in_name_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/static/css");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let texts: Vec<_> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        assert_eq!(STYLES, texts);
    }

    #[test]
    fn what_is_vendored_is_what_the_note_says() {
        let hash = Sha256::digest(include_bytes!("../../static/htmx.min.js"));
        let note = include_str!("../../static/VENDORED.md");
        assert!(note.contains(&format!("{hash:x}")), "{hash:x}");
    }

    #[test]
    fn nothing_needs_a_style_attribute_or_another_server() {
        let css = STYLES.join("\n");
        assert!(!css.contains("@import"));
        assert!(!css.contains("//"), "no addresses in style sheets");
    }
}
