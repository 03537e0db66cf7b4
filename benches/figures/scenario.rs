//! A comparison: a year of hours, six options, ten thousand draws.

use std::time::Instant;

use gpuledger::economics::profile::{Shape, in_gpus};
use gpuledger::economics::{Answer, file};
use gpuledger::money::Decimal;

use super::Sizes;
use super::table::{Figure, Measured};

/// Everything that takes time: what is owned as many as pay, commitments of two terms, spot.
const TEXT: &str = r#"
name = "Six ways"

[[work]]
name = "everything"
demand = { shape = "swinging", base = 400, day_swing = 0.4, weekend = 0.5, noise = 0.2, seed = 1 }
interruptible = 0.3
monthly_growth = 0.005

[[option]]
name = "On demand"
place = [{ supplier = "A", on_demand = { price = 6.88 } }]

[[option]]
name = "Reserved"
place = [{ supplier = "A", on_demand = { price = 6.88 }, committed = [{ months = 36, rate = { price = 3.9 } }, { months = 12, rate = { price = 4.6 } }] }]

[[option]]
name = "Reserved and spot"
place = [{ supplier = "A", on_demand = { price = 6.88 }, committed = [{ months = 12, rate = { price = 4.6 } }], spot = { rate = { price = 2.7 }, gpus = 200 } }]

[[option]]
name = "Elsewhere"
place = [{ supplier = "B", on_demand = { price = 3.99, path = { by = "decline", yearly = 0.1 } }, moved = [{ name = "Data", rates = { of = "aws" }, gigabytes = 20000, every = "month" }] }]

[[option]]
name = "Our own"
place = [{ supplier = "C", owned = { gpus = "best" } }]

[[option]]
name = "Our own and the rest rented"
place = [{ supplier = "C", owned = { gpus = "best" }, on_demand = { price = 6.88 } }]
"#;

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let mut scenario = file::read(TEXT).expect("a scenario");
    // Hours as they would come from a ledger.
    let year = scenario.work[0].demand.profile("", Decimal::ZERO);
    let gpus: Vec<Decimal> = year.hours().iter().map(|it| in_gpus(it.all().into())).collect();
    assert_eq!(gpus.len(), 8760);
    scenario.work[0].demand = Shape::Hours { gpus };

    let (mut answered, mut compared) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..sizes.runs {
        let began = Instant::now();
        scenario.compare().expect("a comparison");
        compared = compared.min(milliseconds(began));
        let began = Instant::now();
        let answer = Answer::of(&scenario).expect("an answer");
        answered = answered.min(milliseconds(began));
        assert_eq!((answer.sensitivities.len(), answer.simulation.draws), (6, 10_000));
        assert!(answer.cheapest_option.is_some_and(|it| !it.sensitivities.is_empty()));
    }
    let how = format!("{compared:.0} ms of it for the exact comparison");
    vec![Figure {
        name: "scenario: 8,760 hours, six options, 10,000 simulations, every sensitivity".into(),
        measured: Measured::As(answered, how),
        at_most: Some((300.0, "ms")),
    }]
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}
