//! Multi-Instance GPU: a profile as a share of its GPU.

use super::{Accelerators, Model};

/// The share of one accelerator that a MIG profile is, by compute slices: `1g.10gb` of an H100 is 1/7,
/// `2g.12gb` of an A30 is 2/4. Reads the spellings of nvidia-smi, Kubernetes and Slurm
/// (`MIG 1g.10gb`, `nvidia.com/mig-3g.40gb`, `1c.3g.40gb`, `1g.10gb+me`).
/// `None` where the text names no profile or the model has no MIG.
///
/// Slices per model are the column `mig_slices` of `models.csv` (NVIDIA MIG user guide).
pub fn mig_share(profile: &str, model: &Model) -> Option<Accelerators> {
    let profile = profile.trim().to_ascii_lowercase();
    let mut words = profile.split(|c: char| !c.is_alphanumeric());
    let slices: i64 = words.find_map(|word| word.strip_suffix('g')?.parse().ok())?;
    let has_memory = words.next()?.strip_suffix("gb")?.parse::<u32>().is_ok();
    let of = i64::from(model.mig_slices?);
    (has_memory && (1..=of).contains(&slices)).then(|| Accelerators::fraction(slices, of)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::model;

    #[test]
    fn it_reads_profiles() {
        for (profile, of, share) in [
            ("1g.10gb", "nvidia-h100-sxm", Some("1/7")),
            ("MIG 3g.40gb", "nvidia-h100-sxm", Some("3/7")),
            ("nvidia.com/mig-7g.80gb", "nvidia-h100-sxm", Some("1")),
            ("1c.3g.40gb", "nvidia-a100-sxm-80", Some("3/7")),
            ("1g.10gb+me", "nvidia-h100-sxm", Some("1/7")),
            ("2g.12gb", "nvidia-a30", Some("1/2")),
            ("1g.10gb", "nvidia-t4", None),
            ("8g.80gb", "nvidia-h100-sxm", None),
            ("0g.10gb", "nvidia-h100-sxm", None),
            ("10gb", "nvidia-h100-sxm", None),
            ("1g", "nvidia-h100-sxm", None),
            ("", "nvidia-h100-sxm", None),
        ] {
            let found = mig_share(profile, model(of).unwrap()).map(|share| share.to_string());
            assert_eq!(found.as_deref(), share, "{profile}");
        }
    }
}
