use std::collections::BTreeSet;

use super::*;

fn answered(handle: &str, pairs: &[(&str, &str)]) -> Result<Answered, Refused> {
    let calculator = CALCULATORS.iter().find(|it| it.handle == handle).unwrap();
    let pairs = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let values = Values::read(&calculator.inputs, pairs, &Exchange::default()).unwrap();
    assert_eq!(values.misread().count(), 0);
    (calculator.answer)(&values)
}

#[test]
fn every_line_of_the_fields_is_read() {
    let fields: usize = CALCULATORS.iter().map(|it| it.inputs.len()).sum();
    assert_eq!(fields, include_str!("inputs.csv").lines().count() - 1);
}

#[test]
fn each_begins_with_an_answer_whose_figures_say_how_they_come_about() {
    let mut handles: Vec<&str> = CALCULATORS.iter().map(|it| it.handle).collect();
    for handle in &handles {
        let found = answered(handle, &[]).unwrap_or_else(|refused| panic!("{handle}: {refused}"));
        assert!(found.sentence.ends_with('.'), "{handle}: {}", found.sentence);
        assert!(!found.sentence.contains("undefined"), "{handle}: {}", found.sentence);
        assert!(!found.figures.is_empty());
        for Row { name, figure } in &found.figures {
            assert!(!figure.formula.is_empty() && !figure.terms.is_empty(), "{handle}: {name}");
        }
    }
    handles.sort_unstable();
    handles.dedup();
    assert_eq!(handles.len(), CALCULATORS.len());
}

#[test]
fn an_answer_is_that_of_the_formula() {
    for (handle, entered, sentence) in [
        ("tokens", vec![("duty", "100")], "A million output tokens cost 6.54 USD."),
        (
            "overtaking",
            vec![],
            "Serving has cost as much as training after 2.5 months, and is 82.76% of the cost of the whole period.",
        ),
        (
            "slices",
            vec![],
            "4g.40gb costs 3.6693 USD per hour; 3g.40gb costs 3.2107 USD per hour. Unused: 0 USD per hour.",
        ),
        ("egress", vec![], "Moving the data costs 28,882.20 USD and takes 4.63 days."),
        (
            "commitment",
            vec![("hourly", "8.05"), ("on_demand", "12.29"), ("later_on_demand", ""), ("currency", "EUR")],
            "The reservation costs less than on demand above 65.5% utilization.",
        ),
        (
            "interface",
            vec![("price", "0.5"), ("variable", "0.5")],
            "Self-hosting never costs less: its additional cost per million tokens is not below the price of the API.",
        ),
    ] {
        assert_eq!(answered(handle, &entered).unwrap().sentence, sentence, "{handle}");
    }
}

#[test]
fn no_two_rows_of_an_answer_have_one_name() {
    for (handle, entered) in [
        ("slices", vec![("slices", "1g.10gb, 1g.10gb, 2g.20gb")]),
        ("egress", vec![("gigabytes", "9000000"), ("nat", "yes"), ("zones", "yes"), ("region", "0.02")]),
        ("work", vec![]),
        ("work", vec![("b", "nvidia-h100-sxm"), ("offers.1.price", "6.88")]),
        ("tokens", vec![("input_rate", "900"), ("off_hours", "100")]),
        ("spot", vec![("job.useful_hours", "100"), ("job.deadline_hours", "200")]),
    ] {
        let found = answered(handle, &entered).unwrap();
        let names: BTreeSet<&str> = found.figures.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), found.figures.len(), "{handle}: {names:?}");
        // Scripts distinguish them by the same names.
        let json = serde_json::to_value(&found.figures).unwrap();
        assert!(json.as_array().unwrap().iter().all(|it| names.contains(it["name"].as_str().unwrap())));
    }
}

#[test]
fn a_gpu_that_costs_nothing_is_refused_beside_its_price() {
    for (handle, price) in [
        ("slices", "price"),
        ("turns", "price"),
        ("tokens", "price"),
        ("work", "offers.0.price"),
        ("work", "offers.1.price"),
    ] {
        let calculator = CALCULATORS.iter().find(|it| it.handle == handle).unwrap();
        for zero in ["0", "0.00", "-1"] {
            let pairs = vec![(price.to_owned(), zero.to_owned())];
            let values = Values::read(&calculator.inputs, pairs, &Exchange::default()).unwrap();
            let expected = "enter a price above 0";
            assert_eq!(values.misread().collect::<Vec<_>>(), [(price, expected)], "{handle}");
        }
    }
}

#[test]
fn what_is_refused_names_a_field_that_the_form_has() {
    for (handle, entered, field) in [
        ("spot", ("interruptions.instances", "0"), "interruptions.instances"),
        ("memory", ("gpus", "0"), "gpus"),
        ("commitment", ("hourly", "-1"), "hourly"),
        ("egress", ("months", "0"), "months"),
        ("slices", ("slices", "7g.80gb, 1g.10gb"), "slices"),
        ("lock-in", ("performance_ratio", "0"), "performance_ratio"),
    ] {
        let refused = answered(handle, &[entered]).unwrap_err();
        let calculator = CALCULATORS.iter().find(|it| it.handle == handle).unwrap();
        assert_eq!(refused.0[0].field, field);
        assert!(calculator.inputs.iter().any(|it| it.name == field));
    }
}

#[test]
fn an_address_says_what_differs_and_is_read_back() {
    let calculator = &CALCULATORS[0];
    let pairs = vec![("price".to_owned(), " 3 ".to_owned()), ("on_demand".to_owned(), "6.88".to_owned())];
    let values = Values::read(&calculator.inputs, pairs, &Exchange::default()).unwrap();
    assert_eq!(values.query(), "?price=3");
    assert!(
        Values::read(&calculator.inputs, vec![("prize".to_owned(), "3".to_owned())], &Exchange::default())
            .is_err()
    );
    let wrong = vec![("price".to_owned(), "cheap".to_owned())];
    let values = Values::read(&calculator.inputs, wrong, &Exchange::default()).unwrap();
    assert_eq!(
        values.misread().collect::<Vec<_>>(),
        [("price", "enter a number with a decimal point, such as 2.89")]
    );
}
