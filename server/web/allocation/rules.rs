//! `/rules`: in their order, with what each claims of a month; and the form of one.

use askama::Template;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Now, Pairs, Reading, Writing};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::{filters, paths, respond};
use super::rule_form::{Choices, RuleForm};
use super::{OfMonth, Sent, configuration_now, rewrite, send};
use crate::accounts::Viewer;
use crate::allocation::{self, Configuration, Edit, Entry, Months, Rule, Target};
use crate::audit::Actor;
use crate::changes::{self, Problem};
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report::{Answers, Grouping, Question, Spend};

/// Places between two rules, so that one can stand there without moving the others.
const GAP: i64 = 16;

/// A rule with what it claims of a month, before shared costs are divided.
#[derive(Serialize)]
struct Line {
    #[serde(rename = "rule")]
    id: i64,
    name: String,
    when: String,
    to: String,
    months: String,
    /// Whether it is asked in the month that is shown.
    is_asked: bool,
    cost: Decimal,
    share: Option<Decimal>,
}

#[derive(Template)]
#[template(path = "allocation/rules.html")]
struct Page {
    layout: Layout,
    month: Option<BillingMonth>,
    lines: Vec<Line>,
    /// What no rule claims.
    unclaimed: Decimal,
    total: Decimal,
    currency: Option<Currency>,
    has_teams: bool,
}

async fn lines(
    db: &mut PgConnection,
    answers: &Answers,
    month: Option<BillingMonth>,
) -> Result<(Vec<Line>, Option<Spend>, Configuration)> {
    let configuration = configuration_now(db).await?;
    let claimed = match month {
        Some(month) => {
            let question = Question {
                by: Grouping::Rule,
                convert_into: exchange::reporting_currency(db).await?,
                ..Question::of(month.into(), Viewer::Everything)
            };
            Some(answers.spend(db, &question).await?)
        }
        None => None,
    };
    let lines = configuration
        .rules()
        .into_iter()
        .map(|(id, rule)| {
            let group = claimed.as_ref().and_then(|spend| {
                spend.groups.iter().find(|group| group.key.as_deref() == Some(id.to_string().as_str()))
            });
            Line {
                id,
                name: rule.name.clone(),
                when: conditions(rule),
                to: target(&rule.to),
                months: rule.months.in_words(),
                is_asked: month.is_none_or(|month| rule.months.contain(month)),
                cost: group.map(|group| group.cost.amount).unwrap_or_default(),
                share: group.and_then(|group| group.share),
            }
        })
        .collect();
    Ok((lines, claimed, configuration))
}

pub async fn index(_: paths::Rules, format: Format, reading: Reading<OfMonth>) -> Result {
    let Reading { layout, query: asked, app, mut db, .. } = reading;
    let month = asked.month(&mut db, &app.answers).await?;
    let (lines, claimed, configuration) = lines(&mut db, &app.answers, month).await?;
    match format {
        Format::Json => return respond::json(&lines),
        Format::Csv => return csv::answer("rules", &lines),
        Format::Html => {}
    }
    let amount = |key: Option<&str>| {
        let groups = claimed.iter().flat_map(|spend| &spend.groups);
        groups.filter(|group| group.key.as_deref() == key).map(|group| group.cost.amount).sum()
    };
    respond::html(Page {
        layout,
        month,
        lines,
        unclaimed: amount(None),
        total: claimed
            .as_ref()
            .and_then(|spend| spend.total.as_ref())
            .map(|it| it.amount)
            .unwrap_or_default(),
        currency: claimed.as_ref().and_then(|spend| spend.currency.clone()),
        has_teams: configuration.has_teams(),
    })
}

#[derive(Template)]
#[template(path = "allocation/rule.html")]
struct FormPage {
    layout: Layout,
    /// `None`: a new one.
    id: Option<i64>,
    form: RuleForm,
    choices: Choices,
    problems: Vec<Problem>,
}

impl FormPage {
    fn title(&self) -> String {
        match self.id {
            Some(_) => format!("Rule “{}”", self.form.name()),
            None => "New rule".to_owned(),
        }
    }

    fn action(&self) -> String {
        match self.id {
            Some(rule) => paths::Rule { rule }.to_string(),
            None => paths::NewRule.to_string(),
        }
    }

    fn remove(&self) -> String {
        self.id.map(|rule| paths::RuleRemove { rule }.to_string()).unwrap_or_default()
    }
}

pub async fn new(_: paths::NewRule, reading: Reading<Pairs>) -> Result {
    let Reading { layout, query: pairs, app, mut db, .. } = reading;
    let configuration = configuration_now(&mut db).await?;
    let choices = Choices::find(&mut db, &app.answers, &configuration, None).await?;
    respond::html(FormPage {
        layout,
        id: None,
        form: RuleForm::of_address(pairs),
        choices,
        problems: Vec::new(),
    })
}

pub async fn edit(path: paths::Rule, reading: Reading) -> Result {
    let Reading { layout, app, mut db, .. } = reading;
    let configuration = configuration_now(&mut db).await?;
    let rule = find(&configuration, path.rule)?;
    let form = RuleForm::of(rule, &configuration, path.rule);
    let choices = Choices::find(&mut db, &app.answers, &configuration, Some(path.rule)).await?;
    respond::html(FormPage { layout, id: Some(path.rule), form, choices, problems: Vec::new() })
}

fn find(configuration: &Configuration, id: i64) -> Result<&Rule> {
    match configuration.entries.get(&id) {
        Some(Entry::Rule(rule)) => Ok(rule),
        _ => Err(Error::NotFound),
    }
}

pub async fn create(_: paths::NewRule, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let configuration = configuration_now(&mut db).await?;
    let form = RuleForm::new(pairs);
    let problems = match form.read() {
        Ok(read) => {
            let months = Months { first: read.since, last: read.last };
            let id = changes::entry_ids(&mut db, 1).await?.pop().unwrap_or_default();
            let after = Entry::Rule(Rule { months, ..read.rule });
            let mut edits = vec![Edit { id, before: None, after: Some(after) }];
            put(&configuration, &mut edits, id, read.position);
            let summary = format!("New rule “{}”", form.name());
            match send(&mut db, edits, &summary, None, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    let choices = Choices::find(&mut db, &app.answers, &configuration, None).await?;
    respond::refused(FormPage { layout, id: None, form, choices, problems })
}

pub async fn change(path: paths::Rule, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let configuration = configuration_now(&mut db).await?;
    let rule = find(&configuration, path.rule)?;
    let before = Entry::Rule(rule.clone());
    let form = RuleForm::new(pairs);
    let problems = match form.read() {
        Ok(read) => {
            let months = Months { first: rule.months.first, last: read.last };
            let after = Entry::Rule(Rule { months, place: rule.place, ..read.rule });
            let mut edits = rewrite(&mut db, path.rule, &before, after, read.since).await?;
            let moved = edits.last().map_or(path.rule, |edit| edit.id);
            put(&configuration, &mut edits, moved, read.position);
            let summary = format!("Rule “{}” changed", form.name());
            match send(&mut db, edits, &summary, None, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    let choices = Choices::find(&mut db, &app.answers, &configuration, Some(path.rule)).await?;
    respond::refused(FormPage { layout, id: Some(path.rule), form, choices, problems })
}

#[derive(Deserialize)]
pub struct MoveForm {
    /// How many rules it comes after.
    position: usize,
}

pub async fn shift(path: paths::RuleMove, writing: Writing, Form(form): Form<MoveForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let configuration = configuration_now(&mut db).await?;
    let rule = find(&configuration, path.rule)?;
    let entry = Entry::Rule(rule.clone());
    let mut edits = vec![Edit { id: path.rule, before: Some(entry.clone()), after: Some(entry) }];
    put(&configuration, &mut edits, path.rule, form.position);
    let place = form.position.min(configuration.rules().len().saturating_sub(1)) + 1;
    let summary = format!("Rule “{}” moved to place {place}", rule.name);
    sent(send(&mut db, edits, &summary, None, by.at(now)).await?)
}

pub async fn remove(path: paths::RuleRemove, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let rule = find(&configuration, path.rule)?;
    let edits = vec![Edit { id: path.rule, before: Some(Entry::Rule(rule.clone())), after: None }];
    let summary = format!("Rule “{}” removed", rule.name);
    sent(send(&mut db, edits, &summary, None, by.at(now)).await?)
}

/// For what has no form to show problems in.
pub fn sent(sent: Sent) -> Result {
    match sent {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            let sentences: Vec<String> =
                problems.iter().map(|it| format!("{}: {}.", it.of, it.message)).collect();
            Err(Error::BadRequest(format!("Nothing was changed. {}", sentences.join(" "))))
        }
    }
}

/// Gives the rule `id`, of which `edits` hold what it will be, the place after so many others: between its neighbours
/// where there is room, else everybody gets a new place.
fn put(configuration: &Configuration, edits: &mut Vec<Edit>, id: i64, position: usize) {
    // What it was in earlier months keeps its place, and is none of the others.
    let is_edited: Vec<i64> = edits.iter().map(|edit| edit.id).collect();
    let rules = configuration.rules();
    let others: Vec<(i64, &Rule)> =
        rules.iter().filter(|(other, _)| *other != id && !is_edited.contains(other)).copied().collect();
    let position = position.min(others.len());
    let before = position.checked_sub(1).map(|at| others[at].1.place);
    let after = others.get(position).map(|(_, rule)| rule.place);
    let place = match (before, after) {
        (None, None) => Some(0),
        (Some(before), None) => before.checked_add(GAP),
        (None, Some(after)) => after.checked_sub(GAP),
        (Some(before), Some(after)) => {
            let middle = before + after.saturating_sub(before) / 2;
            (before < middle && middle < after).then_some(middle)
        }
    };
    let mut set = |id: i64, place: i64| {
        if let Some(Edit { after: Some(Entry::Rule(rule)), .. }) = edits.iter_mut().find(|edit| edit.id == id)
        {
            rule.place = place;
        } else if let Some(Entry::Rule(rule)) = configuration.entries.get(&id) {
            let (before, after) = (rule.clone(), Rule { place, ..rule.clone() });
            edits.push(Edit { id, before: Some(Entry::Rule(before)), after: Some(Entry::Rule(after)) });
        }
    };
    if let Some(place) = place {
        return set(id, place);
    }
    let mut order: Vec<i64> = rules.iter().map(|(id, _)| *id).filter(|other| *other != id).collect();
    let next = others.get(position).and_then(|(next, _)| order.iter().position(|id| id == next));
    order.insert(next.unwrap_or(order.len()), id);
    for (place, id) in (0..).step_by(GAP as usize).zip(order) {
        set(id, place);
    }
}

/// A rule's conditions in words.
pub fn conditions(rule: &Rule) -> String {
    if rule.when.is_empty() {
        return "everything".to_owned();
    }
    rule.when.iter().map(allocation::Condition::in_words).collect::<Vec<_>>().join("; ")
}

/// Who gets it, in words.
pub fn target(target: &Target) -> String {
    match target {
        Target::Team { team, project: None } => format!("team {team}"),
        Target::Team { team, project: Some(project) } => format!("team {team}, project {project}"),
        Target::Labels => "the team that its labels name".to_owned(),
        Target::Tag { key } => format!("the team that tag {key} names"),
        Target::Account => "the team whose account it is".to_owned(),
        Target::Pool { pool } => format!("shared: {pool}"),
    }
}

impl Line {
    fn edit(&self) -> paths::Rule {
        paths::Rule { rule: self.id }
    }

    fn shift(&self) -> paths::RuleMove {
        paths::RuleMove { rule: self.id }
    }

    /// What it claims, as the spend page shows it.
    fn charges(&self, month: BillingMonth) -> String {
        let asked = Asked::default().only(&Grouping::Rule, Some(&self.id.to_string())).by(Grouping::Service);
        asked.link(paths::Spend { period: month.into() })
    }
}

csv::record! {
    |it: Line|
    "rule" => it.id,
    "name" => &it.name,
    "when" => &it.when,
    "to" => &it.to,
    "months" => &it.months,
    "effective_cost" => it.cost,
    "share" => it.share,
}
