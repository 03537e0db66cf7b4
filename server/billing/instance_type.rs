//! Machine types in the texts of bills.

use memchr::memchr;

/// True for an AWS instance type: `p5.48xlarge`, `ml.g5.xlarge`, `db.r6g.metal`.
pub(super) fn is_aws(text: &str) -> bool {
    let text = ["ml.", "db.", "cache."].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    let Some((family, size)) = text.split_once('.') else { return false };
    let is_family = family.starts_with(|c: char| c.is_ascii_lowercase())
        && family.bytes().any(|b| b.is_ascii_digit())
        && family.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let size = size.trim_end_matches("-metal");
    let is_size = matches!(size, "nano" | "micro" | "small" | "medium" | "large" | "metal")
        || size.strip_suffix("xlarge").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        || size.strip_prefix("metal-").is_some_and(|n| n.ends_with("xl"));
    is_family && is_size
}

/// The AWS instance type among the words of a description, such as
/// `$32.7726 per On Demand Linux p4d.24xlarge Instance Hour`.
pub(super) fn aws_in(text: &str) -> Option<&str> {
    memchr(b'.', text.as_bytes())?;
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '|'))
        .find(|word| is_aws(word))
}

/// The Azure machine size among the words of a text: `Standard_ND96isr_H100_v5`.
pub(super) fn azure_in(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    let mut sizes = words.filter(|word| {
        ["Standard_", "standard_"]
            .iter()
            .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.len() > 1))
    });
    sizes.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_an_instance_type() {
        for yes in [
            "p5.48xlarge",
            "g5.xlarge",
            "t3.small",
            "ml.p4d.24xlarge",
            "u-6tb1.metal",
            "trn1.32xlarge",
            "g7e.metal-48xl",
        ] {
            assert!(is_aws(yes), "{yes}");
        }
        for no in
            ["", "p5", "p5.", ".large", "S3.large.x", "1.0", "U.S.", "EBS.optimized", "v1.5", "example.com"]
        {
            assert!(!is_aws(no), "{no}");
        }
    }

    #[test]
    fn it_finds_one_in_a_description() {
        assert_eq!(aws_in("$32.7726 per On Demand Linux p4d.24xlarge Instance Hour"), Some("p4d.24xlarge"));
        assert_eq!(aws_in("$0.40 per million requests"), None);
        assert_eq!(azure_in("VM: Standard_ND96isr_H100_v5, spot"), Some("Standard_ND96isr_H100_v5"));
        assert_eq!(azure_in("Standard HDD Managed Disks"), None);
    }
}
