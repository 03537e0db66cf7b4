//! Amounts and texts as the rows need them: exact, and quick to write.

use crate::money::Decimal;

/// Digits after the point. AWS writes amounts with up to ten.
const PLACES: u8 = 10;
const ONE: i128 = 10_i128.pow(PLACES as u32);

/// An exact amount in units of 10⁻¹⁰: what a generated row states. Sums convert to [`Decimal`] once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(i128);

impl Amount {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(ONE);

    /// `digits` / 10^`places`, at most ten places.
    pub(crate) const fn new(digits: i64, places: u32) -> Self {
        Self(digits as i128 * 10_i128.pow(PLACES as u32 - places))
    }

    pub(crate) fn whole(n: u64) -> Self {
        Self(i128::from(n) * ONE)
    }

    /// `n` / 1000 of it, down to the last place.
    pub(crate) fn per_mille(self, n: u64) -> Self {
        Self(self.0 * i128::from(n) / 1000)
    }

    pub(crate) fn times(self, n: u64) -> Self {
        Self(self.0 * i128::from(n))
    }

    /// Down to a whole hundredth, as invoices state taxes, discounts and credits. A double holds such an amount, and every
    /// other of a generated row, to the last place.
    pub(crate) fn to_cents(self) -> Self {
        Self(self.0 - self.0 % (ONE / 100))
    }

    /// The product, down to the last place.
    pub(crate) fn by(self, other: Self) -> Self {
        Self(self.0 * other.0 / ONE)
    }

    /// The quotient, down to the last place; 0 of nothing.
    pub(crate) fn over(self, other: Self) -> Self {
        Self((self.0 * ONE).checked_div(other.0).unwrap_or(0))
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    pub(crate) fn negative(self) -> Self {
        Self(-self.0)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 += other.0;
    }

    pub(crate) fn to_decimal(self) -> Decimal {
        Decimal::new(self.0, PLACES).normalize()
    }

    /// Digits and a power of ten, as Java prints small amounts: `2.323760000E-9`; plain from 1 on.
    pub(crate) fn write_scientific(self, out: &mut Vec<u8>) {
        let magnitude = self.0.unsigned_abs();
        if magnitude == 0 || magnitude >= ONE.unsigned_abs() {
            return self.write(out);
        }
        if self.0 < 0 {
            out.push(b'-');
        }
        let digits = magnitude.to_string();
        out.extend_from_slice(&digits.as_bytes()[..1]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits.as_bytes()[1..]);
        }
        out.extend_from_slice(b"E-");
        write_number(out, u64::from(PLACES) + 1 - digits.len() as u64);
    }

    /// As short as it is exact: `98.32`, `0`, `-0.0000000001`.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if self.0 < 0 {
            out.push(b'-');
        }
        let magnitude = self.0.unsigned_abs();
        write_number(out, (magnitude / ONE.unsigned_abs()) as u64);
        let mut fraction = (magnitude % ONE.unsigned_abs()) as u64;
        if fraction == 0 {
            return;
        }
        let mut digits = usize::from(PLACES);
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            digits -= 1;
        }
        out.push(b'.');
        write_padded(out, fraction, digits);
    }
}

pub(crate) fn write_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = 1;
    let mut rest = number / 10;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    write_padded(out, number, digits);
}

/// The last `digits` digits of a number.
pub(crate) fn write_padded(out: &mut Vec<u8>, mut number: u64, digits: usize) {
    let start = out.len();
    out.resize(start + digits, b'0');
    for place in out[start..].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// `number` as 16 hexadecimal digits.
pub(crate) fn write_hex(out: &mut Vec<u8>, number: u64) {
    out.extend((0..16).rev().map(|digit| b"0123456789abcdef"[(number >> (digit * 4) & 15) as usize]));
}

/// A CSV cell, quoted where it must be.
pub(crate) fn write_cell(out: &mut Vec<u8>, text: &[u8]) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn it_writes_amounts_as_short_as_they_are_exact() {
        for (amount, written) in [
            (Amount::ZERO, "0"),
            (Amount::new(983_200, 4), "98.32"),
            (Amount::new(-1, 10), "-0.0000000001"),
            (Amount::new(1_000_000, 0), "1000000"),
            (Amount::new(5, 6).by(Amount::new(3, 0)), "0.000015"),
            (Amount::new(10, 1).minus(Amount::new(11, 1)), "-0.1"),
        ] {
            assert_eq!(text(|out| amount.write(out)), written);
            assert_eq!(amount.to_decimal().to_string(), written);
        }
    }

    #[test]
    fn small_amounts_have_a_power_of_ten() {
        for (amount, written) in [
            (Amount::ZERO, "0"),
            (Amount::new(125, 2), "1.25"),
            (Amount::new(1, 2), "1.00000000E-2"),
            (Amount::new(232_376, 10), "2.32376E-5"),
            (Amount::new(-4, 10), "-4E-10"),
            (Amount::new(5, 3), "5.0000000E-3"),
        ] {
            assert_eq!(text(|out| amount.write_scientific(out)), written);
            assert_eq!(written.parse::<Decimal>().unwrap(), amount.to_decimal());
        }
        assert_eq!(Amount::new(-12_345, 3).to_cents(), Amount::new(-1_234, 2));
    }

    #[test]
    fn it_quotes_cells_that_need_it() {
        assert_eq!(text(|out| write_cell(out, b"plain text")), "plain text");
        assert_eq!(text(|out| write_cell(out, b"a, \"b\"")), "\"a, \"\"b\"\"\"");
        assert_eq!(text(|out| write_hex(out, 0xab)), "00000000000000ab");
    }
}
