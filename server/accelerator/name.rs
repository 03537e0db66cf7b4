//! Names of models in texts that people, vendors and bills write: which one is meant, and whether it is meant at all.

use std::ops::Range;

use super::{Accelerators, Catalog, Model, models};

/// A model that a text names, and where.
pub(super) struct Named {
    pub model: &'static Model,
    at: Range<usize>,
}

impl Named {
    /// The longest name wins; of models that share it the one whose memory and form the text states, in whatever order:
    /// `H100 80GB PCIe` and `PCIe H100 80GB` are one.
    pub fn find(catalog: &Catalog, words: &[String]) -> Option<Self> {
        let (at, model) = catalog.longest_name(words)?;
        Some(Self { model: variant(model, words), at })
    }

    /// Whether a text that is no machine's name (a description, a SKU) means the model. `A100`, `L4`, `T4` and the like are
    /// also streets, layers and tiers: so the text must say that it is about accelerators, how many there are, or which
    /// variant; or it must be nothing but the name.
    pub fn is_meant(&self, words: &[String]) -> bool {
        let Range { start, end } = self.at;
        let next_to = [start.checked_sub(1), Some(end)];
        let beside = || next_to.into_iter().flatten().filter_map(|at| words.get(at));
        let is_all = || words.len() == self.at.len();
        // `4090` beside a count is a number of anything.
        let is_number = words[start].bytes().all(|byte| byte.is_ascii_digit());
        self.at.len() > 1
            || words.iter().any(|word| SAY_SO.contains(&word.as_str()))
            || (!is_number
                && beside().any(|word| is_count(word) || form(word).is_some() || memory(word).is_some()))
            || is_all()
    }
}

/// Words of texts that are about accelerators.
pub(super) const SAY_SO: &[&str] = &[
    "accelerator",
    "accelerators",
    "amd",
    "dgx",
    "geforce",
    "gpu",
    "gpus",
    "hgx",
    "instinct",
    "nvidia",
    "quadro",
    "radeon",
    "rtx",
    "tesla",
    "tpu",
];

/// Of the models of one name, the one that fits what the text says of memory and form: the one that was found, if it does.
fn variant(found: &'static Model, words: &[String]) -> &'static Model {
    let alike = || models().iter().filter(|model| model.name == found.name);
    let is_of = |model: &Model, form: &str| model.variant.starts_with(form);
    let has = |model: &Model, memory: u32| model.memory_gb == Some(memory);
    // What none of them has is something else: memory of the machine, a form that the catalog does not know.
    let forms =
        words.iter().filter_map(|word| form(word)).find(|form| alike().any(|model| is_of(model, form)));
    let memories =
        words.iter().filter_map(|word| memory(word)).find(|memory| alike().any(|model| has(model, *memory)));
    let fits = |model: &&'static Model| {
        forms.is_none_or(|form| is_of(model, form)) && memories.is_none_or(|memory| has(model, memory))
    };
    if fits(&found) { found } else { alike().find(fits).unwrap_or(found) }
}

/// How the catalog begins to say of a variant what a word says.
fn form(word: &str) -> Option<&'static str> {
    match word {
        "sxm" | "sxm2" | "sxm3" | "sxm4" | "sxm5" | "sxm6" => Some("SXM"),
        "pcie" => Some("PCIe"),
        "nvl" => Some("NVL"),
        _ => None,
    }
}

/// `80gb`.
fn memory(word: &str) -> Option<u32> {
    word.strip_suffix("gb")?.parse().ok()
}

/// Of the processor beside it, and no count.
fn is_architecture(word: &str) -> bool {
    matches!(word, "x86" | "x64")
}

/// `8x`, `x8`.
fn is_count(word: &str) -> bool {
    if is_architecture(word) {
        return false;
    }
    let number = word.strip_suffix('x').or_else(|| word.strip_prefix('x'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A count that a text states beside a model: `8x`, `x8`, `8gpu`, `8 GPUs`; or as its first word, `8 H100`.
pub(super) fn said_count(catalog: &Catalog, words: &[String]) -> Option<Accelerators> {
    let glued = |word: &String| {
        if is_architecture(word) {
            return None;
        }
        let count = word
            .strip_suffix('x')
            .or_else(|| word.strip_prefix('x'))
            .or_else(|| word.strip_suffix("gpu"))
            .or_else(|| word.strip_suffix("gpus"))?;
        whole(count)
    };
    let before_gpus = |pair: &[String]| match pair {
        [count, gpus] if matches!(gpus.as_str(), "gpu" | "gpus") => whole(count),
        _ => None,
    };
    let first = || {
        let (count, rest) = words.split_first()?;
        let (at, _) = catalog.longest_name(rest)?;
        let is_next = rest[..at.start].iter().all(|word| SAY_SO.contains(&word.as_str()));
        is_next.then(|| whole(count)).flatten()
    };
    words.iter().find_map(glued).or_else(|| words.windows(2).find_map(before_gpus)).or_else(first)
}

/// As many as a machine or a few of them may hold.
pub(super) fn whole(count: &str) -> Option<Accelerators> {
    let count: i64 = count.parse().ok()?;
    (1..=128).contains(&count).then(|| Accelerators::fraction(count, 1)).flatten()
}
