//! [`Decimal`] as PostgreSQL's `numeric`, in the binary form of `COPY` and of the protocol: a count of
//! base-10,000 digits, the weight of the first, a sign, a display scale, then the digits
//! (`src/backend/utils/adt/numeric.c`, `numeric_send`).

use ethnum::I256;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use super::Decimal;

const BASE: u128 = 10_000;
const TOO_LONG: &str = "a numeric has more than 76 digits";
const TOO_FINE: &str = "a numeric has more than 255 decimals";
const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xC000;
/// 76 decimal digits, one partial group on each side.
const MAX_GROUPS: usize = 21;

impl Decimal {
    /// Appends the binary `numeric` without its length.
    pub fn write_numeric(&self, out: &mut Vec<u8>) {
        let mut groups = [0u16; MAX_GROUPS];
        let mut count = 0;
        let scale = u32::from(self.scale());
        // The point must fall between two groups of four digits.
        let padding = (4 - scale % 4) % 4;
        let fraction_groups = (scale + padding) / 4;
        let mut rest = self.mantissa().unsigned_abs();
        if padding > 0 {
            // The last group is filled up with zeros, without widening a number that has no room for them.
            let unit = 10_u64.pow(4 - padding);
            // Nearly every amount; 256 bits take far longer.
            let digits = if let Ok(small) = u64::try_from(rest) {
                rest = (small / unit).into();
                small % unit
            } else {
                let digits = (rest % ethnum::U256::from(unit)).as_u64();
                rest /= ethnum::U256::from(unit);
                digits
            };
            groups[0] = digits as u16 * 10u16.pow(padding);
            count = 1;
        }
        while rest > ethnum::U256::from(u128::MAX) {
            groups[count] = (rest % ethnum::U256::from(BASE)).as_u16();
            rest /= ethnum::U256::from(BASE);
            count += 1;
        }
        let mut rest = rest.as_u128();
        while rest > u128::from(u64::MAX) {
            groups[count] = (rest % BASE) as u16;
            rest /= BASE;
            count += 1;
        }
        let mut rest = rest as u64;
        while rest > 0 {
            groups[count] = (rest % BASE as u64) as u16;
            rest /= BASE as u64;
            count += 1;
        }
        let trailing = groups[..count].iter().take_while(|group| **group == 0).count();
        let digits = &groups[trailing..count];
        let weight = if digits.is_empty() { 0 } else { count as i16 - 1 - fraction_groups as i16 };
        out.extend_from_slice(&(digits.len() as u16).to_be_bytes());
        out.extend_from_slice(&weight.to_be_bytes());
        out.extend_from_slice(&if self.is_negative() { NEGATIVE } else { 0 }.to_be_bytes());
        out.extend_from_slice(&(scale as u16).to_be_bytes());
        for digit in digits.iter().rev() {
            out.extend_from_slice(&digit.to_be_bytes());
        }
    }

    fn read_numeric(bytes: &[u8]) -> Result<Self, BoxDynError> {
        let mut words = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        let mut word = || words.next().ok_or("a numeric ends early");
        let count = i32::from(word()?);
        let weight = i32::from(word()? as i16);
        let sign = word()?;
        let scale = i32::from(word()?);
        if sign >= NOT_A_NUMBER {
            return Err("a numeric is NaN or infinite".into());
        }
        // Digits behind the display scale are zero, so the value is exact at the groups' own scale.
        let group_scale = ((count - 1 - weight) * 4).max(0);
        let mut mantissa = I256::ZERO;
        // Zeros at the end of the last group that lie behind the display scale are no digits of it.
        let surplus = (group_scale - scale).clamp(0, 3);
        for at in 0..count {
            let (digits, unit) = match word()? {
                last if at == count - 1 => {
                    (u128::from(last) / 10u128.pow(surplus as u32), BASE / 10u128.pow(surplus as u32))
                }
                group => (u128::from(group), BASE),
            };
            mantissa = mantissa
                .checked_mul(I256::from(unit))
                .and_then(|m| m.checked_add(I256::from(digits)))
                .ok_or(TOO_LONG)?;
        }
        let ten = I256::from(10u8);
        let shift = weight + 1 - count;
        if shift > 0 && mantissa != I256::ZERO {
            mantissa = ten
                .checked_pow(shift as u32 * 4)
                .and_then(|power| mantissa.checked_mul(power))
                .ok_or(TOO_LONG)?;
        }
        let group_scale = if count == 0 { scale } else { group_scale - surplus };
        let value = match group_scale - scale {
            0 => Self::from_parts(mantissa, u8::try_from(scale).map_err(|_| TOO_FINE)?),
            // Groups of nothing but zeros behind the display scale.
            over @ 1.. => {
                Self::from_parts(mantissa / ten.pow(over as u32), u8::try_from(scale).map_err(|_| TOO_FINE)?)
            }
            under => {
                // The zeros that a sum of products shows at its end are kept as far as there is room for them.
                let exact = Self::from_parts(mantissa, u8::try_from(group_scale).map_err(|_| TOO_FINE)?);
                let room = (0..=under.unsigned_abs()).rev().find_map(|more| {
                    let scale = u8::try_from(group_scale.unsigned_abs() + more).ok()?;
                    let mantissa = mantissa.checked_mul(ten.checked_pow(more)?)?;
                    Some(Self::from_parts(mantissa, scale))
                });
                room.unwrap_or(exact)
            }
        };
        Ok(if sign == NEGATIVE { -value } else { value })
    }
}

impl Type<Postgres> for Decimal {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("NUMERIC")
    }
}

impl sqlx::postgres::PgHasArrayType for Decimal {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("_NUMERIC")
    }
}

impl Encode<'_, Postgres> for Decimal {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let mut bytes = Vec::with_capacity(32);
        self.write_numeric(&mut bytes);
        buffer.extend_from_slice(&bytes);
        Ok(IsNull::No)
    }
}

impl Decode<'_, Postgres> for Decimal {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => Self::read_numeric(value.as_bytes()?),
            PgValueFormat::Text => Ok(value.as_str()?.parse()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(value: Decimal) -> Decimal {
        let mut bytes = Vec::new();
        value.write_numeric(&mut bytes);
        Decimal::read_numeric(&bytes).unwrap()
    }

    #[test]
    fn it_writes_what_postgres_sends() {
        // select numeric_send(12345.678), numeric_send(0.00), numeric_send(-0.0001)
        for (text, hex) in [
            ("12345.678", "0003000100000003000109291a7c"),
            ("0.00", "0000000000000002"),
            ("-0.0001", "0001ffff400000040001"),
            ("10000", "00010001000000000001"),
        ] {
            let mut bytes = Vec::new();
            text.parse::<Decimal>().unwrap().write_numeric(&mut bytes);
            let expected: Vec<u8> =
                (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
            assert_eq!(bytes, expected, "{text}");
        }
    }

    /// As products of the database end: zeros that have no room, behind a value that has.
    #[test]
    fn zeros_behind_the_last_digit_cost_no_room() {
        // select numeric_send(12.5::numeric(1000, 120))
        let hex = "0002000000000078000c1388";
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        let value = Decimal::read_numeric(&bytes).unwrap();
        assert_eq!(value, "12.5".parse().unwrap());
    }

    proptest! {
        #[test]
        fn a_numeric_of_76_digits_round_trips(high in any::<i128>(), low in any::<i128>(), scale in 0u8..=255) {
            let wide = I256::new(high / 10) * I256::from(10u8).pow(37);
            let value = Decimal::from_parts(wide.checked_add(I256::new(low)).unwrap(), scale);
            prop_assert_eq!(round_trip(value), value);
        }

        #[test]
        fn numeric_round_trips(
            mantissa in prop_oneof![any::<i128>(), any::<i64>().prop_map_into(), any::<i16>().prop_map_into()],
            scale in 0u8..=40,
        ) {
            let value = Decimal::new(mantissa, scale);
            prop_assert_eq!(round_trip(value), value);
            prop_assert_eq!(round_trip(value).scale(), scale);
        }
    }
}
