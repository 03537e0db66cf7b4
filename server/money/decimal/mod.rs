//! The exact decimal: an integer of up to 76 digits and a scale.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use ethnum::{I256, U256};

/// Digits accepted before the point. With [`MAX_FRACTION`] this leaves twelve digits of headroom in
/// 256 bits: a trillion of the largest amounts still add up exactly.
const MAX_INTEGER: usize = 24;
/// Digits accepted after the point. The longest seen in a real export is 28.
const MAX_FRACTION: usize = 40;

/// Ten to this, and no higher, fits into 64 bits with a sign.
const FITS_64_BITS: u8 = 18;

/// An exact decimal number, `mantissa / 10^scale`. The scale is kept as written (`1.50` stays `1.50`);
/// comparison is by value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decimal {
    mantissa: I256,
    scale: u8,
}

/// Why a text is not a number we accept. The sentence completes "expected …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDecimalError {
    #[error("a decimal number such as 12.50 or 5e-06")]
    NotANumber,
    #[error("a number of at most {MAX_INTEGER} digits before and {MAX_FRACTION} after the point")]
    TooLong,
}

/// The exact answer has more than 76 digits. Nothing is rounded or cut instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the exact result has more digits than the 76 that an amount can hold")]
pub struct TooManyDigits;

impl Decimal {
    pub const ZERO: Self = Self { mantissa: I256::ZERO, scale: 0 };

    pub fn new(mantissa: i128, scale: u8) -> Self {
        Self { mantissa: I256::new(mantissa), scale }
    }

    pub fn from_parts(mantissa: I256, scale: u8) -> Self {
        Self { mantissa, scale }
    }

    pub fn mantissa(&self) -> I256 {
        self.mantissa
    }

    pub fn scale(&self) -> u8 {
        self.scale
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa == I256::ZERO
    }

    pub fn is_negative(&self) -> bool {
        self.mantissa < I256::ZERO
    }

    /// Whether it is the same with as many digits after the point: equal numbers may have others.
    pub fn is_written_as(&self, other: &Self) -> bool {
        (self.mantissa, self.scale) == (other.mantissa, other.scale)
    }

    #[must_use]
    pub fn abs(self) -> Self {
        if self.is_negative() { -self } else { self }
    }

    /// Reads a number as exports write it: optional sign, digits, point, exponent. No thousands
    /// separators, no currency signs, no spaces: a format that meets those strips them itself.
    ///
    /// # Errors
    /// [`ParseDecimalError`], whose text says what was expected.
    pub fn parse(text: &[u8]) -> Result<Self, ParseDecimalError> {
        let (negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let (digits, exponent) = split_exponent(unsigned)?;
        let mut small: u64 = 0;
        let mut wide = I256::ZERO;
        let mut in_small = 0usize;
        let mut significant = 0usize;
        let mut fraction: Option<usize> = None;
        let mut any = false;
        for &byte in digits {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    if let Some(places) = &mut fraction {
                        *places += 1;
                    }
                    if significant > 0 || byte != b'0' {
                        significant += 1;
                    }
                    if significant > MAX_INTEGER + MAX_FRACTION {
                        return Err(ParseDecimalError::TooLong);
                    }
                    small = small * 10 + u64::from(byte - b'0');
                    in_small += 1;
                    if in_small == 18 {
                        wide = wide * I256::from(10u64.pow(18)) + I256::from(small);
                        (small, in_small) = (0, 0);
                    }
                }
                b'.' if fraction.is_none() => fraction = Some(0),
                _ => return Err(ParseDecimalError::NotANumber),
            }
        }
        if !any {
            return Err(ParseDecimalError::NotANumber);
        }
        // u64 holds ten to the in_small, at most 10^17 here.
        let magnitude = if wide == I256::ZERO {
            I256::from(small)
        } else {
            wide * I256::from(10u64.pow(in_small as u32)) + I256::from(small)
        };
        let scale = fraction.unwrap_or(0) as i64 - exponent;
        let value = if magnitude == I256::ZERO {
            Self { mantissa: I256::ZERO, scale: scale.clamp(0, MAX_FRACTION as i64) as u8 }
        } else {
            Self::with_exponent(magnitude, significant, scale)?
        };
        Ok(if negative { -value } else { value })
    }

    fn with_exponent(magnitude: I256, digits: usize, scale: i64) -> Result<Self, ParseDecimalError> {
        if scale > MAX_FRACTION as i64 || digits as i64 - scale > MAX_INTEGER as i64 {
            return Err(ParseDecimalError::TooLong);
        }
        Ok(match u8::try_from(scale) {
            Ok(scale) => Self { mantissa: magnitude, scale },
            Err(_) => Self { mantissa: magnitude * power_of_ten(scale.unsigned_abs() as u32), scale: 0 },
        })
    }

    /// The nearest number with `places` digits after the point; a tie goes to the even digit
    /// (half-even, the rounding of IEEE 754 and of ledgers). The only rounding in the product.
    #[must_use]
    pub fn round(self, places: u8) -> Self {
        if self.scale <= places {
            return self.rescale(places);
        }
        let mantissa = match checked_power_of_ten(u32::from(self.scale - places)) {
            Some(unit) => divide_half_even(self.mantissa, unit),
            // Less than half of the last place.
            None => I256::ZERO,
        };
        Self { mantissa, scale: places }
    }

    /// `self / divisor`, rounded half-even to `places`. For display of averages and shares.
    /// `None` when the divisor is zero, or the answer has more than 76 digits.
    pub fn divide(self, divisor: Self, places: u8) -> Option<Self> {
        if divisor.is_zero() {
            return None;
        }
        let (mut top, mut bottom) = (self.normalize(), divisor.normalize());
        // Coarse operands keep the widened numerator inside 256 bits; both keep 30 significant digits.
        (top, bottom) = (top.significant(30), bottom.significant(30));
        let shift = i32::from(places) + i32::from(bottom.scale) - i32::from(top.scale);
        let (top, bottom) = if bottom.is_negative() { (-top, -bottom) } else { (top, bottom) };
        let widened = |mantissa: I256| {
            checked_power_of_ten(shift.unsigned_abs()).and_then(|power| mantissa.checked_mul(power))
        };
        let mantissa = if shift >= 0 {
            match widened(top.mantissa) {
                Some(numerator) => divide_half_even(numerator, bottom.mantissa),
                None => divide_by_hand(top.mantissa, bottom.mantissa, shift.unsigned_abs())?,
            }
        } else {
            // A denominator of more than 76 digits leaves nothing of the quotient.
            widened(bottom.mantissa)
                .map_or(I256::ZERO, |denominator| divide_half_even(top.mantissa, denominator))
        };
        Some(Self { mantissa, scale: places })
    }

    /// Splits into `n` parts that differ by at most one unit of the last place and sum to exactly
    /// `self`; the first parts carry the remainder. Empty for `n` = 0.
    pub fn split(self, n: u32, places: u8) -> Vec<Self> {
        if n == 0 {
            return Vec::new();
        }
        // As fine as there is room for: an amount of 76 digits is split in its own places.
        let finest =
            (self.scale..=self.scale.max(places)).rev().find_map(|scale| self.checked_rescale(scale));
        let fine = finest.unwrap_or(self);
        let count = I256::from(n);
        let (each, left) = (fine.mantissa.div_euclid(count), fine.mantissa.rem_euclid(count));
        (0..n)
            .map(|i| {
                let extra = if I256::from(i) < left { I256::ONE } else { I256::ZERO };
                Self { mantissa: each + extra, scale: fine.scale }
            })
            .collect()
    }

    /// Splits in proportion to weights that are not negative into parts of so many places that sum to exactly `self`,
    /// which has no more: cut down, and what is left over goes, a unit each, to those that lost most, the first among
    /// equals. Of a weight, as many digits after the point count. `None` where the weights sum to nothing.
    pub fn apportion(self, weights: &[Self], places: u8) -> Option<Vec<Self>> {
        let mut weights: Vec<I256> = weights.iter().map(|weight| weight.round(places).mantissa).collect();
        let whole = self.checked_rescale(places)?.mantissa;
        loop {
            let sum = weights.iter().try_fold(I256::ZERO, |sum, weight| sum.checked_add(*weight));
            if sum.is_some_and(|sum| sum <= I256::ZERO) {
                return None;
            }
            let products: Option<Vec<I256>> =
                weights.iter().map(|weight| whole.checked_mul(*weight)).collect();
            if let (Some(sum), Some(products)) = (sum, products) {
                let cut: Vec<(I256, I256)> = products
                    .into_iter()
                    .map(|product| (product.div_euclid(sum), product.rem_euclid(sum)))
                    .collect();
                return Some(hand_out(whole, &cut, places));
            }
            // The proportion keeps as many digits as there is room for; the parts sum to the whole all the same.
            for weight in &mut weights {
                *weight = divide_half_even(*weight, I256::from(10u8));
            }
        }
    }

    /// Rounds the parts of a sum to so many places, such that they sum to the rounded sum: cut down, and what is left
    /// over goes, a unit each, to those that lost most (largest remainder), the first among equals.
    pub fn round_parts(parts: &[Self], places: u8) -> Vec<Self> {
        Self::round_parts_to(parts, parts.iter().copied().sum::<Self>(), places)
    }

    /// The same such that they sum to another number, rounded: to what their sum became where it was rounded as a part
    /// itself, mostly a unit more or less. Of what is further away everyone takes the same number of units first.
    pub fn round_parts_to(parts: &[Self], whole: Self, places: u8) -> Vec<Self> {
        let whole = whole.round(places).mantissa;
        let finest = parts.iter().map(|part| part.scale).max().unwrap_or_default().max(places);
        let unit = power_of_ten(u32::from(finest - places));
        let mut cut: Vec<(I256, I256)> = parts
            .iter()
            .map(|part| part.rescale(finest).mantissa)
            .map(|fine| (fine.div_euclid(unit), fine.rem_euclid(unit)))
            .collect();
        let given: I256 = cut.iter().fold(I256::ZERO, |sum, (part, _)| sum + *part);
        let Some(count) = i64::try_from(cut.len()).ok().filter(|count| *count > 0).map(I256::from) else {
            return Vec::new();
        };
        let each = (whole - given).div_euclid(count);
        // What is left then is less than a unit for everyone.
        for (part, _) in &mut cut {
            *part += each;
        }
        hand_out(whole, &cut, places)
    }

    /// Exact sum.
    ///
    /// # Errors
    /// [`TooManyDigits`]: for numbers of any size, such as sums that the database made.
    pub fn checked_add(self, other: Self) -> Result<Self, TooManyDigits> {
        let sum = |a: Self, b: Self| {
            let (a, b, scale) = a.checked_align(b)?;
            within(a.checked_add(b)?).map(|mantissa| Self { mantissa, scale })
        };
        sum(self, other).or_else(|| sum(self.normalize(), other.normalize())).ok_or(TooManyDigits)
    }

    /// Exact difference.
    ///
    /// # Errors
    /// [`TooManyDigits`].
    pub fn checked_sub(self, other: Self) -> Result<Self, TooManyDigits> {
        self.checked_add(-other)
    }

    /// Exact product, where what somebody entered decides how many digits it has: cost × share × rate.
    ///
    /// # Errors
    /// [`TooManyDigits`].
    pub fn checked_multiply(self, factor: Self) -> Result<Self, TooManyDigits> {
        let product = |a: Self, b: Self| {
            let scale = a.scale.checked_add(b.scale)?;
            within(a.mantissa.checked_mul(b.mantissa)?).map(|mantissa| Self { mantissa, scale })
        };
        product(self, factor).or_else(|| product(self.normalize(), factor.normalize())).ok_or(TooManyDigits)
    }

    /// A product as an amount: of as many digits as [`Self::parse`] accepts, so that as many of them add up. Those behind the
    /// fortieth place behind the point are rounded half-even; `None` where it has more than 24 before the point.
    pub fn as_amount(self) -> Option<Self> {
        let places = MAX_FRACTION as u8;
        let amount = if self.scale > places { self.round(places) } else { self };
        (amount.abs() < Self { mantissa: power_of_ten(MAX_INTEGER as u32), scale: 0 }).then_some(amount)
    }

    /// Exact product with a whole number, for counts. As [`Self::multiply`].
    #[must_use]
    pub fn times(self, n: i64) -> Self {
        self.multiply(Self::from(n))
    }

    /// Exact product, for rates and shares whose digits are bounded where they are entered, so that those of both have
    /// room: an amount that was [parsed](Self::parse) has it for a factor of 12 digits. Nothing is ever wrapped: beyond
    /// 76 digits it panics, in release, too. Where no bound holds, ask [`Self::checked_multiply`].
    #[must_use]
    pub fn multiply(self, factor: Self) -> Self {
        fits(self.checked_multiply(factor))
    }

    /// The same value without trailing zeros after the point.
    #[must_use]
    pub fn normalize(mut self) -> Self {
        // Most numbers fit into half of the width, where dividing is many times faster.
        if let Ok(mut narrow) = i128::try_from(self.mantissa) {
            for (zeros, power) in [(16, 10_i128.pow(16)), (8, 100_000_000), (4, 10_000), (2, 100), (1, 10)] {
                if narrow % 10 != 0 {
                    break;
                }
                while self.scale >= zeros && narrow % power == 0 && narrow != 0 {
                    narrow /= power;
                    self.scale -= zeros;
                }
            }
            return Self { mantissa: I256::new(narrow), scale: if narrow == 0 { 0 } else { self.scale } };
        }
        let ten = I256::from(10u8);
        while self.scale > 0 && self.mantissa % ten == I256::ZERO {
            self.mantissa /= ten;
            self.scale -= 1;
        }
        self
    }

    /// Rounded half-even to at most so many significant digits, of which those before the point are never cut.
    #[must_use]
    pub fn significant(self, digits: u32) -> Self {
        let Some(limit) = checked_power_of_ten(digits) else { return self };
        if self.mantissa.unsigned_abs() < limit.unsigned_abs() {
            return self;
        }
        let (mut rest, mut dropped) = (self.mantissa.unsigned_abs(), 0);
        while rest >= limit.unsigned_abs() && dropped < self.scale {
            rest /= U256::from(10u8);
            dropped += 1;
        }
        self.round(self.scale - dropped)
    }

    fn rescale(self, scale: u8) -> Self {
        fits(self.checked_rescale(scale).ok_or(TooManyDigits))
    }

    /// The same value with more places; `None` where there is no room for them.
    fn checked_rescale(self, scale: u8) -> Option<Self> {
        let more = scale.checked_sub(self.scale)?;
        if more == 0 {
            return Some(self);
        }
        if self.mantissa == I256::ZERO {
            return Some(Self { mantissa: I256::ZERO, scale });
        }
        let mantissa = match i64::try_from(self.mantissa) {
            // Nearly every amount of a bill; 256 bits take far longer.
            Ok(small) if more <= FITS_64_BITS => I256::from(i128::from(small) * 10_i128.pow(more.into())),
            _ => within(self.mantissa.checked_mul(checked_power_of_ten(more.into())?)?)?,
        };
        Some(Self { mantissa, scale })
    }

    fn checked_align(self, other: Self) -> Option<(I256, I256, u8)> {
        Some(match self.scale.cmp(&other.scale) {
            Ordering::Equal => (self.mantissa, other.mantissa, self.scale),
            Ordering::Less => (self.checked_rescale(other.scale)?.mantissa, other.mantissa, other.scale),
            Ordering::Greater => (self.mantissa, other.checked_rescale(self.scale)?.mantissa, self.scale),
        })
    }
}

/// What the operators do with a result that has no room. They are for numbers whose digits are bounded: a wrong amount is
/// worse than none.
#[track_caller]
fn fits(result: Result<Decimal, TooManyDigits>) -> Decimal {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// The smallest of 256 bits has no opposite, and is no amount.
fn within(mantissa: I256) -> Option<I256> {
    (mantissa != I256::MIN).then_some(mantissa)
}

/// Splits `12.5e-3` into `12.5` and `-3`. An exponent beyond three digits cannot be an amount.
fn split_exponent(text: &[u8]) -> Result<(&[u8], i64), ParseDecimalError> {
    let Some(at) = text.iter().position(|b| matches!(b, b'e' | b'E')) else {
        return Ok((text, 0));
    };
    let (sign, digits) = match &text[at + 1..] {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] | rest => (1, rest),
    };
    if digits.is_empty() || digits.iter().any(|b| !b.is_ascii_digit()) {
        return Err(ParseDecimalError::NotANumber);
    }
    if digits.len() > 3 {
        return Err(ParseDecimalError::TooLong);
    }
    let exponent = digits.iter().fold(0i64, |sum, b| sum * 10 + i64::from(b - b'0'));
    Ok((&text[..at], sign * exponent))
}

/// Of at most 76, which callers have made sure of.
fn power_of_ten(n: u32) -> I256 {
    checked_power_of_ten(n).unwrap_or(I256::MAX)
}

fn checked_power_of_ten(n: u32) -> Option<I256> {
    match 10i128.checked_pow(n) {
        Some(power) => Some(I256::new(power)),
        None => I256::from(10u8).checked_pow(n),
    }
}

/// `numerator × 10^shift / denominator`, half-even, digit by digit as on paper: for numerators that leave no room to be
/// widened at once. `denominator` is positive. `None` where the answer has more than 76 digits.
fn divide_by_hand(numerator: I256, denominator: I256, shift: u32) -> Option<I256> {
    let ten = I256::from(10u8);
    let (mut quotient, mut rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    for _ in 0..shift {
        let widened = rest.checked_mul(ten)?;
        quotient = quotient.checked_mul(ten)?.checked_add(widened.div_euclid(denominator))?;
        rest = widened.rem_euclid(denominator);
    }
    // Doubling what is left could take one bit too many.
    let is_up = match rest.cmp(&(denominator - rest)) {
        Ordering::Less => false,
        Ordering::Equal => quotient % I256::from(2u8) != I256::ZERO,
        Ordering::Greater => true,
    };
    within(if is_up { quotient.checked_add(I256::ONE)? } else { quotient })
}

/// `unit` is positive.
fn divide_half_even(value: I256, unit: I256) -> I256 {
    let (floor, rest) = (value.div_euclid(unit), value.rem_euclid(unit));
    match rest.cmp(&(unit - rest)) {
        Ordering::Less => floor,
        Ordering::Equal if floor % I256::from(2u8) == I256::ZERO => floor,
        Ordering::Equal | Ordering::Greater => floor + I256::ONE,
    }
}

/// Parts that were cut down, with what each lost, and what is left of the whole handed out.
fn hand_out(whole: I256, cut: &[(I256, I256)], places: u8) -> Vec<Decimal> {
    let given: I256 = cut.iter().fold(I256::ZERO, |sum, (part, _)| sum + *part);
    // Each part lost less than a unit, so at most as many are left as there are parts.
    let left = (whole - given).as_usize();
    let mut order: Vec<usize> = (0..cut.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(cut[at].1));
    let mut parts: Vec<Decimal> =
        cut.iter().map(|(part, _)| Decimal { mantissa: *part, scale: places }).collect();
    for &at in order.iter().take(left) {
        parts[at].mantissa += I256::ONE;
    }
    parts
}

impl FromStr for Decimal {
    type Err = ParseDecimalError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text.as_bytes())
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(i128::from(value), 0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A page has thousands of them, so they are written without memory of their own.
        let mut digits = Digits::default();
        let digits = digits.write(self.mantissa.unsigned_abs(), usize::from(self.scale) + 1)?;
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(self.scale));
        let sign = if self.is_negative() { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        if f.width().is_some() || f.precision().is_some() {
            return f.pad(&format!("{sign}{whole}{point}{fraction}"));
        }
        [sign, whole, point, fraction].iter().try_for_each(|part| f.write_str(part))
    }
}

/// Room for the digits of the largest mantissa, or as many zeros as a scale can ask for.
struct Digits([u8; 512]);

impl Default for Digits {
    fn default() -> Self {
        Self([b'0'; 512])
    }
}

impl Digits {
    /// The digits of a number, `least` at least.
    fn write(&mut self, mut number: U256, least: usize) -> Result<&str, fmt::Error> {
        /// The largest power of ten whose remainders fit into 64 bits.
        const CHUNK: u128 = 10u128.pow(19);
        let mut start = self.0.len();
        let mut put = |digit: u64| {
            start -= 1;
            self.0[start] = b'0' + digit as u8;
        };
        while number > U256::from(u64::MAX) {
            let (quotient, mut rest) = match u128::try_from(number) {
                Ok(number) => (U256::from(number / CHUNK), (number % CHUNK) as u64),
                Err(_) => (number / U256::from(CHUNK), (number % U256::from(CHUNK)).as_u64()),
            };
            number = quotient;
            for _ in 0..19 {
                put(rest % 10);
                rest /= 10;
            }
        }
        let mut rest = number.as_u64();
        while rest > 0 {
            put(rest % 10);
            rest /= 10;
        }
        let start = start.min(self.0.len() - least);
        std::str::from_utf8(&self.0[start..]).map_err(|_| fmt::Error)
    }
}

impl Add for Decimal {
    type Output = Self;

    /// Exact. Accepted amounts have room for a trillion of the largest; beyond 76 digits it panics, and never wraps.
    fn add(self, other: Self) -> Self {
        fits(self.checked_add(other))
    }
}

impl Sub for Decimal {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        // The one number without an opposite has 77 digits, and comes out of no operation here.
        Self { mantissa: self.mantissa.checked_neg().unwrap_or(I256::MAX), scale: self.scale }
    }
}

impl AddAssign for Decimal {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Decimal {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Decimal {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    /// By value, as [`Eq`] compares.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let value = self.normalize();
        (value.mantissa, value.scale).hash(state);
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if let Some((a, b, _)) = self.checked_align(*other) {
            return a.cmp(&b);
        }
        // One has no room for the places of the other: cut down to them, and what was cut decides between equals.
        let by_whole = |fine: &Self, coarse: &Self| {
            let unit = checked_power_of_ten(u32::from(fine.scale - coarse.scale));
            let (whole, rest) = match unit {
                Some(unit) => (fine.mantissa.div_euclid(unit), fine.mantissa.rem_euclid(unit)),
                None if fine.is_negative() => (-I256::ONE, I256::ONE),
                None => (I256::ZERO, fine.mantissa),
            };
            whole.cmp(&coarse.mantissa).then(rest.cmp(&I256::ZERO))
        };
        if self.scale > other.scale { by_whole(self, other) } else { by_whole(other, self).reverse() }
    }
}
