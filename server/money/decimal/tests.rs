use proptest::prelude::*;

use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

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
        assert_eq!(decimal(text).to_string(), expected, "{text}");
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
        assert_eq!(decimal(text).round(2).to_string(), expected, "{text}");
    }
}

#[test]
fn it_divides_for_display() {
    assert_eq!(decimal("1").divide(decimal("3"), 6), Some(decimal("0.333333")));
    assert_eq!(decimal("-1").divide(decimal("8"), 2), Some(decimal("-0.12")));
    assert_eq!(decimal("100").divide(decimal("0.25"), 0), Some(decimal("400")));
    assert_eq!(decimal("1").divide(Decimal::ZERO, 2), None);
}

fn amounts() -> impl Strategy<Value = Decimal> {
    (any::<i128>(), 6u8..=38).prop_map(|(mantissa, scale)| {
        Decimal::new(mantissa % 1_000_000_000_000_000_000_000_000_000_000, scale)
    })
}

proptest! {
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
        let again = decimal(&amount.to_string());
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
