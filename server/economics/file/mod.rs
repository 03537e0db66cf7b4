//! A scenario as a file: TOML, as `gpuledger scenario FILE.toml` reads it and the page hands it out.
//!
//! Numbers may be written with or without quotes; none of them goes through a binary float. What is wrong is said with
//! its field and its line, what was found there, and what to enter ([`words`]).

mod words;

use std::fmt;
use std::ops::Range;

use serde_json::Value;
use serde_path_to_error::Segment;
use toml::de::{DeTable, DeValue};

use super::check::{Finding, Severity};
use super::comparison::Scenario;
use super::shipped::{self, Missing};

/// Why a file is no scenario, or what is odd about one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Wrong {
    /// From 1.
    pub line: usize,
    /// `option.0.place.0.on_demand.price`, counted from 0; empty where no key is meant.
    pub key: String,
    pub message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            return write!(f, "line {}: {}", self.line, self.message);
        }
        // `option[0].place[0].on_demand.price`.
        for (at, name) in self.key.split('.').enumerate() {
            match name.parse::<usize>() {
                Ok(n) => write!(f, "[{n}]")?,
                Err(_) if at == 0 => f.write_str(name)?,
                Err(_) => write!(f, ".{name}")?,
            }
        }
        write!(f, " (line {}): {}", self.line, self.message)
    }
}

/// Reads a scenario.
///
/// # Errors
/// The first thing that is wrong with the text, or all that cannot be computed with.
pub fn read(text: &str) -> Result<Scenario, Vec<Wrong>> {
    let at = |span: Option<Range<usize>>| line(text, span.map_or(0, |span| span.start));
    let tree = DeTable::parse(text).map_err(|error| {
        vec![Wrong { line: at(error.span()), key: String::new(), message: words::of_syntax(error.message()) }]
    })?;
    let tree = DeValue::Table(tree.into_inner());
    let mut document = value(&tree);
    let currency = document.get("currency").and_then(Value::as_str).unwrap_or_default().to_owned();
    let missing = shipped::convert(&mut document);
    if !missing.is_empty() {
        let described = |it: &Missing| Wrong {
            line: at(span(&tree, &it.path)),
            key: it.path.join("."),
            message: it.message(&currency),
        };
        return Err(missing.iter().map(described).collect());
    }
    let mut scenario: Scenario = serde_path_to_error::deserialize(document).map_err(|error| {
        let path: Vec<String> = error.path().iter().filter_map(step).collect();
        let (path, message) = words::of_field(&tree, path, &error.inner().to_string());
        vec![Wrong { line: at(span(&tree, &path)), key: path.join("."), message }]
    })?;
    // Texts of several lines mostly end with one that is empty, which nobody meant.
    for text in [&mut scenario.name, &mut scenario.note] {
        *text = text.trim().to_owned();
    }
    let refused: Vec<Wrong> = super::check::scenario(&scenario)
        .iter()
        .filter(|finding| finding.severity == Severity::Refusal)
        .map(|finding| wrong(finding, &tree, text))
        .collect();
    if refused.is_empty() { Ok(scenario) } else { Err(refused) }
}

/// Writes a scenario, so that [`read`] reads the same.
///
/// # Errors
/// None in practice: what a scenario is made of has a form in TOML.
pub fn write(scenario: &Scenario) -> Result<String, toml::ser::Error> {
    toml::to_string(scenario)
}

/// Findings about a scenario that was read from a text, with their lines.
pub fn located<'a>(text: &str, findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Wrong> {
    let tree = DeTable::parse(text).map(|it| DeValue::Table(it.into_inner()));
    let tree = tree.unwrap_or_else(|_| DeValue::Table(DeTable::new()));
    findings.into_iter().map(|it| wrong(it, &tree, text)).collect()
}

fn wrong(finding: &Finding, tree: &DeValue<'_>, text: &str) -> Wrong {
    let path: Vec<String> = finding.field.split('.').map(str::to_owned).collect();
    let start = span(tree, &path).map_or(0, |span| span.start);
    let message = format!("{}: {}", finding.found, finding.message);
    Wrong { line: line(text, start), key: finding.field.clone(), message }
}

fn step(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

/// Where the value stands that a path leads to, or as much of the path as there is.
fn span(tree: &DeValue<'_>, path: &[String]) -> Option<Range<usize>> {
    let (mut here, mut found) = (tree, None);
    for name in path {
        let next = match here {
            DeValue::Table(table) => table.get(name.as_str()),
            DeValue::Array(array) => name.parse().ok().and_then(|at: usize| array.get(at)),
            _ => None,
        };
        let Some(next) = next else { break };
        found = Some(next.span());
        here = next.get_ref();
    }
    found
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The tree with numbers that have a point as the text they are.
fn value(tree: &DeValue<'_>) -> Value {
    match tree {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(it) => Value::Bool(*it),
        DeValue::Datetime(it) => Value::String(it.to_string()),
        DeValue::Float(it) => Value::String(it.as_str().to_owned()),
        DeValue::Integer(it) => {
            let number = i64::from_str_radix(it.as_str(), it.radix()).ok();
            number.map_or_else(|| Value::String(it.as_str().to_owned()), Value::from)
        }
        DeValue::Array(items) => Value::Array(items.iter().map(|it| value(it.get_ref())).collect()),
        DeValue::Table(entries) => Value::Object(
            entries.iter().map(|(key, it)| (key.get_ref().to_string(), value(it.get_ref()))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Decimal;

    const SMALL: &str = r#"
name = "Ten nodes"
months = 36

[[work]]
name = "training"
accelerator = "nvidia-h100-sxm"
demand = { shape = "flat", gpus = 64, hours_per_day = 18 }

[[option]]
name = "On demand"
place = [{ supplier = "AWS", on_demand = { price = 6.88, date = 2026-07-20, source = "its list" } }]

[[option]]
name = "Our own"
[[option.place]]
owned = { gpus = "best", machines = { node_price = 375_000, staff = { loaded_cost = 250000.50 } } }
on_demand = { price = "6.88" }
"#;

    #[test]
    fn numbers_are_exact_with_and_without_quotes() {
        let scenario = read(SMALL).unwrap();
        let rate = |at: usize| scenario.options[at].places[0].on_demand.clone().unwrap();
        assert_eq!((rate(0).price, rate(1).price), ("6.88".parse().unwrap(), "6.88".parse().unwrap()));
        assert_eq!(rate(0).date, Some("2026-07-20".parse().unwrap()));
        let owned = scenario.options[1].places[0].owned.clone().unwrap();
        assert_eq!(owned.machines.node_price, Decimal::from(375_000));
        assert_eq!(owned.machines.staff.loaded_cost.to_string(), "250000.50");
    }

    #[test]
    fn what_is_written_is_read_the_same() {
        let scenario = read(SMALL).unwrap();
        let written = write(&scenario).unwrap();
        assert_eq!(read(&written).unwrap(), scenario, "{written}");
    }

    #[test]
    fn what_moves_and_what_is_bought_in_advance_is_written_and_read_the_same() {
        let text = SMALL
            .replace("name = \"Our own\"", "name = \"Our own\"\nspend = { per_hour = 12.5, months = 12 }")
            .replace(
                "on_demand = { price = \"6.88\" }",
                r#"spend_rate = { price = 4.1, path = { by = "entered", prices = [4.1, 4] } }
blocks = [{ rate = { price = 3, path = { by = "steps", steps = [{ month = 6, factor = 0.8 }] } }, gpus = 8, hours = 24 }]
on_demand = { price = "6.88", path = { by = "decline", yearly = 0.1 } }"#,
            );
        let scenario = read(&text).unwrap();
        assert_eq!(scenario.options[1].places[0].blocks[0].rate.path.to_string(), "6: 0.8");
        assert_eq!(read(&write(&scenario).unwrap()).unwrap(), scenario);
    }

    #[test]
    fn what_is_shipped_in_dollars_is_asked_for_in_another_currency() {
        let owned =
            "owned = { gpus = 8, machines = { residual = { by = \"share\", share = 0.2 } }, refresh = {} }";
        let text = SMALL
            .replace("months = 36", "months = 36\ncurrency = \"JPY\"")
            .replace("owned = { gpus = \"best\", machines = { node_price = 375_000, staff = { loaded_cost = 250000.50 } } }", owned);
        let described: Vec<String> = read(&text).unwrap_err().iter().map(Wrong::to_string).collect();
        let machines = "option[1].place[0].owned.machines";
        assert_eq!(
            described[0],
            format!(
                "{machines}.node_price (line 18): expected a price in JPY; the shipped default is 375000 USD of 2025-03. Enter yours, or \
                 the value of a dollar: dollar = {{ worth = …, date = …, source = \"…\" }}"
            )
        );
        for (at, field) in ["node_price", "tariff", "staff.loaded_cost", "fabric.price"].iter().enumerate() {
            assert!(
                described[at].starts_with(&format!("{machines}.{field} (line 18): expected a price in JPY")),
                "{described:#?}"
            );
        }
        assert_eq!(described.len(), 4);

        let dollar = "[dollar]\nworth = 149.5\ndate = 2026-10-01\nsource = \"ECB\"\n\n[[work]]";
        let scenario = read(&text.replacen("[[work]]", dollar, 1)).unwrap();
        let machines = &scenario.options[1].places[0].owned.as_ref().unwrap().machines;
        assert_eq!(machines.node_price, 56_062_500.into());
        assert_eq!(machines.fabric.per_node(), 7_475_000.into());
        assert_eq!(
            (machines.tariff, machines.staff.loaded_cost),
            ("14.95".parse().unwrap(), 37_375_000.into())
        );
        assert_eq!(read(&write(&scenario).unwrap()).unwrap(), scenario, "written whole, and read the same");
    }

    #[test]
    fn a_list_in_dollars_is_converted_or_refused() {
        let moved = "name = \"On demand\"\nplace = [{ moved = [{ name = \"Data\", rates = { of = \"aws\" }, gigabytes = 1000, every = \"once\" }],";
        let text = SMALL
            .replace("months = 36", "months = 36\ncurrency = \"JPY\"")
            .replace("name = \"On demand\"\nplace = [{", moved)
            .replace(
                "machines = {",
                "machines = { tariff = 20, fabric = { by = \"node\", price = 7_000_000 },",
            );
        let described: Vec<String> = read(&text).unwrap_err().iter().map(Wrong::to_string).collect();
        assert_eq!(described.len(), 1, "{described:#?}");
        assert!(
            described[0]
                .contains("option[0].place[0].moved[0].rates.of (line 13): AWS: this price list is in USD"),
            "{described:#?}"
        );
        let cost = |text: &str| {
            let found = read(text).unwrap().compare().unwrap();
            found.options[0].places[0].moved[0].clone()
        };
        let converted = cost(&text.replacen("[[work]]", "dollar = { worth = 150 }\n[[work]]", 1));
        // 900 GB at 0.09 dollars.
        assert_eq!(converted.cost, (81 * 150).into());
        assert_eq!(converted.each.total.value, Some(converted.cost));
        let dollars = cost(&text.replace("currency = \"JPY\"", ""));
        assert_eq!(dollars.cost, 81.into());
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_key() {
        for (from, to, expected) in [
            ("months = 36", "months = ", "line 3: "),
            ("months = 36", "month = 36", "month (line 3): is no field of this table; did you mean months?"),
            ("months = 36", "months = 0", "months (line 3): 0: expected 1 to 120 months"),
            (
                "months = 36",
                "months = \"three years\"",
                "months (line 3): found “three years”, enter a whole number",
            ),
            ("months = 36", "months = 3.5", "months (line 3): found 3.5, enter a whole number"),
            ("months = 36", "months = -1", "months (line 3): found -1, enter a whole number"),
            ("months = 36", "months = true", "months (line 3): found true, enter a whole number"),
            ("price = 6.88", "price = -1", "option[0].place[0].on_demand.price (line 12): -1"),
            ("price = 6.88", "price = 0", "option[0].place[0].on_demand.price (line 12): 0: lists show 0"),
            (
                "price = 6.88",
                "price = \"cheap\"",
                "option[0].place[0].on_demand.price (line 12): found “cheap”, enter a number, such as 3.99",
            ),
            ("price = 6.88, ", "", "option[0].place[0].on_demand.price (line 12): is missing"),
            (
                "2026-07-20",
                "\"soon\"",
                "on_demand.date (line 12): found “soon”, enter a day, such as 2026-09-30",
            ),
            ("hours_per_day = 18", "hours_per_day = 432", "work[0].demand.hours_per_day (line 8): 432"),
            ("gpus = 64", "gpus = \"eight\"", "work[0].demand.gpus (line 8): found “eight”, enter a number"),
            (
                "shape = \"flat\"",
                "shape = \"round\"",
                "work[0].demand.shape (line 8): found “round”, enter one of: ",
            ),
            ("hours_per_day = 18", "hours = 18", "work[0].demand.hours (line 8): is no field of this table"),
            ("375_000", "-375_000", "option[1].place[0].owned.machines.node_price (line 17): -375000"),
            (
                "gpus = \"best\"",
                "gpus = \"all\"",
                "option[1].place[0].owned.gpus (line 17): found “all”, enter a whole number, or \"best\"",
            ),
            (
                "staff = { loaded_cost = 250000.50 }",
                "staff = 3",
                "machines.staff (line 17): found 3, enter a table",
            ),
            ("name = \"training\"", "name = 5", "work[0].name (line 6): found 5, enter a text in quotes"),
            ("nvidia-h100-sxm", "h100", "work[0].accelerator (line 7): h100: expected an accelerator ID"),
        ] {
            let text = SMALL.replacen(from, to, 1);
            assert_ne!(text, SMALL, "{from}");
            let wrong = read(&text).unwrap_err();
            let described: Vec<String> = wrong.iter().map(Wrong::to_string).collect();
            assert!(described.join("\n").contains(expected), "{expected} is not in {described:#?}");
            let types = ["u32", "i64", "f64", "enum", "struct", "untagged", "invalid type", "serde", "`"];
            assert!(!types.iter().any(|it| described.join("\n").contains(it)), "{described:#?}");
        }
    }
}
