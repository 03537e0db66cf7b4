//! Sums in little room: nearly all fit into 64 bits, and a fleet has millions of them at once.

use super::sums::Sums;
use crate::money::Decimal;

/// A decimal that is added to. It has the value and the scale that adding [`Decimal`]s leads to.
#[derive(Clone, Debug)]
pub enum Amount {
    Narrow {
        mantissa: i64,
        scale: u8,
    },
    /// What has no room there.
    Wide(Box<Decimal>),
}

impl Amount {
    pub fn of(value: &Decimal) -> Self {
        match i64::try_from(value.mantissa()) {
            Ok(mantissa) => Self::Narrow { mantissa, scale: value.scale() },
            Err(_) => Self::Wide(Box::new(*value)),
        }
    }

    pub fn decimal(&self) -> Decimal {
        match self {
            Self::Narrow { mantissa, scale } => Decimal::new(i128::from(*mantissa), *scale),
            Self::Wide(value) => **value,
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Narrow { mantissa: 0, .. })
    }

    pub fn add(&mut self, other: &Self) {
        if let (Self::Narrow { mantissa, scale }, Self::Narrow { mantissa: more, scale: of_more }) =
            (&mut *self, other)
        {
            let finer = (*scale).max(*of_more);
            let sum = rescaled(*mantissa, finer - *scale)
                .zip(rescaled(*more, finer - *of_more))
                .and_then(|(a, b)| a.checked_add(b));
            if let Some(sum) = sum {
                (*mantissa, *scale) = (sum, finer);
                return;
            }
        }
        *self = Self::of(&(self.decimal() + other.decimal()));
    }

    /// Bytes that it takes beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        if matches!(self, Self::Wide(_)) { size_of::<Decimal>() } else { 0 }
    }
}

/// With so many places more.
fn rescaled(mantissa: i64, places: u8) -> Option<i64> {
    if places == 0 { Some(mantissa) } else { mantissa.checked_mul(10_i64.checked_pow(places.into())?) }
}

impl Default for Amount {
    fn default() -> Self {
        Self::Narrow { mantissa: 0, scale: 0 }
    }
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.decimal() == other.decimal()
    }
}

impl Eq for Amount {}

/// [`Sums`] in little room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    pub charges: i64,
    /// In the order of [`Sums::amounts`].
    pub amounts: [Amount; 5],
}

impl Amounts {
    pub fn of(sums: &Sums) -> Self {
        Self { charges: sums.charges, amounts: sums.amounts().each_ref().map(Amount::of) }
    }

    pub fn merge(&mut self, other: &Self) {
        self.charges += other.charges;
        self.amounts.iter_mut().zip(&other.amounts).for_each(|(amount, more)| amount.add(more));
    }

    pub fn metered_quantity(&self) -> &Amount {
        let [.., metered_quantity] = &self.amounts;
        metered_quantity
    }

    /// Bytes that they take beyond their own size.
    pub fn heap_bytes(&self) -> usize {
        self.amounts.iter().map(Amount::heap_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of at most 24 digits before the point, and many that do not fit into 64 bits.
    fn decimal() -> impl Strategy<Value = Decimal> {
        (any::<i128>(), 48u32..128, 0u8..=40)
            .prop_map(|(mantissa, shift, scale)| Decimal::new(mantissa >> shift, scale))
    }

    proptest! {
        #[test]
        fn they_add_up_as_decimals_do(values in prop::collection::vec(decimal(), 0..20)) {
            let mut sum = Amount::default();
            for value in &values {
                sum.add(&Amount::of(value));
            }
            let expected: Decimal = values.iter().copied().sum();
            let sum = sum.decimal();
            prop_assert_eq!((sum.mantissa(), sum.scale()), (expected.mantissa(), expected.scale()));
        }
    }

    #[test]
    fn they_take_a_third_of_the_room() {
        assert_eq!(size_of::<Amount>(), 16);
        assert!(size_of::<Amounts>() * 2 < size_of::<Sums>());
    }
}
