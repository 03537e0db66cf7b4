use proptest::prelude::*;

use super::*;
use crate::money::number;

#[test]
fn it_reads_what_exports_write() {
    for (text, expected) in [
        ("0", "0"),
        ("-0.00", "0.00"),
        ("12.50", "12.50"),
        (".5", "0.5"),
        ("7.", "7"),
        ("+3", "3"),
        ("2.323760000E-9", "0.000000002323760000"),
        ("5e-06", "0.000005"),
        ("1.5e3", "1500"),
        ("0e+5", "0"),
        ("16.2969321366366446274854190000", "16.2969321366366446274854190000"),
        ("000000000000000000000000000000001", "1"),
    ] {
        assert_eq!(number(text).to_string(), expected, "{text}");
    }
}

#[test]
fn it_refuses_what_is_no_number() {
    use ParseDecimalError::{NotANumber, TooLong};
    for (text, why) in [
        ("", NotANumber),
        ("-", NotANumber),
        (".", NotANumber),
        ("NULL", NotANumber),
        ("1,234.00", NotANumber),
        ("$5", NotANumber),
        ("1.2.3", NotANumber),
        ("1e", NotANumber),
        ("NaN", NotANumber),
        ("1e9999", TooLong),
        ("1e30", TooLong),
        ("1e-41", TooLong),
        ("1234567890123456789012345", TooLong),
    ] {
        assert_eq!(text.parse::<Decimal>(), Err(why), "{text}");
    }
}

#[test]
fn it_rounds_half_to_even() {
    for (text, expected) in [
        ("0.125", "0.12"),
        ("0.135", "0.14"),
        ("-0.125", "-0.12"),
        ("0.999", "1.00"),
        ("2", "2.00"),
        ("1.005001", "1.01"),
    ] {
        assert_eq!(number(text).round(2).to_string(), expected, "{text}");
    }
}

#[test]
fn it_divides_for_display() {
    assert_eq!(number("1").divide(number("3"), 6), Some(number("0.333333")));
    assert_eq!(number("-1").divide(number("8"), 2), Some(number("-0.12")));
    assert_eq!(number("100").divide(number("0.25"), 0), Some(number("400")));
    assert_eq!(number("1").divide(Decimal::ZERO, 2), None);
}

fn amounts() -> impl Strategy<Value = Decimal> {
    (any::<i128>(), 6u8..=38).prop_map(|(mantissa, scale)| {
        Decimal::new(mantissa % 1_000_000_000_000_000_000_000_000_000_000, scale)
    })
}

proptest! {
    #[test]
    fn amounts_of_64_bits_add_up_as_wider_ones_do(a in any::<i64>(), b in any::<i64>(), of_a in 0u8..40, of_b in 0u8..40) {
        let scale = of_a.max(of_b);
        let wide = |mantissa: i64, of: u8| I256::from(mantissa) * I256::from(10u8).pow((scale - of).into());
        let sum = Decimal::new(a.into(), of_a) + Decimal::new(b.into(), of_b);
        prop_assert_eq!((sum.mantissa, sum.scale), (wide(a, of_a) + wide(b, of_b), scale));
    }

    #[test]
    fn sums_do_not_depend_on_order(mut list in proptest::collection::vec(amounts(), 0..40)) {
        let forward: Decimal = list.iter().copied().sum();
        list.reverse();
        prop_assert_eq!(forward, list.into_iter().sum());
    }

    #[test]
    fn it_is_printed_as_its_mantissa_with_a_point(
        mantissa in prop_oneof![any::<i128>(), -20i128..20, Just(10i128.pow(38)), Just(i128::from(u64::MAX) + 1)],
        times in 0u32..3, scale in 0u8..90,
    ) {
        let mantissa = I256::from(mantissa) * I256::from(10u64.pow(19)).pow(times);
        let digits = mantissa.unsigned_abs().to_string();
        let digits = format!("{digits:0>width$}", width = usize::from(scale) + 1);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
        let sign = if mantissa.is_negative() { "-" } else { "" };
        let point = if scale == 0 { "" } else { "." };
        let printed = Decimal::from_parts(mantissa, scale).to_string();
        prop_assert_eq!(printed, format!("{sign}{whole}{point}{fraction}"));
    }

    #[test]
    fn thirty_digits_survive_printing(amount in amounts()) {
        let again = number(&amount.to_string());
        prop_assert_eq!(again, amount);
        prop_assert_eq!(again.scale(), amount.scale());
    }

    #[test]
    fn parts_of_a_split_sum_to_the_whole(amount in amounts(), n in 1u32..500, places in 0u8..40) {
        let parts = amount.split(n, places);
        prop_assert_eq!(parts.len(), n as usize);
        prop_assert_eq!(parts.iter().copied().sum::<Decimal>(), amount);
        let spread = *parts.first().unwrap() - *parts.last().unwrap();
        prop_assert!(spread.abs() <= Decimal::new(1, amount.scale().max(places)));
    }

    #[test]
    fn any_bytes_are_a_number_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = Decimal::parse(&bytes);
    }

    #[test]
    fn rounding_moves_by_at_most_half(amount in amounts(), places in 0u8..20) {
        let moved = (amount.round(places) - amount).abs();
        prop_assert!(moved + moved <= Decimal::new(1, places));
    }
}

#[test]
fn an_amount_is_apportioned_to_the_last_unit() {
    let weights = |values: &[i64]| values.iter().map(|value| Decimal::from(*value)).collect::<Vec<_>>();
    let strings = |parts: Vec<Decimal>| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let one = Decimal::from(1);
    assert_eq!(strings(one.apportion(&weights(&[1, 1, 1]), 2).unwrap()), ["0.34", "0.33", "0.33"]);
    assert_eq!(strings(one.apportion(&weights(&[1, 5]), 3).unwrap()), ["0.167", "0.833"]);
    assert_eq!(strings(one.apportion(&weights(&[0, 5]), 1).unwrap()), ["0.0", "1.0"]);
    assert_eq!(one.apportion(&weights(&[0, 0]), 2), None);
    assert_eq!(one.apportion(&[], 2), None);
}

proptest! {
    #[test]
    fn rounded_parts_sum_to_the_rounded_sum(
        parts in proptest::collection::vec((any::<i64>(), 0u8..12), 0..40),
        places in 0u8..4,
    ) {
        let parts: Vec<Decimal> = parts.iter().map(|(m, scale)| Decimal::new(i128::from(*m), *scale)).collect();
        let rounded = Decimal::round_parts(&parts, places);
        let sum: Decimal = parts.iter().copied().sum();
        prop_assert_eq!(rounded.iter().copied().sum::<Decimal>(), sum.round(places));
        let unit = Decimal::new(1, places);
        for (part, rounded) in parts.iter().zip(&rounded) {
            prop_assert!((*rounded - *part).abs() <= unit);
        }
    }

    #[test]
    fn parts_are_rounded_to_any_sum(
        parts in proptest::collection::vec((any::<i64>(), 0u8..20), 1..40),
        away in -100i64..100,
        places in 0u8..4,
    ) {
        let parts: Vec<Decimal> = parts.iter().map(|(m, scale)| Decimal::new(i128::from(*m), *scale)).collect();
        let whole = parts.iter().copied().sum::<Decimal>().round(places) + Decimal::new(i128::from(away), places);
        let rounded = Decimal::round_parts_to(&parts, whole, places);
        prop_assert_eq!(rounded.iter().copied().sum::<Decimal>(), whole);
        if away == 0 {
            prop_assert_eq!(rounded, Decimal::round_parts(&parts, places));
        }
    }

    #[test]
    fn apportioned_parts_sum_to_the_whole(
        whole in 0i64..1_000_000,
        weights in proptest::collection::vec((0i64..i64::MAX, 0u8..12), 1..40),
    ) {
        let weights: Vec<Decimal> =
            weights.iter().map(|(m, scale)| Decimal::new(i128::from(*m), *scale)).collect();
        let whole = Decimal::new(i128::from(whole), 2);
        if let Some(parts) = whole.apportion(&weights, 12) {
            prop_assert_eq!(parts.iter().copied().sum::<Decimal>(), whole);
        }
    }
}

/// Any number that the database or a product can hand over: 76 digits, any scale.
fn extremes() -> impl Strategy<Value = Decimal> {
    let mantissa = (any::<i128>(), any::<i128>(), 0u32..=37).prop_map(|(high, low, shift)| {
        let wide = ethnum::I256::new(high / 10) * ethnum::I256::from(10u8).pow(shift);
        wide.checked_add(ethnum::I256::new(low)).unwrap()
    });
    let scale = prop_oneof![Just(0u8), Just(40), Just(75), Just(255), any::<u8>()];
    (mantissa, scale).prop_map(|(mantissa, scale)| Decimal::from_parts(mantissa, scale))
}

/// Its sign and its digits at a scale that may be larger, however many these are.
fn as_digits(value: Decimal, scale: u8) -> (bool, Vec<u8>) {
    let text = value.mantissa().unsigned_abs().to_string();
    let mut digits: Vec<u8> = text.bytes().map(|byte| byte - b'0').collect();
    digits.extend(std::iter::repeat_n(0, usize::from(scale - value.scale())));
    let start = digits.iter().take_while(|digit| **digit == 0).count();
    (value.is_negative() && start < digits.len(), digits[start..].to_vec())
}

fn checked_sum<'a>(parts: impl IntoIterator<Item = &'a Decimal>) -> Result<Decimal, TooManyDigits> {
    parts.into_iter().try_fold(Decimal::ZERO, |sum, part| sum.checked_add(*part))
}

proptest! {
    #[test]
    fn a_sum_or_product_of_any_two_numbers_is_exact_or_an_error(a in extremes(), b in extremes()) {
        if let Ok(sum) = a.checked_add(b) {
            prop_assert_eq!(sum.checked_sub(b), Ok(a));
            prop_assert_eq!(sum.checked_sub(a), Ok(b));
        }
        if let Ok(product) = a.checked_multiply(b) {
            let is_zero = a.is_zero() || b.is_zero();
            prop_assert_eq!(product.is_zero(), is_zero);
            prop_assert!(is_zero || product.is_negative() == (a.is_negative() != b.is_negative()));
            prop_assert!(is_zero || product.mantissa() % a.normalize().mantissa() == ethnum::I256::ZERO);
        }
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        let scale = a.scale().max(b.scale());
        let (left, right) = (as_digits(a, scale), as_digits(b, scale));
        let magnitude = left.1.len().cmp(&right.1.len()).then_with(|| left.1.cmp(&right.1));
        let expected = match (left.0, right.0) {
            (false, false) => magnitude,
            (true, true) => magnitude.reverse(),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        };
        prop_assert_eq!(a.cmp(&b), expected, "{} {}", a, b);
    }

    #[test]
    fn nothing_that_is_asked_of_any_number_wraps_or_panics(
        a in extremes(), b in extremes(), places in 0u8..=40, n in 1u32..9,
        weights in proptest::collection::vec(amounts(), 1..5),
    ) {
        prop_assert_eq!(checked_sum(&a.split(n, places)), Ok(a));
        if let Some(quotient) = a.divide(b, places) {
            prop_assert!(quotient.is_zero() || quotient.is_negative() == (a.is_negative() != b.is_negative()));
        }
        if a.scale() > places {
            prop_assert_eq!(a.round(places).scale(), places);
        }
        prop_assert!(!a.abs().is_negative());
        let weights: Vec<Decimal> = weights.into_iter().map(Decimal::abs).collect();
        if a.scale() >= 2 && let Some(parts) = a.round(2).apportion(&weights, 2) {
            prop_assert_eq!(checked_sum(&parts), Ok(a.round(2)));
        }
    }

    /// By shares of twelve digits and a rate of twelve, as the ledger has them.
    #[test]
    fn what_owners_are_charged_of_thirty_digits_sums_exactly(
        amount in amounts(), n in 1u32..9, rate in 1i64..1_000_000_000_000,
    ) {
        let rate = Decimal::new(rate.into(), 12);
        let charged: Vec<Decimal> = Decimal::from(1)
            .split(n, 12)
            .into_iter()
            .map(|share| amount.checked_multiply(share).unwrap())
            .collect();
        prop_assert_eq!(checked_sum(&charged), Ok(amount));
        let converted: Result<Vec<Decimal>, _> = charged.iter().map(|it| it.checked_multiply(rate)).collect();
        if let (Ok(converted), Ok(whole)) = (converted, amount.checked_multiply(rate)) {
            prop_assert_eq!(checked_sum(&converted), Ok(whole));
        }
    }
}

#[test]
fn what_has_no_room_is_an_error() {
    let large = number("123456789012345678901234.1234567890123456789012345678901234567891");
    assert_eq!(large.checked_multiply(large), Err(TooManyDigits));
    assert_eq!(large.checked_multiply(number("0.000000000001")).map(|it| it.scale()), Ok(52));
    let (wide, fine) = (Decimal::from_parts(ethnum::I256::MAX, 0), Decimal::new(1, 1));
    assert_eq!(wide.checked_add(Decimal::from(1)), Err(TooManyDigits));
    assert_eq!(wide.checked_add(fine), Err(TooManyDigits));
    assert_eq!(wide.cmp(&fine), Ordering::Greater);
    // A kWh of a meter times its price, a share of that, and in another currency: 27, 12 and 24 places.
    let cost =
        number("99987654321098.765123456789012345").checked_multiply(number("0.123456789013")).unwrap();
    let share = cost.checked_multiply(number("0.333333333333")).unwrap();
    assert_eq!(share.checked_multiply(number("0.922276837245757239232343")), Err(TooManyDigits));
    // What has room without the zeros at its end is no error.
    let zeros = number("1.0000000000000000000000000000000000000000");
    assert_eq!(zeros.checked_multiply(zeros), Ok(Decimal::from(1)));
    assert_eq!(large.checked_multiply(zeros), Ok(large));
}

#[test]
#[should_panic(expected = "more digits than the 76")]
fn an_operator_never_wraps() {
    let _ = Decimal::from_parts(ethnum::I256::MAX, 0) + Decimal::from(1);
}
