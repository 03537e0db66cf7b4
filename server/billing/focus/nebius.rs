//! What is Nebius' own in its FOCUS 1.2 export.
//!
//! By its page on FOCUS conformance, a commitment has no Purchase: one that is paid later appears as an Adjustment without
//! `CommitmentDiscountId` and `SkuId`, one that is paid before in the `EffectiveCost` of the usage that it covers, and a
//! discount on spending in `ContractedCost`. There are no tags, sub accounts and zones. Since October 2025 one item covers GPU,
//! vCPU and memory of a virtual machine with an H100, H200 or B200; before, and of others, each has its own.
//!
//! Which column names the platform and the preset is not documented, nor in which unit a machine's time is counted: hours of
//! GPUs are read as such, and hours alone as those of the machine.

use super::{At, is_correction};
use crate::billing::charge::ChargeCategory;
use crate::billing::row::Row;
use crate::money::Decimal;

/// Canonical, see [`canonical_provider`](crate::billing::canonical_provider).
pub(super) const PROVIDER: &str = "Nebius";

pub(super) const MAY_COUNT_TWICE: &str = "an Adjustment of Nebius with an EffectiveCost: of a commitment, the EffectiveCost of usage has it already";

/// Whether an effective cost may be in that of usage, too: Nebius says that usage has its cost after commitments, paid before or
/// later, and not what the Adjustment of one paid later has.
pub(super) fn may_count_twice(
    at: &At,
    row: &Row<'_>,
    category: ChargeCategory,
    effective_cost: Decimal,
) -> bool {
    category == ChargeCategory::Adjustment
        && !effective_cost.is_zero()
        && row.is_null(at.sku)
        && !is_correction(at, row)
}

/// The platform and the preset of a virtual machine that some texts name, as one type of machine:
/// `gpu-h100-sxm_8gpu-128vcpu-1600gb`. The platform alone where none names a preset; nothing without a platform.
pub(super) fn machine_in(texts: [&str; 3]) -> String {
    let words = || texts.into_iter().flat_map(|text| text.split(is_between));
    let platform = words().find(|word| is_platform(word));
    let preset = words().find(|word| is_preset(word));
    match (platform, preset) {
        (Some(platform), Some(preset)) => format!("{platform}_{preset}"),
        (Some(platform), None) => platform.to_owned(),
        (None, _) => String::new(),
    }
}

/// Whether a character is no part of the name of a platform or a preset.
fn is_between(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '-')
}

/// `gpu-h100-sxm`, `gpu-l40s-a`.
fn is_platform(word: &str) -> bool {
    word.strip_prefix("gpu-").is_some_and(|model| model.bytes().any(|byte| byte.is_ascii_digit()))
}

/// `8gpu-128vcpu-1600gb`.
fn is_preset(word: &str) -> bool {
    let mut parts = word.split('-');
    let counts = ["gpu", "vcpu", "gb"].into_iter().all(|unit| {
        let count = parts.next().and_then(|part| part.strip_suffix(unit));
        count.is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
    });
    counts && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_its_platform_and_its_preset_wherever_they_stand() {
        for (texts, expected) in [
            (["gpu-h100-sxm_8gpu-128vcpu-1600gb", "", ""], "gpu-h100-sxm_8gpu-128vcpu-1600gb"),
            (["gpu-h100-sxm", "", "VM, preset 8gpu-128vcpu-1600gb"], "gpu-h100-sxm_8gpu-128vcpu-1600gb"),
            (["VM", "gpu-l40s-a.1gpu-8vcpu-32gb", ""], "gpu-l40s-a_1gpu-8vcpu-32gb"),
            (["VM", "", "(gpu-h200-sxm)"], "gpu-h200-sxm"),
            (["VM", "", "preset 8gpu-128vcpu-1600gb"], ""),
            (["cpu-d3", "", "4vcpu-16gb"], ""),
            (["gpu-hours", "", ""], ""),
        ] {
            assert_eq!(machine_in(texts), expected, "{texts:?}");
        }
    }
}
