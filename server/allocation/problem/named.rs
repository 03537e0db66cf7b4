//! What an entry refers to, and is not there in a month in which it holds.

use super::super::configuration::MonthConfiguration;
use super::super::entry::Target;
use super::Found;

pub(super) fn check(configuration: &MonthConfiguration<'_>, found: &mut Found) {
    let month = configuration.month;
    let has_team = |handle: &str| configuration.team(handle).is_some();
    for team in &configuration.teams {
        let title = format!("team {}", team.name);
        if let Some(parent) = &team.parent {
            if !has_team(parent) {
                found.add_in(&title, format!("part of: there is no team {parent}"), month);
            } else if let Some(path) = circle(configuration, &team.handle) {
                found.add(&title, format!("part of: a team cannot be part of itself ({path})"));
            }
        }
        if let Some(centre) = &team.cost_centre
            && configuration.cost_centre(centre).is_none()
        {
            found.add_in(&title, format!("there is no cost center {centre}"), month);
        }
    }
    for project in &configuration.projects {
        let title = format!("project {}", project.name);
        if let Some(team) = project.team.as_deref().filter(|team| !has_team(team)) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        if let Some(centre) =
            project.cost_centre.as_deref().filter(|it| configuration.cost_centre(it).is_none())
        {
            found.add_in(&title, format!("there is no cost center {centre}"), month);
        }
    }
    for experiment in &configuration.experiments {
        let title = format!("experiment {}", experiment.name);
        if let Some(team) = experiment.team.as_deref().filter(|team| !has_team(team)) {
            found.add_in(&title, format!("there is no team {team}"), month);
        }
        if let Some(project) = experiment.project.as_deref().filter(|it| configuration.project(it).is_none())
        {
            found.add_in(&title, format!("there is no project {project}"), month);
        }
    }
    for account in configuration.accounts.iter().filter(|account| !has_team(&account.team)) {
        found.add_in(
            format!("account {}", account.account),
            format!("there is no team {}", account.team),
            month,
        );
    }
    for (_, rule) in &configuration.rules {
        let title = format!("rule {}", rule.name);
        match &rule.to {
            Target::Team { team, project } => {
                if !has_team(team) {
                    found.add_in(&title, format!("target: there is no team {team}"), month);
                }
                if let Some(project) = project.as_deref().filter(|it| configuration.project(it).is_none()) {
                    found.add_in(&title, format!("target: there is no project {project}"), month);
                }
            }
            Target::Pool { pool } if configuration.pool(pool).is_none() => {
                found.add_in(&title, format!("target: there are no shared costs {pool}"), month);
            }
            _ => {}
        }
    }
}

/// The way from a team back to it.
fn circle(configuration: &MonthConfiguration<'_>, handle: &str) -> Option<String> {
    let mut path = vec![handle];
    let mut at = configuration.team(handle)?;
    while let Some(parent) = &at.parent {
        path.push(parent);
        if parent == handle {
            return Some(path.join(" → "));
        }
        // A circle that it only leads to is decided by those that are in it.
        if path.len() > configuration.teams.len() {
            return None;
        }
        at = configuration.team(parent)?;
    }
    None
}
