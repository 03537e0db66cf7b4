//! What is CoreWeave's own in its FOCUS 1.2 export: usage by the hour, cluster and kind, with no cost, no tags and no row of a
//! single node (docs.coreweave.com, *Export usage with the FOCUS API*). Its public page shows no row, so which column names the
//! instance type is not known: it is looked for in the texts that say what was used.

use crate::accelerator;

/// Canonical, see [`canonical_provider`](crate::billing::canonical_provider).
pub(super) const PROVIDER: &str = "CoreWeave";

/// The instance type that meter, SKU or description name, where it is one that is known: `gd-8xh100ib-i128`; else the SKU, where hours
/// of instances are counted.
pub(super) fn machine_in(texts: [&str; 3], unit: &str) -> String {
    let is_between = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let mut words = texts.into_iter().flat_map(|text| text.split(is_between)).filter(|word| !word.is_empty());
    let known = words.find(|word| accelerator::find_instance(PROVIDER, word).is_some());
    let sku = Some(texts[1]).filter(|_| unit.to_ascii_lowercase().contains("instance"));
    known.or(sku).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_type_is_found_in_the_words_of_sku_meter_and_description() {
        for (texts, expected) in [
            (["gd-8xh100ib-i128", "", ""], "gd-8xh100ib-i128"),
            (["", "ON_DEMAND/gb200-4x", ""], "gb200-4x"),
            (["", "", "b200-8x instance, reserved"], "b200-8x"),
            (["Object storage", "cks-storage", "GiB-hours"], ""),
        ] {
            assert_eq!(machine_in(texts, "GiB-Hours"), expected);
        }
        assert_eq!(machine_in(["On-Demand", "neo-9000", ""], "Instance-Hours"), "neo-9000");
    }
}
