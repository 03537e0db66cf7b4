use super::*;
use crate::economics::owning::{
    About, Draw, Energy, Fabric, Housing, OneOff, Other, Owning, Per, Residual, Staff, Step, Tenure,
};
use crate::money::number;

fn found(owning: &Owning) -> Vec<(Severity, String)> {
    super::owning(owning).iter().map(|it| (it.severity, it.field.clone())).collect()
}

fn colocation(price: &str, contracted_kw: Option<&str>, energy: Energy) -> Housing {
    Housing::Colocation { price: number(price), contracted_kw: contracted_kw.map(number), energy }
}

fn other(about: About) -> Vec<Other> {
    vec![Other { name: "That".into(), about, amount: 1.into(), per: Per::Year }]
}

#[test]
fn what_is_common_has_nothing_odd() {
    assert!(super::owning(&Owning::default()).is_empty());
    let housed = Owning { housing: colocation("200", None, Energy::Included), ..Owning::default() };
    assert!(super::owning(&housed).is_empty());
}

#[test]
fn a_rebate_is_nothing_odd() {
    let rebates = [About::Support, About::SomethingElse]
        .map(|about| Other { amount: number("-1000"), ..other(about).remove(0) });
    let one_offs = vec![OneOff { name: "Credit".into(), amount: number("-5000") }];
    let plain = Owning::default();
    let it = Owning { others: rebates.into(), one_offs, ..plain.clone() };
    assert!(super::owning(&it).is_empty(), "{:?}", super::owning(&it));
    assert!(it.cost().unwrap().total < plain.cost().unwrap().total - number("2000"));
}

#[test]
fn what_cannot_be_computed_with_is_refused() {
    let base = Owning::default;
    let steps = |pairs: &[(u32, &str)]| Staff {
        steps: pairs
            .iter()
            .map(|(gpus, people)| Step { up_to_gpus: *gpus, people: number(people) })
            .collect(),
        ..Staff::default()
    };
    let share = |share| Residual::Share { share: number(share) };
    let table = vec![
        ("pue", Owning { pue: number("0.99"), ..base() }),
        ("pue", Owning { pue: number("11"), ..base() }),
        ("life_years", Owning { life_years: Decimal::ZERO, ..base() }),
        ("life_years", Owning { life_years: number("-3"), ..base() }),
        ("life_years", Owning { life_years: number("51"), ..base() }),
        ("residual.share", Owning { residual: share("1.01"), ..base() }),
        ("residual.share", Owning { residual: share("-0.1"), ..base() }),
        (
            "residual.shares.1",
            Owning { residual: Residual::Age { shares: vec![one(), number("2")] }, ..base() },
        ),
        ("utilization", Owning { utilization: number("1.01"), ..base() }),
        ("utilization", Owning { utilization: number("80"), ..base() }),
        ("allocated_share", Owning { allocated_share: Some(number("0.79")), ..base() }),
        ("unavailability", Owning { unavailability: one(), ..base() }),
        ("spare_share", Owning { spare_share: number("-0.05"), ..base() }),
        ("cost_of_capital", Owning { cost_of_capital: number("10"), ..base() }),
        ("maintenance_share", Owning { maintenance_share: number("5"), ..base() }),
        ("rework", Owning { rework: number("0.9"), ..base() }),
        ("gpus", Owning { gpus: 1_000_001, ..base() }),
        ("gpus_per_node", Owning { gpus_per_node: 0, ..base() }),
        ("node_price", Owning { node_price: number("-1"), ..base() }),
        ("node_price", Owning { node_price: number("1e20"), ..base() }),
        ("tenure.price", Owning { tenure: Tenure::Leased { price: Decimal::ZERO }, ..base() }),
        ("tenure.price", Owning { tenure: Tenure::Leased { price: number("-1") }, ..base() }),
        ("tariff", Owning { tariff: number("0.1000000000000000000000001"), ..base() }),
        ("fabric.per_node", Owning { fabric: Fabric::Port { price: one(), per_node: 1001 }, ..base() }),
        (
            "draw.load_kw",
            Owning { draw: Draw::Node { idle_kw: number("9"), load_kw: number("8") }, ..base() },
        ),
        ("housing.price", Owning { housing: colocation("-1", None, Energy::Included), ..base() }),
        ("staff.steps.1.up_to_gpus", Owning { staff: steps(&[(64, "1"), (64, "2")]), ..base() }),
        (
            "staff.loaded_cost",
            Owning { staff: Staff { loaded_cost: number("-1"), ..Staff::default() }, ..base() },
        ),
        (
            "others.0.amount",
            Owning {
                others: vec![Other {
                    amount: number("-1"),
                    per: Per::ProductiveHour,
                    ..other(About::SomethingElse).remove(0)
                }],
                ..base()
            },
        ),
    ];
    for (field, owning) in table {
        assert_eq!(found(&owning), [(Severity::Refusal, field.to_owned())], "{owning:?}");
        assert!(owning.cost().is_err());
    }
}

#[test]
fn what_is_probably_a_mistake_is_a_warning_beside_the_answer() {
    let base = Owning::default;
    let draw = |idle, load| Draw::Node { idle_kw: number(idle), load_kw: number(load) };
    let gpu = Draw::Gpu { idle_kw: number("0.1"), load_kw: number("0.25"), node_factor: one() };
    let included = colocation("200", None, Energy::Included);
    let falling = Staff {
        steps: vec![Step { up_to_gpus: 64, people: number("2") }, Step { up_to_gpus: 128, people: one() }],
        ..Staff::default()
    };
    let table = vec![
        ("utilization", Owning { utilization: number("0.96"), ..base() }),
        ("utilization", Owning { utilization: Decimal::ZERO, ..base() }),
        ("gpus", Owning { gpus: 0, ..base() }),
        ("node_price", Owning { node_price: Decimal::ZERO, ..base() }),
        // 36 months of it are 36,000 and 1,080,000, for a node of 375,000.
        ("tenure.price", Owning { tenure: Tenure::Leased { price: 1000.into() }, ..base() }),
        ("tenure.price", Owning { tenure: Tenure::Leased { price: 30_000.into() }, ..base() }),
        (
            "node_price",
            Owning { tenure: Tenure::Leased { price: 9000.into() }, node_price: Decimal::ZERO, ..base() },
        ),
        ("life_years", Owning { life_years: number("36"), ..base() }),
        ("pue", Owning { pue: number("2.1"), ..base() }),
        ("draw.load_kw", Owning { draw: draw("0.5", "2.3"), ..base() }),
        ("draw.load_kw", Owning { draw: gpu, ..base() }),
        ("rated_kw", Owning { draw: draw("2", "10.3"), ..base() }),
        ("rack_kw", Owning { rack_kw: number("10"), ..base() }),
        ("housing.price", Owning { housing: colocation("0", None, Energy::Included), ..base() }),
        (
            "housing.contracted_kw",
            Owning { housing: colocation("200", Some("60"), Energy::Included), ..base() },
        ),
        ("demand_charge", Owning { housing: included, demand_charge: one(), ..base() }),
        ("building", Owning { housing: included, building: one(), ..base() }),
        ("staff.steps.1.people", Owning { staff: falling, ..base() }),
        ("others.0.amount", Owning { others: other(About::Network), ..base() }),
        ("others.0.amount", Owning { others: other(About::Power), ..base() }),
        (
            "others.0.amount",
            Owning { housing: included, tariff: Decimal::ZERO, others: other(About::Power), ..base() },
        ),
        ("others.0.amount", Owning { housing: included, others: other(About::Housing), ..base() }),
        ("others.0.amount", Owning { others: other(About::Staff), ..base() }),
        ("others.0.amount", Owning { others: other(About::Support), ..base() }),
        ("others.0.amount", Owning { software_per_gpu: one(), others: other(About::Software), ..base() }),
    ];
    for (field, owning) in table {
        assert_eq!(found(&owning), [(Severity::Warning, field.to_owned())], "{owning:?}");
        assert_eq!(owning.cost().unwrap().warnings.len(), 1);
    }
}

#[test]
fn what_is_counted_nowhere_else_is_not_counted_twice() {
    let base = Owning::default;
    let without_fabric =
        Owning { fabric: Fabric::Node { price: Decimal::ZERO }, others: other(About::Network), ..base() };
    assert!(super::owning(&without_fabric).is_empty());
    let metered = Owning { tariff: Decimal::ZERO, others: other(About::Power), ..base() };
    assert!(super::owning(&metered).is_empty());
    assert!(super::owning(&Owning { others: other(About::SomethingElse), ..base() }).is_empty());
}

#[test]
fn refusals_come_first_and_findings_are_sentences() {
    let odd = Owning { gpus: 0, pue: number("0.5"), ..Owning::default() };
    let findings = super::owning(&odd);
    let described: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        described,
        [
            "pue is 0.5: expected 1 or more, mostly 1.1 to 1.6: a site cannot draw less power than its machines",
            "gpus is 0: expected at least 1: without GPUs there is no cost per hour",
        ]
    );
    let Err(Refused(refusals)) = findings.warnings_or_refused() else { panic!("a refusal refuses") };
    assert_eq!(refusals.len(), 1);
}

#[test]
fn what_a_scenario_says_itself_of_machines_is_refused_with_what_to_enter_instead() {
    let text = |machines: &str| {
        format!(
            r#"
[[work]]
name = "w"
demand = {{ shape = "flat", gpus = 8, hours_per_day = 24 }}
[[option]]
name = "Our own"
place = [{{ owned = {{ gpus = 8, machines = {{ {machines} }} }} }}]
"#
        )
    };
    for (entered, described) in [
        (
            "rework = 1.2",
            "rework (line 7): 1.2: has no effect in this option: remove it; enter it as rework of the place",
        ),
        (
            "cost_of_capital = 0.2",
            "cost_of_capital (line 7): 0.2: has no effect in this option: remove it; the scenario sets the cost of capital",
        ),
        (
            "utilization = 0.5",
            "utilization (line 7): 0.5: has no effect in this option: remove it; it follows",
        ),
        ("gpus = 16", "gpus (line 7): 16: has no effect in this option: remove it; enter the number as gpus"),
        ("allocated_share = 0.9", "allocated_share (line 7): 0.9: has no effect"),
        ("lead_months = 6", "lead_months (line 7): 6: has no effect"),
        ("air_rise = 30", "air_rise (line 7): 30: has no effect"),
    ] {
        let wrong = crate::economics::file::read(&text(entered)).unwrap_err();
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains(described), "{described} is not in {wrong:?}");
    }
    let usual = crate::economics::file::read(&text("")).unwrap();
    let again = crate::economics::file::write(&usual).unwrap();
    assert_eq!(crate::economics::file::read(&again).unwrap(), usual, "what was downloaded can be read");
}
