//! `/scenarios/7`, `/scenarios/templates/own-or-rent`: a comparison, and the form that changes it.
//!
//! The state is the address: what it begins with, and the fields that differ ([`super::edit`]). The form says every field;
//! what differs becomes the address that a browser is sent to, or that htmx puts in its place.

mod edits_in_words;
mod files;
mod made;
mod notes;
mod page;

use axum::http::HeaderValue;
use axum::response::IntoResponse as _;

use super::super::error::{Error, Result};
use super::super::extract::{Htmx, Pairs, Query, Reading};
use super::super::format::File;
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::address::{Base, Said};
use super::prices::Prices;
use crate::accounts::Person;
use crate::compute::compute;
use crate::saved_scenarios::{self, Share};

pub(super) use notes::{capital, said};
pub(super) use page::Page;

pub async fn of_template(
    path: paths::ScenarioTemplate,
    file: Option<File>,
    htmx: Htmx,
    reading: Reading<Pairs>,
) -> Result {
    let Reading { now, layout, person, query: pairs, app, mut db } = reading;
    let base = Base::template(&path.template)?;
    let mut said = read(pairs)?;
    if said.version.is_some() {
        return Err(Error::BadRequest("version: a template has no versions.".to_owned()));
    }
    let prices = Prices::of_list(&mut db, &app.answers, said.list, now.date_naive()).await?;
    said.prices = prices.with_paid(&mut db, &app.answers, &person, &base.scenario().currency).await?;
    drop(db);
    show((layout, htmx), base, said, file, (Vec::new(), person)).await
}

/// As [`of_template`], with shipped prices alone and for nobody: the page's address, or its file.
pub async fn of_template_alone(
    path: paths::ScenarioTemplate,
    file: Option<File>,
    Query(pairs): Query<Pairs>,
) -> Result {
    let base = Base::template(&path.template)?;
    let edited = read(pairs)?.edit(&base)?;
    match file {
        Some(file) => files::hand_out(&base, edited, file),
        None => Ok(base.at("", &edited.edits, edited.prices.revision()).into_response()),
    }
}

pub async fn of_kept(
    path: paths::Scenario,
    file: Option<File>,
    htmx: Htmx,
    reading: Reading<Pairs>,
) -> Result {
    let Reading { now, layout, person, query: pairs, app, mut db } = reading;
    let mut said = read(pairs)?;
    let base = Base::kept(&mut db, path.scenario, said.version, (&person, now.date_naive())).await?;
    let shares = saved_scenarios::shared_with(&mut db, path.scenario).await?;
    let prices = Prices::of_list(&mut db, &app.answers, said.list, now.date_naive()).await?;
    said.prices = prices.with_paid(&mut db, &app.answers, &person, &base.scenario().currency).await?;
    // Nobody waits for a connection while this is computed.
    drop(db);
    show((layout, htmx), base, said, file, (shares, person)).await
}

fn read(pairs: Vec<(String, String)>) -> Result<Said> {
    let said = Said::read(pairs)?;
    match said.rest.first() {
        Some((name, _)) => Err(Error::BadRequest(format!(
            "found “{name}” in the address. Use set, copy, add, remove, prices or version."
        ))),
        None => Ok(said),
    }
}

/// The page of an address, or its file: all that takes the processor is done beside the threads that answer.
pub(super) async fn show(
    (layout, Htmx(is_fragment)): (Layout, Htmx),
    base: Base,
    said: Said,
    file: Option<File>,
    (shares, person): (Vec<Share>, Person),
) -> Result {
    compute(move || {
        let edited = said.edit(&base)?;
        let address = base.at("", &edited.edits, edited.prices.revision());
        let is_form = said.is_form();
        if let Some(file) = file {
            return files::hand_out(&base, edited, file);
        }
        if is_form && !is_fragment {
            let part = notes::place(&said, &edited);
            return Ok(respond::see_other(format!("{address}{part}")));
        }
        let mut response = respond::html(Page::of(layout, base, edited, shares, &person))?;
        if is_form && let Ok(address) = HeaderValue::from_str(&address) {
            response.headers_mut().insert("hx-push-url", address);
        }
        Ok(response)
    })
    .await?
}
