//! Charge keys: many rows, few distinct combinations.
//!
//! The id of a key is a 128-bit hash of its canonical form, so neither a sequence nor a look-up stands
//! in the way of loading and two imports agree without asking each other. What varies too much for the
//! key stays with the charge: the resource, unless the key bears accelerators, and noisy tags.

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_128;
use uuid::Uuid;

use crate::accelerator::{self, Recognized};
use crate::billing::{Charge, ChargeKey};

use super::noise::NoisyTags;

/// Where a charge belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyed {
    pub charge_key_id: Uuid,
    /// The same key without its machine and tags: those are what keys are many by.
    pub plain_key_id: Uuid,
    /// Accelerators that one unit of the key's quantity pays for; `None` where it bears none.
    pub accelerator: Option<Recognized>,
    /// The tags that stay with the charge; `None` where there are none.
    pub tag_set_id: Option<Uuid>,
    /// Whether the key was not met before, as far as that is remembered.
    pub is_new: bool,
}

/// Derives keys. Remembers what follows from a key without its machine, and the ids of those with one, so that it is found out
/// once per key.
pub struct Keyer {
    noisy: NoisyTags,
    /// By a hash that takes a tenth of the time of the one that makes ids.
    known: FxHashMap<u128, OfBase>,
    /// The ids of keys that bear accelerators, likewise.
    on_machines: FxHashMap<u128, u128>,
    /// Of that hash: nobody is known to write two keys that it takes for one without knowing it.
    seed: u64,
    canonical: Vec<u8>,
}

/// A key without its machine, and what follows from it.
#[derive(Clone, Copy)]
struct OfBase {
    base: u128,
    accelerator: Option<Recognized>,
    plain_key_id: Uuid,
}

/// More than this many remembered keys are forgotten and found out again, to bound memory.
/// As many have room in a map of 2²⁰ places.
const MAX_REMEMBERED: usize = (1 << 20) / 8 * 7;

impl Keyer {
    pub fn new(noisy: NoisyTags) -> Self {
        Self {
            noisy,
            known: FxHashMap::default(),
            on_machines: FxHashMap::default(),
            seed: rand::random(),
            canonical: Vec::with_capacity(1024),
        }
    }

    /// The key of a charge.
    pub fn key(&mut self, charge: &Charge) -> Keyed {
        let (OfBase { base, accelerator, plain_key_id }, is_new_base) = self.of_base(charge);
        let (id, is_new) = match accelerator {
            Some(_) => self.with_machine(base, charge),
            None => (base, is_new_base),
        };
        self.canonical.clear();
        write_tags(self.noisy.noisy(&charge.tags), &mut self.canonical);
        let tag_set_id = (!self.canonical.is_empty()).then(|| Uuid::from_u128(hash(&self.canonical)));
        Keyed { charge_key_id: Uuid::from_u128(id), plain_key_id, accelerator, tag_set_id, is_new }
    }

    /// What follows from a key without its machine, and whether it is new.
    fn of_base(&mut self, charge: &Charge) -> (OfBase, bool) {
        self.write_base(charge);
        let written = self.quick_hash();
        if let Some(known) = self.known.get(&written) {
            return (*known, false);
        }
        let base = hash(&self.canonical);
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        let plain_key_id = Uuid::from_u128(hash(&self.canonical));
        let of_base = OfBase { base, accelerator: accelerator::recognize(&charge.key), plain_key_id };
        remember(&mut self.known, written, of_base);
        (of_base, true)
    }

    /// The id of a key that bears accelerators, and whether it is new. Where no machine is named, that of others may be known.
    fn with_machine(&mut self, base: u128, charge: &Charge) -> (u128, bool) {
        self.write_on_machine(base, charge);
        let written = self.quick_hash();
        if let Some(known) = self.on_machines.get(&written) {
            return (*known, false);
        }
        let id = if charge.resource_id.is_empty() { base } else { hash(&self.canonical) };
        remember(&mut self.on_machines, written, id);
        (id, true)
    }

    fn quick_hash(&self) -> u128 {
        XxHash3_128::oneshot_with_seed(self.seed, &self.canonical)
    }

    /// The id of a charge's key under a catalog that recognizes it otherwise: with its machine where it now has none, or
    /// without it.
    pub fn other_id(&mut self, charge: &Charge, keyed: &Keyed) -> Uuid {
        self.write_base(charge);
        let base = hash(&self.canonical);
        let is_base = keyed.charge_key_id.as_u128() == base;
        if is_base && !charge.resource_id.is_empty() {
            self.write_on_machine(base, charge);
            return Uuid::from_u128(hash(&self.canonical));
        }
        Uuid::from_u128(base)
    }

    /// Writes the key without its machine.
    fn write_base(&mut self, charge: &Charge) {
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        write_tags(self.noisy.quiet(&charge.tags), &mut self.canonical);
    }

    fn write_on_machine(&mut self, base: u128, charge: &Charge) {
        self.canonical.clear();
        self.canonical.extend_from_slice(&base.to_be_bytes());
        write_text(&charge.resource_id, &mut self.canonical);
    }

    pub fn noisy_tags(&self) -> &NoisyTags {
        &self.noisy
    }
}

fn remember<V>(known: &mut FxHashMap<u128, V>, written: u128, value: V) {
    if known.len() >= MAX_REMEMBERED {
        known.clear();
    }
    known.insert(written, value);
}

/// Every field of the key, each behind its length, so that no two keys share a canonical form.
fn write_key(key: &ChargeKey, out: &mut Vec<u8>) {
    let ChargeKey {
        provider,
        billing_account,
        sub_account,
        service,
        service_category,
        sku,
        region,
        instance_type,
        meter,
        stated_accelerators,
        category,
        is_correction,
        pricing,
        commitment_discount_id,
        is_unused_commitment,
        unit,
        currency,
    } = key;
    for text in [
        provider,
        billing_account,
        sub_account,
        service,
        service_category,
        sku,
        region,
        instance_type,
        meter,
        stated_accelerators,
        commitment_discount_id,
        unit,
        currency,
    ] {
        write_text(text, out);
    }
    out.extend_from_slice(&[*category as u8, *pricing as u8, u8::from(*is_correction)]);
    // Keys from before this was part of them keep their numbers.
    if *is_unused_commitment {
        out.push(1);
    }
}

fn write_tags<'a>(tags: impl Iterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    for (name, value) in tags {
        write_text(name, out);
        write_text(value, out);
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn hash(bytes: &[u8]) -> u128 {
    let digest = blake3::hash(bytes);
    let mut half = [0; 16];
    half.copy_from_slice(&digest.as_bytes()[..16]);
    u128::from_be_bytes(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_under_another_catalog_has_its_machine_or_has_not() {
        let mut keyer = Keyer::new(NoisyTags::exactly(Vec::new()));
        let mut charge = Charge { resource_id: "node-1".to_owned(), ..Charge::default() };
        let without = keyer.key(&charge);
        assert_eq!(without.accelerator, None);
        let with = keyer.other_id(&charge, &without);
        assert_ne!(with, without.charge_key_id);
        let recognized = Keyed { charge_key_id: with, ..without };
        assert_eq!(keyer.other_id(&charge, &recognized), without.charge_key_id);
        charge.resource_id.clear();
        assert_eq!(keyer.other_id(&charge, &without), without.charge_key_id);
    }

    #[test]
    fn each_key_is_new_once_with_a_machine_and_without() {
        let mut keyer = Keyer::new(NoisyTags::exactly(Vec::new()));
        for (instance_type, resource, is_new) in [
            ("p5.48xlarge", "i-1", true),
            ("p5.48xlarge", "", true),
            ("p5.48xlarge", "i-2", true),
            ("p5.48xlarge", "i-1", false),
            ("p5.48xlarge", "", false),
            // Its machine is not in the key.
            ("m5.large", "i-3", true),
            ("m5.large", "", false),
        ] {
            let key = ChargeKey {
                provider: "AWS".to_owned(),
                instance_type: instance_type.to_owned(),
                unit: "Hrs".to_owned(),
                ..ChargeKey::default()
            };
            let charge = Charge { key, resource_id: resource.to_owned(), ..Charge::default() };
            assert_eq!(keyer.key(&charge).is_new, is_new, "{instance_type} {resource}");
        }
    }

    #[test]
    fn a_key_is_the_same_whatever_came_before() {
        let charge = |name: usize| {
            let meter = format!("BoxUsage:{name}");
            let mut charge = Charge { key: ChargeKey { meter, ..ChargeKey::default() }, ..Charge::default() };
            charge.tags.set("team", if name.is_multiple_of(2) { "vision" } else { "speech" });
            charge
        };
        let keyer = || Keyer::new(NoisyTags::exactly(Vec::new()));
        let mut long = keyer();
        for name in (0..1000).chain(0..100) {
            let key = long.key(&charge(name));
            if name < 100 {
                let of_another = Keyed { is_new: key.is_new, ..keyer().key(&charge(name)) };
                assert_eq!(key, of_another, "{name}");
            }
        }
    }
}
