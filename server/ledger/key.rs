//! Charge keys: many rows, few distinct combinations.
//!
//! The id of a key is a 128-bit hash of its canonical form, so neither a sequence nor a look-up stands
//! in the way of loading and two imports agree without asking each other. What varies too much for the
//! key stays with the charge: the resource, unless the key bears accelerators, and noisy tags.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use uuid::Uuid;

use crate::accelerator::{Catalog, Recognition, Recognized, Unrecognized};
use crate::billing::{Charge, ChargeKey};

use super::noise::NoisyTags;

/// The key of a charge, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyed {
    pub charge_key_id: Uuid,
    /// The same key without its machine and tags: those are what keys are many by.
    pub plain_key_id: Uuid,
    /// Accelerators that one unit of the key's quantity pays for; `None` where it bears none.
    pub accelerator: Option<Recognized>,
    /// What is not known of it, where it looks like an accelerator.
    pub unrecognized: Option<Unrecognized>,
    /// The tags that stay with the charge; `None` where there are none.
    pub tag_set_id: Option<Uuid>,
}

/// Derives keys.
pub struct Keyer {
    catalog: Arc<Catalog>,
    noisy: NoisyTags,
    /// What plain keys bear. These are few, and recognizing takes longer than all else here.
    accelerators: FxHashMap<Uuid, Recognition>,
    canonical: Vec<u8>,
}

/// Plain keys whose accelerators are remembered; beyond, they are recognized again.
const MAX_REMEMBERED: usize = 100_000;

impl Keyer {
    pub fn new(catalog: Arc<Catalog>, noisy: NoisyTags) -> Self {
        Self { catalog, noisy, accelerators: FxHashMap::default(), canonical: Vec::with_capacity(1024) }
    }

    /// The key of a charge.
    pub fn key(&mut self, charge: &Charge) -> Keyed {
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        let plain_key_id = hash(&self.canonical);
        let base = self.with_tags(charge);
        if self.accelerators.len() >= MAX_REMEMBERED {
            self.accelerators.clear();
        }
        let recognize = || self.catalog.recognition(&charge.key);
        let Recognition { recognized: accelerator, unrecognized } =
            *self.accelerators.entry(plain_key_id).or_insert_with(recognize);
        let charge_key_id = if accelerator.is_some() { self.on_machine(base, charge) } else { base };
        self.canonical.clear();
        write_tags(self.noisy.noisy(&charge.tags), &mut self.canonical);
        let tag_set_id = (!self.canonical.is_empty()).then(|| hash(&self.canonical));
        Keyed { charge_key_id, plain_key_id, accelerator, unrecognized, tag_set_id }
    }

    /// The id of a charge's key under a catalog that recognizes it otherwise: with its machine where it now has none, or
    /// without it.
    pub fn other_id(&mut self, charge: &Charge, keyed: &Keyed) -> Uuid {
        self.canonical.clear();
        write_key(&charge.key, &mut self.canonical);
        let base = self.with_tags(charge);
        if keyed.charge_key_id == base { self.on_machine(base, charge) } else { base }
    }

    /// The id of the key that is written, with the tags of a charge and without its machine.
    fn with_tags(&mut self, charge: &Charge) -> Uuid {
        write_tags(self.noisy.quiet(&charge.tags), &mut self.canonical);
        hash(&self.canonical)
    }

    /// The id of a key with its machine, where the charge names one.
    fn on_machine(&mut self, base: Uuid, charge: &Charge) -> Uuid {
        if charge.resource_id.is_empty() {
            return base;
        }
        self.canonical.clear();
        self.canonical.extend_from_slice(base.as_bytes());
        write_text(&charge.resource_id, &mut self.canonical);
        hash(&self.canonical)
    }

    /// What recognizes accelerators.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
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

fn hash(bytes: &[u8]) -> Uuid {
    let digest = blake3::hash(bytes);
    let mut half = [0; 16];
    half.copy_from_slice(&digest.as_bytes()[..16]);
    Uuid::from_bytes(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_under_another_catalog_has_its_machine_or_has_not() {
        let mut keyer = Keyer::new(Arc::default(), NoisyTags::exactly(Vec::new()));
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
    fn a_key_is_the_same_whatever_came_before() {
        let charge = |name: usize| {
            let meter = format!("BoxUsage:{name}");
            let mut charge = Charge { key: ChargeKey { meter, ..ChargeKey::default() }, ..Charge::default() };
            charge.tags.set("team", if name.is_multiple_of(2) { "vision" } else { "speech" });
            charge
        };
        let keyer = || Keyer::new(Arc::default(), NoisyTags::exactly(Vec::new()));
        let mut long = keyer();
        for name in (0..1000).chain(0..100) {
            let key = long.key(&charge(name));
            if name < 100 {
                assert_eq!(key, keyer().key(&charge(name)), "{name}");
            }
        }
    }
}
