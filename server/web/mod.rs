//! Pages. Each is one file here and one template: extract, ask, render.
//!
//! A request meets, in this order: [`format`] (is a page asked for, or its file?), [`observe`] (a line in the log, counts), [`guard`] (who is it, may they, does the form come from us), its handler,
//! [`error`] (a refusal becomes a page, JSON or a line of text) and [`headers`]. Adding a page is a line in
//! `paths/`, a file with its handler, a template, and one line below.

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
pub mod routes;
mod serve;

mod access_page;
mod account;
mod allocation;
mod audit;
mod budgets;
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
mod metrics;
mod observe;
mod overview;
mod page_cache;
mod password;
mod people;
mod prices;
mod question;
mod rates;
mod renamed;
mod scenarios;
mod setup;
mod sign_in;
mod spend;
mod storage;
mod table;
mod teams;
mod variance;
mod warm_up;
mod words;

pub use downloads::Downloads;
pub use error::{Error, Result};
pub use metrics::Metrics;
pub use page_cache::PageCache;
pub use routes::{Access, Routes};
pub use serve::serve;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use sqlx::PgPool;
use tower::util::MapRequest;

use crate::clock::Clock;
use crate::config::Settings;
use crate::demonstration::Mark;
use crate::jobs::{Inbox, Notifier};
use crate::ledger::Originals;
use crate::onprem::Months;
use crate::report::Answers;

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
            is_demonstration: Mark::is_in(&settings.data_dir),
            metrics: Arc::new(Metrics::new()),
            settings: Arc::new(settings),
        }
    }
}

/// Every route with who may use it. A route that is not here answers nobody.
pub fn routes() -> Routes {
    use Access::{Admin, Finance, Public, SignedIn, Static};
    Routes::default()
        .get(SignedIn, overview::home)
        .figures(SignedIn, overview::show)
        .get(SignedIn, spend::during)
        .kept(SignedIn, spend::show)
        .kept(SignedIn, variance::show)
        .figures(SignedIn, charges::list)
        .figures(SignedIn, charges::show)
        .get(SignedIn, teams::latest::any)
        .kept(SignedIn, teams::chargeback::show)
        .get(SignedIn, teams::latest::of_team)
        .kept(SignedIn, teams::show)
        .kept(SignedIn, teams::statement::show)
        .get(SignedIn, experiments::latest)
        .kept(SignedIn, experiments::show)
        .kept(SignedIn, experiments::experiment::show)
        .post(Finance, experiments::edit::change)
        .post(Finance, experiments::edit::merge)
        .kept(SignedIn, experiments::compare::show)
        .get(Public, sign_in::show)
        .post(Public, sign_in::create)
        .post(Public, sign_in::destroy)
        .get(Public, setup::show)
        .post(Public, setup::create)
        .get(SignedIn, account::show)
        .post(SignedIn, account::change_password)
        .post(SignedIn, account::change_appearance)
        .post(SignedIn, account::sessions::end)
        .post(SignedIn, account::sessions::end_others)
        .post(SignedIn, account::tokens::create)
        .post(SignedIn, account::tokens::revoke)
        .get(Public, password::show)
        .post(Public, password::create)
        .get(SignedIn, access_page::show)
        .get(SignedIn, glossary::show)
        .figures(Finance, imports::index)
        .upload(Finance, imports::receive::create)
        .figures(Finance, imports::batch::show)
        .post(Finance, imports::batch::cancel)
        .post(Finance, imports::batch::retry)
        .figures(Finance, imports::delivery::show)
        .figures(Finance, imports::import_changes::show)
        .figures(Finance, imports::download::rejections)
        .file(Finance, imports::download::original)
        .file(Finance, imports::download::rejected)
        .post(Finance, imports::decide::replace)
        .post(Finance, imports::decide::add)
        .post(Finance, imports::decide::discard)
        .post(Finance, imports::decide::undo)
        .post(Finance, imports::decide::load_again)
        .upload(Finance, imports::receive::again)
        .post(Finance, imports::decide::explain)
        .get(Finance, imports::limits::show)
        .post(Admin, imports::limits::save)
        .figures(Finance, storage::show)
        .post(Admin, storage::save)
        .post(Admin, storage::archive)
        .get(Finance, invoices::latest)
        .kept(Finance, invoices::show)
        .post(Finance, invoices::enter)
        .post(Finance, invoices::remove)
        .figures(Finance, rates::index)
        .post(Finance, rates::set)
        .upload(Finance, rates::load)
        .post(Finance, rates::remove)
        .post(Finance, rates::set_reporting_currency)
        .figures(Finance, allocation::rules::index)
        .get(Finance, allocation::rules::new)
        .post(Finance, allocation::rules::create)
        .get(Finance, allocation::rules::edit)
        .post(Finance, allocation::rules::change)
        .post(Finance, allocation::rules::shift)
        .post(Finance, allocation::rules::remove)
        .file(Finance, allocation::shared_costs::index)
        .get(Finance, allocation::shared_costs::new)
        .post(Finance, allocation::shared_costs::create)
        .get(Finance, allocation::shared_costs::edit)
        .post(Finance, allocation::shared_costs::change)
        .post(Finance, allocation::shared_costs::remove)
        .figures(Finance, allocation::organization::index)
        .post(Finance, allocation::organization::create)
        .upload(Finance, allocation::organization::load)
        .get(Finance, allocation::organization::edit)
        .post(Finance, allocation::organization::change)
        .post(Finance, allocation::organization::remove)
        .figures(Finance, allocation::labels::show)
        .post(Finance, allocation::labels::say)
        .post(Finance, allocation::labels::map)
        .figures(Finance, changes::list::index)
        .figures(Finance, changes::allocation::show)
        .figures(Finance, changes::asset_register::show)
        .figures(Finance, changes::asset_register::list)
        .figures(Finance, changes::prices::show)
        .figures(Finance, changes::prices::list)
        .post(Finance, changes::propose)
        .post(Finance, changes::discard)
        .post(Finance, changes::undo_readings)
        .post(Admin, changes::apply)
        .post(Admin, changes::undo)
        .kept(SignedIn, budgets::index)
        .post(Finance, budgets::add)
        .kept(SignedIn, budgets::budget::show)
        .post(Finance, budgets::budget::change)
        .post(Finance, budgets::budget::end)
        .post(Finance, budgets::budget::remove)
        .figures(Finance, allocation::quantities::index)
        .post(Finance, allocation::quantities::set)
        .upload(Finance, allocation::quantities::load)
        .post(Finance, allocation::quantities::remove)
        .figures(Finance, clusters::index)
        .get(Finance, clusters::new::show)
        .get(Finance, clusters::new::figure)
        .post(Finance, clusters::new::create)
        .figures(Finance, clusters::cluster::show)
        .post(Finance, clusters::cluster::publish)
        .upload(Finance, clusters::readings::load)
        .figures(Finance, clusters::month::show)
        .figures(Finance, clusters::asset_register::index)
        .upload(Finance, clusters::asset_register::load)
        .get(Finance, clusters::asset_register::new)
        .post(Finance, clusters::asset_register::create)
        .get(Finance, clusters::asset_register::edit)
        .post(Finance, clusters::asset_register::change)
        .post(Finance, clusters::asset_register::remove)
        .figures(SignedIn, prices::index)
        .get(Finance, prices::form::new)
        .post(Finance, prices::form::create)
        .upload(Finance, prices::form::file::load)
        .get(Finance, prices::form::edit)
        .post(Finance, prices::form::change)
        .post(Finance, prices::form::remove)
        .figures(SignedIn, scenarios::index)
        .post(SignedIn, scenarios::save::create)
        .upload(SignedIn, scenarios::save::load)
        .figures(SignedIn, scenarios::claims::index)
        .file(SignedIn, scenarios::calculators::index)
        .figures(SignedIn, scenarios::calculators::show)
        .figures(SignedIn, scenarios::begin::show)
        .figures(SignedIn, scenarios::show::of_template)
        .figures(SignedIn, scenarios::show::of_kept)
        .post(SignedIn, scenarios::save::save)
        .figures(SignedIn, scenarios::versions::show)
        .post(SignedIn, scenarios::save::share)
        .post(SignedIn, scenarios::save::unshare)
        .post(SignedIn, scenarios::save::remove)
        .post(SignedIn, scenarios::save::bring_back)
        .get(Finance, allocation::unallocated::latest)
        .kept(Finance, allocation::unallocated::show)
        .get(Admin, people::index)
        .post(Admin, people::create)
        .get(Admin, people::person::show)
        .post(Admin, people::person::change)
        .post(Admin, people::person::disable)
        .post(Admin, people::person::enable)
        .post(Admin, people::person::sign_out)
        .post(Admin, people::person::make_link)
        .post(Admin, people::person::revoke_token)
        .with_files(Admin, audit::show)
        .get(Static, assets::show)
        .get(Static, health::show)
        .get(Static, health::ready)
        .file(Admin, metrics::show)
}

/// The whole site. What an address ends in is taken off before a route is looked for.
pub fn router(app: App) -> Router {
    let site = routes().into_router(app.clone()).layer(middleware::from_fn_with_state(app, observe::observe));
    Router::new().fallback_service(MapRequest::new(site, format::take_off_suffix))
}
