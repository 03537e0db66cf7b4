//! What looks like an accelerator and is none that is known: a new machine, a model under another name.
//!
//! It is a hint for people, who decide; no figure follows from it. It looks for what names accelerators by families, words
//! and patterns of names, so that the machines of next year are seen, too.

use super::Catalog;
use super::catalog::{Counts, unknown_model};
use super::name::Named;
use super::recognize::{Recognized, Texts, machine_name};
use super::text::{canonical_type, words};
use super::unit::seconds_per_unit;
use crate::billing::{ChargeCategory, ChargeKey};

/// Why time of what looks like an accelerator is not that of a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrecognized {
    /// It is not counted: how many accelerators it holds is not known.
    Machine,
    /// It is counted, and of which model is not known.
    Model,
}

impl Unrecognized {
    /// Its name, as it is kept and written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Model => "model",
        }
    }
}

/// All that a catalog says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// The accelerator whose time it meters.
    pub recognized: Option<Recognized>,
    /// What is not known of it, where it looks like an accelerator.
    pub unrecognized: Option<Unrecognized>,
}

impl Catalog {
    /// [`Self::recognize`] and [`Self::unrecognized`] at once.
    pub fn recognition(&self, key: &ChargeKey) -> Recognition {
        let recognized = self.recognize(key);
        let unrecognized = self.unrecognized_beside(key, recognized).map(|(what, _)| what);
        Recognition { recognized, unrecognized }
    }

    /// Whether a key that is recognized as no accelerator, or as one of no known model, looks like one; and the name by
    /// which it can be added: that of a machine, or a text.
    pub fn unrecognized<'k>(&self, key: &'k ChargeKey) -> Option<(Unrecognized, &'k str)> {
        self.unrecognized_beside(key, self.recognize(key))
    }

    fn unrecognized_beside<'k>(
        &self,
        key: &'k ChargeKey,
        recognized: Option<Recognized>,
    ) -> Option<(Unrecognized, &'k str)> {
        if key.category != ChargeCategory::Usage {
            return None;
        }
        if let Some(found) = recognized {
            let texts = [&key.meter, &key.instance_type, &key.sku];
            let text = texts.into_iter().find(|text| !text.is_empty())?;
            return (found.model == unknown_model()).then_some((Unrecognized::Model, text));
        }
        seconds_per_unit(&key.unit)?;
        let texts = Texts::of(self, key);
        // What is billed beside a machine counts neither machines nor accelerators.
        if texts.counts(key) != Some(Counts::Instances) {
            return None;
        }
        let name = machine_name(key);
        // Which machine a part of it belongs to says nothing of the part.
        let machine = if texts.is_beside_gpus(key) { "" } else { name };
        let sku = words(&key.sku);
        let all = [&words(machine), &texts.meter, &sku];
        // Of a machine with a name its meter may be a bare `A10`, which is also a size of Azure.
        let described: &[_] = if key.instance_type.is_empty() { &all } else { &all[..1] };
        let is_one = is_of_family(&key.provider, machine)
            || all.iter().any(|words| says_accelerator(words))
            || described.iter().any(|words| self.names_one(words));
        (is_one && !name.is_empty()).then_some((Unrecognized::Machine, name))
    }

    /// Whether a text means a model, without saying how many.
    fn names_one(&self, words: &[String]) -> bool {
        Named::find(self, words).is_some_and(|named| named.is_meant(words))
    }
}

/// Whether a provider gives such names to its machines with accelerators, whatever the generation.
fn is_of_family(provider: &str, machine: &str) -> bool {
    let name = canonical_type(machine);
    match provider {
        // p6.48xlarge, g7e.xlarge, trn3.48xlarge.
        "AWS" => {
            let is_family = |letters| after(&name, letters).is_some_and(begins_with_digit);
            name.contains('.') && ["p", "g", "trn", "inf", "dl"].into_iter().any(is_family)
        }
        // Standard_ND96isr_H100_v5, Standard_NCC40ads_H100_v5; NP are FPGAs.
        "Microsoft" => {
            let families = ["nc", "ncc", "nd", "ng", "nv"];
            families.into_iter().any(|letters| after(&name, letters).is_some_and(begins_with_digit))
        }
        // a3-highgpu-8g, a4x-highgpu-4g, g4-standard-48, ct6e-standard-4t; g1-small has none.
        "Google Cloud" => {
            let family = name.split_once('-').map_or("", |(family, _)| family);
            let is_family = |letters| after(family, letters).is_some_and(begins_with_digit);
            family != "g1" && ["a", "g", "ct"].into_iter().any(is_family)
        }
        "Oracle" => name.starts_with("bm.gpu") || name.starts_with("vm.gpu"),
        _ => false,
    }
}

/// What follows these letters at the beginning of a text.
fn after<'t>(text: &'t str, letters: &str) -> Option<&'t str> {
    text.strip_prefix(letters)
}

fn begins_with_digit(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

/// Words that stand beside accelerators and little else.
const WORDS: &[&str] = &[
    "accelerator",
    "accelerators",
    "blackwell",
    "dgx",
    "gaudi",
    "geforce",
    "gpu",
    "gpus",
    "hgx",
    "hopper",
    "inferentia",
    "instinct",
    "npu",
    "npus",
    "nvidia",
    "rtx",
    "rubin",
    "tpu",
    "tpus",
    "trainium",
];

/// What accelerates something else: AWS Global Accelerator, DynamoDB Accelerator.
const OTHER_ACCELERATORS: &[&str] = &["cache", "content", "dynamodb", "global", "transfer", "wan"];

fn says_accelerator(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map(|at| words[at].as_str());
        let is_other = word.starts_with("accelerator")
            && before.is_some_and(|before| OTHER_ACCELERATORS.contains(&before));
        WORDS.contains(&word.as_str()) && !is_other || is_like_a_model(word)
    })
}

/// Names as vendors give them: `h400`, `gb400`, `b300a`, `mi500x`, `tpuv9`.
fn is_like_a_model(word: &str) -> bool {
    let hundreds = |rest: &str| {
        let (digits, letters) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        digits.len() == 3 && letters.len() <= 1 && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_round = |rest: &str| hundreds(rest) && rest[1..].starts_with("00");
    ["b", "gb", "gh", "h", "vr"].into_iter().any(|letters| after(word, letters).is_some_and(is_round))
        || after(word, "mi").is_some_and(hundreds)
        || after(word, "tpuv").is_some_and(begins_with_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::{Addition, model};

    fn key([provider, instance_type, meter, unit]: [&str; 4]) -> ChargeKey {
        ChargeKey {
            provider: provider.to_owned(),
            instance_type: instance_type.to_owned(),
            meter: meter.to_owned(),
            unit: unit.to_owned(),
            ..ChargeKey::default()
        }
    }

    #[test]
    fn new_machines_look_like_accelerators() {
        for (of, name) in [
            (["AWS", "p9.48xlarge", "USE1-BoxUsage:p9.48xlarge", "Hrs"], "p9.48xlarge"),
            (["AWS", "", "USE1-SpotUsage:g9e.xlarge", "Hrs"], "g9e.xlarge"),
            (["AWS", "ml.p9.48xlarge", "USE1-Train:ml.p9.48xlarge", "Hrs"], "ml.p9.48xlarge"),
            (["AWS", "trn9.48xlarge", "", "Hrs"], "trn9.48xlarge"),
            (["AWS", "inf9.xlarge", "", "Hrs"], "inf9.xlarge"),
            (["Microsoft", "Standard_ND256isr_X900_v9", "", "1 Hour"], "Standard_ND256isr_X900_v9"),
            (["Microsoft", "", "NC96ads X900 v9", "1 Hour"], "NC96ads X900 v9"),
            (["Google Cloud", "a9-highgpu-8g", "", "hour"], "a9-highgpu-8g"),
            (["Google Cloud", "g9-standard-48", "", "hour"], "g9-standard-48"),
            (["Google Cloud", "ct9p-hightpu-4t", "", "hour"], "ct9p-hightpu-4t"),
            (["Oracle", "BM.GPU.X900", "", "Hours"], "BM.GPU.X900"),
            (["CoreWeave", "rubin-cpx", "Rubin CPX GPU instance", "Hours"], "rubin-cpx"),
            (["Lambda", "", "8x GB400 cluster", "hours"], "8x GB400 cluster"),
            (["Nebius", "mi500x-8", "", "hours"], "mi500x-8"),
            (["A cloud", "", "Trainium node", "hours"], "Trainium node"),
            (["A cloud", "", "Accelerator node", "hours"], "Accelerator node"),
            (["A cloud", "", "8x Rubin R200 instance", "hours"], "8x Rubin R200 instance"),
            // It is known, but not how many there are.
            (["A cloud", "", "NVIDIA H100 server", "hours"], "NVIDIA H100 server"),
        ] {
            let key = key(of);
            let found = Catalog::default().unrecognized(&key);
            assert_eq!(found, Some((Unrecognized::Machine, name)), "{of:?}");
        }
    }

    #[test]
    fn a_model_counts_in_gpu_hours_whatever_stands_beside_it() {
        for meter in ["H100 with filesystem", "B200, setup included"] {
            let key = key(["A cloud", "", meter, "GPU-Hours"]);
            assert!(Catalog::default().recognize(&key).is_some(), "{meter}");
        }
        let of_sku =
            ChargeKey { sku: "STORAGE-NVME".to_owned(), ..key(["A cloud", "", "Item 7", "GPU-Hours"]) };
        assert_eq!(Catalog::default().recognize(&of_sku), None);
    }

    #[test]
    fn what_is_counted_without_a_model_is_named() {
        let key = key(["A cloud", "", "Falcon 9000 time", "GPU-Hours"]);
        let found = Catalog::default().unrecognized(&key);
        assert_eq!(found, Some((Unrecognized::Model, "Falcon 9000 time")));
        let text = Addition::Text { text: "Falcon 9000".to_owned(), model: model("nvidia-b200").unwrap() };
        assert_eq!(Catalog::default().with(text).unrecognized(&key), None);
    }

    #[test]
    fn other_machines_and_what_is_billed_beside_them_do_not() {
        for of in [
            // Known ones are no question.
            ["AWS", "p5.48xlarge", "USE1-BoxUsage:p5.48xlarge", "Hrs"],
            ["Microsoft", "Standard_ND96isr_H100_v5", "", "1 Hour"],
            // Other machines.
            ["Microsoft", "Standard_D4s_v5", "D4s v5", "1 Hour"],
            ["Microsoft", "Standard_NP10s", "NP10s", "1 Hour"],
            ["Microsoft", "Standard_A10", "A10", "1 Hour"],
            ["Microsoft", "Standard_L8s_v3", "L8s v3", "1 Hour"],
            ["Microsoft", "Standard_HB120rs_v3", "HB120rs v3", "1 Hour"],
            ["AWS", "m7i.large", "USE1-BoxUsage:m7i.large", "Hrs"],
            ["AWS", "c7g.large", "USE1-BoxUsage:c7g.large", "Hrs"],
            ["AWS", "hpc7g.16xlarge", "USE1-BoxUsage:hpc7g.16xlarge", "Hrs"],
            ["AWS", "i4g.large", "", "Hrs"],
            ["AWS", "db.r6g.large", "USE1-InstanceUsage:db.r6g.large", "Hrs"],
            ["AWS", "vt1.3xlarge", "USE1-BoxUsage:vt1.3xlarge", "Hrs"],
            ["AWS", "f1.2xlarge", "USE1-BoxUsage:f1.2xlarge", "Hrs"],
            ["Google Cloud", "g1-small", "", "hour"],
            ["Google Cloud", "e2-standard-4", "", "hour"],
            ["Google Cloud", "n2-standard-8", "N2 Instance Core running in Americas", "hour"],
            ["Oracle", "VM.Standard.E5.Flex", "", "Hours"],
            ["A cloud", "", "B2 office hours", "hours"],
            ["A cloud", "", "AMD EPYC server", "hours"],
            // What is billed beside a machine.
            ["AWS", "p9.48xlarge", "USE1-EBSOptimized:p9.48xlarge", "Hrs"],
            ["Google Cloud", "a9-highgpu-8g", "A9 Instance Core running in Americas", "hour"],
            ["Google Cloud", "a9-highgpu-8g", "Licensing Fee for RHEL 9", "hour"],
            ["Google Cloud", "a9-highgpu-8g", "Storage PD Capacity", "gibibyte hour"],
            ["Google Cloud", "a9-highgpu-8g", "Static Ip Charge on a VM", "hour"],
            ["A cloud", "", "GPU support plan", "Hours"],
            ["A cloud", "", "GPU cluster shared storage", "Hours"],
            ["A cloud", "", "NVIDIA AI Enterprise", "Hours"],
            ["A cloud", "", "vCPU of GPU nodes", "Hours"],
            ["AWS", "", "Global Accelerator fixed fee", "Hrs"],
            ["AWS", "", "DynamoDB Accelerator node", "Hrs"],
            // What a bill counts in the unit of its GPUs.
            ["A cloud", "", "Shared filesystem", "GPU-Hours"],
            ["A cloud", "", "Speicher NVMe", "GPU-Hours"],
            ["A cloud", "", "Premium support", "GPU-Hours"],
            ["A cloud", "", "Public IPs", "GPU-Hours"],
            // No time.
            ["A cloud", "", "GPU setup fee", "Units"],
            ["A cloud", "", "GPU reservation", "1/Month"],
            ["AWS", "", "", "Hrs"],
        ] {
            assert_eq!(Catalog::default().unrecognized(&key(of)), None, "{of:?}");
        }
        let fee = ChargeKey { category: ChargeCategory::Purchase, ..key(["AWS", "p9.48xlarge", "", "Hrs"]) };
        assert_eq!(Catalog::default().unrecognized(&fee), None, "a purchase is no usage");
    }
}
