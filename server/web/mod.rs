//! Pages. Each is one file here and one template: extract, ask, render.
//!
//! A request meets, in this order: [`guard`] (who is it, may they, does the form come from us), its handler,
//! [`error`] (a refusal becomes a page, JSON or a line of text) and [`headers`]. Adding a page is a path in
//! `paths.rs`, a file with its handler, a template, and one line below.

pub mod assets;
pub mod error;
pub mod extract;
pub mod filters;
pub mod form;
mod guard;
mod headers;
pub mod layout;
pub mod paths;
pub mod respond;
pub mod routes;
mod serve;

mod account;
mod charges;
mod health;
mod home;
mod imports;
mod people;
mod question;
mod setup;
mod sign_in;
mod spend;

pub use error::{Error, Result};
pub use routes::{Access, Routes};
pub use serve::serve;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use sqlx::PgPool;

use crate::config::Settings;
use crate::jobs::{Bell, Inbox};
use crate::ledger::Originals;
use crate::report::Answers;

/// What every handler can ask for.
#[derive(Clone)]
pub struct App {
    pub db: PgPool,
    pub settings: Arc<Settings>,
    /// Connections of background work, and of what takes longer than a page may.
    pub jobs: PgPool,
    pub bell: Bell,
    pub originals: Originals,
    pub answers: Arc<Answers>,
    pub inbox: Inbox,
}

impl App {
    pub fn new(settings: Settings, db: PgPool, jobs: PgPool) -> Self {
        Self {
            db,
            jobs,
            bell: Bell::default(),
            answers: Arc::default(),
            originals: Originals::new(&settings.data_dir),
            inbox: Inbox::new(&settings.data_dir),
            settings: Arc::new(settings),
        }
    }
}

/// Every route with who may use it. A route that is not here answers nobody.
pub fn routes() -> Routes {
    use Access::{Admin, Finance, Public, SignedIn, Static};
    Routes::default()
        .get(SignedIn, home::show)
        .get(SignedIn, spend::show)
        .get(SignedIn, charges::list)
        .get(SignedIn, charges::show)
        .get(Public, sign_in::show)
        .post(Public, sign_in::create)
        .post(Public, sign_in::destroy)
        .get(Public, setup::show)
        .post(Public, setup::create)
        .get(SignedIn, account::show)
        .post(SignedIn, account::change_password)
        .post(SignedIn, account::change_appearance)
        .get(Finance, imports::index)
        .get(Finance, imports::index_json)
        .get(Finance, imports::index_csv)
        .upload(Finance, imports::receive::create)
        .get(Finance, imports::batch::show)
        .post(Finance, imports::batch::cancel)
        .post(Finance, imports::batch::retry)
        .get(Finance, imports::delivery::show)
        .get(Finance, imports::changes::show)
        .get(Finance, imports::download::rejections)
        .get(Finance, imports::download::original)
        .get(Finance, imports::download::rejected)
        .post(Finance, imports::decide::replace)
        .post(Finance, imports::decide::add)
        .post(Finance, imports::decide::discard)
        .post(Finance, imports::decide::undo)
        .get(Admin, people::index)
        .post(Admin, people::create)
        .get(Static, assets::show)
        .get(Static, health::show)
}

/// The whole site.
pub fn router(app: App) -> Router {
    routes().into_router(app)
}

impl FromRef<App> for PgPool {
    fn from_ref(app: &App) -> Self {
        app.db.clone()
    }
}

impl FromRef<App> for Arc<Settings> {
    fn from_ref(app: &App) -> Self {
        Arc::clone(&app.settings)
    }
}

impl FromRef<App> for Arc<Answers> {
    fn from_ref(app: &App) -> Self {
        Arc::clone(&app.answers)
    }
}

impl FromRef<App> for Originals {
    fn from_ref(app: &App) -> Self {
        app.originals.clone()
    }
}
