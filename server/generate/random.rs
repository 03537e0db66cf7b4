//! Randomness that is an argument: the same seed gives the same numbers, in every version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Draws from ChaCha8, whose stream is specified and does not change. Ranges are drawn here and not by
/// `rand`, whose sampling may change between its versions, and the files with it.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `n` - 1; 0 for `n` = 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        // The high half of the product: even enough for demonstration data, and never a loop.
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True `per_mille` times out of a thousand.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of `list`, which is not empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// The index of a weight, drawn in proportion.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        weights
            .iter()
            .position(|weight| {
                let is_here = at < *weight;
                at = at.saturating_sub(*weight);
                is_here
            })
            .unwrap_or(0)
    }
}
