//! Whether a model fits the memory of so many GPUs, and how much it leaves for requests.
//!
//! - weights = parameters × bits ÷ 8, in GB of 10^9 bytes where parameters are in 10^9
//! - keys and values of a token = 2 × layers × heads of keys and values × size of a head × bytes of a number
//! - it fits where weights + activations + tokens × their bytes are no more than GPUs × usable GB
//! - what a GPU can compute with: 8-bit floats from compute capability 8.9 on, 4-bit floats from 10.0 (NVIDIA). An A100
//!   has 8.0: it computes with 8-bit whole numbers, and not with 8-bit floats
//!
//! Drivers report less than is marketed: 180 GB of a B200, not 192. What telemetry says is to be preferred.

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::accelerator;
use crate::enum_words::words;
use crate::money::Decimal;
use crate::money::arithmetic::{ceiling, count, decimal, floor, product, quotient};

words! {
    /// How a number is written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Precision: name {
        Fp32 = "FP32";
        /// FP16 or BF16.
        Half = "FP16";
        Fp8 = "FP8";
        Int8 = "INT8";
        Fp4 = "FP4";
        /// Weights alone; they are computed with as halves.
        Int4 = "INT4";
    }
}

/// Whether an accelerator computes with such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    Yes,
    No,
    Unknown,
}

/// A language model, and what it is to run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fit {
    /// 10^9. 70, of a Llama.
    pub parameters: Decimal,
    /// Of the weights. Half.
    pub weights: Precision,
    /// Of keys and values. Half.
    pub cache: Precision,
    /// 80, of Llama 70B (its configuration).
    pub layers: u32,
    /// 8, of Llama 70B.
    pub key_value_heads: u32,
    /// 128, of Llama 70B.
    pub head_size: u32,
    /// GB besides: activations, buffers. 0.
    pub activations: Decimal,
    /// Tokens that are held at once: users × what each has said and heard. 0.
    pub tokens: u64,
    /// The id of the GPU in the catalog of accelerators.
    pub accelerator: String,
    /// GB of 10^9 bytes of one GPU. What the catalog says of it unless entered.
    pub usable: Option<Decimal>,
    /// GPUs over which it is divided.
    pub gpus: u32,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            parameters: 70.into(),
            weights: Precision::Half,
            cache: Precision::Half,
            layers: 80,
            key_value_heads: 8,
            head_size: 128,
            activations: Decimal::ZERO,
            tokens: 0,
            accelerator: "nvidia-h100-sxm".to_owned(),
            usable: None,
            gpus: 1,
        }
    }
}

/// What it takes, and whether that is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitted {
    pub weights: Figure,
    pub bytes_per_token: Figure,
    /// GB of all GPUs.
    pub memory: Figure,
    /// GB that are left for tokens. None where the weights alone do not fit.
    pub room: Figure,
    /// How many are held at most. None where the weights alone do not fit.
    pub tokens: Figure,
    /// Of the memory, what weights, activations and the tokens asked for leave idle. None where they do not fit.
    pub idle: Figure,
    pub fits: bool,
    /// The fewest GPUs that hold all that was asked for.
    pub least_gpus: Figure,
    pub warnings: Vec<Finding>,
}

impl Precision {
    pub fn bits(self) -> u32 {
        match self {
            Self::Fp32 => 32,
            Self::Half => 16,
            Self::Fp8 | Self::Int8 => 8,
            Self::Fp4 | Self::Int4 => 4,
        }
    }

    /// Whether an accelerator of the catalog computes with it: by its compute capability, and where it has none, by what
    /// its vendor says it does in a second.
    pub fn on(self, id: &str) -> Support {
        let Some(known) = accelerator::specification(id) else { return Support::Unknown };
        let (least, rate) = match self {
            Self::Fp32 | Self::Half | Self::Int8 | Self::Int4 => return Support::Yes,
            Self::Fp8 => (decimal(89, 1), known.fp8),
            Self::Fp4 => (decimal(100, 1), known.fp4),
        };
        match (known.compute_capability, rate) {
            (Some(capability), _) if capability >= least => Support::Yes,
            (Some(_), _) => Support::No,
            (None, Some(_)) => Support::Yes,
            (None, None) => Support::Unknown,
        }
    }

    fn bytes(self) -> Decimal {
        decimal(i64::from(self.bits()) * 125, 3)
    }
}

impl Fit {
    /// GB of the weights.
    pub fn weights(&self) -> Decimal {
        product(&[self.parameters, self.weights.bytes()])
    }

    /// Of keys and values.
    pub fn bytes_per_token(&self) -> Decimal {
        let numbers = [self.layers, self.key_value_heads, self.head_size].map(count);
        product(&[2.into(), numbers[0], numbers[1], numbers[2], self.cache.bytes()])
    }

    /// GB of one GPU. None where nobody knows.
    pub fn usable(&self) -> Option<Decimal> {
        self.usable.or_else(|| Some(count(accelerator::model(&self.accelerator)?.memory_gb?)))
    }

    /// What it takes, and whether that is there.
    ///
    /// # Errors
    /// What cannot be computed with, in words: also weights in numbers that the GPU does not compute with.
    pub fn fit(&self) -> Result<Fitted, Refused> {
        let warnings = check::fit(self).warnings_or_refused()?;
        let (weights, bytes) = (self.weights(), self.bytes_per_token());
        let usable = self.usable().unwrap_or_default();
        let memory = product(&[usable, count(self.gpus)]);
        let asked = product(&[Decimal::from(self.tokens as i64), bytes, Decimal::new(1, 9)]);
        let need = weights + self.activations + asked;
        let room = memory - weights - self.activations;
        let fixed_fits = !room.is_negative();
        let held = fixed_fits.then(|| quotient(room.times(1_000_000_000), bytes)).flatten().map(floor);
        let fits = need <= memory;
        let gigabytes = |name, value| term(name, value, Unit::Gigabytes);
        let number = |name, value| term(name, value, Unit::Number);
        Ok(Fitted {
            weights: figure(
                "Weights",
                Some(weights),
                Unit::Gigabytes,
                "parameters × bits ÷ 8",
                vec![number("parameters, 10⁹", self.parameters), number("bits", count(self.weights.bits()))],
            ),
            bytes_per_token: figure(
                "Keys and values of a token",
                Some(bytes),
                Unit::Bytes,
                "2 × layers × heads × size of a head × bits ÷ 8",
                vec![
                    number("layers", count(self.layers)),
                    number("heads", count(self.key_value_heads)),
                    number("size of a head", count(self.head_size)),
                    number("bits", count(self.cache.bits())),
                ],
            ),
            memory: figure(
                "Memory",
                Some(memory),
                Unit::Gigabytes,
                "GPUs × usable",
                vec![number("GPUs", count(self.gpus)), gigabytes("usable", usable)],
            ),
            room: figure(
                "Room for tokens",
                fixed_fits.then_some(room),
                Unit::Gigabytes,
                "memory − weights − activations",
                vec![
                    gigabytes("memory", memory),
                    gigabytes("weights", weights),
                    gigabytes("activations", self.activations),
                ],
            ),
            tokens: figure(
                "Tokens at once",
                held,
                Unit::Tokens,
                "room ÷ bytes of a token, whole ones",
                vec![gigabytes("room", room), term("bytes of a token", bytes, Unit::Bytes)],
            ),
            idle: figure(
                "Memory that stays idle",
                if fits { quotient(memory - need, memory) } else { None },
                Unit::Share,
                "1 − needed ÷ memory",
                vec![gigabytes("needed", need), gigabytes("memory", memory)],
            ),
            fits,
            least_gpus: figure(
                "The fewest GPUs",
                quotient(need, usable).map(ceiling),
                Unit::Number,
                "needed ÷ usable, rounded up",
                vec![gigabytes("needed", need), gigabytes("usable", usable)],
            ),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests;
