//! What is done to an experiment on its page: it is renamed, assigned to a team or project, or merged into another.

use serde::Deserialize;
use sqlx::PgConnection;

use super::super::allocation::organization::Choices;
use super::super::allocation::{Sent, configuration_now, is_at_once, problem, reason, send};
use super::super::error::Result;
use super::super::extract::{Form, Writing};
use super::super::question::Asked;
use super::super::{paths, respond};
use super::experiment::Page;
use super::to_experiment;
use crate::allocation::{self, Configuration, Edit, normalized};
use crate::changes::{self, About, Problem};
use crate::ledger;
use crate::report;

/// The forms of an experiment's page, as they are filled in.
pub struct Forms {
    pub name: String,
    pub team: String,
    pub project: String,
    pub into: String,
    pub why: String,
    pub choices: Choices,
    /// Other experiments that something is written of: a label and a name.
    pub others: Vec<(String, String)>,
    pub problems: Vec<Problem>,
}

impl Forms {
    /// Why nothing was changed.
    pub fn refused(&self) -> &[Problem] {
        &self.problems
    }

    pub fn of(configuration: &Configuration, experiment: &str) -> Self {
        let entry = configuration.experiment(experiment);
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let mut others: Vec<(String, String)> = configuration
            .entries
            .values()
            .filter_map(|entry| match entry {
                allocation::Entry::Experiment(it) if it.handle != experiment => {
                    Some((it.handle.clone(), it.name.clone()))
                }
                _ => None,
            })
            .collect();
        others.sort();
        others.dedup_by(|a, b| a.0 == b.0);
        Self {
            name: entry.map_or_else(|| experiment.to_owned(), |it| it.name.clone()),
            team: text(entry.and_then(|it| it.team.as_ref())),
            project: text(entry.and_then(|it| it.project.as_ref())),
            into: String::new(),
            why: String::new(),
            choices: Choices::of(configuration),
            others,
            problems: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
pub struct ChangeForm {
    name: String,
    #[serde(default)]
    team: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    reason: String,
    #[serde(default, rename = "do")]
    way: String,
}

pub async fn change(path: paths::ExperimentChange, writing: Writing, Form(form): Form<ChangeForm>) -> Result {
    let Writing { now, layout, person, by, app, mut db } = writing;
    let label = normalized(&path.experiment);
    let configuration = configuration_now(&mut db).await?;
    let name = Some(form.name.trim()).filter(|name| !name.is_empty()).unwrap_or(&label);
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let edit = configuration.with_experiment(&label, name, some(&form.team), some(&form.project));
    let summary = format!("Changed experiment {name}");
    let about = About { summary: &summary, reason: reason(&form.reason) };
    let at_once = is_at_once(&layout, &form.way).then(|| to_experiment(&label, None, &Asked::default()));
    let edits = numbered(&mut db, vec![edit]).await?;
    match send(&mut db, edits, about, at_once, by.at(now)).await? {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            let ChangeForm { name, team, project, reason: why, .. } = form;
            let forms = Forms { name, team, project, why, problems, ..Forms::of(&configuration, &label) };
            let viewer = person.viewer();
            let page = Box::pin(Page::refused(layout, &mut db, &app.answers, &label, &viewer, forms));
            respond::refused(page.await?)
        }
    }
}

#[derive(Deserialize)]
pub struct MergeForm {
    into: String,
    #[serde(default)]
    reason: String,
    #[serde(default, rename = "do")]
    way: String,
}

pub async fn merge(path: paths::ExperimentMerge, writing: Writing, Form(form): Form<MergeForm>) -> Result {
    let Writing { now, layout, person, by, app, mut db } = writing;
    let label = normalized(&path.experiment);
    let configuration = configuration_now(&mut db).await?;
    let into =
        configuration.experiment_called(&form.into).map_or_else(|| normalized(&form.into), str::to_owned);
    let problems = if into.is_empty() || into == label {
        vec![problem("Merge into", "enter the label or name of another experiment")]
    } else {
        let summary = format!("Merged experiment {label} into {}", configuration.experiment_name(&into));
        let about = About { summary: &summary, reason: reason(&form.reason) };
        let edits = numbered(&mut db, configuration.with_experiments_merged(&label, &form.into)).await?;
        let sequence = ledger::sequence(&mut db).await?;
        // Where different teams pay for them, one sees first what becomes one.
        let is_plain = report::merges(&mut db, &app.answers, &edits, sequence).await?.is_empty();
        let at_once = is_plain && is_at_once(&layout, &form.way);
        let at_once = at_once.then(|| to_experiment(&into, None, &Asked::default()));
        match send(&mut db, edits, about, at_once, by.at(now)).await? {
            Sent::To(response) => return Ok(response),
            Sent::Refused(problems) => problems,
        }
    };
    let forms = Forms { into: form.into, why: form.reason, problems, ..Forms::of(&configuration, &label) };
    let viewer = person.viewer();
    let page = Box::pin(Page::refused(layout, &mut db, &app.answers, &label, &viewer, forms));
    respond::refused(page.await?)
}

/// Edits of which those of what is new have a number of their own.
async fn numbered(db: &mut PgConnection, mut edits: Vec<Edit>) -> sqlx::Result<Vec<Edit>> {
    for edit in edits.iter_mut().filter(|edit| edit.before.is_none()) {
        edit.id = changes::entry_ids(db, 1).await?.pop().unwrap_or_default();
    }
    Ok(edits)
}
