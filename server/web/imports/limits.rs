//! `/imports/limits`: how much of what it replaces an import may lack before somebody is asked.

use askama::Template;
use serde::Deserialize;
use serde_json::json;
use sqlx::Connection as _;

use crate::audit::{self, Object, Verb};
use crate::ledger::{self, Limits, Measure};
use crate::money::Decimal;
use crate::web::error::Result;
use crate::web::extract::{Db, Form, Writing};
use crate::web::form::{Fields, amount};
use crate::web::layout::Layout;
use crate::web::{Access, paths, respond};

/// Name, label and meaning of each limit.
const MEASURES: [(&str, &str, &str); 5] = [
    ("rows", "Rows", "Rows missing from the new file, for each kind of usage."),
    ("cost", "Cost", "Billed or effective cost the month would lose, in each currency."),
    ("keys", "Kinds of usage", "Combinations of account, service, SKU, region and unit that are missing."),
    ("services", "Services", "Services without any charge left."),
    ("resources", "Machines", "Machines with accelerators that are missing."),
];

#[derive(Template)]
#[template(path = "imports/limits.html")]
struct Page {
    layout: Layout,
    fields: Fields,
}

pub async fn show(_: paths::ImportLimits, layout: Layout, mut db: Db) -> Result {
    let limits = ledger::limits(&mut db).await?;
    respond::html(Page { layout, fields: fields_of(&limits) })
}

/// Of each measure its percentage, as it was typed.
#[derive(Deserialize)]
pub struct LimitsForm {
    rows: String,
    cost: String,
    keys: String,
    services: String,
    resources: String,
}

pub async fn save(_: paths::ImportLimits, writing: Writing, Form(form): Form<LimitsForm>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let typed = [
        ("rows", &*form.rows),
        ("cost", &form.cost),
        ("keys", &form.keys),
        ("services", &form.services),
        ("resources", &form.resources),
    ];
    let mut fields = Fields::new(typed);
    let read = typed.map(|(name, text)| fields.check(name, percent(text)));
    if fields.is_refused() {
        return respond::refused(Page { layout, fields });
    }
    let mut tx = db.begin().await?;
    let mut changed = serde_json::Map::new();
    for ((name, _), percent) in typed.into_iter().zip(read) {
        let (Ok(measure), Some(percent)) = (name.parse(), percent) else { continue };
        if ledger::set_limit(&mut tx, measure, percent).await? {
            changed.insert(name.to_owned(), json!(percent));
        }
    }
    if !changed.is_empty() {
        let (verb, object) = (Verb::ImportLimitsSet, Object::Other("import limits"));
        audit::record(&mut tx, by.at(now), verb, &object, changed.into()).await?;
    }
    tx.commit().await?;
    Ok(respond::flash(paths::ImportLimits, "Saved. The limits apply to new imports."))
}

fn percent(text: &str) -> std::result::Result<Decimal, &'static str> {
    amount(text.trim().trim_end_matches('%').trim_end())
        .filter(|percent| ledger::is_limit(*percent))
        .ok_or("Enter a percentage from 0 to 100 with at most two decimals, such as 5 or 2.5.")
}

fn fields_of(limits: &Limits) -> Fields {
    Measure::ALL.into_iter().fold(Fields::default(), |fields, measure| {
        fields.with(measure.as_str(), &limits.of(measure).to_string())
    })
}

impl Page {
    fn may_save(&self) -> bool {
        self.layout.may(Access::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_at_most_two_decimals() {
        for (text, expected) in [
            ("5", Some("5")),
            (" 2.5 % ", Some("2.5")),
            ("2.50", Some("2.5")),
            ("0.25", Some("0.25")),
            ("100", Some("100")),
            ("100.01", None),
            ("-1", None),
            ("2.505", None),
            ("0.0000000000000000000000000000000000000001", None),
            ("", None),
        ] {
            let read = percent(text).ok();
            assert_eq!(read, expected.map(|text| text.parse().unwrap()), "{text}");
        }
    }
}
