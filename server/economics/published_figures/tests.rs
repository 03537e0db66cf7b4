use super::*;

/// By hand, or by the golden values.
const RIGHT: &[(&str, &[&str])] = &[
    ("yearly-cost", &["24906.2363", "5859.3750", "700.8000"]),
    ("break-even", &["0.5416"]),
    ("reservation", &["0.5416", "45990.0000"]),
    ("above-forty-percent", &["0.2313", "0.4133", "0.7126", "1.1373"]),
    ("network-twice", &["0.2973", "3.4540"]),
    ("power-of-gpus-alone", &["1016.3790"]),
    ("cost-of-an-hour", &["3.5080", "4.5436"]),
    ("hours-of-a-year", &["8760.0000"]),
    ("hardware-alone", &["0.3805", "0.5708"]),
    ("training-hours", &["86016.0000", "12.0000"]),
    ("years-of-rent", &["2.9064", "0.1534"]),
    ("busy-cluster", &["0.0167", "9600.0000"]),
    ("same-work", &["1147299.8786", "130.9703", "1.6371"]),
    ("fabric-by-port", &["10000.0000", "16000.0000"]),
    ("thousand-hours", &["2000.0000", "2500.0000", "3990.0000"]),
    ("spot-discount", &["0.4281", "0.5997"]),
    ("spot-band", &["3.6870", "0.3491", "0.5932"]),
    ("checkpoint-waste", &["0.0050", "0.0422", "0.1064"]),
    ("spot-request", &["0.9390", "0.7500"]),
    ("one-year-commitment", &["0.6550", "7.8600", "1.1701"]),
    ("payback", &["35.5598", "14400.0000", "11542.9867"]),
    ("peak-of-half", &["0.4167", "1920.0000"]),
    ("idle-instances", &["18432.0000", "7.4694"]),
    ("eight-million", &["1301871.4402", "1627339.3002", "2597233.5232"]),
    ("three-times-cheaper", &["2.0121", "4.0721"]),
    ("daily-checkpoint", &["369.0000", "356.7000"]),
    ("half-a-petabyte", &["28882.2000", "0.0578", "4.6296"]),
    ("free-ten-terabytes", &["912.6000"]),
    ("next-gigabyte", &["122.7600", "122.8700", "0.1199"]),
    ("fp8-on-a100", &["8.0000", "624.0000", "312.0000"]),
    ("seventy-billion-on-one-card", &["140.0000", "2.0000", "30517.0000"]),
    ("three-times-the-bandwidth", &["1.6430", "3.1699"]),
    ("four-petaflops", &["1979.0000", "4500.0000", "2.2739"]),
    ("p4d-memory", &["40.0000", "80.0000"]),
];

#[test]
fn every_claim_has_a_right_figure_and_a_handle_of_its_own() {
    let claims = published_figures();
    let subjects = [owning::FIGURES, market::FIGURES, network::FIGURES, memory::FIGURES];
    assert_eq!(
        claims.len(),
        subjects.iter().map(|claims| claims.len()).sum::<usize>(),
        "one is not computed"
    );
    let mut ids: Vec<&str> = claims.iter().map(|claim| claim.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), claims.len());
    assert!(claims.iter().all(|claim| !claim.right.is_empty()));
}

#[test]
fn right_figures_are_those_that_were_computed_by_hand() {
    let described: Vec<(&str, Vec<String>)> = published_figures()
        .iter()
        .map(|claim| (claim.id, claim.right.iter().map(|it| it.value.round(4).to_string()).collect()))
        .collect();
    let expected: Vec<(&str, Vec<String>)> =
        RIGHT.iter().map(|(id, figures)| (*id, figures.iter().map(ToString::to_string).collect())).collect();
    assert_eq!(described, expected);
}

#[test]
fn what_is_reproduced_is_what_was_printed() {
    let table = [
        ("payback", "137.2062"),
        ("free-ten-terabytes", "0.0000"),
        ("next-gigabyte", "112.7500"),
        ("daily-checkpoint", "378.0000"),
        ("half-a-petabyte", "45000.0000"),
        ("checkpoint-waste", "0.0100"),
    ];
    for (id, printed) in table {
        let claim = published_figures().into_iter().find(|claim| claim.id == id).unwrap();
        assert_eq!(claim.reproduced.unwrap().value.round(4).to_string(), printed, "{id}");
    }
}

#[test]
fn a_tool_that_takes_bounds_off_what_is_left_is_wrong_at_every_bound() {
    for (gigabytes, cost) in
        [("10240", "0"), ("51200", "0"), ("61440", "716.8"), ("200000", "10000"), ("11", "0.9")]
    {
        assert_eq!(subtracted_bounds(gigabytes.parse().unwrap()), cost.parse().unwrap(), "{gigabytes}");
    }
    for (gibibytes, cost) in [("1024", "122.88"), ("1025", "112.75"), ("20000", "1600")] {
        assert_eq!(price_of_all_units(gibibytes.parse().unwrap()), cost.parse().unwrap(), "{gibibytes}");
    }
}
