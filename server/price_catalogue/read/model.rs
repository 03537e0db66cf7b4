//! Which model a row means. Its machine says it surest: `NC40ads_H100_v5` is an H100 NVL, whatever the row calls it.
//! Else its name does, with the memory beside it: an A100 of 40 GB and one of 80 are two.

use super::within;
use crate::accelerator::{self, Accelerators, Instance, Model, find_instance, find_model};
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product};

/// Drivers report other gigabytes than data sheets do, by as much: 24 GB of an A10G are 22,888 MiB, 141 GB of an H200
/// are 144,384.
const MEMORY: (i64, u8) = (12, 2);
/// No accelerator has so few MiB: what is less is GiB, as RunPod and Shadeform write it.
const FEWEST_MIB: i64 = 1024;

/// What a row is about.
pub(super) struct Recognized {
    pub model: &'static Model,
    /// Of the machine, where the catalog of accelerators knows it.
    pub instance: Option<&'static Instance>,
}

impl Recognized {
    /// How many accelerators a machine has. One that the catalog of accelerators knows has as many as that says: lists
    /// count a part of one as 0, or as 1. Otherwise what `GpuInfo` says of a part, where there is one.
    ///
    /// # Errors
    /// What is expected instead, where that is known.
    pub(super) fn count(&self, text: &str, gpu_info: &str) -> Result<Accelerators, Option<String>> {
        let counted = super::gpus(text);
        let Some(instance) = self.instance else {
            return counted.or_else(|| partition_of(gpu_info)).ok_or(None);
        };
        let known = instance.accelerators;
        let is_part = known.parts() < Accelerators::ONE.parts();
        let is_one_or_less = |it: Accelerators| it.parts() <= Accelerators::ONE.parts();
        if counted.is_none_or(|it| it == known || (is_part && is_one_or_less(it))) {
            return Ok(known);
        }
        Err(Some(format!("{known}, as many as {} has", instance.instance_type)))
    }
}

/// The model of a row; `None` where no model is called so.
pub(super) fn recognize(
    supplier: &str,
    instance_type: &str,
    name: &str,
    memory_gb: Option<Decimal>,
) -> Option<Recognized> {
    let instance = (!instance_type.is_empty()).then(|| find_instance(supplier, instance_type)).flatten();
    if let Some(instance) = instance {
        return Some(Recognized { model: instance.model, instance: Some(instance) });
    }
    let named = find_model(name).or_else(|| find_model(&apart(name))).filter(|it| it.id != "unknown")?;
    Some(Recognized { model: with_memory(named, memory_gb), instance: None })
}

/// The variant of a model that has so much memory: the one that was named, if it can be.
fn with_memory(named: &'static Model, memory_gb: Option<Decimal>) -> &'static Model {
    let Some(memory) = memory_gb else { return named };
    let fits = |model: &&Model| {
        let known = model.memory_gb.map(|it| Decimal::from(i64::from(it)));
        known.is_some_and(|known| within(memory, known, decimal(MEMORY.0, MEMORY.1)))
    };
    if fits(&named) {
        return named;
    }
    let others = accelerator::models().iter().filter(|it| it.name == named.name);
    others.into_iter().find(fits).unwrap_or(named)
}

/// `RTX4090` as `RTX 4090`, `H100NVL` as `H100 NVL`: words where letters and digits meet, but for one letter before
/// them, as in `H100`.
fn apart(name: &str) -> String {
    let mut found = String::new();
    let mut before: Option<char> = None;
    let mut letters = 0;
    for c in name.chars() {
        let is_break = match before {
            Some(it) if it.is_ascii_alphabetic() && c.is_ascii_digit() => letters > 2,
            Some(it) if it.is_ascii_digit() && c.is_ascii_uppercase() => true,
            _ => false,
        };
        if is_break {
            found.push(' ');
        }
        letters = if c.is_ascii_alphabetic() && !is_break { letters + 1 } else { 0 };
        found.push(c);
        before = Some(c);
    }
    found.replace("PRO", " PRO").replace("Ada", " Ada")
}

/// Memory of one accelerator in 10^9 bytes, of `GpuInfo`: `'MemoryInfo': {'SizeInMiB': 81559}`. The total beside it is
/// not read: some multiply it by the count and some do not.
pub(super) fn memory_of(gpu_info: &str) -> Option<Decimal> {
    let size = number_after(gpu_info, "SizeInMiB")?;
    let mib = size.parse::<Decimal>().ok().filter(|it| *it > Decimal::ZERO)?;
    let mib = if mib < FEWEST_MIB.into() { mib.times(1024) } else { mib };
    // 2^20 bytes a MiB.
    Some(product(&[mib, decimal(1_048_576, 9)]))
}

/// The part of an accelerator that `GpuInfo` speaks of.
fn partition_of(gpu_info: &str) -> Option<Accelerators> {
    super::gpus(number_after(gpu_info, "GpuPartitionSize")?)
}

/// The number behind a name, whichever quotes stand around it.
fn number_after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.get(text.find(name)? + name.len()..)?;
    let rest = rest.trim_start_matches(['\'', '"', ':', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest.get(..end).filter(|it| (1..=12).contains(&it.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_spaces_are_read() {
        for (name, expected) in [
            ("RTX4090", Some("nvidia-rtx-4090")),
            ("H100NVL", Some("nvidia-h100-nvl")),
            ("RTXPRO6000", Some("nvidia-rtx-pro-6000")),
            ("RTX6000Ada", Some("nvidia-rtx-6000-ada")),
            ("A10G", Some("nvidia-a10g")),
            ("MI300X", Some("amd-mi300x")),
            ("A100-80GB", Some("nvidia-a100-sxm-80")),
            ("A6000", Some("nvidia-rtx-a6000")),
            ("Abacus", None),
            ("", None),
        ] {
            let found = recognize("Someone", "", name, None).map(|it| it.model.id);
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn numbers_are_found_whatever_stands_around_them() {
        assert_eq!(number_after("{'SizeInMiB': 16384}}]", "SizeInMiB"), Some("16384"));
        assert_eq!(number_after("{\"SizeInMiB\":80}", "SizeInMiB"), Some("80"));
        assert_eq!(number_after("SizeInMiB", "SizeInMiB"), None);
        assert_eq!(number_after("SizeInMiB é", "SizeInMiB"), None);
    }
}
