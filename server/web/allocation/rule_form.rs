//! The form of a rule: what was typed, what can be chosen, and what it says.

use sqlx::PgConnection;

use super::super::error::Result;
use super::problem;
use crate::accounts::Viewer;
use crate::allocation::{Condition, Configuration, Entry, Field, Label, Months, Rule, Target, Test};
use crate::changes::Problem;
use crate::ledger;
use crate::period::BillingMonth;
use crate::report::Answers;

/// Lines for conditions: those that there are, and some that are empty.
const EMPTY_LINES: usize = 3;
/// Tags that are offered.
const TAGS: usize = 30;

/// How a value is tested: a word of the form, and how it reads.
pub const TESTS: [(&str, &str); 8] = [
    ("is", "is"),
    ("is-not", "is not"),
    ("starts", "starts with"),
    ("starts-not", "does not start with"),
    ("matches", "matches the pattern"),
    ("matches-not", "does not match the pattern"),
    ("missing", "is missing"),
    ("there", "is present"),
];

/// What separates several values.
const SEPARATOR: char = ';';

/// What was typed, as it was typed.
#[derive(Debug, Default)]
pub struct RuleForm {
    pairs: Vec<(String, String)>,
}

/// A line of conditions, as it was typed.
#[derive(Debug, Default)]
pub struct Line {
    pub field: String,
    pub test: String,
    pub value: String,
}

/// What a form says.
pub struct Read {
    pub rule: Rule,
    pub since: Option<BillingMonth>,
    pub last: Option<BillingMonth>,
    /// How many rules it comes after.
    pub position: usize,
}

/// What can be chosen: addresses of teams and pools, fields, places.
pub struct Choices {
    pub targets: Vec<(String, String)>,
    pub projects: Vec<(String, String)>,
    pub fields: Vec<String>,
    pub places: Vec<(String, String)>,
}

impl RuleForm {
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self { pairs }
    }

    /// The form that an address fills in: `from=2026-09` is the month that it is to begin with.
    pub fn of_address(mut pairs: Vec<(String, String)>) -> Self {
        for (name, _) in pairs.iter_mut().filter(|(name, _)| name == "from") {
            "since".clone_into(name);
        }
        Self { pairs }
    }

    /// The form of a rule that there is.
    pub fn of(rule: &Rule, configuration: &Configuration, id: i64) -> Self {
        let mut pairs: Vec<(String, String)> = vec![("name".into(), rule.name.clone())];
        for condition in &rule.when {
            let (test, value) = match (&condition.test, condition.not) {
                (Test::Is(values), false) => ("is", join(values)),
                (Test::Is(values), true) => ("is-not", join(values)),
                (Test::StartsWith(values), false) => ("starts", join(values)),
                (Test::StartsWith(values), true) => ("starts-not", join(values)),
                (Test::Matches(pattern), false) => ("matches", pattern.clone()),
                (Test::Matches(pattern), true) => ("matches-not", pattern.clone()),
                (Test::Missing, false) => ("missing", String::new()),
                (Test::Missing, true) => ("there", String::new()),
            };
            pairs.push(("field".into(), condition.field.to_string()));
            pairs.push(("test".into(), test.into()));
            pairs.push(("value".into(), value));
        }
        let (to, tag, project) = match &rule.to {
            Target::Team { team, project } => {
                (format!("team:{team}"), String::new(), project.clone().unwrap_or_default())
            }
            Target::Labels => ("labels".into(), String::new(), String::new()),
            Target::Tag { key } => ("tag".into(), key.clone(), String::new()),
            Target::Account => ("account".into(), String::new(), String::new()),
            Target::Pool { pool } => (format!("pool:{pool}"), String::new(), String::new()),
        };
        let month = |month: Option<BillingMonth>| month.map(|month| month.to_string()).unwrap_or_default();
        let position = configuration.rules().iter().position(|(other, _)| *other == id).unwrap_or_default();
        pairs.extend([
            ("to".to_owned(), to),
            ("tag".to_owned(), tag),
            ("project".to_owned(), project),
            ("last".to_owned(), month(rule.months.last)),
            ("position".to_owned(), position.to_string()),
        ]);
        Self { pairs }
    }

    /// What a field holds; empty where it is not there.
    pub fn value(&self, name: &str) -> &str {
        self.pairs.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub fn has(&self, name: &str, value: &str) -> bool {
        match (name, self.value(name)) {
            // `tag:KEY` is how an address says it.
            ("to", text) => text == value || (value == "tag" && text.starts_with("tag:")),
            (_, text) => text == value,
        }
    }

    pub fn name(&self) -> &str {
        self.value("name").trim()
    }

    pub fn tag(&self) -> &str {
        self.value("to").strip_prefix("tag:").unwrap_or_else(|| self.value("tag"))
    }

    /// The lines of conditions, with some that are empty.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self.typed();
        lines.retain(|line| !line.field.trim().is_empty() || !line.value.trim().is_empty());
        lines.extend((0..EMPTY_LINES).map(|_| Line { test: "is".into(), ..Line::default() }));
        lines
    }

    /// Fields come in the order of the form; an address may leave the test out, which means "is".
    fn typed(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for (name, value) in &self.pairs {
            match (name.as_str(), lines.last_mut()) {
                ("field", _) => {
                    lines.push(Line { field: value.clone(), test: "is".into(), value: String::new() });
                }
                ("test", Some(line)) => line.test.clone_from(value),
                ("value", Some(line)) => line.value.clone_from(value),
                _ => {}
            }
        }
        lines
    }

    /// What it says, or everything that it says wrong.
    pub fn read(&self) -> Result<Read, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut when = Vec::new();
        for line in self.typed() {
            if line.field.trim().is_empty() && line.value.trim().is_empty() {
                continue;
            }
            match line.read() {
                Ok(condition) => when.push(condition),
                Err(message) => problems.push(problem("Conditions", &message)),
            }
        }
        let mut month = |name: &str, title: &str| {
            super::month(title, self.value(name)).unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        let (since, last) = (month("since", "First month"), month("last", "Last month"));
        let project = Some(self.value("project").to_owned()).filter(|project| !project.is_empty());
        let to = match self.value("to").split_once(':') {
            Some(("team", team)) => Some(Target::Team { team: team.to_owned(), project }),
            Some(("pool", pool)) => Some(Target::Pool { pool: pool.to_owned() }),
            Some(("tag", key)) => Some(Target::Tag { key: key.trim().to_owned() }),
            _ => match self.value("to") {
                "labels" => Some(Target::Labels),
                "account" => Some(Target::Account),
                "tag" => Some(Target::Tag { key: self.value("tag").trim().to_owned() }),
                _ => None,
            },
        };
        if to.is_none() {
            problems.push(problem("Target", "choose a team or shared costs"));
        }
        if self.name().is_empty() {
            problems.push(problem("Name", "enter a name"));
        }
        match to {
            Some(to) if problems.is_empty() => Ok(Read {
                rule: Rule { name: self.name().to_owned(), place: 0, when, to, months: Months::default() },
                since,
                last,
                position: self.value("position").parse().unwrap_or(usize::MAX),
            }),
            _ => Err(problems),
        }
    }
}

impl Line {
    fn read(&self) -> Result<Condition, String> {
        if self.field.trim().is_empty() {
            return Err(format!("choose a field for the value “{}”", self.value));
        }
        let field: Field = self.field.parse()?;
        let values = || -> Vec<String> {
            let values = self.value.split(SEPARATOR).map(str::trim);
            values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        let (test, not) = match self.test.as_str() {
            "is" => (Test::Is(values()), false),
            "is-not" => (Test::Is(values()), true),
            "starts" => (Test::StartsWith(values()), false),
            "starts-not" => (Test::StartsWith(values()), true),
            "matches" => (Test::Matches(self.value.clone()), false),
            "matches-not" => (Test::Matches(self.value.clone()), true),
            "missing" => (Test::Missing, false),
            "there" => (Test::Missing, true),
            other => return Err(format!("“{other}” is no operator")),
        };
        Ok(Condition { field, not, test })
    }
}

impl Choices {
    /// For a rule of this number; `None`: for a new one.
    pub async fn find(
        db: &mut PgConnection,
        answers: &Answers,
        configuration: &Configuration,
        id: Option<i64>,
    ) -> Result<Self> {
        let mut targets = vec![
            ("labels".to_owned(), "the team named by its labels".to_owned()),
            ("account".to_owned(), "the team that owns the account".to_owned()),
            ("tag".to_owned(), "the team named by this tag:".to_owned()),
        ];
        let mut projects = Vec::new();
        for entry in configuration.entries.values() {
            match entry {
                Entry::Team(it) => targets.push((format!("team:{}", it.handle), format!("Team {}", it.name))),
                Entry::Pool(it) => {
                    targets.push((format!("pool:{}", it.handle), format!("Shared: {}", it.name)));
                }
                Entry::Project(it) => projects.push((it.handle.clone(), it.name.clone())),
                _ => {}
            }
        }
        // One that changes in the course of time stands there several times.
        targets[3..].sort();
        targets.dedup_by(|a, b| a.0 == b.0);
        projects.sort();
        projects.dedup_by(|a, b| a.0 == b.0);
        let mut fields: Vec<String> = Field::FIXED.iter().map(ToString::to_string).collect();
        if let Some(month) = answers.latest_month(db, &Viewer::Everything).await? {
            let sequence = ledger::sequence(db).await?;
            let tags = answers.tag_names(db, month.into(), &Viewer::Everything, sequence, TAGS).await?;
            fields.extend(tags.into_iter().map(|tag| Field::Tag(tag).to_string()));
        }
        fields.extend(Label::ALL.map(|label| Field::Label(label).to_string()));
        let others: Vec<String> = configuration
            .rules()
            .into_iter()
            .filter(|(other, _)| Some(*other) != id)
            .map(|(_, rule)| rule.name.clone())
            .collect();
        let mut places = vec![("0".to_owned(), "first".to_owned())];
        places.extend(
            others.iter().enumerate().map(|(at, name)| ((at + 1).to_string(), format!("after “{name}”"))),
        );
        Ok(Self { targets, projects, fields, places })
    }
}

fn join(values: &[String]) -> String {
    values.join(&format!("{SEPARATOR} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)]) -> RuleForm {
        RuleForm::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_form_reads_as_it_is_filled_in() {
        let form = form(&[
            ("name", " GPU nodes "),
            ("field", "tag:team"),
            ("test", "is-not"),
            ("value", "a; b ;"),
            ("field", ""),
            ("test", "is"),
            ("value", ""),
            ("field", "service"),
            ("test", "matches"),
            ("value", "^EC2; x"),
            ("to", "team:vision"),
            ("since", "2026-07"),
        ]);
        let read = form.read().ok().unwrap();
        assert_eq!(
            super::super::rules::conditions(&read.rule),
            "Tag team is not a or b; Service matches ^EC2; x"
        );
        assert_eq!(read.since, Some("2026-07".parse().unwrap()));
        let again = RuleForm::of(&read.rule, &Configuration::default(), 1);
        assert_eq!(again.read().ok().unwrap().rule, read.rule);
    }

    #[test]
    fn an_address_fills_it_in() {
        let address = [
            ("field", "account"),
            ("value", "1234"),
            ("to", "tag:owner"),
            ("name", "x"),
            ("from", "2026-09"),
        ];
        let form = RuleForm::of_address(form(&address).pairs);
        let read = form.read().ok().unwrap();
        assert_eq!(read.rule.when[0].in_words(), "Account is 1234");
        assert_eq!(read.since, Some("2026-09".parse().unwrap()));
        assert_eq!(read.rule.to, Target::Tag { key: "owner".into() });
        assert!(form.has("to", "tag"));
        assert_eq!((form.tag(), form.lines().len()), ("owner", 4));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let form =
            form(&[("field", "colour"), ("value", "red"), ("field", ""), ("value", "7"), ("since", "July")]);
        let problems = form.read().err().unwrap();
        assert_eq!(problems.len(), 5, "{problems:?}");
    }
}
