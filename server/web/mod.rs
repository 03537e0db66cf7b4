//! Pages. Each is one file here and one template: extract, ask, render.
//!
//! A request meets, in this order: [`format`] (is a page asked for, or its file?), [`observe`] (a line in the log, counts), [`guard`] (who is it, may they, does the form come from us), its handler,
//! [`error`] (a refusal becomes a page, JSON or a line of text) and [`headers`]. Adding a page is a line in
//! `paths/`, a file with its handler, a template, and one line in [`routes`](routes()).

pub mod addresses;
pub mod assets;
#[doc(hidden)]
mod client_disconnect;
pub mod connections;
pub mod csv;
pub mod error;
pub mod extract;
pub mod filters;
pub mod form;
pub mod format;
pub mod glossary;
mod guard;
mod headers;
pub mod layout;
pub mod paths;
pub mod respond;
pub mod route_builder;
pub mod routes;
mod serve;

mod access_page;
mod account;
mod adjustments;
mod allocation;
mod audit;
mod budgets;
mod catalog;
mod changes;
mod charges;
mod choices;
mod clusters;
mod default_month;
mod downloads;
mod experiments;
mod health;
mod imports;
mod invoices;
mod jobs;
mod mappings;
mod metrics;
mod observe;
mod overview;
mod page_cache;
mod password;
mod people;
mod prices;
mod question;
mod rate_cards;
mod rates;
mod renamed;
mod scenarios;
mod setup;
mod sign_in;
mod spend;
mod storage;
mod table;
mod teams;
mod token_costs;
mod usage;
mod variance;
mod warm_up;
mod words;

pub use downloads::Downloads;
pub use error::{Error, Result};
pub use metrics::Metrics;
pub use page_cache::PageCache;
pub use route_builder::{Access, Routes};
pub use routes::routes;
pub use serve::serve;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use sqlx::PgPool;
use tower::util::MapRequest;

use crate::clock::Clock;
use crate::config::Settings;
use crate::demonstration::Mark;
use crate::jobs::{Inbox, Notifier, Samples, Uploads};
use crate::ledger::Originals;
use crate::onprem::Months;
use crate::report::Answers;
use crate::secrets::Secrets;

/// What every handler can ask for.
#[derive(Clone)]
pub struct App {
    pub db: PgPool,
    pub settings: Arc<Settings>,
    /// Connections of background work, and of what takes longer than a page may.
    pub jobs: PgPool,
    pub notifier: Notifier,
    pub originals: Originals,
    pub answers: Arc<Answers>,
    pub months: Arc<Months>,
    pub pages: Arc<PageCache>,
    pub inbox: Inbox,
    pub samples: Samples,
    pub uploads: Uploads,
    pub secrets: Secrets,
    /// Its figures are invented, and every page says so.
    pub is_demonstration: bool,
    pub metrics: Arc<Metrics>,
    pub downloads: Downloads,
    /// What handlers take for the present.
    pub clock: Clock,
}

impl App {
    pub fn new(settings: Settings, db: PgPool, jobs: PgPool) -> Self {
        Self {
            db,
            downloads: Downloads::beside(&jobs),
            clock: Clock::System,
            answers: Arc::new(Answers::of_server(jobs.clone())),
            jobs,
            notifier: Notifier::default(),
            months: Arc::default(),
            pages: Arc::default(),
            originals: Originals::new(&settings.data_dir),
            inbox: Inbox::new(&settings.data_dir),
            samples: Samples::new(&settings.data_dir),
            uploads: Uploads::new(&settings.data_dir),
            secrets: Secrets::new(&settings.data_dir),
            is_demonstration: Mark::is_in(&settings.data_dir),
            metrics: Arc::new(Metrics::new()),
            settings: Arc::new(settings),
        }
    }
}

/// The whole site. What an address ends in is taken off before a route is looked for.
pub fn router(app: App) -> Router {
    let site = routes().into_router(app.clone()).layer(middleware::from_fn_with_state(app, observe::observe));
    Router::new().fallback_service(MapRequest::new(site, format::take_off_suffix))
}
