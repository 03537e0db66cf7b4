//! `gpuledger scenario` answers without a server, and says where a file is wrong.

use std::process::Output;

use gpuledger::money::Decimal;
use serde_json::Value;

use crate::support::gpuledger;

fn compare(text: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ten.toml");
    std::fs::write(&file, text).unwrap();
    let data = folder.path().join("data");
    let arguments = [&["scenario", file.to_str().unwrap()], arguments].concat();
    let answer = gpuledger(&data, None, &arguments).output().unwrap();
    assert!(!data.exists(), "nothing of it needs a folder");
    answer
}

const SMALL: &str = r#"
name = "a node"
months = 12

[[work]]
name = "training"
demand = { shape = "flat", gpus = 8, hours_per_day = 24 }

[[option]]
name = "On demand"
place = [{ on_demand = { price = 6.88 } }]

[[option]]
name = "Reserved"
place = [{ committed = [{ months = 12, gpus = "best", rate = { price = 5.25 } }] }]
"#;

#[test]
fn it_compares_without_a_server_and_every_figure_is_in_the_json() {
    let answer = compare(SMALL, &["--json"]);
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let of = |at: usize, what: &str| answer["comparison"]["options"][at][what].as_str().unwrap().to_owned();
    // 8 × 730 × 12 hours.
    let decimal = |text: &str| text.parse::<Decimal>().unwrap();
    assert_eq!(decimal(&of(0, "total")), decimal("482150.4"));
    assert_eq!(decimal(&of(1, "total")), decimal("367920"));
    assert_eq!(answer["comparison"]["cheapest"], 1);
    assert_eq!(answer["comparison"]["options"][1]["lines"][0]["formula"], "GPU-hours of the term × price");

    let described = String::from_utf8(compare(SMALL, &[]).stdout).unwrap();
    assert!(described.contains("Reserved, the cheapest") && described.contains("367920.00"), "{described}");
    // 9,519.20 less a month for a year, at 10 %.
    assert!(described.contains("Present value at 10 % a year "), "{described}");
    assert!(
        described.contains("Reserved is 108523.")
            && described.contains(" ahead of On demand in present value"),
        "{described}"
    );
    assert!(described.contains("It costs least in 99.94 % of them"), "{described}");
    assert!(
        described.contains("With On demand at or below 5.25 (now 6.88) On demand costs less"),
        "{described}"
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_line_and_key() {
    let answer = compare(&SMALL.replace("price = 6.88", "price = -1"), &[]);
    assert_eq!(answer.status.code(), Some(1));
    let described = String::from_utf8(answer.stderr).unwrap();
    assert!(described.contains("option[0].place[0].on_demand.price (line 11): -1"), "{described}");
    assert!(answer.stdout.is_empty());
    let broken = compare(&SMALL.replace("months = 12\n\n", "months = \n\n"), &[]);
    assert!(String::from_utf8(broken.stderr).unwrap().contains("line 3: "));
}

#[test]
fn in_another_currency_what_is_shipped_in_dollars_is_asked_for_by_field_and_line() {
    let yen = SMALL.replace("months = 12\n", "months = 12\ncurrency = \"JPY\"\n");
    let owned = format!("{yen}\n[[option]]\nname = \"Our own\"\nplace = [{{ owned = {{ gpus = 8 }} }}]\n");
    let answer = compare(&owned, &[]);
    assert_eq!(answer.status.code(), Some(1));
    let described = String::from_utf8(answer.stderr).unwrap();
    let asked = "expected a price in JPY; the shipped default is 375000 USD of 2025-03";
    assert!(
        described.contains(asked)
            && described.contains("option[2].place[0].owned.machines.node_price (line "),
        "{described}"
    );
    let rated = owned.replacen(
        "[[work]]",
        "dollar = { worth = 150, date = 2026-10-31, source = \"ECB\" }\n[[work]]",
        1,
    );
    let answer: Value = serde_json::from_slice(&compare(&rated, &["--json"]).stdout).unwrap();
    let machines = &answer["comparison"]["options"][2]["places"][0]["machines"];
    let price: Decimal = machines["node_price"].as_str().unwrap().parse().unwrap();
    assert_eq!((price, answer["comparison"]["currency"].as_str()), (56_250_000.into(), Some("JPY")));
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_its_field_and_line_and_what_to_enter() {
    let answer = compare(&SMALL.replace("gpus = \"best\"", "gpus = \"eight\""), &[]);
    assert_eq!(answer.status.code(), Some(1));
    let described = String::from_utf8(answer.stderr).unwrap();
    let expected =
        "option[1].place[0].committed[0].gpus (line 15): found “eight”, enter a whole number, or \"best\"";
    assert!(described.contains(expected), "{described}");
}

#[test]
fn what_the_page_warns_of_is_printed_with_field_and_line() {
    let old = "price = 98.32, date = 2023-07-31 }";
    let text = SMALL
        .replace("name = \"training\"", "name = \"training\"\naccelerator = \"nvidia-h100-sxm\"")
        .replace("price = 6.88 }", old);
    let described = String::from_utf8(compare(&text, &[]).stderr).unwrap();
    for expected in [
        "option[0].place[0].on_demand.date (line 12): 2023-07-31: this price is ",
        "days old; update it",
        "option[0].place[0].on_demand.price (line 12): 98.32: ",
        "is it the price of a whole machine?",
    ] {
        assert!(described.contains(expected), "{expected} is not in {described}");
    }
    let json: Value = serde_json::from_slice(&compare(&text, &["--json"]).stdout).unwrap();
    assert_eq!(json["comparison"]["warnings"].as_array().unwrap().len(), 2);
}
