use proptest::prelude::*;

use super::*;
use crate::economics::cash::Payments;
use crate::economics::comparison::{Gpus, LayerKind, OptionAnswer, Scenario};
use crate::economics::uncertainty::model::Works;
use crate::economics::uncertainty::{Input, changed, inputs, tornado};
use crate::money::arithmetic::{decimal, product};

const TEXT: &str = r#"
name = "four ways"
months = 30
cost_of_capital = 0.08

[[work]]
name = "training"
demand = { shape = "swinging", base = 60, day_swing = 0.5, weekend = 0.4, noise = 0.1, seed = 3 }
interruptible = 0.4
tokens_per_hour = 250_000

[[option]]
name = "On demand"
place = [{ supplier = "AWS", support = 0.03, on_demand = { price = 6.88 } }]

[[option]]
name = "Reserved"
[[option.place]]
supplier = "AWS"
support = 0.03
committed = [{ rate = { price = 5.25, path = { by = "decline", yearly = 0.1 } }, months = 30, gpus = "best" }, { rate = { price = 5.60 }, upfront = 900, months = 10 }]
on_demand = { price = 6.88 }
spot = { rate = { price = 6.10 }, rework = 1.05, gpus = 16 }
blocks = [{ rate = { price = 5.9, path = { by = "steps", steps = [{ month = 12, factor = 0.7 }] } }, gpus = 24, hours = 400, every_months = 5, first_month = 2, starts_at_hour = 100 }]
others = [{ name = "Moving there", amount = 50_000, per = "once" }, { name = "Storage", amount = 0.02, per = "gpu-hour" }]

[[option]]
name = "Our own"
[[option.place]]
supplier = "we"
owned = { gpus = "best", machines = { tariff = 0.12, storage = 90_000, installation = 20_000, building = 50_000, residual = { by = "share", share = 0.2 }, one_offs = [{ name = "move", amount = 30000 }], others = [{ name = "Rebate", about = "support", amount = -8000, per = "year" }, { name = "Licenses", about = "something-else", amount = 900, per = "gpu-year" }] } }
on_demand = { price = 6.88 }

[[option]]
name = "Too few"
place = [{ supplier = "X", committed = [{ rate = { price = 1 }, months = 30, gpus = 8 }] }]

[[option]]
name = "By the token"
place = [{ supplier = "I", support = 0.02, per_million_tokens = { price = 19, path = { by = "steps", steps = [{ month = 9, factor = 0.8 }, { month = 18, factor = 0.7 }] } } }]

[[option]]
name = "Other chips"
[[option.place]]
supplier = "C"
performance = 0.5
on_demand = { price = 2 }
porting = { releases_per_year = 2, ported_anew = 0.1, chance = 1 }
moved = [{ name = "Data", rates = { of = "flat", price = 0.06 }, gigabytes = 60_000, every = "month", hops = [{ by = "nat" }, { by = "region", price = 0.03 }] }, { name = "At first", rates = { of = "google-premium" }, gigabytes = 7_000, every = "once" }]

[[option]]
name = "Leased"
[[option.place]]
supplier = "lessor"
owned = { gpus = 64, machines = { tenure = { nodes = "leased", price = 9500 }, life_years = 2 }, refresh = { price_ratio = 1.2 } }
on_demand = { price = 6.88 }
"#;

fn scenario() -> Scenario {
    crate::economics::file::read(TEXT).unwrap()
}

/// How much there is of everything stays as it was decided.
fn decided(scenario: &Scenario, compared: &Comparison) -> Scenario {
    let mut decided = scenario.clone();
    for (option, answer) in decided.options.iter_mut().zip(&compared.options) {
        for (place, answer) in option.places.iter_mut().zip(&answer.places) {
            if let (Some(owned), Some(machines)) = (&mut place.owned, &answer.machines) {
                owned.gpus = Gpus::Number(machines.gpus);
            }
            for committed in &mut place.committed {
                committed.gpus = Gpus::Number(0);
            }
            for layer in answer.layers.iter().filter(|it| it.kind == LayerKind::Committed) {
                let gpus = layer.gpus.unwrap().to_string().parse().unwrap();
                place.committed[layer.entered.unwrap()].gpus = Gpus::Number(gpus);
            }
        }
    }
    decided
}

#[test]
fn inputs_that_are_the_same_are_one() {
    let inputs = inputs(&scenario());
    let labels: Vec<(&str, usize)> = inputs.iter().map(|it| (it.label.as_str(), it.keys.len())).collect();
    assert!(labels.contains(&("On demand, AWS", 2)), "{labels:?}");
    assert!(labels.contains(&("On demand, we", 1)));
    assert!(labels.contains(&("Cost of capital", 1)));
    assert!(inputs.iter().all(|it| it.low <= it.value && it.value <= it.high));
}

#[test]
fn what_is_read_in_one_place_is_one_whoever_uses_it() {
    let offered = crate::economics::template::template("ten-nodes").unwrap();
    let inputs = inputs(&crate::economics::file::read(offered.text).unwrap());
    let on_demand: Vec<(&str, usize)> = inputs
        .iter()
        .filter(|it| it.label.starts_with("On demand"))
        .map(|it| (it.label.as_str(), it.keys.len()))
        .collect();
    // As overflow of our own room, too.
    assert_eq!(on_demand, [("On demand, AWS", 4), ("On demand, Lambda", 1)]);
}

#[test]
fn inputs_of_one_supplier_that_differ_have_names_that_differ() {
    let text = r#"
[[work]]
name = "Training"
demand = { shape = "flat", gpus = 16, hours_per_day = 24 }
unserved_cost = 3
[[work]]
name = "Serving"
demand = { shape = "flat", gpus = 8, hours_per_day = 24 }
unserved_cost = 5
[[option]]
name = "East"
place = [{ supplier = "X", on_demand = { price = 4 } }]
[[option]]
name = "West"
place = [
    { supplier = "X", serves = ["Training"], on_demand = { price = 3 } },
    { supplier = "X", serves = ["Serving"], on_demand = { price = 2 } },
]
"#;
    let inputs = inputs(&crate::economics::file::read(text).unwrap());
    let of = |name: &str| {
        inputs.iter().map(|it| it.label.as_str()).filter(|it| it.starts_with(name)).collect::<Vec<_>>()
    };
    assert_eq!(of("On demand"), ["On demand, X", "On demand, X (Training)", "On demand, X (Serving)"]);
    for template in crate::economics::template::templates() {
        let inputs =
            crate::economics::uncertainty::inputs(&crate::economics::file::read(template.text).unwrap());
        let labels: std::collections::BTreeSet<&str> = inputs.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels.len(), inputs.len(), "{}", template.handle);
    }
}

#[test]
fn what_is_decided_anew_in_one_place_is_drawn_in_none() {
    let text = r#"
[[work]]
name = "w"
demand = { shape = "flat", gpus = 16, hours_per_day = 24 }
[[option]]
name = "By use"
place = [{ supplier = "X", performance = 0.8, on_demand = { price = 4 } }]
[[option]]
name = "Reserved"
place = [{ supplier = "X", performance = 0.8, committed = [{ rate = { price = 3 }, months = 36, gpus = "best" }], on_demand = { price = 4 } }]
"#;
    let labels = |text: &str| -> Vec<String> {
        inputs(&crate::economics::file::read(text).unwrap()).into_iter().map(|it| it.label).collect()
    };
    assert!(!labels(text).contains(&"Worth of an hour, X".to_owned()));
    let other = text.replacen("supplier = \"X\"", "supplier = \"Y\"", 1);
    assert!(labels(&other).contains(&"Worth of an hour, Y".to_owned()));
    // The term of a lease is in a contract.
    assert!(!inputs(&scenario()).iter().any(|it| it.label == "Years until it is replaced, lessor"));
    assert!(inputs(&scenario()).iter().any(|it| it.label == "Years until it is replaced, we"));
}

#[test]
fn the_model_costs_what_the_exact_comparison_costs() {
    let entered = scenario();
    let compared = entered.compare().unwrap();
    let decided = decided(&entered, &compared);
    let inputs = inputs(&decided);
    for (option, before) in decided.compare().unwrap().options.iter().zip(&compared.options) {
        assert_eq!(
            (option.present_value, uses(option)),
            (before.present_value, uses(before)),
            "{}",
            option.name
        );
    }
    let model = Model::new(&decided, &compared, &inputs);
    let base: Vec<f64> = inputs.iter().map(|it| float(it.value)).collect();
    let mut totals = Vec::new();
    model.totals(&base, Works::Expected, &mut totals);
    for (total, option) in totals.iter().zip(&compared.options) {
        assert_eq!(cents(*total), option.present_value.round(2), "{}", option.name);
    }
    for (at, input) in inputs.iter().enumerate().filter(|(_, it)| !is_list(it)) {
        for value in [input.low, input.high] {
            let exact = changed(&decided, input, value).unwrap().compare().unwrap();
            let mut values = base.clone();
            values[at] = float(value);
            model.totals(&values, Works::Expected, &mut totals);
            for ((total, option), before) in totals.iter().zip(&exact.options).zip(&compared.options) {
                // Spot is not taken where on demand costs less, which costs no more.
                if uses(option) != uses(before) && !is_of_hours(input) {
                    let is_of_use = ["Spot", "Hours of spot", "On demand"];
                    assert!(is_of_use.iter().any(|it| input.label.starts_with(it)), "{}", input.label);
                    assert!(float(option.present_value) <= *total + 0.01, "{} {}", option.name, input.label);
                    continue;
                }
                let difference = (total - float(option.present_value)).abs();
                let all = tolerance(input, *total);
                assert!(
                    difference < all,
                    "{} by {}: {total} {}",
                    before.name,
                    input.label,
                    option.present_value
                );
            }
        }
    }
}

/// Of a price list there is no exact answer with another value.
fn is_list(input: &Input) -> bool {
    input.keys[0].ends_with("/rates/of")
}

/// Hours of a place are counted in thousandths of a GPU, to which they are rounded anew.
fn is_of_hours(input: &Input) -> bool {
    input.label.starts_with("Worth of an hour") || input.label.starts_with("Hours for a useful one")
}

fn tolerance(input: &Input, total: f64) -> f64 {
    // Machines are bought again after whole months; their annuity goes on for parts of one.
    let is_life =
        input.label.starts_with("Years until it is replaced") || input.label.starts_with("Term of the lease");
    if is_life {
        total * 1e-2
    } else if is_of_hours(input) {
        total * 1e-4
    } else {
        0.01
    }
}

/// Places that are paid by use alone, whose hours follow from what one is worth; and machines that others replace.
const WORTH: &str = r#"
months = 24
[[work]]
name = "w"
demand = { shape = "flat", gpus = 16, hours_per_day = 18 }
interruptible = 0.5
unserved_cost = 9
tokens_per_hour = 300_000
[[option]]
name = "Elsewhere"
[[option.place]]
supplier = "A"
performance = 0.8
rework = 1.05
obtainable = 0.9
support = 0.05
on_demand = { price = 4 }
spot = { rate = { price = 2 } }
others = [{ name = "Storage", amount = 0.02, per = "gpu-hour" }, { name = "", amount = 300, per = "month" }]
[[option]]
name = "By the token"
place = [{ supplier = "I", obtainable = 0.95, per_million_tokens = { price = 15 } }]
[[option]]
name = "Replaced"
[[option.place]]
supplier = "we"
performance = 1.2
owned = { gpus = 16, refresh = { price_ratio = 1.2, performance_ratio = 2 }, machines = { life_years = 1, node_price = 300_000, software_per_gpu = 200 } }
on_demand = { price = 9 }
"#;

#[test]
fn what_an_hour_is_worth_moves_what_is_paid_by_use() {
    let scenario = crate::economics::file::read(WORTH).unwrap();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let model = Model::new(&scenario, &compared, &inputs);
    let mut moved = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let mut by = false;
        for value in [input.low, input.high] {
            let exact = changed(&scenario, input, value).unwrap().compare().unwrap();
            for (option, total) in model.with(at, float(value)).iter().enumerate() {
                let [exact, before] = [&exact, &compared].map(|it| float(it.options[option].present_value));
                let name = &compared.options[option].name;
                let difference = (total - exact).abs();
                assert!(difference < tolerance(input, *total), "{name} by {}: {total} {exact}", input.label);
                by |= (exact - before).abs() > 1.0;
            }
        }
        if by {
            moved.push(input.label.as_str());
        }
    }
    // Of our own machines neither what an hour is worth nor their life: both would decide anew how many there are.
    let expected = [
        "A million tokens, I",
        "An hour that is not served",
        "Another cost, A",
        "Cost of capital",
        "Fabric, we",
        "Hours for a useful one, A",
        "Hours of spot for a useful one, A",
        "Loaded cost of staff, we",
        "Maintenance, we",
        "On demand, A",
        "PUE, we",
        "Price of a kWh, we",
        "Price of a node, we",
        "Price of the next machines, we",
        "Software, we",
        "Spot, A",
        "Storage, A",
        "Support, A",
        "There when asked for, A",
        "There when asked for, I",
        "Tokens that an hour makes",
        "What a node draws, we",
        "What used machines go for, we",
        "Worth of an hour, A",
    ];
    moved.sort_unstable();
    assert_eq!(moved, expected);
}

#[test]
fn a_price_list_moves_what_is_paid_by_it_and_nothing_else() {
    let text = TEXT.replace(r#"{ of = "flat", price = 0.06 }"#, r#"{ of = "aws" }"#);
    let scenario = crate::economics::file::read(&text).unwrap();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let model = Model::new(&scenario, &compared, &inputs);
    let moved = &compared.options[5].places[0].moved;
    // A gateway's price is on the list, too; that between regions is entered.
    let [.., between] = &moved[0].each.parts[..] else { panic!() };
    let each = moved[0].each.total.value.unwrap() - between.value.unwrap();
    let monthly = Payments::level(Decimal::ZERO, each, 30).present_value(scenario.cost_of_capital);
    for (list, cost) in [("AWS", monthly), ("Google Cloud, premium tier", moved[1].cost)] {
        let label = format!("Price list for data out of {list}");
        let at = inputs.iter().position(|it| it.label == label).unwrap();
        assert!(is_list(&inputs[at]) && inputs[at].value == 1.into());
        for (option, total) in model.with(at, 0.25).iter().enumerate() {
            let off = if option == 5 { product(&[cost, decimal(75, 2)]) } else { Decimal::ZERO };
            let expected = float(compared.options[option].present_value - off);
            assert!((total - expected).abs() < 0.01, "{list} {option}: {total} {expected}");
        }
    }
}

/// What serves which hours.
fn uses(option: &OptionAnswer) -> Vec<(LayerKind, Decimal)> {
    let layers = option.places.iter().flat_map(|it| &it.layers);
    layers.map(|it| (it.kind, it.used_hours)).collect()
}

/// A commitment of none before another one, what is paid upfront, and prices by the month.
const TERMS: &str = r#"
months = 36
[[work]]
name = "w"
demand = { shape = "flat", gpus = 16, hours_per_day = 24 }
[[option]]
name = "Committed"
[[option.place]]
supplier = "A"
support = 0.03
committed = [{ rate = { price = 9 }, months = 36, gpus = 0 }, { rate = { price = 4, path = { by = "decline", yearly = 0.2 } }, upfront = 900, months = 12, gpus = 8 }]
on_demand = { price = 6 }
[[option]]
name = "By the month"
place = [{ supplier = "B", on_demand = { price = 6, path = { by = "entered", prices = [6, 5.5, 5] } } }]
"#;

#[test]
fn each_price_moves_what_is_paid_at_it_and_nothing_else() {
    let scenario = crate::economics::file::read(TERMS).unwrap();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let model = Model::new(&scenario, &compared, &inputs);
    let labels: Vec<&str> = inputs.iter().map(|it| it.label.as_str()).collect();
    assert!(labels.contains(&"On demand month by month, B"), "{labels:?}");
    let mut moved = 0;
    for (at, input) in inputs.iter().enumerate() {
        for value in [input.low, input.high] {
            let exact = changed(&scenario, input, value).unwrap().compare().unwrap();
            let totals = model.with(at, float(value));
            for ((total, option), before) in totals.iter().zip(&exact.options).zip(&compared.options) {
                let difference = (total - float(option.present_value)).abs();
                assert!(
                    difference < 0.01,
                    "{} by {}: {total} {}",
                    before.name,
                    input.label,
                    option.present_value
                );
                moved += u32::from(option.present_value != before.present_value);
            }
        }
    }
    // Support, both prices of the commitment that is there, on demand; on demand by the month; and what money costs both.
    assert_eq!(moved, 14);
}

#[test]
fn what_is_not_served_costs_in_draws_what_it_costs() {
    let text = TEXT.replace("interruptible = 0.4", "interruptible = 0.4\nunserved_cost = 9");
    let text = text.replace("supplier = \"AWS\", support = 0.03,", "supplier = \"AWS\", obtainable = 0.9,");
    let scenario = crate::economics::file::read(&text).unwrap();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let model = Model::new(&scenario, &compared, &inputs);
    let base: Vec<f64> = inputs.iter().map(|it| float(it.value)).collect();
    let missing = inputs.iter().position(|it| it.label == "An hour that is not served").unwrap();
    for value in [inputs[missing].low, inputs[missing].high] {
        let exact = changed(&scenario, &inputs[missing], value).unwrap().compare().unwrap();
        let (mut values, mut totals) = (base.clone(), Vec::new());
        values[missing] = float(value);
        model.totals(&values, Works::Expected, &mut totals);
        // On demand, and what is committed to and too little.
        for at in [0, 3] {
            assert!(!compared.options[at].places[0].unserved_cost.is_zero());
            assert!((totals[at] - float(exact.options[at].present_value)).abs() < 0.01, "{value} {at}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_shares_make_sense() {
    let scenario = scenario();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let of = |seed| simulate(&compared, &Model::new(&scenario, &compared, &inputs), (seed, 2000));
    let first = of(1);
    let bytes = |it: &Simulation| serde_json::to_string(it).unwrap();
    assert_eq!(bytes(&first), bytes(&of(1)));
    assert_ne!(bytes(&first), bytes(&of(2)));
    let won: Decimal = first.options.iter().filter_map(|it| it.cheapest).sum();
    assert_eq!(won, 1.into(), "one of them is cheapest in each draw");
    assert_eq!(first.options[3].cheapest, None, "what does not do the work is not");
    for option in &first.options {
        assert!(option.p10 <= option.p50 && option.p50 <= option.p90);
        assert_eq!(option.bars.iter().sum::<u32>(), 2000);
    }
    assert_eq!(first.edges.len(), BARS as usize + 1);
}

#[test]
fn without_a_range_it_is_the_exact_answer_to_the_cent() {
    let scenario = scenario();
    let compared = scenario.compare().unwrap();
    let mut inputs = inputs(&scenario);
    for input in &mut inputs {
        (input.low, input.high) = (input.value, input.value);
    }
    let simulation = simulate(&compared, &Model::new(&scenario, &compared, &inputs), (1, 50));
    for (outcome, option) in simulation.options.iter().zip(&compared.options) {
        let exact = option.present_value.round(2);
        assert_eq!([outcome.p10, outcome.p50, outcome.p90, outcome.mean], [exact; 4], "{}", option.name);
    }
}

#[test]
fn regret_is_what_an_option_costs_more_than_the_cheapest_of_its_draw() {
    let scenario = scenario();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let simulated =
        |inputs: &[Input]| simulate(&compared, &Model::new(&scenario, &compared, inputs), (9, 3000));
    let drawn = simulated(&inputs).options;
    assert_eq!(drawn[3].regret, None, "what does not do the work is not regretted");
    let regretted: Vec<(&Outcome, Regret)> = drawn.iter().filter_map(|it| Some((it, it.regret?))).collect();
    assert_eq!(regretted.len(), 6);
    let (first, least) = regretted[0];
    for (outcome, regret) in &regretted {
        assert!(!regret.mean.is_negative() && !regret.p90.is_negative());
        // The cheapest of each simulation is the same for all, so that means lie as far apart as those of the totals.
        let apart = (outcome.mean - first.mean) - (regret.mean - least.mean);
        assert!(apart.abs() <= decimal(2, 2), "{apart}");
        // What is cheapest in nine of ten simulations loses nothing in them.
        assert_eq!(regret.p90.is_zero(), outcome.cheapest.unwrap() >= decimal(9, 1));
    }
    for (at, outcome) in drawn.iter().enumerate() {
        for (other, than) in drawn.iter().enumerate().filter(|(other, _)| *other != at) {
            assert_eq!(outcome.beats[other] + than.beats[at], 1.into(), "one of two costs less in each draw");
        }
    }
    let certain: Vec<Input> =
        inputs.iter().map(|it| Input { low: it.value, high: it.value, ..it.clone() }).collect();
    let least = compared.options[compared.cheapest.unwrap()].present_value;
    for (outcome, option) in simulated(&certain).options.iter().zip(&compared.options) {
        let Some(regret) = outcome.regret else { continue };
        assert!((regret.mean - (option.present_value - least)).abs() <= decimal(1, 2), "{}", option.name);
    }
}

#[test]
fn sensitivities_of_an_option_come_widest_first() {
    let scenario = scenario();
    let compared = scenario.compare().unwrap();
    let model = Model::new(&scenario, &compared, &inputs(&scenario));
    let sensitivities = model.sensitivities();
    assert_eq!(sensitivities.len(), compared.options.len());
    for (option, sensitivities) in compared.options.iter().zip(&sensitivities) {
        assert!(sensitivities.windows(2).all(|pair| pair[0].width() >= pair[1].width()), "{}", option.name);
    }
    // Nothing but its price and support moves what is rented on demand alone.
    // What money costs moves what all is worth today.
    let labels: Vec<&str> = sensitivities[0].iter().map(|it| it.input.label.as_str()).collect();
    assert_eq!(labels, ["On demand, AWS", "Cost of capital", "Support, AWS"]);
    let total = compared.options[0].present_value;
    let share = |hundredths| product(&[total, decimal(hundredths, 2)]).round(2);
    assert_eq!([sensitivities[0][0].low, sensitivities[0][0].high], [share(80), share(120)]);
}

#[test]
fn a_triangle_has_its_mean_and_a_linear_cost_the_cost_of_its_mean() {
    let mut random = Random::new(11);
    let n = 40_000;
    let sum: f64 = (0..n).map(|_| triangular(2.0, 3.0, 7.0, random.uniform())).sum();
    // (2 + 3 + 7) ÷ 3, within four standard errors of 1.08 ÷ √n.
    assert!((sum / f64::from(n) - 4.0).abs() < 4.0 * 1.08 / f64::from(n).sqrt());
    assert!((triangular(3.0, 3.0, 3.0, 0.4) - 3.0).abs() < f64::EPSILON);
}

#[test]
fn a_wider_range_moves_the_tenth_and_the_ninth_tenth_apart() {
    let scenario = scenario();
    let compared = scenario.compare().unwrap();
    let narrow = inputs(&scenario);
    let mut wide = narrow.clone();
    for input in &mut wide {
        input.low = input.low - (input.value - input.low);
        input.high += input.high - input.value;
    }
    let of = |inputs: &[Input]| simulate(&compared, &Model::new(&scenario, &compared, inputs), (5, 4000));
    for (narrow, wide) in of(&narrow).options.iter().zip(&of(&wide).options) {
        assert!(wide.p10 <= narrow.p10 && narrow.p90 <= wide.p90);
    }
}

#[test]
fn the_mean_of_a_linear_cost_is_the_cost_of_the_means() {
    let entered = scenario();
    let compared = entered.compare().unwrap();
    let draws = 20_000;
    // Only prices of an hour, of which all but what is owned is a sum of products with one of them.
    let inputs: Vec<Input> =
        inputs(&entered).into_iter().filter(|it| it.keys.iter().all(|key| key.ends_with("/price"))).collect();
    let model = Model::new(&entered, &compared, &inputs);
    let simulation = simulate(&compared, &model, (3, draws));
    let ends: Vec<[f64; 3]> =
        inputs.iter().map(|it| [float(it.low), float(it.value), float(it.high)]).collect();
    let means: Vec<f64> = ends.iter().map(|[low, peak, high]| (low + peak + high) / 3.0).collect();
    let totals = |values: &[f64]| {
        let mut totals = Vec::new();
        model.totals(values, Works::Expected, &mut totals);
        totals
    };
    let expected = totals(&means);
    // The variance of a sum: each slope squared × that of its triangle.
    let mut variances = vec![0.0; expected.len()];
    for (at, [low, peak, high]) in ends.iter().enumerate() {
        let mut moved = means.clone();
        moved[at] += 1.0;
        let variance = (low * low + peak * peak + high * high - low * peak - low * high - peak * high) / 18.0;
        for ((sum, with), without) in variances.iter_mut().zip(totals(&moved)).zip(&expected) {
            *sum += (with - without).powi(2) * variance;
        }
    }
    let mut described = 0;
    for (at, outcome) in simulation.options.iter().enumerate() {
        let error = (variances[at] / f64::from(draws)).sqrt();
        let off = (float(outcome.mean) - expected[at]).abs();
        assert!(off < 4.0 * error + 0.01, "{} is off by {off}, of {error}", compared.options[at].name);
        described += u32::from(error > 1.0);
    }
    assert!(described >= 5, "most of them are uncertain");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sensitivity_to_an_input_is_its_derivative(at in 0usize..50, option in 0usize..7) {
        // Sizes are decided by what is paid, without interest: decided anew, they may move the present value either way.
        let entered = decided(&scenario(), &scenario().compare().unwrap());
        let mut inputs = inputs(&entered);
        inputs.retain(|it| !is_list(it));
        let input = &inputs[at % inputs.len()];
        let total = |it: &Scenario| Some(it.compare().ok()?.options[option].present_value);
        let sensitivity = tornado(std::slice::from_ref(input), |_, value| total(&changed(&entered, input, value)?));
        let beside = |hundredths: i64| {
            let value = product(&[input.value, decimal(hundredths, 2)]);
            total(&changed(&entered, input, value).unwrap()).unwrap()
        };
        // Every present value rises or falls with an input.
        // A hundredth more of a rebate is a lower value.
        let steps = beside(101) - beside(100);
        let slope = if input.value.is_negative() { -steps } else { steps };
        match sensitivity.first() {
            Some(sensitivity) => prop_assert_eq!((sensitivity.high - sensitivity.low).is_negative(), slope.is_negative(), "{}", input.label),
            None => prop_assert!(slope.is_zero(), "{}", input.label),
        }
    }
}

/// Ported for 10,000 and a fifth more, with a chance of 60 %.
const UNCERTAIN: &str = r#"
months = 12
[[work]]
name = "w"
demand = { shape = "flat", gpus = 10, hours_per_day = 24 }
[[option]]
name = "Ported"
place = [{ supplier = "P", performance = 0.5, on_demand = { price = 1 }, porting = { engineer_weeks = 5.2, loaded_cost = 100_000, chance = 0.6, months_of_both = 1, meanwhile = { price = 3 } } }]
[[option]]
name = "As it is"
place = [{ supplier = "A", on_demand = { price = 3 } }]
"#;

#[test]
fn what_is_uncertain_to_work_is_expected_by_the_model_and_drawn() {
    let scenario = crate::economics::file::read(UNCERTAIN).unwrap();
    let compared = scenario.compare().unwrap();
    let inputs = inputs(&scenario);
    let model = Model::new(&scenario, &compared, &inputs);
    for (at, input) in inputs.iter().enumerate() {
        for value in [input.low, input.high] {
            let exact = changed(&scenario, input, value).unwrap().compare().unwrap();
            let total = model.with(at, float(value))[0];
            let difference = (total - float(exact.options[0].present_value)).abs();
            assert!(difference < tolerance(input, total), "{}: {total}", input.label);
        }
    }
    let sure: Vec<Input> =
        inputs.iter().map(|it| Input { low: it.value, high: it.value, ..it.clone() }).collect();
    let drawn = simulate(&compared, &Model::new(&scenario, &compared, &sure), (1, 10_000));
    let (option, fallback) = (&drawn.options[0], compared.options[0].fallback.as_ref().unwrap());
    let both = [fallback.present_value_if_it_works, fallback.present_value_if_it_fails];
    assert_eq!([option.p10, option.p90], both.map(|it| it.round(2)));
    let often = option.cheapest.unwrap();
    assert!((often - decimal(6, 1)).abs() < decimal(2, 2), "{often}");
    let expected = float(compared.options[0].present_value);
    assert!((float(option.mean) - expected).abs() < expected * 0.01);
}

#[test]
fn a_range_that_is_stated_is_drawn_from_end_to_end() {
    let text = UNCERTAIN.replace(
        "performance = 0.5,",
        "performance = 0.5, ranges = { performance = { low = 0.4, high = 0.8, source = \"who sells it\" } },",
    );
    let scenario = crate::economics::file::read(&text).unwrap();
    let of = |scenario: &Scenario| {
        inputs(scenario).into_iter().find(|it| it.label == "Worth of an hour, P").unwrap()
    };
    let input = of(&scenario);
    assert_eq!((input.low, input.value, input.high), (decimal(4, 1), decimal(5, 1), decimal(8, 1)));
    assert_eq!(input.source.as_deref(), Some("who sells it"));
    assert_eq!(of(&crate::economics::file::read(UNCERTAIN).unwrap()).source, None);
    let written = crate::economics::file::write(&scenario).unwrap();
    assert_eq!(crate::economics::file::read(&written).unwrap(), scenario, "{written}");
    // At an end of its range it is a claim's best case, and outside of it none.
    for (entered, described) in
        [("0.8", "at the end of its range, 0.4 to 0.8"), ("0.9", "outside its range, 0.4 to 0.8")]
    {
        let text = text.replace("performance = 0.5,", &format!("performance = {entered},"));
        let warnings = crate::economics::file::read(&text).unwrap().compare().unwrap().warnings;
        assert!(warnings.iter().any(|it| it.message.starts_with(described)), "{warnings:?}");
    }
    let nowhere = text.replace("{ performance = { low", "{ accelerator = { low");
    let refused = crate::economics::file::read(&nowhere).unwrap_err();
    assert!(refused[0].to_string().contains("place[0].accelerator (line"), "{refused:?}");
}
