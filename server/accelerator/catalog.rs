//! The catalog: models, instance types and meters, read once from the embedded files.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::text::{canonical_type, words};
use super::{Accelerators, Catalog};

const MODELS: &str = include_str!("catalog/models.csv");
const INSTANCES: &str = include_str!("catalog/instances.csv");
const METERS: &str = include_str!("catalog/meters.csv");

/// Raise when the rules in the code change what a key is recognized as; the files count by themselves.
const RULES: u32 = 6;

/// What recognition depends on, as one number of 31 bits: it changes with the catalog's files and
/// rules. The ledger keeps it beside each recognized key and recognizes again where it differs.
pub const VERSION: u32 = {
    let mut hash = fnv(0x811c_9dc5 ^ RULES, MODELS.as_bytes());
    hash = fnv(hash, INSTANCES.as_bytes());
    fnv(hash, METERS.as_bytes()) & 0x7fff_ffff
};

/// FNV-1a.
pub(super) const fn fnv(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// One accelerator model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `nvidia-h100-sxm`. Stable: what the ledger stores.
    pub id: &'static str,
    pub vendor: &'static str,
    /// What pages group and filter by: `H100`. Models that differ in form or memory share it.
    pub name: &'static str,
    /// What distinguishes it from others of the same name: `SXM5 80 GB`.
    pub variant: &'static str,
    /// `None` where unknown.
    pub memory_gb: Option<u32>,
    /// Compute slices that MIG divides it into; `None` without MIG.
    pub mig_slices: Option<u8>,
    pub source: &'static str,
    recognized_by: Vec<Vec<String>>,
}

/// One machine that holds accelerators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// As [`crate::billing::canonical_provider`] writes it.
    pub provider: &'static str,
    pub instance_type: &'static str,
    pub model: &'static Model,
    pub accelerators: Accelerators,
    pub source: &'static str,
}

/// What one unit of a meter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Instances,
    Accelerators,
    /// Neither: storage, transfer, software, surcharges.
    Excluded,
}

/// How a rule of `meters.csv` finds its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finds {
    /// Consecutive words of the meter.
    MeterWords(Vec<String>),
    /// Consecutive words of the service's name.
    ServiceWords(Vec<String>),
    /// The AWS usage type before its colon, without the region (`USW2-BoxUsage:…`).
    UsageType(String),
    /// How the instance type begins (`ml.`).
    InstancePrefix(&'static str),
}

#[derive(Debug)]
pub(super) struct Rule {
    /// `*` for every provider.
    pub(super) provider: &'static str,
    pub(super) finds: Finds,
    pub(super) counts: Counts,
}

static MODEL_LIST: LazyLock<Vec<Model>> =
    LazyLock::new(|| rows(MODELS).filter_map(|row| read_model(&row)).collect());
static MODEL_BY_ID: LazyLock<HashMap<&'static str, &'static Model>> =
    LazyLock::new(|| models().iter().map(|model| (model.id, model)).collect());
/// A text a model is recognized by, as words.
type Named = (&'static [String], &'static Model);

/// By the first word of the text.
static MODEL_BY_WORD: LazyLock<HashMap<&'static str, Vec<Named>>> = LazyLock::new(|| {
    let mut index: HashMap<_, Vec<_>> = HashMap::new();
    for model in models() {
        for words in &model.recognized_by {
            index.entry(words[0].as_str()).or_default().push((words.as_slice(), model));
        }
    }
    index
});
static INSTANCE_LIST: LazyLock<Vec<Instance>> =
    LazyLock::new(|| rows(INSTANCES).filter_map(|row| read_instance(&row)).collect());
static INSTANCE_BY_TYPE: LazyLock<HashMap<String, Vec<&'static Instance>>> = LazyLock::new(|| {
    let mut index: HashMap<_, Vec<_>> = HashMap::new();
    for instance in instances() {
        index.entry(canonical_type(instance.instance_type)).or_default().push(instance);
    }
    index
});
static RULE_LIST: LazyLock<Vec<Rule>> =
    LazyLock::new(|| rows(METERS).filter_map(|row| read_rule(&row)).collect());

pub fn models() -> &'static [Model] {
    &MODEL_LIST
}

pub fn instances() -> &'static [Instance] {
    &INSTANCE_LIST
}

pub(super) fn rules() -> &'static [Rule] {
    &RULE_LIST
}

/// The model with this id.
pub fn model(id: &str) -> Option<&'static Model> {
    MODEL_BY_ID.get(id).copied()
}

/// The model that a text names, whatever stands around it: `H100 SXM`, `NVIDIA A100-SXM4-80GB`, `Nvidia Tesla T4 GPU
/// running in Americas`. `None` where there is none.
pub fn find_model(text: &str) -> Option<&'static Model> {
    Catalog::default().find_model_in(&words(text))
}

/// What a text that names no known model is recognized as.
pub(super) fn unknown_model() -> &'static Model {
    model("unknown").unwrap_or(&models()[0])
}

/// Where the longest name of a model stands among words.
pub(super) fn longest_name(words: &[String]) -> Option<(Range<usize>, &'static Model)> {
    let mut best: Option<(Range<usize>, &'static Model)> = None;
    for at in 0..words.len() {
        for (name, model) in MODEL_BY_WORD.get(words[at].as_str()).into_iter().flatten() {
            let is_longer = best.as_ref().is_none_or(|(found, _)| name.len() > found.len());
            if is_longer && words[at..].starts_with(name) {
                best = Some((at..at + name.len(), model));
            }
        }
    }
    best
}

/// The machine of this name at this provider; at any provider where its own has none of the name
/// (resellers), as long as all that have one agree.
pub fn find_instance(provider: &str, instance_type: &str) -> Option<&'static Instance> {
    let found = INSTANCE_BY_TYPE.get(&canonical_type(instance_type))?;
    let of_provider = found.iter().find(|instance| instance.provider.eq_ignore_ascii_case(provider));
    of_provider.copied().or_else(|| {
        let first = found.first()?;
        let agree =
            |other: &&Instance| (other.model, other.accelerators) == (first.model, first.accelerators);
        found.iter().copied().all(|other| agree(&other)).then_some(*first)
    })
}

/// The files hold no quotes and no commas within a cell (tested), so a row is its text cut at commas.
fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.split(',').collect())
}

fn read_model(row: &[&'static str]) -> Option<Model> {
    let [id, vendor, name, variant, memory, slices, texts, source] = *row else { return None };
    let recognized_by = texts.split('|').map(words).filter(|words| !words.is_empty()).collect();
    let (memory_gb, mig_slices) = (memory.parse().ok(), slices.parse().ok());
    Some(Model { id, vendor, name, variant, memory_gb, mig_slices, source, recognized_by })
}

fn read_instance(row: &[&'static str]) -> Option<Instance> {
    let [provider, instance_type, id, count, source] = *row else { return None };
    Some(Instance { provider, instance_type, model: model(id)?, accelerators: count.parse().ok()?, source })
}

fn read_rule(row: &[&'static str]) -> Option<Rule> {
    let [provider, field, how, text, counts, _source] = *row else { return None };
    let finds = match (field, how) {
        ("meter", "words") => Finds::MeterWords(words(text)),
        ("service", "words") => Finds::ServiceWords(words(text)),
        ("meter", "usage type") => Finds::UsageType(text.to_ascii_lowercase()),
        ("meter", "instance prefix") => Finds::InstancePrefix(text),
        _ => return None,
    };
    let counts = match counts {
        "instances" => Counts::Instances,
        "accelerators" => Counts::Accelerators,
        "excluded" => Counts::Excluded,
        _ => return None,
    };
    Some(Rule { provider, finds, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_every_row_of_its_files() {
        let count = |file: &str| file.lines().count() - 1;
        assert_eq!(models().len(), count(MODELS));
        assert_eq!(instances().len(), count(INSTANCES), "a model that is missing, or a count that is none");
        assert_eq!(rules().len(), count(METERS));
        assert!([MODELS, INSTANCES, METERS].iter().all(|file| !file.contains('"')));
    }

    #[test]
    fn it_names_a_source_on_every_row() {
        for file in [MODELS, INSTANCES, METERS] {
            assert!(rows(file).all(|row| row.last().is_some_and(|source| source.len() > 4)));
        }
    }

    #[test]
    fn it_lists_nothing_twice() {
        let mut seen = std::collections::HashSet::new();
        for instance in instances() {
            assert!(seen.insert((instance.provider, canonical_type(instance.instance_type))), "{instance:?}");
            assert!(!instance.accelerators.is_zero());
        }
        let mut texts = std::collections::HashMap::new();
        for model in models() {
            for words in &model.recognized_by {
                // Spellings of one name may be the same words.
                let other = texts.insert(words.clone(), model.id).filter(|other| *other != model.id);
                assert_eq!(other, None, "{words:?} names two models");
            }
        }
    }

    #[test]
    fn it_finds_models_in_texts() {
        for (text, id) in [
            ("NVIDIA H100 80GB HBM3", Some("nvidia-h100-sxm")),
            ("NVIDIA H100 PCIe", Some("nvidia-h100-pcie")),
            ("NVIDIA H100 NVL", Some("nvidia-h100-nvl")),
            ("NVIDIA A100-SXM4-80GB", Some("nvidia-a100-sxm-80")),
            ("NVIDIA A100-SXM4-40GB", Some("nvidia-a100-sxm-40")),
            ("NVIDIA A100 80GB PCIe", Some("nvidia-a100-pcie-80")),
            ("Nvidia Tesla A100 80GB GPU running in Americas", Some("nvidia-a100-sxm-80")),
            ("Nvidia Tesla A100 GPU running in Americas", Some("nvidia-a100-sxm-40")),
            ("Spot Preemptible Nvidia L4 GPU attached to Spot Preemptible VMs", Some("nvidia-l4")),
            ("Tesla V100-SXM2-32GB", Some("nvidia-v100-32")),
            ("Tesla T4", Some("nvidia-t4")),
            ("NVIDIA GeForce RTX 4090", Some("nvidia-rtx-4090")),
            ("AMD Instinct MI300X", Some("amd-mi300x")),
            ("gpu-mi300x8-1536gb", Some("amd-mi300x")),
            ("gd-8xh100ib-i128", Some("nvidia-h100-sxm")),
            ("TPU v5 lite", Some("google-tpu-v5e")),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", Some("nvidia-rtx-pro-6000")),
            ("Radeon Pro V520", Some("amd-v520")),
            ("m5.xlarge", None),
            ("", None),
        ] {
            assert_eq!(find_model(text).map(|model| model.id), id, "{text}");
        }
    }

    #[test]
    fn it_finds_machines_in_every_spelling() {
        for (provider, name, expected) in [
            ("AWS", "p5.48xlarge", Some("8 H100")),
            ("AWS", "ml.p4d.24xlarge", Some("8 A100")),
            ("AWS", "g6f.large", Some("1/8 L4")),
            ("Microsoft", "Standard_ND96isr_H100_v5", Some("8 H100")),
            ("Microsoft", "standard_nd96isr_h100_v5", Some("8 H100")),
            ("Microsoft", "NC24ads A100 v4 Spot", Some("1 A100")),
            ("Microsoft", "ND96asr A100 v4 Low Priority", Some("8 A100")),
            ("Microsoft", "Standard_NV6ads_A10_v5", Some("1/6 A10")),
            ("Google Cloud", "a3-highgpu-8g", Some("8 H100")),
            ("Oracle", "BM.GPU.H100.8", Some("8 H100")),
            ("A reseller", "p5.48xlarge", Some("8 H100")),
            ("AWS", "vt1.3xlarge", None),
            ("AWS", "f1.2xlarge", None),
            ("AWS", "m7i.large", None),
        ] {
            let found = find_instance(provider, name)
                .map(|instance| format!("{} {}", instance.accelerators, instance.model.name));
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}
