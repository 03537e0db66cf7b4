//! FOCUS ServiceCategory of Oracle's services, by the names that cost reports have for them.

/// Empty where the service is not listed.
pub(super) fn category(service: &str) -> &'static str {
    let listed = CATEGORIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(service));
    listed.map_or("", |(_, category)| category)
}

/// Names that real reports have.
const CATEGORIES: &[(&str, &str)] = &[
    ("COMPUTE", "Compute"),
    ("BLOCK_STORAGE", "Storage"),
    ("OBJECTSTORE", "Storage"),
    ("NETWORK", "Networking"),
    ("DATABASE", "Databases"),
    ("MYSQL", "Databases"),
    ("TELEMETRY", "Management and Governance"),
    ("ORACLE_STREAMING_SERVICE", "Integration"),
];
