//! A look into pages: one selector, one fact.

use scraper::{Html, Selector};

fn select(html: &str, css: &str) -> Vec<String> {
    let selector = Selector::parse(css).expect("a selector");
    let page = Html::parse_document(html);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    page.select(&selector).map(|found| words(found.text().collect())).collect()
}

/// The text of everything that matches.
pub fn texts(html: &str, css: &str) -> Vec<String> {
    select(html, css)
}

/// The text of the first match; empty when nothing matches.
pub fn text(html: &str, css: &str) -> String {
    select(html, css).into_iter().next().unwrap_or_default()
}

/// An attribute of everything that matches.
pub fn attributes(html: &str, css: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(css).expect("a selector");
    let page = Html::parse_document(html);
    page.select(&selector).filter_map(|found| found.attr(name).map(str::to_owned)).collect()
}
