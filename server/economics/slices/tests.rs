use proptest::prelude::*;

use super::*;
use crate::accelerator;
use crate::money::arithmetic::decimal;

const H100: &str = "nvidia-h100-sxm";

fn layout(slices: &[&str], by: By) -> Layout {
    let slices = slices.iter().map(ToString::to_string).collect();
    Layout { accelerator: H100.into(), price: decimal(688, 2), slices, by }
}

fn costs(slices: &[&str], by: By) -> Vec<String> {
    let cost = layout(slices, by).cost().unwrap();
    cost.slices.iter().map(|it| it.cost.value.unwrap().round(4).to_string()).collect()
}

#[test]
fn every_line_of_the_list_is_read_and_is_of_a_gpu_that_mig_cuts() {
    assert_eq!(PROFILES.len(), include_str!("../catalog/slices.csv").lines().count() - 1);
    for profile in PROFILES.iter() {
        let model = accelerator::model(&profile.model).unwrap();
        assert_eq!(model.mig_slices, Some(profile.of_compute as u8), "{profile:?}");
        assert!(profile.compute <= profile.of_compute && profile.memory <= profile.of_memory);
        let many = vec![profile; profile.most as usize];
        assert!(is_possible(&many), "{profile:?}");
        assert!(!is_possible(&vec![profile; profile.most as usize + 1]), "{profile:?}");
        // The name says its memory, to a gigabyte of what the parts amount to.
        let described: u32 = profile.name.split('.').nth(1).unwrap().trim_end_matches("gb").parse().unwrap();
        let memory = model.memory_gb.unwrap() * profile.memory / profile.of_memory;
        assert!(described.abs_diff(memory) <= 20, "{profile:?}");
        assert!(profile.source.len() > 4);
    }
    let cut = accelerator::models().iter().filter(|model| !profiles_of(model.id).is_empty());
    assert_eq!(cut.count(), 16);
}

#[test]
fn a_slice_costs_what_it_blocks() {
    assert_eq!(costs(&["1g.10gb"], By::Dominant), ["0.9829"]);
    assert_eq!(costs(&["1g.10gb"], By::Memory), ["0.8600"]);
    assert_eq!(costs(&["3g.40gb"], By::Dominant), ["3.4400"]);
    assert_eq!(costs(&["3g.40gb"], By::Compute), ["2.9486"]);
    assert_eq!(costs(&["4g.40gb", "3g.40gb"], By::Dominant), ["3.6693", "3.2107"]);
    let both = layout(&["4g.40gb", "3g.40gb"], By::Dominant).cost().unwrap();
    assert_eq!(both.shares.value.unwrap().round(4), decimal(10_714, 4));
    assert_eq!(both.idle.value, Some(Decimal::ZERO));
    assert_eq!(costs(&["7g.80gb"], By::Dominant), ["6.8800"]);
}

#[test]
fn what_is_in_no_slice_is_stranded() {
    let seven = layout(&["1g.10gb"; 7], By::Dominant).cost().unwrap();
    assert_eq!(seven.stranded_memory.value, Some(decimal(125, 3)));
    assert_eq!(seven.stranded_compute.value, Some(Decimal::ZERO));
    assert_eq!(seven.idle.value, Some(Decimal::ZERO));
    let none = layout(&[], By::Dominant).cost().unwrap();
    assert_eq!((none.idle.value, none.stranded_memory.value), (Some(decimal(688, 2)), Some(1.into())));
}

#[test]
fn only_layouts_that_are_possible_are_computed_with() {
    for (slices, is_possible) in [
        (vec!["3g.40gb", "3g.40gb"], true),
        (vec!["3g.40gb", "3g.40gb", "1g.10gb"], false),
        (vec!["4g.40gb", "2g.20gb", "1g.10gb"], true),
        (vec!["4g.40gb", "4g.40gb"], false),
        (vec!["3g.40gb", "2g.20gb", "1g.10gb"], true),
        (vec!["2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"], true),
        (vec!["1g.20gb", "1g.20gb", "1g.20gb", "1g.20gb"], true),
        (vec!["1g.20gb", "1g.20gb", "1g.20gb", "1g.20gb", "1g.10gb"], false),
        (vec!["7g.80gb", "1g.10gb"], false),
    ] {
        let asked = layout(&slices, By::Dominant);
        assert_eq!(asked.cost().is_ok(), is_possible, "{slices:?}");
    }
    for (field, it) in [
        ("slices.0", layout(&["1g.5gb"], By::Dominant)),
        ("accelerator", Layout { accelerator: "nvidia-l4".into(), ..layout(&[], By::Dominant) }),
        ("price", Layout { price: (-1).into(), ..layout(&[], By::Dominant) }),
    ] {
        assert_eq!(it.cost().unwrap_err().0[0].field, field);
    }
}

#[test]
fn turns_divide_the_price_and_nothing_stands_between_them() {
    let turns = Turns { price: decimal(688, 2), replicas: 4, hours: 10.into() };
    let cost = turns.cost().unwrap();
    assert_eq!((cost.cost.value, cost.is_isolated), (Some(decimal(172, 1)), false));
    assert_eq!(Turns { replicas: 0, ..turns }.cost().unwrap_err().0[0].field, "replicas");
}

proptest! {
    #[test]
    fn slices_and_what_is_idle_sum_to_the_price(
        model in prop::sample::select(vec![H100, "nvidia-a100-sxm-40", "nvidia-b200", "nvidia-a30", "nvidia-rtx-pro-4500"]),
        picks in prop::collection::vec(0usize..6, 0..8),
        cents in 1i64..2000,
        by in prop::sample::select(vec![By::Compute, By::Memory, By::Dominant]),
    ) {
        let known = profiles_of(model);
        let mut slices: Vec<&Profile> = Vec::new();
        for pick in picks {
            slices.push(known[pick % known.len()]);
            if !is_possible(&slices) {
                slices.pop();
            }
        }
        let names = slices.iter().map(|slice| slice.name.clone()).collect();
        let price = decimal(cents, 2);
        let cost = Layout { accelerator: model.into(), price, slices: names, by }.cost().unwrap();
        let paid: Decimal = cost.slices.iter().filter_map(|it| it.cost.value).sum();
        prop_assert_eq!(paid + cost.idle.value.unwrap(), price);
        prop_assert!(cost.idle.value.unwrap() >= Decimal::ZERO);
        for (slice, profile) in cost.slices.iter().zip(&slices) {
            prop_assert!(slice.cost.value.unwrap() <= price);
            if profile.compute == profile.of_compute {
                prop_assert_eq!(slice.cost.value, Some(price));
            }
        }
    }
}

#[test]
fn slices_that_meters_name_have_their_dominant_share() {
    for (accelerator, name, expected) in [
        (Some("nvidia-h100-sxm"), "1g.10gb", Some((8, 56))),
        (Some("nvidia-a100-sxm-40"), "1g.10gb", Some((14, 56))),
        (None, "1g.10gb", Some((8, 56))),
        (None, "1g.10gb+me", Some((8, 56))),
        (None, "1g.20gb", Some((14, 56))),
        (None, "3g.40gb", Some((28, 56))),
        (Some("nvidia-t4"), "4g.40gb", Some((32, 56))),
        (None, "7g.80gb", Some((56, 56))),
        (None, "9g.40gb", None),
        (None, "", None),
    ] {
        assert_eq!(dominant_share(accelerator, name), expected, "{accelerator:?} {name}");
    }
}
