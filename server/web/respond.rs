//! Answers: one struct as a page or as JSON.

use std::fmt;

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Serialize;

use super::Result;
use super::extract::cookie;

/// A page, or a part of one.
pub fn html(page: impl Template) -> Result {
    Ok(Html(page.render()?).into_response())
}

/// A form that was refused, with its values and problems.
pub fn refused(page: impl Template) -> Result {
    Ok((StatusCode::UNPROCESSABLE_ENTITY, Html(page.render()?)).into_response())
}

pub fn json(value: &impl Serialize) -> Result {
    Ok(([(header::CONTENT_TYPE, "application/json")], serde_json::to_vec(value)?).into_response())
}

/// After something was written: the browser loads the page that shows it, and a reload writes nothing.
pub fn see_other(path: impl fmt::Display) -> Response {
    Redirect::to(&path.to_string()).into_response()
}

/// The same, and that page says this.
pub fn flash(path: impl fmt::Display, sentence: &str) -> Response {
    let mut response = see_other(path);
    cookie::leave_flash(&mut response, sentence);
    response
}

/// The same after a change of the allocation, which can be undone there.
pub fn flash_undo(path: impl fmt::Display, sentence: &str, change: i64) -> Response {
    let mut response = see_other(path);
    cookie::leave_undo(&mut response, sentence, change);
    response
}
