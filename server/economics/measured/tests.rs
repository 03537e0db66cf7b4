use chrono::NaiveDate;

use super::*;
use crate::accelerator::PARTS;
use crate::economics::comparison::Gpus::Number;
use crate::money::number;
use crate::price_catalogue::{Catalogue, Tier};

const H100: &str = "nvidia-h100-sxm";

/// So many GPUs in each hour, in thousandths.
fn way(paid: HowPaid, cost: &str, gpus: impl IntoIterator<Item = i64>) -> Way {
    let part_seconds =
        |thousandths: i64| Decimal::from(PARTS * 3600).times(thousandths).multiply(number("0.001"));
    Way {
        supplier: "AWS".to_owned(),
        paid,
        hours: gpus.into_iter().map(part_seconds).collect(),
        cost: number(cost),
    }
}

fn used(ways: Vec<Way>) -> Used {
    Used {
        accelerator: H100,
        name: "H100".to_owned(),
        gpus_per_node: 8,
        ways,
        unused: Decimal::ZERO,
        listed: Catalogue::shipped().of(H100).cloned().collect(),
        machines: Some(Machines {
            owning: Owning::default(),
            name: "Our own".to_owned(),
            source: "assumed".to_owned(),
        }),
    }
}

fn measured(models: Vec<Used>) -> Measured {
    Measured {
        whose: "Everything".to_owned(),
        period: "2026-09".parse().unwrap(),
        currency: Currency::exactly("USD"),
        models,
        dollar: Some(1.into()),
    }
}

/// September has 720 hours.
fn hours(gpus: impl Fn(i64) -> i64) -> Vec<i64> {
    (0..720).map(gpus).collect()
}

fn mixed() -> Used {
    used(vec![
        way(HowPaid::Owned, "23040", hours(|_| 16_000)),
        way(HowPaid::Committed, "17280", hours(|hour| if hour < 360 { 8_000 } else { 16_000 })),
        way(HowPaid::OnDemand, "14000.17", hours(|hour| (hour % 24) * 333)),
        way(HowPaid::Spot, "1234.5", hours(|hour| (hour % 7) * 700)),
    ])
}

#[test]
fn hours_are_rounded_so_that_they_sum_to_those_of_all() {
    let third = Decimal::from(PARTS * 3600).divide(3.into(), 12).unwrap();
    let model = used(vec![Way { hours: vec![third; 720], ..way(HowPaid::OnDemand, "1", []) }]);
    let gpus = model.gpus();
    assert_eq!(gpus.iter().copied().sum::<Decimal>(), 240.into());
    assert!(gpus.iter().all(|it| (*it - number("0.3333")).abs() <= number("0.001")));
    let described = model.described();
    assert_eq!((described.gpu_hours, described.profile_hours), (240.into(), 240.into()));
}

#[test]
fn what_is_taken_back_comes_off_the_hours_after_it() {
    let model = used(vec![way(HowPaid::OnDemand, "1", [1000, -500, 1000, 1000])]);
    assert_eq!(model.gpus(), ["1", "0", "0.5", "1"].map(number));
}

#[test]
fn as_it_is_costs_over_the_period_what_was_paid() {
    let mut model = mixed();
    model.unused = number("99.99");
    let made = measured(vec![model]).scenario().unwrap();
    let it = &made.described.as_it_is;
    assert_eq!(it.ledger, number("55654.66"));
    assert_eq!((it.option, it.difference), (it.ledger, Decimal::ZERO));
    // What is paid on is a place of its own. No number of GPUs is what was committed to all the time, so its hours cost what
    // they came to, and what nothing used stands beside them.
    let place = &made.scenario.options[0].places[1];
    let base: Vec<_> = place.committed.iter().map(|it| (it.gpus, it.rate.price)).collect();
    assert_eq!(
        (base, place.on_demand.as_ref().unwrap().price),
        (vec![(Number(16), number("2"))], number("2"))
    );
    assert_eq!(place.others[0].amount, number("101.37875"));
}

#[test]
fn machines_of_our_own_are_told_as_such_and_not_as_commitments() {
    let owned = || way(HowPaid::Owned, "23040", hours(|_| 16_000));
    let committed = way(HowPaid::Committed, "17280", hours(|_| 8_000));
    let place = |ways: Vec<Way>| {
        let made = measured(vec![used(ways)]).scenario().unwrap();
        made.scenario.compare().unwrap().options.remove(0).places.remove(0)
    };
    let it = place(vec![owned()]);
    assert_eq!((it.layers[0].name.as_str(), it.coverage.len()), ("Our own machines", 0));
    let it = place(vec![owned(), committed]);
    let names: Vec<&str> = it.layers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Our own machines", "Committed for 12 months"]);
    // A third of the hours, all of them used.
    let coverage: Vec<Decimal> = it.coverage.iter().map(|it| it.value.unwrap().round(4)).collect();
    assert_eq!(coverage, ["0.3333", "1", "0"].map(number));
}

#[test]
fn it_does_so_whatever_hours_look_like() {
    for ways in [
        vec![way(HowPaid::OnDemand, "14000.17", hours(|hour| (hour % 24) * 333))],
        vec![
            way(HowPaid::Spot, "1234.56", hours(|hour| 100 + (hour % 7) * 700)),
            way(HowPaid::OnDemand, "2777.77", hours(|hour| (hour % 5) * 1000)),
        ],
        vec![
            way(HowPaid::Owned, "1000", hours(|hour| 1500 + (hour % 3) * 500)),
            way(HowPaid::Committed, "2000", hours(|hour| if hour == 5 { 0 } else { 7_500 })),
            way(HowPaid::OnDemand, "14000.17", hours(|hour| (hour % 24) * 333)),
        ],
    ] {
        let made = measured(vec![used(ways)]).scenario().unwrap();
        assert_eq!(made.described.as_it_is.difference, Decimal::ZERO);
    }
}

#[test]
fn what_differs_is_reported() {
    // Spot that is dearer than on demand is not taken.
    let ways =
        vec![way(HowPaid::Spot, "1440", hours(|_| 1000)), way(HowPaid::OnDemand, "720", hours(|_| 1000))];
    let made = measured(vec![used(ways)]).scenario().unwrap();
    let it = &made.described.as_it_is;
    assert_eq!((it.ledger, it.option, it.difference), (2160.into(), 1440.into(), Decimal::from(-720)));
}

#[test]
fn the_engine_serves_the_same_hours_at_the_same_cost() {
    // 18 days have 432 hours; so that a month of 730 is as the period, all days are alike.
    let made = measured(vec![used(vec![
        way(HowPaid::Owned, "23040", hours(|_| 16_000)),
        way(HowPaid::OnDemand, "14400", hours(|_| 8_000)),
    ])]);
    let made = made.scenario().unwrap();
    let compared = made.scenario.compare().unwrap();
    let names: Vec<&str> = compared.options.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "As it is",
            "All on demand",
            "The cheapest specialty cloud",
            "Machines of our own, the rest on demand"
        ]
    );
    assert!(compared.options.iter().all(|it| it.fails.is_empty()));
    // 24 GPUs, 16 at 2.00 and 8 at 2.50, in 36 months of 730 hours.
    assert_eq!(compared.options[0].total, Decimal::from((16 * 2 + 20) * 730 * 36));
    // On demand is what was so already; machines of our own go on.
    assert_eq!(compared.options[1].total, compared.options[0].total);
    assert_eq!(made.described.as_it_is.difference, Decimal::ZERO);
    for place in made.scenario.options.iter().flat_map(|it| &it.places) {
        let rates = place.committed.iter().map(|it| &it.rate).chain(&place.on_demand);
        for rate in rates {
            assert!(rate.date.is_some() && !rate.source.is_empty(), "{rate:?}");
        }
    }
    let date: NaiveDate = "2026-09-30".parse().unwrap();
    assert_eq!(made.scenario.options[1].places[0].on_demand.as_ref().unwrap().date, Some(date));
}

#[test]
fn cheapest_specialty_cloud_is_one_of_our_own_where_it_charged_us_less_than_the_list() {
    let option = |supplier: &str, per_hour: i64| {
        let cost = (per_hour * 8 * 720).to_string();
        let ours = Way { supplier: supplier.to_owned(), ..way(HowPaid::OnDemand, &cost, hours(|_| 8000)) };
        let aws = way(HowPaid::OnDemand, "100", hours(|_| 8000));
        let made = measured(vec![used(vec![ours, aws])]).scenario().unwrap();
        let mut options = made.scenario.options.into_iter();
        let place = options.find(|it| it.name == "The cheapest specialty cloud").unwrap().places.remove(0);
        (place.supplier, place.on_demand.unwrap().price)
    };
    let (listed, price) = option("Somebody", 1000);
    assert_ne!(listed, "Somebody");
    assert_eq!(option("Somebody", 1), ("Somebody".to_owned(), 1.into()));
    // What a supplier charges us is what counts of it, not what it lists; and AWS is no specialty cloud.
    let (other, more) = option(&listed, 1000);
    assert!(other != listed && other != "AWS" && more >= price, "{other} at {more}");
}

#[test]
fn a_reservation_of_which_nothing_would_be_bought_is_told_and_not_offered() {
    let listed = |tier: Tier, amount: &str| {
        let price = Catalogue::shipped().of(H100).find(|it| it.tier == tier).unwrap().clone();
        Price {
            supplier: "Oracle".to_owned(),
            currency: Currency::exactly("USD"),
            amount: number(amount),
            ..price
        }
    };
    let of = |a_year: &str, name: &str, gpus: &dyn Fn(i64) -> i64| Used {
        name: name.to_owned(),
        listed: vec![listed(Tier::OneYear, a_year)],
        ..used(vec![way(HowPaid::OnDemand, "0", hours(gpus))])
    };
    let paying = |used: Used| {
        let cost = used.gpu_hours().multiply(number("3.9"));
        Used { ways: vec![Way { cost, ..used.ways[0].clone() }], ..used }
    };
    let always = |_| 8000;
    let rarely = |hour: i64| if hour % 4 == 0 { 8000 } else { 0 };
    let made = |models: Vec<Used>| measured(models.into_iter().map(paying).collect()).scenario().unwrap();
    let reserved = "Reserved for 1 year, the rest on demand";
    for (a_year, gpus, utilization) in
        [("4.1", &always as &dyn Fn(i64) -> i64, "1"), ("0.975", &rarely, "0.25")]
    {
        let made = made(vec![of(a_year, "H100", gpus)]);
        assert!(made.scenario.options.iter().all(|it| it.name != reserved), "{:?}", made.scenario.options);
        let [it] = &made.described.too_dear[..] else { panic!("{:?}", made.described) };
        assert_eq!(
            (it.option.as_str(), it.name.as_str(), it.supplier.as_str()),
            (reserved, "H100", "Oracle")
        );
        assert_eq!(
            (it.price, it.on_demand, it.utilization),
            (number(a_year), number("3.9"), number(utilization))
        );
        assert_eq!((it.is_own, it.is_offered, it.gpus), (true, false, 8));
        assert!(
            made.described.without.iter().all(|it| !it.starts_with(reserved)),
            "{:?}",
            made.described.without
        );
    }
    // A little cheaper, and what is bought is what it says, from whoever has the price.
    let made = made(vec![of("0.974", "H100", &rarely), of("4.1", "H200", &always)]);
    let compared = made.scenario.compare().unwrap();
    let option = compared.options.iter().find(|it| it.name == reserved).unwrap();
    assert_eq!(
        made.described.too_dear.iter().map(|it| (it.name.as_str(), it.is_offered)).collect::<Vec<_>>(),
        [("H200", true)]
    );
    let suppliers: Vec<&str> = option.places.iter().map(|it| it.supplier.as_str()).collect();
    assert_eq!(suppliers, ["Oracle, AWS", "AWS"]);
    assert_eq!(option.places[0].layers[0].gpus, Some(8.into()));
}

#[test]
fn a_scenario_of_everything_can_be_computed_written_and_read_again() {
    let mut other = used(vec![way(HowPaid::Spot, "5", hours(|_| 100))]);
    (other.name, other.accelerator) = ("T4".to_owned(), "nvidia-t4");
    (other.listed, other.machines) = (Vec::new(), None);
    let made = measured(vec![mixed(), other]).scenario().unwrap();
    // Of the T4 nobody knows a price on demand, so that only what it is now is an option.
    assert_eq!(made.scenario.options.len(), 1, "{:?}", made.described.without);
    assert!(
        made.described.without.iter().all(|it| it.contains("no price for T4")),
        "{:?}",
        made.described.without
    );
    made.scenario.compare().unwrap();
    let text = crate::economics::file::write(&made.scenario).unwrap();
    assert_eq!(crate::economics::file::read(&text).unwrap(), made.scenario);
    assert_eq!(made.scenario.work[1].interruptible, 1.into());
}

#[test]
fn only_the_largest_models_are_compared_and_the_others_are_reported() {
    let models = (0..8).map(|at| {
        let mut model = used(vec![way(HowPaid::OnDemand, &(100 - at).to_string(), hours(|_| 1000))]);
        model.name = format!("H{at}");
        model
    });
    let made = measured(models.collect()).scenario().unwrap();
    assert_eq!(made.scenario.work.len(), 6);
    let left_out: Vec<(&str, Decimal, Decimal)> =
        made.described.left_out.iter().map(|it| (it.name.as_str(), it.gpu_hours, it.cost)).collect();
    assert_eq!(left_out, [("H6", 720.into(), 94.into()), ("H7", 720.into(), 93.into())]);
    assert!(measured(Vec::new()).scenario().is_none());
}

#[test]
fn prices_of_others_are_in_the_scenario_s_currency_or_not_there() {
    let euros = |dollar| Measured { currency: Currency::exactly("EUR"), dollar, ..measured(vec![mixed()]) };
    let made = euros(Some(number("0.5"))).scenario().unwrap();
    let reserved = made.scenario.options.iter().find(|it| it.name.starts_with("Reserved for 3 years"));
    let rate = reserved.unwrap().places[0].committed[0].rate.clone();
    let listed = Catalogue::shipped().of(H100).filter(|it| it.tier == Tier::ThreeYears);
    assert_eq!(rate.price.times(2), listed.map(|it| it.amount).min().unwrap());
    assert!(rate.source.ends_with("a dollar at 0.5 EUR"), "{}", rate.source);
    let made = euros(None).scenario().unwrap();
    let names: Vec<&str> = made.scenario.options.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["As it is", "All on demand", "Machines of our own, the rest on demand"]);
    assert!(made.described.without[0].contains("no exchange rate for EUR"), "{:?}", made.described.without);
}

#[test]
fn hours_that_credits_covered_cost_nothing() {
    let ways = |cost: &str| {
        vec![
            way(HowPaid::Owned, "1440", hours(|_| 1000)),
            way(HowPaid::OnDemand, cost, hours(|hour| (hour % 2) * 1000)),
        ]
    };
    for (cost, difference) in [("0", "0"), ("-10", "10")] {
        let made = measured(vec![used(ways(cost))]).scenario().unwrap();
        assert_eq!(made.described.as_it_is.difference, number(difference), "{cost}");
        let rate = made.scenario.options[0].places[0].on_demand.as_ref().unwrap();
        assert_eq!((rate.price, rate.is_covered()), (Decimal::ZERO, true), "{rate:?}");
        let compared = made.scenario.compare().unwrap();
        assert_eq!(compared.options[0].total, Decimal::from(2 * 730 * 36));
        assert!(compared.options[0].fails.is_empty());
    }
    // Whether a list has a price for them or not.
    let unlisted = Used { listed: Vec::new(), machines: None, ..used(ways("0")) };
    let mut made = measured(vec![unlisted]).scenario().unwrap();
    assert_eq!(made.scenario.compare().unwrap().options[0].total, Decimal::from(2 * 730 * 36));
    let text = crate::economics::file::write(&made.scenario).unwrap();
    assert_eq!(crate::economics::file::read(&text).unwrap(), made.scenario);
    // What nobody says of is not sold.
    let rate = made.scenario.options[0].places[0].on_demand.as_mut().unwrap();
    rate.source = "a list".to_owned();
    assert_eq!(made.scenario.compare().unwrap_err().0[0].field, "option.0.place.0.on_demand.price");
}

#[test]
fn what_the_option_costs_is_reconciled_whatever_is_missing_beside_spot() {
    let spot = || way(HowPaid::Spot, "1234.5", hours(|hour| (hour % 7) * 700));
    // Above the share that was spot the rest is, too; and spot beside what cost nothing is taken with it.
    let with_base = vec![way(HowPaid::Owned, "1440", hours(|_| 1000)), spot()];
    let covered = vec![way(HowPaid::OnDemand, "0", hours(|hour| (hour % 2) * 1000)), spot()];
    for (ways, has_spot) in [(with_base, true), (covered, false)] {
        let made = measured(vec![used(ways)]).scenario().unwrap();
        assert_eq!(made.described.as_it_is.difference, Decimal::ZERO);
        let place = &made.scenario.options[0].places[0];
        assert_eq!(place.spot.is_some(), has_spot);
        let price = place.on_demand.as_ref().unwrap().price;
        assert!(price > Decimal::ZERO && price < number("2"), "{price}");
    }
}

#[test]
fn what_is_told_and_what_is_left_out_is_all_that_was_paid_for_models() {
    let models = (0..8).map(|at| {
        let mut model = used(vec![way(HowPaid::OnDemand, &(100 - at).to_string(), hours(|_| 1000))]);
        model.name = format!("H{at}");
        model.unused = number("1.5");
        model
    });
    let without_hours =
        |name: &str, ways, unused: &str| Used { name: name.to_owned(), unused: number(unused), ..used(ways) };
    let mut models: Vec<Used> = models.collect();
    models.push(without_hours("V100", Vec::new(), "7.25"));
    models.push(without_hours("A100", vec![way(HowPaid::OnDemand, "-3", hours(|_| 0))], "0"));
    models.push(without_hours("T4", Vec::new(), "0"));
    let paid: Decimal = models.iter().map(|it| it.cost() + it.unused).sum();
    let described = measured(models).scenario().unwrap().described;
    let of_models: Decimal = described.models.iter().map(|it| it.cost + it.unused).sum();
    let left_out: Decimal = described.left_out.iter().map(|it| it.cost + it.unused).sum();
    assert_eq!(of_models + left_out, paid);
    assert_eq!(described.as_it_is.ledger, of_models);
    let names: Vec<&str> = described.left_out.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["H6", "H7", "V100", "A100"]);
}

/// Two reserved machines of eight, of which one stood idle in a third of the hours: 9,600 of 11,520 hours for 2 each.
fn reserved() -> Used {
    let covered = way(HowPaid::Committed, "19200", hours(|hour| if hour < 240 { 8_000 } else { 16_000 }));
    let on_demand = way(HowPaid::OnDemand, "36000", hours(|_| 10_000));
    Used { unused: 3840.into(), ..used(vec![covered, on_demand]) }
}

#[test]
fn commitments_are_in_every_option_as_the_ledger_has_them() {
    let made = measured(vec![reserved()]).scenario().unwrap();
    assert!(made.described.is_paid_in_every_option);
    let [it] = &made.described.paid_on[..] else { panic!("{:?}", made.described.paid_on) };
    assert_eq!((it.gpu_hours, it.cost, it.unused), (9600.into(), 23040.into(), 3840.into()));
    assert_eq!(it.coverage.unwrap(), number("0.571429"));
    assert_eq!(
        (made.described.as_it_is.ledger, made.described.as_it_is.difference),
        (59040.into(), Decimal::ZERO)
    );
    let options = &made.scenario.options;
    assert!(options.len() > 2, "{options:?}");
    let kept = &options[0].places[1];
    assert_eq!((kept.committed[0].gpus, kept.committed[0].rate.price), (Number(16), number("2")));
    assert!(options.iter().all(|it| it.places.last() == Some(kept)), "{options:?}");
    // The engine says the same of them: over 36 months of 730 hours a sixth is unused, as in the period.
    let compared = made.scenario.compare().unwrap();
    for option in &compared.options {
        let figures = &option.places.last().unwrap().coverage;
        let value = |name: &str| figures.iter().find(|it| it.name == name).unwrap().value.unwrap();
        assert_eq!(value("Use of commitments").round(2), number("0.83"), "{}", option.name);
        let unused = value("Paid and not used");
        let of_months = number("3840").times(730 * 36).divide(720.into(), 9).unwrap();
        assert!((unused - of_months).abs().times(20) < of_months, "{unused} {of_months}");
    }
}

#[test]
fn what_is_paid_on_alone_is_compared_with_leaving() {
    let mut only = reserved();
    only.ways.truncate(1);
    let made = measured(vec![only]).scenario().unwrap();
    assert!(!made.described.is_paid_in_every_option);
    assert_eq!((made.scenario.work.len(), made.described.paid_on.len()), (1, 1));
    assert_eq!(made.described.as_it_is.difference, Decimal::ZERO);
    assert!(made.scenario.options[1].places.iter().all(|it| it.committed.is_empty() && it.others.is_empty()));
}

#[test]
fn commitments_that_cover_nothing_are_paid_by_every_option() {
    let on_demand = used(vec![way(HowPaid::OnDemand, "1000", hours(|_| 1000))]);
    let made = measured(vec![Used { unused: 72.into(), ..on_demand }]).scenario().unwrap();
    assert!(made.described.is_paid_in_every_option && made.described.paid_on[0].gpu_hours.is_zero());
    for option in &made.scenario.options {
        let others: Vec<Decimal> =
            option.places.iter().flat_map(|it| &it.others).map(|it| it.amount).collect();
        assert_eq!(others, [73.into()], "{}", option.name);
    }
}

#[test]
fn machines_and_commitments_are_paid_on_and_nothing_else() {
    let described = |model: Used| measured(vec![model]).scenario().unwrap().described.paid_on;
    let said: Vec<_> = described(mixed()).iter().map(|it| (it.paid, it.gpu_hours)).collect();
    assert_eq!(said, [(HowPaid::Owned, 11520.into()), (HowPaid::Committed, 8640.into())]);
    assert!(described(used(vec![way(HowPaid::OnDemand, "1", hours(|_| 1000))])).is_empty());
}
