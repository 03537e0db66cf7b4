//! Quantities from a CSV file, `day,kind,owner,unit,quantity`: what this product writes. Pure.

use std::collections::HashMap;

use chrono::NaiveDate;

use super::Configuration;
use super::label::normalized;
use super::quantity::{Quantity, QuantityKind};
use crate::entered_csv::{EnteredCsv, RefusedRow, unguarded};
use crate::money::{Decimal, grouped};
use crate::period::BillingMonth;

const COLUMNS: [&str; 5] = ["day", "kind", "owner", "unit", "quantity"];
/// No unit is called by more characters.
const LONGEST_UNIT: usize = 80;
/// Nobody counts further, or more finely.
const MAX_DIGITS: usize = 18;

/// The quantities of a file.
///
/// # Errors
/// The first place that is not as expected.
pub fn read_quantities(content: &[u8], configuration: &Configuration) -> Result<Vec<Quantity>, RefusedRow> {
    let mut file = EnteredCsv::open(content).map_err(|error| RefusedRow::broken(0, &error))?;
    file.refuse_semicolons("header")?;
    let places = COLUMNS.map(|name| file.header.iter().position(|cell| cell.eq_ignore_ascii_case(name)));
    let missing: Vec<&str> =
        COLUMNS.into_iter().zip(places).filter(|(_, place)| place.is_none()).map(|(name, _)| name).collect();
    if !missing.is_empty() {
        let found: Vec<&str> = file.header.iter().take(8).collect();
        let expected = format!("the columns {}; missing: {}", COLUMNS.join(","), missing.join(", "));
        return Err(RefusedRow::new(0, "header", &found.join(","), expected));
    }
    let mut found = Vec::new();
    let mut rows = HashMap::new();
    for (row, record) in file.rows() {
        let record = record.map_err(|error| RefusedRow::broken(row, &error))?;
        let cells = places.map(|place| place.and_then(|place| record.get(place)).map_or("", unguarded));
        let quantity = read_quantity(configuration, cells)
            .map_err(|(column, expected)| RefusedRow::new(row, COLUMNS[column], cells[column], expected))?;
        let key = (quantity.day, quantity.kind, quantity.owner.clone(), quantity.unit.clone());
        // Which of them is meant nobody can know.
        if let Some(earlier) = rows.insert(key, row) {
            let expected = format!("each day, owner and unit once; row {earlier} has it already");
            return Err(RefusedRow::new(row, COLUMNS[0], &cells.join(","), expected));
        }
        found.push(quantity);
    }
    Ok(found)
}

/// A quantity from its five texts, in the order of the columns.
///
/// # Errors
/// The place of the first text that is not as expected, and what was.
pub fn read_quantity(configuration: &Configuration, cells: [&str; 5]) -> Result<Quantity, (usize, String)> {
    let [day, kind, owner, unit, quantity] = cells.map(str::trim);
    let day: NaiveDate = day
        .parse()
        .ok()
        .filter(|day: &NaiveDate| (1970..=9999).contains(&chrono::Datelike::year(day)))
        .ok_or_else(|| (0, "a day such as 2026-09-30".to_owned()))?;
    let kind = QuantityKind::parse(kind).ok_or_else(|| (1, "team, project or experiment".to_owned()))?;
    let month = BillingMonth::of(day);
    let owner = kind
        .owner_named(&configuration.of_month(month), owner)
        .ok_or_else(|| (2, format!("{} of {}", article(kind), month.name())))?;
    let unit = normalized(unit);
    if unit.is_empty() || unit.chars().count() > LONGEST_UNIT {
        return Err((3, "what is counted, such as training runs".to_owned()));
    }
    let quantity = parse(quantity).ok_or_else(|| (4, expected(quantity).to_owned()))?;
    Ok(Quantity { day, kind, owner, unit, quantity })
}

fn article(kind: QuantityKind) -> &'static str {
    match kind {
        QuantityKind::Team => "a team",
        QuantityKind::Project => "a project",
        QuantityKind::Experiment => "the label of an experiment",
    }
}

fn parse(text: &str) -> Option<Decimal> {
    let quantity: Decimal = grouped(text, false)?;
    let text = quantity.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let fits = whole.len() <= MAX_DIGITS && decimals.len() <= MAX_DIGITS;
    (fits && !quantity.is_negative()).then_some(quantity)
}

fn expected(found: &str) -> &'static str {
    if found.contains(',') {
        "a number such as 1200 or 1,200.5; a single comma is ambiguous"
    } else {
        "a number of zero or more such as 1200"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{Entry, Experiment, Months, Project, Team};

    fn configuration() -> Configuration {
        let until = |last: &str| Months { first: None, last: Some(last.parse().unwrap()) };
        let vision = Team {
            handle: "vision".into(),
            name: "Vision".into(),
            spellings: vec!["CV".into()],
            months: until("2026-12"),
            ..Team::default()
        };
        let apollo = Project { handle: "apollo".into(), name: "Apollo 11".into(), ..Project::default() };
        let first = Experiment {
            handle: "exp-1".into(),
            name: "First".into(),
            spellings: vec!["exp1".into()],
            ..Experiment::default()
        };
        let entries = [Entry::Team(vision), Entry::Project(apollo), Entry::Experiment(first)];
        Configuration { entries: (1..).zip(entries).collect() }
    }

    fn lines(file: &str) -> Vec<String> {
        let found = read_quantities(file.as_bytes(), &configuration()).unwrap();
        let line = |it: &Quantity| format!("{} {} {} {} {}", it.day, it.kind, it.owner, it.quantity, it.unit);
        found.iter().map(line).collect()
    }

    #[test]
    fn owners_are_found_by_every_spelling_and_experiments_need_no_entry() {
        let file = "day,kind,owner,unit,quantity\n2026-09-01,team,cv,Training  Runs,12\n\
                    2026-09-01,Project,apollo 11,tokens,1500000.5\n\n2026-09-02,experiment,EXP1,runs,0\n\
                    2026-09-02,experiment, Exp-9 ,runs,3\n";
        assert_eq!(
            lines(file),
            [
                "2026-09-01 team vision 12 training runs",
                "2026-09-01 project apollo 1500000.5 tokens",
                "2026-09-02 experiment exp-1 0 runs",
                "2026-09-02 experiment exp-9 3 runs",
            ]
        );
        let grouped = "day,kind,owner,unit,quantity\n2026-09-01,team,cv,runs,\"1,200.5\"\n2026-09-02,team,cv,runs,\"2,000,000\"\n";
        assert_eq!(
            lines(grouped),
            ["2026-09-01 team vision 1200.5 runs", "2026-09-02 team vision 2000000 runs"]
        );
        assert_eq!(lines("Quantity,unit,owner,kind,day\n7,runs,vision,team,2026-09-01\n").len(), 1);
    }

    #[test]
    fn it_says_where_a_file_is_wrong() {
        let good = "2026-09-01,team,vision,runs,1";
        for (row, problem) in [
            (
                "01/09/2026,team,vision,runs,1",
                "row 2, day: found \"01/09/2026\", expected a day such as 2026-09-30",
            ),
            (
                "2026-09-02,squad,vision,runs,1",
                "row 2, kind: found \"squad\", expected team, project or experiment",
            ),
            ("2026-09-02,team,nlp,runs,1", "row 2, owner: found \"nlp\", expected a team of September 2026"),
            (
                "2027-01-02,team,vision,runs,1",
                "row 2, owner: found \"vision\", expected a team of January 2027",
            ),
            ("2026-09-02,project,vision,runs,1", "row 2, owner: found \"vision\", expected a project of"),
            (
                "2026-09-02,experiment,,runs,1",
                "row 2, owner: found \"\", expected the label of an experiment",
            ),
            ("2026-09-02,team,vision,,1", "row 2, unit: found \"\", expected what is counted"),
            (
                "2026-09-02,team,vision,runs,-1",
                "row 2, quantity: found \"-1\", expected a number of zero or more",
            ),
            (
                "2026-09-02,team,vision,runs,\"1,200\"",
                "row 2, quantity: found \"1,200\", expected a number such as 1200 or 1,200.5; a single comma",
            ),
            ("2026-09-02,team,vision,runs,many", "row 2, quantity: found \"many\""),
            ("2026-09-02,team,vision,runs", "row 2, quantity: found \"\""),
            (
                "2026-09-01,team,CV,RUNS,2",
                "row 2, day: found \"2026-09-01,team,CV,RUNS,2\", expected each day, owner and unit once; row 1 has it already",
            ),
        ] {
            let file = format!("day,kind,owner,unit,quantity\n{good}\n{row}\n");
            let refused = read_quantities(file.as_bytes(), &configuration()).unwrap_err().to_string();
            assert!(refused.starts_with(problem), "{refused}\n{problem}");
        }
        let refused = read_quantities(b"a,b\n1,2\n", &configuration()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "row 0, header: found \"a,b\", expected the columns day,kind,owner,unit,quantity; missing: day, kind, owner, unit, quantity"
        );
        assert!(read_quantities(b"day,kind,owner,unit,quantity\n\xff,1,1,1,1\n", &configuration()).is_err());
    }
}
