//! Suppliers whose machines are those of many hosts.

const MARKETPLACES: &[&str] = &["vast", "vastai", "tensordock", "salad"];

/// Whether a machine is one of many hosts': all of some suppliers, and what RunPod sells as its community's.
pub(super) fn is_marketplace(supplier: &str, sku: &str) -> bool {
    let is_community = supplier == "RunPod" && sku.to_ascii_lowercase().contains("community");
    is_community || MARKETPLACES.contains(&bare(supplier).as_str())
}

fn bare(name: &str) -> String {
    name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::billing::canonical_provider;

    #[test]
    fn a_supplier_has_one_name_whichever_list_names_it() {
        for (written, name) in [
            ("vastai", "Vast.ai"),
            ("Vast.ai", "Vast.ai"),
            ("vast", "Vast.ai"),
            ("lambdalabs", "Lambda"),
            ("Lambda Labs", "Lambda"),
            ("lambda", "Lambda"),
            ("runpod", "RunPod"),
            ("datacrunch", "Verda"),
            ("gcp", "Google Cloud"),
            (" Somebody ", "Somebody"),
        ] {
            assert_eq!(canonical_provider(written), name, "{written}");
        }
    }

    #[test]
    fn suppliers_of_our_list_keep_their_names() {
        for price in crate::price_catalogue::shipped() {
            assert_eq!(canonical_provider(&price.supplier), price.supplier);
        }
    }

    #[test]
    fn machines_of_many_hosts_are_told_by_their_supplier_or_name() {
        assert!(is_marketplace("Vast.ai", "") && is_marketplace("RunPod", "1x_H100_COMMUNITY"));
        assert!(!is_marketplace("RunPod", "1x_H100_SECURE") && !is_marketplace("Someone", "community"));
    }
}
