//! Tokens for one's scripts: made, shown once, revoked.

use askama::Template;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::Page;
use crate::accounts::token::{self, Made};
use crate::clock;
use crate::web::error::Result;
use crate::web::extract::{Form, Visitor, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

#[derive(Deserialize)]
pub struct TokenForm {
    #[serde(default)]
    label: String,
    #[serde(default)]
    days: String,
}

/// The only time that a token is shown.
#[derive(Template)]
#[template(path = "people/token.html")]
struct TokenPage {
    layout: Layout,
    label: String,
    token: String,
    expires_at: DateTime<Utc>,
    /// An address to try it with.
    example: String,
}

pub async fn create(
    _: paths::AccountTokens,
    visitor: Visitor,
    writing: Writing,
    Form(form): Form<TokenForm>,
) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let (person, _) = visitor.in_browser()?;
    let mut fields = Fields::new([("label", &form.label), ("days", &form.days)]);
    let label = fields.check("label", token::label(&form.label));
    let valid_for = fields.check("days", token::lifetime(&form.days));
    if let (Some(label), Some(valid_for)) = (label, valid_for) {
        match token::make(&mut db, &person, &label, valid_for, &mut clock::dice(), by.at(now)).await? {
            Made::Token(token) => {
                let example = format!("{}/spend/{}.json", app.settings.base_url(), now.format("%Y-%m"));
                let expires_at = now + valid_for;
                return respond::html(TokenPage { layout, label, token, expires_at, example });
            }
            Made::LabelTaken => {
                fields.refuse(
                    "label",
                    "You have a token with this name. Enter another name, or revoke that token.",
                );
            }
            Made::TooMany => {
                fields.refuse("label", "You have the maximum number of tokens. Revoke unused ones first.");
            }
        }
    }
    respond::refused(Page::find(&mut db, layout, &visitor, fields, now).await?)
}

pub async fn revoke(path: paths::AccountToken, writing: Writing) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let label = token::revoke(&mut db, &person, path.token, by.at(now)).await?;
    let sentence = label.map_or_else(
        || "Nothing changed: the token was revoked before.".to_owned(),
        |label| format!("Token “{label}” is revoked."),
    );
    Ok(respond::flash(paths::Account, &sentence))
}
