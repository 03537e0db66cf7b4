//! Mappings that come with the product: of providers whose bills are known and come as no export. Each is a format like any other.
//! Their files are read as CSV with commas, a point before decimals and the header in the first row.

use std::sync::{Arc, LazyLock};

use super::document::Mapping;
use super::format;
use crate::billing::{Format, Guide};

/// A mapping that is built in.
pub struct Shipped {
    pub mapping: Mapping,
    /// As it is exported, with its comments.
    pub text: &'static str,
    label: &'static str,
    guides: &'static [Guide],
}

/// Text, label and guide of each.
static TEXTS: &[(&str, &str, &[Guide])] = &[(
    include_str!("lambda.toml"),
    "Lambda weekly invoice",
    &[Guide {
        provider: "Lambda",
        export: "Weekly invoice, as a table",
        steps: "Lambda sends invoices and has no export. Enter the lines of an invoice in a table with the columns of the built-in mapping \
                lambda, at Imports, Mappings, and upload it: weeks add up, and one over two months is divided by days.",
        forms: "CSV",
    }],
)];

static SHIPPED: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
    let texts = TEXTS.iter().filter_map(|(text, label, guides)| {
        Some(Shipped { mapping: Mapping::parse(text).ok()?, text, label, guides })
    });
    texts.collect()
});

/// Every mapping that is built in.
pub fn shipped() -> &'static [Shipped] {
    &SHIPPED
}

/// The same as formats.
pub(in crate::billing) fn formats() -> impl Iterator<Item = Arc<dyn Format>> {
    SHIPPED.iter().map(|it| format::built_in(it.mapping.clone(), it.label, it.guides))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::mapping::{Decimals, Separator};

    #[test]
    fn every_shipped_mapping_can_be_read_and_needs_no_layout() {
        for (text, label, _) in TEXTS {
            let mapping = Mapping::parse(text).unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_eq!((mapping.file.separator, mapping.file.header_row), (Separator::Comma, 1), "{label}");
            assert_eq!(mapping.numbers.decimal, Decimals::Point, "{label}");
        }
    }
}
