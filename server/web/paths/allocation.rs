//! Who pays for what: rules, shared costs, the organization, labels, and their changes.

use axum_extra::routing::TypedPath;
use serde::Deserialize;

use super::{Error, with_query};
use crate::allocation::{Field, Label, Sheet, Target};
use crate::period::BillingMonth;

/// The rules by which charges get their owners.
#[derive(TypedPath)]
#[typed_path("/rules", rejection(Error))]
pub struct Rules;

/// A form for a rule, filled in by its query: `?field=account&value=1234&to=team:vision&name=…`.
#[derive(TypedPath)]
#[typed_path("/rules/new", rejection(Error))]
pub struct NewRule;

#[derive(TypedPath, Deserialize)]
#[typed_path("/rules/{rule}", rejection(Error))]
pub struct Rule {
    pub rule: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/rules/{rule}/move", rejection(Error))]
pub struct RuleMove {
    pub rule: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/rules/{rule}/remove", rejection(Error))]
pub struct RuleRemove {
    pub rule: i64,
}

/// Shared costs, and how they are divided.
#[derive(TypedPath)]
#[typed_path("/shared-costs", rejection(Error))]
pub struct SharedCosts;

#[derive(TypedPath)]
#[typed_path("/shared-costs/new", rejection(Error))]
pub struct NewSharedCosts;

#[derive(TypedPath, Deserialize)]
#[typed_path("/shared-costs/{pool}", rejection(Error))]
pub struct SharedCost {
    pub pool: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/shared-costs/{pool}/remove", rejection(Error))]
pub struct SharedCostsRemove {
    pub pool: i64,
}

/// Teams, projects, cost centres, experiments, accounts: who there is.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/organization/{sheet}", rejection(Error))]
pub struct Organization {
    pub sheet: Sheet,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/organization/{sheet}/file", rejection(Error))]
pub struct OrganizationFile {
    pub sheet: Sheet,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/organization/{sheet}/{entry}", rejection(Error))]
pub struct OrganizationEntry {
    pub sheet: Sheet,
    pub entry: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/organization/{sheet}/{entry}/remove", rejection(Error))]
pub struct OrganizationRemove {
    pub sheet: Sheet,
    pub entry: i64,
}

/// What tags mean, and spellings that mean nothing yet.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/labels/{label}", rejection(Error))]
pub struct Labels {
    pub label: Label,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/labels/{label}/map", rejection(Error))]
pub struct LabelMap {
    pub label: Label,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/labels/{label}/meaning", rejection(Error))]
pub struct LabelMeaning {
    pub label: Label,
}

/// The form of a rule, filled in: what equals these values goes to this target, if one is known, from a month on.
pub fn new_rule(
    when: &[(Field, String)],
    to: Option<&Target>,
    name: &str,
    from: Option<BillingMonth>,
) -> String {
    let mut query: Vec<(&str, String)> = Vec::new();
    for (field, value) in when {
        query.push(("field", field.to_string()));
        query.push(("value", value.clone()));
    }
    let to = to.map(|to| match to {
        Target::Team { team, .. } => format!("team:{team}"),
        Target::Labels => "labels".to_owned(),
        Target::Account => "account".to_owned(),
        Target::Tag { key } => format!("tag:{key}"),
        Target::Pool { pool } => format!("pool:{pool}"),
    });
    query.extend(to.map(|to| ("to", to)));
    query.push(("name", name.to_owned()));
    query.extend(from.map(|month| ("from", month.to_string())));
    with_query(NewRule, &query)
}

/// Where a team of this name is made: among the labels that mean nothing yet.
pub fn new_team() -> String {
    Labels { label: Label::Team }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_rule_is_filled_in_by_its_address() {
        let when = [(Field::Account, "12 34".to_owned()), (Field::Tag("team".into()), "R&D".to_owned())];
        let to = Target::Team { team: "vision".into(), project: None };
        assert_eq!(
            new_rule(&when, Some(&to), "Account 12 34", Some("2026-09".parse().unwrap())),
            "/rules/new?field=account&value=12+34&field=tag%3Ateam&value=R%26D&to=team%3Avision&name=Account+12+34&from=2026-09"
        );
        assert_eq!(new_rule(&[], None, "x", None), "/rules/new?name=x");
    }
}
