//! What docs/reference.md says there is, there is, and nothing else; and the index of decisions lists each.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use gpuledger::web;

const REFERENCE: &str = include_str!("../docs/reference.md");

/// Rows of the table under a heading, without the header.
fn rows(heading: &str) -> impl Iterator<Item = &'static str> {
    let section = REFERENCE.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    section.lines().filter(|line| line.starts_with('|')).skip(2)
}

/// What stands between backticks in the first cell of a row.
fn names(row: &str) -> impl Iterator<Item = String> {
    row.split(" | ").next().unwrap().split('`').skip(1).step_by(2).map(str::to_owned)
}

#[test]
fn addresses_are_those_of_the_route_table() {
    let routes = web::routes();
    let read: BTreeSet<&str> =
        routes.stated().iter().filter(|line| line.method == "GET").map(|line| line.path).collect();
    let expected: BTreeSet<String> = read.iter().map(|path| (*path).to_owned()).collect();
    let found: BTreeSet<String> = rows("Addresses").flat_map(names).collect();
    assert_eq!(found, expected);
}

/// The lines of a help text under a heading.
fn help(arguments: &[&str], heading: &str) -> Vec<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_gpuledger")).args(arguments).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let section = text.split(&format!("{heading}:\n")).nth(1).unwrap();
    section.split("\n\n").next().unwrap().lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_command_is_in_the_reference() {
    let listed = help(&[], "Commands");
    let commands: Vec<&str> =
        listed.iter().filter_map(|line| line.split_whitespace().next()).filter(|it| *it != "help").collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        assert!(
            REFERENCE.contains(&format!(" {command} ")) || REFERENCE.contains(&format!("`{command}`")),
            "{command}"
        );
    }
}

#[test]
fn every_setting_is_in_the_reference() {
    let output = Command::new(env!("CARGO_BIN_EXE_gpuledger")).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let settings: BTreeSet<String> = rows("Settings").flat_map(names).collect();
    let flags: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|flag| flag.trim_end_matches(',').to_owned())
        .filter(|flag| !["--json", "--help", "--version"].contains(&flag.as_str()))
        .collect();
    let expected: BTreeSet<String> = settings.iter().filter(|it| it.starts_with("--")).cloned().collect();
    assert_eq!(flags, expected);
    for variable in text.split("[env: ").skip(1).map(|rest| rest.split(['=', ']']).next().unwrap()) {
        assert!(REFERENCE.contains(&format!("`{variable}`")), "{variable}");
    }
}

/// A title, then the day, as the index has them.
#[test]
fn every_decision_is_in_the_index_with_its_date() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/decisions");
    let index = include_str!("../docs/decisions/README.md");
    let mut listed = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "README.md" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let title = lines.next().unwrap().trim_start_matches("# ");
        let line = format!("| {} | [{title}]({name}) |", lines.next().unwrap());
        assert!(index.contains(&line), "the index lacks: {line}");
        listed += 1;
    }
    assert_eq!(listed, index.lines().filter(|line| line.starts_with("| 20")).count());
}
