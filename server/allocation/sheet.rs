//! Entries as rows of a sheet: what a form holds, what a CSV file holds, and what is wrong with either. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::entry::{Account, CostCentre, Entry, Experiment, Months, Project, Team};
use super::label::{handle_of, normalized};
use crate::changes::Entry as _;
use crate::entered_csv::{EnteredCsv, RefusedRow, unguarded};
use crate::enum_words::{words, written_as_str};
use crate::period::BillingMonth;

words! {
    /// What is kept as a sheet: `as_str` in addresses and names of files, `name` over a list of them, `one` of one of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Sheet: as_str, name, one {
        Teams = "teams", "Teams", "team";
        Projects = "projects", "Projects", "project";
        CostCentres = "cost-centres", "Cost centers", "cost center";
        Experiments = "experiments", "Experiments", "experiment";
        Accounts = "accounts", "Accounts", "account";
    }
}

written_as_str!(Sheet);

/// A row as people write it: a text by column.
pub type Row = BTreeMap<&'static str, String>;

/// What a place holds, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{column}: found {found:?}, expected {expected}")]
pub struct RefusedCell {
    pub column: &'static str,
    pub found: String,
    pub expected: &'static str,
}

/// A file that is not taken; nothing of it is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: found {:?}, expected {}", in_row(.0.row), .0.column, .0.found, .0.expected)]
pub struct RefusedFile(RefusedRow);

impl From<RefusedRow> for RefusedFile {
    fn from(row: RefusedRow) -> Self {
        Self(row)
    }
}

fn in_row(row: usize) -> String {
    if row == 0 { "first line, ".to_owned() } else { format!("row {row}, ") }
}

/// What separates several values in one cell.
const SEPARATOR: char = ';';

impl Sheet {
    /// In the order of files and forms. The first, with the first month, distinguishes rows.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Teams => {
                &["handle", "name", "parent", "cost_centre", "spellings", "members", "first", "last"]
            }
            Self::Projects => &["handle", "name", "team", "cost_centre", "spellings", "first", "last"],
            Self::CostCentres => &["handle", "name", "spellings", "first", "last"],
            Self::Experiments => &["handle", "name", "project", "team", "spellings", "first", "last"],
            Self::Accounts => &["account", "team", "first", "last"],
        }
    }

    pub fn is_accounts(self) -> bool {
        self == Self::Accounts
    }

    /// The sheet that an entry stands on; `None` for rules, pools and what is entered elsewhere.
    pub fn of(entry: &Entry) -> Option<Self> {
        match entry {
            Entry::Team(_) => Some(Self::Teams),
            Entry::Project(_) => Some(Self::Projects),
            Entry::CostCentre(_) => Some(Self::CostCentres),
            Entry::Experiment(_) => Some(Self::Experiments),
            Entry::Account(_) => Some(Self::Accounts),
            _ => None,
        }
    }

    /// An entry as a row.
    pub fn row(self, entry: &Entry) -> Row {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let list = |list: &[String]| list.join(&format!("{SEPARATOR} "));
        let mut row = match entry {
            Entry::Team(it) => Row::from([
                ("handle", it.handle.clone()),
                ("name", it.name.clone()),
                ("parent", text(&it.parent)),
                ("cost_centre", text(&it.cost_centre)),
                ("spellings", list(&it.spellings)),
                ("members", list(&it.members)),
            ]),
            Entry::Project(it) => Row::from([
                ("handle", it.handle.clone()),
                ("name", it.name.clone()),
                ("team", text(&it.team)),
                ("cost_centre", text(&it.cost_centre)),
                ("spellings", list(&it.spellings)),
            ]),
            Entry::CostCentre(it) => Row::from([
                ("handle", it.handle.clone()),
                ("name", it.name.clone()),
                ("spellings", list(&it.spellings)),
            ]),
            Entry::Experiment(it) => Row::from([
                ("handle", it.handle.clone()),
                ("name", it.name.clone()),
                ("project", text(&it.project)),
                ("team", text(&it.team)),
                ("spellings", list(&it.spellings)),
            ]),
            Entry::Account(it) => Row::from([("account", it.account.clone()), ("team", it.team.clone())]),
            _ => Row::new(),
        };
        let month = |month: Option<BillingMonth>| month.map(|month| month.to_string()).unwrap_or_default();
        row.insert("first", month(entry.months().first));
        row.insert("last", month(entry.months().last));
        row
    }

    /// A row as an entry; everything that is wrong with it.
    pub fn read(self, row: &Row) -> Result<Entry, Vec<RefusedCell>> {
        let mut refused = Vec::new();
        let cell = |column: &str| row.get(column).map_or("", |text| text.trim());
        // What is referred to may be called by its name.
        let some = |column: &str| Some(handle_of(cell(column))).filter(|text| !text.is_empty());
        let list = |column: &str| -> Vec<String> {
            let values = cell(column).split(SEPARATOR).map(str::trim);
            values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        let mut month = |column: &'static str| match cell(column) {
            "" => None,
            text => {
                let month = text.parse::<BillingMonth>();
                if month.is_err() {
                    let expected = "a month such as 2026-09, or nothing";
                    refused.push(RefusedCell { column, found: text.to_owned(), expected });
                }
                month.ok()
            }
        };
        let months = Months { first: month("first"), last: month("last") };
        let mut name = cell("name").to_owned();
        let handle = match (self, cell("handle")) {
            (Self::Experiments, text) => normalized(if text.is_empty() { &name } else { text }),
            (_, "") => handle_of(&name),
            (_, text) => text.to_owned(),
        };
        if name.is_empty() && self != Self::Accounts {
            name.clone_from(&handle);
        }
        if self == Self::Accounts {
            for (column, expected) in
                [("account", "the number of an account"), ("team", "the handle of a team")]
            {
                if cell(column).is_empty() {
                    refused.push(RefusedCell { column, found: String::new(), expected });
                }
            }
        } else if handle.is_empty() {
            let expected = "a name with letters or digits in it";
            refused.push(RefusedCell { column: "name", found: name.clone(), expected });
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(match self {
            Self::Teams => Entry::Team(Team {
                handle,
                name,
                parent: some("parent"),
                cost_centre: some("cost_centre"),
                spellings: list("spellings"),
                members: list("members"),
                months,
            }),
            Self::Projects => Entry::Project(Project {
                handle,
                name,
                team: some("team"),
                cost_centre: some("cost_centre"),
                spellings: list("spellings"),
                months,
            }),
            Self::CostCentres => {
                Entry::CostCentre(CostCentre { handle, name, spellings: list("spellings"), months })
            }
            Self::Experiments => Entry::Experiment(Experiment {
                handle,
                name,
                spellings: list("spellings"),
                project: some("project"),
                team: some("team"),
                months,
            }),
            Self::Accounts => Entry::Account(Account {
                account: cell("account").to_owned(),
                team: handle_of(cell("team")),
                months,
            }),
        })
    }

    /// The columns that a file has. Everything that is wrong with them is shown at once.
    fn read_header(self, header: &csv::StringRecord) -> Result<Vec<&'static str>, RefusedRow> {
        let needed: &[&str] = if self == Self::Accounts { &["account", "team"] } else { &["name"] };
        let (mut columns, mut unknown, mut twice) = (Vec::new(), Vec::new(), Vec::new());
        for name in header {
            match self.columns().iter().find(|column| column.eq_ignore_ascii_case(name)) {
                None => unknown.push(if name.is_empty() { "one without a name" } else { name }),
                Some(column) if columns.contains(column) => twice.push(*column),
                Some(column) => columns.push(*column),
            }
        }
        let missing: Vec<&str> = needed.iter().copied().filter(|name| !columns.contains(name)).collect();
        let described = [("unknown", unknown), ("twice", twice), ("missing", missing)];
        let described = described.iter().filter(|(_, names)| !names.is_empty());
        let described: Vec<String> =
            described.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
        if described.is_empty() {
            return Ok(columns);
        }
        let others: Vec<&str> =
            self.columns().iter().copied().filter(|column| !needed.contains(column)).collect();
        let expected = format!("{}; optional: {}", needed.join(", "), others.join(", "));
        Err(RefusedRow::new(0, "columns", &described.join("; "), expected))
    }

    /// A CSV file as entries, in its order. Columns may stand in any order, and those that may be empty may lack.
    pub fn read_file(self, content: &[u8]) -> Result<Vec<Entry>, RefusedFile> {
        let broken = |row: usize, error: &csv::Error| {
            RefusedRow::new(row, "the row", &error.to_string(), "comma-separated text in UTF-8")
        };
        let mut file = EnteredCsv::open(content).map_err(|error| broken(0, &error))?;
        file.refuse_semicolons("columns")?;
        let columns = self.read_header(&file.header)?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: BTreeMap<(String, Option<BillingMonth>), usize> = BTreeMap::new();
        for (number, record) in file.rows() {
            let record = record.map_err(|error| broken(number, &error))?;
            if let Some(beyond) = record.get(columns.len()) {
                let column = (columns.len() + 1).to_string();
                let expected = format!("{} columns, as the header has", columns.len());
                return Err(RefusedRow::new(number, &column, beyond, expected).into());
            }
            let cells = record.iter().map(|cell| unguarded(cell).to_owned());
            let row: Row = columns.iter().copied().zip(cells).collect();
            let entry = self.read(&row).map_err(|refused| {
                let it = &refused[0];
                RefusedRow::new(number, it.column, &it.found, it.expected)
            })?;
            if let Some(earlier) = seen.insert(identity(&entry), number) {
                let found = identity(&entry).0;
                let expected = format!("another {} or another first month than in row {earlier}", self.one());
                return Err(RefusedRow::new(number, self.columns()[0], &found, expected).into());
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// What distinguishes one row of a sheet from another: the handle, and the first month.
pub fn identity(entry: &Entry) -> (String, Option<BillingMonth>) {
    let handle = match entry {
        Entry::Team(it) => &it.handle,
        Entry::Project(it) => &it.handle,
        Entry::CostCentre(it) => &it.handle,
        Entry::Experiment(it) => &it.handle,
        Entry::Account(it) => &it.account,
        Entry::Pool(it) => &it.handle,
        Entry::Rule(it) => &it.name,
        _ => return (entry.title(), None),
    };
    (handle.clone(), entry.months().first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_file_is_read_and_written_alike() {
        let file =
            "name,handle,parent,spellings,first\nComputer Vision,cv,research,CV; c-v,2026-07\nResearch,,,,\n";
        let entries = Sheet::Teams.read_file(file.as_bytes()).unwrap();
        let [Entry::Team(vision), Entry::Team(research)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!((vision.handle.as_str(), vision.spellings.len()), ("cv", 2));
        assert_eq!(vision.months.in_words(), "from 2026-07");
        assert_eq!((research.handle.as_str(), research.name.as_str()), ("research", "Research"));
    }

    #[test]
    fn every_sheet_reads_what_it_wrote() {
        let text = |text: &str| Some(text.to_owned());
        let list = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let month = |month: &str| Some(month.parse().unwrap());
        let months = Months { first: month("2026-07"), last: month("2026-12") };
        let full = [
            Entry::Team(Team {
                handle: "cv".into(),
                name: "Vision, \"seeing\"".into(),
                parent: text("research"),
                cost_centre: text("cc-1"),
                spellings: list(&["CV", "computer vision"]),
                members: list(&["ada@example.com", "li@example.com"]),
                months,
            }),
            Entry::Project(Project {
                handle: "seg".into(),
                name: "Segmentation".into(),
                team: text("cv"),
                cost_centre: text("cc-1"),
                spellings: list(&["segment"]),
                months,
            }),
            Entry::CostCentre(CostCentre {
                handle: "cc-1".into(),
                name: "4711".into(),
                spellings: list(&["CC 1", "4711-0"]),
                months,
            }),
            Entry::Experiment(Experiment {
                handle: "llama 7b/run.json".into(),
                name: "=Llama\n7B".into(),
                project: text("seg"),
                team: text("cv"),
                spellings: list(&["llama_7b", "llama-7b"]),
                months,
            }),
            Entry::Account(Account { account: "0123456789".into(), team: "cv".into(), months }),
        ];
        // What need not be there is not.
        let bare = [
            Entry::Team(Team { handle: "x".into(), name: "X".into(), ..Team::default() }),
            Entry::Project(Project { handle: "x".into(), name: "X".into(), ..Project::default() }),
            Entry::CostCentre(CostCentre { handle: "x".into(), name: "X".into(), ..CostCentre::default() }),
            Entry::Experiment(Experiment { handle: "x".into(), name: "X".into(), ..Experiment::default() }),
            Entry::Account(Account { account: "9".into(), team: "x".into(), months: Months::default() }),
        ];
        for ((sheet, full), bare) in Sheet::ALL.into_iter().zip(full).zip(bare) {
            let entries = [full, bare];
            assert!(entries.iter().all(|entry| Sheet::of(entry) == Some(sheet)));
            for entry in &entries {
                let row = sheet.row(entry);
                assert_eq!(
                    row.keys().copied().collect::<BTreeSet<_>>(),
                    sheet.columns().iter().copied().collect()
                );
                assert_eq!(sheet.read(&row).as_ref(), Ok(entry));
            }
            let mut file = csv::Writer::from_writer(Vec::new());
            file.write_record(sheet.columns()).unwrap();
            for entry in &entries {
                let row = sheet.row(entry);
                file.write_record(sheet.columns().iter().map(|column| &row[column])).unwrap();
            }
            assert_eq!(sheet.read_file(&file.into_inner().unwrap()), Ok(entries.to_vec()));
            assert_eq!(sheet.to_string().parse(), Ok(sheet));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (file, expected) in [
            ("", "first line, columns: found \"missing: name\", expected name; optional: handle, parent"),
            (
                "handle,owner,handle,color\nx\n",
                "first line, columns: found \"unknown: owner, color; twice: handle; missing: name\", expected name",
            ),
            (
                "handle;name\nx;X\n",
                "first line, columns: found \"handle;name\", expected columns separated by commas; this file is",
            ),
            ("name,\nx,y\n", "first line, columns: found \"unknown: one without a name\", expected name"),
            (
                "name,first\nx,July\n",
                "row 1, first: found \"July\", expected a month such as 2026-09, or nothing",
            ),
            ("name\nx\n\n???\n", "row 2, name: found \"???\", expected a name with letters or digits in it"),
            (
                "name\nx\nX\n",
                "row 2, handle: found \"x\", expected another team or another first month than in row 1",
            ),
            ("name\nx,y\n", "row 1, 2: found \"y\", expected 1 columns, as the header has"),
        ] {
            let refused = Sheet::Teams.read_file(file.as_bytes()).unwrap_err().to_string();
            assert!(refused.starts_with(expected), "{refused}\n{expected}");
        }
        let refused = Sheet::Accounts.read_file(b"account,team\n123,\n").unwrap_err().to_string();
        assert_eq!(refused, "row 1, team: found \"\", expected the handle of a team");
    }

    #[test]
    fn an_experiment_is_called_by_its_label() {
        let entries =
            Sheet::Experiments.read_file(b"name,spellings\nLlama 7B run,llama-7b;Llama_7B\n").unwrap();
        let [Entry::Experiment(it)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!((it.handle.as_str(), it.name.as_str()), ("llama 7b run", "Llama 7B run"));
    }
}
