//! What models can do, by what their vendors say: operations a second, all of them *dense*, and memory bandwidth.
//!
//! Vendors print twice as many operations for matrices of which half is zero ("with sparsity"); those are not here, and
//! never to be compared with these. What is not known is none. The file is apart from those that recognition reads, so a
//! line here recognizes nothing anew.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::money::Decimal;

const SPECIFICATIONS: &str = include_str!("catalog/specifications.csv");

/// What a model can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    /// Its id in the catalog.
    pub model: &'static str,
    /// 10^12 operations a second with numbers of 16 bits, by the tensor cores.
    pub half: Option<Decimal>,
    pub fp8: Option<Decimal>,
    pub fp4: Option<Decimal>,
    pub int8: Option<Decimal>,
    /// 10^9 bytes a second.
    pub bandwidth: Option<Decimal>,
    /// CUDA's; none of what is not NVIDIA's.
    pub compute_capability: Option<Decimal>,
    pub source: &'static str,
}

static BY_MODEL: LazyLock<HashMap<&'static str, Specification>> = LazyLock::new(|| {
    SPECIFICATIONS.lines().skip(1).filter_map(read).map(|found| (found.model, found)).collect()
});

/// That of a model, by its id.
pub fn specification(model: &str) -> Option<&'static Specification> {
    BY_MODEL.get(model)
}

fn read(line: &'static str) -> Option<Specification> {
    let cells: Vec<&'static str> = line.split(',').collect();
    let [model, half, fp8, fp4, int8, bandwidth, capability, source] = *cells else { return None };
    let [half, fp8, fp4, int8, bandwidth, compute_capability] =
        [half, fp8, fp4, int8, bandwidth, capability].map(|cell| cell.parse().ok());
    Some(Specification { model, half, fp8, fp4, int8, bandwidth, compute_capability, source })
}

#[cfg(test)]
mod tests {
    use super::super::model;
    use super::*;

    #[test]
    fn every_line_is_of_a_model_and_says_something_and_from_where() {
        assert_eq!(BY_MODEL.len(), SPECIFICATIONS.lines().count() - 1);
        for found in BY_MODEL.values() {
            assert!(model(found.model).is_some_and(|model| model.id == found.model), "{}", found.model);
            assert!(found.source.len() > 4);
            let described =
                [found.half, found.fp8, found.fp4, found.int8, found.bandwidth, found.compute_capability];
            assert!(described.iter().flatten().all(|it| *it > Decimal::ZERO), "{found:?}");
            assert!(described.iter().any(Option::is_some), "{found:?}");
        }
    }

    #[test]
    fn nothing_is_told_with_sparsity() {
        let of = |id| specification(id).unwrap();
        assert_eq!(of("nvidia-h100-sxm").fp8, Some(1979.into()));
        assert_eq!(of("nvidia-b200").fp8, Some(4500.into()));
        assert_eq!((of("nvidia-a100-sxm-80").fp8, of("nvidia-a100-sxm-80").int8), (None, Some(624.into())));
        // Half as many bits, at most about twice as many operations; of GeForce cards, whose sums are in fewer bits,
        // four times as many.
        for found in BY_MODEL.values().filter(|it| !it.model.contains("rtx")) {
            if let Some((fp8, half)) = found.fp8.zip(found.half) {
                assert!(fp8 <= half.times(2) + half.divide(10.into(), 3).unwrap(), "{found:?}");
            }
        }
        assert_eq!(specification("unknown"), None);
    }
}
