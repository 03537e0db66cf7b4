//! `/imports/review`: which uploads wait until somebody has looked at them.

use std::collections::BTreeSet;

use askama::Template;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::audit::{self, Object, Verb};
use crate::ledger::{self, Review, Reviews};
use crate::report;
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Pairs, Writing};
use crate::web::layout::Layout;
use crate::web::{Access, paths, respond};

#[derive(Template)]
#[template(path = "imports/review.html")]
struct Page {
    layout: Layout,
    reviews: Reviews,
    /// Those that something was imported of, or that have a setting.
    providers: BTreeSet<String>,
}

/// (value, label, is chosen)
type Choice = (&'static str, String, bool);

pub async fn show(_: paths::ImportReview, layout: Layout, mut db: Db) -> Result {
    let reviews = ledger::reviews(&mut db).await?;
    let providers = providers(&mut db, &reviews).await?;
    respond::html(Page { layout, reviews, providers })
}

/// Pairs of `provider` and the `review` that follows it; the provider of all others is empty.
pub async fn save(_: paths::ImportReview, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let reviews = ledger::reviews(&mut db).await?;
    let known = providers(&mut db, &reviews).await?;
    let mut provider = None;
    let mut tx = db.begin().await?;
    let mut changed = serde_json::Map::new();
    for (name, value) in &pairs {
        match name.as_str() {
            "provider" if value.is_empty() || known.contains(value) => provider = Some(value.as_str()),
            "review" => {
                let of = provider.take().ok_or_else(unknown)?;
                let review = match value.as_str() {
                    "" if !of.is_empty() => None,
                    word => Some(word.parse::<Review>().map_err(|_| unknown())?),
                };
                if ledger::set_review(&mut tx, (!of.is_empty()).then_some(of), review).await? {
                    let of = if of.is_empty() { "all others" } else { of };
                    changed.insert(of.to_owned(), json!(review.map_or("as all others", Review::as_str)));
                }
            }
            "provider" => return Err(unknown()),
            _ => {}
        }
    }
    if !changed.is_empty() {
        let (verb, object) = (Verb::ImportReviewSet, Object::Other("import review"));
        audit::record(&mut tx, by.at(now), verb, &object, changed.into()).await?;
    }
    tx.commit().await?;
    Ok(respond::flash(paths::ImportReview, "Saved. This applies to new uploads."))
}

fn unknown() -> Error {
    Error::BadRequest("Choose of each provider on the page which uploads need review.".to_owned())
}

async fn providers(db: &mut PgConnection, reviews: &Reviews) -> sqlx::Result<BTreeSet<String>> {
    let imported = report::history_choices(db).await?.providers;
    Ok(imported.into_iter().chain(reviews.providers.keys().cloned()).collect())
}

impl Page {
    fn may_save(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    /// What there is to choose for all other providers.
    fn of_others(&self) -> Vec<Choice> {
        choices(Some(self.reviews.others))
    }

    fn of(&self, provider: &str) -> Vec<Choice> {
        let own = self.reviews.providers.get(provider).copied();
        let as_others = ("", "As all other providers".to_owned(), own.is_none());
        std::iter::once(as_others).chain(choices(own)).collect()
    }

    fn label(&self, provider: &str) -> &'static str {
        self.reviews.of(provider).label()
    }
}

fn choices(own: Option<Review>) -> Vec<Choice> {
    Review::ALL.map(|it| (it.as_str(), it.label().to_owned(), own == Some(it))).to_vec()
}
