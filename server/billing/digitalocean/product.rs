//! What the products of an invoice are: their categories, and which of them are machines.

/// FOCUS ServiceCategory of a product; empty where it is not listed.
pub(super) fn category(product: &str) -> &'static str {
    let listed = CATEGORIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(product));
    listed.map_or("", |(_, category)| category)
}

/// The name of a machine and its size, of a description that ends with a size: `trainer (gpu-h100x8-640gb)`.
pub(super) fn sized(description: &str) -> Option<(&str, &str)> {
    let (name, size) = description.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let is_size = size.bytes().any(|byte| byte.is_ascii_digit())
        && size.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    is_size.then(|| (name.trim_end(), size))
}

/// Whether hours of the product are those of the machines that its descriptions name. Backups name them, too.
pub(super) fn is_machines(product: &str) -> bool {
    let mut words = product.split_whitespace();
    let first = words.next().unwrap_or_default();
    let last = words.next_back().unwrap_or(first);
    last.eq_ignore_ascii_case("droplets") || first.eq_ignore_ascii_case("kubernetes")
}

pub(super) fn is_tax(product: &str) -> bool {
    product.eq_ignore_ascii_case("taxes")
}

/// Names of DigitalOcean's products. `Floating IPs`, `Kubernetes Clusters`, `Spaces Subscription`, `Droplets` and `Load Balancers`
/// are in its documentation's invoices.
const CATEGORIES: &[(&str, &str)] = &[
    ("Droplets", "Compute"),
    ("GPU Droplets", "Compute"),
    ("Kubernetes Clusters", "Compute"),
    ("Database Clusters", "Databases"),
    ("Spaces Subscription", "Storage"),
    ("Volumes", "Storage"),
    ("Snapshots", "Storage"),
    ("Backups", "Storage"),
    ("Droplet Backups", "Storage"),
    ("Floating IPs", "Networking"),
    ("Reserved IPs", "Networking"),
    ("Load Balancers", "Networking"),
    ("Bandwidth", "Networking"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_stands_in_parentheses_at_the_end() {
        for (description, expected) in [
            ("trainer-1 (gpu-h100x8-640gb)", Some(("trainer-1", "gpu-h100x8-640gb"))),
            ("web (old) (s-1vcpu-1gb)", Some(("web (old)", "s-1vcpu-1gb"))),
            ("web (2gb) ", Some(("web", "2gb"))),
            ("web", None),
            ("web (old)", None),
            ("web ()", None),
            ("STATE SALES TAX (6.25%)", None),
            ("Spaces ($5/mo 250GB storage & 1TB bandwidth)", None),
            ("Unused Floating IP - 1.1.1.1", None),
        ] {
            assert_eq!(sized(description), expected, "{description}");
        }
    }

    #[test]
    fn only_droplets_and_nodes_are_machines() {
        for (product, expected) in [
            ("Droplets", true),
            ("GPU Droplets", true),
            ("Kubernetes Clusters", true),
            ("Droplet Backups", false),
            ("Backups", false),
            ("Snapshots", false),
            ("", false),
        ] {
            assert_eq!(is_machines(product), expected, "{product}");
        }
    }
}
