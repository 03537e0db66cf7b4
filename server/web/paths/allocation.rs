//! Who pays for what: rules, shared costs, the organization, labels, quantities; and what nobody pays for.

use super::with_query;
use crate::allocation::{Field, Label, Sheet, Target};
use crate::period::{BillingMonth, Period};

paths! {
    /// The rules by which charges get their owners.
    "/rules" => Rules;
    /// A form for a rule, filled in by its query: `?field=account&value=1234&to=team:vision&name=…`.
    "/rules/new" => NewRule;
    "/rules/{rule}" => Rule { rule: i64 };
    "/rules/{rule}/move" => RuleMove { rule: i64 };
    "/rules/{rule}/remove" => RuleRemove { rule: i64 };

    /// Shared costs, and how they are divided.
    "/shared-costs" => SharedCosts;
    "/shared-costs/new" => NewSharedCosts;
    "/shared-costs/{pool}" => SharedCost { pool: i64 };
    "/shared-costs/{pool}/remove" => SharedCostsRemove { pool: i64 };

    /// Teams, projects, cost centres, experiments, accounts: who there is.
    #[derive(Copy)]
    "/organization/{sheet}" => Organization { sheet: Sheet };
    "/organization/{sheet}/file" => OrganizationFile { sheet: Sheet };
    "/organization/{sheet}/{entry}" => OrganizationEntry { sheet: Sheet, entry: i64 };
    "/organization/{sheet}/{entry}/remove" => OrganizationRemove { sheet: Sheet, entry: i64 };

    /// What tags mean, and spellings that mean nothing yet.
    #[derive(Copy)]
    "/labels/{label}" => Labels { label: Label };
    "/labels/{label}/map" => LabelMap { label: Label };
    "/labels/{label}/meaning" => LabelMeaning { label: Label };

    /// What is unallocated; leads to the latest month.
    "/unallocated" => AnyUnallocated;
    "/unallocated/{period}" => Unallocated { period: Period };

    "/quantities" => Quantities;
    "/quantities/file" => QuantitiesFile;
    "/quantities/remove" => QuantitiesRemove;
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
