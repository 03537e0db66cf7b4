//! Memory for looking up text by its meaning.
//!
//! - by a rule of thumb (Qdrant): N × D × B × 1.5, in bytes
//! - with its graph counted (HNSW, as ScyllaDB documents it): N × (D × B + 16 × m) × 1.2
//! - a month = GB × price of a GB-hour × 730
//!
//! N vectors of D numbers of B bytes, each with m neighbors.

use serde::{Deserialize, Serialize};

use super::check::{self, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, count, decimal, product};

/// What is held in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vectors {
    /// N. 1,000,000.
    pub vectors: u64,
    /// D. 1,536: of a widespread model of embeddings.
    pub dimensions: u32,
    pub numbers: Numbers,
    pub rule: Rule,
    /// Money for a GB of memory and hour. 0.004237: the default of OpenCost.
    pub price: Decimal,
    /// Money for a month of a service that does the same. None: none is compared with.
    pub managed: Option<Decimal>,
}

/// What a vector's numbers are kept in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    #[default]
    Fp32,
    Fp16,
    Int8,
    /// A bit each.
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Half as much again as the numbers.
    Half,
    /// m, and a fifth besides. 16 is a common m.
    Graph { neighbors: u32 },
}

impl Default for Rule {
    fn default() -> Self {
        Self::Graph { neighbors: 16 }
    }
}

impl Default for Vectors {
    fn default() -> Self {
        Self {
            vectors: 1_000_000,
            dimensions: 1536,
            numbers: Numbers::default(),
            rule: Rule::default(),
            price: decimal(4237, 6),
            managed: None,
        }
    }
}

/// What it takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VectorsCost {
    pub memory: Figure,
    pub per_month: Figure,
    /// Money a month that the service costs more, or less where negative. None without one.
    pub saved: Option<Figure>,
}

impl Numbers {
    /// B.
    pub fn bytes(self) -> Decimal {
        match self {
            Self::Fp32 => 4.into(),
            Self::Fp16 => 2.into(),
            Self::Int8 => 1.into(),
            Self::Binary => decimal(125, 3),
        }
    }
}

impl Vectors {
    /// What it takes.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<VectorsCost, Refused> {
        // Prices that are odd are shown where it is known what a dollar is worth.
        check::vectors(self).warnings_or_refused()?;
        let number = |name, value| term(name, value, Unit::Number);
        let vectors = Decimal::from(self.vectors as i64);
        let size = product(&[count(self.dimensions), self.numbers.bytes()]);
        let mut terms = vec![
            number("vectors", vectors),
            number("numbers of each", count(self.dimensions)),
            term("bytes of a number", self.numbers.bytes(), Unit::Bytes),
        ];
        let (bytes, formula) = match self.rule {
            Rule::Half => (
                product(&[vectors, size, decimal(15, 1)]),
                "vectors × numbers of each × bytes of a number × 1.5",
            ),
            Rule::Graph { neighbors } => {
                terms.push(number("neighbors", count(neighbors)));
                let linked = size + count(neighbors).times(16);
                (
                    product(&[vectors, linked, decimal(12, 1)]),
                    "vectors × (numbers of each × bytes of a number + 16 × neighbors) × 1.2",
                )
            }
        };
        let gigabytes = product(&[bytes, Decimal::new(1, 9)]);
        let monthly = product(&[gigabytes, self.price, HOURS_PER_MONTH.into()]);
        Ok(VectorsCost {
            memory: figure("Memory", Some(gigabytes), Unit::Gigabytes, formula, terms),
            per_month: figure(
                "Memory, a month",
                Some(monthly),
                Unit::MoneyPerMonth,
                "GB × price × 730",
                vec![
                    term("GB", gigabytes, Unit::Gigabytes),
                    term("price", self.price, Unit::MoneyPerGigabyteHour),
                ],
            ),
            saved: self.managed.map(|managed| {
                figure(
                    "Less than the service",
                    Some(managed - monthly),
                    Unit::MoneyPerMonth,
                    "service − memory",
                    vec![
                        term("service", managed, Unit::MoneyPerMonth),
                        term("memory", monthly, Unit::MoneyPerMonth),
                    ],
                )
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gigabytes(vectors: &Vectors) -> Decimal {
        vectors.cost().unwrap().memory.value.unwrap()
    }

    #[test]
    fn a_million_vectors_take_what_the_rules_say() {
        let half = Vectors { rule: Rule::Half, ..Vectors::default() };
        assert_eq!(gigabytes(&half), decimal(9216, 3));
        assert_eq!(gigabytes(&Vectors::default()), decimal(768, 2));
        assert_eq!(half.cost().unwrap().per_month.value.unwrap().round(2), decimal(2851, 2));
        assert_eq!(gigabytes(&Vectors { numbers: Numbers::Binary, ..half }), decimal(288, 3));
    }

    #[test]
    fn a_service_costs_more_or_less() {
        let half = Vectors { rule: Rule::Half, managed: Some(70.into()), ..Vectors::default() };
        assert_eq!(half.cost().unwrap().saved.unwrap().value.unwrap().round(2), decimal(4149, 2));
        assert_eq!(Vectors::default().cost().unwrap().saved, None);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (field, it) in [
            ("dimensions", Vectors { dimensions: 0, ..Vectors::default() }),
            ("price", Vectors { price: (-1).into(), ..Vectors::default() }),
            ("rule.neighbors", Vectors { rule: Rule::Graph { neighbors: 10_000 }, ..Vectors::default() }),
            ("vectors", Vectors { vectors: u64::MAX, ..Vectors::default() }),
        ] {
            assert_eq!(it.cost().unwrap_err().0[0].field, field);
        }
    }

    proptest! {
        #[test]
        fn twice_the_vectors_take_twice_the_memory(vectors in 0u64..1_000_000_000, dimensions in 1u32..10_000) {
            let it = Vectors { vectors, dimensions, ..Vectors::default() };
            let twice = Vectors { vectors: vectors * 2, ..it.clone() };
            prop_assert_eq!(gigabytes(&it).times(2), gigabytes(&twice));
            let smaller = Vectors { numbers: Numbers::Int8, ..it.clone() };
            prop_assert!(gigabytes(&smaller) <= gigabytes(&it));
        }
    }
}
