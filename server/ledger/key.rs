//! Charge keys: many rows, few distinct combinations.
//!
//! The id of a key is a 128-bit hash of its canonical form, so neither a sequence nor a look-up stands
//! in the way of loading and two imports agree without asking each other. What varies too much for the
//! key stays with the charge: the resource, unless the key bears accelerators, and noisy tags.

use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};
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
}

/// Derives keys. Remembers what follows from a key without its machine, so that it is found out once per key.
pub struct Keyer {
    noisy: NoisyTags,
    known: FxHashMap<u128, OfBase>,
    /// Some of these by how they are written: to compare that takes a tenth of the time of its hash.
    written: Vec<(Vec<u8>, OfBase)>,
    canonical: Vec<u8>,
}

/// A key without its machine, and what follows from it.
#[derive(Clone, Copy, Default)]
struct OfBase {
    base: u128,
    accelerator: Option<Recognized>,
    plain_key_id: Uuid,
}

/// More than this many remembered keys are forgotten and recognized again, to bound memory.
const MAX_REMEMBERED: usize = 500_000;
/// Remembered as they are written, some hundred bytes each.
const WRITTEN: usize = 1 << 14;

impl Keyer {
    pub fn new(noisy: NoisyTags) -> Self {
        Self {
            noisy,
            known: FxHashMap::default(),
            written: vec![Default::default(); WRITTEN],
            canonical: Vec::with_capacity(1024),
        }
    }

    /// The key of a charge.
    pub fn key(&mut self, charge: &Charge) -> Keyed {
        let OfBase { base, accelerator, plain_key_id } = self.of_base(charge);
        let id = match accelerator {
            Some(_) if !charge.resource_id.is_empty() => self.on_machine(base, charge),
            _ => base,
        };
        self.canonical.clear();
        write_tags(self.noisy.noisy(&charge.tags), &mut self.canonical);
        let tag_set_id = (!self.canonical.is_empty()).then(|| Uuid::from_u128(hash(&self.canonical)));
        Keyed { charge_key_id: Uuid::from_u128(id), plain_key_id, accelerator, tag_set_id }
    }

    fn of_base(&mut self, charge: &Charge) -> OfBase {
        self.write_base(charge);
        let place = FxBuildHasher.hash_one(&self.canonical) as usize % WRITTEN;
        let (written, of_base) = &self.written[place];
        if *written == self.canonical {
            return *of_base;
        }
        let base = hash(&self.canonical);
        self.written[place].0.clone_from(&self.canonical);
        let of_base = match self.known.get(&base) {
            Some(known) => *known,
            None => self.recognize(base, charge),
        };
        self.written[place].1 = of_base;
        of_base
    }

    fn recognize(&mut self, base: u128, charge: &Charge) -> OfBase {
        if self.known.len() >= MAX_REMEMBERED {
            self.known.clear();
        }
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        let plain_key_id = Uuid::from_u128(hash(&self.canonical));
        let found = OfBase { base, accelerator: accelerator::recognize(&charge.key), plain_key_id };
        self.known.insert(base, found);
        found
    }

    /// The id of a charge's key under a catalog that recognizes it otherwise: with its machine where it now has none, or
    /// without it.
    pub fn other_id(&mut self, charge: &Charge, keyed: &Keyed) -> Uuid {
        self.write_base(charge);
        let base = hash(&self.canonical);
        let is_base = keyed.charge_key_id.as_u128() == base;
        let has_machine = !charge.resource_id.is_empty();
        Uuid::from_u128(if is_base && has_machine { self.on_machine(base, charge) } else { base })
    }

    /// Writes the key without its machine.
    fn write_base(&mut self, charge: &Charge) {
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        write_tags(self.noisy.quiet(&charge.tags), &mut self.canonical);
    }

    fn on_machine(&mut self, base: u128, charge: &Charge) -> u128 {
        self.canonical.clear();
        self.canonical.extend_from_slice(&base.to_be_bytes());
        write_text(&charge.resource_id, &mut self.canonical);
        hash(&self.canonical)
    }

    pub fn noisy_tags(&self) -> &NoisyTags {
        &self.noisy
    }
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

    /// Of more keys than it remembers as they are written, too.
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
        for name in (0..3 * WRITTEN).chain(0..100) {
            let key = long.key(&charge(name));
            if name < 100 {
                assert_eq!(key, keyer().key(&charge(name)), "{name}");
            }
        }
    }
}
