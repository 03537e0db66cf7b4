use proptest::prelude::*;

use super::*;
use crate::economics::owning::{
    About, Draw, Energy, Fabric, Housing, OneOff, Other, Residual, Staff, Tenure,
};
use crate::money::arithmetic::decimal;
use crate::money::number;

/// Within a billionth of the larger.
fn close(a: Decimal, b: Decimal) -> bool {
    (a - b).abs() <= product(&[a.abs().max(b.abs()), Decimal::new(1, 9)])
}

fn other(per: Per, amount: i64) -> Other {
    Other { name: "Licenses".into(), about: About::SomethingElse, amount: amount.into(), per }
}

#[test]
fn every_component_can_be_computed_again_from_its_terms() {
    let owning = Owning {
        tenure: Tenure::Leased { price: number("9000") },
        demand_charge: number("15"),
        hot_spares: true,
        housing: Housing::Colocation { price: number("150"), contracted_kw: None, energy: Energy::Separate },
        software_per_gpu: number("900"),
        others: vec![other(Per::Year, 5000), other(Per::GpuYear, 20), other(Per::ProductiveHour, 2)],
        one_offs: vec![OneOff { name: "Move".into(), amount: number("100000") }],
        ..Owning::default()
    };
    let cost = owning.cost().unwrap();
    let mut parts: Vec<Part> = cost.components.iter().map(|it| it.part).collect();
    parts.dedup();
    assert_eq!(parts.len(), 11, "every kind of component");
    let bought = Owning::default().cost().unwrap();
    let of_purchase = bought.components.iter().find(|it| it.part == Part::Maintenance);
    for component in cost.components.iter().chain(of_purchase) {
        let of = |name: &str| {
            let term = component.terms.iter().find(|term| term.name == name);
            term.unwrap_or_else(|| panic!("{} has no {name}", component.name)).value
        };
        let again = match (component.part, component.formula) {
            (Part::Capital, _) => {
                product(&[of("purchase") - of("residual value today"), of("capital recovery factor")])
            }
            (Part::Lease, _) => product(&[12.into(), of("nodes"), of("price")]),
            (Part::Maintenance, "share × purchase") => product(&[of("share"), of("purchase")]),
            (Part::Maintenance, _) => product(&[of("share"), of("purchase") + of("price of leased nodes")]),
            (Part::Energy, _) => {
                let busy = of("idle") + product(&[of("load") - of("idle"), of("busy share of the year")]);
                let kilowatts = product(&[of("nodes"), busy]) + product(&[of("spares"), of("idle")]);
                product(&[kilowatts, of("PUE"), 8760.into(), of("tariff")])
            }
            (Part::DemandCharge, _) => product(&[12.into(), of("charge"), of("peak")]),
            (Part::Colocation, _) => product(&[12.into(), of("price"), of("contracted power")]),
            (Part::Staff, _) => product(&[of("people"), of("loaded cost")]),
            (Part::StaffBefore, _) => {
                let paid = product(&[of("people"), of("loaded cost"), of("months")]);
                product(&[quotient(paid, 12.into()).unwrap(), of("capital recovery factor")])
            }
            (Part::Software, _) => product(&[of("GPUs"), of("price")]),
            (Part::Other, "as entered") => of("amount"),
            (Part::Other, "GPUs × amount") => product(&[of("GPUs"), of("amount")]),
            (Part::Other, _) => product(&[of("productive hours"), of("amount")]),
            (Part::OneOff, _) => product(&[of("amount"), of("capital recovery factor")]),
        };
        assert!(close(again, component.per_year), "{}: {again} for {}", component.name, component.per_year);
        assert!(!component.per_year.is_zero(), "{}", component.name);
    }
}

#[test]
fn a_lease_of_what_buying_costs_without_interest_costs_as_much() {
    let bought = Owning {
        cost_of_capital: Decimal::ZERO,
        residual: Residual::Share { share: number("0.28") },
        fabric: Fabric::Node { price: Decimal::ZERO },
        ..Owning::default()
    };
    // 375,000 less 28 %, over 36 months.
    let leased = Owning { tenure: Tenure::Leased { price: 7500.into() }, ..bought.clone() };
    let (bought, leased) = (bought.cost().unwrap(), leased.cost().unwrap());
    assert_eq!(leased.purchase.total, Decimal::ZERO);
    assert!(close(leased.total, bought.total), "{} for {}", leased.total, bought.total);
    // Spares are leased, too: nine nodes for eight.
    assert_eq!(leased.of(Part::Lease), 810_000.into());
    assert_eq!(leased.of(Part::Maintenance), bought.of(Part::Maintenance));
    assert_eq!(bought.of(Part::Lease), Decimal::ZERO);
}

#[test]
fn in_another_currency_all_costs_as_many_times_as_much() {
    let owning = Owning {
        housing: Housing::Colocation { price: number("150"), contracted_kw: None, energy: Energy::Separate },
        demand_charge: number("15"),
        software_per_gpu: number("900"),
        storage: number("10000"),
        others: vec![other(Per::Year, 5000), other(Per::ProductiveHour, 2)],
        one_offs: vec![OneOff { name: "Move".into(), amount: number("100000") }],
        ..Owning::default()
    };
    let leased = Owning { tenure: Tenure::Leased { price: number("9000") }, ..owning.clone() };
    for it in [owning, leased] {
        let (before, after) = (it.cost().unwrap(), it.at_rate(number("0.9")).cost().unwrap());
        for (before, after) in before.components.iter().zip(&after.components) {
            assert!(close(product(&[before.per_year, number("0.9")]), after.per_year), "{}", before.name);
        }
        assert_eq!(before.hours[0].hours, after.hours[0].hours);
    }
}

#[test]
fn without_gpus_or_utilization_an_hour_has_no_cost() {
    let idle = Owning { utilization: Decimal::ZERO, ..Owning::default() }.cost().unwrap();
    assert_eq!(idle.per_hour(Hours::Productive), None);
    assert_eq!(idle.per_hour(Hours::Useful), None);
    assert!(idle.per_hour(Hours::Available).is_some());
    let none = Owning { gpus: 0, ..Owning::default() }.cost().unwrap();
    assert!(none.hours.iter().all(|link| link.cost_per_hour.is_none()));
    assert_eq!((none.per_gpu(), none.part_per_hour(Part::Staff, Hours::Owned)), (None, None));
    let json = serde_json::to_value(&none).unwrap();
    assert_eq!(json["hours"][0]["cost_per_hour"], serde_json::Value::Null);
    assert_eq!(none.warnings[0].field, "gpus");
}

#[test]
fn what_cannot_be_computed_with_is_refused_with_all_reasons() {
    let owning = Owning { pue: number("0.9"), life_years: Decimal::ZERO, ..Owning::default() };
    let refused = owning.cost().unwrap_err();
    assert_eq!(refused.0.len(), 2);
    assert!(refused.to_string().contains("pue is 0.9: expected 1 or more"), "{refused}");
}

#[test]
fn every_link_of_the_chain_has_a_cost_that_rises() {
    let owning = Owning { allocated_share: Some(number("0.9")), rework: number("1.1"), ..Owning::default() };
    let costs: Vec<Decimal> =
        owning.cost().unwrap().hours.iter().map(|link| link.cost_per_hour.unwrap()).collect();
    assert_eq!(costs.len(), 5);
    assert!(costs.is_sorted());
}

#[test]
fn capital_without_interest_is_the_straight_line() {
    let owning = Owning {
        cost_of_capital: Decimal::ZERO,
        residual: Residual::Share { share: Decimal::ZERO },
        ..Owning::default()
    };
    let cost = owning.cost().unwrap();
    assert!(close(cost.of(Part::Capital).times(3), cost.purchase.total));
}

#[test]
fn inputs_as_large_as_they_may_be_are_computed_with() {
    let most = Decimal::from(1_000_000_000_000);
    let owning = Owning {
        gpus: 1_000_000,
        gpus_per_node: 1,
        node_price: most,
        storage: most - Decimal::new(1, 20),
        life_years: number("49.99"),
        cost_of_capital: one(),
        draw: Draw::Node { idle_kw: number("0.00000000000000000001"), load_kw: number("10000") },
        pue: 10.into(),
        tariff: number("999.99999999999999999999"),
        demand_charge: most,
        others: vec![Other { amount: most, ..other(Per::ProductiveHour, 1) }],
        housing: Housing::Colocation { price: most, contracted_kw: None, energy: Energy::Separate },
        rated_kw: 10_000.into(),
        ..Owning::default()
    };
    let cost = owning.cost().unwrap();
    assert!(cost.per_hour(Hours::Useful).unwrap() > Decimal::ZERO);
    assert_eq!(cost.components.iter().map(|it| it.per_year).sum::<Decimal>(), cost.total);
}

#[test]
fn an_entered_scenario_is_read_back_as_it_was_written() {
    let owning = Owning {
        others: vec![other(Per::GpuYear, 3)],
        housing: Housing::Colocation { price: number("150"), contracted_kw: None, energy: Energy::Included },
        ..Owning::default()
    };
    let text = serde_json::to_string(&owning).unwrap();
    assert_eq!(serde_json::from_str::<Owning>(&text).unwrap(), owning);
    assert_eq!(serde_json::from_str::<Owning>("{}").unwrap(), Owning::default());
    assert!(serde_json::from_str::<Owning>(r#"{"gpu":3}"#).is_err());
}

prop_compose! {
    fn ownings()(
        gpus in 1u32..3000,
        gpus_per_node in 1u32..17,
        node_price in 1i64..1_000_000,
        spare in 0i64..20,
        life in 1i64..100,
        residual in 0i64..=100,
        capital in 0i64..300,
        maintenance in 0i64..200,
        unavailability in 0i64..50,
        utilization in 1i64..=100,
        idle in 0i64..50,
        load in 0i64..100,
        tariff in 0i64..400,
        demand in 0i64..40,
        housing in 0u8..3,
        hot_spares: bool,
        variable in 0i64..100,
    ) -> Owning {
        let energy = if housing == 1 { Energy::Included } else { Energy::Separate };
        let colocation = Housing::Colocation { price: 150.into(), contracted_kw: None, energy };
        Owning {
            gpus,
            gpus_per_node,
            node_price: node_price.into(),
            spare_share: decimal(spare, 2),
            hot_spares,
            life_years: decimal(life, 1),
            residual: Residual::Share { share: decimal(residual, 2) },
            cost_of_capital: decimal(capital, 3),
            maintenance_share: decimal(maintenance, 3),
            unavailability: decimal(unavailability, 2),
            utilization: decimal(utilization, 2),
            draw: Draw::Node { idle_kw: decimal(idle, 1), load_kw: decimal(idle + load, 1) },
            tariff: decimal(tariff, 3),
            demand_charge: demand.into(),
            housing: if housing == 0 { Housing::OwnRoom } else { colocation },
            others: vec![Other { amount: decimal(variable, 2), ..other(Per::ProductiveHour, 0) }],
            ..Owning::default()
        }
    }
}

/// All that is money, times so much.
fn scaled(owning: &Owning, factor: i64) -> Owning {
    let times = |amount: Decimal| amount.times(factor);
    Owning {
        node_price: times(owning.node_price),
        fabric: super::super::Fabric::Node { price: times(owning.fabric.per_node()) },
        tariff: times(owning.tariff),
        demand_charge: times(owning.demand_charge),
        housing: match owning.housing {
            Housing::Colocation { price, contracted_kw, energy } => {
                Housing::Colocation { price: times(price), contracted_kw, energy }
            }
            Housing::OwnRoom => Housing::OwnRoom,
        },
        staff: Staff { loaded_cost: times(owning.staff.loaded_cost), ..owning.staff.clone() },
        others: owning.others.iter().map(|it| Other { amount: times(it.amount), ..it.clone() }).collect(),
        ..owning.clone()
    }
}

proptest! {
    #[test]
    fn an_hour_gets_cheaper_and_a_year_no_cheaper_the_more_is_used(owning in ownings(), less in 1i64..100) {
        let utilization = product(&[owning.utilization, decimal(less, 2)]);
        let low = Owning { utilization, ..owning.clone() }.cost().unwrap();
        let high = owning.cost().unwrap();
        prop_assert!(low.total <= high.total);
        prop_assert!(low.per_hour(Hours::Productive).unwrap() > high.per_hour(Hours::Productive).unwrap());
    }

    #[test]
    fn towards_no_use_an_hour_costs_what_is_fixed(owning in ownings()) {
        let tiny = Owning { utilization: decimal(1, 9), ..owning }.cost().unwrap();
        let line = tiny.by_utilization;
        let limit = quotient(line.fixed, line.available_hours).unwrap();
        let hour = product(&[tiny.per_hour(Hours::Productive).unwrap(), tiny.utilization]);
        prop_assert!((hour - limit).abs() <= product(&[limit + line.variable, Decimal::new(1, 8)]));
    }

    #[test]
    fn a_currency_of_another_size_scales_every_cost(owning in ownings(), factor in 2i64..1000) {
        let (one, many) = (owning.cost().unwrap(), scaled(&owning, factor).cost().unwrap());
        prop_assert!(close(one.total.times(factor), many.total));
        let hour = |cost: &OwningCost| cost.per_hour(Hours::Productive).unwrap();
        prop_assert!(close(hour(&one).times(factor), hour(&many)));
    }

    #[test]
    fn more_gpus_need_no_fewer_people(gpus in 0u32..5000, more in 0u32..5000) {
        let staff = Staff::default();
        prop_assert!(staff.people(gpus) <= staff.people(gpus + more));
    }

    #[test]
    fn a_spare_makes_no_hour_cheaper(owning in ownings(), more in 1i64..50) {
        let spared = Owning { spare_share: owning.spare_share + decimal(more, 2), ..owning.clone() };
        prop_assert!(spared.cost().unwrap().per_hour(Hours::Productive) >= owning.cost().unwrap().per_hour(Hours::Productive));
    }

    #[test]
    fn colocation_that_includes_energy_takes_away_exactly_energy_and_demand_charge(owning in ownings()) {
        let with = |energy| {
            let housing = Housing::Colocation { price: 150.into(), contracted_kw: None, energy };
            Owning { housing, ..owning.clone() }.cost().unwrap()
        };
        let (separate, included) = (with(Energy::Separate), with(Energy::Included));
        let power = separate.of(Part::Energy) + separate.of(Part::DemandCharge);
        prop_assert_eq!(separate.total - included.total, power);
        prop_assert!(included.of(Part::Energy).is_zero() && included.of(Part::DemandCharge).is_zero());
    }

    #[test]
    fn components_sum_to_the_total(owning in ownings()) {
        let cost = owning.cost().unwrap();
        prop_assert_eq!(cost.components.iter().map(|it| it.per_year).sum::<Decimal>(), cost.total);
        prop_assert!(close(cost.by_utilization.at(cost.utilization), cost.total));
    }

    #[test]
    fn the_split_says_what_the_model_says_at_any_utilization(owning in ownings(), utilization in 0i64..=100) {
        let utilization = decimal(utilization, 2);
        let line = owning.cost().unwrap().by_utilization;
        let again = Owning { utilization, ..owning }.cost().unwrap();
        prop_assert!(close(line.at(utilization), again.total));
    }
}
