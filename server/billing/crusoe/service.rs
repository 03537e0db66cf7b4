//! Services of Crusoe, which its export does not name: what a metric measures.

use crate::accelerator::seconds_per_unit;

/// FOCUS ServiceName, a name of ours, and ServiceCategory.
pub(super) fn service(metric: &str) -> (&'static str, &'static str) {
    let metric = metric.to_ascii_lowercase();
    let names = |word: &str| metric.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word);
    if is_machines(&metric) {
        ("Compute", "Compute")
    } else if ["gb", "gib", "tb", "tib"].into_iter().any(names) {
        ("Storage", "Storage")
    } else if names("token") || names("tokens") {
        ("Inference", "AI and Machine Learning")
    } else {
        ("Other", "Other")
    }
}

/// Whether a metric is time of machines or of their GPUs.
pub(super) fn is_machines(metric: &str) -> bool {
    seconds_per_unit(metric).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_tells_the_service() {
        for (metric, expected) in [
            ("instance-hours", "Compute"),
            ("gpu-hours", "Compute"),
            ("GiB-hours", "Storage"),
            ("tokens", "Inference"),
            ("requests", "Other"),
            ("", "Other"),
        ] {
            assert_eq!(service(metric).0, expected, "{metric}");
        }
    }
}
