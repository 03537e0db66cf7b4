//! From a charge key to its accelerator.

use std::sync::LazyLock;

use super::catalog::{Counts, Finds, rules, unknown_model};
use super::name::{Named, said_count, whole};
use super::text::words;
use super::unit::{counts_accelerators, seconds_per_unit};
use super::{Accelerators, Catalog, Machine, Model};
use crate::billing::{ChargeCategory, ChargeKey};

/// Which accelerator the metered quantity of a key is time of, and how many one unit of it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized {
    pub model: &'static Model,
    /// Accelerators while one unit of the quantity passes: 8 for an hour of p5.48xlarge, 1 for a
    /// GPU-hour.
    pub per_unit: Accelerators,
    /// Seconds in one unit of the quantity: 3600 for hours.
    pub seconds_per_unit: u32,
}

impl Recognized {
    /// As the ledger keeps it of a key: of the models that share a name, the first.
    pub fn stored(name: Option<&str>, parts: Option<i64>, seconds: Option<i32>) -> Option<Self> {
        let model = super::models().iter().find(|model| Some(model.name) == name)?;
        let per_unit = Accelerators::from_parts(parts?);
        Some(Self { model, per_unit, seconds_per_unit: seconds?.unsigned_abs() })
    }
}

/// What the shipped catalog recognizes in a key ([`Catalog::recognize`]).
pub fn recognize(key: &ChargeKey) -> Option<Recognized> {
    Catalog::default().recognize(key)
}

impl Catalog {
    /// The accelerator whose time a key meters. `None` for everything else: other units, other machines,
    /// what is billed beside a GPU machine (storage, transfer, software, surcharges), and charges that are
    /// no usage. Whether a single charge counts (`is_metered`) is the charge's own matter.
    ///
    /// The first that holds:
    /// 1. no usage, or no unit of time: nothing;
    /// 2. a rule of `meters.csv` excludes the service or the meter: nothing;
    /// 3. the unit or the meter counts accelerators: one, of the model its texts or its machine name;
    /// 4. the machine, or one that the meter's text names, is in `instances.csv` or was added: as many as it holds, whatever the export states
    ///    (Azure's own figures call a sixth of an A10 one GPU);
    /// 5. the export states a number: that many, of the model its texts name, or of an unknown one;
    /// 6. the machine's name says both (`8x H100`, `H100:8`, Oracle's `BM.GPU.H100.8`), or a description that means accelerators
    ///    does: as many as it says;
    /// 7. one of them says the model, at a provider that rents by the GPU: one.
    pub fn recognize(&self, key: &ChargeKey) -> Option<Recognized> {
        self.as_shipped(key).map(|(_, found)| found).or_else(|| self.recognize_by_all(key))
    }

    /// What is shipped knows the key, so nothing that was added is asked.
    fn as_shipped(&self, key: &ChargeKey) -> Option<(&'static Self, Recognized)> {
        static SHIPPED: LazyLock<Catalog> = LazyLock::new(Catalog::default);
        if !self.has_additions() {
            return None;
        }
        let found = SHIPPED.recognize_by_all(key).filter(|found| found.model != unknown_model())?;
        Some((&SHIPPED, found))
    }

    fn recognize_by_all(&self, key: &ChargeKey) -> Option<Recognized> {
        // An adjustment is of what it adjusts. It counts no hours.
        if !matches!(key.category, ChargeCategory::Usage | ChargeCategory::Adjustment) {
            return None;
        }
        let seconds_per_unit = seconds_per_unit(&key.unit)?;
        let texts = Texts::of(self, key);
        let counts = texts.counts(key)?;
        let (model, per_unit) = if counts == Counts::Accelerators {
            (texts.model(key), Accelerators::ONE)
        } else {
            texts.machine(key)?
        };
        Some(Recognized { model, per_unit, seconds_per_unit })
    }

    /// Why [`Self::recognize`] answers what it does: a sentence for whoever looks at a charge.
    pub fn why(&self, key: &ChargeKey) -> String {
        if let Some((shipped, _)) = self.as_shipped(key) {
            return shipped.why(key);
        }
        if !matches!(key.category, ChargeCategory::Usage | ChargeCategory::Adjustment) {
            return format!("Only usage pays for an accelerator's time; this is {}.", key.category.as_str());
        }
        if seconds_per_unit(&key.unit).is_none() {
            return match key.unit.as_str() {
                "" => "It states no unit, so no time is known.".to_owned(),
                unit => format!("Its unit, {unit}, is no span of time."),
            };
        }
        let texts = Texts::of(self, key);
        let machine = machine_name(key);
        match texts.counts(key) {
            None => "Its meter is billed beside a machine, or is none that counts machines.".to_owned(),
            Some(Counts::Accelerators) => {
                format!("One unit of its meter is one accelerator; its texts name {}.", texts.model(key).name)
            }
            Some(_) => match texts.machine(key) {
                None if machine.is_empty() => "It names no machine.".to_owned(),
                None => format!(
                    "{machine} is no machine with accelerators that is known, and the export states none."
                ),
                Some((model, count)) if let Some(found) = self.find_machine(&key.provider, machine) => {
                    let Some(source) = found.source else {
                        return format!("{machine} has {count} {}: it was added to the catalog.", model.name);
                    };
                    let taken_for = source.strip_prefix(NO_SUCH_TYPE);
                    let note =
                        taken_for.map_or(String::new(), |note| format!(" There is no such type: {note}."));
                    format!("{machine} has {count} {} by the catalog.{note}", model.name)
                }
                Some((model, count)) if key.stated_accelerators.is_empty() => {
                    format!("Its name says {count} {}.", model.name)
                }
                Some((model, count)) => format!("The export states {count}; the texts name {}.", model.name),
            },
        }
    }

    /// The model that the words of a text name, whatever stands around it.
    pub(super) fn find_model_in(&self, words: &[String]) -> Option<&'static Model> {
        Named::find(self, words).map(|named| named.model)
    }
}

/// A key's texts as words, split once.
pub(super) struct Texts<'a> {
    catalog: &'a Catalog,
    service: Vec<String>,
    pub(super) meter: Vec<String>,
}

impl<'a> Texts<'a> {
    pub(super) fn of(catalog: &'a Catalog, key: &ChargeKey) -> Self {
        Self { catalog, service: words(&key.service), meter: words(&key.meter) }
    }

    /// What one unit counts; `None` where it counts neither machines nor accelerators.
    pub(super) fn counts(&self, key: &ChargeKey) -> Option<Counts> {
        let mut found = None;
        for rule in rules() {
            let applies = rule.provider == "*" || rule.provider == key.provider;
            if !applies || !self.finds(&rule.finds, key) {
                continue;
            }
            if rule.counts == Counts::Excluded {
                return None;
            }
            found = found.or(Some(rule.counts));
        }
        if counts_accelerators(&key.unit) {
            return (!self.is_beside_machines(key)).then_some(Counts::Accelerators);
        }
        // An AWS usage type that no rule knows (`EBSOptimized:…`, `Reservation:…`) is beside the machine.
        let is_usage_type =
            key.provider == "AWS" && key.meter.contains(':') && !key.meter.contains(char::is_whitespace);
        if is_usage_type { found } else { found.or(Some(Counts::Instances)) }
    }

    fn finds(&self, finds: &Finds, key: &ChargeKey) -> bool {
        match finds {
            Finds::MeterWords(phrase) => contains(&self.meter, phrase),
            Finds::ServiceWords(phrase) => contains(&self.service, phrase),
            Finds::UsageType(name) => usage_type(&key.meter) == *name,
            Finds::InstancePrefix(prefix) => machine_name(key).starts_with(prefix),
        }
    }

    /// Whether a key names no model, and any of its texts what is billed beside machines: bills write one unit in every row,
    /// storage and support included.
    fn is_beside_machines(&self, key: &ChargeKey) -> bool {
        if self.model(key) != unknown_model() {
            return false;
        }
        let texts = [&self.meter, &self.service, &words(&key.sku)];
        let says = |phrase: &[String]| texts.iter().any(|text| contains(text, phrase));
        let mut excluded =
            rules().iter().filter(|rule| rule.provider == "*" && rule.counts == Counts::Excluded);
        let is_excluded = excluded.any(|rule| match &rule.finds {
            Finds::MeterWords(phrase) | Finds::ServiceWords(phrase) => says(phrase),
            Finds::UsageType(_) | Finds::InstancePrefix(_) => false,
        });
        is_excluded
            || texts.iter().any(|text| text.iter().any(|word| BESIDE_MACHINES.contains(&word.as_str())))
    }

    /// The model of a key whose unit counts accelerators.
    fn model(&self, key: &ChargeKey) -> &'static Model {
        let find_model_in = |words: &[String]| self.catalog.find_model_in(words);
        let named = find_model_in(&self.meter).or_else(|| find_model_in(&words(&key.sku)));
        let of_machine =
            || self.catalog.find_machine(&key.provider, &key.instance_type).map(|found| found.model);
        let in_machine = || find_model_in(&words(&key.instance_type));
        named.or_else(of_machine).or_else(in_machine).unwrap_or(unknown_model())
    }

    /// Google bills GPUs as meters of their own, beside the machine's cores and memory.
    pub(super) fn is_beside_gpus(&self, key: &ChargeKey) -> bool {
        key.provider == "Google Cloud"
            && !key.meter.is_empty()
            && !contains(&self.meter, &words(machine_name(key)))
            && key.stated_accelerators.is_empty()
    }

    fn machine(&self, key: &ChargeKey) -> Option<(&'static Model, Accelerators)> {
        let machine = machine_name(key);
        let named_machine = || {
            find_machine_in(self.catalog, &key.provider, &key.meter).filter(|_| key.instance_type.is_empty())
        };
        if let Some(found) = self.catalog.find_machine(&key.provider, machine).or_else(named_machine) {
            return (!self.is_beside_gpus(key)).then_some((found.model, found.accelerators));
        }
        let (machine, sku) = (words(machine), words(&key.sku));
        let is_machine = !key.instance_type.is_empty();
        // Of what is no machine's name, a word may be anything.
        let named = |words: &[String], is_sure: bool| {
            Named::find(self.catalog, words)
                .filter(|named| is_sure || named.is_meant(words))
                .map(|named| named.model)
        };
        match key.stated_accelerators.parse::<Accelerators>() {
            Ok(count) if !count.is_zero() => {
                let model = [&machine, &self.meter, &sku].into_iter().find_map(|text| named(text, true));
                Some((model.unwrap_or(unknown_model()), count))
            }
            _ => {
                let texts = [(&machine, is_machine), (&self.meter, false), (&sku, false)];
                let model = texts.into_iter().find_map(|(text, is_sure)| named(text, is_sure))?;
                let said_count = |words: &[String]| said_count(self.catalog, words);
                let said =
                    shape_count(key).or_else(|| said_count(&machine)).or_else(|| said_count(&self.meter));
                let is_one = || BY_THE_GPU.contains(&key.provider.as_str());
                said.or_else(|| is_one().then_some(Accelerators::ONE)).map(|count| (model, count))
            }
        }
    }
}

/// The instance type, or the machine that the meter names: what follows the colon of an AWS usage type,
/// else the meter itself.
pub(super) fn machine_name(key: &ChargeKey) -> &str {
    if !key.instance_type.is_empty() {
        return &key.instance_type;
    }
    key.meter.rsplit_once(':').map_or(key.meter.as_str(), |(_, machine)| machine)
}

/// What the source of a machine begins with that people write and nobody rents.
const NO_SUCH_TYPE: &str = "no such type: ";

/// Words of what is billed beside machines. Of a machine that is known they are part of its description: `H100 with backup`.
const BESIDE_MACHINES: &[&str] = &[
    "backup",
    "backups",
    "bandwidth",
    "bucket",
    "buckets",
    "filesystem",
    "filesystems",
    "fileshare",
    "ip",
    "ips",
    "ipv4",
    "maintenance",
    "nas",
    "networking",
    "nfs",
    "onboarding",
    "setup",
    "traffic",
    "transfer",
    "vpn",
    "datenverkehr",
    "einrichtung",
    "lizenz",
    "lizenzen",
    "netzwerk",
    "speicher",
    "speicherplatz",
    "wartung",
    "stockage",
    "sauvegarde",
];

/// Providers that name a machine by its GPU alone, state how many there are beside it where there are several, and rent
/// each by the hour.
const BY_THE_GPU: &[&str] = &["RunPod", "Vast.ai", "Paperspace"];

/// The one machine that a description names: `$1.624 per On Demand Linux g5.4xlarge Instance Hour`, all that some FOCUS
/// exports say of it; also with blanks in its name, `Prediction A2 Highgpu 8g`, `NC24ads A100 v4 running`.
fn find_machine_in(catalog: &Catalog, provider: &str, description: &str) -> Option<Machine> {
    let words: Vec<&str> = description
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')'))
        .filter(|word| !word.is_empty())
        .collect();
    let whole = |word: &&&str| word.contains(['.', '-', '_']);
    let one = words.iter().filter(whole).find_map(|word| catalog.find_machine(provider, word));
    one.or_else(|| {
        let lengths = (2..=LONGEST_NAME).rev();
        lengths.flat_map(|length| words.windows(length)).find_map(|name| {
            catalog
                .find_machine(provider, &name.join("-"))
                .or_else(|| catalog.find_machine(provider, &name.join("_")))
        })
    })
}

/// Words of the longest name of a machine: `ND96amsr A100 v4`.
const LONGEST_NAME: usize = 4;

/// The count at the end of a machine's name: of a shape of Oracle's, which names its model and that (`BM.GPU.B300.8`,
/// `VM.GPU.A100.80G.2`), or behind a colon (`H100:8`).
fn shape_count(key: &ChargeKey) -> Option<Accelerators> {
    if let Some((_, count)) = key.instance_type.rsplit_once(':') {
        return whole(count.trim());
    }
    let shape = machine_name(key).to_ascii_uppercase();
    let model = shape.strip_prefix("BM.GPU.").or_else(|| shape.strip_prefix("VM.GPU."))?;
    let (_, count) = model.rsplit_once('.').filter(|_| key.provider == "Oracle")?;
    whole(count)
}

/// `USW2-BoxUsage:p5.48xlarge` → `boxusage`; also behind local zones (`USW2-LAX1-BoxUsage:…`).
fn usage_type(meter: &str) -> String {
    let name = meter.split_once(':').map_or(meter, |(name, _)| name);
    name.rsplit_once('-').map_or(name, |(_, name)| name).to_ascii_lowercase()
}

fn contains(words: &[String], phrase: &[String]) -> bool {
    !phrase.is_empty() && words.windows(phrase.len()).any(|window| window == phrase)
}
