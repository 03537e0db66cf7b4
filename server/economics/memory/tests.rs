use proptest::prelude::*;

use super::*;
use crate::money::number;

fn fit(parameters: i64, weights: Precision, accelerator: &str) -> Fit {
    Fit { parameters: parameters.into(), weights, accelerator: accelerator.into(), ..Fit::default() }
}

#[test]
fn weights_are_parameters_times_bits() {
    let table = [
        (7, Precision::Half, "14"),
        (7, Precision::Int8, "7"),
        (7, Precision::Int4, "3.5"),
        (70, Precision::Half, "140"),
    ];
    for (parameters, precision, gigabytes) in table {
        assert_eq!(fit(parameters, precision, "nvidia-h100-sxm").weights(), number(gigabytes));
    }
}

#[test]
fn what_the_weights_leave_holds_tokens() {
    let fitted = fit(70, Precision::Int8, "nvidia-a100-sxm-80").fit().unwrap();
    assert_eq!(fitted.bytes_per_token.value, Some(327_680.into()));
    assert_eq!((fitted.room.value, fitted.tokens.value), (Some(10.into()), Some(30_517.into())));
    let asked = |tokens| Fit { tokens, ..fit(70, Precision::Int8, "nvidia-a100-sxm-80") }.fit().unwrap();
    assert!(asked(30_517).fits && !asked(30_518).fits);
    assert_eq!(
        (asked(30_517).least_gpus.value, asked(30_518).least_gpus.value),
        (Some(1.into()), Some(2.into()))
    );
    assert_eq!(asked(30_518).idle.value, None);
}

#[test]
fn what_does_not_fit_one_fits_several() {
    let one = fit(70, Precision::Half, "nvidia-h100-sxm").fit().unwrap();
    assert_eq!((one.fits, one.room.value, one.tokens.value), (false, None, None));
    assert_eq!(one.least_gpus.value, Some(2.into()));
    let two = Fit { gpus: 2, ..fit(70, Precision::Half, "nvidia-h100-sxm") }.fit().unwrap();
    assert!(two.fits);
    let small = fit(7, Precision::Half, "nvidia-h100-sxm").fit().unwrap();
    assert_eq!(small.idle.value, Some(number("0.825")));
}

#[test]
fn a_gpu_computes_only_with_numbers_it_knows() {
    let table = [
        ("nvidia-a100-sxm-80", Precision::Fp8, Support::No),
        ("nvidia-a100-sxm-80", Precision::Int8, Support::Yes),
        ("nvidia-l4", Precision::Fp8, Support::Yes),
        ("nvidia-a10g", Precision::Fp8, Support::No),
        ("nvidia-h100-sxm", Precision::Fp8, Support::Yes),
        ("nvidia-h100-sxm", Precision::Fp4, Support::No),
        ("nvidia-b200", Precision::Fp4, Support::Yes),
        ("amd-mi300x", Precision::Fp8, Support::Yes),
        ("amd-mi300x", Precision::Fp4, Support::Unknown),
        ("unknown", Precision::Fp8, Support::Unknown),
    ];
    for (id, precision, support) in table {
        assert_eq!(precision.on(id), support, "{precision:?} on {id}");
    }
    let refused = fit(7, Precision::Fp8, "nvidia-a100-sxm-80").fit().unwrap_err();
    assert_eq!(refused.0[0].field, "weights");
    let cache = Fit { cache: Precision::Fp8, ..fit(7, Precision::Int8, "nvidia-a100-sxm-80") };
    assert!(cache.fit().unwrap().warnings.is_empty());
    let unknown = fit(7, Precision::Fp4, "amd-mi300x").fit().unwrap();
    assert_eq!(unknown.warnings[0].field, "weights");
}

#[test]
fn what_cannot_be_is_refused_and_what_is_odd_is_reported() {
    for (field, it) in [
        ("parameters", fit(0, Precision::Half, "nvidia-l4")),
        ("gpus", Fit { gpus: 0, ..Fit::default() }),
        ("layers", Fit { layers: 0, ..Fit::default() }),
        ("accelerator", fit(7, Precision::Half, "a-toaster")),
        ("activations", Fit { activations: (-1).into(), ..Fit::default() }),
    ] {
        assert_eq!(it.fit().unwrap_err().0[0].field, field);
    }
    let node = Fit { usable: Some(640.into()), ..Fit::default() }.fit().unwrap();
    assert_eq!(node.warnings[0].field, "usable");
    let entered = Fit { usable: Some(100.into()), ..fit(7, Precision::Half, "a-toaster") }.fit().unwrap();
    assert!(entered.fits);
}

const PRECISIONS: [Precision; 6] =
    [Precision::Fp32, Precision::Half, Precision::Fp8, Precision::Int8, Precision::Fp4, Precision::Int4];

proptest! {
    #[test]
    fn it_fits_exactly_the_fewest_gpus(parameters in 1i64..2000, tokens in 0u64..10_000_000, bits in 0usize..6) {
        let asked = Fit { tokens, ..fit(parameters, PRECISIONS[bits], "nvidia-b200") };
        let least = asked.fit().unwrap().least_gpus.value.unwrap();
        let gpus = crate::money::arithmetic::whole(least).max(1);
        let fits = |gpus| Fit { gpus, ..asked.clone() }.fit().unwrap().fits;
        prop_assert!(fits(gpus) && (gpus == 1 || !fits(gpus - 1)));
    }

    #[test]
    fn fewer_bits_never_hold_fewer_tokens(parameters in 1i64..80) {
        let held = |precision| fit(parameters, precision, "nvidia-b200").fit().unwrap().tokens.value;
        prop_assert!(held(Precision::Half) <= held(Precision::Fp8) && held(Precision::Fp8) <= held(Precision::Fp4));
    }
}
