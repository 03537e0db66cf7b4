//! Answers: one struct as a page or as JSON.

use std::fmt;

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Serialize;

use super::Result;

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
