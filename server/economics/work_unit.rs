//! What a unit of work costs, whichever accelerator does it.
//!
//! - money for a unit = price of a useful hour ÷ units in an hour
//! - where nobody has measured the work itself, operations a second stand for it: money for an hour at 10^15 of them =
//!   price ÷ (TFLOPS ÷ 1,000). For decoding, memory bandwidth does
//!
//! What stands for work is, from the best to the least: a benchmark of one's own, a published one, a measured ceiling of
//! matrix multiplication, the vendor's dense operations, memory bandwidth. Only the same is compared with the same:
//! operations *with sparsity* are twice the dense ones on paper, so the two are never ranked together. By the hour and by
//! the unit offers may come in another order, and the answer shows both.

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::enum_words::words;
use crate::money::Decimal;
use crate::money::arithmetic::quotient;

/// What an hour of something does, and how one knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    /// Units in an hour, TFLOPS or GB a second.
    pub value: Decimal,
    pub basis: Basis,
}

words! {
    /// How one knows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Basis: name {
        /// Units of work in an hour, measured with one's own work.
        OwnBenchmark = "own benchmark";
        /// Units of work in an hour, by a benchmark that is published.
        PublishedBenchmark = "published benchmark";
        /// TFLOPS that matrix multiplication was measured to reach.
        MeasuredOperations = "measured operations";
        /// TFLOPS of the data sheet, of full matrices.
        DenseOperations = "dense operations";
        /// TFLOPS of the data sheet, of matrices that are half empty.
        SparseOperations = "operations with sparsity";
        /// GB a second of the data sheet: what decoding is bound by.
        Bandwidth = "memory bandwidth";
    }
}

/// An accelerator to be had at a price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub name: String,
    /// Money for a useful hour of it.
    pub price: Decimal,
    pub performance: Performance,
}

/// Offers in order of what a unit of work costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// The cheapest by the unit first.
    pub by_unit: Vec<Ranked>,
    /// Names, the cheapest by the hour first.
    pub by_hour: Vec<String>,
    /// Whether the two orders differ: who chooses by the hour chooses wrong.
    pub differs: bool,
    pub warnings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    pub name: String,
    pub per_unit: Figure,
}

impl Basis {
    fn unit(self) -> Unit {
        match self {
            Self::OwnBenchmark | Self::PublishedBenchmark => Unit::Number,
            Self::MeasuredOperations | Self::DenseOperations | Self::SparseOperations => Unit::Teraflops,
            Self::Bandwidth => Unit::GigabytesPerSecond,
        }
    }

    fn is_operations(self) -> bool {
        self.unit() == Unit::Teraflops
    }
}

impl Offer {
    /// What a unit costs: for operations an hour at 10^15 of them a second, for bandwidth one at 10^12 bytes. Undefined
    /// where nothing is done.
    pub fn per_unit(&self) -> Figure {
        let Performance { value, basis } = self.performance;
        let terms =
            vec![term("price", self.price, Unit::MoneyPerHour), term(basis.name(), value, basis.unit())];
        let (unit, formula, value) = match basis {
            Basis::OwnBenchmark | Basis::PublishedBenchmark => {
                (Unit::MoneyPerUnitOfWork, "price ÷ units in an hour", quotient(self.price, value))
            }
            _ if basis.is_operations() => (
                Unit::MoneyPerPetaflopHour,
                "price ÷ (TFLOPS ÷ 1,000)",
                quotient(self.price.times(1000), value),
            ),
            _ => (
                Unit::MoneyPerUnitOfWork,
                "price ÷ (GB a second ÷ 1,000)",
                quotient(self.price.times(1000), value),
            ),
        };
        figure("A unit of work", value, unit, formula, terms)
    }
}

/// Puts offers in order of what a unit costs.
///
/// # Errors
/// What cannot be computed with, in words: also offers whose work is not measured by the same.
pub fn rank(offers: &[Offer]) -> Result<Ranking, Refused> {
    let warnings = check::offers(offers).warnings_or_refused()?;
    let mut by_unit: Vec<Ranked> =
        offers.iter().map(|it| Ranked { name: it.name.clone(), per_unit: it.per_unit() }).collect();
    by_unit.sort_by_key(|ranked| ranked.per_unit.value);
    let mut by_hour: Vec<&Offer> = offers.iter().collect();
    by_hour.sort_by_key(|offer| offer.price);
    let by_hour: Vec<String> = by_hour.into_iter().map(|offer| offer.name.clone()).collect();
    let differs = by_unit.iter().map(|it| &it.name).ne(by_hour.iter());
    Ok(Ranking { by_unit, by_hour, differs, warnings })
}

/// How many times as much one does as the other, by the same measure.
///
/// # Errors
/// Where they are not measured by the same, or one does nothing.
pub fn speedup(of: Performance, over: Performance) -> Result<Figure, Refused> {
    check::performances(of, over).warnings_or_refused()?;
    Ok(figure(
        "Times as fast",
        quotient(of.value, over.value),
        Unit::Number,
        "of ÷ over",
        vec![term("of", of.value, of.basis.unit()), term("over", over.value, over.basis.unit())],
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    fn performance(value: &str, basis: Basis) -> Performance {
        Performance { value: number(value), basis }
    }

    fn offer(name: &str, price: &str, value: &str, basis: Basis) -> Offer {
        Offer { name: name.into(), price: number(price), performance: performance(value, basis) }
    }

    #[test]
    fn the_cheapest_hour_is_not_the_cheapest_work() {
        let measured = Basis::MeasuredOperations;
        let offers = [
            offer("A100", "2.74470525", "271.2", measured),
            offer("H100", "6.88", "794.5", measured),
            offer("B200", "14.2416", "1745", measured),
        ];
        let ranking = rank(&offers).unwrap();
        let described: Vec<(&str, String)> = ranking
            .by_unit
            .iter()
            .map(|it| (it.name.as_str(), it.per_unit.value.unwrap().round(4).to_string()))
            .collect();
        let expected = [("B200", "8.1614"), ("H100", "8.6595"), ("A100", "10.1206")];
        assert_eq!(described, expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(ranking.by_hour, ["A100", "H100", "B200"]);
        assert!(ranking.differs);
        assert!(!rank(&offers[..1]).unwrap().differs);
    }

    #[test]
    fn sparse_is_never_ranked_with_dense() {
        let dense = offer("H100", "6.88", "1979", Basis::DenseOperations);
        let sparse = offer("B200", "14.24", "9000", Basis::SparseOperations);
        let refused = rank(&[dense.clone(), sparse.clone()]).unwrap_err();
        assert_eq!(refused.0[0].field, "offers.1.performance.basis");
        assert!(refused.to_string().contains("with sparsity"), "{refused}");
        let bandwidth = offer("A100", "2", "2039", Basis::Bandwidth);
        assert!(rank(&[dense.clone(), bandwidth]).unwrap_err().to_string().contains("dense operations"));
        assert!(speedup(sparse.performance, dense.performance).is_err());
        assert_eq!(rank(&[sparse]).unwrap().warnings[0].field, "offers.0.performance.basis");
    }

    #[test]
    fn one_is_so_many_times_as_fast_as_another() {
        let (fast, slow) = (performance("3350", Basis::Bandwidth), performance("2039", Basis::Bandwidth));
        assert_eq!(speedup(fast, slow).unwrap().value.unwrap().round(4), number("1.6430"));
        let nothing = performance("0", Basis::Bandwidth);
        assert!(speedup(fast, nothing).is_err());
        assert_eq!(offer("x", "1", "0", Basis::OwnBenchmark).per_unit().value, None);
    }

    #[test]
    fn benchmarks_of_ones_own_are_units_of_work() {
        let per_unit = offer("x", "6", "1500", Basis::OwnBenchmark).per_unit();
        assert_eq!((per_unit.value, per_unit.unit), (Some(number("0.004")), Unit::MoneyPerUnitOfWork));
        let bandwidth = offer("x", "6", "3000", Basis::Bandwidth).per_unit();
        assert_eq!(bandwidth.value, Some(2.into()));
        assert!(rank(&[]).unwrap().by_unit.is_empty());
    }

    proptest! {
        #[test]
        fn twice_the_price_for_twice_the_work_is_the_same(price in 1i64..100_000, value in 1i64..100_000, factor in 1i64..100) {
            let one = Offer { name: "x".into(), price: price.into(), performance: Performance { value: value.into(), basis: Basis::DenseOperations } };
            let many = Offer { price: one.price.times(factor), performance: Performance { value: one.performance.value.times(factor), ..one.performance }, ..one.clone() };
            prop_assert_eq!(one.per_unit().value, many.per_unit().value);
        }
    }
}
