//! What an organization adds to the shipped catalog, and the catalog that both are together.
//!
//! Additions answer where the shipped catalog answers nothing, so none of them changes what a shipped machine or name is.

use std::collections::HashMap;
use std::ops::Range;

use super::catalog::{VERSION, fnv, longest_name};
use super::name::SAY_SO;
use super::text::{canonical_type, words};
use super::{Accelerators, Model, find_instance};

/// Something that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addition {
    /// The machine that this provider bills under this name.
    Machine { provider: String, name: String, model: &'static Model, accelerators: Accelerators },
    /// A text that names a model, whoever bills it.
    Text { text: String, model: &'static Model },
}

/// The shipped catalog with what was added to it. The default is the shipped one alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    revision: u32,
    /// By the name, in one spelling.
    machines: HashMap<String, Vec<AddedMachine>>,
    texts: Vec<(Vec<String>, &'static Model)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AddedMachine {
    provider: String,
    model: &'static Model,
    accelerators: Accelerators,
}

/// A machine that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub model: &'static Model,
    pub accelerators: Accelerators,
    /// `None` where it was added.
    pub source: Option<&'static str>,
}

/// Why something cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdded {
    /// There is such a machine.
    Known(Machine),
    /// The text names this model.
    Named(&'static Model),
    /// The text is a number, or a word that stands beside any accelerator.
    TooCommon,
}

impl Catalog {
    /// With these additions. The revision differs whenever they do.
    pub fn new(additions: impl IntoIterator<Item = Addition>, revision: u32) -> Self {
        let mut catalog = Self { revision, ..Self::default() };
        for addition in additions {
            match addition {
                Addition::Machine { provider, name, model, accelerators } => {
                    let machine = AddedMachine { provider, model, accelerators };
                    catalog.machines.entry(canonical_type(&name)).or_default().push(machine);
                }
                Addition::Text { text, model } => catalog.texts.push((words(&text), model)),
            }
        }
        catalog
    }

    /// The same with one more.
    #[must_use]
    pub fn with(&self, addition: Addition) -> Self {
        let one = Self::new([addition], self.revision);
        let mut both = self.clone();
        for (name, machines) in one.machines {
            both.machines.entry(name).or_default().extend(machines);
        }
        both.texts.extend(one.texts);
        both
    }

    pub(super) fn has_additions(&self) -> bool {
        !self.machines.is_empty() || !self.texts.is_empty()
    }

    /// How often something was added or removed.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// What recognition depends on, as one number of 31 bits. The ledger keeps it beside each recognized key and recognizes
    /// again where it differs.
    pub fn version(&self) -> u32 {
        version_of(self.revision)
    }

    /// The machine of this name at this provider: the shipped one ([`find_instance`]), else one that was added.
    pub fn find_machine(&self, provider: &str, name: &str) -> Option<Machine> {
        if let Some(shipped) = find_instance(provider, name) {
            let source = Some(shipped.source);
            return Some(Machine { model: shipped.model, accelerators: shipped.accelerators, source });
        }
        if self.machines.is_empty() {
            return None;
        }
        let added = self.machines.get(&canonical_type(name))?;
        let found = added.iter().find(|it| it.provider.eq_ignore_ascii_case(provider))?;
        Some(Machine { model: found.model, accelerators: found.accelerators, source: None })
    }

    /// Why it cannot be added: it would be nothing new.
    pub fn refuses(&self, addition: &Addition) -> Option<NotAdded> {
        match addition {
            Addition::Machine { provider, name, .. } => {
                self.find_machine(provider, name).map(NotAdded::Known)
            }
            Addition::Text { text, .. } => {
                let words = words(text);
                if let Some((_, model)) = self.longest_name(&words) {
                    return Some(NotAdded::Named(model));
                }
                let says_something = |word: &String| {
                    word.len() > 1
                        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
                        && !SAY_SO.contains(&word.as_str())
                };
                (!words.iter().any(says_something)).then_some(NotAdded::TooCommon)
            }
        }
    }

    /// Where the longest name of a model stands among words: a shipped one, else one that was added.
    pub(super) fn longest_name(&self, words: &[String]) -> Option<(Range<usize>, &'static Model)> {
        longest_name(words).or_else(|| {
            let mut best: Option<(Range<usize>, &'static Model)> = None;
            for (name, model) in &self.texts {
                let is_longer = best.as_ref().is_none_or(|(found, _)| name.len() > found.len());
                if is_longer && let Some(at) = position(words, name) {
                    best = Some((at..at + name.len(), model));
                }
            }
            best
        })
    }
}

/// [`Catalog::version`] of the catalog that was changed so often.
pub fn version_of(revision: u32) -> u32 {
    match revision {
        0 => VERSION,
        revision => fnv(VERSION, &revision.to_be_bytes()) & 0x7fff_ffff,
    }
}

fn position(words: &[String], phrase: &[String]) -> Option<usize> {
    if phrase.is_empty() {
        return None;
    }
    words.windows(phrase.len()).position(|window| window == phrase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::model;
    use crate::billing::ChargeKey;

    fn machine(provider: &str, name: &str, id: &str, count: &str) -> Addition {
        let (provider, name) = (provider.to_owned(), name.to_owned());
        Addition::Machine { provider, name, model: model(id).unwrap(), accelerators: count.parse().unwrap() }
    }

    fn text(text: &str, id: &str) -> Addition {
        Addition::Text { text: text.to_owned(), model: model(id).unwrap() }
    }

    fn key(provider: &str, instance_type: &str, meter: &str, unit: &str) -> ChargeKey {
        ChargeKey {
            provider: provider.to_owned(),
            instance_type: instance_type.to_owned(),
            meter: meter.to_owned(),
            unit: unit.to_owned(),
            ..ChargeKey::default()
        }
    }

    #[test]
    fn text_changes_nothing_of_a_shipped_machine() {
        let reserved = key("AWS", "p5.48xlarge", "Reserved capacity", "GPU-Hours");
        let added = Catalog::default().with(text("reserved capacity", "nvidia-b200"));
        assert_eq!(said(&added, &reserved), said(&Catalog::default(), &reserved));
        assert_eq!(added.why(&reserved), Catalog::default().why(&reserved));
        let unknown = key("AWS", "", "Reserved capacity", "GPU-Hours");
        assert_eq!(said(&added, &unknown).as_deref(), Some("1 nvidia-b200"));
    }

    fn said(catalog: &Catalog, key: &ChargeKey) -> Option<String> {
        catalog.recognize(key).map(|found| format!("{} {}", found.per_unit, found.model.id))
    }

    #[test]
    fn an_added_machine_is_recognized_in_every_spelling_at_its_provider() {
        let catalog = Catalog::new(
            [
                machine("AWS", "p9.48xlarge", "nvidia-b300", "8"),
                machine("Microsoft", "Standard_NV8_X_v9", "nvidia-a10", "1/6"),
            ],
            1,
        );
        for (key, expected) in [
            (key("AWS", "p9.48xlarge", "", "Hrs"), Some("8 nvidia-b300")),
            (key("AWS", "ml.p9.48xlarge", "", "Hrs"), Some("8 nvidia-b300")),
            (key("AWS", "", "USW2-BoxUsage:p9.48xlarge", "Hrs"), Some("8 nvidia-b300")),
            (
                key("AWS", "", "$98 per On Demand Linux p9.48xlarge Instance Hour", "Hrs"),
                Some("8 nvidia-b300"),
            ),
            (key("Microsoft", "NV8 X v9 Spot", "", "1 Hour"), Some("1/6 nvidia-a10")),
            (key("Oracle", "p9.48xlarge", "", "Hrs"), None),
            (key("AWS", "p9.24xlarge", "", "Hrs"), None),
            (key("AWS", "p9.48xlarge", "USW2-EBSOptimized:p9.48xlarge", "Hrs"), None),
        ] {
            assert_eq!(said(&catalog, &key).as_deref(), expected, "{key:?}");
            assert_eq!(said(&Catalog::default(), &key), None, "{key:?}");
        }
    }

    #[test]
    fn an_added_text_names_its_model() {
        let catalog = Catalog::new([text("Hopper XL", "nvidia-h100-sxm")], 1);
        for (key, expected) in [
            (key("A cloud", "", "Hopper XL GPU hours", "GPU-Hours"), "1 nvidia-h100-sxm"),
            (key("A cloud", "8x hopper-xl", "", "Hours"), "8 nvidia-h100-sxm"),
            // A shipped name wins.
            (key("A cloud", "", "Hopper XL instead of B200", "GPU-Hours"), "1 nvidia-b200"),
        ] {
            assert_eq!(said(&catalog, &key).as_deref(), Some(expected), "{key:?}");
        }
    }

    #[test]
    fn an_addition_changes_nothing_that_is_shipped() {
        let catalog =
            Catalog::new([machine("AWS", "p5.48xlarge", "nvidia-t4", "1"), text("H100", "nvidia-t4")], 7);
        assert_eq!(
            said(&catalog, &key("AWS", "p5.48xlarge", "", "Hrs")).as_deref(),
            Some("8 nvidia-h100-sxm")
        );
        assert_eq!(
            said(&catalog, &key("A cloud", "", "H100", "GPU-Hours")).as_deref(),
            Some("1 nvidia-h100-sxm")
        );
    }

    #[test]
    fn what_is_known_cannot_be_added() {
        let catalog = Catalog::new([machine("AWS", "p9.48xlarge", "nvidia-b300", "8")], 1);
        let known = |it: Option<NotAdded>| match it {
            Some(NotAdded::Known(machine)) => format!("{} {}", machine.accelerators, machine.model.name),
            Some(NotAdded::Named(model)) => model.name.to_owned(),
            Some(NotAdded::TooCommon) => "too common".to_owned(),
            None => "new".to_owned(),
        };
        for (addition, expected) in [
            (machine("AWS", "P5.48xlarge", "nvidia-t4", "1"), "8 H100"),
            (machine("AWS", "p9.48xlarge", "nvidia-t4", "1"), "8 B300"),
            (machine("AWS", "p9.metal", "nvidia-t4", "1"), "new"),
            (machine("Oracle", "p9.48xlarge", "nvidia-t4", "1"), "new"),
            (text("NVIDIA H100 special", "nvidia-t4"), "H100"),
            (text("GPU", "nvidia-t4"), "too common"),
            (text("8", "nvidia-t4"), "too common"),
            (text("  ", "nvidia-t4"), "too common"),
            (text("X9000", "nvidia-t4"), "new"),
        ] {
            assert_eq!(known(catalog.refuses(&addition)), expected, "{addition:?}");
        }
    }

    #[test]
    fn its_version_is_that_of_the_files_until_something_is_added() {
        assert_eq!(Catalog::default().version(), VERSION);
        let versions: std::collections::HashSet<u32> =
            (0..50).map(|revision| Catalog::new([], revision).version()).collect();
        assert_eq!(versions.len(), 50);
    }
}
